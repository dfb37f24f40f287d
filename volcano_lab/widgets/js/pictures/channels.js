// Channels: a row for each queue, all on the scale of the cluster. Water is what a queue deserves, pods lie
// on the floor, what was not placed in a lane below; the strip of nodes has the same scale.
//
// data: what `widgets/channels.py` makes; `held`, `share` are before the cycle, `allocated`, `after` at its end
// spec: without: those of "nodes", "shares", "lanes", "pods" that are left out; without pods each band of water has its number
// Live, `c.control(path)` gives the lab's control of a change.
import {h} from "../tree.js";
import {about, amount, fit, inRow, inTree, number, sentences, wide, t} from "../words.js";
import {box, change, colorOf, end, hatch, hatches, ink, line, middle, same, say, shifted} from "../marks.js";

const tenths = (value) => number(Math.round(value * 10) / 10);
const LABEL = 18, CHANNEL = 26, LANE = 17, NODE = 24, SLIM = 28, MANY = 12, REACH = 18, GREY = "#8C8C8C", CLEAR = {fill: "transparent"};
const SIGNS = {placed: "✓", discarded: "✕", "not tried": "○", "not admitted": "✕", waiting: "○"};
const FATES = {placed: t("placed ").trim(), discarded: t("discarded ").trim(), "not tried": t("not tried"), "not admitted": t("not admitted"), waiting: t("waiting ").trim(), running: t("running ").trim()};

export const channels = {
  steps: (data) => data.rounds.length,
  step: (data, at) => t("round {0} of {1}", Math.ceil(at), data.rounds.length),

  draw(given, c) {
    const colors = Object.fromEntries(given.queues.map((row, i) => [row.queue, row.leaf ? colorOf(row, i) : GREY]));
    const data = {...given, queues: given.queues.map((row) => ({...row, color: colors[row.queue]})), nodes: given.nodes.map((node) => ({...node, pods: node.pods.map((pod) => ({color: colors[pod.queue] ?? GREY, ...pod}))}))};
    const p = plan(data, c), kids = [hatches(c.uid, data.queues.map((row) => row.color)), wave(c.uid), grid(p)];
    if (p.nodes) kids.push(nodes(p));
    kids.push(rootRow(p), pipes(p), ...data.queues.map((row) => queueRow(p, row)));
    return {height: p.height, kids, alt: sentences([...data.queues.map((row) => withJobs(p, row)), data.nodes.length > 12 ? t("{0} nodes.", data.nodes.length) : inRow(data.nodes.map((node) => toldNode(node, data.unit)))])};
  },
};

// Where all stands: x of an amount, y and height of each row, the water of the shown round.
function plan(data, c) {
  const {width} = c, narrow = width < 960, tiny = width < 620, out = c.spec.without ?? [];
  const parents = new Map(data.queues.map((row) => [row.queue, row.parent])), depth = (name) => parents.get(name) ? 1 + depth(parents.get(name)) : 0;
  const deep = Math.max(0, ...data.queues.map((row) => depth(row.queue))), many = data.queues.filter((row) => row.leaf).length > MANY;
  const name = tiny ? 96 : narrow ? 150 : 212, from = name + 14 * (deep + 1), shares = out.includes("shares") ? 0 : tiny ? 44 : narrow ? 118 : 196;
  const total = Math.max(data.total, 1e-9), channel = width - from - shares - (shares ? 26 : 12), scale = channel / total;
  const at = Math.min(c.at ?? data.rounds.length, data.rounds.length), over = at >= data.rounds.length, lanes = out.includes("lanes") ? 0 : many ? 1 : 2;
  const p = {data, c, parents, dry: out.includes("pods"), width, tiny, name, from, shares, total, channel, scale, deep, depth, many, at, over, x: (value) => from + Math.min(Math.max(value, 0), total) * scale,
    right: from + channel, nodes: data.nodes.length && !out.includes("nodes") ? 48 : 0, y: {}, high: {}, lanes: {}, water: {}};
  let y = p.nodes + 42;
  for (const row of data.queues) {
    const was = c.before?.queues.find((one) => one.queue === row.queue), slim = many && c.pick !== row.queue && (!was || same(was.deserved, row.deserved)) ;
    p.lanes[row.queue] = slim ? [] : row.jobs.filter((job) => job.fate !== "running" || c.control?.(`job/${job.called}.pods`)).slice(0, lanes).sort((a, b) => a.job < b.job ? -1 : 1);
    p.y[row.queue] = y;
    p.high[row.queue] = slim ? SLIM : LABEL + (row.leaf ? CHANNEL : 20) + 6 + p.lanes[row.queue].length * lineOf(p);
    y += p.high[row.queue];
    p.water[row.queue] = watered(p, row);
  }
  return Object.assign(p, {height: y + 6});
}

