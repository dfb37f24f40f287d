// A question, or where a reader stands in a lesson. It is drawn once and follows `state`; what is answered goes to the
// kernel as a message. The status stays in place, so that screen readers hear its changes.
import {t} from "../../widgets/js/words.js";

const PATIENCE = 6000; // milliseconds until a reader is told that nobody answers
const SLOW = 300; // and that an answer takes a while
const NOBODY = t("No answer yet. Is the kernel still running? Run the cell again.");

// JupyterLab and Notebook leave the keys to what has the focus if it says so itself; a card does not let them out.
const OWN_KEYS = {"data-lm-suppress-shortcuts": "true"};

function add(parent, tag, attributes = {}, html = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (html) node.innerHTML = html;
  parent.append(node);
  return node;
}

function set(node, html) {
  if (node.innerHTML !== html) node.innerHTML = html;
}

function question(root, model) {
  const name = `vl-${Math.random().toString(36).slice(2)}`; // a radio group of its own for each view
  const {tag, text, options, button, gives_up, closed, state: given} = model.get("state");
  const card = add(root, "div", {class: "vl-card", role: "group", "aria-labelledby": name});
  add(card, "span", {class: "vl-tag"}, tag);
  add(card, "div", {class: "vl-text", id: name}, text);

  const held = closed ? add(card, "details", {class: "vl-closed"}) : card;
  if (closed) {
    add(held, "summary", OWN_KEYS, closed);
    held.open = Boolean(given);
  }
  const fields = add(held, "div", options.length
    ? {class: "vl-options", role: "radiogroup", "aria-labelledby": name} : {class: "vl-field"});
  const inputs = options.map(([value, html]) => {
    const label = add(fields, "label", {class: "vl-option"});
    const input = add(label, "input", {type: "radio", name, value, ...OWN_KEYS});
    add(label, "span", {class: "vl-mark"});
    add(label, "span", {}, html);
    return input;
  });
  const typed = options.length ? null
    : add(fields, "input", {type: "text", autocomplete: "off", spellcheck: "false", "aria-labelledby": name,
      ...OWN_KEYS});
  const bar = options.length ? add(held, "div", {class: "vl-bar"}) : fields;
  const send = add(bar, "button", {type: "button", class: "vl-button", ...OWN_KEYS}, button);
  const giveUp = gives_up ? add(bar, "button", {type: "button", class: "vl-link", ...OWN_KEYS}, t("show me")) : null;
  const status = add(card, "div", {class: "vl-status", role: "status", tabindex: "-1", ...OWN_KEYS});
  const result = add(card, "div", {class: "vl-result"});

  let waiting = 0, slow = 0;
  const rest = () => { clearTimeout(waiting); clearTimeout(slow); };
  const tell = (message) => {
    rest();
    waiting = setTimeout(() => set(status, NOBODY), PATIENCE);
    slow = setTimeout(() => set(status, t("running ")), SLOW);
    model.send(message);
  };
  const answer = () => tell({
    answer: typed ? typed.value : inputs.find((input) => input.checked)?.value ?? "",
  });
  send.addEventListener("click", answer);
  giveUp?.addEventListener("click", () => tell({show: true}));
  card.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && event.target.tagName === "INPUT") {
      event.preventDefault();
      if (!send.hidden) answer();
    }
  });

  let shown = "[]", settled = false;
  return () => {
    rest();
    const state = model.get("state");
    const had = root.contains(document.activeElement);
    root.dataset.state = state.state;
    inputs.forEach((input, place) => {
      const mark = state.options[place][2];
      input.checked = input.value === state.value;
      input.disabled = state.settled;
      input.parentNode.dataset.mark = mark;
      set(input.nextElementSibling, {right: "✓", wrong: "✗"}[mark] ?? "");
    });
    if (typed) {
      if (document.activeElement !== typed) typed.value = state.value;
      typed.readOnly = state.settled;
      typed.setAttribute("aria-invalid", state.state === "try again");
    }
    send.hidden = state.settled;
    if (giveUp) giveUp.hidden = state.settled;
    set(status, state.says && `<span class="vl-sign" role="img" aria-label="${state.spoken}">${state.sign}</span>`
      + `<span>${state.says}</span>`);
    const parts = JSON.stringify([state.result, !state.settled && state.fold]);
    if (parts !== shown) {
      shown = parts;
      reveal(result, state, model);
    }
    if (had && state.settled && !settled) { // what had the focus is gone: it is the next cell's, as after running one
      for (const next of [status, root.closest(".jp-Cell")?.nextElementSibling]) next?.focus({preventScroll: true});
    }
    settled = state.settled;
  };
}

