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

from lite.wheels import PIP, ROOT, Missing, python_for_browsers

HERE = Path(__file__).parent
FOREIGN = re.compile(r"https?://(?!127\.0\.0\.1|localhost)[^\s\"']+")
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
    _add_to_pages(out)


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
    # The lessons have no diagrams of Mermaid's, which would be 3 MB.
    for script in out.glob("build/*.js"):
        if script.stat().st_size > 400_000 and any(
                word in script.read_bytes() for word in
                (b"elk.layered.merge", b"cytoscape", b"RuleCall", b"gitBranchLabel")):
            script.unlink()
    icons = out / "static" / "favicons"
    icons.mkdir(parents=True)
    for name in ("notebook", "busy-1", "busy-2", "busy-3"):
        shutil.copyfile(out / "notebooks" / "favicon.ico", icons / f"favicon-{name}.ico")
    for folder in out.glob("extensions/@jupyterlite/*/static/pypi"):
        shutil.rmtree(folder)  # these wheels are in our archive


def _contents(notebooks: Path, out: Path) -> None:
    """Lay the lessons into the site, and the list of them that JupyterLite reads: the English ones,
    for which there is room.
    """
    listed = []
    for path in sorted(notebooks.rglob("*.ipynb")):
        if "zh" in path.parts:
            continue
        name = path.relative_to(notebooks).as_posix()
        (out / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / "files" / name)
        when = "2026-01-01T00:00:00Z"
        listed.append({"name": path.name, "path": name, "type": "notebook", "format": None,
                       "mimetype": None, "content": None, "created": when, "last_modified": when,
                       "size": path.stat().st_size, "writable": True})
    folder = {"name": "", "path": "", "type": "directory", "format": "json", "mimetype": None,
              "content": listed, "created": when, "last_modified": when, "size": None,
              "writable": True}
    (out / "api" / "contents").mkdir(parents=True, exist_ok=True)
    (out / "api" / "contents" / "all.json").write_text(json.dumps(folder), encoding="utf-8")


def _configure(path: Path) -> None:
    """Name our own Python in the configuration; without it the kernel asks a public address."""
    config = json.loads(path.read_text(encoding="utf-8"))
    kernel = config["jupyter-config-data"]["litePluginSettings"][KERNEL]
    kernel["pyodideUrl"] = "./static/pyodide/python.mjs"
    kernel["pipliteUrls"] = []
    config["jupyter-config-data"]["faviconUrl"] = "./notebooks/favicon.ico"
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")


def _add_to_pages(out: Path) -> None:
    """Add our scripts to the page, our worker before JupyterLite's, the list of files."""
    version = json.loads((out / "jupyter-lite.json").read_text(encoding="utf-8"))[
        "jupyter-config-data"]["appVersion"]
    (out / "static" / "start.js").write_text(
        (HERE / "start.js").read_text(encoding="utf-8").replace("VERSION", version),
        encoding="utf-8")
    shutil.copyfile(HERE / "page.js", out / "static" / "page.js")
    shutil.copyfile(HERE / "python.mjs", out / "static" / "pyodide" / "python.mjs")
    worker = next(out.glob("extensions/@jupyterlite/*/static/comlink.worker.*.js"))
    (out / "static" / "pyodide" / "kernel.js").write_text(
        f'import "./python.mjs";\nimport "../../{worker.relative_to(out).as_posix()}";\n',
        encoding="utf-8")
    page = out / "notebooks" / "index.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<head>", '<head><script src="../static/start.js"></script>'
                                 '<script type="module" src="../static/page.js"></script>', 1),
                    encoding="utf-8")
    (out / "service-worker.js").rename(out / "service-worker-lite.js")
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and path.suffix != ".LICENSE"
             and "service-worker" not in path.name]
    names = [path.relative_to(out).as_posix() for path in files]
    (out / "static" / "files.json").write_text(json.dumps(names), encoding="utf-8")
    build = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    worker = (HERE / "service-worker.js").read_text(encoding="utf-8").replace("BUILD", build)
    (out / "service-worker.js").write_text(worker, encoding="utf-8")


def _run(words: list[object], folder: Path = ROOT) -> None:
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(f"{Path(str(words[0])).name} {words[1]}: {said[-1] if said else 'failed'}")
