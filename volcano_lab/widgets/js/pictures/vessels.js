// Vessels: what is to be shared is poured from a tank into the queues, round by round. A stream is as wide as a weight;
// what passes a rim runs back into the tank and is poured again.
//
// data: {queues: [{queue, color, weight, limit, rim, guarantee}], rounds: [{left_before, left, steps: {queue: {before, offered, after}}}]}
// `limit` is where the rim is and `rim` what it is called; `offered` is in addition to `before`.
// spec: max (the scale ends there; or several ends, of which the first that fits is taken), unit
// `c.at` is how many rounds have been poured, with a part of the one that is being poured; without it, all.
import {h} from "../tree.js";
import {amount, fit, number, wide, t} from "../words.js";
import {box, changed, colorOf, end, ink, line, middle, same, say} from "../marks.js";

const TANK = 30, ROOM = 38;  // the tank, and room above the vessels for what runs back

export const vessels = {
  steps: (data) => data.rounds.length,
  step: (data, at) => at <= 0 ? t("before the first round") : t("round {0} of {1}", Math.ceil(at), data.rounds.length),

  draw(data, c) {
    const {queues, rounds} = data, {width, spec, before} = c, height = spec.height ?? 236, brief = width / Math.max(queues.length, 1) < 150 || height < 220;
    const at = Math.min(c.at ?? rounds.length, rounds.length), whole = Math.floor(at), part = at - whole;
    const pouring = part ? rounds[whole] : null, shown = pouring ?? rounds[Math.max(whole - 1, 0)], over = at >= rounds.length;
    const ground = height - (brief ? 24 : 43), top = fitting(spec.max, Math.max(0, ...queues.map((row) => row.limit))), scale = (ground - TANK - ROOM) / top, slot = width / Math.max(queues.length, 1);
    const y = (value) => ground - value * scale, total = rounds[0]?.left_before ?? 0;
    const left = pouring ? pouring.left_before + (pouring.left - pouring.left_before) * part : whole ? rounds[whole - 1].left : total;
    const steps = {};                                             // of each queue: what each round brought so far
    for (const {queue} of queues) steps[queue] = rounds.slice(0, whole + (part ? 1 : 0)).map((round) => round.steps[queue] ?? null);
    const levelOf = (queue) => {
      const last = steps[queue].findLast((step) => step);
      if (!last) return 0;
      return part && pouring.steps[queue] ? last.before + (last.after - last.before) * part : last.after;
    };

    const tank = h("g", {key: "tank", tip: t("left to share: {0} of {1}", amount(left, spec.unit), amount(total, spec.unit))},
      box(0.5, 0.5, width - 1, TANK - 4, {rx: 6, class: "vp-tank"}),
      box(0.5, 0.5, total ? (width - 1) * left / total : 0, TANK - 4, {key: "water", rx: 6, class: "vp-water"}),
      say(9, 18, t("left: {0}", number(left)), {class: "vp-strong"}),
      say(width - 9, 18, tankWords(amount(total, spec.unit), over ? t("after round {0}", rounds.length) : vessels.step(data, at), width - 110), {class: "vp-soft", ...end}));

    const drawn = queues.map((row, i) => {
      const {queue} = row, color = colorOf(row, i), middleX = slot * (i + 0.5), wideness = Math.min(slot * 0.56, 92), x = middleX - wideness / 2;
      const level = levelOf(queue), now = shown?.steps[queue], rim = Math.min(row.limit, top * 1.02);
      const stream = now && !same(now.offered, 0) ? Math.max(2, wideness * 0.62 * now.offered / Math.max(total, 1)) : 0;
      const back = over ? Math.max(0, ...steps[queue].map((step) => step ? step.before + step.offered - step.after : 0))
        : now ? now.before + now.offered - now.after : 0;
      const old = before?.queues.find((other) => other.queue === queue), was = old && final(before, queue);
      const bands = steps[queue].map((step, r) => step && !same(step.after, step.before) && {
        from: step.before, to: r === whole && part ? level : step.after, late: !over && r < (part ? whole : whole - 1)});
      const lift = now && now.after > now.before + now.offered + 0.005;
      return h("g", {key: queue, link: queue, tip: told(row, steps[queue], level, spec.unit)},
        box(x - 8, TANK, wideness + 16, height - TANK, {fill: "transparent"}),
        stream && h("rect", {key: "stream", x: middleX - stream / 2, y: TANK - 4, width: stream, height: Math.max(0, y(level) - TANK + 4), fill: color, class: over ? "vp-stream vp-past" : "vp-stream"}),
        box(x, y(rim), wideness, rim * scale, {key: "rim", rx: 4, class: "vp-vessel"}),
        bands.map((band, r) => band && box(x + 2, y(band.to), wideness - 4, (band.to - band.from) * scale - (band.from > 0 ? 1.5 : 0), {key: `band ${r}`, rx: 2, fill: color, opacity: band.late ? 0.45 : 1})),
        row.guarantee > 0 && h("g", {key: "guarantee"},
          line(x - 7, y(row.guarantee), x + wideness + 7, y(row.guarantee), {class: "vp-least"}),
          (slot - wideness) / 2 - 8 > wide(`guarantee ${number(row.guarantee)}`) && say(x - 10, y(row.guarantee) + 5, `guarantee ${number(row.guarantee)}`, {class: "vp-soft", ...end})),
        bands.map((band, r) => {
          const at = band && wordsAt(band, row.guarantee, y);
          return at && say(middleX, at, (band.from > 0 ? "+" : "") + number(band.to - band.from), {key: `says ${r}`, ...middle, style: `fill:${band.late ? "var(--vp-ink)" : ink(color)}`});
        }),
        was !== undefined && over && !same(was, level) && line(x - 5, y(was), x + wideness + 5, y(was), {key: "ghost", class: "vp-ghost"}),
        changed(middleX, Math.min(y(level), y(Math.max(level, 0))) - 6, level, over ? was : undefined, {class: "vp-strong vp-halo", ...middle}, number(Math.round(level * 10) / 10)),
        back > 0.005 && at > 0 && h("g", {key: "back"},
          h("path", {d: curve(x + wideness + 3, y(rim) - 3, Math.min(middleX + slot * 0.44, width - 6), TANK + 2), stroke: color, class: "vp-back"}),
          say(Math.min(middleX + slot * 0.44, width - 6) - 16, TANK + 14, t("{0} back", number(back)), {class: "vp-strong vp-halo", ...end})),
        lift && !over && say(x - 8, y(now.after) + 5, "lifted", {class: "vp-soft", ...end}),
        brief ? h("text", {x: middleX, y: ground + 18, ...middle}, h("tspan", {class: "vp-strong"}, fit(queue, slot - 4, 14, true)),
          row.weight !== undefined && wide(t("{0}, weight {1}", queue, number(row.weight))) < slot && t(", weight {0}", number(row.weight)))
          : [say(middleX, ground + 18, fit(queue, slot - 4, 14, true), {class: "vp-strong", ...middle}), say(middleX, ground + 36, fit(below(row), slot - 4), {class: "vp-soft", ...middle})]);
    });
    return {height, kids: [tank, line(0, ground, width, ground, {class: "vp-line"}), drawn], alt: alt(data, spec)};
  },
};

