"""Runs notebooks from top to end in a fresh kernel and stores their outputs, the same way each
time.

`python tools/notebooks.py NOTEBOOK...` rewrites them in place; a cell that raises stops it with
that cell's traceback. Before that, a lesson gets what all lessons have in common (`threaded`): its
links, and a tag where the documentation needs no source. What changes from run to run and tells
a reader nothing is left out (`settled`): times, the kernel's version, the state of widgets. A
widget that also says itself in HTML (a lesson's question) is stored as that, so that a page without
a kernel shows it.
"""

import ast
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from lesson_links import course_table, end_line, top_line
from volcano_lab.course.kit.lessons import LESSONS, START

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
VIEW = "application/vnd.jupyter.widget-view+json"

KIT = {"ask", "lesson", "recap", "speak", "ways"}
HIDDEN = "remove-input"
"""The tag by which the documentation leaves a source out."""

STANDING = 'from volcano_lab.course.kit import lesson\n\nlesson("{}")'
REFERENCE = re.compile(r"(?<![\[\w])([Ll]esson (\d\d[a-z]?))(?![\w\]])")
SEVERAL = re.compile(r"(?<=[Ll]essons )\d\d(?:, \d\d)*(?: and \d\d)?")


def run(path):
    """Run the notebook at `path` in its own folder and store it with its outputs."""
    notebook = threaded(nbformat.read(path, 4), path.name)
    client = NotebookClient(notebook, kernel_name="python3", timeout=300, store_widget_state=False,
                            coalesce_streams=True,
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute(env=os.environ | {"VOLCANO_LAB_PROGRESS": os.devnull})
    nbformat.write(settled(notebook), path)


def threaded(notebook, name):
    """A lesson with its links at the top and the end, and where its reader stands.

    What an earlier run has put in is replaced.
    """
    number = name.partition("-")[0]
    if number in LESSONS:
        cells = [cell for cell in notebook.cells
                 if cell.id not in ("thread-standing", "thread-end")]
        title, _, rest = cells[0].source.partition("\n")
        rest = re.sub(rf"^\n*[^\n]*\]\({START}\)[^\n]*\n?", "", rest).strip("\n")
        cells[0].source = f"{title}\n\n{top_line(number)}\n\n{rest}".rstrip("\n")
        standing = nbformat.v4.new_code_cell(STANDING.format(number), id="thread-standing")
        end = nbformat.v4.new_markdown_cell(end_line(number), id="thread-end")
        first = 2 if len(cells) > 1 and cells[1].id == "language" else 1
        notebook.cells = [*cells[:first], standing, *cells[first:], end]
    for cell in notebook.cells:
        if cell.id == "thread-table":
            cell.source = course_table()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source, number)
        else:
            tag(cell)
    return notebook


def linked(text, number):
    """Markdown in which "lesson 04" is a link; a lesson does not link to itself.

    >>> linked("See lesson 04, `lesson 05`, [lesson 06](x) and lesson 03.", "03")
    'See [lesson 04](04-admission.ipynb), `lesson 05`, [lesson 06](x) and lesson 03.'
    >>> linked("lessons 02 and 03", "03")
    'lessons [02](02-resources.ipynb) and 03'
    """

    def link(words, other):
        known = other in LESSONS and other != number
        return f"[{words}]({LESSONS[other].file})" if known else words

    def references(part):
        part = REFERENCE.sub(lambda found: link(found[1], found[2]), part)
        return SEVERAL.sub(lambda several: re.sub(
            r"\d\d", lambda found: link(found[0], found[0]), several[0]), part)

    parts = re.split(r"(```.*?```|`[^`\n]*`|^#[^\n]*$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part[:1] in ("`", "#") else references(part) for part in parts)


def tag(cell):
    """Tag a cell that only uses the kit: a page without a kernel shows what it asks, not the call.
    """
    tags = [each for each in cell.metadata.get("tags", []) if each != HIDDEN]
    cell.metadata.pop("tags", None)
    if tags := [*tags, HIDDEN] if only_asks(cell.source) else tags:
        cell.metadata["tags"] = tags


def only_asks(source):
    """Whether a cell has nothing but calls of the kit and what they need.

    >>> only_asks('ask("share", table(rows))'), only_asks("cycle = cluster.run()"), only_asks("")
    (True, False, False)
    """
    statements = [each for each in ast.parse(source).body
                  if not isinstance(each, ast.Import | ast.ImportFrom)]
    return bool(statements) and all(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
        and getattr(each.value.func, "id", "") in KIT for each in statements)


def settled(notebook):
    """The notebook without what changes from run to run; widgets are numbered in the order in which
    they appear.
    """
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}})
    models = {}
    for cell in notebook.cells:
        for name in ("execution", "ExecuteTime", "collapsed", "scrolled"):
            cell.metadata.pop(name, None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data.pop(VIEW, None)
            view = data.get(VIEW)
            if view:
                view["model_id"] = models.setdefault(view["model_id"], f"{len(models) + 1:032x}")
    return notebook


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        run(Path(argument))
        print(argument)
