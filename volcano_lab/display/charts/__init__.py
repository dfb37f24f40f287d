"""Still charts (altair) of what is no cycle: a simulation's run, a sweep, a task's states.

Each has a description in words. `still()` makes notebooks store charts as pictures for pages that
have no kernel, `large()` larger ones for a projector. A cycle is drawn by `widgets.pictures`, live
and still, with the data that `widgets.facts` has of it; `display.tables` shows it as tables.
"""

from typing import Any

from volcano_lab.display.extras import load
from volcano_lab.display.styled import FONT, large, still
from volcano_lab.framework import spoken

HOMES = {"plot": "sweep", "timeline": "simulation", "transitions": "states"}
"""Function -> the module that has it; each is loaded when it is first used."""

__all__ = ["FONT", "large", "still", *HOMES]


def __getattr__(name: str) -> Any:
    if name in HOMES:
        chart = spoken(getattr(load(f"{__name__}.{HOMES[name]}"), name), first=True)
        return globals().setdefault(name, chart)
    if name in HOMES.values():
        return load(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__} has no attribute {name}")


def __dir__() -> list[str]:
    return sorted(__all__)
