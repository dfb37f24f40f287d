// A tree of queues as rows, a queue below its parent: one scale, so an amount has the same pixels on every level, and siblings that
// may hold more than their parent together can be drawn. A gang's minimum climbs from its queue as a token, until a level refuses it.
import {h} from "../tree.js";
import {about, amount, fit, inTree, number, sentences, wide, t} from "../words.js";
import {box, change, colorOf, end, hatch, hatches, middle, say} from "../marks.js";

const ROW = 28, BOX = 22, LINE = 20, INDENT = 16, CHIP = 40;

export const tree = {
  draw(data, c) {
    const {width, spec, before} = c, rows = inOrder(data.queues), at = new Map(rows.map((row, i) => [row.queue, i]));
    const gang = climbing(data, before, c.pick), climb = data.climbs?.[gang], way = (climb?.steps ?? []).filter((step) => at.has(step.queue));
    const refused = climb?.steps.find((step) => !step.fits)?.queue;
    const words = rows.map((row) => t(spec.of ?? "{0}{1} of {2}", number(row.allocated), row.inqueue ? ` + ${number(row.inqueue)}` : "", number(row.size)));
    const names = Math.min(Math.max(...rows.map((row) => wide(row.queue, 14, true) + INDENT * row.depth)) + 12, width * 0.3);
    const left = names + (data.climb ? 34 : 0), numbers = Math.max(...words.map((text) => wide(text))) + 44;
    const room = width - left - numbers - (rows.some((row) => row.gang) ? CHIP : 0), most = spec.max ?? Math.max(...rows.map((row) => Math.max(row.size ?? 0, row.allocated + (row.inqueue ?? 0))), 0.001);
    const long = (value) => room * Math.min(value ?? 0, most) / most, top = (i) => i * ROW + 2, tokenX = names + 15;
    const drawn = rows.map((row, i) => {
      const y = top(i), held = long(row.allocated), old = before?.queues.find((other) => other.queue === row.queue);
      const difference = old ? change(row.allocated, old.allocated) : "";
      return h("g", {key: row.queue, link: row.queue, tip: told(row, spec, words[i])},
        box(left, y, long(row.size), BOX, {rx: 4, class: `vp-level${row.queue === refused ? " vp-refuses" : ""}`}),
        box(left, y + 4, held, BOX - 8, {key: "held", fill: row.color}),
        row.inqueue > 0 && box(left + held, y + 4, long(row.inqueue), BOX - 8, {key: "inqueue", fill: hatch(c.uid, row.color)}),
        row.guarantee > 0 && box(left, y + 1.5, long(row.guarantee), BOX - 3, {key: "guarantee", rx: 3, class: "vp-kept"}),
        say(INDENT * row.depth, y + 16, fit(row.queue, names - 12 - INDENT * row.depth, 14, true), {class: "vp-strong"}),
        say(left + room + numbers - 4, y + 16, [words[i], difference && h("tspan", {dx: 3, class: "vp-delta"}, difference)], {key: "words", class: "vp-soft", ...end}),
        row.gang && h("g", {key: "gang", act: {pick: row.gang.name}, tip: toldGang(row.gang), link: row.queue},
          box(width - 33, y + 2, 30, 18, {rx: 9, class: `vp-chip vp-${row.gang.fate}${row.gang.name === gang ? " vp-picked" : ""}`}),
          say(width - 18, y + 16, `${row.gang.pods}${{commit: " ✓", discard: " ×", refused: " ×"}[row.gang.fate] ?? ""}`, {...middle, class: "vp-strong vp-small"})));
    });
    const token = way.map((step, i) => {
      const y = top(at.get(step.queue)) + BOX / 2, from = i && top(at.get(way[i - 1].queue)) + BOX / 2;
      return h("g", {key: `token ${i}`},
        i > 0 && h("path", {d: `M${tokenX} ${from - 10} V${y + 13} m-4 5 l4 -5 l4 5`, class: "vp-way"}),
        h("circle", {cx: tokenX, cy: y, r: 10.5, class: step.fits ? "vp-token" : "vp-token vp-stopped"}),
        say(tokenX, y + 5, number(climb.amount), {...middle, class: step.fits ? "vp-strong" : "vp-strong vp-on-bad"}));
    });
    const lines = spec.lines ?? way.length + 1, foot = Math.max(rows.length, spec.rows ?? 0) * ROW + 18;
    const below = climb ? [climb.text, ...climb.steps.map((step) => about(step.queue, step.text))] : [data.text ?? t("No gang waits.")];
    const shown = below.length > lines ? [...below.slice(0, lines - 1), below.at(-1)] : below;
    return {height: foot + lines * LINE, kids: [hatches(c.uid, rows.map((row) => row.color)), drawn, token,
      lines > 0 && shown.map((text, i) => say(2, foot + i * LINE, fit(text, width, 14, !i), {key: `line ${i}`, class: !i ? "vp-strong" : refused && i === shown.length - 1 ? "vp-bad" : "vp-soft"}))],
      alt: sentences([...rows.map((row, i) => told(row, spec, words[i])), ...below])};
  },
};

// Whose climb is drawn: the gang clicked since the last move, else the one whose outcome the move turned.
function climbing(data, before, pick) {
  const fate = (queues, name) => queues.find((row) => row.gang?.name === name)?.gang.fate;
  const turned = before && Object.keys(data.climbs ?? {}).find((name) => fate(data.queues, name) !== fate(before.queues, name));
  return data.climbs?.[pick] ? pick : turned ?? data.climb;
}

// Each queue behind its parent, with its depth.
function inOrder(queues) {
  const names = new Set(queues.map((row) => row.queue)), found = [];
  const place = (row, depth, color, i) => {
    if (found.some((other) => other.queue === row.queue)) return;
    const own = row.color ?? color ?? colorOf(row, depth ? i : 6);
    found.push({...row, depth, color: own});
    queues.filter((child) => child.parent === row.queue).forEach((child, k) => place(child, depth + 1, depth ? own : undefined, k));
  };
  queues.filter((row) => !row.parent || !names.has(row.parent)).forEach((row, i) => place(row, 0, row.color, i));
  return found;
}

const told = (row, {unit, of}, words) => (of ? about(inTree(row), words) : t("{0}: holds {1} of {2}", inTree(row), number(row.allocated), amount(row.size, unit))) +
  (row.inqueue ? t(", {0} admitted", number(row.inqueue)) : "") + (row.guarantee ? t(", guarantee {0}", number(row.guarantee)) : "") +
  (row.deserved?.toFixed ? t(", deserves {0}", number(row.deserved)) : "") + (row.gang ? t("; ") + toldGang(row.gang) : "");

const toldGang = ({name, pods, fate}) => t(pods > 1 ? "{0}, {1} pods: {2}" : "{0}, {1} pod: {2}", name, pods, {refused: t("refused ")}[fate]?.trim() ?? fate);