// On a narrow page the words of a lane have a line of their own.
const lineOf = (p) => p.tiny ? LANE + 15 : LANE;

// The bands of water of the rounds so far, the last one perhaps still falling.
function watered({data, at, over}, row) {
  if (!data.rounds.length || (over && !data.rounds.some((round) => round.steps[row.queue]))) return {bands: [row.deserved ?? 0], level: row.deserved ?? 0};
  const bands = [];
  let level = 0, back = 0;
  data.rounds.slice(0, Math.ceil(at)).forEach((round, i) => {
    const step = round.steps[row.queue], part = Math.min(1, at - i);
    if (!step) return;
    back = i + 1 === Math.ceil(at) ? step.before + step.offered - step.after : 0;
    bands.push((step.after - step.before) * part);
    level = step.before + (step.after - step.before) * part;
  });
  return {bands, level, back};
}

const wave = (uid) => h("defs", {}, h("pattern", {id: `${uid}-wave`, width: 28, height: 8, patternUnits: "userSpaceOnUse"},
  h("path", {d: "M0 5 q7 -4 14 0 t14 0", class: "vp-foam"})));

function grid(p) {
  const {data, from, right, height, width, shares, tiny} = p, top = p.nodes + 18, steps = [0, 0.25, 0.5, 0.75, 1];
  const ends = `${tenths(p.total)} ${t(data.unit)}`;
  return h("g", {key: "grid"},
    steps.map((part) => line(from + part * p.channel, top, from + part * p.channel, height - 4, {key: `at ${part}`, class: "vp-grid"})),
    steps.map((part) => !(part === 0.75 && p.channel < 260) && say(part === 1 ? right + 4 : from + part * p.channel, top - 5, part === 1 ? ends : tenths(part * p.total), {key: `says ${part}`, class: "vp-soft vp-tiny", ...(part === 1 ? end : middle)})),
    shares > 0 && !tiny && [h("g", {key: "shares"}, [0, 1].map((part) => [line(shareX(p, part), top + 14, shareX(p, part), height - 4, {class: part ? "vp-line" : "vp-grid"}), say(shareX(p, part), top + 11, part, {class: "vp-soft vp-tiny", ...middle})]),
      say(width, top - 5, t(shares > 150 ? "turn: largest held ÷ deserved" : "held ÷ deserved"), {class: "vp-soft vp-small", ...end}))]);
}

const shareX = (p, value) => p.right + 36 + Math.min(value, 1.3) / 1.3 * (p.shares - 92);

