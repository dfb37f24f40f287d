// Draws panels (tables, charts, lists) once and then only changes what a new state changes: texts, attributes, how many
// rows there are. Scales are fixed by the layout, so that nothing jumps. A panel kind is a function (root, spec, model)
// that builds itself and returns an update function; KINDS at the end lists them.

// Keeps as many items as there are rows: makes what is missing, hides what is too much, updates the rest.
function items(make) {
  const known = [];
  return (rows, update) => {
    rows.forEach((row, i) => update((known[i] ??= make(i)), row, i));
    known.forEach((item, i) => { item.root.style.display = i < rows.length ? "" : "none"; });
  };
}

function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : String(value);
}

function frame(parent, spec) {
  const root = add(parent, "section", {class: "vl-panel"});
  if (spec.title) add(root, "h4", {}, spec.title);
  return root;
}

function drawing(root, spec, height) {
  return add(root, "svg", {viewBox: `0 0 900 ${height}`, role: "img", "aria-label": spec.title ?? ""});
}

function legend(root, text) {
  if (text) add(root, "p", {class: "vl-legend"}, text);
}

// rows: [{column: value, color}]
function table(root, spec) {
  const whole = add(root, "table"), head = add(add(whole, "thead"), "tr"), body = add(whole, "tbody");
  const kind = (column) => (spec.texts ?? []).includes(column) ? {class: "vl-text"} : {};
  for (const column of spec.columns) add(head, "th", {scope: "col", ...kind(column)}, column.replaceAll("_", " "));
  const update = items(() => {
    const row = add(body, "tr");
    return {root: row, cells: spec.columns.map((column, i) => add(row, i ? "td" : "th", i ? kind(column) : {scope: "row"}))};
  });
  legend(root, spec.legend);
  return (rows) => update(rows, (item, row) => spec.columns.forEach((column, i) => {
    say(item.cells[i], number(row[column]));
    if (!i && row.color) item.cells[i].style.borderLeft = `0.5em solid ${row.color}`;
  }));
}

// {queues: [{queue, color, limit, guarantee}], rounds: [{round, left, bars: {queue: {before, added, met}}}]}
function vessels(root, spec) {
  const base = 176, top = 44, slot = 900 / spec.slots, scale = (base - top) / spec.max;
  const svg = drawing(root, spec, 198);
  const y = (value) => base - value * scale;
  const bar = (parent) => {
    const g = add(parent, "g");
    return {
      root: g, before: add(g, "rect", {opacity: 0.4}), added: add(g, "rect"),
      vessel: add(g, "rect", {class: "vl-vessel"}), least: add(g, "line", {class: "vl-least"}),
      value: add(g, "text", {class: "vl-strong vl-halo", "text-anchor": "middle"}),
      name: add(g, "text", {"text-anchor": "middle"}), tip: add(g, "title"),
    };
  };
  const update = items((i) => {
    const g = add(svg, "g", {transform: `translate(${i * slot} 0)`});
    const item = {
      root: g, title: add(g, "text", {x: 6, y: 14, class: "vl-strong"}), left: add(g, "text", {x: 6, y: 30}),
      ground: add(g, "line", {class: "vl-axis", x1: 4, x2: slot - 14, y1: base, y2: base}),
    };
    item.bars = items(() => bar(g));
    return item;
  });
  legend(root, spec.legend);
  return ({queues, rounds}) => {
    const shown = rounds.length > spec.slots ? [...rounds.slice(0, spec.slots - 1), rounds.at(-1)] : rounds;
    update(shown, (item, round) => {
      say(item.title, `Round ${round.round}`);
      say(item.left, `left after it: ${number(round.left)}`);
      const step = (slot - 18) / queues.length, width = Math.min(step * 0.7, 44);
      item.bars(queues, (b, queue, i) => {
        const x = 4 + step * (i + 0.5) - width / 2, middle = x + width / 2;
        const {before = 0, added = 0} = round.bars[queue.queue] ?? {};
        const now = before + added;
        set(b.before, {x, width, y: y(Math.min(before, now)), height: Math.min(before, now) * scale, fill: queue.color});
        set(b.added, {x, width, y: y(now), height: Math.max(added, 0) * scale, fill: queue.color});
        set(b.vessel, {x, width, y: y(queue.limit), height: queue.limit * scale});
        set(b.least, {x1: x - 4, x2: x + width + 4, y1: y(queue.guarantee), y2: y(queue.guarantee),
                      visibility: queue.guarantee ? "visible" : "hidden"});
        set(b.value, {x: middle, y: y(now) - 4});
        say(b.value, Math.round(now * 10) / 10);
        set(b.name, {x: middle, y: base + 16});
        say(b.name, queue.queue);
        say(b.tip, `${queue.queue}: ${number(before)} + ${number(added)} = ${number(now)}, at most ${number(queue.limit)}`);
      });
    });
    set(svg, {"aria-label": rounds.map((r) => `Round ${r.round}: ` + queues.map((q) => {
      const {before = 0, added = 0} = r.bars[q.queue] ?? {};
      return `${q.queue} ${number(before + added)}`;
    }).join(", ")).join("; ")});
  };
}

