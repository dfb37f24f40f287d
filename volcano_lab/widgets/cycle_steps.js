// A cycle step by step. Everything is made once, with as many rows as there can be; a frame changes texts, places and
// attributes only. The page asks for a place, or for what is sought; the kernel answers with one frame.

const WIDE = 640, LEFT = 128, BAR = 196, ROW = 24, PAGE = 10;

let count = 0;  // widgets on the page

const shortened = (name) => name.length > 15 ? "…" + name.slice(-14) : name;

function amount(value, resource) {
  if (value === null || value === undefined) return "no limit";
  if (resource !== "memory") return String(Math.round(value * 100) / 100);
  const power = [4, 3, 2, 1].find((p) => Math.abs(value) >= 1024 ** p) ?? 0;
  return String(Math.round(value / 1024 ** power * 100) / 100) + ["", "Ki", "Mi", "Gi", "Ti"][power];
}

function rect(node, x, width, scale) {
  const from = Math.min(Math.max(x, 0) * scale, BAR), to = Math.min(Math.max(x + width, 0) * scale, BAR);
  set(node, {x: LEFT + from, width: Math.max(to - from, 0)});
}

function tick(node, value, scale) {
  const x = LEFT + Math.min((value ?? 0) * scale, BAR);
  set(node, {x1: x, x2: x, visibility: value === null ? "hidden" : "visible"});
}

// A drawing with a row for each slot: a name, a bar whose parts `make` draws, words. `update` fills one row.
function rows(parent, title, slots, make, update) {
  const head = add(parent, "h4", {}, title);
  const svg = add(parent, "svg", {viewBox: `0 0 ${WIDE} ${Math.max(slots, 1) * ROW}`, role: "img"});
  const items = Array.from({length: slots}, (_, i) => {
    const g = add(svg, "g", {transform: `translate(0 ${i * ROW})`});
    const mark = add(g, "path", {d: "M1 7 L8 12 L1 17 z", class: "vl-mark"});
    const name = add(g, "text", {x: 12, y: 16}), tip = add(g, "title");
    return {g, mark, name, tip, ...make(g), words: add(g, "text", {x: LEFT + BAR + 10, y: 16, class: "vl-soft"})};
  });
  return (list, frame, [from, all]) => {
    items.forEach((item, i) => {
      const row = list[i];
      item.g.style.display = row ? "" : "none";
      if (!row) return;
      set(item.mark, {visibility: row.about ? "visible" : "hidden"});
      say(item.name, shortened(row.name));
      set(item.name, {class: row.about ? "vl-strong" : ""});
      say(item.tip, row.name);
      say(item.words, update(item, row, frame));
    });
    const part = all > slots ? ` (${from + 1} to ${from + slots} of ${all})` : "";
    say(head, title + (title === "Jobs" ? ", in pods" : frame.resource === "cpu" ? ", in CPUs" : `, ${frame.resource}`) + part);
    set(svg, {"aria-label": list.map((row, i) => `${row.name}: ${items[i].words.textContent}`).join("; ")});
  };
}

const bar = (g, attributes) => add(g, "rect", {y: 4, height: 16, ...attributes});
const line = (g, attributes) => add(g, "line", {y1: 1, y2: 23, class: "vl-tick", ...attributes});

function queues(parent, fixed) {
  const make = (g) => ({held: bar(g, {}), reserved: bar(g, {opacity: 0.35}), deserved: line(g, {}),
                        most: line(g, {"stroke-dasharray": "3 2"})});
  return rows(parent, "Queues", fixed.slots.queues, make, (item, row, frame) => {
    const scale = BAR / (fixed.most.queues[frame.resource] * 1.1), say = (value) => amount(value, frame.resource);
    const color = fixed.colors[row.name];
    for (const part of [item.held, item.reserved]) set(part, {fill: color});
    rect(item.held, 0, row.allocated, scale);
    rect(item.reserved, row.allocated, row.inqueue, scale);
    tick(item.deserved, row.deserved, scale);
    tick(item.most, row.real_capability, scale);
    return `holds ${say(row.allocated)} of ${say(row.deserved)} deserved, share ${amount(row.share)}`;
  });
}

function nodes(parent, fixed) {
  const make = (g) => ({vessel: bar(g, {class: "vl-vessel"}), used: bar(g, {fill: "#0072B2"}),
                        leaving: bar(g, {class: "vl-leaving"}), promised: bar(g, {class: "vl-promised"})});
  return rows(parent, "Nodes", fixed.slots.nodes, make, (item, row, frame) => {
    const scale = BAR / fixed.most.nodes[frame.resource], say = (value) => amount(value, frame.resource);
    rect(item.vessel, 0, row.allocatable, scale);
    rect(item.used, 0, row.used - row.releasing, scale);
    rect(item.leaving, row.used - row.releasing, row.releasing, scale);
    rect(item.promised, row.used - row.releasing, row.pipelined, scale);
    return `idle ${say(row.idle)}, used ${say(row.used)}, leaving ${say(row.releasing)}, promised ${say(row.pipelined)}`;
  });
}

