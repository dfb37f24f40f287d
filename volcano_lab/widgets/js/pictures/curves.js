// Curves on logarithmic axes: from one grid line to the next is ten times, so a slope is a power.
import {h} from "../tree.js";
import {about, inRow, number, wide, t} from "../words.js";
import {colorOf, end, line, middle, say} from "../marks.js";

const TOP = 24, FOOT = 42, APART = 18;

export const curves = {
  draw(data, c) {
    const {width, spec, before} = c, high = spec.height ?? 200, [fromX, fromY] = spec.from, [toX, toY] = spec.to;
    const column = wide(whole(toY)) + 10, names = Math.min(Math.max(...data.lines.map((one) => wide(one.name, 14, true))) + 12, width * 0.4);
    const room = width - column - names, near = (value) => Math.round(value * 10) / 10;
    const x = (value) => near(column + room * part(value, fromX, toX)), y = (value) => near(TOP + high * (1 - part(value, fromY, toY)));
    const ends = data.lines.map((one, i) => ({one, i, at: y((one.points.at(-1) ?? one.dot)[1])})).sort((a, b) => a.at - b.at);
    ends.forEach((each, k) => { if (k) each.at = Math.max(each.at, ends[k - 1].at + APART); });
    const labels = ends.map(({one, i, at}) => say(width - names + 8, at + 5, one.name, {key: one.name, class: "vp-strong vp-halo", style: `fill:color-mix(in srgb, ${colorOf(one, i)} 72%, var(--vp-ink))`}));
    const highest = Math.max(...data.lines.map((one) => one.dot?.[1] ?? 0)), first = data.lines.find((one) => one.dot?.[1] === highest);
    // A dot's number: left of the highest one, below the others, clear of the axis's numbers and of the lines' names.
    const beside = ([at, value], top) => {
      const words = whole(value), long = wide(words, 14, true), half = long / 2, place = Math.max(column + 4, Math.min(x(at) - (top ? long + 10 : half), column + room + 4 - long));
      return say(place + (top ? long : half), y(value) + (top ? -6 - 6 * (at <= fromX) : 23), words, {key: "number", ...(top ? end : middle), class: "vp-strong vp-halo"});
    };
    const drawn = data.lines.map((one, i) => {
      const old = before?.lines.find((other) => other.name === one.name)?.dot, color = colorOf(one, i);
      return h("g", {key: one.name, link: one.name, tip: told(one)},
        one.points.length > 1 && h("path", {key: "line", d: one.points.map(([a, b], k) => `${k ? "L" : "M"}${x(a)} ${y(b)}`).join(""), fill: "none", stroke: color, "stroke-width": 2.2}),
        one.points.length < 9 && one.points.map(([a, b], k) => h("circle", {key: `point ${k}`, cx: x(a), cy: y(b), r: 3.5, fill: color})),
        old && one.dot && String(old) !== String(one.dot) && h("circle", {key: "ghost", cx: x(old[0]), cy: y(old[1]), r: 6, class: "vp-ghost"}),
        one.dot && [h("circle", {key: "dot", cx: x(one.dot[0]), cy: y(one.dot[1]), r: 6, fill: color}),
          beside(one.dot, one === first)]);
    });
    return {height: TOP + high + FOOT, kids: [
      say(0, 13, spec.y, {class: "vp-soft"}),
      tens(fromY, toY).map((value) => [line(column, y(value), column + room, y(value), {class: "vp-grid"}), say(column - 6, y(value) + 5, whole(value), {...end, class: "vp-soft"})]),
      tens(fromX, toX).map((value) => [line(x(value), TOP, x(value), TOP + high, {class: "vp-grid"}), say(x(value), TOP + high + 17, whole(value), {...middle, class: "vp-soft"})]),
      say(column + room, TOP + high + 36, spec.x, {...end, class: "vp-soft"}), drawn, labels],
      alt: data.lines.map(told).join(t(". ")) + t(". Axes: {0}, {1}; logarithmic.", spec.x, spec.y)};
  },
};

const part = (value, from, to) => Math.min(1, Math.max(0, Math.log(Math.max(value, from) / from) / Math.log(to / from)));
const whole = (value) => (value < 1000 ? number(value) : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ","));
const told = (one) => about(one.name, one.dot ? t("now {0} at {1}", whole(one.dot[1]), whole(one.dot[0])) : inRow(one.points.map(([a, b]) => t("{0} at {1}", whole(b), whole(a))).filter((_, k, all) => all.length < 9 || k % Math.ceil(all.length / 6) === 0 || k === all.length - 1)));

// Powers of ten within an axis, on a short one 2 and 5 times them too, and its ends.
function tens(from, to) {
  const found = [], near = to / from < 100 ? 1.3 : 2.1;
  for (let value = 10 ** Math.floor(Math.log10(from)); value < to; value *= 10) for (const times of to / from < 100 ? [1, 2, 5] : [1]) if (times * value > from * near && times * value < to / near) found.push(times * value);
  return [from, ...found, to];
}
