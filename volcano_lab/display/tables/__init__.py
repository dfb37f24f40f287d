"""What a cycle decided as pandas tables; they read results and decide nothing.

Amounts are in CPUs, bytes or whole devices. Cells that stand for "no limit" are missing values.

What a cycle decided stands here; `tables.queue_tree` and `tables.trace` show what their names say.
"""

from importlib import import_module
from types import ModuleType

from volcano_lab.display.tables.cycle import jobs, operations, placements, queues, rounds, turns

PARTS = ("queue_tree", "trace")
"""Modules that are loaded when they are first used: `tables.queue_tree.levels`."""

__all__ = ["jobs", "operations", "placements", "queues", "rounds", "turns"]


def __getattr__(name: str) -> ModuleType:
    if name not in PARTS:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return import_module(f"{__name__}.{name}")
