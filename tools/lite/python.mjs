// Python for a worker, begun as soon as this is loaded: the notebook's kernel, or the page that asks about a cluster.
import { loadPyodide as load } from "./pyodide.mjs";

globalThis.archives = new URL("./", import.meta.url).href; // where piplite finds the large packages
const plain = fetch, asks = self.name === "questions";
const channel = new BroadcastChannel("volcano-lab-python"); // a lesson's page shows how far it is
export function progress(percent) {
  channel.postMessage(percent);
  if (asks) self.postMessage({ percent });
}
// Four fifths are for bytes, the rest is Python's own start.
const BYTES = 0;
let got = 0, shown = 0;
const counting = () => new TransformStream({
  transform(chunk, controller) {
    got += chunk.byteLength;
    const percent = Math.min(80, Math.round(80 * got / BYTES));
    if (percent > shown) progress(shown = percent);
    controller.enqueue(chunk);
  },
});
async function counted(name) {
  const answer = await plain(archives + name);
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  return answer.body.pipeThrough(counting());
}
const unpacked = async (name, type) => new Response(
  (await counted(`${name}.packed`)).pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
// What Python asks for one after the other is fetched at once.
const early = new Map([
  ["pyodide.asm.wasm", unpacked("pyodide.asm.wasm", "application/wasm")],
  ...["python_stdlib.zip", "FIRST"].map((name) => [name, counted(name).then((body) => new Response(body))]),
]);
globalThis.fetch = (what, how) => {
  const name = String(what.url ?? what).split("/").pop(), begun = early.get(name);
  early.delete(name);
  return begun ?? plain(what, how);
};
// What a lesson's first cells import, which is done while the page still builds its interface.
const OPENING = ["course.kit.question", "course.kit.recapping", "course.kit.results", "course.kit.thread", "scheduler",
  "widgets.cluster_lab", "widgets.facts", "widgets.pictures", "widgets.tables"].map((name) => `volcano_lab.${name}`).join(", ");
export const begun = (async () => {
  const script = await (await unpacked("pyodide.asm.mjs", "text/javascript")).blob();
  const { default: createPyodideModule } = await import(URL.createObjectURL(script));
  const pyodide = await load({ packages: ["volcano-lab"], createPyodideModule });
  progress(85);
  await pyodide.runPythonAsync(asks ? "import piplite.piplite, numpy" : "import piplite.piplite, pyodide_kernel");
  if (!asks) {
    progress(100);
    setTimeout(() => pyodide.runPythonAsync(`import ${OPENING}`).catch(() => {})); // what fails here is said in the cell
  }
  return pyodide;
})();
begun.catch(() => {}); // who asks is told

export async function loadPyodide({ stdout, stderr }) {
  const pyodide = await begun;
  pyodide.setStdout({ batched: stdout });
  pyodide.setStderr({ batched: stderr });
  return pyodide;
}
