"""The library stays compact: the reading list of a day is the whole model, and the core fits its
bound.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

import pytest

from volcano_lab import Cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "volcano_lab"
CORE = ("api", "framework", "plugins", "actions", "cache", "scheduler.py")
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
         tokenize.ENDMARKER}


parsed = cache(ast.parse)


def code_lines(source: str) -> int:
    """Count the lines of code: without blank lines, comments and docstrings."""
    docstrings: set[int] = set()
    for part in ast.walk(parsed(source)):
        if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = part.body[0] if part.body else None
            if (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                    and isinstance(first.value.value, str)):
                docstrings.update(range(first.lineno, first.end_lineno + 1))
    lines = {line for token in tokenize.generate_tokens(io.StringIO(source).readline)
             if token.type not in BLANK for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - docstrings)


def test_docstrings_and_comments_are_no_code():
    assert code_lines('"""What it is."""\n\n# A reason.\nx = [\n    1]\n') == 2


def total(paths: list[Path]) -> int:
    return sum(code_lines(path.read_text(encoding="utf-8")) for path in paths)


@pytest.mark.long
def test_the_model_is_read_in_a_day():
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\S+\.py)` \|", page, re.MULTILINE)
    assert len(listed) == len(set(listed)) <= 45
    assert total([LIBRARY / name for name in listed]) <= 4300


DENSE = 20
"""The most branches, loops, handlers and conditions of a function, those of functions in it too."""


def density(function: ast.AST) -> int:
    """Count one, and one for each branch, loop, handler, comprehension and its conditions,
    conditional expression and operator of `and` and `or`.
    """
    count = 1
    for part in ast.walk(function):
        count += isinstance(part, ast.If | ast.IfExp | ast.For | ast.While | ast.ExceptHandler
                            | ast.match_case)
        count += len(part.values) - 1 if isinstance(part, ast.BoolOp) else 0
        count += 1 + len(part.ifs) if isinstance(part, ast.comprehension) else 0
    return count


def test_conditions_and_loops_are_counted():
    assert density(ast.parse("[x for x in y if x and z] if w else 0")) == 5


@pytest.mark.long
def test_no_function_is_dense():
    """The course apart."""
    dense = [f"{path.relative_to(LIBRARY)}:{part.lineno} {part.name}"
             for path in LIBRARY.rglob("*.py") if "course" not in path.relative_to(LIBRARY).parts
             for part in ast.walk(parsed(path.read_text(encoding="utf-8")))
             if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and density(part) > DENSE]
    assert dense == []


def test_the_path_from_a_manifest_to_a_bind_names_files_in_the_order_of_a_run():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    path = page.split("```")[1]
    named = re.findall(r"^ *(\S+(?:\.py|/))", path, re.MULTILINE)
    assert len(named) > 10
    assert [name for name in named if not (LIBRARY / name).exists()] == []
    entered = files_entered(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1))
    ways = {name: next((at for at, file in enumerate(entered) if file.startswith(name)), None)
            for name in named}
    assert [name for name, at in ways.items() if at is None] == ["cache/binding.py"], (
        "a simulation drives it; a run enters every other file of the page")
    first = [name for name, at in ways.items() if at is not None]
    assert first == sorted(first, key=ways.__getitem__), "in the order in which a run enters them"


def files_entered(cluster: Cluster) -> list[str]:
    """The files of the library that a run and its rows enter, in this order, by their names in it.
    """
    entered: dict[str, None] = {}

    def note(frame, event, _argument):
        entered.setdefault(frame.f_code.co_filename) if event == "call" else None

    cluster.copy().run().jobs()  # modules are imported when they are first used
    conf = f"# a text that was not read before: {id(cluster)}\n{DEFAULT_CONF}"
    sys.setprofile(note)
    try:
        cluster.run(conf).jobs()
    finally:
        sys.setprofile(None)
    return [Path(file).relative_to(LIBRARY).as_posix() for file in entered
            if Path(file).is_relative_to(LIBRARY)]


@pytest.mark.long
def test_the_core_fits_its_bound():
    files = [path for name in CORE for path in (
        [LIBRARY / name] if name.endswith(".py") else (LIBRARY / name).rglob("*.py"))]
    assert total(files) <= 10_500


MOST_LINES = 350
"""The most lines of a file, those of docstrings too."""
TABLES = {
    "api/resource.py": "a method for each of Volcano's comparisons of two amounts",
    "framework/points/rules.py": "a class for each way in which answers combine",
    "cluster.py": "a method for each command"}
"""Longer files -> the one table that each is."""


@pytest.mark.long
def test_a_longer_file_is_one_table():
    longer = {path.relative_to(LIBRARY).as_posix() for path in LIBRARY.rglob("*.py")
              if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES}
    assert longer == {*TABLES}


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CHANGES = frozenset(("add", "append", "clear", "discard", "extend", "insert", "pop", "popleft",
                     "push", "remove", "setdefault", "sort", "update", "write"))
"""Methods with an effect."""


def changes(part: ast.AST) -> bool:
    """Return whether a part of an expression assigns, or calls a method with an effect."""
    return isinstance(part, ast.NamedExpr) or (
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        and part.func.attr in CHANGES)


def crowded(source: str) -> list[int]:
    """The lines of comprehensions with an effect, and of conditions within a condition."""
    found = []
    for part in ast.walk(parsed(source)):
        assigns = isinstance(part, COMPREHENSIONS) and any(map(changes, ast.walk(part)))
        nested = isinstance(part, ast.IfExp) and any(
            isinstance(each, ast.IfExp) for each in (part.test, part.body, part.orelse))
        if assigns or nested:
            found.append(part.lineno)
    return found


@pytest.mark.long
def test_an_expression_does_one_thing():
    assert crowded("[y for x in z if (y := x)]\n1 if a else (2 if b else 3)\n1 if a else 2\n"
                   "[x.pop() for x in y]\n[x.get() for x in y]") == [1, 2, 4]
    found = {file.relative_to(ROOT).as_posix(): crowded(file.read_text(encoding="utf-8"))
             for file in LIBRARY.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.long
def test_the_page_says_what_each_feature_around_the_core_costs():
    """Each file counts for the longest path; the numbers are rounded, and may age by a third."""
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8").partition("## What the")[2]
    said = {paths: int(lines.replace(",", "")) for paths, lines in re.findall(
        r"^\| [^|]+ \| (`[^|]+`) \| ([\d,]+) \|$", page, re.MULTILINE)}
    places = {path: paths for paths in said for path in re.findall("`([^`]+)`", paths)}
    found = dict.fromkeys(said, 0)
    missing = []
    for file in sorted(LIBRARY.rglob("*.py")):
        name = file.relative_to(LIBRARY).as_posix()
        if name.startswith(("course/", "__", *CORE)):
            continue
        known = [path for path in places if name == path or (path[-1] == "/"
                                                             and name.startswith(path))]
        missing += [name] * (not known)
        if known:
            found[places[max(known, key=len)]] += code_lines(file.read_text(encoding="utf-8"))
    assert missing == []
    assert {paths: (lines, found[paths]) for paths, lines in said.items()
            if not 2 / 3 < found[paths] / lines < 4 / 3} == {}
    assert list(said.values()) == sorted(said.values(), reverse=True)
