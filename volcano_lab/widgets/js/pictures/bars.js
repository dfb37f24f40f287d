// Bars: five numbers of one thing on one axis. Pale what is asked for, full what is held, hatched what is kept free by a
// guarantee, a diamond at what is deserved, a line at the limit; the words below repeat them.
import {h} from "../tree.js";
import {about, inRow, number, sentences, t} from "../words.js";
import {axis, box, change, colorOf, hatch, hatches, line, named, nameColumn, same, shifted, ticks} from "../marks.js";

const ROW = 47, NUMBERS = ["held", "deserved", "guarantee", "limit", "asked"], NAMES = t("held / deserved / guarantee / limit / asked for").split(" / ");
const WORDS = Object.fromEntries(NUMBERS.map((what, place) => [what, NAMES[place]]));

export const bars = {
  draw(data, c) {
    const {width, spec, before} = c, rows = spec.rows ?? data.length, words = {...WORDS, ...spec.words};
    const column = nameColumn(data.map((row) => row.name), width), max = spec.max ?? whole(most(data)), room = width - column - 22;
    const x = (value) => column + room * Math.min(value, max) / max, bottom = rows * ROW + 2;
    const drawn = data.map((row, i) => {
      const y = i * ROW, color = colorOf(row, i), old = before?.find((other) => other.name === row.name);
      const kept = (row.guarantee ?? 0) - (row.held ?? 0);
      return h("g", {key: row.name, link: row.name, tip: told(row, words, spec.unit)},
        box(0, y, width, ROW, {fill: "transparent"}),
        named(0, y + 20, row.name, column),
        row.asked > 0 && box(column, y + 4, x(row.asked) - column, 22, {key: "asked", rx: 3, fill: color, opacity: 0.35}),
        kept > 0 && box(x(row.held ?? 0), y + 7, x(row.guarantee) - x(row.held ?? 0), 16, {key: "kept", fill: hatch(c.uid, color)}),
        box(column, y + 7, x(row.held ?? 0) - column, 16, {key: "held", rx: 2, fill: color}),
        old && !same(old.held, row.held) && box(column, y + 5, x(old.held) - column, 20, {key: "ghost held", rx: 3, class: "vp-ghost"}),
        row.guarantee > 0 && line(x(row.guarantee), y + 1, x(row.guarantee), y + 29, {key: "guarantee", class: "vp-least"}),
        typeof row.limit === "number" && line(x(row.limit), y, x(row.limit), y + 30, {key: "limit", class: "vp-limit"}),
        old && !same(old.deserved, row.deserved) && diamond(x(old.deserved), y + 15, "vp-diamond vp-ghost", "ghost deserved"),
        typeof row.deserved === "number" && diamond(x(row.deserved), y + 15, "vp-diamond", "deserved"),
        h("text", {key: "words", x: column + 2, y: y + 43, class: "vp-soft vp-halo"}, sums(row, old, words, width - column)));
    });
    return {height: bottom + 22, kids: [hatches(c.uid, data.map(colorOf)), axis(x, max, 2, bottom, spec.unit, room), drawn],
      alt: sentences(data.map((row) => told(row, words, spec.unit)))};
  },
};

// The next round step of the axis, so that nothing stands behind its end.
const whole = (top, steps = ticks(top)) => steps.at(-1) < top - 1e-9 ? steps.at(-1) + steps[1] : top;
const most = (data) => Math.max(1, ...data.flatMap((row) => [row.asked, row.held, row.deserved, row.limit, row.guarantee].filter(Number.isFinite)));

function diamond(x, y, kind, key) {
  return h("path", {key, d: "M0 -8 L6 0 L0 8 L-6 0 z", style: shifted(x, y), class: kind});
}

// A Chinese sign is as wide as two.
const signs = (text) => text.length + [...text].filter((sign) => sign > "⺀").length;

function sums(row, old, words, room) {
  const found = [];
  for (const what of ["held", "deserved", "limit", "guarantee"]) {
    const value = row[what];
    if (typeof value !== "number" || (what === "guarantee" && !value)) continue;
    const difference = old ? change(value, old[what]) : "", length = found.reduce((sum, part) => sum + part.length, 0);
    const text = `${found.length ? " · " : ""}${"says" in row ? `${number(value)} ${row.says}` : t("{0} {1}", number(value), words[what])}`;
    if (found.length && (length + signs(text) + difference.length) * 7.4 > room) break;
    found.push({length: signs(text) + difference.length, part: [text, difference && h("tspan", {dx: 3, class: "vp-delta"}, difference)]});
  }
  return found.map(({part}) => part);
}

const told = (row, words, unit) => about(row.name, inRow(NUMBERS
  .filter((what) => typeof row[what] === "number").map((what) => t("{0} {1}", number(row[what]), words[what])))) + (unit ? t(" ({0})", unit) : "");
