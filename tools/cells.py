"""Run notebooks' code cells without a kernel: each notebook in a namespace and process of its own.

Lessons register plugins and change settings, so they do not share a process. The processes start
from one that has imported the heavy modules already, which makes a lesson a second's work.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import Any

from volcano_lab.course.kit import field

HEAVY = ["IPython.core.interactiveshell", "altair", "anywidget", "ipywidgets", "pandas",
         "vl_convert", "volcano_lab.cluster", "volcano_lab.course.kit.question",
         "volcano_lab.widgets.charts", "volcano_lab.widgets.lab"]


@contextlib.contextmanager
def processes(function: Callable[[Any], Any], arguments: Iterable[Any],
              at_once: int = 1) -> Iterator[dict[Any, AsyncResult]]:
    """{argument: its result, to be waited for with `get()`}, each from a process of its own."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(HEAVY)
    with context.Pool(at_once, maxtasksperchild=1) as pool:
        yield {argument: pool.apply_async(function, [argument]) for argument in arguments}


def code_cells(path: Path) -> dict[str, str]:
    """{id: source} of a notebook's code cells, in order."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"}


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """Run a cell quietly; the value of its last expression."""
    with contextlib.redirect_stdout(io.StringIO()):
        return field.run_cell(source, name, names)


def shown(path: Path) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    """Run a notebook's code cells as a kernel does: each cell's id, value and outputs, which are
    what is printed and the data of what is displayed.
    """
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.display_pub = CapturingDisplayPublisher()
    outputs = shell.display_pub.outputs
    shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=outputs)
    for cell, source in code_cells(path).items():
        outputs.clear()
        with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()) as printed:
            done = shell.run_cell(source)
        done.raise_error()
        text = printed.getvalue()
        yield cell, done.result, [{"text": text}] * bool(text) + [each["data"] for each in outputs]


def questions(path: Path) -> dict[str, Any]:
    """{id: question} of the cells of a notebook that ask one; all its cells are run."""
    from volcano_lab.course.kit.question import Question

    names: dict[str, Any] = {"__name__": "__main__"}
    shown = {cell: run_cell(source, f"<cell {cell}>", names)
             for cell, source in code_cells(path).items()}
    return {cell: thing for cell, thing in shown.items() if isinstance(thing, Question)}
