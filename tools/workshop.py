"""Makes what a workshop needs: for each plan of `notebooks/instructor` one deck and one handout.

`python tools/workshop.py [PLAN...]` writes build/workshop/PLAN.html, slides in the order of the
plan's minutes that end with the exit ticket and its key, and PLAN-handout.html, one page for each
participant; in Chinese PLAN.zh.html. With Chromium both are PDFs, too.
"""

import re
import sys
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from nbformat.v4 import new_markdown_cell

import cheat_sheet
import slides
from cells import processes
from slides import ROOT, asked, exported, printed
from translate import translated
from volcano_lab.messages import ENGLISH, speak

BUILD = ROOT / "build" / "workshop"
TEACHERS = ROOT / "notebooks" / "instructor"
PARTS = "goals", "minutes", "questions", "late", "network", "ticket", "key"
"""What the headings of a plan hold, in order."""

SECTIONS = {
    "60-minutes": {"00": range(1, 7), "17": (1, 3)},
    "half-a-day": {"00": range(1, 7), "04": range(1, 9), "06": range(1, 6), "17": range(1, 7),
                   "13": range(1, 6)},
    "a-day": {"00": range(1, 7), "04": range(1, 9), "06": range(1, 6), "13": range(1, 6),
              "06c": range(1, 20), "03": (1, 2, 4, 6, 7, 8), "09": range(1, 7), "14": range(1, 7),
              "17": (6, 8, 11, 12)}}
"""Plan -> lesson -> the numbers of the headings whose slides are shown."""

STYLE = """
@page { size: A4; margin: 11mm 14mm }
body { font: 10.5pt/1.42 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif;
  margin: 0 auto; max-width: 182mm }
h1 { font-size: 18pt; margin: 0 0 3mm }
h2 { font-size: 12pt; color: #0072b2; margin: 4mm 0 1mm } img { width: 100%; max-height: 52mm;
object-fit: contain; object-position: left } ul, ol { margin: 0; padding-left: 5mm }
ol li { margin-bottom: 11mm } table { border-collapse: collapse; font-size: 9pt }
td { padding: .5mm 4mm .5mm 0; border-bottom: .2mm solid #ddd }
td:first-child { font-family: monospace }
"""


def plan(name: str, language: str) -> tuple[str, dict[str, str]]:
    """The title of a plan and the Markdown of its parts."""
    source = (TEACHERS / f"{name}.md").read_text(encoding="utf-8")
    if language != ENGLISH:
        source = translated(source, f"instructor-{name}")
    head, *parts = re.split(r"^## ", source, flags=re.MULTILINE)
    return (head.partition("\n")[0].removeprefix("# "),
            dict(zip(PARTS, (f"## {part}" for part in parts), strict=True)))


def notebook_of(number: str, language: str) -> Path:
    """The file of a lesson."""
    folder = ROOT / "notebooks" / ("" if language == ENGLISH else language)
    return next(folder.glob(f"{number}-*.ipynb"))


def cut(notebook, numbers):
    """The notebook's title and the cells below the headings of these numbers, counted from 1."""
    kept, at = [], 0
    for cell in notebook.cells:
        at += cell.cell_type == "markdown" and cell.source.startswith("## ")
        if at in numbers:
            kept.append(cell)
    title = notebook.cells[0].source.partition("\n")[0]
    return nbformat.v4.new_notebook(cells=[new_markdown_cell(title), *kept])


def scene(notebook) -> str:
    """The first picture of a lesson."""
    shown = "".join(output.get("data", {}).get("text/html", "")
                    for cell in notebook.cells for output in cell.get("outputs", ()))
    return re.search(r"<img[^>]*>", shown)[0]


def deck(name: str, language: str, found) -> str:
    """A plan's slides as one page of HTML."""
    title, parts = plan(name, language)
    lessons = {number: nbformat.read(notebook_of(number, language), 4)
               for number in SECTIONS[name]}
    first = new_markdown_cell(f"# {title}\n\n{scene(next(iter(lessons.values())))}")
    cells = [first, *map(new_markdown_cell, (parts["goals"],))]
    for number, notebook in lessons.items():
        questions = found[str(notebook_of(number, language))].get()
        cells += slides.slides(cut(notebook, SECTIONS[name][number]), questions)
    cells += map(new_markdown_cell, (parts["ticket"], parts["key"]))
    for cell in cells:
        cell.metadata.setdefault("slideshow", {"slide_type": "slide"})
    return exported(cells, title)


def handout(name: str, language: str) -> str:
    """The page of a participant: goals, the scene, commands, and the exit ticket."""
    title, parts = plan(name, language)
    first = nbformat.read(notebook_of(next(iter(SECTIONS[name])), language), 4)
    goals, ticket = (MarkdownIt().render(parts[part]) for part in ("goals", "ticket"))
    commands = cheat_sheet.section("Commands of volcano-lab", cheat_sheet.COMMANDS.items())
    return (f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>'
            f"<style>{STYLE}</style><h1>{title}</h1>{scene(first)}{goals}{commands}{ticket}</html>")


def main(names: list[str]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    for language in (ENGLISH, "zh"):
        speak(language)
        ending = "" if language == ENGLISH else f".{language}"
        wanted = {str(notebook_of(number, language)) for name in names for number in SECTIONS[name]}
        with processes(asked, sorted(wanted), at_once=2) as found:
            for name in names:
                (BUILD / f"{name}{ending}.html").write_text(
                    deck(name, language, found), encoding="utf-8")
                (BUILD / f"{name}-handout{ending}.html").write_text(
                    handout(name, language), encoding="utf-8")
        printed([BUILD / f"{name}{ending}.html" for name in names])
        printed([BUILD / f"{name}-handout{ending}.html" for name in names], ready="body")


if __name__ == "__main__":
    main(sys.argv[1:] or list(SECTIONS))
