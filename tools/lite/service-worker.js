// Answers from what the browser keeps of this build, so that later visits are quick and need no network. One worker serves
// the lessons, below `try`; the same one without JupyterLite's serves the pages. Work of the reader and the files that Python
// opens go through the worker of JupyterLite.
const KEPT = "volcano-lab-BUILD", ROOT = new URL("./", location.href).href, TOP = new URL("TOP", ROOT).href;

async function answer(request) {
  const kept = await caches.open(KEPT), url = request.url.split(/[?#]/)[0], file = url.endsWith("/") ? `${url}index.html` : url;
  const found = await kept.match(file);
  if (found) return found;
  const fresh = await fetch(request);
  if (fresh.status === 200) await kept.put(file, fresh.clone());
  return fresh;
}

async function keepAll(only) {
  const kept = await caches.open(KEPT), names = (await (await fetch(`${TOP}files.json`)).json()).filter((name) => name.startsWith(only) || !name.startsWith("try/"));
  const some = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift())
      if (!(await kept.match(TOP + name))) await kept.add(TOP + name).catch(() => {});
  };
  await Promise.all([some(), some(), some(), some()]);
}

async function forgetOlder() {
  for (const name of await caches.keys())
    if (name.startsWith("volcano-lab-") && name !== KEPT) await caches.delete(name);
  await clients.claim();
}

self.addEventListener("fetch", (event) => {
  const url = event.request.url.split("?")[0], name = url.slice(ROOT.length);
  const work = /^api\/(?!contents\/|translations)|service-worker/.test(name);
  if (event.request.method !== "GET" || !url.startsWith(TOP) || work) return;
  event.stopImmediatePropagation();
  event.respondWith(answer(event.request));
});
self.addEventListener("message", (event) => {
  if (event.data === "keep") event.waitUntil(keepAll("try/"));
  if (event.data === "keep pages") event.waitUntil(keepAll("try/static/pyodide/"));
});
self.addEventListener("activate", (event) => event.waitUntil(forgetOlder()));
