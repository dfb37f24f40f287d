"""Imports point down only (the contracts in pyproject.toml), and the core is light: numpy and pure
Python.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import volcano_lab.plugins  # noqa: F401  # registers what is built in
from volcano_lab.framework.registry import Registry
from volcano_lab.messages.install import install_line

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "volcano_lab"
CORE = {"api", "framework", "plugins", "actions", "cache", "scheduler", "manifests"}
LAB = {"pandas", "altair", "ipywidgets", "anywidget", "IPython", "traitlets"}
SIMULATION = {"simpy", "prometheus_client"}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.mark.long
def test_every_unit_is_ranked_and_imports_point_down_only():
    result = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as l; l()"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.long
def test_plugins_meet_in_the_session_only():
    known = Registry.all["plugin"]
    plugins = {known.get(name).__module__ for name in known.built_in}
    assert len(plugins) > 20 and all(name.startswith("volcano_lab.plugins.") for name in plugins)
    between = {(name, node.module) for name in plugins
               for node in ast.walk(ast.parse(PATHS[name].read_text()))
               if isinstance(node, ast.ImportFrom) and node.module in plugins}
    assert not between, f"plugins that import plugins: {between}"


def loaded_by(*modules):
    """{name: file or None} of the modules that a fresh process has loaded after importing these."""
    script = f"""
import importlib, json, sys
for name in {modules!r}:
    importlib.import_module(name)
print(json.dumps({{name: getattr(module, "__file__", None)
                  for name, module in sys.modules.items()}}))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_package_alone_is_light():
    loaded = {name.partition(".")[0] for name in loaded_by("volcano_lab")}
    assert not loaded & (LAB | SIMULATION | {"yaml", "rich"})


@pytest.mark.long
def test_the_command_loads_nothing_before_it_answers_to_ctrl_c():
    new = loaded_by("volcano_lab.cli").keys() - loaded_by("json").keys()
    assert new == {"volcano_lab", "volcano_lab.cli"}


@pytest.mark.long
def test_help_and_completion_load_no_scheduler():
    loaded = loaded_by("volcano_lab.cli.grammar").keys()
    assert not loaded & {"numpy", "yaml", "rich", "volcano_lab.api", "volcano_lab.framework"}


@pytest.mark.long
def test_the_core_needs_numpy_and_pure_python_only():
    core = [name for name in PATHS if name.count(".") and name.split(".")[1] in CORE]
    assert core
    loaded = loaded_by(*core)
    assert not {name.partition(".")[0] for name in loaded} & LAB
    compiled = {name for name, file in loaded.items()
                if file and file.endswith((".so", ".pyd")) and "site-packages" in file
                and name.partition(".")[0] not in {"numpy", "_yaml"} and name != "yaml._yaml"}
    assert not compiled, f"compiled modules besides numpy's: {sorted(compiled)}"


@pytest.mark.long
@pytest.mark.parametrize(("use", "package"), [
    ("volcano_lab.Cluster().frame()", "pandas"),
    ("volcano_lab.tables.jobs(volcano_lab.Cluster().run())", "pandas"),
    ("volcano_lab.charts", "altair"),
    ("volcano_lab.stepper", "anywidget"),
])
def test_a_missing_package_is_one_sentence_with_the_command_that_installs_it(use, package):
    script = f"import sys; sys.modules[{package!r}] = None; import volcano_lab; {use}"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                            check=False)
    last = result.stderr.splitlines()[-1]
    assert f"needs {package}" in last and install_line("lab") in last
