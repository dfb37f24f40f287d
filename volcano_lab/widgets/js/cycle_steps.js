// A cycle step by step. The steps stay in the kernel: the page asks for a place, or for what is sought, and is answered
// with one frame. Everything is made once, with as many rows as there can be.
import {add, button, followTheme, ownKeys, set, write} from "./page.js";
import {choice, stepping} from "./stepping.js";
import {h, patch} from "./tree.js";
import {fit} from "./words.js";

const WIDE = 640, LEFT = 128, BAR = 190, ROW = 24;

function amount(value, resource) {
  if (value === null || value === undefined) return "no limit";
  if (resource !== "memory") return String(Math.round(value * 100) / 100);
  const power = [4, 3, 2, 1].find((p) => Math.abs(value) >= 1024 ** p) ?? 0;
  return String(Math.round(value / 1024 ** power * 100) / 100) + ["", "Ki", "Mi", "Gi", "Ti"][power];
}

function bar(key, x, width, scale, props) {
  const from = Math.min(Math.max(x, 0) * scale, BAR), to = Math.min(Math.max(x + width, 0) * scale, BAR);
  return h("rect", {key, y: 4, height: 16, x: LEFT + from, width: Math.max(to - from, 0), ...props});
}

function tick(key, value, scale, props) {
  const x = LEFT + Math.min((value ?? 0) * scale, BAR);
  return h("line", {key, y1: 1, y2: 23, x1: x, x2: x, class: "vs-tick", visibility: value === null ? "hidden" : "visible", ...props});
}

// A drawing with room for `slots` rows: a name, a bar whose parts `parts` draws, words.
function rows(parent, title, slots, parts) {
  const head = add(parent, "h5", {}, title), place = add(parent, "div");
  return (list, frame, [from, all]) => {
    const drawn = list.map((row, i) => ({row, i, ...parts(row, frame)}));
    patch(place, [h("svg", {viewBox: `0 0 ${WIDE} ${Math.max(slots, 1) * ROW}`, role: "img", "aria-label": drawn.map(({row, words}) => `${row.name}: ${words}`).join("; ") || "nothing"},
      drawn.map(({row, i, marks, words}) => h("g", {transform: `translate(0 ${i * ROW})`}, h("path", {d: "M1 7 L8 12 L1 17 z", class: "vs-mark", visibility: row.about ? "visible" : "hidden"}),
        h("text", {x: 12, y: 16, class: row.about ? "vp-strong" : null}, fit(row.name, LEFT - 16, 13), h("title", {}, row.name)), marks,
        h("text", {x: LEFT + BAR + 10, y: 16, class: "vp-soft"}, words))))]);
    const part = all > slots ? ` (${from + 1} to ${from + slots} of ${all})` : "";
    write(head, title + (title === "Jobs" ? ", in pods" : frame.resource === "cpu" ? ", in CPUs" : `, ${frame.resource}`) + part);
  };
}

// A text that is one word ends with a space, so that it is no key: keys stay in every language.
const TITLES = {queues: "Queues", nodes: "Nodes", jobs: "Jobs"};

const PARTS = {
  queues: (fixed) => (row, frame) => {
    const scale = BAR / (fixed.most.queues[frame.resource] * 1.1), say = (value) => amount(value, frame.resource), fill = fixed.colors[row.name];
    return {marks: [bar("held", 0, row.allocated, scale, {fill}), bar("reserved", row.allocated, row.inqueue, scale, {fill, opacity: 0.35}),
                    tick("deserved", row.deserved, scale), tick("most", row.real_capability, scale, {"stroke-dasharray": "3 2"})],
            words: `holds ${say(row.allocated)} of ${say(row.deserved)} deserved, share ${amount(row.share)}`};
  },
  nodes: (fixed) => (row, frame) => {
    const scale = BAR / fixed.most.nodes[frame.resource], say = (value) => amount(value, frame.resource), held = row.used - row.releasing;
    return {marks: [bar("vessel", 0, row.allocatable, scale, {class: "vp-vessel"}), bar("used", 0, held, scale, {fill: "#0072B2"}),
                    bar("leaving", held, row.releasing, scale, {class: "vs-leaving"}), bar("promised", held, row.pipelined, scale, {class: "vs-promised"})],
            words: `idle ${say(row.idle)}, used ${say(row.used)}, leaving ${say(row.releasing)}, promised ${say(row.pipelined)}`};
  },
  jobs: (fixed) => (row) => {
    const scale = BAR / Math.max(row.pods, row.min_available, 1);
    return {marks: [bar("vessel", 0, row.pods, scale, {class: "vp-vessel"}), bar("placed", 0, row.placed, scale, {fill: fixed.colors[row.queue] ?? "#8C8C8C"}),
                    bar("promised", row.placed, row.promised, scale, {class: "vs-promised"}), tick("least", row.min_available, scale)],
            words: `${row.placed} of ${row.pods} placed, needs ${row.min_available}` + (row.promised ? `, ${row.promised} promised` : "") + (row.releasing ? `, ${row.releasing} leave` : "") + `: ${row.phase}`};
  },
};

