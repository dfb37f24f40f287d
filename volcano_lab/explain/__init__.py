"""Explanations: why a job waits, why a pod is where it is, why a queue holds what it holds, and
what would change it.

Answers to no Go file; it reads the trace and the session of one cycle. An explanation is a
paragraph with the numbers in it, its causes by code, the chain of records behind them, and
remedies: the smallest change of one number that turns the answer, found by running the cycle again
on changed objects, and so verified.

Causes that people mix up have codes of their own: `overused` (a queue has all it deserves) and
`over_deserved` (one more pod would be too much in some resource), `queue_over_capability` and
`ancestor_over_capability`, `overcommit_refuses`, `cluster_full` and `fragmented` (enough in total,
but on no single node), `larger_than_any_node` (even an empty one), `gang_short`,
`topology_too_small`, `victims_within_deserved` and `protected_by_gang`, `best_effort_queue`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from volcano_lab.explain.explainer import Explainer
    from volcano_lab.explain.explanation import Cause, Explanation
    from volcano_lab.explain.remedy import Remedy
    from volcano_lab.explain.timeline import Timeline

__all__ = ["Cause", "Explainer", "Explanation", "Remedy", "Timeline"]


def __getattr__(name: str) -> object:
    """Load what is asked for: `volcano-lab run` needs the lint alone."""
    homes = {"Explainer": "explainer", "Remedy": "remedy", "Timeline": "timeline"}
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{homes.get(name, 'explanation')}"), name)
