"""The kinds of records: one table of each kind's fields, what it stands for, and its sentence.

`trace.narration` fills the table; the stepper, breakpoints, the log, `diff` and the documentation
read it. A kind of your own is added in the same way:

>>> from volcano_lab.trace.record import Record
>>> @kind("tea_break", "queue minutes", "nobody works", level=4)
... def _tea(record):
...     return f"queue {record['queue']} rests for {record['minutes']} minutes"
>>> KINDS["tea_break"].sentence(Record(1, "", "tea_break", ("queue", "minutes"), ("a", 5)))
'queue a rests for 5 minutes'
>>> del KINDS["tea_break"]
"""

from collections.abc import Callable

from attrs import define

from volcano_lab.trace.record import Record

Sentence = Callable[[Record], str]
OPERATIONS = ("do", "undo", "commit")
"""Kinds that tell of a statement's operation."""


@define(slots=True, frozen=True)
class Kind:
    """One kind of record.

    Attributes:
        fields: The names of its facts; a record may lack some.
        about: What it stands for, in half a sentence.
        sentence: A record of the kind as one sentence.
        level: V(n) at which the log shows it; 0: the log tells of it in another way.
        detail: True where a stepper shows it only at its finest: it decides nothing by itself.
    """

    name: str
    fields: tuple[str, ...]
    about: str
    sentence: Sentence
    level: int = 5
    detail: bool = False


KINDS: dict[str, Kind] = {}
"""Every known kind by its name."""


def kind(name: str, fields: str, about: str, level: int = 5, detail: bool = False
         ) -> Callable[[Sentence], Sentence]:
    """Register the function below as the sentence of a kind of record."""

    def register(sentence: Sentence) -> Sentence:
        KINDS[name] = Kind(name, tuple(fields.split()), about, sentence, level, detail)
        return sentence

    return register
