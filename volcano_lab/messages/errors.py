"""Errors with a complete text: which object, which field, what was found, what is allowed."""

from typing import Any

from volcano_lab.messages.catalogue import gettext
from volcano_lab.messages.message import Message, known


class OneSentence(Exception):
    """An error of one sentence: a text, or a message by its code, with facts; `said` is what it
    says. A notebook shows it without the lab's frames, which stay in `__traceback__`.

    >>> class Refused(OneSentence, ValueError): ...
    >>> Refused("job {name}: {n} pods; allowed are 4.", name="old", n=6)._render_traceback_()
    ['Refused: job old: 6 pods; allowed are 4.']
    """

    def __init__(self, text: str = "", /, **facts: Any):
        self.said = Message(text, **facts) if known(text) else Message(
            "text", text=gettext(text, **facts))
        super().__init__(str(self.said))

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class Misuse(OneSentence, TypeError, ValueError):
    """A function was called with wrong arguments."""


class NoSuch(OneSentence, KeyError):
    """An object has no part with the requested name."""

    __str__ = Exception.__str__
