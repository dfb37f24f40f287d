// A picture on a page: title, player if it has steps, drawing as wide as there is room, legend.
import {pictureOf} from "./pictures.js";
import {add, button, set, still, unique, write} from "./page.js";
import {nameParts} from "./touch.js";
import {h, patch} from "./tree.js";
import {sentence, t} from "./words.js";

export function panel(parent, {kind, title, legend, spec, wide, tall, answers}, host) {
  const picture = pictureOf(kind, spec), uid = unique("vp"), root = add(parent, "div", {role: "group", class: `vp-panel${wide ? " vp-wide" : ""}${wide === "half" ? " vp-half" : ""}${tall ? " vp-tall2" : ""}`, "aria-labelledby": title ? `${uid}-title` : null});
  const head = title || picture.steps ? add(root, "div", {class: "vp-head-row"}) : null;
  if (title) add(head, "h5", {id: `${uid}-title`, role: host.role}, title);
  const place = add(root, "div", {class: `vp-picture${picture.html ? " vp-scrolls" : ""}`, ...(picture.html ? {tabindex: 0, role: "group", "aria-label": title || t("table ").trim()} : {})});
  if (legend) add(root, "p", {class: "vp-legend"}, legend);
  const answer = answers ? add(root, "p", {class: "vp-answer", role: "status", "aria-live": "polite"}, answers) : null;
  const memory = {}, last = () => data ? picture.steps(data) : 0;
  let data = null, before = null, width = 0, at, pick, player = null;

  function draw() {
    if (!data || !width) return;
    const drawn = picture.draw(data, {spec, width, before, uid, at, pick, memory, control: host.control});
    const height = Math.ceil(drawn.height);
    if (picture.html) patch(place, drawn.kids.flat(Infinity));
    else {
      patch(place, [h("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${sentence(title)}${drawn.alt}`}, drawn.kids)]);
      nameParts(place.firstChild);
    }
    player?.();
  }

  if (picture.steps) player = playerOf(add(head, "div", {class: "vp-player", role: "group", "aria-label": title ? t("play: {0}", title) : t("play")}), {
    last, at: () => at, words: () => picture.step(data, at ?? last()), go: (to) => { at = to >= last() ? undefined : to; draw(); },
  });

  const observer = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now !== width) { width = now; draw(); }
  });
  observer.observe(place);
  width = Math.floor(place.getBoundingClientRect().width);
  return {
    root, draw, answer,
    update(now, ghost) { if (now !== data) pick = undefined; data = now; before = ghost; at = undefined; draw(); },
    pick(name) { pick = name; draw(); },
    stop() { observer.disconnect(); },
  };
}

// Play, one step back, one step on, and a slider over all steps. `at` undefined is the end.
function playerOf(parent, {last, at, words, go}) {
  let timer = null, began = 0, from = 0;
  const position = () => at() ?? last();
  const halt = () => { cancelAnimationFrame(timer); timer = null; show(); };
  const play = button(parent, "▶", t("play"), () => {
    if (timer) return halt();
    from = position() >= last() ? 0 : Math.floor(position());
    began = performance.now();
    go(from);
    const frame = (now) => {
      // A round takes 1.4 s: most of it water that falls, then a rest in which one can read.
      // A frame may have begun before the click.
      const rounds = Math.max(0, now - began) / 1400, part = still() ? 1 : Math.min(1, (rounds % 1) / 0.72);
      go(Math.min(from + Math.floor(rounds) + part, last()));
      if (from + rounds >= last()) return halt();
      timer = requestAnimationFrame(frame);
    };
    timer = requestAnimationFrame(frame);
    show();
  });
  const back = button(parent, "‹", t("one step back"), () => { halt(); go(Math.max(0, Math.ceil(position()) - 1)); }, "vp-button vp-step");
  const scrub = add(parent, "input", {type: "range", min: 0, step: 1, "aria-label": t("step ").trim()});
  scrub.addEventListener("input", () => { const to = Number(scrub.value); halt(); go(to); });
  const on = button(parent, "›", t("one step on"), () => { halt(); go(Math.min(last(), Math.floor(position()) + 1)); }, "vp-button vp-step");
  function show() {
    const name = timer ? t("pause") : t("play");
    write(play, timer ? "❚❚" : "▶");
    set(play, {title: name, "aria-label": name});
    set(scrub, {max: last(), "aria-valuetext": last() ? words() : t("nothing to play")});
    scrub.value = Math.round(position());
    back.disabled = position() <= 0;
    on.disabled = position() >= last();
    play.disabled = !last();
    parent.style.visibility = last() ? "" : "hidden";
  }
  return show;
}
