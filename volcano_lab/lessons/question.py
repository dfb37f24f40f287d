"""Questions on the page: a prediction that is kept and compared, and an answer that is graded at once.

In a notebook with a kernel a question has its field or its choices; anywhere else it is a text with its options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.lessons.checking import Check, is_empty
from volcano_lab.lessons.markup import BLUE, box, html, plain
from volcano_lab.lessons.verdict import Verdict


def predict(question: str, options: Sequence[Any] = ()) -> Prediction:
    """A question to answer before the result shows: one of `options`, or any text or number where there are none.

    End the cell with it, so that it shows; `compare` then says what came out.

    >>> first = predict("Which queue goes first?", ["a", "b"])
    >>> first
    Predict: Which queue goes first? (a / b)
    >>> first.compare("b", "It is the emptier one.")
    No prediction yet. It is b. It is the emptier one.
    >>> first.value = "a"
    >>> first.compare("b", "It is the emptier one.")
    You predicted a. It is b. It is the emptier one.
    """
    return Prediction(question, options)


def ask(question: str, graded: Check, options: Sequence[Any] = ()) -> Prediction:
    """A question that a check grades as soon as it is answered on the page.

    >>> from volcano_lab.lessons.verdict import try_again, well_done
    >>> half = Check("99.half", lambda answer: well_done("Yes.") if answer == 5 else try_again("Divide by 2."), float)
    >>> asked = ask("What is a half of ten?", half)
    >>> asked.value = "4"
    >>> asked.verdict
    try again: Divide by 2.
    """
    return Prediction(question, options, graded)


class Shown:
    """Something that is HTML and text, and live where there is a kernel and the widgets are installed."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        try:
            from volcano_lab.lessons.live import Live
        except ImportError:
            return bundle, {}
        if self._live is None:
            self._live = Live(**self._state())
            self._connect()
        view, about = self._live._repr_mimebundle_()
        return {**view, **bundle}, about

    _live: Any = None

    def _state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _connect(self) -> None:
        """Follow what is done on the page."""

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.set(**self._state())


class Prediction(Shown):
    """A question and the answer that was given: `value`, None as long as there is none."""

    def __init__(self, question: str, options: Sequence[Any] = (), graded: Check | None = None):
        self.question, self.options, self.graded = question, list(options), graded
        self._value: Any = None
        self._followers: list[Callable[[], None]] = []

    @property
    def value(self) -> Any:
        """What was chosen (an option itself) or typed (a text)."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        by_text = {str(option): option for option in self.options}
        self._value = None if is_empty(value) else by_text.get(str(value), value)
        self._refresh()
        for follower in self._followers:
            follower()

    @property
    def verdict(self) -> Verdict | None:
        """What the check says, where there is one."""
        return self.graded(self.value) if self.graded else None

    def compare(self, truth: Any, why: str = "") -> Outcome:
        """What was predicted beside what is true, and why it is so."""
        return Outcome(self, truth, why)

    def __repr__(self) -> str:
        options = f" ({' / '.join(plain(option) for option in self.options)})" if self.options else ""
        return f"{self._word}: {plain(self.question)}{options}"

    @property
    def _word(self) -> str:
        return "Question" if self.graded else "Predict"

    def _repr_html_(self) -> str:
        options = "".join(f"<li>{html(option)}</li>" for option in self.options)
        listed = f'<ul style="margin: 4px 0 0">{options}</ul>' if options else ""
        return box(f"<b>{self._word}</b>: {html(self.question)}{listed}", BLUE, "group", self._word)

    def _state(self) -> dict[str, Any]:
        verdict = self.verdict
        kept = "" if self._value is None else "Your answer is kept." if verdict is None else verdict.inner_html
        return {"kind": "question", "head": self._word, "text": html(self.question),
                "options": [[str(option), html(option)] for option in self.options],
                "value": "" if self._value is None else str(self._value),
                "said": kept, "state": verdict.state if verdict and self._value is not None else ""}

    def _connect(self) -> None:
        self._live.observe(lambda change: setattr(self, "value", change.new), "value")


class Outcome(Shown):
    """A prediction beside the truth; it follows when the prediction is changed."""

    def __init__(self, prediction: Prediction, truth: Any, why: str = ""):
        self.prediction, self.truth, self.why = prediction, truth, why
        prediction._followers.append(self._refresh)

    @property
    def text(self) -> str:
        """The comparison in words."""
        value = self.prediction.value
        if value is None:
            said = f"No prediction yet. It is **{self.truth}**."
        elif _same(value, self.truth):
            said = f"You predicted **{value}**, and so it is."
        else:
            said = f"You predicted **{value}**. It is **{self.truth}**."
        return f"{said} {self.why}".strip()

    def __repr__(self) -> str:
        return plain(self.text)

    def _repr_html_(self) -> str:
        return box(html(self.text), BLUE, "status")

    def _state(self) -> dict[str, Any]:
        return {"kind": "words", "said": html(self.text)}


def _same(left: Any, right: Any) -> bool:
    """Equal as numbers, or as texts without regard to case."""
    try:
        return abs(float(left) - float(right)) < 1e-6
    except (TypeError, ValueError):
        return str(left).strip().casefold() == str(right).strip().casefold()
