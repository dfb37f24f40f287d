"""The tools for lessons: links and tags, and what must not stand on a page."""

import copy
import doctest
import importlib

import nbformat
import pytest

import lessons
import notebooks as tool

REASON = "It holds the smallest share of the three."
ENTRIES = {"which": {"predicts": "Which?", "answers": {
    "a": "It holds more.", "b, then a": f"right: {REASON}", "c": ""}},
    "sum": {"asks": "Which sum?", "answers": {9.6: "right: All of it.", 2: "And the rest?"},
            "takes": "float", "otherwise": "Add."}}
ASKED = 'ask("which", table(rows))'


@pytest.fixture(autouse=True)
def lesson(monkeypatch):
    monkeypatch.setattr(lessons, "entries", lambda number: ENTRIES)


def markdown(text):
    return nbformat.v4.new_markdown_cell(text, id=f"m{abs(hash(text))}"[:20])


def code(source, shown=(), html=None):
    data = [{"text/plain": text} | ({"text/html": html} if html else {}) for text in shown]
    outputs = [nbformat.v4.new_output("execute_result", each) for each in data]
    return nbformat.v4.new_code_cell(source, outputs=outputs, id=f"c{abs(hash(source))}"[:20])


FOLDED = "<details><summary>x</summary>first b, then a</details>"
FAULTS = [
    ("a question", [code('ask("sum")')], None),
    ("its reason is in the next text", [code(ASKED), markdown(f"Yes. **{REASON}**")],
     "stands on the page"),
    ("its reason is in a fold", [code(ASKED), markdown(f"<details>{REASON}</details>")], None),
    ("its reason is in an output", [code(ASKED), code("x", [REASON])], "stands on the page"),
    ("a later output answers it", [code('ask("sum")'), code("x", ["16 where 9.6 is allowed"])],
     "its stored output answers sum"),
    ("an earlier one does", [code("x", ["b, then a"]), code(ASKED)],
     "its stored output answers which"),
    ("another number", [code('ask("sum")'), code("x", ["19.6, 9.65"])], None),
    ("a folded output", [code(ASKED), code("x", ["first b, then a"], FOLDED)], None),
    ("no word for one of the answers", [code(ASKED)], "no word of its own for who answers c"),
    ("an assert", [code("x = 1\nassert x == 1")], "a visible assert"),
    ("the word in a text", [markdown("assert yourself")], None),
]


@pytest.mark.parametrize(("sentence", "cells", "fault"), FAULTS, ids=[row[0] for row in FAULTS])
def test_what_a_page_gives_away(sentence, cells, fault):
    found = lessons.faults(nbformat.v4.new_notebook(cells=cells), "99")
    if fault is None:
        found = [each for each in found if "no word of its own" not in each]
    assert bool(found) == bool(fault) and (not fault or any(fault in each for each in found))


SOURCES = [
    (ASKED, True), ("recap()", True), ("cycle = cluster.run()\n" + ASKED, False),
    ("checks.take(take)", False), ("def take():\n    return ...\n\n\nchecks.take(take)", False),
    ("from volcano_lab.course.kit import lesson\n\nlesson('03')", True), ("x = 1", False),
    ("", False),
]


@pytest.mark.parametrize(("source", "asks"), SOURCES)
def test_the_documentation_leaves_the_source_of_a_question_out(source, asks):
    cell = code(source)
    tool.tag(cell)
    assert ("remove-input" in cell.metadata.get("tags", [])) is asks
    assert "jupyter" not in cell.metadata, "a notebook hides nothing"


LINKS = [
    ("See lesson 04.", "See [lesson 04](04-admission.ipynb)."),
    ("Lesson 04 shows", "[Lesson 04](04-admission.ipynb) shows"),
    ("lessons 00, 02 and 04", "lessons [00](00-fair-share.ipynb), [02](02-resources.ipynb) and "
                              "[04](04-admission.ipynb)"),
    ("this lesson 03", "this lesson 03"),
    ("[lesson 04](elsewhere.md)", "[lesson 04](elsewhere.md)"),
    ("`lesson 04` and lesson 99", "`lesson 04` and lesson 99"),
    ("# lesson 04", "# lesson 04"),
    ("```\nlesson 04\n```", "```\nlesson 04\n```"),
]


@pytest.mark.parametrize(("text", "linked"), LINKS)
def test_a_lesson_that_is_named_is_a_link(text, linked):
    assert tool.linked(text, "03") == linked == tool.linked(linked, "03")


def test_the_thread_is_put_in_once():
    notebook = nbformat.v4.new_notebook(cells=[markdown("# Proportion\n\nThree teams."), code("x")])
    once = tool.threaded(notebook, "03-proportion.ipynb")
    first, standing, *_, end = once.cells
    assert first.source.splitlines()[2].startswith("◂ [02 Resources](02-resources.ipynb) · **03")
    assert first.source.endswith("\n\nThree teams.") and 'lesson("03")' in standing.source
    assert "04-admission.ipynb" in end.source
    assert tool.threaded(copy.deepcopy(once), "03-proportion.ipynb") == once


def test_a_lesson_is_measured():
    cells = [markdown("one two `three four` five"), code("x = 1"), code(ASKED),
             code("def take():\n    return ...\n\n\nchecks.take(take)")]
    words, visible, minutes = lessons.measured(nbformat.v4.new_notebook(cells=cells), "99")
    assert (words, visible) == (3, 2) and 6 < minutes < 7

    # What `kubectl` printed has to be read, too; a table's text for pages without HTML has not.
    cells[1].outputs = [nbformat.v4.new_output("stream", text="train Pending\n" * 45),
                        nbformat.v4.new_output("display_data", {"text/plain": "queue share " * 60})]
    longer = lessons.measured(nbformat.v4.new_notebook(cells=cells), "99")
    assert longer == (words, visible, pytest.approx(minutes + 1))


@pytest.mark.long
@pytest.mark.parametrize("name", ["audit", "lesson_links", "lessons", "notebooks", "slides",
                                  "texts", "translate"])
def test_the_examples_of_a_tool_hold(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert found.attempted and not found.failed
