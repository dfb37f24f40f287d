// Marks that pictures share: colours of queues and states, hatches, texts, axes, what stood there before a move.
import {h} from "./tree.js";
import {fit, number, wide} from "./words.js";

// Those of `display.palette`, in its order.
export const COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C"];

// The states of a pod wherever one is drawn: colour, and how its box is filled.
export const STATES = {
  Pending: ["var(--vp-soft)", "empty"], Allocated: ["#56B4E9", "hatched"], Pipelined: ["#E69F00", "dashed"], Binding: ["#0072B2", "full"],
  Bound: ["#0072B2", "full"], Running: ["#009E73", "full"], Releasing: ["#D55E00", "leaving"], Succeeded: ["#8C8C8C", "full"], Failed: ["#D55E00", "full"],
};

export const colorOf = (row, i) => row.color ?? COLORS[i % COLORS.length];

// Black or white, whichever is read better on a colour such as #0072B2.
export function ink(color) {
  const [r, g, b] = [1, 3, 5].map((i) => (parseInt(color.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

export const say = (x, y, words, props) => h("text", {x, y, ...props}, words);
export const middle = {"text-anchor": "middle"};
export const end = {"text-anchor": "end"};

// A box; one without extent is kept and drawn with none, so that it grows from where it stands.
export const box = (x, y, width, height, props) => h("rect", {x, y, width: Math.max(0, width), height: Math.max(0, height), ...props});
export const shifted = (x, y) => `transform: translate(${Math.round(x * 10) / 10}px, ${y}px)`;
export const line = (x1, y1, x2, y2, props) => h("line", {x1, y1, x2, y2, ...props});

// A hatch of a colour: `hatch(uid, color)` fills with it, `hatches(uid, colors)` defines what is used.
const tag = (color) => color.replace(/[^\w]/g, "");
export const hatch = (uid, color) => `url(#${uid}-${tag(color)})`;
export const hatches = (uid, colors) => h("defs", {}, [...new Set(colors)].map((color) =>
  h("pattern", {key: color, id: `${uid}-${tag(color)}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
    box(0, 0, 6, 6, {fill: color, opacity: 0.18}), line(1.5, 0, 1.5, 6, {stroke: color, "stroke-width": 3}))));

export const same = (one, other) => one === undefined || other === undefined || Math.abs(one - other) < 0.005;

// "▲8" or "▼1.5" beside a number that was another one before; "" where it was not.
export function change(now, before) {
  if (typeof now !== "number" || typeof before !== "number" || same(now, before)) return "";
  return (now > before ? "▲" : "▼") + number(Math.abs(now - before));
}

// Round steps for an axis that ends at `most`.
export function ticks(most, count = 5) {
  const raw = most / count, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, power === 1 ? 3 : 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw - 1e-9);
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}

// An axis under rows, with lines through them.
export function axis(x, most, top, bottom, unit, width) {
  const steps = ticks(most, width < 260 ? 4 : 5), last = steps.at(-1), words = unit ? `${number(last)} ${unit}` : number(last);
  const crowded = (value) => unit && value === steps.at(-2) && x(last) + 14 - wide(words) < x(value) + wide(number(value)) / 2 + 6;
  return h("g", {class: "vp-axis"}, steps.map((value) => [
    line(x(value), top, x(value), bottom, {class: value ? "vp-grid" : "vp-line"}),
    value && value === last && unit ? say(x(value) + 14, bottom + 16, words, {class: "vp-soft", ...end})
      : !crowded(value) && say(x(value), bottom + 16, number(value), {class: "vp-soft", ...middle})]));
}

// Names at the left of rows: how wide their column is, at most a part of the picture.
export const nameColumn = (names, width, most = 0.34) =>
  Math.min(Math.max(...names.map((name) => wide(name, 14, true)), 12) + 10, width * most);
export const named = (x, y, text, column, props) => say(x, y, fit(text, column - 6, 14, true), {class: "vp-strong", ...props});
