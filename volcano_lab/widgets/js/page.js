// What every widget needs of the page around it: elements, light or dark, its own keys.

export function add(parent, tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  set(node, attributes);
  if (text !== "") node.textContent = text;
  parent.appendChild(node);
  return node;
}

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : value);
  }
}

export const write = (node, text) => { if (node.textContent !== String(text)) node.textContent = text; };

// A button; what it says is its name, and where that is a sign only, its label is.
export function button(parent, text, label, act, kind = "vp-button") {
  const made = add(parent, "button", {type: "button", class: kind || null, title: label, "aria-label": /[a-z]/i.test(text) ? null : label}, text);
  made.addEventListener("click", act);
  return made;
}

// Whether the page behind an element is dark: its theme says so, or its ground, or the system.
function dark(element) {
  const theme = document.body.getAttribute("data-jp-theme-light");
  if (theme) return theme === "false";
  for (let node = element; node; node = node.parentElement) {
    const [r, g, b, a = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (a > 0.5) return 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// Follow the page's theme; gives the function that stops following.
export function followTheme(root) {
  const look = () => root.isConnected && root.classList.toggle("vp-dark", dark(root.parentElement));
  const observer = new MutationObserver(look), system = matchMedia("(prefers-color-scheme: dark)");
  for (const node of [document.body, document.documentElement]) observer.observe(node, {attributes: true});
  system.addEventListener("change", look);
  look();
  requestAnimationFrame(look);
  setTimeout(look, 300);
  return () => { observer.disconnect(); system.removeEventListener("change", look); };
}

// Keys meant for a widget must not be Jupyter's shortcuts (arrows, a, b, d). JupyterLab looks after the widget: what stops
// here never comes to it; Notebook 7 looks before, and asks what has the focus.
export function ownKeys(root) {
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.addEventListener("keydown", (event) => event.stopPropagation());
}

let count = 0;
export const unique = (word) => `${word}${++count}-${Math.random().toString(36).slice(2, 7)}`;
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
