// A tree of queues as an icicle: a box a queue below its parent, as wide as what it may hold. A gang's minimum climbs from
// its queue as a token, until a level has no room.
//
// data: {queues: [{queue, parent, size, allocated, inqueue, guarantee, color, gang: {name, pods, fate}}],
//        climbs: {gang: {amount, text, steps: [{queue, text, fits}]}}, climb: the gang to begin with}
// spec: levels, lines (rows of words below), unit, move: control whose value is the list of queues (a box can be dragged onto
// another parent), chips: false to leave the gangs out
import {h} from "../tree.js";
import {amount, fit, number, sentence, wide} from "../words.js";
import {box, change, colorOf, end, hatch, hatches, line, middle, say} from "../marks.js";

const LEVEL = 58, BOX = 46, LINE = 20;

export const tree = {
  draw(data, c) {
    const {width, spec, before} = c, placed = laidOut(data.queues, width), byName = new Map(placed.map((row) => [row.queue, row]));
    const levels = Math.max(spec.levels ?? 1, ...placed.map((row) => row.depth + 1)), lines = spec.lines ?? levels + 1;
    const gang = data.climbs?.[c.pick] ? c.pick : data.climb, climb = data.climbs?.[gang];
    const start = climb?.steps[0]?.queue, refused = climb?.steps.find((step) => !step.fits)?.queue;
    const way = (climb?.steps ?? []).filter((step) => byName.has(step.queue)), leaf = way.length ? byName.get(way[0].queue) : null;
    const tokenX = leaf && leaf.x + Math.min(Math.max(leaf.width / 2, wide(leaf.queue, 14, true) + 26), Math.max(leaf.width - 20, 22));
    const boxes = placed.map((row) => {
      const y = row.depth * LEVEL + 2, room = row.width - 4, old = before?.queues.find((other) => other.queue === row.queue);
      const part = (value) => row.size > 0 ? Math.min(1, value / row.size) * room : 0, free = row.gang ? 44 : 8;
      const words = `${number(row.allocated)}${row.inqueue ? ` + ${number(row.inqueue)}` : ""} of ${number(row.size)}`;
      const difference = old ? change(row.allocated, old.allocated) : "", label = wide(row.queue, 14, true) + 14;
      const crossed = row === leaf && way.length > 1 && tokenX > row.x + room - 14 - wide(words + difference);
      return h("g", {key: row.queue, link: row.queue, tip: told(row, spec.unit), act: c.live && spec.move ? {choose: row.queue} : null, drop: c.live && spec.move ? row.queue : null,
        grip: c.live && spec.move && row.parent ? {move: row.queue} : null},
        box(row.x, y, room, BOX, {rx: 6, class: `vp-level${row.queue === refused ? " vp-refuses" : ""}${row.queue === c.chosen ? " vp-current" : ""}`}),
        part(row.allocated) > 0 && box(row.x + 3, y + 24, Math.max(part(row.allocated) - 6, 2), BOX - 27, {key: "held", rx: 3, fill: row.color}),
        part(row.inqueue ?? 0) > 0 && box(row.x + 3 + Math.max(part(row.allocated) - 6, 0), y + 24, Math.max(Math.min(part(row.inqueue), room - 6 - Math.max(part(row.allocated) - 6, 0)), 2), BOX - 27, {key: "inqueue", rx: 2, fill: hatch(c.uid, row.color)}),
        row.guarantee > 0 && box(row.x + 1.5, y + 21, Math.max(part(row.guarantee) - 3, 4), BOX - 22.5, {key: "guarantee", rx: 4, class: "vp-kept"}),
        say(row.x + 8, y + 17, fit(row.queue, room - 12, 14, true), {class: `vp-strong${row.queue === c.chosen ? " vp-accent" : ""}`}),
        label + wide(words + difference) + 10 < room && !crossed && h("text", {key: "words", x: row.x + room - 8, y: y + 17, class: "vp-soft", ...end}, words, difference && h("tspan", {dx: 3, class: "vp-delta"}, difference)),
        row.gang && spec.chips !== false && room > 40 && row.queue !== start && h("g", {key: "gang", act: c.live ? {pick: row.gang.name} : null, tip: toldGang(row.gang), link: row.queue},
          box(row.x + room - 33, y + 25, 28, 17, {rx: 8.5, class: `vp-chip vp-${row.gang.fate}${row.gang.name === gang ? " vp-picked" : ""}`}),
          say(row.x + room - 19, y + 38.5, `${row.gang.pods}${{commit: " ✓", discard: " ×", refused: " ×"}[row.gang.fate] ?? ""}`, {...middle, class: "vp-strong vp-small"})));
    });
    const token = way.map((step, i) => {
      const y = byName.get(step.queue).depth * LEVEL + 35;
      return h("g", {key: `token ${i}`},
        i > 0 && h("path", {d: `M${round(tokenX)} ${y + LEVEL - 14} V${y + 16} m-5 6 l5 -6 l5 6`, class: "vp-way"}),
        h("circle", {cx: tokenX, cy: y, r: 11.5, class: step.fits ? "vp-token" : "vp-token vp-stopped"}),
        say(tokenX, y + 5, number(climb.amount), {...middle, class: step.fits ? "vp-strong" : "vp-strong vp-on-bad"}));
    });
    const top = levels * LEVEL + 12;
    const below = climb ? [climb.text, ...climb.steps.map((step) => `${step.queue}: ${step.text}`)] : [data.text ?? "No gang waits."];
    const shown = below.length > lines ? [...below.slice(0, lines - 1), below.at(-1)] : below;
    return {height: top + lines * LINE, kids: [hatches(c.uid, placed.map((row) => row.color)), boxes, token,
      shown.map((text, i) => say(2, top + i * LINE, fit(text, width, 14, i === 0), {key: `line ${i}`, class: i === 0 ? "vp-strong" : refused && i === shown.length - 1 ? "vp-bad" : "vp-soft"}))],
      alt: [...placed.map((row) => told(row, spec.unit)), ...below].map(sentence).join("").trim()};
  },
};