// Where the scale ends: the first of several ends that all rims fit below, so that vessels are not drawn small without need.
const fitting = (max, rim) => Array.isArray(max) ? max.find((end) => end >= rim) ?? max.at(-1) : max;

const tankWords = (total, step, room) => wide(t("of {0}, {1}", total, step)) < room ? t("of {0}, {1}", total, step) : fit(step, room);

// Where a band's words stand: in its middle, or above or below the dashed line of the guarantee; null where there is no room.
function wordsAt(band, guarantee, y) {
  const [top, bottom] = [y(band.to), y(band.from)], least = guarantee > 0 ? y(guarantee) : -99;
  const parts = least > top && least < bottom ? [[top, least], [least, bottom]] : [[top, bottom]];
  const room = parts.find(([from, to]) => to - from >= 16);
  return room ? (room[0] + room[1]) / 2 + 5 : null;
}

const final = (data, queue) => data.rounds.map((round) => round.steps[queue]).findLast((step) => step)?.after ?? 0;
const below = (row) => [row.weight === undefined ? "" : t("weight {0}", number(row.weight)), row.note].filter(Boolean).join(", ");
const curve = (x1, y1, x2, y2) => `M${Math.round(x1)} ${Math.round(y1)} C${Math.round(x2 + 4)} ${Math.round(y1 - 16)} ${Math.round(x2 + 4)} ${Math.round((y1 + y2) / 2)} ${Math.round(x2 - 8)} ${Math.round(y2)}`;

function told(row, steps, level, unit) {
  const rounds = steps.map((step, i) => step && t("round {0}: offered {1}, takes {2}", i + 1, number(step.offered), number(step.after - step.before))).filter(Boolean);
  const rest = [row.rim ? `${row.rim} ${number(row.limit)}` : t("at most {0}", number(row.limit)), row.guarantee ? `guarantee ${number(row.guarantee)}` : ""].filter(Boolean);
  return `${row.queue}: ${amount(level, unit)}. ${[...rounds, ...rest].join("; ")}`;
}

const alt = (data, spec) => data.rounds.map((round, i) => t("Round {0}: ", i + 1) + data.queues.map(({queue}) => {
  const step = round.steps[queue];
  return step ? t("{0} is offered {1} and has {2}", queue, number(step.offered), number(step.after)) : t("{0} has {1}", queue, number(final({rounds: data.rounds.slice(0, i)}, queue)));
}).join(", ") + t("; left {0}", number(round.left))).join(". ") + `.${spec.unit ? t(" In {0}.", spec.unit) : ""}`;
