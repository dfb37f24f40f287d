"""Which other Python is found on a machine: one that runs, the newest first."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location(
    "pythons", Path(__file__).parents[2] / "tools" / "pythons.py")
pythons = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pythons)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with nothing on it, and a way to put interpreters there."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/bin:/usr/bin")
    for variable in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "RUNNER_TOOL_CACHE"):
        monkeypatch.setenv(variable, f"{tmp_path}/{variable}")

    def put(place, says):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{says}\n")
        path.chmod(0o755)
        return str(path)

    return put


@pytest.mark.parametrize("place", [
    "bin/python3.98", "PYENV_ROOT/versions/3.98.1/bin/python3.98",
    "UV_PYTHON_INSTALL_DIR/cpython-3.98.0-linux/bin/python3.98",
    "RUNNER_TOOL_CACHE/Python/3.98.2/x64/bin/python3.98"
])
def test_an_interpreter_is_found_where_such_tools_keep_theirs(machine, place):
    path = machine(place, "echo 3.98")
    assert pythons.find("3.98") == path and pythons.find("3.97") is None


@pytest.mark.parametrize("says", ["exit 127", "echo 3.9", "echo no"])
def test_a_shim_that_leads_nowhere_is_passed_over(machine, says):
    machine("bin/python3.98", says)
    path = machine("PYENV_ROOT/versions/3.98.1/bin/python3.98", "echo 3.98")
    assert pythons.find("3.98") == path


def test_the_newest_above_is_taken_and_none_where_there_is_none(machine, monkeypatch):
    monkeypatch.setattr(pythons, "NEWEST", 99)
    assert pythons.newer(than=(3, 96)) is None
    machine("bin/python3.97", "echo 3.97")
    newest = machine("bin/python3.99", "echo 3.99")
    assert pythons.newer(than=(3, 96)) == newest and pythons.newer(than=(3, 99)) is None
