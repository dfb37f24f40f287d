"""Errors whose text says all: which object, which field, what was found, what is allowed."""


class OneSentence(Exception):
    """A notebook shows the text of such an error, and not the lab's frames above it;
    `__traceback__` has them all the same.

    >>> class Refused(OneSentence, ValueError): ...
    >>> Refused("job old: 6 pods; allowed are 4.")._render_traceback_()
    ['Refused: job old: 6 pods; allowed are 4.']
    """

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class Misuse(OneSentence, TypeError, ValueError):
    """Something was called with what it does not take."""


class NoSuch(OneSentence, KeyError):
    """Something has no part of the name that it was asked for."""

    __str__ = Exception.__str__
