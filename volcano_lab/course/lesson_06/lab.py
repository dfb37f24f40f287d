"""The lab of lesson 06: a statement step by step, forwards and backwards, with pods, nodes and
queues at each step.
"""

from __future__ import annotations

from collections.abc import Mapping

from volcano_lab.course.lesson_06.scene import SCENES
from volcano_lab.widgets.steps import Scene, StatementSteps


def statement_stepper(scenes: Mapping[str, Scene] | None = None) -> StatementSteps:
    """Make the stepper with the scenes of the lesson, or with others.

    >>> statement_stepper().goto(99)["text"]
    'commit: allocate train-2 on node-1'
    """
    return StatementSteps(SCENES if scenes is None else scenes)