// A node is as wide as what it has. A pod keeps its place on its node.
function nodes(p) {
  const {data, c, from, scale, tiny} = p, memory = c.memory ?? {}, few = data.nodes.length <= 12, y = 20;
  let x = from;
  const taken = data.nodes.reduce((sum, node) => sum + node.pods.reduce((all, pod) => all + pod.size, 0), 0), now = {};
  const drawn = data.nodes.map((node, i) => {
    const left = x, room = node.size * scale, pad = few ? 1.5 : 0.6, places = placed(node, memory);
    x += room;
    return h("g", {key: `node ${node.name}`, tip: toldNode(node, data.unit), act: {ask: {node: node.name}}},
      box(left + pad, y, room - 2 * pad, NODE, {class: "vp-node", rx: few ? 4 : 2}),
      (few || i % 5 === 0) && say(left + pad + 2, y - 4, few && wide(node.name, 12) <= room - 4 ? node.name : String(i + 1), {class: "vp-soft vp-small"}),
      node.pods.map((pod) => {
        now[`${node.name} ${pod.name}`] = places[pod.name];
        const wideness = pod.size * scale, gap = wideness > 6 ? 1 : 0.3;
        return h("g", {key: pod.name, link: pod.queue, tip: t("{0} on {1}: {2}, {3}", pod.name, node.name, amount(pod.size, data.unit), STATES[pod.state]), act: {ask: {node: node.name, pod: pod.name}}},
          box(left + places[pod.name] * scale + gap, y + 3, wideness - 2 * gap, NODE - 6, {key: "pod", rx: wideness > 8 ? 3 : 1, class: `vp-pod vp-pod-${pod.state}`, fill: pod.state === "promised" ? "none" : pod.color, stroke: pod.state === "promised" ? pod.color : undefined}),
          few && wideness > 30 && pod.queue && say(left + (places[pod.name] + pod.size / 2) * scale, y + 16.5, fit(pod.queue, wideness - 6, 12), {key: "name", class: "vp-small", ...middle, style: `fill:${pod.state === "promised" ? "var(--vp-ink)" : ink(pod.color)}`}));
      }));
  });
  if (c.memory) { for (const key in c.memory) delete c.memory[key]; Object.assign(c.memory, now); }
  const count = data.nodes.length, rest = tenths(p.total - taken), idle = t("{0} of {1} idle", rest, amount(p.total, data.unit));
  return h("g", {key: "nodes", opacity: p.over ? null : 0.15}, say(0, y + 16, t(count === 1 ? "{0} node" : "{0} nodes", count), {class: "vp-strong"}), drawn,
    p.shares > 0 && say(p.width, y + 16, fit(tiny || wide(idle, 12) > p.shares + 14 ? t("{0} idle", rest) : idle, p.shares + 14, 12), {class: "vp-soft vp-small", ...end}));
}

const STATES = {running: t("runs"), now: t("placed in this cycle"), promised: t("promised ").trim(), leaving: t("leaves ").trim()};
const toldNode = (node, unit) => { const used = node.pods.reduce((sum, pod) => sum + pod.size, 0); return t("{0}: {1} of {2} idle", node.name, number(Math.round((node.size - used) * 100) / 100), amount(node.size, unit)); };

// Where each pod begins: where it was, if free; else in the first gap.
function placed(node, memory) {
  const spans = [], places = {}, free = (at, size) => at >= 0 && at + size <= node.size + 1e-6 && spans.every(([a, b]) => at >= b - 1e-6 || at + size <= a + 1e-6);
  const take = (pod, at) => { places[pod.name] = at; spans.push([at, at + pod.size]); };
  const kept = (pod) => memory[`${node.name} ${pod.name}`];
  for (const pod of node.pods) if (kept(pod) !== undefined && free(kept(pod), pod.size)) take(pod, kept(pod));
  for (const pod of node.pods) {
    if (pod.name in places) continue;
    const gaps = [0, ...spans.map(([, b]) => b)].sort((a, b) => a - b), at = gaps.find((gap) => free(gap, pod.size));
    take(pod, at ?? Math.max(0, node.size - pod.size));
  }
  return places;
}

function rootRow(p) {
  const {data, c, x, at, over, total} = p, y = p.nodes + 22, tops = data.queues.filter((row) => !row.parent);
  let sum = 0;
  const parts = tops.map((row) => {
    const level = Math.min(p.water[row.queue].level, total - sum), left = x(sum), right = x(sum + level);
    sum += Math.max(level, 0);
    const whole = p.water[row.queue].level, shown = tenths(level), words = `${row.queue} ${whole > level + 0.05 ? t("{0} of {1}", shown, tenths(whole)) : shown}`;
    return h("g", {key: row.queue, link: row.queue}, ...water(c, left, y, right - left, 18, 1, "part"),
      wide(words, 12) < right - left - 8 && say(left + 5, y + 13, words, {key: "says", class: "vp-small"}), line(right, y, right, y + 18, {key: "ends", class: "vp-least-thin"}));
  });
  const left = total - sum, words = [over ? t("{0} to no queue", tenths(left)) : t("{0} left to share", tenths(left)), tenths(left)].find((text) => wide(text, 12) < left * p.scale - 8);
  return h("g", {key: "root", tip: about(t("cluster ").trim(), amount(total, data.unit)) + `${at > 0 || !data.rounds.length ? "" : t(", nothing is shared yet")}`, drop: p.deep ? "root" : null},
    box(0, y - 1, p.name, 20, {class: "vp-name"}), say(0, y + 14, over ? p.deep ? "root" : t("cluster ").trim() : channels.step(data, at), {class: "vp-strong"}), trough(p, 0, total, y, 18), parts,
    left > 0.005 && words && say(x(sum) + 5, y + 13, words, {key: "left", class: "vp-small vp-soft"}));
}

