// Python for the kernel, begun as soon as this is loaded and not when the kernel asks.
import { loadPyodide as load } from "./pyodide.mjs";

globalThis.archives = new URL("./", import.meta.url).href; // where piplite finds the large packages
const begun = (async () => {
  const pyodide = await load({ packages: ["volcano-lab"] });
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
