"""Errors with a complete text: which object, which field, what was found, what is allowed."""


class OneSentence(Exception):
    """An error whose text a notebook shows without the lab's frames, which stay in
    `__traceback__`.

    >>> class Refused(OneSentence, ValueError): ...
    >>> Refused("job old: 6 pods; allowed are 4.")._render_traceback_()
    ['Refused: job old: 6 pods; allowed are 4.']
    """

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class Misuse(OneSentence, TypeError, ValueError):
    """A function was called with wrong arguments."""


class NoSuch(OneSentence, KeyError):
    """An object has no part with the requested name."""

    __str__ = Exception.__str__
