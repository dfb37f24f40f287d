// A cluster: nodes with pods in them, racks and rooms as frames. A click asks why a pod is here, or why not on that node.
import {h} from "../tree.js";
import {about, amount, fit, inRow, number, sentences, wide, t} from "../words.js";
import {box, colorOf, end, hatch, hatches, middle, say} from "../marks.js";

const NODE = 50, POD = 19, GAP = 8, HEAD = 26, PAD = 8;

export const cluster = {
  draw(data, c) {
    const {spec} = c, groups = data.groups ?? [], most = Math.max(1, ...data.nodes.map((node) => node.size)), cell = spec.cell ?? Math.max(1, most / 10);
    const least = Math.min(Math.max(Math.max(...data.nodes.map((node) => wide(node.name) + (node.note ? wide(node.note) + 8 : 0)), most / cell * 21) + 14, 88), 230);
    const lay = {c, cell, least, groups, nodes: data.nodes, most};
    const whole = inside(lay, "", c.width), said = data.text !== undefined;
    const height = spec.height ?? whole.height + said * 24;
    const colors = data.nodes.flatMap((node) => node.pods.map(colorOf));
    return {height, kids: [hatches(c.uid, colors), whole.draw(0, 0), said && say(0, height - 5, fit(data.text, c.width), {class: "vp-soft"})],
      alt: sentences([...groups.filter((group) => group.note || group.state).map((group) => about(group.name, inRow([GROUP_WORDS[group.state]?.trim(), group.note].filter(Boolean)))),
        ...data.nodes.map((node) => toldNode(node, spec)), data.text])};
  },
};

// What lies in a group (or at the top): nodes first, then groups, both in rows.
function inside(lay, name, width) {
  const nodes = lay.nodes.filter((node) => (node.group ?? "") === name), groups = lay.groups.filter((group) => (group.group ?? "") === name);
  const columns = Math.max(1, Math.min(nodes.length, Math.floor((width + GAP) / (Math.min(lay.least, width) + GAP)))), wideness = Math.min((width - GAP * (columns - 1)) / columns, 260);
  const rows = Math.ceil(nodes.length / columns), top = rows * (NODE + GAP);
  let side = groups.length;
  while (side > 1 && (width - GAP * (side - 1)) / side - 2 * PAD < neededBy(lay, groups)) side -= 1;
  while (side > 1 && groups.length % side && groups.length % (side - 1) === 0) side -= 1;
  const part = groups.length ? (width - GAP * (side - 1)) / side : 0;
  const made = groups.map((group) => ({group, inner: inside(lay, group.name, part - 2 * PAD)}));
  const heights = [];
  made.forEach(({inner}, i) => heights[Math.floor(i / side)] = Math.max(heights[Math.floor(i / side)] ?? 0, inner.height + HEAD + PAD));
  const height = Math.max(0, top + heights.reduce((sum, one) => sum + one + GAP, 0) - GAP);
  return {height, draw: (x, y) => [
    nodes.map((node, i) => drawn(lay, node, x + (i % columns) * (wideness + GAP), y + Math.floor(i / columns) * (NODE + GAP), wideness)),
    made.map(({group, inner}, i) => {
      const gx = x + (i % side) * (part + GAP), row = Math.floor(i / side), gy = y + top + heights.slice(0, row).reduce((sum, one) => sum + one + GAP, 0);
      const nameWide = wide(group.name, 14, true) + 14;
      return h("g", {key: `group ${group.name}`, link: group.name},
        box(gx + 0.5, gy + 0.5, part - 1, heights[row] - 1, {rx: 8, class: `vp-frame${lay.groups.some((other) => other.group === group.name) ? " vp-outer" : ""} ${group.state ? `vp-${group.state}` : ""}`, tip: group.note ? about(group.name, group.note) : group.name}),
        say(gx + PAD, gy + 18, fit(group.name, part - 2 * PAD, 14, true), {class: "vp-strong"}),
        group.note && say(gx + part - PAD, gy + 18, fit(group.note, part - nameWide - PAD - 6), {class: "vp-soft", ...end}),
        inner.draw(gx + PAD, gy + HEAD));
    })]};
}

// How wide a group must be: for two of its nodes side by side, or for two of its groups.
function neededBy(lay, groups) {
  return Math.max(...groups.map((group) => {
    const inner = lay.groups.filter((other) => other.group === group.name);
    if (inner.length) return 2 * neededBy(lay, inner) + 4 * PAD;
    return Math.min(2, lay.nodes.filter((node) => node.group === group.name).length) * (lay.least + GAP) - GAP;
  }));
}

