"""A lab: controls, a function that decides from their values, and a board that shows what was decided."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ipywidgets

from volcano_lab.widgets.board import Board

Values = dict[str, Any]


COLLECT_AFTER = 0.1
"""Seconds after a move until Python may look for garbage again."""


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No looking for garbage during a move and shortly after it.

    In a notebook's process that walks through pandas, altair and the rest, and takes longer than the scheduling cycle;
    right after the move it would keep the answer from leaving.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            try:
                asyncio.get_running_loop().call_later(COLLECT_AFTER, gc.enable)
            except RuntimeError:  # no loop: nobody waits for an answer
                gc.enable()


class Lab(ipywidgets.VBox):
    """Move a control, and the board repaints with one message.

    `controls` are widgets by name, `decide` turns their values into the board's state, `stand` is the widget that holds
    the controls on the page. `set(**values)` moves controls from code with one repaint, `reset()` takes them back.

    >>> controls = {"n": ipywidgets.IntSlider(2, 0, 9)}
    >>> lab = Lab(controls, lambda values: {"t": [{"double": 2 * values["n"]}]},
    ...           [{"kind": "table", "key": "t", "columns": ["double"]}])
    >>> lab.set(n=4).state
    {'t': [{'double': 8}]}
    """

    kind: type[Board] = Board
    """What shows the state."""

    def __init__(self, controls: Mapping[str, ipywidgets.ValueWidget], decide: Callable[[Values], dict[str, Any]],
                 panels: list[dict[str, Any]], stand: ipywidgets.Widget | None = None):
        self.controls, self.decide = dict(controls), decide
        self.start = self.values
        self.board = self.kind(panels, decide(self.start))
        for control in self.controls.values():
            control.observe(self._moved, "value")
        super().__init__([stand or ipywidgets.VBox(list(self.controls.values())), self.board])

    @property
    def values(self) -> Values:
        """The controls' values by name."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def state(self) -> dict[str, Any]:
        """What the board shows."""
        return self.board.state

    def set(self, **values: Any) -> Lab:
        """Move controls by name; the board repaints once. `KeyError` for a name that isn't a control's."""
        for name in values:
            if name not in self.controls:
                raise KeyError(f"{name} is no control; there are {', '.join(self.controls)}")
        for control in self.controls.values():
            control.unobserve(self._moved, "value")
        for name, value in values.items():
            self.controls[name].value = value
        for control in self.controls.values():
            control.observe(self._moved, "value")
        self._moved(None)
        return self

    def reset(self) -> Lab:
        """All controls as they were at first."""
        return self.set(**self.start)

    def _moved(self, change: object) -> None:
        with _collector_paused():
            self.board.state = self.decide(self.values)

    def __repr__(self) -> str:
        return f"<a lab with {len(self.controls)} controls; they move while a kernel runs>"


def labelled(controls: Mapping[str, ipywidgets.ValueWidget], labels: Mapping[str, str], words: str,
             width: str) -> ipywidgets.GridBox:
    """Controls one below the other, each beside its label; the labels are as wide as `words`, all at most as `width` (CSS).

    >>> len(labelled({"n": ipywidgets.IntSlider()}, {"n": "nodes"}, "10em", "600px").children)
    2
    """
    cells: list[ipywidgets.Widget] = []
    for name, text in labels.items():
        controls[name].layout.width = "auto"
        cells += [ipywidgets.HTML(f"<span>{text}</span>"), controls[name]]
    grid = ipywidgets.GridBox(cells)
    grid.layout.grid_template_columns = f"{words} minmax(0, 24em)"
    grid.layout.max_width = width
    return grid