export function cycleSteps(model, el) {
  const fixed = model.get("fixed"), shown = () => model.get("shown");
  const root = add(el, "div", {class: "vp vs-steps vs-cycle", tabindex: 0, role: "group", "aria-label": "A cycle step by step"}), unfollow = followTheme(root);
  ownKeys(root);
  let aim = shown().place, asked = shown().answers, answer = null;
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
    where: () => { const frame = shown(); return `${frame.between ? "after step " : "step "}${frame.place} of ${frame.last}, action ${frame.action}, ` + (frame.number < 0 ? "before the first record" : `record ${frame.number}`); },
    go(place) { if (place !== (waits() ? aim : shown().place) || shown().between) { aim = place; ask("goto", place); } },
    find: (words, backwards) => ask("stop_at", words, backwards),
  }, {lines: fixed.lines, find: "stop at", example: 'overused where queue == "a" and answer', listed: "Before and after"});
  const detail = choice(steps.bar, "step by ", fixed.details);
  detail.addEventListener("change", () => ask("detail", detail.value));
  const resource = choice(steps.bar, "show ", fixed.names.resources);
  resource.addEventListener("change", () => ask("resource", resource.value));

  const under = add(steps.side, "h5", {title: "operations of statements that are neither committed nor discarded"}, "Under way"), ops = add(steps.side, "ul");
  const done = Array.from({length: fixed.under_way}, () => add(ops, "li"));
  const draw = Object.fromEntries(Object.keys(PARTS).map((what) => [what, rows(steps.view, TITLES[what], fixed.slots[what], PARTS[what](fixed))]));
  add(steps.view, "p", {class: "vp-soft"}, "Queues: full what is held, pale what is reserved for admitted jobs, a line what is " +
    "deserved, dashed what may be held. Nodes and jobs: dashed what is promised, hollow what leaves, a line the gang's minimum.");

  const jumps = add(root, "details");
  add(jumps, "summary", {}, "Jump to a job, a queue, an operation");
  const form = add(jumps, "div", {class: "vs-bar"});
  const about = [choice(form, "job ", fixed.names.jobs, "any"), choice(form, "queue ", fixed.names.queues, "any"),
                 choice(form, "operation ", fixed.names.operations, "any"), choice(form, "outcome ", fixed.names.outcomes, "any")];
  const jump = (backwards) => ask("jump", ...about.map((field) => field.value), backwards);
  button(form, "next", "jump to the next such record", () => jump(false));
  button(form, "previous", "jump to the previous such record", () => jump(true));
  const symptoms = symptomTable(root, fixed, (row, symptom, name) => { ask("show", symptom, name); answer = {row, asked}; });

  function update() {
    const frame = shown();
    steps.update();
    detail.value = frame.detail;
    resource.value = frame.resource;
    const {count, operations} = frame.statement;
    write(under, `Under way: ${count || "nothing"}${count > operations.length ? `, the last ${operations.length}` : ""}`);
    done.forEach((item, i) => write(item, operations[i] ?? ""));
    for (const what in draw) draw[what](frame[what], frame, frame.of[what]);
    // What a symptom's button found stands under its row, because the head of the stepper may be out of sight.
    const mine = answer && frame.answers >= answer.asked;
    steps.say(mine ? "" : frame.said);
    if (mine) symptoms(answer.row, frame.said || `Step ${frame.place}: ${frame.text}`);
    if (mine) answer = null;
  }
  model.on("change:shown", update);
  update();
  return () => { steps.stop(); unfollow(); model.off("change:shown", update); };
}

function symptomTable(root, fixed, show) {
  const seen = add(root, "details");
  add(seen, "summary", {}, "Symptoms, and where they are decided");
  const fields = add(seen, "div", {class: "vs-bar"}), chosen = {queue: choice(fields, "queue ", fixed.names.queues), job: choice(fields, "job ", fixed.names.jobs)};
  const table = add(seen, "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  for (const title of ["what is seen", "what is likely behind it", "of "]) add(head, "th", {scope: "col"}, title);
  add(add(head, "td"), "span", {class: "vp-hidden"}, "show ");
  const answers = fixed.symptoms.map(({key, seen: symptom, likely, name: of}, i) => {
    const row = add(body, "tr");
    add(row, "th", {scope: "row"}, symptom);
    add(row, "td", {}, likely);
    add(row, "td", {}, of && of === "job" ? "the job" : "the queue");
    button(add(row, "td"), "show ", `show where it is decided: ${symptom}`, () => show(i, key, of ? chosen[of].value : "")).setAttribute("aria-label", `show where it is decided: ${symptom}`);
    return add(add(body, "tr", {class: "vs-answer", hidden: true}), "td", {colspan: 4, role: "status", "aria-live": "polite"});
  });
  return (at, words) => answers.forEach((cell, i) => { cell.parentElement.hidden = i !== at; write(cell, i === at ? words : ""); });
}
