// Lanes over time, drawn once; a new state changes the paths, the marks and the numbers. Scales are fixed by the panel.

const LEFT = 34, WIDTH = 860, HEIGHT = 92, GAP = 30, TOP = 20;

// As many nodes as there are values: what is missing is made, what is too much is hidden.
function marks(make) {
  const known = [];
  return (values, place) => {
    values.forEach((value, i) => place((known[i] ??= make()), value));
    known.forEach((node, i) => set(node, {visibility: i < values.length ? "visible" : "hidden"}));
  };
}

function steps(points, until, x, y) {
  let path = `M${x(0)} ${y(0)}`, level = 0;
  for (const [time, number] of points) {
    path += `H${x(time)}V${y(number)}`;
    level = number;
  }
  return level === 0 ? `${path}H${x(until)}Z` : `${path}H${x(until)}V${y(0)}Z`;
}

function drawing(root, spec) {
  const x = (time) => Math.round((LEFT + (WIDTH * time) / spec.until) * 10) / 10;
  const height = TOP + spec.lanes.length * (HEIGHT + GAP);
  const svg = add(root, "svg", {viewBox: `0 0 900 ${height}`, role: "img", "aria-label": spec.title});
  const lanes = spec.lanes.map((lane, i) => {
    const base = TOP + i * (HEIGHT + GAP) + HEIGHT, y = (number) => base - (HEIGHT * Math.min(number, lane.most)) / lane.most;
    add(svg, "text", {x: LEFT, y: base - HEIGHT - 6, class: "vr-strong"}, lane.label);
    for (const number of [0, lane.most / 2, lane.most]) {
      add(svg, "line", {class: "vr-axis", x1: LEFT, x2: LEFT + WIDTH, y1: y(number), y2: y(number)});
      add(svg, "text", {x: LEFT - 6, y: y(number) + 4, "text-anchor": "end"}, String(number));
    }
    return {key: lane.key, y, base, path: add(svg, "path", {fill: lane.color, "fill-opacity": 0.75})};
  });
  const last = lanes.at(-1).base;
  for (let time = 0; time <= spec.until; time += 4)
    add(svg, "text", {x: x(time), y: last + 24, "text-anchor": "middle"}, time ? String(time) : "0 s");
  const ticks = marks(() => add(svg, "line", {class: "vr-tick", y1: last, y2: last + 8}));
  const crosses = marks(() => add(svg, "text", {y: lanes[0].base - HEIGHT + 14, class: "vr-cross", "text-anchor": "middle"}));
  return (run, told) => {
    for (const lane of lanes) set(lane.path, {d: steps(run[lane.key], spec.until, x, lane.y)});
    ticks(run.cycles, (tick, time) => set(tick, {x1: x(time), x2: x(time)}));
    crosses(run.refused, (cross, [time, number]) => {
      set(cross, {x: x(time)});
      say(cross, number > 1 ? `×${number}` : "×");
    });
    set(svg, {"aria-label": `${spec.title}. ${told}`});
  };
}

function sums(root, facts) {
  const list = add(root, "div", {class: "vr-facts"});
  const cells = Object.keys(facts).map((name) => {
    const item = add(list, "div");
    add(item, "span", {}, name.replaceAll("_", " ") + (name.endsWith("wait") ? ", s" : ""));
    return [name, add(item, "b")];
  });
  return (now) => {
    for (const [name, cell] of cells) say(cell, now[name] === null ? "–" : String(now[name]));
  };
}

export default {
  render({model, el}) {
    const [spec] = model.get("panels"), root = add(el, "section", {class: "vr-run"});
    add(root, "h4", {}, spec.title);
    const draw = drawing(root, spec);
    add(root, "p", {}, spec.legend ?? "");
    const count = sums(root, model.get("state").facts);
    const update = () => {
      const {run, facts} = model.get("state");
      draw(run, Object.entries(facts).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", "));
      count(facts);
    };
    model.on("change:state", update);
    update();
    ownKeys(el);
    return () => model.off("change:state", update);
  },
};
