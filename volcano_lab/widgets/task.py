"""A task of a lesson in its lab: what the reader is to bring about, and when it is done."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from volcano_lab.messages import gettext, mark
from volcano_lab.widgets.story import Facts

Values = dict[str, Any]


@define
class Task:
    """A task of the lesson: a name for its button, what is to be done, and when it is done.

    Args:
        name: two or three words.
        text: what to do or find out, one or two short sentences.
        done: values and facts -> whether the task is done; without it, whether the values are those
            of `start` and `show`.
        start: initial values, where they differ from the lab's.
        show: values of one solution, where they differ from `start`.
        answer: what the task teaches, in one or two short sentences, shown when it is done.
    """

    name: str
    text: str
    done: Callable[[Values, Facts], object] | None = None
    start: Values = field(factory=dict)
    show: Values | None = None
    answer: str = ""

    def said(self) -> str:
        """Return its name and what is to be done."""
        return f"**{gettext(self.name)}{mark('.')}** {gettext(self.text)}"

    def moved(self, values: Values, before: Values) -> bool:
        """Return whether a move is one of its controls."""
        return any(values[name] != before[name] for name in self.show or values)

    def is_done(self, values: Values, facts: Facts) -> bool:
        """Return whether values and facts solve the task."""
        if self.done is not None:
            return bool(self.done(values, facts))
        return (self.start | (self.show or {})).items() <= values.items()
