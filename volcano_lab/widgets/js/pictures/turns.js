// Turns in their order; a lane a queue.
import {h} from "../tree.js";
import {about, inRow, number, t} from "../words.js";
import {box, colorOf, end, ink, line, middle, named, nameColumn, say} from "../marks.js";

const LANE = 28, MARKS = {discarded: "×", overused: "–"};
const WORDS = {placed: t("placed ").trim(), discarded: t("tried and taken back"), nothing: t("nothing could be placed"), overused: t("overused, passed over")};

export const turns = {
  draw(data, c) {
    const {turns: all, queues} = data, {width, spec} = c, lanes = spec.lanes ?? queues.length, column = nameColumn(queues.map((row) => row.queue), width, 0.25);
    const slots = spec.slots ?? Math.max(all.length, 8), step = (width - column) / slots, size = Math.min(step - 3, 22), small = size < 15;
    const place = Object.fromEntries(queues.map((row, i) => [row.queue, {i, color: colorOf(row, i)}]));
    const y = (i) => LANE * i + LANE / 2 + 2;
    const rows = queues.map((row, i) => h("g", {key: `lane ${row.queue}`, link: row.queue},
      named(0, y(i) + 5, row.queue, column), line(column, y(i), width, y(i), {class: "vp-grid"})));
    const foot = LANE * lanes + 16, hidden = all.length - slots;
    const cells = all.slice(0, slots).map((turn, i) => {
      const {i: lane, color} = place[turn.queue] ?? {i: 0, color: "#8C8C8C"}, x = column + step * i + (step - size) / 2, top = y(lane) - size / 2, placed = turn.outcome === "placed";
      return h("g", {key: `turn ${i}`, link: turn.queue, tip: told(turn, i)},
        box(x, top, size, size, {rx: Math.min(4, size / 4), class: !placed && "vp-hollow", fill: placed ? color : undefined, stroke: color, "stroke-width": 1.6, "stroke-dasharray": turn.outcome === "nothing" ? "2 2" : null}),
        turn.ring && box(x - 3, top - 3, size + 6, size + 6, {rx: 6, class: "vp-ring"}),
        !small && say(x + size / 2, y(lane) + 5, placed && turn.pods > 1 ? turn.pods : MARKS[turn.outcome], {...middle, class: "vp-strong", style: placed ? `fill:${ink(color)}` : null}),
        (i + 1) % (step < 22 ? 5 : 1) < 1 && (hidden < 1 || x + 140 < width) && say(x + size / 2, foot, i + 1, {...middle, class: "vp-soft"}));
    });
    return {height: foot + 4, kids: [rows, cells, hidden > 0 && say(width, foot, t("and {0} more →", hidden), {class: "vp-soft", ...end})],
      alt: all.length ? t("Turns in their order: {0}.", inRow(all.map((turn) => `${turn.queue} ${WORDS[turn.outcome]}`))) : t("No queue had a turn.")};
  },
};

const told = (turn, i) => t("turn {0}: queue {1}", i + 1, turn.queue) + (typeof turn.share === "number" ? t(", share {0}", number(turn.share)) : "") +
  t(", ") + about(turn.job || t("no job left"), WORDS[turn.outcome]) + (turn.pods ? t(turn.pods > 1 ? ", {0} pods" : ", {0} pod", turn.pods) : "");
