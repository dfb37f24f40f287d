// A still: the picture as one card, in light and in dark, for pages that have no kernel and run no scripts.
import {PICTURES} from "./pictures.js";
import {h, markup} from "./tree.js";
import {fit, lines, sentence} from "./words.js";

const PAD = 14;

// What Python calls: JSON in, JSON out.
export function drawStill(text) {
  try { return JSON.stringify(still(...JSON.parse(text))); } catch (error) { return JSON.stringify({error: String(error.message ?? error)}); }
}

function still(kind, {title, legend, spec, data}, width, css) {
  const picture = PICTURES[kind], inner = width - 2 * PAD, {height, kids, alt} = picture.draw(data, {spec, width: inner, uid: "s"});
  if (picture.html) return {html: kids.map(plain).map(markup).join(""), alt: `${sentence(title)}${alt}`};
  const text = legend ? lines(legend, inner, 14) : [], top = title ? 34 : PAD, whole = top + height + (text.length ? text.length * 20 + 8 : 0) + PAD - 2;
  const svg = h("svg", {xmlns: "http://www.w3.org/2000/svg", width, height: Math.ceil(whole), viewBox: `0 0 ${width} ${Math.ceil(whole)}`, class: "vp"},
    h("style", {}, "CSS"), h("rect", {x: 0.5, y: 0.5, width: width - 1, height: Math.ceil(whole) - 1, rx: 8, class: "vp-card"}),
    title && h("text", {x: PAD, y: 23, class: "vp-title"}, fit(title, inner, 15, true)),
    h("g", {transform: `translate(${PAD} ${top})`}, kids),
    text.map((words, i) => h("text", {x: PAD, y: top + height + 20 + i * 20, class: "vp-soft"}, words)));
  return {svg: markup(svg).replace("CSS", () => css), alt: `${sentence(title)}${legend ? sentence(alt) + legend : alt}`};
}

// A table's styles stand in its cells: a page that has no kernel takes no others.
const STYLES = {table: "border-collapse: collapse; font-size: 14px", th: "padding: 3px 10px; font-weight: 600; text-align: ", td: "padding: 3px 10px; text-align: ", span: ""};

function plain(node) {
  if (typeof node !== "object") return node;
  const side = node.tag.startsWith("t") && node.tag.length === 2 ? ((node.props.class ?? "").includes("vp-text") ? "left" : "right") : "";
  const style = node.props.style ? `${node.props.style}; display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 7px` : (STYLES[node.tag] ?? "") + side;
  return {...node, props: {...node.props, style: node.tag in STYLES && style ? style : null}, kids: node.kids.map(plain)};
}
