// Differences against what is forgiven: 0 is the right side; what lies left of it holds, the hatched band is forgiven in rows that are
// not strict, the rest is too much.
import {h} from "../tree.js";
import {about, called, fit, inRow, number, sentences, wide, t} from "../words.js";
import {COLORS, box, end, hatch, hatches, line, middle, nameColumn, say} from "../marks.js";

const TOP = 44, ROW = 32;

export const band = {
  draw(data, c) {
    const {width, spec, before} = c, most = spec.max, forgiven = spec.band;
    const column = nameColumn(data.map(called), width) + 4, words = Math.max(...data.map((row) => wide(row.text, 14, true))) + 14;
    const room = Math.max(120, width - column - words), x = (value) => column + room * (Math.max(-most, Math.min(most, value)) + most) / (2 * most);
    const foot = TOP + data.length * ROW, steps = [-most, 0, forgiven, most];
    return {height: foot + 22, kids: [hatches(c.uid, [COLORS[2]]),
      box(x(-most), TOP - 6, x(0) - x(-most), foot - TOP, {fill: COLORS[2], opacity: 0.22}),
      say(x(0) - 6, TOP - 12, t("left ≤ right"), {class: "vp-soft", ...end}),
      say((x(0) + x(forgiven)) / 2, TOP - 28, t("forgiven"), {class: "vp-strong", ...middle}),
      say((x(forgiven) + x(most)) / 2, TOP - 12, t("too much"), {class: "vp-soft", ...middle}),
      line(x(0), TOP - 22, x(0), foot - 2, {class: "vp-limit", key: "zero"}),
      data.map((row, i) => {
        const y = TOP + i * ROW + 10, old = before?.[i];
        return h("g", {key: row.name, link: row.name, tip: told(row, spec)},
          !row.strict && box(x(0), y - 14, x(forgiven) - x(0), 28, {key: "forgiven", fill: hatch(c.uid, COLORS[2])}),
          say(column - 10, y + 5, fit(called(row), column - 12, 14, true), {class: "vp-strong", ...end}),
          line(x(-most), y, x(most), y, {class: "vp-grid"}),
          old && old.value !== row.value && line(x(old.value), y - 9, x(old.value), y + 9, {class: "vp-ghost", key: "ghost"}),
          h("circle", {key: "dot", cx: x(row.value), cy: y, r: 7, fill: COLORS[row.over ? 5 : 0]}),
          say(x(most) + 12, y + 5, row.text, {class: row.over ? "vp-strong vp-bad" : "vp-strong"}));
      }),
      steps.map((value) => say(x(value), foot + 12, value > 0 ? `+${number(value)}` : number(value), {key: `tick ${value}`, class: "vp-soft", ...middle})),
    ], alt: sentences(data.map((row) => told(row, spec)))};
  },
};

const told = (row, spec) => about(called(row), inRow([`${row.value > 0 ? "+" : ""}${number(row.value)}${spec.unit ? ` ${spec.unit}` : ""}`, row.text]));
