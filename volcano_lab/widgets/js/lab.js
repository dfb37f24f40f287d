// A lab: controls beside a board of pictures. A move is one message and one answer; meanwhile only the latest move waits.
import {controlsOf} from "./controls.js";
import {add, button, followTheme, ownKeys, set, unique, write} from "./page.js";
import {panel} from "./panel.js";
import {touchable} from "./touch.js";
import {t} from "./words.js";

const PATIENCE = 4000;  // ms to wait: the kernel was restarted, say

export function lab(model, el) {
  const fixed = model.get("fixed"), id = unique("lab");
  const root = add(el, "div", {class: "vp vp-lab", role: "group", "aria-labelledby": `${id}-title`});
  const unfollow = followTheme(root);
  ownKeys(root);
  let asked = model.get("shown").n ?? 0, waits = false, later = null, since = 0, board = null, before = null, values = {};

  function send(what) {
    if (waits && performance.now() - since < PATIENCE) {
      later = later?.values && what.values ? {values: {...later.values, ...what.values}, more: later.more && what.more} : what;
      return;
    }
    asked += 1;
    waits = true;
    since = performance.now();
    model.set("ask", {...what, n: asked});
    model.save_changes();
  }

  const bar = add(root, "div", {class: "vp-bar"});
  add(bar, "h4", {id: `${id}-title`}, fixed.title);
  const acts = add(bar, "span", {class: "vp-acts"});
  const undo = button(acts, t("↶ undo"), t("undo the last move (Ctrl+Z)"), () => send({undo: 1}));
  const reset = button(acts, t("reset"), t("all controls as they were at first"), () => send({reset: 1}));
  const copy = copyMenu(acts, fixed, {send, values: () => values});

  const one = fixed.controls.some((control) => control.kind === "handle");
  const onTop = one ? add(root, "div", {class: "vp-top"}) : null;
  const grid = add(root, "div", {class: `vp-grid2${one ? " vp-one" : ""}`});
  const left = add(grid, "div", {class: "vp-controls"}), right = add(grid, "div", {class: "vp-board"});
  const tasks = fixed.tasks.length ? add(left, "div", {class: "vp-tasks", role: "group", "aria-label": t("tasks")}) : null;
  if (tasks) add(tasks, "span", {class: "vp-soft"}, t("tasks"));
  const chips = fixed.tasks.map((task, i) => {
    const chip = button(tasks, "", null, () => send({task: i}), "vp-button vp-task");
    chip.title = task.text;
    const tick = add(chip, "span", {class: "vp-tick", "aria-hidden": "true"});
    chip.append(task.name);
    const told = add(chip, "span", {class: "vp-hidden"});
    return {chip, tick, told};
  });
  const said = add(onTop ?? right, "div", {class: "vp-said", role: "status", "aria-live": "polite"});
  const shownCode = add(root, "div", {class: "vp-shown", hidden: true});

  const blink = (on) => right.querySelectorAll("svg, table").forEach((drawn) => drawn.classList.toggle("vp-end", on));
  const host = {
    move(name, value, more = false) { values = {...values, [name]: value}; send({values: {[name]: value}, more}); },
    pull: (name, value, more) => controls[name]?.pull?.(value, more),
    step: (name, steps, more) => controls[name]?.by?.(steps, more),
    control: (name) => controls[name]?.now?.(),
    hint(text, more) {
      if (more) { blink(true); requestAnimationFrame(() => setTimeout(blink, 120, false)); } // answered at an end, and seen
      if (text) tell(said, more ? [...model.get("shown").said, text] : [text]); else update();
    },
    act(what) {
      if (what.pick !== undefined) panels.forEach((one) => one.pick(what.pick));
      else if (what.move !== undefined) controls[`queue/${what.move}.parent`]?.pull(what.to);
      if (what.ask !== undefined) send({why: what.ask});
    },
  };
  const controls = controlsOf(left, fixed, host);
  const panels = fixed.panels.map((spec) => panel(right, {...spec, answers: spec.spec.asks && t("Click a pod or a node: why is it so?")}, host));
  touchable(root, host);

  function update() {
    const shown = model.get("shown");
    if (shown.n >= asked || performance.now() - since > PATIENCE) waits = false;
    if (shown.board !== board) {
      before = {last: board, keep: before, none: null}[shown.ghost] ?? null;
      board = shown.board;
    }
    if (!waits && !later) {
      values = shown.values;
      for (const name in controls) controls[name].set(values[name]);
    }
    panels.forEach((panel, i) => { const {key} = fixed.panels[i]; if (key in board) panel.update(board[key], before?.[key] ?? null); });
    right.classList.toggle("vp-stale", Boolean(shown.error));
    said.classList.toggle("vp-wrong", Boolean(shown.error));
    chips.forEach(({chip, tick, told}, i) => {
      set(chip, {"aria-pressed": String(shown.task === i), "data-done": shown.done[i] ? "" : null});
      write(tick, shown.done[i] ? "✓" : "");
      write(told, shown.done[i] ? t(" (done)") : "");
    });
    undo.disabled = !shown.undo;
    reset.disabled = !shown.moved;
    if (shown.why) panels.forEach((panel) => panel.answer && write(panel.answer, shown.why));
    copy.answered(shown, shownCode);
    if (shown.why && one) tell(said, [`**${t("why here?")}** ${shown.why}`]);
    else tell(said, shown.said, shown.task >= 0 && fixed.tasks[shown.task].shows && !shown.done[shown.task] && (() => send({show: shown.task})));
    if (!waits && later) { const next = later; later = null; send(next); }
  }

  root.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (!undo.disabled) send({undo: 1});
    }
  });
  model.on("change:shown", update);
  update();
  copy.fromLink();
  return () => { model.off("change:shown", update); unfollow(); panels.forEach((one) => one.stop()); };
}

