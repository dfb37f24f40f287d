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
  const taken = new Promise((resolve) => services.addEventListener("controllerchange", resolve));
  await services.register(href);
  if (!services.controller) await taken;
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
