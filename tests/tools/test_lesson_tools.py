"""The tools for lessons: links and hidden sources, and what must not stand on a page."""

import copy

import nbformat
import pytest

import lessons
import notebooks as tool

REASON = "It holds the smallest share of the three."
ASKED = ('predict("Which?", ["a", "b"],\n        answer="b", '
         f'because={{"a": "It holds more.", "b": "{REASON}"}})')


def markdown(text):
    return nbformat.v4.new_markdown_cell(text, id=f"m{abs(hash(text))}"[:20])


def code(source, shown=(), hidden=False):
    outputs = [nbformat.v4.new_output("execute_result", {"text/plain": text}) for text in shown]
    cell = nbformat.v4.new_code_cell(source, outputs=outputs, id=f"c{abs(hash(source))}"[:20])
    if hidden:
        cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


FAULTS = [
    ("a hidden question", [code(ASKED, hidden=True)], None),
    ("its source is visible", [code(ASKED)], "visible source"),
    ("its first line tells", [code('predict("Which?", answer="b")', hidden=True)], "first line"),
    ("its reason is in the next text", [code(ASKED, hidden=True), markdown(f"Yes. **{REASON}**")],
     "stands on the page"),
    ("its reason is in an output", [code(ASKED, hidden=True), code("x", [REASON])],
     "stands on the page"),
    ("the answer is compared in the open", [code('guess.compare("b")')], "visible source"),
    ("the same in a hidden cell", [code('guess.compare("b")', hidden=True)], None),
    ("one word for all options", [
        code(ASKED.partition("because=")[0] + f'because="{REASON}")', hidden=True)],
     "no word of its own for who answers 'a'"),
    ("no word for one of them", [code(ASKED.replace('["a", ', '["a", "c", '), hidden=True)],
     "no word of its own for who answers 'c'"),
    ("a number has no options", [
        code(f'predict("How many?",\n        answer=3, because="{REASON}")', hidden=True)], None),
    ("an assert", [code("x = 1\nassert x == 1")], "a visible assert"),
    ("a hidden assert", [code("assert True", hidden=True)], None),
    ("the word in a text", [markdown("assert yourself")], None),
]


@pytest.mark.parametrize(("sentence", "cells", "fault"), FAULTS, ids=[row[0] for row in FAULTS])
def test_what_a_page_gives_away(sentence, cells, fault):
    notebook = nbformat.v4.new_notebook(cells=cells)
    found = lessons.faults(notebook)
    assert bool(found) == bool(fault) and (not fault or any(fault in each for each in found))


SOURCES = [
    (ASKED, True), ("ask(checks.share)", True), ('recap(["One."])', True),
    ("guess = predict('Which?')\nguess", True), ("cycle = cluster.run()\n" + ASKED, False),
    ("checks.take(take)", False), ("def take():\n    return ...\n\n\nchecks.take(take)", False),
    ("from volcano_lab.course.kit import lesson\n\nlesson('03')", True), ("x = 1", False),
    ("", False),
]


@pytest.mark.parametrize(("source", "plumbing"), SOURCES)
def test_a_cell_that_only_asks_has_its_source_hidden(source, plumbing):
    cell = code(source)
    tool.hide(cell)
    assert cell.metadata.get("jupyter", {}).get("source_hidden", False) is plumbing
    assert ("remove-input" in cell.metadata.get("tags", [])) is plumbing


def test_an_author_may_hide_a_cell():
    cell = code("import pandas as pd")
    cell.metadata["tags"] = ["plumbing"]
    tool.hide(cell)
    assert cell.metadata == {
        "tags": ["plumbing", "remove-input"], "jupyter": {"source_hidden": True}}


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
    cells = [markdown("one two `three four` five"), code("x = 1"), code(ASKED, hidden=True),
             code("def take():\n    return ...\n\n\nchecks.take(take)")]
    words, visible, minutes = lessons.measured(nbformat.v4.new_notebook(cells=cells))
    assert (words, visible) == (3, 2) and 5 < minutes < 6

    # What `kubectl` printed has to be read, too; a table's text for pages without HTML has not.
    cells[1].outputs = [nbformat.v4.new_output("stream", text="train Pending\n" * 60),
                        nbformat.v4.new_output("display_data", {"text/plain": "queue share " * 60})]
    longer = lessons.measured(nbformat.v4.new_notebook(cells=cells))
    assert longer == (words, visible, pytest.approx(minutes + 1))
