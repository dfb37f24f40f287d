"""What is said of an answer: a state and a text."""

from attrs import define

from volcano_lab.course.kit.markup import BLUE, GREEN, RED, box, html, plain
from volcano_lab.messages import mark

TO_DO, TRY_AGAIN, WELL_DONE = "to do", "try again", "well done"
RIGHT, WRONG, SHOWN = "right", "not so", "shown"
OPEN = (TO_DO, TRY_AGAIN)
STATES = {TO_DO: (BLUE, "○"), TRY_AGAIN: (RED, "✗"), WELL_DONE: (GREEN, "✓"), RIGHT: (GREEN, "✓"),
          WRONG: (RED, "✗"), SHOWN: (BLUE, "→")}
"""State -> the colour of its edge, and its sign. The first three are of checks, the others of
predictions."""


@define(frozen=True, slots=True)
class Verdict:
    """A state, one of `STATES`, and what there is to say.

    >>> well_done("Memory is counted in bytes.")
    well done: Memory is counted in bytes.
    """

    state: str
    text: str

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
    """Say that there is no answer yet, and what the task is."""
    return Verdict(TO_DO, task)


def try_again(hint: str) -> Verdict:
    """Say that an answer is not right; the hint fits this answer and leads on, without the
    solution.
    """
    return Verdict(TRY_AGAIN, hint)


def well_done(why: str) -> Verdict:
    """Say that an answer is right, and what makes it so."""
    return Verdict(WELL_DONE, why)
