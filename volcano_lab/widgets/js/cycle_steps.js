// A cycle step by step. The steps stay in the kernel, which answers a place, or what is sought, with one frame. Everything
// is made once, with as many rows as there can be.
import {add, button, followTheme, ownKeys, set, write} from "./page.js";
import {box, line, say} from "./marks.js";
import {choice, stepping} from "./stepping.js";
import {h, patch} from "./tree.js";
import {about, fit, t} from "./words.js";

const WIDE = 560, LEFT = 118, BAR = 130, ROW = 24;

function amount(value, resource) {
  if (value === null || value === undefined) return t("no limit");
  const power = resource === "memory" ? [4, 3, 2, 1].find((p) => Math.abs(value) >= 1024 ** p) ?? 0 : 0;
  return String(Math.round(value / 1024 ** power * 100) / 100) + ["", "Ki", "Mi", "Gi", "Ti"][power];
}

function bar(key, x, width, scale, props) {
  const from = Math.min(Math.max(x, 0) * scale, BAR), to = Math.min(Math.max(x + width, 0) * scale, BAR);
  return box(LEFT + from, 4, to - from, 16, {key, ...props});
}

function tick(key, value, scale, props) {
  const x = LEFT + Math.min((value ?? 0) * scale, BAR);
  return line(x, 1, x, 23, {key, class: "vs-tick", visibility: value === null ? "hidden" : "visible", ...props});
}

// A drawing with room for `slots` rows: a name, a bar whose parts `parts` draws, words.
function rows(parent, title, slots, parts) {
  const head = add(parent, "h5", {}, title), place = add(parent, "div");
  return (list, frame, [from, all]) => {
    const drawn = list.map((row, i) => ({row, i, ...parts(row, frame)}));
    patch(place, [h("svg", {viewBox: `0 0 ${WIDE} ${Math.max(slots, 1) * ROW}`, role: "img", "aria-label": drawn.map(({row, words}) => about(row.name, words)).join(t("; ")) || t("nothing")},
      drawn.map(({row, i, marks, words}) => h("g", {transform: `translate(0 ${i * ROW})`}, h("path", {d: "M1 7 L8 12 L1 17 z", class: "vs-mark", visibility: row.about ? "visible" : "hidden"}),
        say(12, 16, [fit(row.name, LEFT - 16, 13), h("title", {}, row.name)], {class: row.about ? "vp-strong" : null}), marks,
        say(LEFT + BAR + 10, 16, words, {class: "vp-soft"}))))]);
    const part = all > slots ? t(" ({0} to {1} of {2})", from + 1, from + slots, all) : "";
    write(head, title + (title === t("Jobs") ? t(", in pods") : frame.resource === "cpu" ? t(", in CPUs") : t(", ") + frame.resource) + part);
  };
}

// A text that is one word ends with a space, so that it is no key: keys stay in every language.
const TITLES = {queues: t("Queues"), nodes: t("Nodes"), jobs: t("Jobs")};

const PARTS = {
  queues: (fixed) => (row, frame) => {
    const scale = BAR / (fixed.most.queues[frame.resource] * 1.1), say = (value) => amount(value, frame.resource), fill = fixed.colors[row.name];
    return {marks: [bar("held", 0, row.allocated, scale, {fill}), bar("reserved", row.allocated, row.inqueue, scale, {fill, opacity: 0.35}),
                    tick("deserved", row.deserved, scale), tick("most", row.real_capability, scale, {"stroke-dasharray": "3 2"})],
            words: t("holds {0} of {1} deserved, share {2}", say(row.allocated), say(row.deserved), amount(row.share))};
  },
  nodes: (fixed) => (row, frame) => {
    const scale = BAR / fixed.most.nodes[frame.resource], say = (value) => amount(value, frame.resource), held = row.used - row.releasing;
    return {marks: [bar("vessel", 0, row.allocatable, scale, {class: "vp-vessel"}), bar("used", 0, held, scale, {fill: "#0072B2"}),
                    bar("leaving", held, row.releasing, scale, {class: "vs-leaving"}), bar("promised", held, row.pipelined, scale, {class: "vs-promised"})],
            words: t("idle {0}, used {1}, leaving {2}, promised {3}", say(row.idle), say(row.used), say(row.releasing), say(row.pipelined))};
  },
  jobs: (fixed) => (row) => {
    const scale = BAR / Math.max(row.pods, row.min_available, 1);
    return {marks: [bar("vessel", 0, row.pods, scale, {class: "vp-vessel"}), bar("placed", 0, row.placed, scale, {fill: fixed.colors[row.queue] ?? "#8C8C8C"}),
                    bar("promised", row.placed, row.promised, scale, {class: "vs-promised"}), tick("least", row.min_available, scale)],
            words: t("{0} of {1} placed, needs {2}", row.placed, row.pods, row.min_available) + (row.promised ? t(", {0} promised", row.promised) : "") + (row.releasing ? t(", {0} leave", row.releasing) : "") + t(": ") + row.phase};
  },
};

