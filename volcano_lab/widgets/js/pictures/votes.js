// Votes by tier: who names whom. One column a plugin, a gap between tiers; ✓ names the task, – keeps it, blank was not asked.
import {h} from "../tree.js";
import {about, fit, inRow, lines, sentences, wide, t} from "../words.js";
import {box, end, line, middle, say} from "../marks.js";

const ROW = 34, HEAD = 44, GAP = 28, SIGNS = {true: "✓", false: "–"};

export const votes = {
  draw(data, c) {
    const {width, spec} = c, rows = spec.rows ?? data.rows.length, count = data.tiers.reduce((sum, tier) => sum + tier.plugins.length, 0) || 1;
    const column = Math.min(Math.max(...data.rows.map((row) => wide(row.name, 14, true)), 40) + 12, width * 0.28);
    const step = Math.min((width - column - GAP * data.tiers.length) / count, 110), cell = step - 12;
    let x = column + 6;
    const tiers = data.tiers.map((tier, t) => {
      const from = x, columns = tier.plugins.map((plugin, i) => ({plugin, x: from + step * i}));
      x = from + step * columns.length + GAP;
      return {...tier, t, from, to: from + step * columns.length - 12, columns};
    });
    const heads = tiers.map((tier) => h("g", {key: `tier ${tier.t}`},
      say((tier.from + tier.to) / 2, 15, fit(tier.note ? about(tier.name, tier.note) : tier.name, tier.to - tier.from + GAP, 14, tier.decides), {...middle, class: tier.decides ? "vp-strong" : "vp-soft"}),
      tier.columns.map(({plugin, x}) => say(x + cell / 2, 36, fit(plugin.split("@")[0], step - 4), {...middle})),
      tier.t > 0 && line(tier.from - GAP / 2 - 6, 4, tier.from - GAP / 2 - 6, HEAD + rows * ROW, {class: "vp-apart"})));
    const asked = (tier, row) => tier.columns.some(({plugin}) => (row.votes[plugin] ?? null) !== null);
    const drawn = data.rows.map((row, j) => {
      const y = HEAD + j * ROW, decider = tiers.find((tier) => tier.decides);
      return h("g", {key: row.name, link: row.name, tip: told(row, tiers)},
        box(0, y - 2, width, ROW, {fill: "transparent"}),
        say(column - 4, y + 19, fit(row.name, column - 8, 14, row.left), {...end, class: row.left ? "vp-strong" : ""}),
        tiers.map((tier) => tier.columns.map(({plugin, x}) => {
          const vote = row.votes[plugin] ?? null, yes = vote?.text === undefined ? vote : vote.yes;
          const kind = vote === null ? "vp-unasked" : yes ? "vp-yes" : vote.text === undefined ? "vp-no" : yes === false ? "vp-against" : "vp-silent";
          return h("g", {key: `${tier.t} ${plugin}`}, box(x, y, cell, 28, {rx: 5, class: kind}),
            vote !== null && say(x + cell / 2, y + 19, fit(vote.text ?? SIGNS[vote], cell - 6), {...middle, class: yes ? "vp-on" : ""}));
        })),
        row.left && decider && asked(decider, row) && box(decider.from - 5, y - 3, decider.to - decider.from + 10, 34, {key: "left", rx: 8, class: "vp-chosen"}));
    });
    const foot = HEAD + rows * ROW + 18;
    // Where there is no row, there is room for more than one line.
    const words = data.rows.length ? [fit(data.verdict ?? "", width, 14, true)] : lines(data.verdict ?? "", width / 1.1);
    const verdict = words.map((text, i) => say(0, data.rows.length ? foot - 1 : 18 + 20 * i, text, {class: "vp-strong"}));
    return {height: foot + 4, kids: [heads, drawn, verdict],
      alt: sentences([data.verdict, ...data.rows.map((row) => told(row, tiers))])};
  },
};

const told = (row, tiers) => about(row.name, inRow(tiers.flatMap((tier) => tier.columns.map(({plugin}) => {
  const vote = row.votes[plugin] ?? null;
  return vote === null ? null : `${plugin.split("@")[0]} ${vote.text ?? (vote ? t("names it") : t("keeps it"))}`;
})).filter(Boolean)) || t("none was asked")) + (row.left ? t("; it is left") : "");
