"""Imports point down only, and the core is light: numpy and pure Python (the layers: README.md, "The house")."""

import ast
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "volcano_lab"

# Lower layers first; units of one layer do not import each other. A unit that is not named here is a helper: it may be
# imported from anywhere, but never be a way around (what it imports counts as imported by whoever imports it).
LAYERS = [
    {"api"},
    {"framework"},
    {"plugins", "actions", "cache"},
    {"scheduler"},
    {"explain"},
    {"tables", "charts"},
    {"widgets", "cli"},
    {"lessons"},
]
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
CORE = {"api", "framework", "plugins", "actions", "cache", "scheduler", "manifests"}
LAB = {"pandas", "altair", "ipywidgets", "anywidget", "IPython", "traitlets"}
SIMULATION = {"simpy", "prometheus_client"}

SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


def unit_of(module):
    """The part of the house to which a module belongs: its first name below the package."""
    return module.split(".")[1] if "." in module else ""


def imports_of(module):
    """The package's own modules that a module imports, anywhere in its text but for type checkers only."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found, todo = set(), [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo.extend(node.orelse)
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            name = ".".join(base + ([node.module] if node.module else []))
            submodules = {f"{name}.{alias.name}" for alias in node.names} & MODULES.keys()
            # `from . import node` imports the submodule only: the package itself has begun to load already.
            found.update(submodules or {name})
    return {name for name in found if name in MODULES and name != module}


IMPORTS = {module: imports_of(module) for module in MODULES}


def units_reached():
    """{unit: {unit that it imports, also by way of helpers: one chain of modules that shows it}}."""
    reached = defaultdict(dict)
    for start in MODULES:
        todo, seen = [(start,)], {start}
        while todo:
            chain = todo.pop()
            for target in sorted(IMPORTS[chain[-1]] - seen):
                seen.add(target)
                if unit_of(target) != unit_of(start):
                    reached[unit_of(start)].setdefault(unit_of(target), " -> ".join((*chain, target)))
                if unit_of(target) not in RANK:
                    todo.append((*chain, target))
    return reached


@pytest.mark.parametrize("unit", sorted(RANK))
def test_imports_point_down_only(unit):
    upward = [chain for target, chain in units_reached()[unit].items()
              if target in RANK and RANK[target] >= RANK[unit]]
    assert not upward, "imports that point up or sideways:\n" + "\n".join(upward)


def test_no_units_import_each_other():
    reached = units_reached()
    pairs = [(chain, reached[target][unit]) for unit, targets in reached.items() for target, chain in targets.items()
             if unit and target and unit in reached.get(target, {})]
    assert not pairs, f"units that import each other: {pairs}"


def is_plugin(module):
    classes = [node for node in ast.walk(ast.parse(MODULES[module].read_text())) if isinstance(node, ast.ClassDef)]
    return any(ast.unparse(base).split(".")[-1] == "Plugin" for node in classes for base in node.bases)


def test_plugins_meet_in_the_session_only():
    plugins = {module for module in MODULES if unit_of(module) == "plugins" and is_plugin(module)}
    between = {module: sorted(IMPORTS[module] & plugins) for module in plugins if IMPORTS[module] & plugins}
    assert not between, f"plugins that import plugins: {between}"


def loaded_by(*modules):
    """{name: file or None} of the modules that a fresh process has loaded after importing these."""
    script = f"""
import importlib, json, sys
for name in {modules!r}:
    importlib.import_module(name)
print(json.dumps({{name: getattr(module, "__file__", None) for name, module in sys.modules.items()}}))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_package_alone_is_light():
    loaded = {name.partition(".")[0] for name in loaded_by("volcano_lab")}
    assert not loaded & (LAB | SIMULATION | {"yaml", "rich"})


def test_the_core_needs_numpy_and_pure_python_only():
    core = [module for module in MODULES if unit_of(module) in CORE]
    assert core
    loaded = loaded_by(*core)
    assert not {name.partition(".")[0] for name in loaded} & LAB
    compiled = {name for name, file in loaded.items()
                if file and file.endswith((".so", ".pyd")) and "site-packages" in file
                and name.partition(".")[0] not in {"numpy", "_yaml"} and name != "yaml._yaml"}
    assert not compiled, f"compiled modules besides numpy's: {sorted(compiled)}"
