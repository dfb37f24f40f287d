"""Make pages of the documentation's copies of lessons: answers in the folds, links to pages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import nbformat

from cells import processes, questions
from notebooks import settled
from volcano_lab.widgets.lab import AT_REST

ASKED = ("ask(", ".open()")


def strip(paths: list[Path]) -> None:
    """Leave out the widgets that a played notebook has saved: a page has no kernel for them, and
    would show them instead of the HTML beside them.
    """
    for path in paths:
        nbformat.write(settled(nbformat.read(path, 4)), path)


def open_labs(paths: list[Path]) -> None:
    """Open the folds with labs' pictures: on a page they are all that shows of a lab."""
    for path in paths:
        fold = json.dumps(AT_REST)[1:-1]
        path.write_text(path.read_text().replace(fold, fold.replace(">", " open>")))


def fill(paths: list[Path]) -> None:
    """Run notebooks that ask, two at a time, and store their questions with filled folds."""
    asking = [path for path in paths if any(word in path.read_text() for word in ASKED)]
    with processes(filled, map(str, asking), at_once=2) as found:
        for path, outputs in found.items():
            store(Path(path), outputs.get())


def filled(path: str) -> dict[str, str]:
    """{cell: HTML} of a notebook's questions, with their answers."""
    from volcano_lab.course.kit.live import ANSWERS_SHOWN

    asked = questions(Path(path))
    os.environ[ANSWERS_SHOWN] = "shown"
    return {cell: question._repr_html_() for cell, question in asked.items()}


def store(path: Path, outputs: dict[str, str]) -> None:
    """Replace the HTML of these cells' outputs."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if cell["id"] in outputs and "data" in output:  # a printed text stays
                output["data"]["text/html"] = outputs[cell["id"]]
    path.write_text(json.dumps(notebook))


def link_to_try(paths: list[Path], chinese: bool) -> None:
    """Add a link to the first cell of lessons: the same notebook in the reader's browser."""
    words = "在浏览器中试一试" if chinese else "Try it in your browser"
    page = f"{'../' * chinese}../try/notebooks/index.html?path={'zh/' * chinese}"
    for path in paths:
        notebook = json.loads(path.read_text())
        cell = next(each for each in notebook["cells"] if each["cell_type"] == "markdown")
        link = f'<a class="try" href="{page}{path.name}">▸ {words}</a>'
        lines = "".join(cell["source"]).split("\n")
        title = next(at for at, line in enumerate(lines) if line.startswith("# "))
        cell["source"] = "\n".join([*lines[:title + 1], "", link, *lines[title + 1:]])
        path.write_text(json.dumps(notebook))


def link_pages(paths: list[Path]) -> None:
    """Let links in stored HTML lead to the pages of lessons instead of their notebooks, and
    links to the other language nowhere: each page has a switch.
    """
    for path in paths:
        text = re.sub(r'(href=\\"[\w-]+)\.ipynb', r"\1.html", path.read_text())
        path.write_text(re.sub(r"\[([^]]+)\]\((\.\.|zh)/start\.ipynb\)", r"\1", text))


def link_parts(paths: list[Path]) -> None:
    """Let links to a lesson's cells lead to places of its page, which has no cells."""
    for path in paths:
        notebook = nbformat.read(path, 4)
        linked = set(re.findall(r"\(#cell-id=([\w-]+)\)", nbformat.writes(notebook)))
        for cell in notebook.cells:
            cell.source = cell.source.replace("(#cell-id=", "(#part-")
            if cell.id in linked:
                cell.source = f"(part-{cell.id})=\n{cell.source}"
        if linked:
            nbformat.write(notebook, path)
