"""What the lessons' texts say is so: one module per lesson, one function per cell that shows it.

    @after("proportion-06")
    def one_round(table):
        assert table.loc[1]["deserves"].to_dict() == {"a": 20, "b": 30, "c": 30}

A lesson's code cells run one after the other in one namespace. After the cell with that id the
function is called; its parameters are names of that namespace. `test_proofs.py` does it for every
lesson; `PYTHONPATH=tests:tools python -m course.proofs 03` for one, by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.course.kit.questions import entries, right

PROOFS: dict[str, list[Callable[..., None]]] = {}
"""Id of a cell -> the functions that run after it."""


def after(cell: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run the decorated function when the cell with this id has run."""

    def kept(function: Callable[..., None]) -> Callable[..., None]:
        PROOFS.setdefault(cell, []).append(function)
        return function

    return kept


def placed_and_idle(cycle: Any) -> tuple[dict[str, int], float]:
    """How many pods of each job a cycle has placed, without those that have none, and the idle
    millicores of all nodes.
    """
    placed = {row["job"]: row["placed"] for row in cycle.jobs() if row["placed"]}
    return placed, sum(node.idle.milli_cpu for node in cycle.session.nodes.values())


def answer(lesson: str, name: str) -> Any:
    """The right answer of a question, which is data of the lesson: a proof computes it, too."""
    return right(entries(lesson)[name])
