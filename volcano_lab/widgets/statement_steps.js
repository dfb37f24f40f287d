// A statement step by step: the list of steps, the states of the pods, the nodes and the queues. Drawn once for a scene;
// a step changes texts, places and attributes only. Stepping needs no answer from the kernel; it is told where one is.

const BOXES = {Pending: [8, 62], Allocated: [212, 10], Pipelined: [212, 124], Binding: [396, 10], Running: [580, 10], Releasing: [580, 124]};
const WIDE = 126, HIGH = 84;
const ARROWS = [  // path, label, where, whether it is dashed (nothing that a statement does)
  ["M134 88 C160 80 176 60 206 50", "allocate", [160, 52]], ["M206 74 C180 84 166 96 140 100", "discard", [182, 98]],
  ["M134 118 C160 126 176 144 206 156", "pipeline", [150, 158]], ["M206 138 C186 130 170 118 140 110", "", [0, 0]],
  ["M338 52 L390 52", "commit", [364, 44]], ["M522 52 L574 52", "runs", [548, 44], true],
  ["M624 94 L624 118", "evict", [606, 112]], ["M662 124 L662 100", "discard", [690, 112]],
];
const ROW = 80, LEFT = 70;

const number = (value) => String(Math.round(value * 100) / 100);

function arrowHead(svg) {
  const marker = add(add(svg, "defs"), "marker", {id: "vl-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
                                                  markerHeight: 7, orient: "auto"});
  add(marker, "path", {d: "M0 0 L8 4 L0 8 z", class: "vl-arrow-head"});
}

// Which states the pods are in. Bound pods stand with those that run.
function states(parent) {
  const svg = add(parent, "svg", {viewBox: "0 0 714 214", role: "img"});
  arrowHead(svg);
  for (const [path, label, [x, y], dashed] of ARROWS) {
    add(svg, "path", {d: path, class: "vl-arrow", "marker-end": "url(#vl-arrow)", ...(dashed ? {"stroke-dasharray": "4 3"} : {})});
    if (label) add(svg, "text", {x, y, class: "vl-soft", "text-anchor": "middle"}, label);
  }
  const boxes = Object.fromEntries(Object.entries(BOXES).map(([state, [x, y]]) => {
    const box = add(svg, "rect", {x, y, width: WIDE, height: HIGH, rx: 6, class: "vl-state"});
    add(svg, "text", {x: x + 8, y: y + 17, class: "vl-strong"}, state);
    const lines = [0, 1, 2, 3].map((i) => add(svg, "text", {x: x + 8, y: y + 34 + 15 * i}));
    return [state, {box, lines}];
  }));
  return (frame) => {
    const inState = {};
    for (const pod of frame.pods) (inState[pod.status === "Bound" ? "Running" : pod.status] ??= []).push(pod);
    for (const [state, {box, lines}] of Object.entries(boxes)) {
      const pods = inState[state] ?? [];
      set(box, {class: pods.some((pod) => pod.pod === frame.pod) ? "vl-state vl-moved" : "vl-state"});
      lines.forEach((line, i) => {
        const last = i === lines.length - 1 && pods.length > lines.length;
        say(line, last ? `and ${pods.length - i} more` : pods[i]?.pod ?? "");
        set(line, {class: pods[i]?.pod === frame.pod && !last ? "vl-strong" : ""});
      });
    }
    set(svg, {"aria-label": "States: " + frame.pods.map((pod) => `${pod.pod} ${pod.status}`).join(", ")});
  };
}

// A bar a node: the pods that hold room; below it, dashed, those to whom room is promised.
function nodes(parent, frames, colors) {
  const count = frames[0].nodes.length, most = Math.max(...frames[0].nodes.map((node) => node.allocatable), 1);
  const scale = (714 - LEFT - 6) / most;
  const svg = add(parent, "svg", {viewBox: `0 0 714 ${count * ROW}`, role: "img"});
  const rows = frames[0].nodes.map((node, i) => {
    const top = i * ROW + 4;
    add(svg, "text", {x: 4, y: top + 20, class: "vl-strong"}, node.node);
    add(svg, "rect", {x: LEFT, y: top, width: node.allocatable * scale, height: 30, class: "vl-vessel"});
    return {top, sums: add(svg, "text", {x: LEFT, y: top + 65, class: "vl-soft"})};
  });
  const pods = Object.fromEntries(frames[0].pods.map((pod) => {
    const color = colors[pod.job] ?? "#8C8C8C";
    return [pod.pod, {color, box: add(svg, "rect", {rx: 3}), name: add(svg, "text", {"text-anchor": "middle"})}];
  }));
  return (frame) => {
    const held = {}, promised = {};
    for (const pod of frame.pods) {
      const {color, box, name} = pods[pod.pod], i = frame.nodes.findIndex((node) => node.node === pod.node);
      const away = i < 0 || pod.status === "Pending";
      for (const part of [box, name]) part.style.display = away ? "none" : "";
      if (away) continue;
      const waits = pod.status === "Pipelined", going = pod.status === "Releasing", from = (waits ? promised : held);
      const x = LEFT + (from[i] ?? 0) * scale, width = pod.asks * scale;
      from[i] = (from[i] ?? 0) + pod.asks;
      const y = rows[i].top + (waits ? 32 : 0), height = waits ? 19 : 30;
      set(box, {x: x + 1, y: y + 1, width: Math.max(width - 2, 0), height: height - 2, stroke: color,
                fill: waits || going ? "var(--vl-ground)" : color, "stroke-width": 2,
                "stroke-dasharray": waits ? "4 3" : going ? "2 3" : "none"});
      set(name, {x: x + width / 2, y: y + height / 2 + 4, style: `fill: ${waits || going ? "var(--vl-ink)" : ink(color)}`});
      say(name, pod.pod + (going ? ", is going" : waits ? ", promised" : ""));
    }
    frame.nodes.forEach((node, i) => say(rows[i].sums, `idle ${number(node.idle)} · used ${number(node.used)} · releasing ` +
      `${number(node.releasing)} · pipelined ${number(node.pipelined)} · future idle ${number(node.future_idle)}`));
    set(svg, {"aria-label": frame.nodes.map((node, i) => `${node.node}: ${rows[i].sums.textContent}`).join("; ")});
  };
}

