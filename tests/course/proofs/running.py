"""Run a lesson's code cells, and its proofs between them."""

from __future__ import annotations

import ast
import contextlib
import traceback
from importlib import import_module
from inspect import signature
from pathlib import Path

from cells import code_cells, run_cell
from course.proofs import PROOFS

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"


def failures(lesson: str) -> list[str]:
    """What does not hold in a lesson, a text for each: a cell that raises, a proof that fails or
    has no cell."""
    import_module(f"course.proofs.lesson_{lesson}")
    (path,) = NOTEBOOKS.glob(f"{lesson}-*.ipynb")
    sources, names = code_cells(path), {"__name__": "__main__"}
    found = [f"lesson {lesson} has no cell {name}" for name in PROOFS.keys() - sources.keys()]
    for cell, source in sources.items():
        try:
            run_cell(source, f"<cell {cell}>", names)
            for proof in PROOFS.get(cell, ()):
                proof(**{name: names[name] for name in signature(proof).parameters})
        except Exception as error:
            found.append(f"lesson {lesson}, cell {cell}:\n{traceback.format_exc()}{values(error)}")
            if not isinstance(error, AssertionError):
                break
    return found


def values(error: Exception) -> str:
    """The names in the line that failed, with their values."""
    frame = traceback.TracebackException.from_exception(error, capture_locals=True).stack[-1]
    with contextlib.suppress(SyntaxError):
        used = {node.id for node in ast.walk(ast.parse(frame.line or ""))
                if isinstance(node, ast.Name)}
        return "".join(f"    {name} = {value[:500]}\n"
                       for name, value in (frame.locals or {}).items() if name in used)
    return ""
