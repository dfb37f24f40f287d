// A statement of a gang: its outcome, the number that decided, and its pods in the order in which they were tried.
import {h} from "../tree.js";
import {about, fit, lines, sentences, wide, t} from "../words.js";
import {box, colorOf, hatch, hatches, ink, middle, say} from "../marks.js";

const WORDS = {commit: t("commit ").trim(), discard: t("discard ").trim(), "": t("not tried")};

export const statement = {
  draw(data, c) {
    const {width, spec: {slots = 1, lines: rows = 2}} = c, step = Math.min((width + 5) / Math.max(slots, data.pods.length), 39), size = step - 5, color = colorOf(data, 0);
    const word = WORDS[data.outcome] ?? data.outcome, badge = wide(word, 14, true) + 18, y = 36;
    const told = (pod) => about(pod.name, {running: t("runs already"), placed: t("step {0}, placed on {1}", pod.step, pod.node), promised: t("step {0}, promised room on {1}", pod.step, pod.node), tried: t("step {0}, tried on {1}; step {2}, taken back", pod.step, pod.node, pod.undone)}[pod.state] ?? t("waits, not tried"));
    const pods = data.pods.map((pod, i) => {
      const x = i * step + 1, full = pod.state === "placed" || pod.state === "running";
      return h("g", {key: pod.name, tip: told(pod), link: pod.name},
        box(x, y, size, size, {rx: 6, "stroke-width": 1.8, stroke: pod.state === "waiting" ? undefined : color, fill: full ? color : pod.state === "promised" ? hatch(c.uid, color) : undefined,
          class: full || pod.state === "promised" ? "" : pod.state === "waiting" ? "vp-idle" : "vp-hollow", "stroke-dasharray": pod.state === "tried" || pod.state === "promised" ? "4 3" : null}),
        pod.step && say(x + size / 2, y + size / 2 + 5, pod.state === "tried" && size > 26 ? `${pod.step}×` : pod.step, {...middle, class: "vp-strong", style: full ? `fill:${ink(color)}` : null}));
    });
    const under = y + size + 9, reach = data.minimum * step - 4;
    const least = data.minimum > 0 && h("g", {key: "minimum"}, h("path", {d: `M1 ${under - 4} V${under} H${Math.min(reach, width - 1)} V${under - 4}`, class: "vp-brace"}),
      say(Math.min(1, reach), under + 17, t("minimum {0}", data.minimum), {class: "vp-soft"}));
    const reasons = lines(data.reason ?? "", width).slice(0, rows);
    return {height: under + 22 + rows * 20, kids: [hatches(c.uid, [color]),
      box(0.5, 1, badge, 24, {rx: 6, class: `vp-badge vp-${data.outcome || "none"}`}), say(badge / 2, 18, word, {...middle, class: `vp-strong${data.outcome ? " vp-on-badge" : ""}`}),
      say(badge + 10, 18, fit(data.headline, width - badge - 12)), pods, least,
      reasons.map((text, i) => say(0, under + 40 + i * 20, text, {key: `reason ${i}`, class: "vp-soft"}))],
      alt: sentences([about(word, data.headline), ...data.pods.map(told), data.reason])};
  },
};
