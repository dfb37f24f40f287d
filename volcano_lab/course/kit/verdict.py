"""The reply to an answer: a state and a text."""

from collections.abc import Mapping
from typing import Any

from attrs import Factory, define

from volcano_lab.course.kit.markup import BLUE, GREEN, RED, box, html, plain
from volcano_lab.messages import gettext, mark, paragraph

TO_DO, TRY_AGAIN, WELL_DONE = "to do", "try again", "well done"
RIGHT, WRONG, SHOWN = "right", "not so", "shown"
OPEN, GOOD = (TO_DO, TRY_AGAIN), (WELL_DONE, RIGHT)
STATES = {TO_DO: (BLUE, "○"), TRY_AGAIN: (RED, "✗"), WELL_DONE: (GREEN, "✓"), RIGHT: (GREEN, "✓"),
          WRONG: (RED, "✗"), SHOWN: (BLUE, "→")}
"""State -> the colour of its edge, and its sign. The first three are for checks, the others for
predictions."""


@define(frozen=True, slots=True)
class Verdict:
    """A state, one of `STATES`, and a text.

    >>> well_done("Memory is counted in bytes.")
    well done: Memory is counted in bytes.
    """

    state: str
    text: str | tuple[str, ...]
    facts: Mapping[str, Any] = Factory(dict)

    def worded(self, hints: Mapping[str, str]) -> "Verdict":
        """Return the verdict with hints for their names, in texts and facts; several texts are
        joined.

        >>> try_again("less", most=3).worded({"less": "Take {most} or less."})
        try again: Take 3 or less.
        """
        facts = {name: gettext(hints.get(fact, fact)) if isinstance(fact, str) and (
                     fact in hints or " " in fact) else fact for name, fact in self.facts.items()}
        texts = (self.text,) if isinstance(self.text, str) else self.text
        return Verdict(self.state, paragraph([gettext(hints.get(text, text), **facts)
                                              for text in texts]))

    def __repr__(self) -> str:
        return f"{plain(self.state)}{mark(': ')}{plain(self.text)}"

    def _repr_html_(self) -> str:
        return box(self.inner_html, STATES[self.state][0], "status")

    @property
    def sign(self) -> str:
        """The sign of the state."""
        return STATES[self.state][1]

    @property
    def inner_html(self) -> str:
        """Sign and text, without the box."""
        color, sign = STATES[self.state]
        style = f"color: color-mix(in srgb, {color} 70%, currentColor); font-weight: bold"
        return (f'<span role="img" aria-label="{plain(self.state)}" style="{style}">{sign}</span> '
                f"{html(self.text)}")


def to_do(task: str) -> Verdict:
    """Return the verdict without an answer yet, with the task."""
    return Verdict(TO_DO, task)


def try_again(*hint: str, **facts: Any) -> Verdict:
    """Return the verdict on a wrong answer; the hint fits this answer and helps, without the
    solution. It consists of texts, or names of hints of the lesson (`kit.questions`), with facts.
    """
    return Verdict(TRY_AGAIN, hint if len(hint) > 1 else hint[0], facts)


def well_done(*why: str, **facts: Any) -> Verdict:
    """Return the verdict on a right answer, with its reason: texts, or names of hints."""
    return Verdict(WELL_DONE, why if len(why) > 1 else why[0], facts)