const trough = (p, from, to, y, high) => [box(p.x(from), y, p.x(to) - p.x(from), high, {key: "well", class: "vp-well"}),
  h("path", {key: "floor", d: `M${p.x(from)} ${y} V${y + high} H${p.x(to)}`, class: "vp-vessel"})];
const water = (c, x, y, width, high, kind, key) => [box(x, y, width, high, {key, class: `vp-water vp-water-${kind}`}), box(x, y, width, high, {key: `part ${key}`, fill: `url(#${c.uid}-wave)`})];

// A pipe is as thick as a weight, where weights count.
function pipes(p) {
  const {data, from} = p, weights = Math.max(1, ...data.queues.map((row) => row.weight ?? 1)), mid = (name) => p.y[name] + (p.high[name] === SLIM ? SLIM / 2 : LABEL + 12);
  const xAt = (deep) => from - 14 * (p.deep - deep + 1) + 2;
  const trunks = ["", ...data.queues.filter((row) => !row.leaf).map((row) => row.queue)].map((name) => {
    const kids = data.queues.filter((row) => row.parent === name), x = xAt(name ? p.depth(name) + 1 : 0), top = name ? mid(name) : p.nodes + 31;
    return kids.length > 0 && h("path", {key: `line ${name}`, d: `M${name ? x : from} ${top} H${x} V${mid(kids.at(-1).queue)}`, class: "vp-pipe"});
  });
  return h("g", {key: "pipes"}, trunks, data.queues.map((row) => {
    const thick = data.rounds.length ? Math.max(1.5, 14 * (row.weight ?? 1) / Math.max(weights, 5)) : 2, x = xAt(p.depth(row.queue));
    return box(x, mid(row.queue) - thick / 2, from - x, thick, {key: row.queue, class: "vp-pipe-end"});
  }));
}

function queueRow(p, row) {
  const {data, c, x} = p, y0 = p.y[row.queue], slim = p.high[row.queue] === SLIM, high = slim ? 14 : row.leaf ? CHANNEL : 20, y = y0 + (slim ? 7 : LABEL), color = row.color;
  const was = c.before?.queues.find((one) => one.queue === row.queue), {bands, level, back} = p.water[row.queue], poured = !p.over, top = Math.min(row.limit ?? p.total, p.total), cap = Math.min(row.capability, p.total);
  let at = 0;
  const ends = bands.map((band) => at += band), drawn = bands.map((band, i) => water(c, x(ends[i] - band), y, x(ends[i]) - x(ends[i] - band), high, i % 2, `band ${i}`));
  const moved = was && p.over && !same(was.deserved, row.deserved);
  return h("g", {key: row.queue, link: row.queue, act: {ask: {queue: row.queue}}, drop: c.control?.(`queue/${row.queue}.parent`) || !row.leaf ? row.queue : null},
    !row.leaf && line(0, y0 + 2, p.width, y0 + 2, {key: "over", class: "vp-grid"}),
    nameOf(p, row, y, slim),
    trough(p, 0, top, y, high), cap > top && line(x(top), y + high / 2, x(cap), y + high / 2, {key: "beyond", class: "vp-grid"}),
    h("g", {key: "water", tip: t("{0} deserves {1}", row.queue, amount(row.deserved, data.unit))}, drawn.flat()),
    !p.dry && pods(p, row, y + high, slim),
    poured && back > 0.05 && say(x(level) + 8, y + high / 2 + 5, t("↩ {0} back", tenths(back)), {key: "back", class: "vp-strong vp-small vp-halo"}),
    bands.map((band, i, all, more = `${i || poured ? "+" : ""}${tenths(band)}`) => (p.dry || (poured && i === all.length - 1)) && band * p.scale > wide(more, 12, true) + 10 && say(x(ends[i] - band) + 6, y + high / 2 + 5, more, {key: `added ${i}`, class: "vp-strong vp-small"})),
    moved && line(x(was.deserved), y - 4, x(was.deserved), y + high + 4, {key: "ghost", class: "vp-was"}),
    marks(p, row, y, high, top), p.lanes[row.queue].map((job, i) => lane(p, row, job, y + high + 4 + i * lineOf(p))), !slim && labels(p, row, y, top, level, moved ? was.deserved : undefined),
    p.shares > 0 && share(p, row, y + high / 2, color));
}

