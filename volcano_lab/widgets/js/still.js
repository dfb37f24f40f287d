// A still: the picture as one card, in light and in dark, for pages that have no kernel and run no scripts.
import {box, say} from "./marks.js";
import {pictureOf} from "./pictures.js";
import {h, markup} from "./tree.js";
import {fit, lines, sentence} from "./words.js";

const PAD = 14;

// What Python calls: JSON in, JSON out.
export function drawStill(text) {
  try { return JSON.stringify(still(...JSON.parse(text))); } catch (error) { return JSON.stringify({error: String(error.message ?? error)}); }
}

function still(kind, {title, legend, spec, data}, width, css) {
  const picture = pictureOf(kind, spec), inner = width - 2 * PAD, {height, kids, alt} = picture.draw(data, {spec, width: inner, uid: "s"});
  if (picture.html) return {html: kids.map(plain).map(markup).join(""), alt: `${sentence(title)}${alt}`};
  const text = legend ? lines(legend, inner, 14) : [], top = title ? 34 : PAD, whole = Math.ceil(top + height + (text.length ? text.length * 20 + 8 : 0) + PAD - 2);
  const svg = h("svg", {xmlns: "http://www.w3.org/2000/svg", width, height: whole, viewBox: `0 0 ${width} ${whole}`, class: "vp"},
    h("style", {}, "CSS"), box(0.5, 0.5, width - 1, whole - 1, {rx: 8, class: "vp-card"}),
    title && say(PAD, 23, fit(title, inner, 15, true), {class: "vp-title"}),
    h("g", {transform: `translate(${PAD} ${top})`}, kids),
    text.map((words, i) => say(PAD, top + height + 20 + i * 20, words, {class: "vp-soft"})));
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
