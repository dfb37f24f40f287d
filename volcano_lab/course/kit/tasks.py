"""The tasks of a lesson's lab, from its `questions.yaml`."""

from collections.abc import Callable, Mapping
from typing import Any

from volcano_lab.course.kit.questions import TASKS, part
from volcano_lab.widgets.task import Task


def tasks(lesson: str, done: Mapping[str, Callable[[Any, Any], object]] = {}) -> list[Task]:
    """Return the tasks; `done` has the condition of a task by name, if its values are not enough
    (see `widgets.task.Task`).

    >>> [task.name for task in tasks("15")][:2]
    ['twice the nodes', 'eight queues']
    """
    return [Task(name, done=done.get(name), **given) for name, given in part(lesson, TASKS).items()]