// Sentences with **bold** words, and a button to a task's end.
function tell(root, sentences, show) {
  const text = sentences.join(" ");
  if (root.dataset.text === text + Boolean(show)) return;
  root.dataset.text = text + Boolean(show);
  root.replaceChildren();
  text.split(/\*\*(.+?)\*\*/).forEach((part, i) => part && add(root, i % 2 ? "b" : "span", {}, part));
  if (show) button(root, t("show me"), t("show a way to do this task"), show);
  // Too long for its place: smaller. The longest keeps its place, at this width: nothing jumps twice.
  if (root.wide !== root.offsetWidth) root.style.minHeight = "";
  root.wide = root.offsetWidth;
  root.classList.remove("vp-long");
  root.classList.toggle("vp-long", root.offsetHeight > parseFloat(getComputedStyle(root).minHeight));
  if (root.wide) root.style.minHeight = `${root.offsetHeight}px`;
}

const FORMS = {python: t("copy as Python"), yaml: t("copy as YAML"), sets: t("copy as --set")};
const NAMED = {python: t("the Python that builds this cluster"), yaml: t("the YAML that builds this cluster"), sets: t("the changes, for the command line")};

function copyMenu(bar, fixed, host) {
  const whole = add(bar, "div", {class: "vp-menu"}), name = unique("menu");
  const opener = button(whole, t("copy ▾"), t("copy this state"), () => open(list.hidden));
  set(opener, {"aria-haspopup": "true", "aria-expanded": "false", "aria-controls": name});
  const list = add(whole, "ul", {id: name, hidden: true}), done = add(whole, "span", {class: "vp-hidden", role: "status", "aria-live": "polite"});
  const open = (yes) => { list.hidden = !yes; set(opener, {"aria-expanded": String(yes)}); if (yes) list.querySelector("button").focus(); };
  const item = (text, act) => button(add(list, "li"), text, null, () => { open(false); opener.focus(); act(); }, "");
  const start = Object.fromEntries(fixed.controls.map((control) => [control.name, control.start]));
  for (const form of fixed.copies) item(FORMS[form], () => host.send({copy: form}));
  item(t("copy link"), () => take(link(fixed, start, host.values()), t("the link to this state")));
  whole.addEventListener("focusout", (event) => { if (!whole.contains(event.relatedTarget)) open(false); });
  whole.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll("button")], at = items.indexOf(document.activeElement);
    if (event.key === "Escape" && !list.hidden) { open(false); opener.focus(); }
    const to = {ArrowDown: at + 1, ArrowUp: at - 1}[event.key];
    if (to !== undefined && !list.hidden) { event.preventDefault(); items[(to + items.length) % items.length].focus(); }
  });
  let shownText = 0;

  async function take(text, what, fallback = () => window.prompt(t("The link to this state:"), text)) {
    const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    done.textContent = copied ? t("Copied: {0}.", what) : "";
    write(opener, copied ? t("copied ✓") : t("copy ▾"));
    setTimeout(() => write(opener, t("copy ▾")), 2000);
    if (!copied) fallback(text);
  }
  return {
    answered(shown, place) {
      if (!shown.copied) { place.hidden = true; done.textContent = ""; write(opener, t("copy ▾")); }
      if (!shown.copied || shown.copied.n === shownText) return;
      shownText = shown.copied.n;
      take(shown.copied.text, NAMED[shown.copied.form], (text) => {
        place.hidden = false;
        place.replaceChildren();
        add(place, "span", {}, t("The page may not use the clipboard; here is the text. "));
        button(place, t("close"), t("close the text"), () => { place.hidden = true; });
        add(place, "pre", {tabindex: 0}, text);
      });
    },
    fromLink() {
      const given = new URLSearchParams(location.hash.slice(1));
      if (given.get("lab") !== fixed.id) return;
      const values = {};
      for (const control of fixed.controls) {
        try { if (given.has(control.name)) values[control.name] = JSON.parse(given.get(control.name)); } catch { /* not a value: left as it is */ }
      }
      if (Object.keys(values).length) host.send({values});
    },
  };
}

function link(fixed, start, values) {
  const off = Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(start[name]));
  return location.href.split("#")[0] + "#" + new URLSearchParams([["lab", fixed.id], ...off.map(([name, value]) => [name, JSON.stringify(value)])]);
}