// {queues: [{queue, color}], turns: [{queue, outcome, pods, job, share}]}
function turns(root, spec) {
  const left = 34, width = (900 - left) / spec.slots, row = 26, top = 8;
  const svg = drawing(root, spec, top + row * spec.lanes + 24);
  const lanes = items((i) => {
    const g = add(svg, "g");
    add(g, "line", {class: "vl-axis", x1: left, x2: 900, y1: top + row * (i + 0.5), y2: top + row * (i + 0.5)});
    return {root: g, name: add(g, "text", {x: 4, y: top + row * (i + 0.5) + 4, class: "vl-strong"})};
  });
  const size = Math.min(width - 3, row - 8);
  const cells = items((i) => {
    const g = add(svg, "g"), x = left + width * i + (width - size) / 2;
    return {root: g, box: add(g, "rect", {x, width: size, height: size, rx: 2}),
            mark: add(g, "text", {x: x + size / 2, "text-anchor": "middle", class: "vl-mark"}), tip: add(g, "title")};
  });
  const ticks = items((i) => {
    const x = left + width * ((i ? i * 5 : 1) - 0.5);
    return {root: add(svg, "text", {x, y: top + row * spec.lanes + 16, "text-anchor": "middle"}, String(i ? i * 5 : 1))};
  });
  ticks(Array.from({length: Math.floor(spec.slots / 5) + 1}), () => {});
  legend(root, spec.legend);
  const marks = {placed: "", discarded: "×", nothing: "", overused: "–"};
  return ({queues, turns}) => {
    lanes(queues, (item, queue) => say(item.name, queue.queue));
    const place = Object.fromEntries(queues.map((queue, i) => [queue.queue, {...queue, i}]));
    cells(turns.slice(0, spec.slots), (item, turn, i) => {
      const {i: lane, color} = place[turn.queue], y = top + row * (lane + 0.5) - size / 2, placed = turn.outcome === "placed";
      set(item.box, {y, fill: placed ? color : "var(--vl-ground)", stroke: color, "stroke-width": 1.5,
                     "stroke-dasharray": turn.outcome === "nothing" ? "2 2" : "none"});
      set(item.mark, {y: y + size / 2 + 4, style: `fill: ${placed ? ink(color) : "var(--vl-ink)"}`});
      say(item.mark, placed && turn.pods > 1 ? turn.pods : marks[turn.outcome]);
      say(item.tip, `turn ${i + 1}: ${turn.queue}, share ${number(turn.share)}, ${turn.job || "no job left"}: ${turn.outcome}`);
    });
    set(svg, {"aria-label": "Queues in the order of their turns: " + turns.map((turn) => turn.queue).join(", ")});
  };
}

// [{name, parts: [amount], limit, most, text, over}]; `spec.parts`: {part: color}. A bar a sum, on a scale from 0 to `most`
function sums(root, spec) {
  const left = 190, width = 500, row = 26, top = 26, colors = Object.values(spec.parts);
  const svg = drawing(root, spec, top + row * spec.lines);
  Object.entries(spec.parts).forEach(([part, color], i) => {
    add(svg, "rect", {x: left + 160 * i, y: 4, width: 12, height: 12, fill: color});
    add(svg, "text", {x: left + 160 * i + 17, y: 14}, part);
  });
  const update = items((i) => {
    const g = add(svg, "g"), y = top + row * i;
    return {root: g, y, name: add(g, "text", {x: left - 8, y: y + 17, "text-anchor": "end"}),
            parts: colors.map((fill) => add(g, "rect", {y: y + 4, height: 18, fill})),
            limit: add(g, "line", {class: "vl-limit", y1: y, y2: y + 26}), text: add(g, "text", {y: y + 17})};
  });
  legend(root, spec.legend);
  return (rows) => {
    update(rows, (item, sum) => {
      const x = (amount) => left + width * Math.max(0, Math.min(amount / sum.most, 1));
      let from = 0;
      item.parts.forEach((rect, i) => {
        const to = from + sum.parts[i];
        set(rect, {x: x(from), width: Math.max(x(to) - x(from), 0)});
        from = to;
      });
      set(item.limit, {x1: x(sum.limit), x2: x(sum.limit)});
      set(item.text, {x: Math.max(x(from), x(sum.limit)) + 9, class: sum.over ? "vl-strong" : ""});
      say(item.name, sum.name);
      say(item.text, sum.text);
    });
    set(svg, {"aria-label": rows.map((sum) => `${sum.name}: ${sum.text}`).join("; ")});
  };
}

// {outcome, headline, reason, steps: [text]}
function operations(root, spec) {
  const head = add(root, "p", {class: "vl-headline"}), word = add(head, "b"), text = add(head, "span");
  const reason = add(root, "p", {class: "vl-reason"});
  const list = add(root, "ol", {class: "vl-steps", style: `min-height: ${spec.lines * 1.6}em`});
  const update = items(() => ({root: add(list, "li")}));
  return (state) => {
    set(word, {class: `vl-${state.outcome || "none"}`});
    say(word, state.outcome || "nothing tried");
    say(text, " " + state.headline);
    update(state.steps, (item, step) => {
      say(item.root, step);
      set(item.root, {class: step.startsWith("undo") ? "vl-undo" : ""});
    });
    say(reason, state.reason);
  };
}

// [sentence]; a panel without sentences takes no room
function sentences(root) {
  const list = add(root, "ul", {class: "vl-sentences", role: "status", "aria-live": "polite"});
  const update = items(() => ({root: add(list, "li")}));
  return (rows) => {
    root.style.display = rows.length ? "" : "none";
    update(rows, (item, row) => say(item.root, row));
  };
}

const KINDS = {table, vessels, turns, sums, operations, sentences};

export default {
  render({model, el}) {
    const board = add(el, "div", {class: "vl-board"});
    const panels = model.get("panels").map((spec) => [spec.key, KINDS[spec.kind](frame(board, spec), spec)]);
    const draw = () => {
      const state = model.get("state");
      for (const [key, update] of panels) if (key in state) update(state[key]);
    };
    model.on("change:state", draw);
    draw();
    ownKeys(el);
    return () => model.off("change:state", draw);
  },
};
