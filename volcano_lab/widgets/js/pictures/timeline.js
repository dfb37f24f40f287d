// A timeline: lanes of numbers that change by steps, marks for what happened, one axis of time.
import {h} from "../tree.js";
import {about, called, fit, number, sentences, wide, t} from "../words.js";
import {colorOf, end, line, middle, say, ticks} from "../marks.js";

const HEAD = 22, GAP = 10;

export const timeline = {
  draw(data, c) {
    const {width, spec, before} = c, high = spec.lane ?? 66, count = spec.lanes ?? data.lanes.length, highest = (lane) => Math.max(...lane.points.map(([, value]) => value), ...(lane.line ?? []).map(([, value]) => value)), shared = Math.max(1, ...data.lanes.map(highest)), most = (lane) => spec.most?.[lane.name] ?? shared;
    const column = Math.max(...data.lanes.map((lane) => wide(number(most(lane))))) + 10, room = width - column - 8, x = (time) => Math.round((column + room * Math.min(time, spec.until) / spec.until) * 10) / 10;
    const bottom = count * (high + HEAD + GAP) - GAP;
    const lanes = data.lanes.map((lane, i) => {
      const base = (i + 1) * (high + HEAD) + i * GAP, y = (value) => Math.round((base - high * Math.min(value, most(lane)) / most(lane)) * 10) / 10, color = colorOf(lane, i);
      const old = before?.lanes.find((other) => other.name === lane.name);
      return h("g", {key: lane.name, link: lane.name, tip: lane.note ? about(called(lane), lane.note) : called(lane)},
        say(column, base - high - 7, fit(called(lane), room * 0.6, 14, true), {class: "vp-strong"}), lane.note && say(width - 8, base - high - 7, fit(lane.note, room * 0.5), {class: "vp-soft", ...end}),
        [0, most(lane)].map((value) => [line(column, y(value), width - 8, y(value), {class: value ? "vp-grid" : "vp-line"}), say(column - 6, y(value) + 5, number(value), {class: "vp-soft", ...end})]),
        h("path", {key: "points", d: area(lane.points, spec.until, x, y), fill: color, "fill-opacity": 0.75}),
        old && JSON.stringify(old.points) !== JSON.stringify(lane.points) && h("path", {key: "ghost", d: outline(lasting(old.points), spec.until, x, y), class: "vp-ghost"}),
        lane.line?.length && h("path", {key: "line", d: outline(lane.line, spec.until, x, y), class: "vp-dashed"}),
        inRows(lane.marks ?? [], x).map(([time, text, row], k) => say(x(time), base - high + 15 + 14 * row, text, {key: `mark ${k}`, ...middle, class: "vp-strong vp-halo", tip: t("{0}, at {1} {2}: {3}", called(lane), number(time), spec.unit, text)})));
    });
    return {height: bottom + 30, kids: [lanes, (data.ticks ?? []).map((time, i) => line(x(time), bottom, x(time), bottom + 7, {key: `tick ${i}`, class: "vp-taken"})),
      ticks(spec.until, width < 400 ? 4 : 8).map((time) => say(x(time), bottom + 24, time ? number(time) : `0 ${spec.unit}`, {...middle, class: "vp-soft"}))],
      alt: sentences(data.lanes.map((lane) => t("{0}: from {1} to {2}, at most {3}{4}", called(lane), number(lane.points[0]?.[1] ?? 0), number(lane.points.at(-1)?.[1] ?? 0), number(Math.max(0, ...lane.points.map(([, value]) => value))), lane.note ? t(", ") + lane.note : "")))};
  },
};

// Marks that would touch stand below each other.
function inRows(marks, x) {
  const ends = [];
  return marks.map(([time, text]) => {
    const half = wide(text) / 2 + 1, free = ends.findIndex((end) => end <= x(time) - half), row = free < 0 ? ends.length : free;
    ends[row] = x(time) + half;
    return [time, text, row];
  });
}

// What comes and goes in the same moment has no width.
const lasting = (points) => points.filter(([time], i) => points[i + 1]?.[0] !== time);
const outline = (points, until, x, y) => points.map(([time, value], i) => i ? `H${x(time)}V${y(value)}` : `M${x(time)} ${y(value)}`).join("") + (points.length ? `H${x(until)}` : "");
const area = (points, until, x, y) => points.length ? `M${x(points[0][0])} ${y(0)}` + points.map(([time, value]) => `H${x(time)}V${y(value)}`).join("") + `H${x(until)}V${y(0)}Z` : "";
