"""The sentence about a change, computed from two states of a lab's facts.

A lab names what deserves a sentence: amounts that several hold (`amounts`), and outcomes that may
change (`outcome`). After a move the differing ones are listed, with their old values.

>>> deserved = amounts("deserves", lambda facts: facts)
>>> deserved.sentences({"a": 28, "b": 42}, {"a": 43.8, "b": 42})
['**a** deserves 43.8 (was 28).']
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from attrs import define

from volcano_lab.messages import Message, gettext, known

Facts = Any
MOST = 4
"""How many amounts one sentence names."""


class Report(Protocol):
    """What the sentence after a move reports: facts before and now -> sentences."""

    def sentences(self, before: Facts, now: Facts) -> list[str]: ...


@define
class Amounts:
    """Amounts by name, such as what each queue deserves: "**a** deserves 43.8 (was 28)".

    Args:
        verb: the verb of a name; without it the names are words, which begin a sentence.
        of: facts -> amount by name.
        unit: of the amounts.
    """

    verb: str
    of: Callable[[Facts], Mapping[str, float]]
    unit: str = ""

    def sentences(self, before: Facts, now: Facts) -> list[str]:
        """Return one sentence with all amounts that differ, the largest differences first."""
        old, new = self.of(before), self.of(now)
        moved = [name for name in new if round(new[name] - old.get(name, 0), 2)]
        moved.sort(key=lambda name: -abs(new[name] - old.get(name, 0)))
        if not moved:
            return []
        parts = [Message("amount.next" if place or not self.verb else "amount",
                         verb=gettext(self.verb), name=gettext(name) if " " in name else name,
                         amount=counted(new[name], self.unit), before=plain(old.get(name, 0)))
                 for place, name in enumerate(moved[:MOST])]
        more = max(len(moved) - MOST, 0)
        text = str(Message("amounts.more" if more else "amounts", amounts=parts, n=more))
        return [text if self.verb else text[:3].upper() + text[3:]]  # words, not a queue's name


@define
class Outcome:
    """A word that may change: "The statement: **discard** (was commit): 2 of 6 pods are placed".

    Args:
        subject: what the word describes.
        of: facts -> the word.
        because: facts -> the number that decided.
    """

    subject: str
    of: Callable[[Facts], str]
    because: Callable[[Facts], str] | None = None

    def sentences(self, before: Facts, now: Facts) -> list[str]:
        """Return the sentence about a changed outcome."""
        was, word = self.of(before), self.of(now)
        if was == word:
            return []
        why = gettext(self.because(now)) if self.because else ""
        return [str(Message("turn.why" if why else "turn", subject=gettext(self.subject),
                            now=gettext(word), before=gettext(was), why=why.rstrip(".。")))]


amounts, outcome = Amounts, Outcome
"""Entries for `says` of a lab: amounts that changed, and outcomes."""


def counted(value: float, unit: str, shown: str = "") -> str:
    """Return a number, as it is `shown`, with its unit, singular for 1.

    >>> counted(1, "pods"), counted(2, "pods"), counted(1, "s"), counted(3, "")
    ('1 pod', '2 pods', '1 s', '3')
    """
    amount, code = shown or plain(value), f"unit.{unit}"
    return str(Message(code, n=value, amount=amount)) if known(
        code) else f"{amount} {unit}".rstrip()


def plain(value: float) -> str:
    """Return a number with as many digits as in the pictures.

    >>> plain(28.0), plain(26.25), plain(0.857)
    ('28', '26.3', '0.86')
    """
    digits = 2 if abs(value) < 2 else 1
    near = math.floor(abs(value) * 10**digits + 0.5 + 1e-9) / 10**digits
    return f"{math.copysign(near, value) if near else 0:g}"
