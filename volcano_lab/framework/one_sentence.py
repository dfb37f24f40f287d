"""Errors that say all in their text. Answers to no Go file: it is for the notebooks, where people write code of their own."""

from __future__ import annotations


class OneSentence(Exception):
    """A notebook shows the text of such an error, and not the lab's frames above it; `__traceback__` has them all the same.

    >>> class Refused(OneSentence, ValueError): ...
    >>> Refused("job old: 6 pods; allowed are 4.")._render_traceback_()
    ['Refused: job old: 6 pods; allowed are 4.']
    """

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NotRegistered(OneSentence, TypeError):
    """What was given to be registered is no plugin and no action."""
