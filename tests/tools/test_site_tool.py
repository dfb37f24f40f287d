"""What builds the site: it refuses a site that would ask elsewhere, and its archive has Python
alone.
"""

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from lite.app import KERNEL
from lite.archives import _files, _write

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
