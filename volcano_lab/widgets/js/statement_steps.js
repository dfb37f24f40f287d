// A statement step by step: states, nodes and queues as pictures. All frames are on the page, so a step waits for nothing;
// the kernel is told where one is.
import {add, followTheme, ownKeys} from "./page.js";
import {panel} from "./panel.js";
import {choice, stepping} from "./stepping.js";
import {touchable} from "./touch.js";
import {number, t} from "./words.js";

const POD_STATES = {Allocated: "allocated", Pipelined: "promised", Releasing: "leaving"};

export function statementSteps(model, el) {
  const root = add(el, "div", {class: "vp vs-steps vs-statement", tabindex: 0, role: "group", "aria-label": t("A statement step by step")}), unfollow = followTheme(root);
  ownKeys(root);
  const {names, scenes} = model.get("fixed"), shown = () => scenes[model.get("scene")];
  const frames = () => shown().frames, last = () => frames().length - 1, at = () => Math.min(model.get("at"), last());
  const steps = stepping(root, {
    at, last, text: () => frames()[at()].text, where: () => t("step {0} of {1}", at(), last()), around: () => frames().map((frame, i) => [i, frame.text, frame.kind]),
    go(place) { if (place !== at()) { model.set("at", place); model.save_changes(); } },
    find(words, backwards) {
      const sought = words.trim().toLowerCase(), found = frames().map((frame, i) => [i, frame.text.toLowerCase()]).filter(([i, text]) => text.includes(sought) && (backwards ? i < at() : i > at()));
      steps.say(found.length ? "" : t("nothing {0} this step says \"{1}\".", backwards ? "before" : "after", words.trim()));
      if (found.length) this.go(found.at(backwards ? -1 : 0)[0]);
    },
  }, {find: t("find"), example: t("undo"), listed: t("Steps")});
  const scene = choice(steps.bar, t("scene "), names);
  scene.addEventListener("change", () => { model.set("scene", scene.value); model.set("at", 0); model.save_changes(); steps.say(""); });

  const host = {act: () => {}, pull: () => false, hint: () => {}};
  const states = panel(steps.view, {kind: "states", title: t("The pods, by state"), spec: {}}, host);
  const nodes = panel(steps.view, {kind: "cluster", title: t("The nodes"), spec: {unit: t("CPUs")}, legend: t("Full: sent or running. Hatched: allocated. Dashed: promised. ×: leaving.")}, host);
  const queues = panel(steps.view, {kind: "table", title: "", spec: {columns: {queue: t("queues, in CPUs"), deserved: t("deserved "), allocated: t("allocated "), share: t("share ")}}}, host);
  touchable(root, host);

  function update() {
    const frame = frames()[at()], before = frames()[at() - 1], {colors} = shown();
    const [was, now] = [before, frame].map((one) => one?.pods.find((pod) => pod.pod === frame.pod)?.status);
    const pods = frame.pods.map((pod) => ({...pod, name: pod.pod, color: colors[pod.queue], ring: pod.pod === frame.pod}));
    states.update({way: was && was !== now ? [[was, now, ""]] : [], pods: pods.map((pod) => ({...pod, state: pod.status}))}, null);
    nodes.update({nodes: frame.nodes.map((node) => ({
      name: node.node, size: node.allocatable, note: t("idle {0}, future idle {1}", number(node.idle), number(node.future_idle)),
      pods: pods.filter((pod) => pod.node === node.node && pod.status !== "Pending").map((pod) => ({...pod, size: pod.asks, state: POD_STATES[pod.status] ?? "running"})),
    }))}, null);
    queues.update(frame.queues.map((row) => ({...row, color: colors[row.queue]})), before?.queues ?? null);
    scene.value = model.get("scene");
    steps.update();
  }
  const events = ["change:scene", "change:at"];
  for (const name of events) model.on(name, update);
  update();
  return () => { steps.stop(); unfollow(); for (const one of [states, nodes, queues]) one.stop(); for (const name of events) model.off(name, update); };
}
