// The controls of a lab: name, value in words, and a mark where it differs from the start.
// `host.move(name, value, more)` takes a value; `more` says that it goes on with the move before.
import {add, set, write} from "./page.js";
import {REPEAT, follow} from "./touch.js";
import {amount, inRow, t} from "./words.js";

export function controlsOf(parent, fixed, host) {
  const made = {}, groups = new Map();
  for (const control of fixed.controls) {
    if (control.kind === "handle") { made[control.name] = KINDS.handle(null, {...control, full: inRow([control.label, control.group])}, host); continue; }
    const title = control.group ?? "";
    if (!groups.has(title)) {
      const group = add(parent, "div", {class: "vp-group", role: "group", "aria-label": title || fixed.title});
      if (title) {
        const head = add(group, "h5");
        if (control.color) add(head, "span", {class: "vp-dot", style: `background:${control.color}`});
        head.append(title);
        group.dataset.link = control.link ?? "";
      }
      groups.set(title, group);
    }
    made[control.name] = KINDS[control.kind](groups.get(title), {...control, full: title ? inRow([control.label, title]) : control.label}, host);
  }
  return made;
}

const inWords = (control, value) => control.options ? control.labels[control.options.indexOf(value)] ?? String(value)
  : amount(value, control.unit);
const ended = (control, value, least, host) => host.hint(t(least ? "{0}: {1} is the smallest." : "{0}: {1} is the largest.", control.full, inWords(control, value)), true);

function labelled(parent, control, kind = "") {
  const root = add(parent, "div", {class: `vp-control ${kind}`, title: control.about || null});
  add(root, "span", {class: "vp-label", "aria-hidden": "true"}, control.label);
  const off = (value) => root.classList.toggle("vp-off", JSON.stringify(value) !== JSON.stringify(control.start));
  return [root, off];
}

function slider(parent, control, host) {
  const [root, off] = labelled(parent, control), {least, most, step, options} = control;
  const last = options ? options.length - 1 : Math.round((most - least) / step), decimals = (String(step).split(/[.]/)[1] ?? "").length;
  const valueAt = (i) => options ? options[i] : Number((least + i * step).toFixed(decimals)), placeOf = (value) => options ? Math.max(0, options.indexOf(value)) : Math.round((value - least) / step);
  const track = add(root, "div", {class: "vp-track"}), fill = add(track, "div", {class: "vp-fill"}), start = add(track, "div", {class: "vp-start"});
  const handle = add(track, "div", {class: "noUi-handle", role: "slider", tabindex: 0, "aria-label": control.full, "aria-orientation": "horizontal",
    "aria-valuemin": options ? 0 : least, "aria-valuemax": options ? last : most});
  const shown = add(root, "output", {"aria-hidden": "true"}), percent = (i) => `${last ? 100 * i / last : 0}%`;
  start.style.left = percent(placeOf(control.start));
  shown.style.minWidth = `${Math.max(...(options ?? [least, most]).map((value) => inWords(control, value).length))}ch`;  // or a move would shift what stands beside it
  root.title = control.about || t("{0}: {1} to {2}, at first {3}", control.full, inWords(control, valueAt(0)), inWords(control, valueAt(last)), inWords(control, control.start));
  let at = 0, pressed = -REPEAT;
  function put(value) {
    at = placeOf(value);
    handle.style.left = fill.style.width = percent(at);
    set(handle, {"aria-valuenow": options ? at : value, "aria-valuetext": inWords(control, value)});
    write(shown, inWords(control, value));
    off(value);
  }
  function go(i, more) {
    i = Math.max(0, Math.min(last, Math.round(i)));
    if (i === at) return false;
    put(valueAt(i));
    host.move(control.name, valueAt(i), more);
    return true;
  }
  handle.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.round(last / 10));
    const to = {ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page, PageDown: at - page, Home: 0, End: last}[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (go(to, event.timeStamp - pressed < REPEAT)) pressed = event.timeStamp;
    else ended(control, valueAt(at), !at, host);
  });
  handle.addEventListener("blur", () => { pressed = -REPEAT; });
  track.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const {left, width} = track.getBoundingClientRect();
    let more = false;
    const move = (now) => { more = go((now.clientX - left) / width * last, more) || more; };
    follow(event, move);
    move(event);
    handle.focus();
    event.preventDefault();
  });
  put(control.start);
  return {set: put, pull: (value, more) => go(options ? value : (value - least) / step, more)};
}

function choice(parent, control, host) {
  const long = Math.max(...control.labels.map((label) => label.length)) > 14, [root, off] = labelled(parent, control, long ? "vp-field vp-tall" : "vp-field");
  const field = add(root, "select", {"aria-label": control.full});
  control.labels.forEach((label, i) => add(field, "option", {value: i}, label));
  field.addEventListener("change", () => { off(control.options[field.value]); host.move(control.name, control.options[field.value]); });
  return {set: (value) => { field.value = control.options.indexOf(value); off(value); }};
}

function toggle(parent, control, host) {
  const [root, off] = labelled(parent, control, "vp-field"), field = add(root, "input", {type: "checkbox", role: "switch", "aria-label": control.full});
  field.addEventListener("change", () => { off(field.checked); host.move(control.name, field.checked); });
  return {set: (value) => { field.checked = value; off(value); }};
}

// A handle stands in a picture; here are its value and its bounds.
function handle(_, control, host) {
  let at = control.start;
  const {least, most, step, options} = control;
  const pull = (value, more) => {
    const to = options ? value : Math.max(least, Math.min(most, Number((least + Math.round((value - least) / step) * step).toFixed(6))));
    if (to === at) return false;
    at = to;
    host.move(control.name, to, more);
    return true;
  };
  return {set: (value) => { at = value; }, pull, by: (steps, more) => pull(at + steps * step, more) || ended(control, at, at === least, host), now: () => ({...control, value: at})};
}

const KINDS = {handle, slider, choice, switch: toggle};
