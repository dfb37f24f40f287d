// Sums against limits: each row is a part of its own limit, and one line stands for all limits.
import {h} from "../tree.js";
import {about, called, fit, number, sentences, wide, t} from "../words.js";
import {COLORS, box, end, hatch, hatches, line, middle, same, say} from "../marks.js";

export const sums = {
  draw(data, c) {
    const {width, spec, before} = c, rows = spec.rows ?? data.length, high = data.some((row) => row.note) ? 46 : 26, tall = high > 40 ? 24 : 18, most = spec.max ?? 1.3;
    const column = Math.min(Math.max(60, ...data.flatMap((row) => [wide(called(row), 14, true), wide(row.note ?? "")])) + 12, width * 0.45);
    const words = Math.max(spec.rows ? 150 : 60, ...data.map((row) => wide(row.text, 14, row.over))) + 16, room = Math.max(120, width - column - words), x = (part) => column + room * Math.min(part, most) / most;
    const keys = spec.parts.reduce((sum, part) => sum + wide(part) + 30, 0), top = keys > (spec.rows ? width / 2 : x(1) - wide(spec.limit, 14, true) / 2) ? 46 : 26;
    const colors = data.map((row) => row.color ?? COLORS[0]), tones = new Set(colors).size > 1 ? [...colors, COLORS[6]] : colors, fillsOf = (row, color = row?.color ?? COLORS[0]) => row?.colors ?? [color, hatch(c.uid, color), `${color}6b`];
    const drawn = data.map((row, i) => {
      const y = top + 6 + i * high, base = y + (row.note ? 17 : 14), fills = fillsOf(row), limit = row.limit || Math.max(total(row.parts), 1) * (row.limit === 0 ? 3.4 : 1.15), old = before?.[i]?.name === row.name ? before[i] : null;
      let from = +(row.limit === 0);
      const parts = row.parts.map((value, k) => {
        const to = from + value / limit, at = x(from), wideness = x(to) - at, own = at < x(1) ? Math.min(wideness, x(1) - at) : wideness, figure = number(value);
        from = to;
        return [box(at, y, wideness, tall, {key: `part ${k}`, fill: fills[k % 3], tip: about(spec.parts[k] ?? "part", figure)}),
          wide(figure) < own - 8 && say(at + own / 2, base, figure, {class: "vp-halo vp-small", ...middle})];
      });
      const sumWas = old && total(old.parts) / (old.limit ?? limit);
      const ends = Math.max(1, Math.min(Math.max(from, sumWas ?? 0), most));  // the words stand right of the ghost, too
      return h("g", {key: `${i} ${row.name}`, link: row.link ?? row.name, tip: told(row, spec)},
        box(0, y - 6, width, high, {fill: "transparent"}),
        say(column - 8, y + (row.note ? 10 : 14), fit(called(row), column - 12, 14, true), {class: "vp-strong", ...end}),
        row.note && say(column - 10, y + 26, fit(row.note, column - 12), {class: "vp-soft", ...end}),
        box(x(0), y, x(1) - x(0), tall, {class: "vp-well", key: "well"}), parts,
        row.over && from > 1.0001 && box(x(1), y - 2, Math.max(x(from) - x(1), 3), tall + 4, {key: "over", class: "vp-over"}),
        old && !same(sumWas, from) && line(x(sumWas), y - 3, x(sumWas), y + tall + 3, {key: "ghost", class: "vp-ghost"}),
        say(x(ends) + 10, base, fit(row.text, width - x(ends) - 12, 14, row.over), {key: "text", class: row.over ? "vp-strong vp-bad vp-halo" : "vp-halo"}));
    });
    const height = top + rows * high + 2;
    return {height, kids: [hatches(c.uid, tones), say(x(1), top - 12, spec.limit, {class: "vp-strong", ...middle}),
      key(spec.parts, fillsOf({color: tones.at(-1), colors: data[0]?.colors}), width), drawn, line(x(1), top - 6, x(1), height - 6, {key: "limit", class: "vp-limit"})],
      alt: sentences(data.map((row) => told(row, spec)))};
  },
};

// The parts' names, left of the word over the line, or above it.
function key(parts, fills, width) {
  let x = 0;
  return parts.map((part, k) => {
    const from = x, words = fit(part, width - from - 18);
    x += 18 + wide(words) + 12;
    return words.length < Math.min(3, part.length) ? null : h("g", {key: `key ${k}`}, box(from, 3, 13, 13, {class: "vp-well"}), box(from, 3, 13, 13, {fill: fills[k % 3]}), say(from + 18, 14, words, {class: "vp-soft"}));
  });
}

const total = (parts) => parts.reduce((sum, value) => sum + value, 0);
const told = (row, spec) => about(called(row), row.parts.map((value, k) => `${spec.parts[k] ? `${spec.parts[k]} ` : ""}${number(value)}`).join(" + ")) +
  t(" is {0}", row.text);
