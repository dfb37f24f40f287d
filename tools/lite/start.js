// What a reader sees before the interface is there: the lesson's title, its first words and first picture, from its file.
(async () => {
  const path = new URLSearchParams(location.search).get("path") ?? "", chinese = path.startsWith("zh/");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const style = document.createElement("style"), place = document.createElement("div");
  style.textContent = `html { background: ${dark ? "#111" : "#fff"}; }
    #first { position: fixed; inset: 0; z-index: 1001; overflow: hidden; padding: 7vh max(5vw, calc(50vw - 420px)) 0; background: ${dark ? "#111" : "#fff"};
      color: ${dark ? "#e8e8e8" : "#16212b"}; font: 17px/1.6 system-ui, sans-serif; transition: opacity .25s; }
    #first h1 { font-size: clamp(28px, 4vw, 44px); line-height: 1.2; margin: 0 0 .5em; } #first p { max-width: 40em; }
    #first img { max-width: 100%; max-height: 50vh; opacity: .85; } #first .bar { height: 5px; border-radius: 3px; background: ${dark ? "#333" : "#e3e8ee"}; margin: 0 0 6px; }
    #first .bar i { display: block; height: 100%; width: 3%; border-radius: 3px; background: #0072B2; transition: width .2s; } #first .how { font-size: 14px; opacity: .75; }
    #jupyterlab-splash, #jupyterlite-loading-indicator { display: none !important; }`;
  place.id = "first";
  place.setAttribute("role", "status");
  place.innerHTML = "<div class=bar><i></i></div><p class=how></p><h1></h1><p></p><img hidden alt=''>";
  const [bar, how, title, words, picture] = [".bar i", ".how", "h1", "h1 + p", "img"].map((each) => place.querySelector(each));
  const show = (percent) => {
    bar.style.width = `${Math.max(3, percent)}%`;
    how.textContent = percent < 100 ? `${chinese ? "正在加载 Python" : "Python is loading"}: ${percent} %` : chinese ? "正在打开课程……" : "Opening the lesson …";
  };
  new BroadcastChannel("volcano-lab-python").onmessage = ({ data }) => show(data);
  show(0);
  document.head.append(style);
  document.documentElement.append(place);
  const gone = new MutationObserver(() => {
    if (!document.querySelector(".jp-Notebook .jp-Cell, .jp-Dialog")) return;
    gone.disconnect();
    place.style.opacity = 0;
    setTimeout(() => place.remove(), 260);
  });
  gone.observe(document.documentElement, { childList: true, subtree: true });
  const { cells } = await (await fetch(`../files/${path}`)).json();
  const paragraphs = cells[0].source.join("").split(/\n\n+/);
  const plain = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)|[*`#]/g, "$1").trim();
  title.textContent = plain(paragraphs[0]);
  words.textContent = plain(paragraphs.find((each, at) => at && !/^[◂*<]|\]\(.*\) ·/.test(each)) ?? "");
  const still = JSON.stringify(cells.slice(0, 14).map((each) => each.outputs ?? [])).match(/src=\\["'](data:image\/svg\+xml;base64,[^"'\\]+)/);
  if (still) Object.assign(picture, { src: still[1], hidden: false });
})().catch(() => {});

// Fetches the interface in one piece, and starts Python while that is being loaded.
globalThis.unpacked = (async () => {
  const answer = await fetch("../static/interface.js.packed");
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob(
    [await new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).blob()],
    { type: "text/javascript" }));
  const ready = new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
  });
  document.head.append(script);
  await ready;
  URL.revokeObjectURL(script.src);
})();

// The kernel's worker has to be below the service worker, for what it reads and writes, so that comes
// first; where it does not come, the kernel starts its worker later, as it always does.
(async () => {
  const services = navigator.serviceWorker, Plain = Worker;
  if (!services) return;
  const { href } = new URL("../service-worker.js?enableCache=false", location.href);
  // JupyterLite takes its service worker off unless it finds its own version noted.
  localStorage.setItem(`${href}-version`, "VERSION");
  const ours = () => services.controller?.scriptURL === href; // and not the one of the whole site
  const taken = new Promise((resolve) => services.addEventListener("controllerchange", () => ours() && resolve()));
  await services.register(href);
  if (!ours()) await taken;
  let early = new Plain("../static/pyodide/kernel.js", { type: "module" });
  window.Worker = class extends Plain {
    constructor(address, options) {
      if (early && String(address).includes("comlink.worker")) {
        const begun = early;
        early = null;
        return begun;
      }
      super(address, options);
    }
  };
})().catch(() => {});

// The interface asks for the same lists of settings for plugin after plugin.
const plain = window.fetch, lists = new Map();
window.fetch = async (what, how) => {
  const name = String(what.url ?? what);
  if (!name.includes("/schemas/all")) return plain(what, how);
  if (!lists.has(name)) lists.set(name, plain(what, how));
  return (await lists.get(name)).clone();
};
