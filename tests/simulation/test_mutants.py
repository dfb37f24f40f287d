"""The list of planted bugs follows the code: each finds its one place and still is a program."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))
import mutants  # noqa: E402
import planted  # noqa: E402


def test_there_are_many_and_no_two_alike():
    assert len({mutant.name for mutant in planted.MUTANTS}) == len(planted.MUTANTS) >= 40


@pytest.mark.long
@pytest.mark.parametrize("mutant", planted.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_planted_bug_finds_its_place(mutant):
    path, text = mutant.changed(ROOT)
    assert text != path.read_text(encoding="utf-8")


@pytest.mark.long
def test_a_place_that_is_gone_is_reported():
    with pytest.raises(SystemExit, match="is in 0 files; allowed is one place"):
        planted.Mutant("gone", "def nobody_wrote_" + "this(", "x").changed(ROOT)


class Fake:
    """A copy of the tree in which the named commands fail."""

    def __init__(self, *failing):
        self.failing = failing

    def run(self, command):
        return f"FAILED {command[0]}" if command[0] in self.failing else ""


@pytest.mark.parametrize("with_bug, without, said, unsound", [
    ([], [], "", []),
    (["near"], [], "FAILED near", []),
    (["room"], [], "FAILED room", []),
    # what fails without the bug as well has not seen it; the other groups are still asked
    (["near"], ["near"], "", ["FAILED near"]),
    (["near", "room"], ["near"], "FAILED room", ["FAILED near"]),
    (["near", "room"], ["near", "room"], "", ["FAILED near", "FAILED room"]),
])
def test_a_group_that_fails_without_any_bug_has_seen_none(with_bug, without, said, unsound):
    commands = [("own",), ("near",), ("room",)]
    assert mutants.first_seen(commands, Fake(*with_bug), Fake(*without)) == (said, unsound)


def test_own_examples_run_apart_from_the_tests():
    own, near, package, others = mutants.groups(ROOT, "volcano_lab/framework/statement.py")
    assert own == ["volcano_lab/framework/statement.py"]
    assert "tests/framework/test_statement.py" in near
    assert "tests/framework/test_conf.py" in package
    assert "tests/api/test_resource.py" in others