// A name is dragged onto a parent, its weight to a number.
function nameOf(p, row, y, slim) {
  const {c, data, name, tiny} = p, parent = c.control?.(`queue/${row.queue}.parent`), weight = c.control?.(`queue/${row.queue}.weight`), indent = 12 * p.depth(row.queue) + (row.leaf ? 16 : 0);
  const counts = data.plugin === "proportion", words = t("weight {0}", number(row.weight)), long = counts && !slim ? wide(words, 13, true) : 0, beside = !tiny && row.leaf !== undefined;
  const second = row.jobs.length || row.request ? t("holds {0}, asks {1}", tenths(row.allocated ?? 0), tenths(row.request ?? 0)) : t("holds {0}", 0);
  const base = y + (slim ? 12 : 14), below = base + 15;
  return [h("g", {key: "name", tip: told(p, row), act: {ask: {queue: row.queue}, pick: p.many ? row.queue : undefined}, grip: parent ? {move: row.queue} : null},
    box(0, base - 16, name - (beside ? long + 12 : 0), slim ? 22 : 38, {class: "vp-name"}),
    row.leaf && box(indent - 14, base - 9, 10, 10, {key: "dot", rx: 3, fill: row.color}),
    say(indent, base, fit(row.queue, name - indent - (beside ? long + 14 : 4), 14, true), {class: "vp-strong"}),
    row.leaf && !slim && !(tiny && counts) && say(indent, below, wide(second, 12) <= name - indent - 4 ? second : fit(t("holds {0}", tenths(row.allocated ?? 0)), name - indent - 4, 12), {class: "vp-soft vp-small"})),
  counts && !slim && scrubbed(c, `queue/${row.queue}.weight`, weight, beside ? name - long - 6 : indent, beside ? base : below, words, long)];
}

function scrubbed(c, path, control, x, y, words, long) {
  return h("g", {key: "weight", class: control ? "vp-scrub noUi-handle" : "", ...(control ? slider(control, path, 1 / 18, words) : {})},
    box(x - 4, y - 14, long + 8, 20, CLEAR), say(x, y, words, {class: control ? "vp-strong vp-accent vp-13" : "vp-soft vp-13"}),
    control && line(x, y + 4, x + long, y + 4, {class: "vp-dots"}));
}

// A handle is a slider; Enter asks about it.
const slider = (control, path, by, words) => ({tip: t("{0}: {1}; drag it, or press the arrow keys", control.full, words), role: "slider", tabindex: control.tab ?? 0, "aria-label": control.full, "aria-valuemin": control.least,
  "aria-valuemax": control.most, "aria-valuenow": control.value, "aria-valuetext": words, grip: {control: path, by, value: control.value, slider: true}, act: {ask: {control: path}}});

function ring(p, path, x, y, by, words, mark) {
  const control = p.c.control?.(path);
  return [mark, control && h("g", {key: path, class: "vp-handle noUi-handle", style: shifted(x, y), ...slider({...control, tab: p.many ? -1 : 0}, path, by, words)},
    box(-REACH / 2, -REACH / 2, REACH, REACH, CLEAR), h("circle", {r: 4.6, class: "vp-knob"}))];
}