// What came out: HTML, or another widget of the same page; before the answer a closed fold in its place.
async function reveal(place, state, model) {
  place.replaceChildren();
  place.classList.toggle("vl-fold", !state.settled && Boolean(state.fold));
  if (!state.settled) {
    place.textContent = state.fold;
    return;
  }
  for (const part of state.result) {
    const box = add(place, "div", {class: "vl-part"});
    try {
      if (!part.model) throw new Error("no widget");
      const child = await model.widget_manager.get_model(part.model.slice("IPY_MODEL_".length));
      box.append((await model.widget_manager.create_view(child)).el);
    } catch {
      box.innerHTML = part.html;
    }
  }
}

// How many checks of a lesson are done, as short bars and in words.
function standing(root, model) {
  const line = add(root, "div", {class: "vl-standing"});
  const dots = add(line, "span", {class: "vl-dots", "aria-hidden": "true"});
  const words = add(line, "span", {role: "status"});
  const again = add(line, "button", {type: "button", class: "vl-link", ...OWN_KEYS}, t("start again"));
  again.addEventListener("click", () => model.send({forget: true}));
  return () => {
    const {done, checks, says} = model.get("state");
    set(dots, Array.from({length: checks}, (_, place) =>
      `<i class="${place < done ? "vl-done" : place === done ? "vl-next" : ""}"></i>`).join(""));
    set(words, says);
    again.hidden = !done;
  };
}

// The code of a cell, to be changed and run where cells cannot be edited.
function field(root, model) {
  const card = add(root, "div", {class: "vl-card", role: "group", "aria-label": t("Your code")});
  const area = add(card, "textarea", {class: "vl-code", spellcheck: "false", autocapitalize: "off", "aria-label": t("Your code"), ...OWN_KEYS});
  const bar = add(card, "div", {class: "vl-bar"});
  const send = add(bar, "button", {type: "button", class: "vl-button", ...OWN_KEYS}, t("Run"));
  const status = add(bar, "span", {class: "vl-tag", role: "status"}, t("Change the code, and press Run or Shift+Enter"));
  const result = add(card, "div", {class: "vl-result", "aria-live": "polite"});
  const fit = () => { area.rows = area.value.split("\n").length + 1; };

  let waiting = 0;
  const run = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => set(status, NOBODY), 2 * PATIENCE); // code may take ten seconds
    set(status, t("running "));
    model.send({run: area.value});
  };
  send.addEventListener("click", run);
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (event.shiftKey || event.ctrlKey || event.metaKey) return run();
    const indent = area.value.slice(0, area.selectionStart).split("\n").at(-1).match(/^ */)[0];
    area.setRangeText(`\n${indent}`, area.selectionStart, area.selectionEnd, "end");
    fit();
  });

  area.value = model.get("state").code;
  fit();
  return () => {
    clearTimeout(waiting);
    const {runs, result: parts} = model.get("state");
    if (!runs) return;
    set(status, "");
    reveal(result, {settled: true, result: parts}, model);
  };
}

// What is the same with and without a kernel.
function page(root, model) {
  root.classList.add("vl-page");
  return () => set(root, model.get("state").html);
}

export default {
  render({model, el}) {
    const root = add(el, "div", {class: "vl-live"});
    const show = {field, page, question, standing}[model.get("state").kind](root, model);
    const trouble = add(root, "div", {class: "vl-trouble", role: "status"});
    const draw = () => {
      show();
      trouble.textContent = model.get("state").trouble ?? "";
    };
    model.on("change:state", draw);
    draw();
    return () => model.off("change:state", draw);
  },
};