export function cycleSteps(model, el) {
  const fixed = model.get("fixed"), shown = () => model.get("shown");
  const root = add(el, "div", {class: "vp vs-steps vs-cycle", tabindex: 0, role: "group", "aria-label": t("A cycle step by step")}), unfollow = followTheme(root);
  ownKeys(root);
  let aim = shown().place, asked = shown().answers, answer = 0;
  const waits = () => asked > shown().answers;

  function ask(word, ...args) {
    asked = (model.get("ask").count ?? shown().answers) + 1;
    model.set("ask", {count: asked, [word]: args});
    model.save_changes();
  }

  // Places are asked for by number, so that none is lost or doubled where keys come faster than answers.
  const steps = stepping(root, {
    at: () => waits() ? aim : shown().place, shown: () => shown().place, last: () => shown().last, text: () => shown().text, waits, around: () => shown().around,
    between: () => shown().between && !waits(),
    where: () => { const frame = shown(); return t("{0}{1} of {2}, action {3}", frame.between ? t("after step ") : t("step "), frame.place, frame.last, frame.action); },
    go(place) { if (place !== (waits() ? aim : shown().place) || shown().between) { aim = place; ask("goto", place); } },
    find: (words, backwards) => ask("stop_at", words, backwards),
  }, {lines: fixed.lines, find: t("stop at"), example: 'overused where queue == "a" and answer', listed: t("Before and after")});
  const detail = choice(steps.bar, t("step by "), fixed.details);
  detail.addEventListener("change", () => ask("detail", detail.value));
  const resource = choice(steps.bar, t("show "), fixed.names.resources);
  resource.addEventListener("change", () => ask("resource", resource.value));

  const under = add(steps.side, "h5", {title: t("operations of statements that are neither committed nor discarded")}, t("Under way")), ops = add(steps.side, "ul");
  const done = Array.from({length: fixed.under_way}, () => add(ops, "li"));
  const draw = Object.fromEntries(Object.keys(PARTS).map((what) => [what, rows(steps.view, TITLES[what], fixed.slots[what], PARTS[what](fixed))]));
  add(steps.view, "p", {class: "vp-soft"}, t("Queues: full what is held, pale what admission reserves till close, a line what is ") +
    t("deserved, dashed what may be held. Nodes and jobs: dashed what is promised, hollow what leaves, a line the gang's minimum."));

  const jumps = add(root, "details");
  add(jumps, "summary", {}, t("Jump to a job, a queue, an operation"));
  const form = add(jumps, "div", {class: "vs-bar"});
  const about = [choice(form, t("job "), fixed.names.jobs, t("any")), choice(form, t("queue "), fixed.names.queues, t("any")),
                 choice(form, t("operation "), fixed.names.operations, t("any")), choice(form, t("outcome "), fixed.names.outcomes, t("any"))];
  const jump = (backwards) => ask("jump", ...about.map((field) => field.value), backwards);
  button(form, t("next"), t("jump to the next such record"), () => jump(false));
  button(form, t("previous"), t("jump to the previous such record"), () => jump(true));
  const answered = symptoms(root, fixed, (symptom, name) => { ask("show", symptom, name); answer = asked; });

  function update() {
    const frame = shown();
    steps.update();
    detail.value = frame.detail;
    resource.value = frame.resource;
    const {count, operations} = frame.statement;
    write(under, t("Under way: {0}{1}", count || t("nothing"), count > operations.length ? t(", the last {0}", operations.length) : ""));
    done.forEach((item, i) => write(item, operations[i] ?? ""));
    for (const what in draw) draw[what](frame[what], frame, frame.of[what]);
    // What a symptom's button found stands below it, because the head of the stepper may be out of sight.
    const mine = answer && frame.answers >= answer;
    steps.say(mine ? "" : frame.said);
    if (mine) { answered(frame.said || t("Step {0}: {1}", frame.place, frame.text)); answer = 0; }
  }
  model.on("change:shown", update);
  update();
  return () => { steps.stop(); unfollow(); model.off("change:shown", update); };
}

function symptoms(root, fixed, show) {
  const seen = add(root, "details");
  add(seen, "summary", {}, t("Symptoms, and where they are decided"));
  const bar = add(seen, "div", {class: "vs-bar"}), symptom = choice(bar, t("what is seen "), fixed.symptoms.map(({key, seen: label}) => ({key, label})));
  const names = {queue: choice(bar, t("queue "), fixed.names.queues), job: choice(bar, t("job "), fixed.names.jobs)};
  const likely = add(seen, "p", {class: "vp-soft"}), answer = add(seen, "p", {class: "vs-answer", role: "status", "aria-live": "polite"});
  button(bar, t("show "), t("show where it is decided"), () => show(symptom.value, names[chosen().name]?.value ?? ""));
  const chosen = () => fixed.symptoms[symptom.selectedIndex];
  const choose = () => {
    for (const [kind, field] of Object.entries(names)) field.parentElement.hidden = kind !== chosen().name;
    write(likely, t("Likely: {0}.", chosen().likely));
    write(answer, "");
  };
  symptom.addEventListener("change", choose);
  choose();
  return (words) => write(answer, words);
}
