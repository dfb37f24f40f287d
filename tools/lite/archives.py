"""The packages of the browser's Python as archives: compiled, and the large ones apart.

A page waits for two archives, Python's own modules and what every lesson's first cell imports. The
others are fetched when one of their packages is imported (`piplite`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

# Left out is compiled code that is not for browsers, and what serves packages that a browser does
# not have.
LEFT_OUT = re.compile(r"(?<!wasm32-emscripten)\.so$|\.(a|pyi|c|h|pyx|map)$|(^|/)tests?/|\.data/|"
                      r"^volcano_lab/notebooks/|\.dist-info/(?!METADATA|entry_points)|"
                      r"^(jupyter|etc|share)/|^(piplite|micropip|numpy/f2py|prompt_toolkit|wcwidth|"
                      r"pandas/plotting/_matplotlib|(IPython|pygments)/sphinxext|"
                      r"narwhals/(_dask|_duckdb|_ibis|_polars|_spark_like|_sql|testing))/|"
                      r"^pygments/lexers/_(?!_init|mapping)|^pygments/lexers/(?!_|agile|css|data|diff|go|html|javascript|"
                      r"jvm|markup|python|shell|special|web)")
FIRST = "volcano_lab-0.zip"  # no wheels: one wheel holds one package
# What is not in the first archive, an archive per group: what one package needs goes with it.
LATER = {"numpy-0.zip": ("numpy",),
         "pandas-0.zip": ("pandas", "dateutil", "six", "tzdata"),
         "altair-0.zip": ("altair", "jinja2", "jsonschema", "markupsafe", "narwhals", "packaging",
                          "pyrsistent", "_pyrsistent_version", "pvectorc"),
         "rest-0.zip": ("anywidget", "click", "ipywidgets", "prometheus_client", "psygnal",
                        "regex")}
INSTALLED = "/lib/python3.14/site-packages/"


def archives(wheels: list[Path], out: Path, parts: Path) -> list[str]:
    """Write the archives of the packages and of Python's own modules into the folder `out`.

    Args:
        wheels: what is packed.
        out: has Pyodide.
        parts: what was compiled, kept from build to build.

    Returns:
        What can be imported from the first archive.
    """
    files = _files(wheels)
    home = {top: name for name, tops in LATER.items() for top in tops}
    tops = {_top(name) for name in files if name.endswith(".py")}
    later = {top: home[top] for top in sorted(tops & set(home))}
    files["piplite/later.json"] = json.dumps(later, indent=1).encode()
    files = _compiled(files, parts / "packages", out, INSTALLED)
    _write(out / FIRST, {name: text for name, text in files.items() if _top(name) not in home})
    for archive in LATER:
        _write(out / archive, {name: text for name, text in files.items()
                               if home.get(_top(name)) == archive})
    with zipfile.ZipFile(out / "python_stdlib.zip") as opened:
        stdlib = {name: opened.read(name) for name in opened.namelist()
                  if not name.endswith("/")}
    _write(out / "python_stdlib.zip",
           _compiled(stdlib, parts / "python", out, "/lib/python314.zip/"))
    return sorted(top for top in tops - set(home) if top.isidentifier())


def _files(wheels: list[Path]) -> dict[str, bytes]:
    """{name: bytes} of the Python files of wheels; of descriptions the head."""
    files: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            files |= {name: opened.read(name) for name in opened.namelist()
                      if not name.endswith("/") and not LEFT_OUT.search(name)}
    for name in files:
        if name.endswith("/METADATA"):
            files[name] = files[name].partition(b"\n\n")[0] + b"\n"
    for path in sorted((Path(__file__).parent / "piplite").glob("*.py")):
        files[f"piplite/{path.name}"] = path.read_bytes()
    return files


def _top(name: str) -> str:
    """The package that a file belongs to, or the module that it is."""
    return name.split("/")[0].removesuffix(".py").removesuffix(".pyc")


def _compiled(files: dict[str, bytes], kept: Path, python: Path, room: str) -> dict[str, bytes]:
    """The files with bytecode: instead of the text, but ours keeps its text, which lessons show."""
    names = {name: kept / hashlib.sha256(text).hexdigest()[:32] / (room + name).replace("/", "!")
             for name, text in files.items() if name.endswith(".py")}
    for unneeded in {each.parent for each in kept.glob("*/*.py")} - {
            file.parent for file in names.values()}:
        shutil.rmtree(unneeded)
    for name, file in names.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(files[name])
    subprocess.run([_node(), Path(__file__).parent / "compile.mjs", python.resolve(),
                    kept.resolve()], check=True)
    compiled = {}
    for name, text in files.items():
        code = names[name].with_suffix(".pyc").read_bytes() if name in names else text
        if name.startswith("volcano_lab/") and name in names:
            folder, _, stem = name.removesuffix(".py").rpartition("/")
            compiled |= {name: text, f"{folder}/__pycache__/{stem}.cpython-314.pyc": code}
        else:
            compiled[f"{name}c" if name in names else name] = code
    return compiled


def _node() -> str:
    """A program that runs JavaScript: the one of the browser tests' driver, which comes along."""
    from playwright._impl._driver import compute_driver_executable

    return str(compute_driver_executable()[0])


def _write(out: Path, files: dict[str, bytes]) -> None:
    """Write a zip whose bytes follow from the files alone."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name in sorted(files):
            made.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), files[name],
                          zipfile.ZIP_DEFLATED, 9)
