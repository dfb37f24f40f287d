"""A lab of ipywidgets above a board; new labs are made with `widgets.lab`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from volcano_lab.widgets.board import Board
from volcano_lab.widgets.lab import collector_paused

Values = dict[str, Any]


class BoardLab(ipywidgets.VBox):
    """Move a control, and the board repaints with one message.

    `controls` are widgets by name, `decide` turns their values into the board's state, `stand` is
    the widget that holds the controls on the page. `set(**values)` moves controls from code with
    one repaint, `reset()` takes them back.

    >>> controls = {"n": ipywidgets.IntSlider(2, 0, 9)}
    >>> lab = BoardLab(controls, lambda values: {"t": [{"double": 2 * values["n"]}]},
    ...           [{"kind": "table", "key": "t", "columns": ["double"]}])
    >>> lab.set(n=4).state
    {'t': [{'double': 8}]}
    """

    kind: type[Board] = Board
    """What shows the state."""

    def __init__(self, controls: Mapping[str, ipywidgets.ValueWidget],
                 decide: Callable[[Values], dict[str, Any]], panels: list[dict[str, Any]],
                 stand: ipywidgets.Widget | None = None):
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

    def set(self, **values: Any) -> BoardLab:
        """Move controls by name; the board repaints once. `KeyError` for a name that isn't a
        control's.
        """
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

    def reset(self) -> BoardLab:
        """All controls as they were at first."""
        return self.set(**self.start)

    def _moved(self, change: object) -> None:
        with collector_paused():
            self.board.state = self.decide(self.values)

    def __repr__(self) -> str:
        return f"<a lab with {len(self.controls)} controls; they move while a kernel runs>"


def labelled(controls: Mapping[str, ipywidgets.ValueWidget], labels: Mapping[str, str], words: str,
             width: str) -> ipywidgets.GridBox:
    """Controls one below the other, each beside its label; the labels are as wide as `words`, all
    at most as `width` (CSS).

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
