"""The notebooks as an application of the browser: JupyterLite with our lessons in it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from lite.archives import FIRST
from lite.packed import packed, scripts
from lite.wheels import PIP, ROOT, Missing, python_for_browsers

HERE = Path(__file__).parent
FOREIGN = re.compile(r"https?://(?!127\.0\.0\.1|localhost)[^\s\"']+")
# Diagrams of Mermaid's and a terminal, which lessons have not.
UNNEEDED = (b"diagram:()=>", b"cytoscape", b"gitBranchLabel", b"KaTeX parse error", b"xterm")
PACKED = "pyodide.asm.wasm", "pyodide.asm.mjs"
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"


def application(parts: Path, out: Path, release: str | None = None) -> None:
    """Write the application into the folder `out`, with all that it asks for.

    Raises:
        Missing: what cannot be fetched, or is not as it should be.
    """
    shutil.rmtree(out, ignore_errors=True)
    _build(_environment(parts), parts / "lite", out)
    _contents(ROOT / "notebooks", out)
    python_for_browsers(parts, out / "static" / "pyodide", release)
    _configure(out / "jupyter-lite.json")
    _trust_settings(out / "build" / "schemas" / "all.json")
    _add_to_pages(out)


def megabytes(folder: Path) -> float:
    """The size of all files below a folder, in MB of 1,000,000 bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _environment(parts: Path) -> Path:
    """The folder of the programs of an environment with what requirements/site.txt names."""
    lock, home = ROOT / "requirements" / "site.txt", parts / "environment"
    stamp = home / f"{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}.done"
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    if not stamp.is_file():
        venv.create(home, clear=True, with_pip=True)
        _run([programs / "python", *PIP[1:], "install", "--require-hashes", "-r", lock])
        stamp.touch()
    return programs


def _build(programs: Path, work: Path, out: Path) -> None:
    # A second build in one folder remembers the first one and leaves steps out.
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copy2(HERE / "jupyter-lite.json", work)
    shutil.copy2(HERE / "overrides.json", work)
    _run([programs / "jupyter", "lite", "build", "--lite-dir", work, "--output-dir", out.resolve(),
          "--apps", "notebooks", "--no-sourcemaps", "--no-unused-shared-packages"], work)
    # Each browser that runs Python reads the fonts' shortest form.
    for unneeded in (*out.rglob("*.map"), *out.glob("rspack.*"),
                     *(font for kind in ("eot", "svg", "ttf", "woff")
                       for font in out.glob(f"build/fa-*.{kind}"))):
        unneeded.unlink()
    for script in out.glob("build/[0-9]*.js"):
        if any(word in script.read_bytes() for word in UNNEEDED):
            script.unlink()
    icons = out / "static" / "favicons"
    icons.mkdir(parents=True)
    for name in ("notebook", "busy-1", "busy-2", "busy-3"):
        shutil.copyfile(out / "notebooks" / "favicon.ico", icons / f"favicon-{name}.ico")
    for folder in out.glob("extensions/@jupyterlite/*/static/pypi"):
        shutil.rmtree(folder)  # these wheels are in our archive


def _contents(notebooks: Path, out: Path) -> None:
    """Lay the lessons into the site, and the lists of each folder that JupyterLite reads."""
    for folder in (notebooks, *(path for path in sorted(notebooks.iterdir()) if path.is_dir())):
        within = folder.relative_to(notebooks)
        listed = [_listed(path, (within / path.name).as_posix())
                  for path in sorted(folder.iterdir())
                  if path.suffix == ".ipynb" or path.is_dir()]
        api, files = out / "api" / "contents" / within, out / "files" / within
        for made in (api, files):
            made.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.ipynb"):
            shutil.copyfile(path, files / path.name)
        (api / "all.json").write_text(
            json.dumps(_listed(folder, within.as_posix().strip(".")) | {"content": listed}),
            encoding="utf-8")


def _listed(path: Path, name: str) -> dict[str, Any]:
    """What JupyterLite wants to know of a notebook or a folder of them."""
    when, notebook = "2026-01-01T00:00:00Z", path.is_file()
    return {"name": path.name if name else "", "path": name, "writable": True, "content": None,
            "type": "notebook" if notebook else "directory",
            "format": None if notebook else "json", "mimetype": None, "created": when,
            "last_modified": when, "size": path.stat().st_size if notebook else None}


