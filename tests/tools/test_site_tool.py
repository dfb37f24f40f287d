"""What builds the site: it refuses a site that would ask elsewhere, and its archive has Python
alone.
"""

import gzip
import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from lite.app import KERNEL, _contents
from lite.archives import _files, _write
from lite.packed import packed, scripts

PATH = Path(__file__).parents[2] / "tools" / "site.py"
GOOD = {"pyodideUrl": "./pyodide.mjs", "disablePyPIFallback": True,
        "loadPyodideOptions": {"lockFileURL": "./pyodide-lock.json"}}


@pytest.fixture(scope="module")
def found():
    """The check of `tools/site.py`, which shares its name with a module of Python."""
    spec = importlib.util.spec_from_file_location("site_tool", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.found


def site(folder, kernel, *files):
    (folder / "try").mkdir()
    config = {"jupyter-config-data": {"litePluginSettings": {KERNEL: kernel}}}
    (folder / "try" / "jupyter-lite.json").write_text(json.dumps(config))
    for name in ("pyodide.mjs", "pyodide-lock.json", *files):
        (folder / "try" / name).write_text("")
    return folder


def test_a_site_that_has_all_it_names_is_good(found, tmp_path):
    assert found(site(tmp_path, GOOD)) == []


@pytest.mark.parametrize(("change", "said"), [
    ({"pyodideUrl": ""}, "names no Python"),
    ({"pyodideUrl": "https://example.org/pyodide.mjs"}, "is not in the site"),
    ({"loadPyodideOptions": {}}, "is not in the site"),
    ({"disablePyPIFallback": False}, "ask a package index"),
])
def test_a_configuration_that_would_ask_elsewhere_is_refused(found, tmp_path, change, said):
    assert any(said in fault for fault in found(site(tmp_path, GOOD | change)))


def test_source_maps_are_refused(found, tmp_path):
    assert found(site(tmp_path, GOOD, "page.js.map")) == ["try/page.js.map is a source map"]


def test_the_archive_has_python_alone_and_the_same_bytes_each_time(tmp_path):
    wheel, out = tmp_path / "one-1-py3-none-any.whl", tmp_path / "out.zip"
    with zipfile.ZipFile(wheel, "w") as made:
        for name in ("one/__init__.py", "one/fast.so", "one/tests/test_one.py", "two.py",
                     "one-1.dist-info/METADATA", "one-1.dist-info/RECORD"):
            made.writestr(name, name)
    files = _files([wheel])
    _write(out, files)
    first = out.read_bytes()
    with zipfile.ZipFile(out) as opened:
        assert [name for name in opened.namelist() if not name.startswith("piplite/")] == [
            "one-1.dist-info/METADATA", "one/__init__.py", "two.py"]
    _write(out, dict(reversed(files.items())))
    assert out.read_bytes() == first


def test_each_folder_of_lessons_has_its_list(tmp_path):
    (tmp_path / "in" / "zh").mkdir(parents=True)
    for name in ("a.ipynb", "zh/a.ipynb", "zh/notes.txt"):
        (tmp_path / "in" / name).write_text("{}")
    _contents(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out" / "files" / "zh" / "a.ipynb").read_text() == "{}"
    lists = {path.parent.name: json.loads(path.read_text())
             for path in (tmp_path / "out" / "api").rglob("all.json")}
    assert {name: [each["path"] for each in found["content"]] for name, found in lists.items()} == {
        "contents": ["a.ipynb", "zh"], "zh": ["zh/a.ipynb"]}


def test_parts_of_the_interface_become_one_script_and_other_scripts_stay(tmp_path):
    part = b'/*! a\n licence */\n"use strict";\n(self["webpackChunk_one"] = 1)//# map'
    files = {"1.js": part, "2.js": b"self.rspackChunk_two=2", "main.js": b"import('./1.js')"}
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    scripts([tmp_path / name for name in files], tmp_path / "all.packed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.packed", "main.js"]
    assert gzip.decompress((tmp_path / "all.packed").read_bytes()) == (
        b"(() => {" + part + b"\n})();\n(() => {self.rspackChunk_two=2\n})();\n")


def test_a_packed_file_takes_the_place_of_the_file(tmp_path):
    (tmp_path / "python.wasm").write_bytes(b"code" * 100)
    packed(tmp_path / "python.wasm")
    (file,) = tmp_path.iterdir()
    assert (file.name, gzip.decompress(file.read_bytes())) == (
        "python.wasm.packed", b"code" * 100)
