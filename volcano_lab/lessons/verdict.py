"""What a check says of an answer: to do, try again (with a hint), or well done (with why)."""

from __future__ import annotations

from attrs import define

from volcano_lab.lessons.markup import BLUE, GREEN, ORANGE, box, html, plain

TO_DO, TRY_AGAIN, WELL_DONE = "to do", "try again", "well done"
STATES = {TO_DO: (BLUE, "○"), TRY_AGAIN: (ORANGE, "↻"), WELL_DONE: (GREEN, "✓")}
"""State -> the colour of its edge, and its sign."""


@define(frozen=True, slots=True)
class Verdict:
    """A state (`TO_DO`, `TRY_AGAIN`, `WELL_DONE`) and what there is to say about it.

    >>> well_done("Memory is counted in bytes.")
    well done: Memory is counted in bytes.
    """

    state: str
    text: str

    def __repr__(self) -> str:
        return f"{self.state}: {plain(self.text)}"

    def _repr_html_(self) -> str:
        return box(self.inner_html, STATES[self.state][0], "status")

    @property
    def inner_html(self) -> str:
        """Sign, state and text, without the box."""
        return f'<span aria-hidden="true">{STATES[self.state][1]}</span> <b>{self.state}</b>: {html(self.text)}'


def to_do(task: str) -> Verdict:
    """There is no answer yet."""
    return Verdict(TO_DO, task)


def try_again(hint: str) -> Verdict:
    """The answer is not right; `hint` fits this answer and helps on, without giving the right one away."""
    return Verdict(TRY_AGAIN, hint)


def well_done(why: str) -> Verdict:
    """The answer is right; `why` says what makes it so."""
    return Verdict(WELL_DONE, why)