def _configure(path: Path) -> None:
    """Name our own Python in the configuration; without it the kernel asks a public address."""
    config = json.loads(path.read_text(encoding="utf-8"))
    kernel = config["jupyter-config-data"]["litePluginSettings"][KERNEL]
    kernel["pyodideUrl"] = "./static/pyodide/python.mjs"
    kernel["pipliteUrls"] = []
    config["jupyter-config-data"]["faviconUrl"] = "./notebooks/favicon.ico"
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")


def _trust_settings(path: Path) -> None:
    """Take the rules from the lists of settings but for types and defaults.

    Each page compiles them all before its interface stands, a tenth of what it computes till then.
    """
    plugins = json.loads(path.read_text(encoding="utf-8"))
    for plugin in plugins:
        if "properties" in plugin["schema"]:
            plugin["schema"]["properties"] = _without_rules(plugin["schema"]["properties"])
    path.write_text(json.dumps(plugins), encoding="utf-8")


def _without_rules(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: {key: _without_rules(value) if key == "properties" else value
                   for key, value in setting.items()
                   if key in ("default", "description", "properties", "title", "type")}
            for name, setting in settings.items()}


def _add_to_pages(out: Path) -> None:
    """Add our scripts to the page, our worker before JupyterLite's, the list of files."""
    version = json.loads((out / "jupyter-lite.json").read_text(encoding="utf-8"))[
        "jupyter-config-data"]["appVersion"]
    (out / "static" / "start.js").write_text(
        (HERE / "start.js").read_text(encoding="utf-8").replace("VERSION", version),
        encoding="utf-8")
    shutil.copyfile(HERE / "page.js", out / "static" / "page.js")
    shutil.copyfile(HERE / "questions.js", out / "static" / "pyodide" / "questions.js")
    worker = next(out.glob("extensions/@jupyterlite/*/static/comlink.worker.*.js"))
    (out / "static" / "pyodide" / "kernel.js").write_text(
        f'import "./python.mjs";\nimport "../../{worker.relative_to(out).as_posix()}";\n',
        encoding="utf-8")
    scripts([*out.glob("build/*.js"), *out.glob("extensions/**/static/*.js")],
            out / "static" / "interface.js.packed")
    for name in PACKED:
        packed(out / "static" / "pyodide" / name)
    _python(out / "static" / "pyodide")
    _replace(out / "notebooks" / "index.html", "<head>",
             '<head><script src="../static/start.js"></script>'
             '<script type="module" src="../static/page.js"></script>')
    _replace(out / "config-utils.js", "document.head.appendChild(bundle)",
             "unpacked.then(() => document.head.appendChild(bundle))")
    (out / "service-worker.js").rename(out / "service-worker-lite.js")


def keep(out: Path) -> None:
    """Write the workers that keep a site, its pages and below `try` its lessons, and the list of
    its files.
    """
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and path.suffix != ".LICENSE"
             and "service-worker" not in path.name and path.name != "files.json"]
    names = [path.relative_to(out).as_posix() for path in files]
    (out / "files.json").write_text(json.dumps(names), encoding="utf-8")
    build = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    worker = (HERE / "service-worker.js").read_text(encoding="utf-8").replace("BUILD", build)
    (out / "service-worker.js").write_text(worker.replace('"TOP"', '"./"'), encoding="utf-8")
    (out / "try" / "service-worker.js").write_text(
        worker.replace('"TOP"', '"../"') + 'importScripts("./service-worker-lite.js");\n',
        encoding="utf-8")


def _python(folder: Path) -> None:
    """Write what starts Python, with the names and the bytes of what it fetches first."""
    first = [f"{name}.packed" for name in PACKED] + ["python_stdlib.zip", FIRST]
    size = sum((folder / name).stat().st_size for name in first)
    text = (HERE / "python.mjs").read_text(encoding="utf-8")
    (folder / "python.mjs").write_text(
        text.replace("FIRST", FIRST).replace("BYTES = 0", f"BYTES = {size}"), encoding="utf-8")


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise Missing(f"{old} in {file.name}")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _run(words: list[object], folder: Path = ROOT) -> None:
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(f"{Path(str(words[0])).name} {words[1]}: {said[-1] if said else 'failed'}")