function marks(p, row, y, high, top) {
  const {x, data, scale, total} = p, by = 1 / scale, of = (field) => `queue/${row.queue}.${field}${data.path}`;
  const unit = (value) => amount(value, data.unit), own = p.lanes[row.queue], lanes = own.some((one) => one.waiting && row.allocated + one.size * one.waiting >= row.deserved) ? (own.length - 1) * lineOf(p) + LANE : 0, cap = Math.min(row.capability, total);
  return h("g", {key: "marks"},
    p.over && typeof row.deserved === "number" && ring(p, data.plugin === "proportion" ? "" : of("deserved"), x(row.deserved), y + 1, by, unit(row.deserved),
      h("g", {key: "deserved", tip: t("{0} deserves {1}", row.queue, unit(row.deserved))}, line(x(row.deserved), y - 4, x(row.deserved), y + high + lanes + 3, {class: "vp-limit"}))),
    ring(p, of("guarantee.resource"), x(row.guarantee), y + high, by, unit(row.guarantee),
      row.guarantee > 0 && line(x(row.guarantee), y - 2, x(row.guarantee), y + high, {key: "guarantee", class: "vp-least"})),
    ring(p, of("capability"), x(cap), y + high / 2, by, cap >= total ? t("no limit") : unit(cap), line(x(top), y - 4, x(top), y + high, {key: "capability", class: "vp-limit"})));
}

// Words over the marks, pushed apart, and inside.
function labels(p, row, y, top, level, was) {
  const {x, from, right, total} = p, shown = [];
  if (row.guarantee > 0) shown.push({key: "kept", x: x(row.guarantee), text: t("guarantee {0}", tenths(row.guarantee)), kind: "vp-soft"});
  const value = p.over ? row.deserved : level, now = p.over && row.exact || tenths(value);
  if (value?.toFixed) shown.push({key: "deserves", x: x(value), text: p.tiny ? now : t("deserves {0}", now), more: p.over ? change(value, was) : "", kind: "vp-strong"});
  if (!p.tiny || top < total) shown.push({key: "limit", x: x(top), text: top >= total ? t("no limit") : row.capability > top ? t("may hold {0}", tenths(top)) : t("limit {0}", tenths(top)), kind: "vp-soft"});
  for (const one of shown) { one.wide = wide(one.text, 12, one.key === "deserves") + (one.more ? wide(one.more, 12, true) + 5 : 0); one.at = one.x - one.wide / 2; }
  shown.sort((a, b) => a.x - b.x);
  let least = from - 2;
  for (const one of shown) { one.at = Math.max(one.at, least); least = one.at + one.wide + 8; }
  let most = right + 8;
  for (const one of [...shown].reverse()) { one.at = Math.min(one.at, most - one.wide); most = one.at - 8; }
  return shown.filter((one) => one.at >= p.name - 4).map((one) => say(one.at, y - 6, [one.text, one.more && h("tspan", {dx: 5, class: "vp-delta"}, one.more)], {key: `says ${one.key}`, class: `vp-small vp-halo ${one.kind}`}));
}

// Pods on the floor: those that run, then those placed now. Of a parent, what its queues hold.
function pods(p, row, floor, slim) {
  const {data, c, x, scale} = p, high = row.leaf && !slim ? 16 : 9, y = floor - high - 1.5, lit = p.over ? 1 : 0.15;
  let at = 0;
  if (!row.leaf) return data.queues.filter((one) => one.leaf && under(p, one.queue, row.queue)).map((one) => {
    const left = at, all = row.allocated;
    at += one.allocated;
    return h("g", {key: `group ${one.queue}`, link: one.queue, tip: t("{0} holds {1}", one.queue, amount(one.allocated, data.unit))}, at > left && box(x(left) + 1, y, x(at) - x(left) - 2, high, {rx: 2, fill: one.color, opacity: lit}),
      one.jobs.map((job) => job.fate === "discarded" && box(x(all) + 1, y, x(all + job.size * job.waiting) - x(all) - 2, high, {key: job.job, fill: hatch(c.uid, one.color)})));
  });
  return ORDER.flatMap((state) => row.jobs.filter((job) => job[state]).map((job) => [state, job])).map(([state, job]) => {
    const left = at, each = job.size * scale, single = each >= 5 && job[state] <= 60, count = single ? job[state] : 1, wideness = single ? each : each * job[state], gap = wideness > 6 ? 0.8 : 0.2;
    at += job.size * job[state];
    return h("g", {key: `${job.job} ${state}`, tip: about(job.name, inRow([`${job[state]} × ${amount(job.size, data.unit)}`, STATES[state]])), act: {ask: {job: job.job}}},
      Array.from({length: count}, (_, i) => box(x(left) + i * wideness + gap, y, wideness - 2 * gap, high, {key: i, rx: wideness > 8 ? 3 : 1, class: `vp-pod vp-pod-${state}`, fill: row.color, opacity: lit})));
  });
}

