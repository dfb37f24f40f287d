"""The Chinese edition: translations keep names, marks and terms, and the code is that of the
English one, but for its comments. A text that is not translated yet fails no check.
"""

import os
import re
from pathlib import Path

import polib
import pytest

import translate
from cells import code_cells
from texts import notebooks
from volcano_lab.course.kit.field import to_be_changed
from volcano_lab.messages.catalogue import SCRIPT, catalogue
from volcano_lab.widgets.scripts import HERE

ROOT = Path(__file__).parents[1]
NOTEBOOKS = notebooks()


@pytest.mark.long
def test_translations_keep_names_and_marks_and_use_the_glossarys_terms():
    assert translate.problems() == []


@pytest.mark.long
def test_a_changed_english_text_is_counted_and_blocks_nothing(monkeypatch):
    known = translate.collected()
    catalogue = next(iter(known))
    changed = known | {catalogue: ["A new sentence of one lesson.", *known[catalogue]]}
    monkeypatch.setattr(translate, "collected", lambda: changed)
    assert translate.problems() == []
    (left,) = [text for text in translate.untranslated() if "A new sentence" in text]
    assert left.startswith(str(catalogue.relative_to(ROOT)))


def test_an_update_prints_what_is_to_translate(monkeypatch, capsys):
    monkeypatch.setattr(translate, "update", lambda: None)
    monkeypatch.setattr(translate, "untranslated",
                        lambda: ["a.po: One line\nand another", "b.po: B"])
    assert translate.main("update", []) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["to translate: a.po: One line",
                                                       "to translate: b.po: B"]


@pytest.mark.long
def test_catalogues_are_stored_as_an_update_writes_them():
    """So that an update shows what changed and nothing else."""
    paths = [*(ROOT / "volcano_lab").rglob("*.po"), *(ROOT / "docs" / "languages").rglob("*.po")]
    assert [path.name for path in paths if str(polib.pofile(
        str(path), wrapwidth=100)) != path.read_text(encoding="utf-8")] == []


def test_the_readme_is_that_of_the_catalogue():
    assert (ROOT / "README.zh-CN.md").read_text(encoding="utf-8") == translate.readme(), "make zh"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chinese_notebook_has_the_code_of_the_english_one(path):
    cells = code_cells(path.parent / "zh" / path.name)
    assert 'speak("zh")' in cells.pop("language")
    assert cells == {name: translate.commented(source, path.stem)
                     for name, source in code_cells(path).items()}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_same_cells_are_there_to_be_changed(path):
    chinese = code_cells(path.parent / "zh" / path.name)
    assert all(to_be_changed(chinese[name]) == to_be_changed(source)
               for name, source in code_cells(path).items())


def test_scripts_take_nothing_apart_at_a_text_that_is_translated():
    entries = catalogue("zh", SCRIPT)
    for path in sorted(HERE.glob("js/**/*.js")):
        for mark in re.findall(r'\.split\("([^"]*)"\)', path.read_text(encoding="utf-8")):
            assert mark not in entries, (path.name, mark)


def test_the_chinese_contributors_page_names_what_there_is():
    page = (ROOT / "CONTRIBUTING.zh.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"make ([a-z]+)", page)
    assert "zh" in targets and all(f"\n{target}: " in makefile for target in targets)
    named = re.findall(r"`((?:volcano_lab|docs|tests|tools|notebooks)/[\w/.-]+)`", page)
    known = [name for name in named if not re.search("NN", name)]
    assert len(known) > 8 and all((ROOT / name).exists() for name in known)
    assert translate.half_width(page) == translate.replaced(re.sub("“[^”]*”", "", page)) == ""


STAYS = re.compile("|".join((
    "tasks in gang|nodes are unavailable|^node\\(s\\)|^(didn't|had) |Insufficient|Origin reason",
    "^execute |^Pod is |^volcano: |^Successfully |^failed to bind ",  # Volcano's and kubectl's
    r"^(queue|job|task|Pod) [\w-]+(, (task|node) [\w-]+)*$|^(undo|evict|allocate) |Pipelined on",
    r"^min member$|^team=gpu|^--percentage|^\w+ [cg]pu$")))  # fields, flags and states
"""Texts that stay English in every language."""


@pytest.mark.slow
@pytest.mark.parametrize("path", [  # lesson 14 simulates days for minutes: not in CI
    path for path in NOTEBOOKS if not ("CI" in os.environ and path.name.startswith("14-"))
    ], ids=lambda path: path.stem)
def test_every_text_of_a_chinese_lesson_is_found_whole(path):
    assert [text for text in translate.missing(path)
            if not STAYS.search(text)] == []
