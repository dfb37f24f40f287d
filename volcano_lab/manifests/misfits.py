"""What does not fit in one object: values of the wrong type or range, and unknown fields, each
with the path to it.
"""

import typing
from typing import Any

from volcano_lab.messages import Message, Said, did_you_mean, one_line, printable

Path = tuple
"""(path to the parent, key or index), () at the root: cheap to extend, and shown in a misfit only.
"""
MOST_SHOWN = 100
"""The maximum length of a found text in a sentence."""


class Misfits:
    r"""The errors and unknown fields of one object. With `strict`, words outside a field's list are
    errors.

    >>> from volcano_lab.api.objects import Queue
    >>> from volcano_lab.manifests.schema import structure
    >>> misfits = Misfits()
    >>> _ = structure(Queue, {"spec": {"wieght": 2, "reclaimable": "no"}}, misfits)
    >>> print(*misfits.errors, *misfits.warnings, sep="\n")
    spec.reclaimable is "no"; allowed is true or false
    spec.wieght is not known and has no effect; did you mean weight?
    """

    def __init__(self, strict: bool = True) -> None:
        self.strict = strict
        self.errors: list[Message] = []
        self.warnings: list[Message] = []

    def misfit(self, path: Path, found: Any, allowed: str, **facts: Any) -> None:
        """Record a value of the wrong type or range; the message `allowed.ALLOWED` has the right
        ones.
        """
        self.errors.append(Message("schema.misfit", path=path_text(path), found=found_text(found),
                                   allowed=Message(f"allowed.{allowed}", **facts)))

    def unknown(self, path: Path, key: str, known: typing.Collection[str],
                inner: Path | None = None) -> None:
        """Record a field that the API does not have here, but perhaps at the path `inner`: that is
        more likely than a similar name. The only field that it has is named.
        """
        if inner:
            hint: Said = Message("hint.meant", name=path_text(inner))
        else:
            hint = did_you_mean(key, known, Message(
                "hint.only", name=next(iter(known))) if len(known) == 1 else "")
        self.warnings.append(Message("schema.unknown", path=path_text((path, key)), hint=hint))


def path_text(path: Path) -> Said:
    """Return a path in display form.

    >>> path_text(((((), "containers"), 0), "image"))
    'containers[0].image'
    """
    text = ""
    while path:
        path, key = path
        text = f"[{key}]{text}" if isinstance(key, int) else f".{key}{text}"
    return printable(text.removeprefix(".")) or Message("schema.object")


def found_text(value: Any) -> Said:
    """Return a value in the form of an error sentence."""
    if isinstance(value, dict | list):
        return Message("found.mapping" if isinstance(value, dict) else "found.list")
    if isinstance(value, str):
        text = one_line(value, MOST_SHOWN)
        return f'"{text}"' if len(value) <= MOST_SHOWN else Message(
            "found.long", text=text, count=len(value))
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    endless = isinstance(value, int) and abs(value) >> 1000
    return Message("found.endless") if endless else str(value)