const ORDER = ["running", "leaving", "now"];
const under = (p, name, above) => (name = p.parents.get(name)) === above || (name && under(p, name, above));

// A job's pods that were not placed, where they would lie; its minimum is a notch.
function lane(p, row, job, y) {
  const {data, c, x, scale} = p, color = row.color, high = LANE - 5, fresh = SIGNS[job.fate] === "✕", have = job.running + job.now;
  const start = fresh && !have ? row.held : row.allocated, each = job.size * scale, single = each >= 5 && job.waiting <= 60, count = job.waiting ? single ? job.waiting : 1 : 0, wideness = single ? each : each * job.waiting;
  const stop = Math.min(start + job.size * job.waiting, p.total), notch = have >= job.min || !job.waiting ? null : start + (job.min - have) * job.size;
  const limit = data.plugin === "proportion" ? row.deserved : row.limit, missing = fresh && typeof limit === "number" && notch > limit + 1e-6;
  const fill = job.fate === "discarded" ? hatch(c.uid, color) : "none", name = `job/${job.called}.`;
  const words = job.fate === "running" ? ["", "", ""] : [`${SIGNS[job.fate]} ${FATES[job.fate]}${job.now ? t(": {0} of {1} pods", job.now, job.now + job.waiting) : ""}`, job.now ? "" : job.reason, `${job.name} ${job.pods} × ${amount(job.size, data.unit)}${job.pods > 1 ? t(", at least {0}", job.min) : ""}`];
  const lain = row.jobs.reduce((sum, one) => sum + one.size * (one.running + one.leaving), 0) + row.jobs.slice(0, row.jobs.indexOf(job)).reduce((sum, one) => sum + one.size * one.now, 0);
  const least = notch ?? lain + job.size * (job.min - job.running);
  const free = x(stop) + 9, pull = c.control?.(`${name}minAvailable`) && Math.abs(free - x(least)) < REACH ? x(least) + REACH : free;
  const at = Math.max(c.control?.(`${name}pods`) ? pull + 7 : x(stop), x(least)) + 10, room = p.width - p.shares * .95 - at, short = words[0].split(/[:：]/)[0], full = words[1] && about(words[0], words[1]), brief = job.brief && !job.now && about(words[0], job.brief);
  const texts = [full, brief, words[0]].filter(Boolean), fits = (text, more) => wide(text, 12, true) + (more ? 10 + wide(more, 12) : 0) <= room;
  const ways = [texts.slice(0, -1), texts].flatMap((some) => [job.name, ""].flatMap((more) => some.map((text) => [text, more]))), [verdict, called] = ways.find((way) => fits(...way)) ?? [], also = called && job.pods && fits(verdict, words[2]) ? words[2] : called;
  const aside = !verdict && !p.tiny && texts.find((text) => wide(text, 12, true) <= x(start) - Math.max(p.from, x(least) < x(start) && x(least)) - 12);
  const inside = !verdict && !p.tiny && !aside && [...texts, short].find((text) => wide(text, 12, true) <= stop * scale - start * scale - 8);
  const says = {key: "says", class: `vp-small vp-strong vp-halo ${tone(job)}`};
  return h("g", {key: `lane ${job.job}`, opacity: p.over ? 1 : 0.15},
    h("g", {key: "job", tip: about(job.name, inRow(words.slice(0, 2).filter(Boolean))), act: {ask: {job: job.job}}, link: job.name},
      box(x(start), y, Math.max(x(stop) - x(start), 8), high, CLEAR),
      Array.from({length: count}, (_, i) => start + i * job.size < p.total && box(x(start) + i * wideness + 0.8, y, Math.min(wideness, x(p.total) - x(start) - i * wideness) - 1.6, high, {key: i, rx: wideness > 8 ? 3 : 1, class: `vp-not vp-not-${job.now || job.running ? "left" : "yet"}`, fill, stroke: color})),
      missing && line(x(Math.max(limit, start)), y + high + 1.5, x(notch), y + high + 1.5, {key: "missing", class: "vp-missing"}),
      notch !== null && notch <= p.total + 1e-6 && line(x(notch), y - 3, x(notch), y + high + 2, {key: "notch", class: "vp-limit"}),
      notch === null && !job.running && job.now > 0 && line(x(least), y - 4, x(least), y + high + 2, {key: "least", class: "vp-least-thin"}),
      p.tiny ? say(p.from, y + high + 13, texts.find((text) => wide(text, 12, true) <= p.width - p.from) ?? "", says)
        : verdict ? say(at, y + 10, [h("tspan", {class: `vp-strong ${tone(job)}`}, verdict), also && h("tspan", {dx: 8, class: "vp-soft"}, also)], {key: "says", class: "vp-small vp-halo"})
        : aside ? say(x(start) - 8, y + 10, aside, {...says, ...end})
        : inside && say(x(start) + 6, y + 10, inside, says)),
    ring(p, `${name}minAvailable`, x(least), y + LANE - 1, 1 / Math.max(each, 1e-9), t("{0} pods", job.min), null),
    ring(p, `${name}pods`, pull, y + high / 2, 1 / Math.max(each, 1e-9), t("{0} pods", job.pods), null));
}

