// A tree of queues as a table of fields: a row a queue, below its parent. Every finished change sends the whole tree,
// with one message. Rows are kept by name and only moved, so that the field in use keeps the focus.

const NUMBERS = ["weight", "deserved", "capability", "guarantee", "runs", "gang"];
const ROOT = "root", OF_JOBS = new Set(["runs", "gang"]);

function add(parent, tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  parent.appendChild(node);
  return node;
}

// The rows, each below its parent; those that hang on nothing come last.
function inOrder(unsorted) {
  const rows = [...unsorted].sort((left, right) => left.name < right.name ? -1 : 1);
  const below = new Map(), done = [], seen = new Set();
  for (const row of rows) below.set(row.parent, [...(below.get(row.parent) ?? []), row]);
  const walk = (row, depth) => {
    if (seen.has(row.name)) return;
    seen.add(row.name);
    done.push({row, depth});
    for (const child of below.get(row.name) ?? []) walk(child, depth + 1);
  };
  for (const row of rows) if (row.name === ROOT) walk(row, 0);
  for (const row of rows) walk(row, 0);
  return done;
}

function newName(rows) {
  let number = 1;
  while (rows.some((row) => row.name === `queue-${number}`)) number += 1;
  return `queue-${number}`;
}

export default {
  render({model, el}) {
    // Jupyter's own shortcuts (a, b, d, arrows) must not act on what is typed here.
    const whole = add(el, "div", {class: "vl-tree", "data-lm-suppress-shortcuts": "true"});
    const table = add(whole, "table", {"aria-label": "The tree of queues, to be edited"});
    const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
    for (const [text, tip] of model.get("heads")) add(head, "th", {scope: "col", title: tip}, text);
    const known = new Map();
    const rows = () => model.get("value").map((row) => ({...row}));
    const send = (value) => {
      model.set("value", value);
      model.save_changes();
    };
    const change = (name, word, value) => send(rows().map((row) => row.name === name ? {...row, [word]: value} : row));
    // The row stays the same one under its new name, so that the next field keeps the focus.
    const rename = (item, text) => {
      const old = item.key;
      item.name.setCustomValidity(text !== old && known.has(text) ? `There is a queue ${text} already; names must differ.` : "");
      if (!item.name.reportValidity() || !text || text === old) return draw();
      known.delete(old);
      known.set(text, item);
      item.key = text;
      send(rows().map((row) => ({...row, name: row.name === old ? text : row.name, parent: row.parent === old ? text : row.parent})));
    };

    const make = (key) => {
      const tr = add(body, "tr"), first = add(tr, "th", {scope: "row"}), item = {key, root: tr, first, fields: {}, named: []};
      const named = (node, text) => (item.named.push([node, text]), node);
      if (key === ROOT) add(first, "b", {}, ROOT);
      else {
        item.name = named(add(first, "input", {type: "text", size: 9}), "name of queue");
        item.name.addEventListener("change", () => rename(item, item.name.value.trim()));
      }
      const cell = add(tr, "td");
      if (key !== ROOT) {
        item.parent = named(add(cell, "select"), "parent of queue");
        item.parent.addEventListener("change", () => change(item.key, "parent", item.parent.value));
      }
      for (const word of NUMBERS) {
        const place = add(tr, "td");
        if (key === ROOT && (OF_JOBS.has(word) || word === "weight")) continue;
        const field = add(place, "input", {type: "number", min: word === "weight" ? 1 : 0, step: 1,
                                           placeholder: OF_JOBS.has(word) ? "0" : "unset"});
        named(field, `${word} of queue`);
        field.addEventListener("change", () => change(item.key, word, field.value === "" ? null : Number(field.value)));
        item.fields[word] = field;
      }
      const last = add(tr, "td");
      named(add(last, "button", {type: "button"}, "add below"), "add a queue below").addEventListener("click", () => {
        const value = rows(), fresh = newName(value);
        send([...value, {name: fresh, parent: item.key, weight: 1, deserved: null, capability: null, guarantee: null, runs: 0, gang: 0}]);
        known.get(fresh)?.name.focus();
      });
      if (key !== ROOT) named(add(last, "button", {type: "button"}, "remove"), "remove queue").addEventListener("click", () => {
        const next = (tr.nextElementSibling ?? tr.previousElementSibling).querySelector("input");
        send(rows().filter((row) => row.name !== item.key));
        next.focus();
      });
      return item;
    };

    const draw = () => {
      const value = model.get("value"), names = value.map((row) => row.name), inUse = document.activeElement;
      const ordered = inOrder(value), kept = new Set(names);
      for (const [name, item] of known) if (!kept.has(name)) { item.root.remove(); known.delete(name); }
      ordered.forEach(({row, depth}, i) => {
        if (!known.has(row.name)) known.set(row.name, make(row.name));
        const item = known.get(row.name);
        if (body.children[i] !== item.root) body.insertBefore(item.root, body.children[i] ?? null);
        item.first.style.paddingLeft = `${depth * 1.4 + 0.2}em`;
        if (item.name && item.name.value !== row.name) item.name.value = row.name;
        for (const [node, text] of item.named) node.setAttribute("aria-label", `${text} ${row.name}`);
        if (item.parent) {
          const options = names.filter((name) => name !== row.name);
          if (!options.includes(row.parent)) options.push(row.parent);
          if (item.parent.dataset.options !== options.join("\n")) {
            item.parent.dataset.options = options.join("\n");
            item.parent.replaceChildren(...options.map((name) => {
              const option = document.createElement("option");
              option.value = name;
              option.textContent = names.includes(name) ? name : `${name} (gone)`;
              return option;
            }));
          }
          item.parent.value = row.parent;
        }
        for (const [word, field] of Object.entries(item.fields)) {
          const text = row[word] === null || row[word] === undefined ? "" : String(row[word]);
          if (field.value !== text) field.value = text;
        }
      });
      if (inUse && inUse !== document.activeElement && whole.contains(inUse)) inUse.focus();
    };
    whole.addEventListener("keydown", (event) => event.stopPropagation());
    model.on("change:value", draw);
    draw();
    return () => model.off("change:value", draw);
  },
};
