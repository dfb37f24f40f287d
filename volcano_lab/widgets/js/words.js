// Numbers and names as texts, and how wide a text is: estimated by a wide system font, so that a still is the same on every
// machine.

// A text in the page's language, with what stands for {0}, {1}, … put in; TEXTS is that language's catalogue.
export const t = (text, ...facts) => (TEXTS[text] ?? text).replace(/\{(\d)\}/g, (_, place) => facts[place]);

export function number(value) {
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (value === null || value === undefined) return "–";
  return String(typeof value === "number" ? Number(value.toFixed(Math.abs(value) < 2 ? 2 : 1)) : value);
}

// What is read aloud, with the marks of the page's language: a title or a verdict as a sentence, several as one text, a
// name and what is said of it, and what stands in a row.
export const sentence = (text) => (!text ? "" : /[。？！]$/.test(text) ? text : /[.?!]$/.test(text) ? `${text} ` : text + t(". "));
export const sentences = (texts) => texts.map(sentence).join("").trimEnd();
export const about = (name, text) => t("{0}: {1}", name, text);
export const inRow = (texts) => texts.join(t(", "));

// A row's label, or its name; a queue with the one above it.
export const inTree = (row) => row.parent ? t("{0} below {1}", row.queue, row.parent) : row.queue;
export const called = (row) => row.label ?? row.name;

// 12 GiB as "12 Gi", 3 as "3 CPUs", and no unit where there is none.
export const amount = (value, unit) => number(value) + (unit ? ` ${value === 1 ? unit.replace(/(?<=.)s$/, "") : unit}` : "");

const NARROW = new Set("iIjlt.,:;'|!()[]f ‹›·"), WIDE = new Set("mwMWØ@%—…→▲▼◆"), DIGIT = /[0-9+<>=−–-]/;

export function wide(text, size = 14, bold = false) {
  let sum = 0;
  for (const sign of String(text))
    sum += NARROW.has(sign) ? 0.35 : WIDE.has(sign) ? 0.95 : DIGIT.test(sign) ? 0.64 : sign > "⺀" ? 1 : sign === sign.toLowerCase() ? 0.6 : 0.7;
  return sum * size * (bold ? 1.08 : 1);
}

// A text that is at most so wide; what is too long ends with "…".
export function fit(text, width, size = 14, bold = false) {
  text = String(text);
  if (wide(text, size, bold) <= width) return text;
  while (text && wide(text + "…", size, bold) > width) text = text.slice(0, -1);
  return text ? text.trimEnd() + "…" : "";
}

// A word with the space after it; a Chinese sign is a word, with the mark after it, that may not begin a line.
const PIECE = /[⺀-鿿][，。；：！？、）」]*\s?|[^\s⺀-鿿]+[，。；：！？、）」]*\s?/g;

export function lines(text, width, size = 14) {
  const found = [""];
  for (const word of String(text).match(PIECE) ?? []) {
    const longer = found.at(-1) + word;
    if (wide(longer.trimEnd(), size) <= width || !found.at(-1)) found[found.length - 1] = longer;
    else { found[found.length - 1] = found.at(-1).trimEnd(); found.push(word); }
  }
  return found;
}
