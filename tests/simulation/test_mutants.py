"""The list of planted bugs follows the code: each finds its one place and still is a program."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "benchmarks" / "planted.py"
SPEC = importlib.util.spec_from_file_location("planted", BENCH)
planted = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(planted)


def test_there_are_many_and_no_two_alike():
    assert len({mutant.name for mutant in planted.MUTANTS}) == len(planted.MUTANTS) >= 40


@pytest.mark.parametrize("mutant", planted.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_planted_bug_finds_its_place(mutant):
    path, text = mutant.changed(ROOT)
    assert text != path.read_text(encoding="utf-8")


def test_a_place_that_is_gone_is_told():
    with pytest.raises(SystemExit, match="is in 0 files; allowed is one place"):
        planted.Mutant("gone", "def nobody_wrote_" + "this(", "x").changed(ROOT)
