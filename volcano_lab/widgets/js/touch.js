// Pointing, focusing and dragging in pictures. Hover and focus show the same words; what has the same name lights up
// everywhere; the arrow keys walk from part to part, so that a picture is one stop of the Tab key.
import {add} from "./page.js";
import {t} from "./words.js";

export const REPEAT = 1000;  // ms within which key presses on one handle are one move

// Follow a pointer until it is let go.
export function follow({pointerId}, move, up) {
  const stop = new AbortController();
  for (const name of ["pointermove", "pointerup", "pointercancel"]) document.addEventListener(name, (now) => {
    if (now.pointerId !== pointerId) return;
    if (name === "pointermove") return move(now);
    stop.abort();
    up?.(now);
  }, stop);
}

export function touchable(root, host) {
  const tip = add(root, "div", {class: "vp-tip", role: "tooltip", hidden: true});
  let pressed = -REPEAT;
  let moving = null;   // the queue that the keyboard moves to another parent
  let over;  // the name under the pointer

  function show(part, event) {
    tip.textContent = part.dataset.tip;
    tip.hidden = false;
    const around = root.getBoundingClientRect(), at = part.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const x = (event?.clientX ?? at.left + at.width / 2) - around.left, y = (event ? Math.min(event.clientY, at.bottom) : at.top) - around.top;
    tip.style.left = `${Math.max(4, Math.min(x + 12, around.width - size.width - 4))}px`;
    tip.style.top = `${y - size.height - 10 < 0 ? y + 20 : y - size.height - 10}px`;
  }

  function light(name) {
    for (const part of root.querySelectorAll("[data-on]")) part.removeAttribute("data-on");
    const same = name ? [...root.querySelectorAll(`[data-link="${CSS.escape(name)}"]`)] : [];
    root.querySelectorAll("[data-lit]").forEach((panel) => panel.removeAttribute("data-lit"));
    for (const part of same) {
      part.setAttribute("data-on", "");
      for (let up = part.parentElement; up && up !== root; up = up.parentElement) if (up.dataset.link) up.setAttribute("data-on", "");
      for (const below of part.querySelectorAll("[data-link]")) below.setAttribute("data-on", "");
      part.closest(".vp-panel")?.setAttribute("data-lit", "");
    }
  }

  const linkOf = (part) => part.closest?.("[data-link]")?.dataset.link;
  root.addEventListener("pointerover", (event) => {
    const part = event.target.closest?.("[data-tip]");
    if (part) show(part, event); else tip.hidden = true;
    const name = linkOf(event.target);
    if (name !== over && !event.buttons) light(over = name);
  });
  root.addEventListener("pointerleave", () => { tip.hidden = true; light(over = null); });
  root.addEventListener("focusin", (event) => {
    const part = event.target.closest?.("svg [data-tip]");
    if (part) { show(part); light(linkOf(part)); }
  });
  root.addEventListener("focusout", () => { tip.hidden = true; light(); pressed = -REPEAT; });

  function act(part) {
    part = part?.closest("[data-act]");
    if (part) { tip.hidden = true; host.act(part.vp.act); }
  }

  root.addEventListener("keydown", (event) => {
    const part = event.target.closest?.("svg [data-tip]");
    if (event.key === "Escape") { tip.hidden = true; if (moving) { host.hint(""); moving = null; } }
    if (!part || event.ctrlKey || event.metaKey || event.altKey) return;
    const held = event.target.closest?.("svg [role=slider]")?.vp;
    if (held) {
      const by = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -1e6, End: 1e6}[event.key];
      if (by && host.step(held.grip.control, by, event.timeStamp - pressed < REPEAT)) pressed = event.timeStamp;
      if (by) tip.hidden = true;
      if (event.key === "Enter") act(part);
      if (by || event.key === "Enter") event.preventDefault();
      if (event.key !== "Escape") return;
    }
    const parts = [...part.closest("svg").querySelectorAll("[data-tip]:not([role=slider])")], at = parts.indexOf(part);
    const next = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: parts.length - 1}[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const target = parts[Math.max(0, Math.min(next, parts.length - 1))];
      parts.forEach((other) => other.setAttribute("tabindex", other === target ? 0 : -1));
      target.focus();
    } else if (event.key === "m" && part.vp?.grip?.move) {
      moving = part.vp.grip.move;
      host.hint(t("Moving {0}: the arrow keys go to its new parent, Enter puts it there, Escape leaves it.", moving));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const to = part.closest("[data-drop]")?.dataset.drop;
      if (moving && to) { host.act({move: moving, to}); moving = null; } else act(part);
    }
  });

  // A drag either moves a number or carries a queue to another parent.
  root.addEventListener("pointerdown", (event) => {
    const part = event.target.closest?.("[data-grip]"), button = event.target.closest?.("[data-act]");
    light();
    if (event.button > 0) return;
    if (!part || (button && part.contains(button) && button !== part)) return;
    const {grip} = part.vp, from = [event.clientX, event.clientY];
    let more = false, over = null;
    const move = (now) => {
      const [dx, dy] = [now.clientX - from[0], now.clientY - from[1]];
      tip.hidden = true;
      if (grip.move) {
        if (!more && Math.hypot(dx, dy) < 6) return;
        more = true;
        const target = document.elementsFromPoint(now.clientX, now.clientY).map((node) => node.closest?.("[data-drop]")).find((node) => node && node.dataset.drop !== grip.move && !part.contains(node));
        if (target !== over) { over?.removeAttribute("data-over"); target?.setAttribute("data-over", ""); over = target; }
        part.style.transform = `translate(${dx}px, ${dy}px)`;
        part.style.pointerEvents = "none";
      } else {
        part.setAttribute("data-pulled", "");
        more = host.pull(grip.control, grip.value + dx * grip.by, more) || more;
      }
      now.preventDefault();
    };
    const up = (now) => {
      part.removeAttribute("data-pulled");
      if (grip.move) part.style.transform = part.style.pointerEvents = "";
      over?.removeAttribute("data-over");
      if (more) swallowClick(root);
      if (over && now.type === "pointerup") host.act({move: grip.move, to: over.dataset.drop});
    };
    follow(event, move, up);
    if (!grip.move) event.preventDefault();
    if (grip.slider) part.focus({preventScroll: true});
  });
  root.addEventListener("click", (event) => act(event.target.closest?.("svg [data-act], tr[data-act]")));
}

// The click that ends a drag asks nothing.
function swallowClick(root) {
  const swallow = (click) => click.stopPropagation();
  root.addEventListener("click", swallow, {capture: true, once: true});
  setTimeout(() => root.removeEventListener("click", swallow, {capture: true}), 50);
}

// After each drawing: every part that has words is named for screen readers, and one of them takes the Tab key.
export function nameParts(svg) {
  let stop = null, first = null;
  for (const part of svg.querySelectorAll("[data-tip]")) {
    if (part.vp.grip?.slider) continue;  // it has its own name
    if (part.vpNamed !== part.dataset.tip) {
      part.vpNamed = part.dataset.tip;
      part.setAttribute("aria-label", part.dataset.tip);
      const role = part.querySelector("[data-tip]") ? "group" : part.closest("[data-act]") ? "button" : "img";
      part.setAttribute("role", role);
      if (!part.hasAttribute("tabindex")) part.setAttribute("tabindex", -1);
    }
    first ??= part;
    if (part.getAttribute("tabindex") === "0") { if (stop) part.setAttribute("tabindex", -1); stop ??= part; }
  }
  if (!stop) first?.setAttribute("tabindex", 0);
}
