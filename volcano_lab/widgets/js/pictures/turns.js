// Turns in their order; a lane a queue.
import {h} from "../tree.js";
import {about, inRow, number, t} from "../words.js";
import {box, colorOf, end, ink, line, middle, named, nameColumn, say} from "../marks.js";

const LANE = 28, MARKS = {placed: "", discarded: "×", nothing: "", overused: "–"};
const WORDS = {placed: t("placed "), discarded: t("tried and taken back"), nothing: t("nothing could be placed"), overused: t("overused, passed over")};

export const turns = {
  draw(data, c) {
    const {width, spec} = c, lanes = spec.lanes ?? data.queues.length, column = nameColumn(data.queues.map((row) => row.queue), width, 0.25);
    const slots = spec.slots ?? Math.max(data.turns.length, 8), step = (width - column) / slots, size = Math.min(step - 3, 22), small = size < 15;
    const place = Object.fromEntries(data.queues.map((row, i) => [row.queue, {i, color: colorOf(row, i)}]));
    const y = (i) => LANE * i + LANE / 2 + 2;
    const rows = data.queues.map((row, i) => h("g", {key: `lane ${row.queue}`, link: row.queue},
      named(0, y(i) + 5, row.queue, column), line(column, y(i), width, y(i), {class: "vp-grid"})));
    const cells = data.turns.slice(0, slots).map((turn, i) => {
      const {i: lane, color} = place[turn.queue] ?? {i: 0, color: "#8C8C8C"}, x = column + step * i + (step - size) / 2, placed = turn.outcome === "placed";
      return h("g", {key: `turn ${i}`, link: turn.queue, tip: told(turn, i)},
        box(x, y(lane) - size / 2, size, size, {rx: Math.min(4, size / 4), class: placed ? "" : "vp-hollow", fill: placed ? color : undefined, stroke: color, "stroke-width": 1.6, "stroke-dasharray": turn.outcome === "nothing" ? "2 2" : null}),
        turn.ring && box(x - 3, y(lane) - size / 2 - 3, size + 6, size + 6, {rx: 6, class: "vp-ring"}),
        !small && say(x + size / 2, y(lane) + 5, placed && turn.pods > 1 ? turn.pods : MARKS[turn.outcome], {...middle, class: "vp-strong", style: placed ? `fill:${ink(color)}` : null}));
    });
    const foot = LANE * lanes + 16, hidden = data.turns.length - slots;
    return {height: foot + 4, kids: [rows, cells, say(column, foot, t("first turn"), {class: "vp-soft"}),
      say(width, foot, hidden > 0 ? t("and {0} more →", hidden) : t("later →"), {class: "vp-soft", ...end})],
      alt: data.turns.length ? t("Turns in their order: {0}.", inRow(data.turns.map((turn) => `${turn.queue} ${WORDS[turn.outcome].trim()}`))) : t("No queue had a turn.")};
  },
};

const told = (turn, i) => t("turn {0}: queue {1}", i + 1, turn.queue) + (typeof turn.share === "number" ? t(", share {0}", number(turn.share)) : "") +
  t(", ") + about(turn.job || t("no job left"), WORDS[turn.outcome].trim()) + (turn.pods ? t(turn.pods > 1 ? ", {0} pods" : ", {0} pod", turn.pods) : "");