function jobs(parent, fixed) {
  const make = (g) => ({vessel: bar(g, {class: "vl-vessel"}), placed: bar(g, {}), promised: bar(g, {class: "vl-promised"}),
                        least: line(g, {})});
  return rows(parent, "Jobs", fixed.slots.jobs, make, (item, row) => {
    const scale = BAR / Math.max(row.pods, row.min_available, 1);
    rect(item.vessel, 0, row.pods, scale);
    set(item.placed, {fill: fixed.colors[row.queue] ?? "#8C8C8C"});
    rect(item.placed, 0, row.placed, scale);
    rect(item.promised, row.placed, row.promised, scale);
    tick(item.least, row.min_available, scale);
    return `${row.placed} of ${row.pods} placed, needs ${row.min_available}` +
      (row.promised ? `, ${row.promised} promised` : "") + (row.releasing ? `, ${row.releasing} leave` : "") + `: ${row.phase}`;
  });
}

function choice(parent, label, options, first) {
  const whole = add(parent, "label", {}, label + " "), made = add(whole, "select", {});
  if (first) add(made, "option", {value: ""}, first);
  for (const option of options) add(made, "option", {value: option}, option);
  return made;
}

function button(parent, sign, label, act) {
  const made = add(parent, "button", {type: "button", "aria-label": label, title: label}, sign);
  made.addEventListener("click", act);
  return made;
}

