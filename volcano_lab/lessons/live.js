// A question with its choices or its field, and a status below it that stays in place so that readers of screens hear
// its changes; or a status alone.

let count = 0;

// Keys pressed in a field answer the question and are no commands of JupyterLab, which asks the field itself for this.
const OWN_KEYS = {"data-lm-suppress-shortcuts": "true"};

function add(parent, tag, attributes = {}, html = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (html) node.innerHTML = html;
  parent.appendChild(node);
  return node;
}

function question(root, model) {
  const group = `vl-question-${++count}`;
  const fields = add(root, "fieldset");
  add(fields, "legend", {}, `<b>${model.get("head")}</b>: ${model.get("text")}`);
  const send = (value) => { model.set("value", value); model.save_changes(); };
  const options = model.get("options");
  if (options.length) {
    const inputs = options.map(([value, html]) => {
      const label = add(fields, "label");
      const input = add(label, "input", {type: "radio", name: group, value, ...OWN_KEYS});
      add(label, "span", {}, html);
      input.addEventListener("change", () => send(value));
      return input;
    });
    return () => { for (const input of inputs) input.checked = input.value === model.get("value"); };
  }
  const label = add(fields, "label", {}, "<span>Your answer</span>");
  const input = add(label, "input", {type: "text", autocomplete: "off", ...OWN_KEYS});
  input.addEventListener("change", () => send(input.value));  // Enter, or leaving the field
  return () => { if (document.activeElement !== input) input.value = model.get("value"); };
}

export default {
  render({model, el}) {
    const root = add(el, "div", {class: "vl-live"});
    const fill = model.get("kind") === "question" ? question(root, model) : () => {};
    const status = add(root, "div", {class: "vl-said", role: "status", "aria-live": "polite"});
    const draw = () => {
      fill();
      if (status.innerHTML !== model.get("said")) status.innerHTML = model.get("said");
      root.dataset.state = model.get("state");
    };
    model.on("change", draw);
    draw();
    return () => model.off("change", draw);
  },
};
