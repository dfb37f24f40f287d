"""Sentences that users read stand in the tables of `messages/texts`, not in code: no constant with
two English words where manifests are read, causes found, changes written and answers printed; in
the other packages none in an error, a print, or a text that is looked up.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "volcano_lab"
WHOLE = ("manifests", "explain", "changes", "cli", "cluster.py", "scheduler.py")
"""Packages that have no English at all."""
WORDS = re.compile(r"(?<![\w/.-])[A-Za-z]?[a-z']+[,;:]? [a-z]{2,}(?![\w/=.-])")
SAYS = re.compile(r"\w*Error|OneSentence|Mistake|Misuse|NoSuch|NotRead|NotRegistered|Unreadable|"
                  r"Unknown\w+|gettext|print|warn|echo|finding")
"""Functions and errors whose text users read."""
OWN = re.compile("|".join((
    "^kubectl |paste -sd|^vcctl ",  # commands
    "exceeded quota|^Failed to schedule pod|is invalid: |LimitRanger plugin set|^the server ",
    "tasks in gang|^Insufficient pods|Pod is evicted, because",  # what Kubernetes and Volcano say
    r"^ has no attribute |^ on node $|^ and job $|no limit\|",  # Python's own, keys, patterns
    "^real capability$|^parent queue$",  # a column, a part of Volcano's own
    r"^(keys of amounts|domains of annotations|fields of raw parts|\| public words \|)$",  # heads
    "^en or zh, the language|Ctrl-C ends it")))  # of --help, whose catalogue has it
"""What is no sentence of ours."""


def constants(tree: ast.AST) -> Iterator[ast.Constant]:
    """Texts with two English words, without docstrings."""
    docstrings = {id(part.value) for part in ast.walk(tree) if isinstance(part, ast.Expr)}
    for each in ast.walk(tree):
        if (isinstance(each, ast.Constant) and isinstance(each.value, str)
                and id(each) not in docstrings and WORDS.search(each.value)
                and not OWN.search(each.value)):
            yield each


def english(source: str, whole: bool) -> list[tuple[int, str]]:
    """Lines and texts with English: of the `whole` source, or of what it says."""
    tree = ast.parse(source)
    said = [tree] if whole else [
        argument for call in ast.walk(tree) if isinstance(call, ast.Call)
        and SAYS.fullmatch(getattr(call.func, "id", getattr(call.func, "attr", "")))
        for argument in call.args]
    return sorted({(each.lineno, each.value) for part in said for each in constants(part)})


def files(*names: str) -> Iterator[Path]:
    for name in names:
        path = LIBRARY / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def test_what_is_english_is_seen():
    source = '"""A text of two words."""\nraise Mistake(f"{x}: is no file")\ny = "no file at all"'
    assert english(source, True) == [(2, ": is no file"), (3, "no file at all")]
    assert english(source, False) == [(2, ": is no file")]
    assert english('x = "queue/a", "spec.weight"\nrun("kubectl get queues")', True) == []


@pytest.mark.long
@pytest.mark.parametrize("name", WHOLE)
def test_there_is_no_english_in_code(name):
    found = {str(file.relative_to(LIBRARY)): english(file.read_text(encoding="utf-8"), True)
             for file in files(name)}
    assert {file: texts for file, texts in found.items() if texts} == {}


@pytest.mark.long
@pytest.mark.parametrize("name", ["trace", "simulation"])
def test_what_is_said_stands_in_the_tables(name):
    found = {str(file.relative_to(LIBRARY)): english(file.read_text(encoding="utf-8"), False)
             for file in files(name)}
    assert {file: texts for file, texts in found.items() if texts} == {}