export default {
  render({model, el}) {
    const fixed = model.get("fixed"), shown = () => model.get("shown");
    // Jupyter's own use of the arrow keys must not act here.
    const whole = add(el, "div", {class: "vl-cycle-steps", tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true",
      "aria-label": "A cycle step by step. Arrow keys step, Page Up and Page Down go ten steps, Home and End to the ends, space plays"});
    let aim = shown().place, asked = shown().answers, playing = null;
    const waits = () => asked > shown().answers;

    function ask(word, ...args) {
      asked = (model.get("ask").count ?? shown().answers) + 1;
      model.set("ask", {count: asked, [word]: args});
      model.save_changes();
    }

    // Places are asked for by number, so that none is lost or doubled where keys come faster than answers.
    function go(target) {
      const place = Math.max(0, Math.min(target, shown().last));
      if (place === (waits() ? aim : shown().place) && !shown().between) return;
      aim = place;
      ask("place", place);
    }
    const here = () => waits() ? aim : shown().place;
    const back = (steps = 1) => go(here() - steps + (shown().between && !waits() ? 1 : 0));
    const on = (steps = 1) => go(here() + steps);

    function play(start) {
      clearTimeout(playing);
      playing = start && shown().place < shown().last ? setTimeout(() => on(), 1000 / speed.value) : null;
      say(player, playing ? "❚❚" : "▶");
      set(player, {"aria-label": playing ? "pause" : "play", title: playing ? "pause (space)" : "play (space)"});
      set(text, {"aria-live": playing ? "off" : "polite"});
    }

    const top = add(whole, "div", {class: "vl-bar"});
    button(top, "|◀", "to the start", () => go(0));
    button(top, "◀|", "one step back", () => back());
    const player = button(top, "▶", "play", () => play(!playing));
    button(top, "|▶", "one step on", () => on());
    button(top, "▶|", "to the end", () => go(shown().last));
    const scrubber = add(top, "input", {type: "range", min: 0, "aria-label": "step", class: "vl-scrubber"});
    scrubber.addEventListener("input", () => go(Number(scrubber.value)));
    const speed = choice(top, "a second", [1, 2, 5, 10, 20]);
    speed.value = "2";
    const detail = choice(top, "step by", fixed.details);
    detail.addEventListener("change", () => ask("detail", detail.value));
    const resource = choice(top, "show", fixed.resources);
    resource.addEventListener("change", () => ask("resource", resource.value));

    const where = add(whole, "p", {class: "vl-where"});
    const text = add(whole, "p", {class: "vl-text", role: "status", "aria-live": "polite"});

    const main = add(whole, "div", {class: "vl-main"}), side = add(main, "div");
    add(side, "h4", {}, "Before and after");
    const list = add(side, "ol", {class: "vl-around"});
    const lines = Array.from({length: fixed.lines}, () => {
      const item = add(list, "li");
      item.addEventListener("click", () => go(Number(item.dataset.place)));
      return item;
    });
    const under = add(side, "h4", {title: "operations of statements that are neither committed nor discarded"}, "Under way"), ops = add(side, "ul", {class: "vl-under-way"});
    const done = Array.from({length: fixed.under_way}, () => add(ops, "li"));
    const drawings = add(main, "div");
    const draw = {queues: queues(drawings, fixed), nodes: nodes(drawings, fixed), jobs: jobs(drawings, fixed)};
    add(drawings, "p", {class: "vl-soft"}, "Queues: full what is held, pale what is reserved for jobs let in, a line what is " +
      "deserved, dashed what may be held. Nodes and jobs: dashed what is promised, hollow what leaves, a line the gang's minimum.");

    const status = `vl-said-${++count}`;
    const stop = add(whole, "form", {class: "vl-bar"});
    const words = add(add(stop, "label", {}, "stop at "), "input", {type: "text", autocomplete: "off", spellcheck: "false",
      placeholder: 'overused where queue == "a" and answer', "aria-describedby": status});
    const seek = (backwards) => words.value.trim() && ask("stop_at", words.value, backwards);
    stop.addEventListener("submit", (event) => { event.preventDefault(); seek(false); });
    button(stop, "find next", "find the next place that stops there", () => seek(false));
    button(stop, "find previous", "find the previous place that stops there", () => seek(true));
    const said = add(whole, "p", {class: "vl-said", id: status, role: "alert"});

    const jumps = add(whole, "details");
    add(jumps, "summary", {}, "Jump to a job, a queue, an operation");
    const form = add(jumps, "div", {class: "vl-bar"});
    const about = [choice(form, "job", fixed.names.jobs, "any"), choice(form, "queue", fixed.names.queues, "any"),
                   choice(form, "operation", fixed.operations, "any"), choice(form, "outcome", fixed.outcomes, "any")];
    const jump = (backwards) => ask("jump", ...about.map((field) => field.value), backwards);
    button(form, "next", "jump to the next such record", () => jump(false));
    button(form, "previous", "jump to the previous such record", () => jump(true));

    const seen = add(whole, "details");
    add(seen, "summary", {}, "Symptoms, and where they are decided");
    const ask_about = {queue: choice(add(seen, "div", {class: "vl-bar"}), "queue", fixed.names.queues),
                       job: choice(seen.lastChild, "job", fixed.names.jobs)};
    const table = add(seen, "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
    for (const title of ["what is seen", "what is likely behind it", "of", ""]) add(head, "th", {scope: "col"}, title);
    for (const [symptom, likely, of] of fixed.symptoms) {
      const row = add(body, "tr");
      add(row, "th", {scope: "row"}, symptom);
      add(row, "td", {}, likely);
      add(row, "td", {}, of && `the ${of}`);
      button(add(row, "td"), "show", `show where it is decided: ${symptom}`, () => ask("show", symptom, of ? ask_about[of].value : ""));
    }

    function update() {
      const frame = shown();
      set(scrubber, {max: frame.last, "aria-valuetext": `step ${frame.place}: ${frame.text}`});
      if (!waits()) scrubber.value = frame.place;
      detail.value = frame.detail;
      resource.value = frame.resource;
      say(where, `${frame.between ? "after step" : "step"} ${frame.place} of ${frame.last}, action ${frame.action}, ` + (frame.number < 0 ? "before the first record" : `record ${frame.number}`));
      say(text, frame.text);
      lines.forEach((item, i) => {
        const [place, words] = frame.around[i] ?? [];
        item.style.display = place === undefined ? "none" : "";
        if (place === undefined) return;
        item.dataset.place = place;
        say(item, `${place}. ${words}`);
        set(item, {class: place === frame.place ? "vl-now" : place < frame.place ? "" : "vl-ahead",
                   "aria-current": place === frame.place ? "step" : "false", title: words});
      });
      const {count, operations} = frame.statement;
      say(under, `Under way: ${count || "nothing"}${count > operations.length ? `, the last ${operations.length}` : ""}`);
      done.forEach((item, i) => say(item, operations[i] ?? ""));
      for (const what of ["queues", "nodes", "jobs"]) draw[what](frame[what], frame, frame.of[what]);
      say(said, frame.said);
      set(words, {"aria-invalid": frame.said ? "true" : "false"});
      if (playing && !waits()) play(true);
    }

    whole.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const field = event.target;
      if (field.tagName === "SELECT" || (field.tagName === "INPUT" && field.type === "text")) return;
      if (event.key === " " && ["BUTTON", "SUMMARY"].includes(field.tagName)) return;
      const move = {ArrowRight: on, ArrowLeft: back, ArrowDown: on, ArrowUp: back, Home: () => go(0), End: () => go(shown().last),
                    PageDown: () => on(PAGE), PageUp: () => back(PAGE), " ": () => play(!playing)}[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move();
    });
    model.on("change:shown", update);
    update();
    return () => { clearTimeout(playing); model.off("change:shown", update); };
  },
};
