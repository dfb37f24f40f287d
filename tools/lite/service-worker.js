// Answers from what the browser keeps of this build, so that later visits are quick and need no
// network. Work of the reader and the files that Python opens go through the worker of JupyterLite.
const KEPT = "volcano-lab-BUILD", ROOT = new URL("./", location.href).href;

async function answer(request) {
  const kept = await caches.open(KEPT);
  const found = await kept.match(request, { ignoreSearch: true });
  if (found) return found;
  const fresh = await fetch(request);
  if (fresh.status === 200) await kept.put(request.url.split("?")[0], fresh.clone());
  return fresh;
}

async function keepAll() {
  const kept = await caches.open(KEPT), names = await (await fetch(`${ROOT}static/files.json`)).json();
  const some = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift())
      if (!(await kept.match(ROOT + name))) await kept.add(ROOT + name).catch(() => {});
  };
  await Promise.all([some(), some(), some(), some()]);
}

async function forgetOlder() {
  for (const name of await caches.keys())
    if (name.startsWith("volcano-lab-") && name !== KEPT) await caches.delete(name);
}

self.addEventListener("fetch", (event) => {
  const url = event.request.url.split("?")[0], name = url.slice(ROOT.length);
  const work = /^api\/(?!contents\/|translations)|service-worker/.test(name);
  if (event.request.method !== "GET" || !url.startsWith(ROOT) || work) return;
  event.stopImmediatePropagation();
  event.respondWith(answer(event.request));
});
self.addEventListener("message", (event) => {
  if (event.data === "keep") event.waitUntil(keepAll());
});
self.addEventListener("activate", (event) => event.waitUntil(forgetOlder()));
importScripts("./service-worker-lite.js");