const round = (value) => Math.round(value * 10) / 10;

// Each queue with its place: below its parent, as wide as its part of what the siblings may hold together.
function laidOut(queues, width) {
  const names = new Set(queues.map((row) => row.queue)), seen = new Set(), found = [];
  const below = (name) => queues.filter((row) => row.parent === name && row.queue !== name);
  const place = (row, x, room, depth, color, i) => {
    if (seen.has(row.queue)) return;
    seen.add(row.queue);
    const own = row.color ?? color ?? colorOf(row, depth ? i : 6), children = below(row.queue), weight = (child) => Math.max(child.size ?? 0, 0.001);
    found.push({...row, x, width: room, depth, color: own});
    const sum = Math.max(children.reduce((all, child) => all + weight(child), 0), 0.001), least = Math.min(64, room / Math.max(children.length, 1));
    const spare = room - least * children.length;
    let at = x;
    children.forEach((child, k) => {
      const own_room = least + spare * weight(child) / sum;
      place(child, at, own_room, depth + 1, depth ? own : undefined, k);
      at += own_room;
    });
  };
  const tops = queues.filter((row) => !row.parent || !names.has(row.parent)), all = tops.reduce((sum, row) => sum + Math.max(row.size, 1), 0);
  let at = 0;
  tops.forEach((row, i) => { const room = width * Math.max(row.size, 1) / all; place(row, at, room, 0, row.color, i); at += room; });
  return found;
}

const told = (row, unit) => `${row.parent ? `${row.queue} below ${row.parent}` : row.queue}: holds ${number(row.allocated)} of ${amount(row.size, unit)}` +
  (row.inqueue ? `, ${number(row.inqueue)} admitted` : "") + (row.guarantee ? `, guarantee ${number(row.guarantee)}` : "") +
  (row.deserved !== undefined && row.deserved !== null ? `, deserves ${number(row.deserved)}` : "") + (row.gang ? `; ${toldGang(row.gang)}` : "");

const toldGang = ({name, pods, fate}) => `${name}, ${pods} pods: ${{refused: "refused "}[fate]?.trim() ?? fate}`;
