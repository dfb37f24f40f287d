// States with arrows: where a pod is, and where it may go. Bold and numbered is the way it went, faint is legal too.
import {h} from "../tree.js";
import {about, wide, t} from "../words.js";
import {STATES, box, colorOf, hatches, ink, middle, say} from "../marks.js";

// Places on a grid of five columns and two rows; of each pair of states how a pod gets from one to the other.
const PLACES = {Pending: [0, 0], Allocated: [1, 0], Binding: [2, 0], Bound: [3, 0], Running: [4, 0], Pipelined: [1, 1], Releasing: [3.5, 1]};
const EDGES = [["Pending", "Allocated", "allocate"], ["Allocated", "Binding", "commit"], ["Binding", "Bound", "bind"], ["Bound", "Running", "start"],
               ["Pending", "Pipelined", "pipeline"], ["Bound", "Releasing", ""], ["Running", "Releasing", "evict"]];

const SAID = {refused: t("refused "), bind: t("bind "), start: t("start ")};

export const states = {
  draw(data, c) {
    const {width} = c, pods = data.pods, high = pods ? 62 : 32, step = width / 5, wideness = Math.min(Math.max(step - 34, 84), step - 18, 118), size = Math.min(14, 14 * (wideness - 6) / wide("Releasing", 14, true)), drop = high + 66;
    const back = !pods && (data.way ?? []).some(([from, to]) => PLACES[from]?.[1] === 0 && PLACES[to]?.[1] === 0 && PLACES[to][0] < PLACES[from][0]), above = back ? 50 : 26;
    const centre = (name) => [step * (PLACES[name][0] + 0.5), above + high / 2 + PLACES[name][1] * drop];
    const most = Math.max(...Object.keys(PLACES).map((name) => pods?.filter((pod) => shownAs(pod.state) === name).length ?? 0)), side = Math.min(15, (wideness - 13) / Math.max(Math.min(most, 8), 1) - 3);  // one for all states
    const taken = new Map();
    (data.way ?? []).forEach(([from, to, word], i) => {
      const edge = `${from}>${to}`, known = taken.get(edge);
      taken.set(edge, {from, to, word, numbers: [...(known?.numbers ?? []), i + 1]});
    });
    const faint = EDGES.filter(([from, to]) => pods || !taken.has(`${from}>${to}`)).map(([from, to, word]) => arrow(centre, from, to, word, null, wideness, high, c.uid));
    const bold = [...taken.values()].filter(({from, to}) => PLACES[from] && PLACES[to]).map(({from, to, word, numbers}) => arrow(centre, from, to, word, pods ? [] : numbers, wideness, high, c.uid));
    const boxes = Object.keys(PLACES).map((name) => {
      const [x, y] = centre(name), [color] = STATES[name], inside = pods?.filter((pod) => shownAs(pod.state) === name) ?? [], on = pods ? inside.length : data.at === name;
      return h("g", {key: name, tip: about(name, pods ? t("{0} pods", inside.length) : data.at === name ? t("the pod is here") : t("the pod is not here"))},
        box(x - wideness / 2, y - high / 2, wideness, high, {rx: pods ? 8 : 16, class: on && !pods ? "" : "vp-node", fill: on && !pods ? color : null, ...(on && pods ? {style: `stroke:${color};stroke-width:2`} : {})}),
        say(x, pods ? y - high / 2 + 18 : y + 5, name, {...middle, class: on ? "vp-strong" : "",
          style: [size < 14 && `font-size:${size.toFixed(1)}px`, on && !pods && color[0] === "#" && `fill:${ink(color)}`].filter(Boolean).join(";") || null}),
        podsIn(inside, x - wideness / 2 + 8, y - high / 2 + 26, side));
    });
    const colors = [...Object.values(STATES).map(([color]) => color), ...(pods ?? []).map(colorOf)].filter((color) => color[0] === "#");
    return {height: above + high + drop + 10, kids: [h("defs", {}, head(c.uid, "now", "vp-head-bold"), head(c.uid, "may", "vp-head")), hatches(c.uid, colors), faint, bold, boxes],
      alt: ((data.way ?? []).map(([from, to, word], i) => t("{0}: {1} to {2}{3}", i + 1, from, to, word ? t(" ({0})", (SAID[word] ?? word).trim()) : "")).join(t("; ")) || t("in state {0}", data.at ?? "Pending")) + t(". ").trimEnd()};
  },
};

const shownAs = (state) => ({Succeeded: "Running", Failed: "Releasing"})[state] ?? state;
const head = (uid, name, kind) => h("marker", {id: `${uid}-${name}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 5, markerHeight: 5, orient: "auto-start-reverse"}, h("path", {d: "M0 0 L8 4 L0 8 z", class: kind}));

function podsIn(pods, x, y, side) {
  return pods.slice(0, 16).map((pod, i) => {
    const left = x + (i % 8) * (side + 3), top = y + Math.floor(i / 8) * (side + 3);
    return h("g", {key: pod.name, tip: about(pod.name, pod.state), link: pod.name}, box(left, top, side, side, {rx: 3, fill: colorOf(pod, 0)}),
      pod.ring && box(left - 2, top - 2, side + 4, side + 4, {key: "ring", rx: 5, class: "vp-ring"}));
  });
}

function arrow(centre, from, to, word, numbers, wideness, high, uid) {
  const [x1, y1] = centre(from), [x2, y2] = centre(to), flat = y1 === y2, top = y1 - high / 2, lift = Math.min(top - 4, 42), on = x2 < x1 ? -1 : 1, kind = `url(#${uid}-${numbers ? "now" : "may"})`;
  const text = `${numbers ? numbers.join(", ") + " " : ""}${SAID[word] ?? word}`.trim(), key = `${from}>${to}`, attributes = {class: numbers ? "vp-edge vp-taken" : "vp-edge", "marker-end": kind};
  const words = (x, y, props) => text && say(x, y, text, {...props, class: numbers ? "vp-strong vp-halo" : "vp-soft vp-halo"});
  if (flat && on < 0 && lift > 30) {
    const end = x2 - wideness / 4; // beside the word of the arrow that leaves
    return h("g", {key}, h("path", {d: `M${x1} ${top - 2} C${x1} ${top - lift} ${end} ${top - lift} ${end} ${top - 3}`, ...attributes}), words((x1 + x2) / 2, top - lift * 0.75 - 4, middle));
  }
  if (flat) return h("g", {key}, h("path", {d: `M${x1 + on * (wideness / 2 + 2)} ${y1} H${x2 - on * (wideness / 2 + 3)}`, ...attributes}), words((x1 + x2) / 2, top - 4, middle));
  const down = y2 > y1, offset = (x2 - x1) * 0.3, sx = x1 + Math.max(-wideness / 2 + 12, Math.min(wideness / 2 - 12, offset)), ex = x2 - Math.max(-wideness / 2 + 12, Math.min(wideness / 2 - 12, offset));
  const sy = y1 + (down ? 1 : -1) * (high / 2 + 2), ey = y2 + (down ? -1 : 1) * (high / 2 + 3);
  return h("g", {key}, h("path", {d: `M${Math.round(sx)} ${sy} L${Math.round(ex)} ${ey}`, ...attributes}),
    words((sx + ex) / 2 + (x2 >= x1 ? 9 : -9), (sy + ey) / 2 + 5, x2 >= x1 ? {} : {"text-anchor": "end"}));
}
