"""The notebooks as they are stored: run from top to end, with their outputs, as `make notebooks`
leaves them.
"""

import copy
import json
import re
from pathlib import Path

import nbformat
import pytest

import notebooks as tool
from cells import processes, shown as run
from lessons import FOLD, faults, visible_text
from volcano_lab.course.kit.lessons import LESSONS, START
from volcano_lab.course.kit.live import views
from volcano_lab.course.kit.question import Asked, Prediction
from volcano_lab.framework.points.table import BUILT_IN as POINTS
from volcano_lab.messages import speak

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("**/*.ipynb")
                   if ".ipynb_checkpoints" not in path.parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_stored_notebook_is_whole_and_settled(path):
    speak("zh" if path.parent.name == "zh" else "en")
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)

    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(
        1,
        len(code) + 1)), "not run from top to end"
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs, "no outputs are stored"
    assert not [
        output for output in outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    again = tool.settled(copy.deepcopy(notebook))
    assert again == notebook, "store it with `make notebooks`"
    for cell, stored in zip(tool.threaded(again, path.name).cells, notebook.cells, strict=True):
        same = (cell.id, cell.source, cell.metadata) == (
            stored.id, stored.source, stored.metadata)
        assert same, "store it with `make notebooks`"


def test_the_courses_table_has_every_notebook():
    assert {path.name for path in NOTEBOOKS if path.parent.name == "notebooks"} == {
        START, *(lesson.file for lesson in LESSONS.values())}


VARIES = re.compile("widget-view|^image/(png|jpeg)$")
"""Kinds of data that differ from run to run or from machine to machine."""


def settled(outputs):
    """The data of outputs that is the same in every run: that which nbval compares."""
    return [{kind: text for kind, text in data.items() if not VARIES.search(kind)}
            for data in outputs]


def seen(path):
    """What a run of a notebook shows: {cell: outputs}, and what its questions keep until they are
    answered, which are reasons and results as HTML.
    """
    outputs, found = {}, []
    for cell, value, shown in run(path):
        outputs[cell] = settled(shown)
        if isinstance(value, Prediction):
            reasons = value.because
            found += [reasons] if isinstance(reasons, str) else reasons.values()
        if isinstance(value, Prediction | Asked):
            found += [view["html"] for view in views(value.result)]
    return outputs, [secret for secret in found if len(secret) > 20]


def english(path):
    """The English notebook that a notebook is a translation of."""
    return path.parents[1] / path.name if path.parent.name == "zh" else path


def on_the_newer_python(path):
    """Whether a notebook is run there, too: in English, but for lesson 14, which takes minutes."""
    return path.parent.name == "notebooks" and not path.name.startswith("14-")


@pytest.fixture(scope="module")
def runs(request):
    """{notebook: what is `seen` of it}, of those that are wanted in this run."""
    wanted = {item.callspec.params["path"] for item in request.session.items
              if item.path == request.path and "runs" in getattr(item, "fixturenames", ())}
    wanted |= {english(path) for path in wanted}
    with processes(seen, wanted) as found:
        yield found


@pytest.mark.parametrize("number", LESSONS)
def test_nothing_on_a_page_answers_one_of_its_questions(number):
    notebook = json.loads((ROOT / "notebooks" / LESSONS[number].file).read_text())
    assert faults(notebook, number) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_source_is_folded(path):
    cells = json.loads(path.read_text())["cells"]
    assert not [cell["id"] for cell in cells if "jupyter" in cell["metadata"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_link_to_a_cell_leads_to_the_part_that_it_names(path):
    cells = {cell.id: cell.source for cell in nbformat.read(path, 4).cells}
    links = re.findall(r"\[[^\]\d]*(\d+)[^\]\d]*\]\(#cell-id=([^)]*)\)", "\n".join(cells.values()))
    assert all(re.search(rf"^## {number}\. ", cells[cell], re.MULTILINE) for number, cell in links)
    tables = re.findall(r"\[[^\]\d]*\]\(#cell-id=([^)]*)\)", "\n".join(cells.values()))
    assert all(re.search("^### ", cells[cell], re.MULTILINE) for cell in tables)
    assert bool(links) == path.name.startswith("18-"), "an anchor of another form does not scroll"
    assert not re.search(r"\]\(#(?!cell-id=)", "\n".join(cells.values()))


@pytest.mark.slow
@pytest.mark.parametrize("path", [
    pytest.param(path, marks=[pytest.mark.newer] * on_the_newer_python(path))
    for path in NOTEBOOKS], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_run_shows_what_is_stored(path, runs):
    outputs, _ = runs[path].get()
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            stored = [{"text": each.text} if each.output_type == "stream" else each.data
                      for each in cell.outputs]
            assert outputs[cell.id] == settled(stored), f"{cell.id}: store it with `make notebooks`"


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_answer_is_stored_before_its_question_is_answered(path, runs):
    notebook = json.loads(path.read_text())
    stored = [text for cell in notebook["cells"] for output in cell.get("outputs", [])
              for text in (FOLD.sub("", "".join(part)) for part in output.get("data", {}).values())]
    shown = visible_text(notebook)
    _, secrets = runs[path].get()
    assert not [secret for secret in secrets
                if secret in shown or any(secret in text for text in stored)]


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != english(path)],
                         ids=lambda path: path.name)
def test_a_heading_is_translated_unless_the_page_itself_has_the_word(path):
    """A label of one word is in no sentence that a tool collects."""
    notebook = nbformat.read(path, 4)
    tables = [output.get("data", {}).get("text/html", "") for cell in notebook.cells
              for output in cell.get("outputs", [])]
    heads = {re.sub("<[^>]*>", "", head)
             for head in re.findall("<th[^>]*>(.*?)</th>", "".join(tables))}
    words = "\n".join(cell.source for cell in notebook.cells)
    assert not {head for head in heads - POINTS.keys()
                if re.fullmatch(r"[a-z ]+", head) and head not in words}


@pytest.mark.long
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != english(path)],
                         ids=lambda path: path.name)
def test_tables_have_as_many_rows_as_in_english(path, runs):
    """A cell that looks for an English word in a table finds nothing in a translated one."""
    def rows(page):
        outputs, kept = runs[page].get()
        texts = [data.get("text/html", "") for cell in sorted(outputs) for data in outputs[cell]]
        return [text.count("<tr") for text in texts], [
            text.count("<tr") for text in kept if "<tr" in text]

    assert rows(path) == rows(english(path))


NAMED = re.compile(r"(?:\]\((\d[\w-]+\.ipynb)\)\W*)?\b(?:section|part)s? (\d+(?:(?:, | and )\d+)*)")
"""A section, of the lesson that is linked before it or of the page itself."""


@pytest.mark.long
def test_sections_of_lessons_that_a_page_names_are_there():
    pages = {path.name: prose(path) for path in NOTEBOOKS if path.parent.name != "zh"}
    numbers = {name: re.findall(r"^## (\d+)\. ", text, re.MULTILINE)
               for name, text in pages.items()}
    named = [(name, other or name, wanted) for name, text in pages.items()
             for other, listed in NAMED.findall(text) for wanted in re.findall(r"\d+", listed)]

    assert len(named) > 10
    assert [row for row in named if row[2] not in numbers[row[1]]] == []


def prose(path):
    cells = nbformat.read(path, 4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
