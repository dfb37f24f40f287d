// Python for the kernel, begun as soon as this is loaded and not when the kernel asks.
import { loadPyodide as load } from "./pyodide.mjs";

globalThis.archives = new URL("./", import.meta.url).href; // where piplite finds the large packages
const plain = fetch;
async function unpacked(name, type) {
  const answer = await plain(`${archives}${name}.packed`);
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip")),
    { headers: { "Content-Type": type } });
}
// What Python asks for one after the other is fetched at once.
const early = new Map([
  ["pyodide.asm.wasm", unpacked("pyodide.asm.wasm", "application/wasm")],
  ...["python_stdlib.zip", "FIRST"].map((name) => [name, plain(archives + name)]),
]);
globalThis.fetch = (what, how) => {
  const name = String(what.url ?? what).split("/").pop(), begun = early.get(name);
  early.delete(name);
  return begun ?? plain(what, how);
};
const begun = (async () => {
  const script = await (await unpacked("pyodide.asm.mjs", "text/javascript")).blob();
  const { default: createPyodideModule } = await import(URL.createObjectURL(script));
  const pyodide = await load({ packages: ["volcano-lab"], createPyodideModule });
  await pyodide.runPythonAsync("import piplite.piplite, pyodide_kernel");
  return pyodide;
})();
begun.catch(() => {}); // who asks is told

export async function loadPyodide({ stdout, stderr }) {
  const pyodide = await begun;
  pyodide.setStdout({ batched: stdout });
  pyodide.setStderr({ batched: stderr });
  return pyodide;
}
