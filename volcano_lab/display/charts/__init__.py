"""Still charts (altair), drawn from rows of `trace.views`; nothing here decides.

Each takes a `Cycle` or a trace and has a description in words. `still()` makes notebooks store
charts as pictures for pages that have no kernel, `large()` larger ones for a projector. What moves
with a slider is a lab (`volcano_lab.widgets`), which is drawn once.
"""

from typing import Any

from volcano_lab.display.extras import load
from volcano_lab.display.styled import FONT, large, still
from volcano_lab.framework import spoken

HOMES = {"queues": ("admission", "limits", "queue_order", "water_filling"),
         "jobs": ("gang_progress", "statements", "victims"),
         "nodes": ("node_choices", "node_scores", "node_use"),
         "simulation": ("timeline",), "statement": ("pod_states",), "states": ("transitions",),
         "sweep": ("plot",), "phases": ("times",)}
"""Module -> the functions that it has; each is loaded when it is first used."""

__all__ = ["FONT", "large", "still", *(name for names in HOMES.values() for name in names)]


def __getattr__(name: str) -> Any:
    module = next((home for home, names in HOMES.items() if name in names), None)
    if module is not None:
        chart = spoken(getattr(load(f"{__name__}.{module}"), name), first=True)
        return globals().setdefault(name, chart)
    if name in HOMES:
        return load(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__} has no attribute {name}")


def __dir__() -> list[str]:
    return sorted(__all__)
