// The vocabulary of pictures, by the name under which Python asks for one; `pictures.py` says what data and options each takes.
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

export const PICTURES = {band, bars, channels, cluster, curves, statement, states, sums, table, timeline, tree, turns, votes};