function queues(parent, frames) {
  const columns = ["queue", "deserved", "allocated", "share"];
  const whole = add(parent, "table"), head = add(add(whole, "thead"), "tr"), body = add(whole, "tbody");
  for (const column of columns) add(head, "th", {scope: "col"}, column);
  const rows = frames[0].queues.map(() => {
    const row = add(body, "tr");
    return columns.map((_, i) => add(row, i ? "td" : "th", i ? {} : {scope: "row"}));
  });
  return (frame) => frame.queues.forEach((queue, i) => columns.forEach((column, j) =>
    say(rows[i][j], typeof queue[column] === "number" ? number(queue[column]) : queue[column])));
}

export default {
  render({model, el}) {
    // Jupyter's own use of the arrow keys must not act here.
    const whole = add(el, "div", {class: "vl-steps-of", tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true",
                                  "aria-label": "A statement step by step; arrow keys step, Home and End jump"});
    const bar = add(whole, "div", {class: "vl-bar"});
    const scene = add(bar, "select", {"aria-label": "scene"});
    for (const name of model.get("scenes")) add(scene, "option", {value: name}, name);
    const button = (sign, label, target) => {
      const made = add(bar, "button", {type: "button", "aria-label": label, title: label}, sign);
      made.addEventListener("click", () => go(target()));
    };
    const at = () => model.get("at"), last = () => model.get("frames").length - 1;
    button("|◀", "to the start", () => 0);
    button("◀", "one step back", () => at() - 1);
    button("▶", "one step on", () => at() + 1);
    button("▶|", "to the end", () => last());
    const where = add(bar, "span", {class: "vl-where", role: "status", "aria-live": "polite"});
    const main = add(whole, "div", {class: "vl-main"});
    let update = () => {};

    function go(target) {
      const step = Math.max(0, Math.min(target, last()));
      if (step === at()) return;
      model.set("at", step);
      model.save_changes();
    }

    function build() {
      const frames = model.get("frames"), colors = model.get("colors");
      main.replaceChildren();
      const list = add(main, "ol", {class: "vl-list", start: 0}), side = add(main, "div", {class: "vl-side"});
      const items = frames.map((frame) => add(list, "li", {}, frame.text));
      const parts = [["The pods, by state", states], ["The nodes, in CPUs", nodes], ["The queues, in CPUs", queues]];
      const updates = parts.map(([title, make]) => {
        add(side, "h4", {}, title);
        return make(side, frames, colors);
      });
      update = () => {
        const now = Math.min(at(), frames.length - 1), frame = frames[now];
        items.forEach((item, i) => set(item, {class: i === now ? "vl-now" : i < now ? "vl-done" : "vl-ahead",
                                              ...(i === now ? {"aria-current": "step"} : {"aria-current": "false"})}));
        const {offsetTop, offsetHeight} = items[now];
        const top = offsetTop - list.offsetTop;
        if (top < list.scrollTop || top + offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 40;
        say(where, `step ${now} of ${frames.length - 1}: ${frame.text}`);
        updates.forEach((draw) => draw(frame));
      };
      update();
    }

    whole.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.target === scene) return;
      const target = {ArrowRight: at() + 1, ArrowLeft: at() - 1, ArrowDown: at() + 1, ArrowUp: at() - 1, Home: 0, End: last()}[event.key];
      if (target === undefined) return;
      event.preventDefault();
      go(target);
    });
    scene.addEventListener("change", () => {
      model.set("scene", scene.value);
      model.save_changes();
    });
    const rebuild = () => { scene.value = model.get("scene"); build(); };
    const step = () => update();
    model.on("change:frames", rebuild);
    model.on("change:at", step);
    rebuild();
    return () => { model.off("change:frames", rebuild); model.off("change:at", step); };
  },
};
