// The front page's picture: what the scheduler decided at each setting of three weights, computed when the page was built.
import {keepPages} from "./offline.js";
import {t} from "../../volcano_lab/widgets/js/words.js";
const FRAMES = {};
const QUEUES = [];
const find = (id) => document.getElementById(id), all = (name) => [...document.querySelectorAll(name)];
const tanks = all(".tank"), inputs = all(".knob input"), shares = all("#use i");
const weights = [1, 1, 1], calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const short = (value) => String(Math.round(value * 10) / 10);
let timer = 0, pouring = [];

const frame = () => FRAMES[weights.join("")];

function levels(deserved, placed) {
  tanks.forEach((tank, at) => {
    const {request, pod, least} = QUEUES[at], fits = Math.floor(deserved[at] / pod + 1e-9);
    tank.querySelector(".top b").textContent = short(deserved[at]);
    tank.querySelector(".water").style.height = `calc(${deserved[at]}*var(--u))`;
    tank.querySelector(".vessel").toggleAttribute("data-full", deserved[at] >= request - 1e-6);
    tank.querySelectorAll(".slot").forEach((slot, place) => {
      const runs = placed && place < placed[at], back = placed && !runs && least > 1 && place < fits;
      slot.classList.toggle("run", Boolean(runs));
      slot.classList.toggle("back", Boolean(back));
      slot.textContent = back ? t("discarded") : runs && pod >= 10 ? t("pod {0}", place + 1) : "";
    });
    shares[at].style.width = `${placed ? placed[at] * pod : 0}%`;
  });
}

function draw() {
  pouring.forEach(clearTimeout);
  const {deserved, placed} = frame(), gang = QUEUES[1], fits = Math.floor(deserved[1] / gang.pod + 1e-9);
  inputs.forEach((input, at) => { input.value = weights[at]; input.parentElement.querySelector("i").textContent = weights[at]; });
  levels(deserved, placed);
  find("say").classList.toggle("red", !placed[1]);
  find("say").textContent = placed[1]
    ? t("Queue b deserves {0} CPUs: {1} pods of its job train fit. The gang needs {2}, so Volcano commits, and they start.", short(deserved[1]), placed[1], gang.least)
    : t("Queue b deserves {0} CPUs: {1} pods of its job train fit. The gang needs {2} at once, so Volcano discards them, and no pod starts.", short(deserved[1]), fits, gang.least);
  const held = placed.map((count, at) => count * QUEUES[at].pod);
  find("sum").textContent = t("{0} of 100 CPUs in use: a {1}, b {2}, c {3}", held[0] + held[1] + held[2], held[0], held[1], held[2]);
  find("use").setAttribute("aria-label", find("sum").textContent);
}

function pour() {
  stop();
  pouring.forEach(clearTimeout);
  levels([0, 0, 0], null);
  const {rounds} = frame();
  pouring = rounds.map((round, at) => setTimeout(() => {
    if (at === rounds.length - 1) return draw();
    levels(round.deserved, null);
    find("say").classList.remove("red");
    find("say").textContent = t("Round {0}: each queue gets its part by weight; {1} CPUs come back from queues that request no more.", at + 1, short(round.left));
  }, calm ? 0 : 900 * (at + 1)));
}

function stop() {
  clearInterval(timer);
  timer = 0;
  find("auto").textContent = t("play the movement");
  find("say").setAttribute("aria-live", "polite");
}

// Queue b's weight goes through three settings, three times; the first touch ends it.
function play() {
  let step = 0;
  find("auto").textContent = t("pause the movement");
  find("say").setAttribute("aria-live", "off");
  const next = () => { weights[1] = [2, 3, 1][step % 3]; draw(); if (++step >= 9) stop(); };
  timer = setInterval(next, 2200);
  next();
}

inputs.forEach((input, at) => input.addEventListener("input", () => { stop(); weights[at] = Number(input.value); draw(); }));
find("auto").addEventListener("click", () => timer ? stop() : play());
find("pour").addEventListener("click", pour);
find("lab").addEventListener("pointerdown", ({target}) => { if (target.id !== "auto" && timer) stop(); });
draw();
if (!calm) {
  find("auto").hidden = false;
  setTimeout(play, 900);
}
document.addEventListener("click", ({target}) => {
  const name = target.dataset?.copy;
  if (name) navigator.clipboard?.writeText(find(name).textContent).then(() => { target.textContent = t("copied"); }, () => { target.textContent = t("select and copy"); });
});
for (const kind of ["dragover", "dragleave", "drop"]) find("drop")?.addEventListener(kind, (event) => {
  event.preventDefault();
  find("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop") location.href = "ask.html"; // a page cannot hand files to another
});
if (document.body.dataset.worker) keepPages();
