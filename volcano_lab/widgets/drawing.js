// What several widgets draw with: elements that are made once, and then changed only where they differ.

const SVG = "http://www.w3.org/2000/svg";

function add(parent, tag, attributes = {}, text = "") {
  const drawn = parent.namespaceURI === SVG || tag === "svg";
  const node = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

// Black or white, whichever is read better on a colour such as #0072B2.
function ink(color) {
  const [r, g, b] = [1, 3, 5].map((i) => (parseInt(color.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

// Keys in the box around a widget are those of its sliders and menus; a notebook would take arrow keys away from them.
// It looks for the mark at the element that has the focus.
function ownKeys(el, tries = 50) {
  const whole = el.closest(".widget-vbox");
  if (whole) whole.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  else if (tries) setTimeout(() => ownKeys(el, tries - 1), 100); // not in the page yet
}

