// A control whose value is a tree of queues: a list of {name, parent, number: …}. One queue at a time has its fields here;
// the picture of the tree chooses it, and drags it onto another parent.
import {add, button, write} from "./page.js";

const [QUEUE, NAME, PARENT] = "queue, name, parent".split(", ");

export function queueForm(parent, control, host) {
  const root = add(parent, "div", {class: "vp-form"}), top = control.root;
  let rows = control.start, chosen = control.choose ?? rows.find((row) => row.name !== top)?.name ?? top, last = chosen;
  const names = () => rows.map((row) => row.name), row = () => rows.find((one) => one.name === chosen) ?? rows[0];
  const send = (value) => { rows = value; host.move(control.name, value); show(); };
  const change = (word, value) => send(rows.map((one) => one.name === chosen ? {...one, [word]: value} : one));

  function field(label, tag, attributes, act) {
    const line = add(root, "div", {class: "vp-control vp-field"});
    add(line, "span", {class: "vp-label", "aria-hidden": "true"}, label);
    const made = add(line, tag, {"aria-label": label, ...attributes});
    made.addEventListener("change", () => act(made));
    return {line, made};
  }
  const which = field(QUEUE, "select", {}, (made) => { chosen = made.value; show(); host.chose(); });
  const named = field(NAME, "input", {type: "text", autocomplete: "off", spellcheck: "false"}, (made) => {
    const text = made.value.trim(), old = chosen;
    made.setCustomValidity(text !== old && names().includes(text) ? `There is a queue ${text} already; names must differ.` : "");
    if (!made.reportValidity() || !text || text === old) return show();
    chosen = text;
    send(rows.map((one) => ({...one, name: one.name === old ? text : one.name, parent: one.parent === old ? text : one.parent})));
  });
  const above = field(PARENT, "select", {}, (made) => change("parent", made.value));
  const numbers = control.fields.map(({word, label, about, least, ofJobs}) => {
    const made = field(label, "input", {type: "number", min: least, step: 1, placeholder: ofJobs ? "0" : "not set"}, (input) => change(word, input.value === "" ? (ofJobs ? 0 : null) : Number(input.value)));
    made.line.title = about ?? "";
    return {word, ofJobs, ...made};
  });
  const tools = add(root, "div", {class: "vp-row"});
  button(tools, "add below", "add a queue below this one", () => {
    let n = 1;
    while (names().includes(`queue-${n}`)) n += 1;
    const fresh = {...control.fresh, name: `queue-${n}`, parent: chosen};
    last = chosen;
    chosen = fresh.name;
    send([...rows, fresh]);
    named.made.focus();
  });
  const gone = button(tools, "remove", "remove this queue", () => {
    const old = row();
    chosen = names().includes(old.parent) ? old.parent : names().find((name) => name !== old.name);
    send(rows.filter((one) => one.name !== old.name));
    which.made.focus();
  });

  function options(select, list, value) {
    const wanted = list.includes(value) ? list : [...list, value];
    if (select.dataset.list !== wanted.join("\n")) {
      select.dataset.list = wanted.join("\n");
      select.replaceChildren(...wanted.map((name) => { const option = document.createElement("option"); option.value = name; write(option, list.includes(name) ? name : `${name} (gone)`); return option; }));
    }
    select.value = value;
  }
  function show() {
    if (!names().includes(chosen)) chosen = names().includes(last) ? last : names().find((name) => name !== top) ?? top;
    const now = row(), isTop = now.name === top;
    options(which.made, names(), now.name);
    if (document.activeElement !== named.made) named.made.value = now.name;
    named.made.disabled = above.made.disabled = gone.disabled = isTop;
    options(above.made, isTop ? [""] : names().filter((name) => name !== now.name), now.parent);
    for (const {word, ofJobs, made, line} of numbers) {
      const value = now[word] === null || now[word] === undefined ? "" : String(now[word]), first = control.start.find((one) => one.name === now.name);
      if (made.value !== value) made.value = value;
      made.disabled = isTop && (ofJobs || word === "weight");
      made.setAttribute("aria-label", `${made.getAttribute("aria-label").split(" of ")[0]} of queue ${now.name}`);
      line.classList.toggle("vp-off", Boolean(first) && (first[word] ?? null) !== (now[word] ?? null));
    }
    above.line.classList.toggle("vp-off", (control.start.find((one) => one.name === now.name)?.parent ?? now.parent) !== now.parent);
  }
  show();
  return {
    set(value) { rows = value; show(); },
    chosen: () => chosen,
    choose(name) { chosen = name; show(); },
    moveBelow(name, to) { if (name !== to) { chosen = name; change("parent", to); } },
  };
}
