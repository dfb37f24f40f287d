"""What docstrings mention in backticks exists: files, modules, and names in them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "volcano_lab"
PLACES = [path.with_suffix("").relative_to(ROOT).parts for path in LIBRARY.rglob("*.py")]
FILES = ["/".join(path.relative_to(ROOT).parts) for folder in ("volcano_lab", "tools", "benchmarks")
         for path in (ROOT / folder).rglob("*.py")]
OF_GO = {"framework.HostPortInfo", "framework.NodeInfo", "framework.PodInfo", "math.Pow",
         "framework.PodInfo.CalculateResource", "resource.PodRequests", "strconv.ParseBool",
         "time.ParseDuration", "util.GetHostPorts", "Scheduler.Run", "Toleration.ToleratesTaint"}
"""Go's packages and types, which look like ours."""


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """A module's statements and those inside them, without what stands in an `else`."""
    for node in getattr(tree, "body", ()):
        yield node
        yield from statements(node)


def docstrings(tree: ast.Module) -> list[ast.Constant]:
    """The texts that stand alone: docstrings, and what is said below a name."""
    return [node.value for node in statements(tree) if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)]


@cache
def modules() -> dict[Path, ast.Module]:
    """The library's modules, parsed when a test first asks for them."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in LIBRARY.rglob("*.py")}


@cache
def words() -> set[str]:
    """The words of the code without its docstrings and comments, and the modules' own names."""
    found = {part for place in PLACES for part in place}
    for path, tree in modules().items():
        lines = path.read_text(encoding="utf-8").splitlines()
        for text in docstrings(tree):
            lines[text.lineno - 1:text.end_lineno] = [""] * (text.end_lineno - text.lineno + 1)
        found.update(re.findall(r"\w+", re.sub(r"(^| )# .*", "", "\n".join(lines), flags=re.M)))
    return found


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """The classes of the library by name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in modules().values():
        for node in statements(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


@cache
def has(name: str, part: str) -> bool:
    """Whether a class of ours, or one that it inherits from, has an attribute."""
    return any(re.search(rf"\b{part}\b", ast.unparse(each)) or any(
        has(base.id, part) for base in each.bases if isinstance(base, ast.Name))
        for each in classes().get(name, ()))


def resolves(parts: list[str]) -> bool:
    """Whether "module.Name", "room.module.name", "Class.attribute" or "library.Name" exists."""
    if parts[0] in classes():
        return all(has(parts[0], part) for part in parts[1:])
    for size in range(len(parts), 0, -1):
        for place in PLACES:
            place = place[:-1] if place[-1] == "__init__" else place
            if list(place[-size:]) == parts[:size]:
                owner, missing = import_module(".".join(place)), object()
                for part in parts[size:]:
                    owner = getattr(owner, part, missing)
                if owner is not missing:
                    return True
    try:
        return hasattr(import_module(parts[0]), parts[1])
    except ImportError:
        return False


ROOMS = {path.name for path in LIBRARY.iterdir() if path.is_dir()} | {"volcano_lab"}


def wrong(text: str) -> list[str]:
    """What a docstring mentions that does not exist."""
    found = []
    for name in re.findall(r"`([\w./]+)(?:\(\))?`", text):
        parts = name.split(".")
        dotted = len(parts) > 1 and all(part.isidentifier() for part in parts)
        if name.endswith(".py"):
            there = any(f"/{path}".endswith(f"/{name}") for path in FILES)
        elif dotted and name not in OF_GO and (parts[0] in ROOMS or parts[0] in classes()
                                               or re.search(r"\.[A-Z]\w*[a-z]", name)):
            there = resolves(parts)
        else:
            there = not re.fullmatch(r"[a-z]\w*_\w+", name) or name in words()
        found += [] if there else [name]
    return found


@pytest.mark.long
def test_what_docstrings_mention_exists():
    missing = {str(path.relative_to(ROOT)): names for path, tree in modules().items()
               if (names := [name for text in docstrings(tree) for name in wrong(text.value)])}
    assert missing == {}


@pytest.mark.long
@pytest.mark.parametrize("text, missing", [
    ("`array_chooser.py`, `placement/arrays.py`, `tools/translate.py`", []),
    ("`task_buckets.py`, `cache/arrays.py`", ["task_buckets.py", "cache/arrays.py"]),
    ("`chooser.PlainChooser`, `node_chooser.PlainChooser`", ["node_chooser.PlainChooser"]),
    ("`session.Session`, `log.Session`", ["log.Session"]),
    ("`api.fairness.water_fill`, `api.fairness.fill_water`", ["api.fairness.fill_water"]),
    ("`Statement.commit`, `Allocate.undo`, `Statement.rewind`", ["Statement.rewind"]),
    ("`attrs.evolve`, `yaml.YAMLError`, `spec.weight`, `tdm.evict.period`", []),
    ("`yaml_v2` and `predicate_key`, `save_operations()`", ["yaml_v2"]),
])
def test_a_name_that_is_gone_is_found(text, missing):
    assert wrong(text) == missing


OF_VOLCANO = re.compile(r"Volcano: |.*\b[Aa]nswers to (?:no Go|`)")
"""How a docstring says to which of Volcano's files it answers."""


@pytest.mark.long
def test_the_file_of_volcano_is_the_last_paragraph_of_a_module():
    """`Volcano: pkg/…` or `Volcano: none`; `explain` apart, for now."""
    misplaced = []
    for path, tree in modules().items():
        last = (ast.get_docstring(tree) or "").rpartition("\n\n")[2]
        own = last if last.startswith("Volcano: ") else ""
        misplaced += [str(path.relative_to(ROOT)) for text in docstrings(tree)
                      for part in re.split(r"\n\s*\n", text.value)
                      if OF_VOLCANO.match(" ".join(part.split()))
                      and " ".join(part.split()) != " ".join(own.split())]
    assert [name for name in misplaced if "/explain/" not in name] == []
