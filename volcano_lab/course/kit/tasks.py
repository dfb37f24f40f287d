"""The tasks of a lesson's lab, from its `questions.yaml`."""

from collections.abc import Callable, Mapping
from typing import Any

from volcano_lab.course.kit.questions import TASKS, part
from volcano_lab.widgets.lab import Task


def tasks(lesson: str, done: Mapping[str, Callable[[Any, Any], object]] = {}) -> list[Task]:
    """Return the tasks; `done` says by name when one is done, where that is more than its values
    (see `widgets.lab.Task`).

    >>> [task.name for task in tasks("15")][:2]
    ['twice the nodes', 'eight queues']
    """
    return [Task(name, done=done.get(name), **given) for name, given in part(lesson, TASKS).items()]
