// One grammar of steppers: buttons, slider, play, speed, steps to click, a field that finds; keys: arrows step, Page Up and
// Page Down go ten steps, Home and End to the ends, space plays.
//
// `source` knows the steps: at(), last(), text(), where(), around() gives [[place, words, kind]], go(place),
// find(words, backwards), waits() where an answer is under way, busy(place) where one stands then.
import {add, button, set, write} from "./page.js";
import {t} from "./words.js";

const PAGE = 10;

export function choice(parent, label, options, first) {
  const made = add(add(parent, "label", {}, label), "select");
  if (first) add(made, "option", {value: ""}, first);
  for (const option of options) add(made, "option", {value: option.key ?? option}, option.label ?? option);
  return made;
}

export function stepping(root, source, {lines, find, example, listed}) {
  let playing = null;
  const go = (place) => source.go(Math.max(0, Math.min(place, source.last())));
  const back = (count = 1) => go(source.at() - count + (source.between?.() ? 1 : 0)), on = (count = 1) => go(source.at() + count);

  function play(start) {
    clearTimeout(playing);
    playing = start && source.at() < source.last() ? setTimeout(() => on(), 1000 / speed.value) : null;
    write(player, playing ? "❚❚" : "▶");
    set(player, {"aria-label": playing ? t("pause") : t("play"), title: playing ? t("pause (space)") : t("play (space)")});
    set(text, {"aria-live": playing ? "off" : "polite"});
  }

  const bar = add(root, "div", {class: "vs-bar"});
  button(bar, "|◀", t("to the start"), () => go(0));
  button(bar, "◀|", t("one step back"), () => back());
  const player = button(bar, "▶", t("play"), () => play(!playing));
  button(bar, "|▶", t("one step on"), () => on());
  button(bar, "▶|", t("to the end"), () => go(source.last()));
  const scrubber = add(bar, "input", {type: "range", min: 0, "aria-label": t("step ").trim(), class: "vs-scrubber"});
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const speed = choice(bar, t("steps/s "), [1, 2, 5, 10, 20]);
  speed.value = "2";

  const where = add(root, "p", {class: "vs-where"});
  const text = add(root, "p", {class: "vs-text", role: "status", "aria-live": "polite"});
  const main = add(root, "div", {class: "vs-main"}), side = add(main, "div", {class: "vs-side"}), view = add(main, "div", {class: "vs-view"});
  add(side, "h5", {}, listed);
  const list = add(side, "ol", {class: "vs-around"}), items = [];

  const form = add(root, "form", {class: "vs-bar"});
  const words = add(add(form, "label", {}, `${find} `), "input", {type: "text", autocomplete: "off", spellcheck: "false", placeholder: example});
  const seek = (backwards) => words.value.trim() && source.find(words.value, backwards);
  form.addEventListener("submit", (event) => { event.preventDefault(); seek(false); });
  button(form, t("find next"), t("find the next such place"), () => seek(false));
  button(form, t("find previous"), t("find the previous such place"), () => seek(true));
  const said = add(form, "p", {class: "vs-said", role: "alert"});

  root.addEventListener("keydown", (event) => {
    const field = event.target;
    if (field.tagName === "SELECT" || (field.tagName === "INPUT" && field.type === "text") || field.closest("svg [data-tip]")) return;
    if (event.key === " " && ["BUTTON", "SUMMARY"].includes(field.tagName)) return;
    const move = {ArrowRight: on, ArrowLeft: back, ArrowDown: on, ArrowUp: back, Home: () => go(0), End: () => go(source.last()),
                  PageDown: () => on(PAGE), PageUp: () => back(PAGE), " ": () => play(!playing)}[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  });

  function item(i) {
    const made = add(list, "li");
    made.addEventListener("click", () => go(Number(made.dataset.place)));
    return items[i] = made;
  }
  return {
    bar, side, view, say(words_) { write(said, words_); set(words, {"aria-invalid": words_ ? "true" : "false"}); },
    update() {
      const at = source.at(), around = source.around();
      set(scrubber, {max: source.last(), "aria-valuetext": t("step {0}: {1}", at, source.text())});
      if (!source.waits?.()) scrubber.value = at;
      write(where, source.where());
      write(text, source.text());
      for (let i = 0; i < Math.max(items.length, around.length, lines ?? 0); i += 1) {
        const made = items[i] ?? item(i), step = around[i];
        made.style.display = step ? "" : "none";
        if (!step) continue;
        const [place, told, kind] = step, now = place === source.shown?.() || (!source.shown && place === at);
        made.dataset.place = place;
        write(made, `${place}. ${told}`);
        set(made, {class: `${now ? "vs-now" : place < at ? "" : "vs-ahead"}${kind ? ` vs-${kind}` : ""}`.trim() || null, "aria-current": now ? "step" : "false", title: told});
        if (now && list.scrollHeight > list.clientHeight) {
          const top = made.offsetTop - list.offsetTop;
          if (top < list.scrollTop || top + made.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 40;
        }
      }
      if (playing && !source.waits?.()) play(true);
    },
    stop: () => clearTimeout(playing),
  };
}