function drawn(lay, node, x, y, width) {
  const {c, cell} = lay, scale = (width - 12) / lay.most, label = wide(node.name, 14);
  const frame = Math.min(width, Math.max(12 + node.size * scale, label + 14 + (node.note ? wide(node.note) + 8 : 0)));  // one scale for all nodes
  const boxesOf = (pods, at) => pods.map((pod, i) => podBox(c, pod, `${at} ${i}`, x + 6 + (at + sum(pods.slice(0, i))) * scale, y, pod.size * scale, node));
  const held = node.pods.filter((pod) => pod.state !== "promised"), promised = node.pods.filter((pod) => pod.state === "promised"), from = sum(held);
  // What is promised stands on what is leaving, and then on idle room.
  const start = held.some((pod) => pod.state === "leaving") ? sum(held.filter((pod) => !isGone(pod))) : from;
  const idle = [];
  for (let at = Math.max(from, start + sum(promised)); at < node.size - 0.001 && idle.length < 60; at += cell) {
    const part = Math.min(cell, node.size - at);
    idle.push(box(x + 6 + at * scale + 1.5, y + 25, part * scale - 3, POD, {key: `idle ${idle.length}`, rx: 3, class: "vp-idle"}));
  }
  return h("g", {key: `node ${node.name}`, link: node.name, tip: toldNode(node, c.spec), act: c.spec.asks ? {ask: {node: node.name}} : null},
    box(x + 0.5, y + 0.5, frame - 1, NODE - 1, {rx: 6, class: `vp-node ${node.state ? `vp-${node.state}` : ""}`}),
    say(x + 7, y + 17, fit(node.name, width - 12), {class: node.state === "chosen" ? "vp-strong" : ""}),
    node.note && say(x + frame - 7, y + 17, fit(node.note, frame - label - 22), {class: "vp-soft", ...end}),
    boxesOf(held, 0), idle, boxesOf(promised, start));
}

const isGone = ({state}) => state === "leaving" || state === "evicted";
const sum = (pods) => pods.reduce((all, pod) => all + pod.size, 0);

function podBox(c, pod, i, x, y, width, node) {
  const color = colorOf(pod, 0), state = pod.state ?? "running", gone = isGone(pod), w = Math.max(width - 3, 2);
  const covered = node.pods.some((other) => other.state === "promised");
  const promised = state === "promised", late = gone || promised, told = `${promised ? "→ " : ""}${pod.name ?? ""}`, name = pod.label ?? (!(gone && covered) && wide(told) < w - (late ? 22 : 6) && told);
  const look = {"stroke-width": 1.8, ...{running: {fill: color}, allocated: {fill: hatch(c.uid, color), stroke: color}, promised: {fill: "none", stroke: color, "stroke-dasharray": "4 2.5"},
    leaving: {class: "vp-hollow", stroke: color}, evicted: {class: "vp-hollow", stroke: color, opacity: 0.5}}[state]};
  return h("g", {key: `pod ${pod.name ?? i}`, link: pod.link ?? pod.name, tip: toldPod(pod, node, c.spec), act: c.spec.asks && pod.name ? {ask: {pod: pod.name, node: node.name}} : null},
    promised ? box(x + 4.5, y + 28, w - 6, POD - 6, {rx: 2.5, ...look}) : box(x + 1.5, y + 25, w, POD, {rx: 3.5, ...look}),
    gone && w > (covered ? 24 : 9) && say(x + 1.5 + (covered || name ? 10 : w / 2), y + 39, "×", {...middle, class: "vp-strong"}),
    name && say(x + (late ? 21 : 1.5 + w / 2), y + 39, fit(name, late ? w - 18 : w), {...(late || middle), class: "vp-halo"}),
    pod.ring && box(x - 1, y + 22.5, w + 5, POD + 5, {key: "ring", rx: 6, class: "vp-ring"}));
}

const STATE_WORDS = {running: t("runs"), allocated: t("placed in this cycle"), promised: t("promised "), leaving: t("is leaving"), evicted: t("evicted ")};
const GROUP_WORDS = {chosen: t("chosen "), refused: t("refused ")};
const MANY = {runs: "run", "is leaving": t("are leaving")};
const toldPod = (pod, node, spec) => pod.tip ?? t("{0} on {1}: {2}, {3}", pod.name ?? t("a pod"), node.name, amount(pod.size, spec.unit), STATE_WORDS[pod.state ?? "running"].trim());
function toldNode(node, spec) {
  const idle = node.size - sum(node.pods.filter((pod) => pod.state !== "promised"));
  const states = Object.entries(STATE_WORDS).map(([state, words]) => [node.pods.filter((pod) => (pod.state ?? "running") === state).length, words]).filter(([count]) => count);
  return t("{0}: {1}, idle {2} of {3}", node.name, inRow(states.map(([count, words]) => t(count > 1 ? "{0} pods {1}" : "{0} pod {1}", count, count > 1 && MANY[words] || words.trim()))) || t("empty"), number(Math.max(idle, 0)), amount(node.size, spec.unit)) + (node.pods.length && node.pods.length < 9 ? t(" ({0})", inRow(node.pods.map((pod) => pod.name ?? t("a pod")))) : "") + (node.note ? t(", ") + node.note : "");
}
