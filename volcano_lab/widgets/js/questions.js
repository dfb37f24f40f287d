// The panel about a cluster of one's own: the jobs that wait, the answer to one of them with its changes as buttons,
// nodes, and the cluster's lab. `ask` sends a question and promises its answer.
import {lab} from "./lab.js";
import {COLORS} from "./marks.js";
import {add, button, set, write} from "./page.js";
import {number, t} from "./words.js";

const MOST_NODES = 600, OPENED = 100;  // nodes of the map, and those up to which the lab opens by itself
const REST = 400;  // ms without a move, after which the answer is asked again

export function questions(root, ask, name, notes) {
  root.replaceChildren();
  root.classList.add("vq");
  const head = add(root, "div", {class: "vq-head"}), columns = add(root, "div", {class: "vq-columns"});
  const list = add(columns, "section", {class: "vq-list", "aria-label": t("Jobs that wait")});
  const answer = add(columns, "section", {class: "vq-answer", "aria-live": "polite"});
  const side = add(columns, "section", {class: "vq-side", "aria-label": t("The cluster")});
  const moves = add(root, "details", {class: "vq-lab", hidden: true});
  let cluster, answered, chosen = 0, resource = 0, color = new Map(), asked = 0;

  async function open(files, job) {
    write(answer, "");
    para(answer, "busy", t("Reading the file and running a cycle …"));
    cluster = await ask({ask: "open", files});
    answer.replaceChildren();
    if (cluster.error) return cluster;
    [...new Set(cluster.queues.map((row) => row.queue))].filter((queue) => cluster.jobs.some((job) => job.queue === queue))
      .forEach((queue, at) => color.set(queue, COLORS[at % COLORS.length]));
    header();
    jobs();
    picture(cluster);
    lint();
    if (cluster.waiting.length) await show(Math.max(0, cluster.waiting.findIndex((row) => row.job === job)));
    else para(answer, "first", t("No job waits."));
    handles();
    return cluster;
  }

  function header() {
    const key = cluster.resources[resource], sum = (field) => cluster.nodes.reduce((total, node) => total + node[field][resource], 0);
    add(head, "h2", {}, name);
    const plugin = cluster.plugins.filter((each) => ["capacity", "proportion"].includes(each));
    add(head, "span", {class: "vq-soft"}, [t("{0} nodes", cluster.nodes.length),
      key ? t("{0} of {1} {2} in use", amount(sum("allocatable") - sum("idle")), amount(sum("allocatable")), short(key)) : "",
      t("{0} jobs run, {1} wait", cluster.runs, cluster.waiting.length), plugin.length ? t("plugin {0}", plugin[0]) : ""].filter(Boolean).join(" · "));
    notes?.(head);
  }

  function jobs() {
    label(list, t("{0} jobs wait", cluster.waiting.length));
    const items = add(list, "ul");
    cluster.waiting.forEach((row, at) => {
      const item = button(add(items, "li"), "", row.job, () => show(at, true), "vq-job");
      add(item, "b", {}, row.job);
      add(item, "span", {}, row.text);
    });
  }

  async function lint() {
    const told = await ask({ask: "lint"});
    if (told.error || !told.length) return;
    const fold = add(list, "details", {class: "vq-lint"});
    add(fold, "summary", {}, t("findings about the manifests: {0}", told.length));
    const items = add(fold, "ul");
    for (const {level, text} of told) add(items, "li", {class: `vq-${level}`}, text);
  }

  async function show(at, moved) {
    const turn = ++asked, row = cluster.waiting[at];
    chosen = at;
    list.querySelectorAll(".vq-job").forEach((each, place) => set(each, {"aria-current": place === at ? "true" : null}));
    picture(cluster);
    answered?.();
    const found = await ask({ask: "why", job: row.job});
    if (turn !== asked) return;
    answer.replaceChildren();
    add(answer, "h3", {tabindex: -1}, row.job);
    if (moved && innerWidth < 860) answer.scrollIntoView();
    if (found.error) { para(answer, "first", found.error); return; }
    para(answer, "first", found.head);
    for (const text of new Set(found.causes.map((cause) => cause.text))) add(answer, "p", {}, text);
    if (found.page && notes) add(add(answer, "p"), "a", {href: `pending/${found.page}.html`}, t("Read more about this cause"));
    if (found.seeks) await changes(turn, row.job);
  }

  // One change after another; a page that asks for something else stops.
  async function changes(turn, job) {
    label(answer, t("What would change it"));
    const items = add(answer, "ul", {class: "vq-changes"}), wait = para(answer, "busy", t("Trying changes …"));
    let count = 0;
    for (;;) {
      const change = await ask({ask: "next", job});
      if (turn !== asked) return;
      if (!change || change.error) break;
      count++;
      const item = add(items, "li"), made = button(item, "", change.text, () => tried(item, made, change, job, turn), "vq-change");
      set(made, {"aria-pressed": "false"});
      add(made, "b", {}, change.text);
      add(made, "span", {}, change.effect);
    }
    write(wait, count ? t("Each change was run.") : t("No change that was tried places it."));
    wait.classList.remove("vq-busy");
  }

  async function tried(item, made, change, job, turn) {
    const back = made.getAttribute("aria-pressed") === "true";
    for (const each of answer.querySelectorAll(".vq-change")) set(each, {"aria-pressed": "false"});
    for (const each of answer.querySelectorAll(".vq-tried")) each.remove();
    if (back) return picture(cluster);
    set(made, {"aria-pressed": "true"});
    const place = add(item, "div", {class: "vq-tried"});
    para(place, "busy", t("Running the cycle with this change …"));
    const found = change.args.length ? await ask({ask: "try", args: change.args}) : null;
    if (turn !== asked || !place.isConnected) return;
    place.replaceChildren();
    if (found?.error) add(place, "p", {}, found.error);
    else if (found) { compared(place, found, job); picture(found.after, found.before); }
    const lines = change.kubectl.length ? change.kubectl : change.args.length ? [`volcano-lab what-if ${name} ${change.args.map(quoted).join(" ")}`] : [];
    if (lines.length) copyable(place, lines.join("\n"));
  }

  function compared(place, {before, after}, job) {
    const was = new Map(before.jobs.map((row) => [row.job, row])), rows = after.jobs.filter((row) => has(row) !== has(was.get(row.job)));
    const gone = before.jobs.filter((row) => !after.jobs.some((other) => other.job === row.job));
    const table = add(place, "table"), top = add(add(table, "thead"), "tr"), body = add(table, "tbody");
    for (const text of ["", t("before the change"), t("after the change")]) add(top, "th", {scope: "col"}, text);
    const line = (...cells) => { const made = add(body, "tr"); cells.forEach((cell) => add(made, "td", {}, cell)); };
    for (const row of rows.sort((a, b) => (b.job === job) - (a.job === job)).slice(0, 12)) line(row.job, has(was.get(row.job)), has(row));
    for (const row of gone) line(row.job, has(row), "–");
    const key = cluster.resources[resource];
    for (const row of after.queues.filter((each) => each.resource === key)) {
      const old = before.queues.find((each) => each.queue === row.queue && each.resource === key);
      const words = {allocated: t("{0}: allocated {1}", row.queue, short(key)), deserved: t("{0}: deserved {1}", row.queue, short(key)), real_capability: t("{0}: limit in {1}", row.queue, short(key))};
      for (const field in words) if (old && old.text[field] !== row.text[field]) line(words[field], old.text[field], row.text[field]);
    }
    if (!body.children.length) write(place, t("No job and no queue has other amounts."));
  }

  // Nodes in one resource; of a change with what was there before.
  function picture(now, before) {
    side.replaceChildren();
    if (!now.resources.length) return;
    if (cluster.resources.length > 1) {
      const choice = add(add(side, "label", {class: "vq-soft"}, `${t("Resource")} `), "select");
      cluster.resources.forEach((each, at) => add(choice, "option", {value: at, selected: at === resource}, short(each)));
      choice.addEventListener("change", () => { resource = Number(choice.value); picture(now, before); });
    }
    nodeMap(now, before);
  }

  function nodeMap(now, before) {
    const what = short(now.resources[resource]), nodes = now.nodes.filter((node) => node.allocatable[resource]);
    label(side, before ? t("Nodes, {0} free after the change", what) : t("Nodes, {0} free", what));
    const map = add(side, "div", {class: "vq-map"}), was = new Map((before ?? now).nodes.map((node) => [node.node, node]));
    for (const node of nodes.slice(0, MOST_NODES)) {
      const all = node.allocatable[resource], idle = node.idle[resource], holds = Object.entries(node.held).map(([queue, amounts]) => [queue, amounts[resource]]).filter((each) => each[1]);
      const old = was.get(node.node), changed = before && (!old || old.idle[resource] !== idle);
      const cell = add(map, "div", {class: `vq-node${changed ? " vq-changed" : ""}${idle > 0 ? "" : " vq-full"}`,
        title: t("{0}: {1} of {2} free{3}", node.node, amount(idle), amount(all), holds.map(([queue, held]) => `${t("; ")}${queue || "?"} ${amount(held)}`).join(""))});
      add(cell, "span", {}, amount(idle));
      const strip = add(cell, "i", {class: "vq-strip"});
      for (const [queue, held] of holds) add(strip, "u", {style: `width:${100 * held / all}%;background:${color.get(queue) ?? "#999"}`});
    }
    const legend = add(side, "p", {class: "vq-legend"});
    for (const [queue, shade] of color) if (nodes.some((node) => node.held[queue]?.[resource])) { add(legend, "i", {style: `background:${shade}`}); add(legend, "span", {}, queue); }
    if (nodes.length > MOST_NODES) para(side, "soft", t("The first {0} of {1} nodes.", MOST_NODES, nodes.length));
  }

  // The cluster's lab: what is moved on its picture is answered with the chosen job's first line, before and after.
  function handles() {
    add(moves, "summary", {}, t("Move weights, limits and minimums"));
    const place = add(moves, "div"), told = add(moves, "div", {class: "vq-moved", role: "status"});
    let timer = 0;
    answered = async () => {
      const row = cluster.waiting[chosen], found = row && await ask({ask: "after", job: row.job});
      told.replaceChildren();
      if (!found?.sets.length) return;
      const lines = add(told, "dl");
      for (const [when, text] of [[t("before the change"), found.before], [t("after the change"), found.error ?? found.after]]) { add(lines, "dt", {}, when); add(lines, "dd", {}, text); }
      copyable(told, `volcano-lab what-if ${name} ${found.sets.map((each) => `--set ${quoted(each)}`).join(" ")}`);
    };
    moves.addEventListener("toggle", async () => {
      if (!moves.open || place.firstChild) return;
      const busy = para(place, "busy", t("Running a cycle …")), state = await ask({ask: "lab"});
      busy.remove();
      if (state.error) { add(place, "p", {}, state.error); return; }
      lab(modelOf(state, ask, () => { clearTimeout(timer); timer = setTimeout(answered, REST); }), place);
    });
    moves.hidden = false;
    moves.open = cluster.nodes.length <= OPENED;
  }

  return {open};
}

