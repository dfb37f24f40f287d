"""The lab of lesson 06: a statement step by step, forwards and backwards, with pods, nodes and queues at each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, Int, List, Unicode, observe

from volcano_lab.palette import colors_of
from volcano_lab.statement_scenes import SCENES
from volcano_lab.statement_steps import frames
from volcano_lab.trace import TraceReader

HERE = Path(__file__).parent
Scene = TraceReader | Callable[[], TraceReader]


class StatementSteps(anywidget.AnyWidget):
    """Steps through traces; `scenes` are traces, or functions that make one, by the name under which they are offered.

    On the page arrow keys step, Home and End jump. `at` is the step shown, 0 for the beginning; a step is one message.

    >>> steps = StatementSteps(SCENES)
    >>> steps.frame["text"], steps.forward()["text"]
    ('the session is open', 'allocate train-0 on node-0')
    >>> steps.goto(99)["text"], steps.back()["step"], steps.goto(0)["step"]
    ('commit: allocate train-2 on node-1', 5, 0)
    """

    _esm = (HERE / "drawing.js").read_text(encoding="utf-8") + (HERE / "statement_steps.js").read_text(encoding="utf-8")
    _css = HERE / "statement_steps.css"
    scenes = List().tag(sync=True)
    scene = Unicode().tag(sync=True)
    frames = List().tag(sync=True)
    colors = Dict().tag(sync=True)
    at = Int(0).tag(sync=True)

    def __init__(self, scenes: Mapping[str, Scene]):
        self._made: dict[str, list[dict[str, Any]]] = {}
        self._scenes = dict(scenes)
        super().__init__(scenes=list(self._scenes))
        self.show(next(iter(self._scenes)))

    def show(self, scene: str) -> StatementSteps:
        """Another scene, from its beginning. `KeyError` for a name that isn't offered."""
        if scene not in self._scenes:
            raise KeyError(f"there is no scene {scene}; there are {', '.join(self._scenes)}")
        if scene not in self._made:
            made = self._scenes[scene]
            self._made[scene] = frames(made if isinstance(made, TraceReader) else made())
        shown = self._made[scene]
        with self.hold_sync():
            self.scene, self.at, self.frames = scene, 0, shown
            self.colors = colors_of(pod["job"] for pod in shown[0]["pods"])
        return self

    @observe("scene")
    def _chosen(self, change: Any) -> None:
        if change.new and self.frames is not self._made.get(change.new):
            self.show(change.new)

    @property
    def frame(self) -> dict[str, Any]:
        """What is shown: `statement_steps.frames` says what a frame has."""
        return self.frames[self.at]

    def goto(self, step: int) -> dict[str, Any]:
        """To a step, or to the nearest end."""
        self.at = max(0, min(step, len(self.frames) - 1))
        return self.frame

    def forward(self) -> dict[str, Any]:
        return self.goto(self.at + 1)

    def back(self) -> dict[str, Any]:
        return self.goto(self.at - 1)

    def __repr__(self) -> str:
        return f"<a stepper through {len(self.scenes)} scenes; it moves while a kernel runs>"


def statement_stepper(scenes: Mapping[str, Scene] | None = None) -> StatementSteps:
    """The stepper with the scenes of the lesson, or with others."""
    return StatementSteps(SCENES if scenes is None else scenes)
