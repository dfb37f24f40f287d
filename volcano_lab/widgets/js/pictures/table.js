// A table whose numbers say by how much they changed. It is HTML, live and still.
import {h} from "../tree.js";
import {about, number, t} from "../words.js";
import {change} from "../marks.js";

export const table = {
  html: true,
  draw(data, c) {
    const {spec, before} = c, columns = !spec.columns ? Object.keys(data[0] ?? {}).filter((name) => !["color", "link", "pick"].includes(name)).map((name) => [name, spec.heads?.[name] ?? name.replaceAll("_", " ")]) : Object.entries(spec.columns);
    const first = columns[0]?.[0], words = (name) => name === first || spec.texts === true || (spec.texts || []).includes(name), rows = spec.rows ?? data.length, long = new Set(spec.long ?? []);
    const cell = (row, old, [name], i) => {
      const value = row[name], sign = {"✓": " vp-yes", "✗": " vp-no"}[`${value}`[0]] ?? "", difference = i && old ? change(value, old[name]) : "", turned = i && old && typeof value !== "number" && old[name] !== value;
      return h(i ? "td" : "th", {key: name, ...(i ? {} : {scope: "row"}), class: `${words(name) ? "vp-text" : ""}${turned ? " vp-turned" : ""}${long.has(name) ? " vp-long" : ""}${sign}` || null, tip: long.has(name) && value ? value : null},
        !i && row.color && h("span", {class: "vp-dot", style: `background:${row.color}`}), h("span", {key: "value"}, number(value)), difference && h("span", {key: "delta", class: "vp-delta"}, " ", difference));
    };
    const body = data.map((row, j) => {
      const old = before?.find((other) => other[first] === row[first]);
      return h("tr", {key: `${row[first]} ${j}`, link: row.link ?? row[first], act: row.pick ? {pick: row.pick} : null}, columns.map((column, i) => cell(row, old, column, i)));
    });
    for (let j = data.length; j < rows; j += 1) body.push(h("tr", {key: `empty ${j}`, "aria-hidden": "true"}, columns.map((column, i) => h("td", {}, i ? "" : "\u00a0"))));
    return {kids: [h("table", {class: "vp-table"}, h("thead", {}, h("tr", {}, columns.map(([name, text]) => h("th", {key: name, scope: "col", class: words(name) ? "vp-text" : null}, text)))), h("tbody", {}, body))],
      alt: data.map((row) => about(row[columns[0][0]], columns.slice(1).map(([name, text]) => `${text} ${number(row[name])}`).join(" "))).join(t("; ")) + t(". ").trimEnd()};
  },
};