const tone = (job) => ({"✓": "vp-good", "✕": "vp-bad"})[SIGNS[job.fate]] ?? "vp-soft";

// The share before the cycle, its turn, and at its end.
function share(p, row, y, color) {
  const {width, tiny} = p, job = p.lanes[row.queue].find((one) => one.fate !== "placed") ?? p.lanes[row.queue][0], at = shareX(p, row.share ?? 0), stop = shareX(p, row.after ?? 0);
  const words = row.turn ? t("turn {0}, ", row.turn) : "", [was, now] = [row.share, row.after ?? row.share].map((value) => (value ?? 0).toFixed(2)), slim = p.high[row.queue] === SLIM, high = !tiny && !slim, rises = was !== now && high;
  const tip = t("{0}: {1}share {2} before the cycle, {3} after it{4}", row.queue, words, number(+was), number(+now), row.overused ? ", overused" : "");
  return h("g", {key: "share", tip},
    box(p.right + 22, y - 10, width - p.right - 22, 20, CLEAR),
    !tiny && [line(shareX(p, 0), y, shareX(p, 1.3), y, {key: "axis", class: "vp-grid"}),
      Math.abs(stop - at) > 1 && [line(at, y, stop, y, {key: "went", stroke: color, "stroke-width": row.leaf ? 4 : 2}), h("circle", {key: "after", cx: stop, cy: y, r: row.leaf ? 3.6 : 2.6, fill: color})],
      row.turn && row.leaf ? [h("circle", {key: "turn", cx: at, cy: y, r: 9, fill: color, class: "vp-turn"}), say(at, y + 4.5, row.turn, {key: "number", class: "vp-strong vp-13", ...middle, style: `fill:${ink(color)}`})]
        : h("path", {key: "turn", d: "M0 -5.5 L5.5 0 L0 5.5 L-5.5 0 z", style: shifted(at, y), class: "vp-diamond"})],
    say(width - (tiny ? 0 : 18), y + 5, rises ? was : now + (!tiny && slim ? ` ${row.of}` : ""), {key: "says", class: row.leaf ? "vp-13" : "vp-soft vp-13", ...end}),
    high && [[19, [rises && `→ ${now}`, row.of].filter(Boolean).join(" ")], [-9, row.rank]].map(([down, words]) => say(width - 18, y + down, words, {key: down, class: "vp-13", ...end})),
    !tiny && job && say(width, y + (rises ? 19 : 5), SIGNS[job.fate], {key: "sign", class: `vp-13 vp-strong ${tone(job)}`, ...end}));
}

const told = (p, row) => t("{0}: asks for {1}, deserves {2}, holds {3}, may hold {4}{5}", inTree(row), amount(row.request, p.data.unit), number(row.exact ?? row.deserved), number(row.allocated), number(row.limit), row.guarantee ? t(", guarantee {0}", number(row.guarantee)) : "");
const withJobs = (p, row) => [told(p, row), ...row.jobs.slice(0, MANY).map((job) => about(job.name, FATES[job.fate]) + (job.now ? t(", {0} of {1} pods", job.now, job.now + job.waiting) : job.reason ? t(", ") + job.reason : ""))].join(t("; "));
