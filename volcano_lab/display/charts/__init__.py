"""Still charts (altair). They read what was decided, and decide nothing.

What a cycle decided stands here; `charts.statement`, `charts.states`, `charts.simulation`
and `charts.trace` draw what their names say. For a page that has no kernel:
`still()` makes notebooks store charts as pictures. What moves with a slider is a board
(`volcano_lab.widgets`), which is drawn once.
"""

from importlib import import_module
from types import ModuleType

from volcano_lab.display.charts.cycle import (
    filling,
    filling_rows,
    limits,
    queue_order,
    water_filling,
)
from volcano_lab.display.styled import FONT, still

PARTS = ("simulation", "statement", "states", "trace")
"""Modules that are loaded when they are first used: `charts.statement.pod_states`."""

__all__ = ["FONT", "filling", "filling_rows", "limits", "queue_order", "still", "water_filling"]


def __getattr__(name: str) -> ModuleType:
    if name not in PARTS:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return import_module(f"{__name__}.{name}")