// What a lab asks of its kernel, as questions of the page.
function modelOf(state, ask, moved) {
  const listeners = new Set();
  return {
    get: (name) => state[name], set: (name, value) => { state[name] = value; },
    on: (_, act) => listeners.add(act), off: (_, act) => listeners.delete(act),
    async save_changes() {
      const shown = await ask({ask: "move", what: state.ask});
      state.shown = shown.board ? shown : {...state.shown, n: state.ask.n, said: [shown.error], error: true};
      for (const act of listeners) act();
      moved();
    },
  };
}

const para = (parent, kind, text) => add(parent, "p", {class: `vq-${kind}`}, text), label = (parent, text) => add(parent, "h3", {class: "vq-label"}, text);
const amount = (value) => value >= 2 ** 30 ? `${number(value / 2 ** 30)} Gi` : number(value);
const short = (name) => ({"nvidia.com/gpu": "GPUs", cpu: t("CPUs")})[name] ?? name;
const has = (row) => !row ? "–" : row.promised ? t("{0} of {1} pods, {2} promised", row.placed, row.pods, row.promised) : t("{0} of {1} pods", row.placed, row.pods);
const quoted = (word) => /^[\w./=:,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function copyable(place, text) {
  const box = add(place, "div", {class: "vq-copy"});
  add(box, "code", {}, text);
  const made = button(box, "copy", t("copy this line"), () => (navigator.clipboard?.writeText(text) ?? Promise.reject())
    .then(() => write(made, t("copied")), () => write(made, t("select and copy"))), "vq-small");
}
