// A picture is a tree of plain objects that a pure function makes from plain data: `patch` changes what differs in the
// document, in Python `markup` makes it a text. So there is one drawing of a still and of the live picture.

// Props of a page, not of a still: `key` finds the same part after a move, `tip` are the words of hover and focus, `link`
// lights up with all parts of its name, `grip` can be dragged, `act` is done on click, Enter, space, `drop` takes a grip.
const PAGE_ONLY = new Set(["key", "tip", "link", "grip", "act", "drop"]);
const HTML = new Set(["span", "td", "th"]);  // they have an end even where they are empty
const SVG = "http://www.w3.org/2000/svg";

export function h(tag, props, ...kids) {
  return {tag, props: props ?? {}, kids: kids.flat(Infinity).filter((kid) => kid || kid === 0)};
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[sign]);
const written = (value) => typeof value === "number" ? Math.round(value * 100) / 100 : value;
const given = (props) => Object.entries(props).filter(([name, value]) => !PAGE_ONLY.has(name) && value !== undefined && value !== null && value !== false);

export function markup(node) {
  if (typeof node !== "object") return escaped(node);
  const props = given(node.props).map(([name, value]) => ` ${name}="${escaped(written(value))}"`).join("");
  const kids = node.kids.map(markup).join("");
  return kids || HTML.has(node.tag) ? `<${node.tag}${props}>${kids}</${node.tag}>` : `<${node.tag}${props}/>`;
}

function made(node, parent) {
  if (typeof node !== "object") return document.createTextNode(node);
  const drawn = node.tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  return drawn ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
}

// Bring `trees` below `parent`. Parts are found again by key, or else by tag and place among those of that tag.
export function patch(parent, trees) {
  if (!trees.length && !parent.vpKids) return;
  const known = parent.vpKids ?? new Map(), kept = new Map(), counts = {};
  const tags = trees.map((node) => typeof node === "object" ? node.tag : "#text");
  const names = trees.map((node, i) => `${tags[i]} ${node.props?.key ?? `#${counts[tags[i]] = (counts[tags[i]] ?? 0) + 1}`}`);
  const wanted = new Set(names);  // what goes, goes first: an element that is moved loses the focus
  for (const [name, gone] of known) if (!wanted.has(name)) gone.remove();
  let place = parent.firstChild;
  for (const [i, node] of trees.entries()) {
    const tag = tags[i], element = known.get(names[i]) ?? made(node, parent);
    kept.set(names[i], element);
    if (element !== place) parent.insertBefore(element, place);
    else place = place.nextSibling;
    if (tag === "#text") { if (element.data !== String(node)) element.data = node; } else fill(element, node);
  }
  parent.vpKids = kept;
}

// Marks by which the page finds parts; an empty one is there and says no more.
const MARKS = {tip: "data-tip", link: "data-link", grip: "data-grip", act: "data-act", drop: "data-drop"};
const marked = (name, value) => name === "grip" || name === "act" ? "" : value;

// What was written last is kept beside the element: comparing with it is faster than asking the document.
function fill(element, node) {
  const before = element.vpWritten ?? {}, now = {};
  for (const name in node.props) {
    const value = node.props[name];
    if (value === undefined || value === null || value === false || name === "key") continue;
    if (name in MARKS) now[MARKS[name]] = String(marked(name, value));
    else now[name] = String(written(value));
  }
  for (const name in before) if (!(name in now)) element.removeAttribute(name);
  for (const name in now) if (now[name] !== before[name]) element.setAttribute(name, now[name]);
  element.vpWritten = now;
  element.vp = node.props;
  patch(element, node.kids);
}
