// The vocabulary of pictures, by the name under which Python asks for one; `pictures.py` has the data and options of each.
import {band} from "./pictures/band.js";
import {bars} from "./pictures/bars.js";
import {channels} from "./pictures/channels.js";
import {cluster} from "./pictures/cluster.js";
import {curves} from "./pictures/curves.js";
import {statement} from "./pictures/statement.js";
import {states} from "./pictures/states.js";
import {sums} from "./pictures/sums.js";
import {table} from "./pictures/table.js";
import {timeline} from "./pictures/timeline.js";
import {tree} from "./pictures/tree.js";
import {turns} from "./pictures/turns.js";
import {votes} from "./pictures/votes.js";
import {say} from "./marks.js";
import {about, fit} from "./words.js";

const PICTURES = {band, bars, channels, cluster, curves, statement, states, sums, table, timeline, tree, turns, votes};

// A picture of moments plays them: `data` has each, `spec.moments` its words; at rest the last one stands.
export function pictureOf(kind, {moments}) {
  const picture = PICTURES[kind], last = moments?.length - 1, near = (at) => Math.ceil(at ?? last);
  return moments ? {steps: () => last, step: (_, at) => moments[near(at)], draw(data, c) {
    const i = near(c.at), {height, kids, alt} = picture.draw(data[i], {...c, before: c.at ? data[i - 1] : null});
    return {height: height + 26, kids: [kids, say(0, height + 18, fit(moments[i], c.width, 14, true), {class: "vp-strong"})], alt: about(moments[i], alt)};
  }} : picture;
}
