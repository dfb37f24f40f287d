// Compiles Python's files below a folder with the Python of the browser, for that alone knows its bytecode.
// node compile.mjs PYODIDE FOLDER: a .py that has no .pyc beside it gets one.
const [pyodide, folder] = process.argv.slice(2);
const { loadPyodide } = await import(new URL("pyodide.mjs", `file://${pyodide}/`));
const python = await loadPyodide({ indexURL: `${pyodide}/` });
python.FS.mkdirTree("/files");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/files");
python.runPython(`
import py_compile
from pathlib import Path

BARE = "narwhals", "numpy", "pandas"

# {the text's hash}/{where Python will have the file, with ! for /}
for file in Path("/files").glob("*/*.py"):
    if not file.with_suffix(".pyc").exists():
        shown = file.name.replace("!", "/")
        # Their long descriptions would be a third of what a reader waits for.
        bare = 2 * ("/python314.zip/" in shown and "pyodide" not in shown
                    or any(f"/site-packages/{name}/" in shown for name in BARE))
        py_compile.compile(file, file.with_suffix(".pyc"), shown, doraise=True, optimize=bare,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
`);
