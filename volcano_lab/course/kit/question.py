"""Questions on the page that own what they reveal: a prediction, and an answer that a check grades.

A question has computed its result when its cell has run, and shows it inside itself once it is
answered, or given up. Without a kernel it is a text with its options and a closed fold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from volcano_lab.course.kit import verdict as states
from volcano_lab.course.kit.checking import Check, checks_of, is_empty
from volcano_lab.course.kit.live import Shown, answers_shown, views
from volcano_lab.course.kit.markup import BLUE, box, fold, html, plain, whole_names
from volcano_lab.course.kit.questions import RIGHT, entries, opened, right
from volcano_lab.course.kit.values import as_text, read_number, same
from volcano_lab.course.kit.verdict import Verdict, try_again
from volcano_lab.messages import NoSuch, gettext, mark, paragraph

NOTHING_YET = "Run the notebook to answer. What comes out shows here then."
COMPUTED = "Answer to reveal the result."
ONCE = "The first answer counts; then the result is shown."
WANTED = "Wanted is a number, such as 28, 1.5, 1/2 or 50 %."


class Question(Shown):
    """The common part of predictions and graded questions.

    `value` is the last answer, `verdict` the reply to it, `result` what it reveals.
    """

    button = closed = ""
    reveals = COMPUTED
    gives_up = False

    @property
    def word(self) -> str:
        """What kind of question it is, or its place."""
        raise NotImplementedError

    def __init__(self, question: str, options: Sequence[Any], show: Any):
        self.question, self.options = question, list(options)
        self.value: Any = None
        self.verdict: Verdict | None = None
        self.marks: dict[str, str] = {}  # of the options that were answered
        self.result = show

    @property
    def settled(self) -> bool:
        """Whether the answer is revealed: given, or given up."""
        return self.verdict is not None and self.verdict.state not in states.OPEN

    def say(self, value: Any) -> Verdict:
        """Answer the question, as the page does."""
        chosen = next((option for option in self.options if str(option) == str(value)), value)
        self.value = chosen
        self.verdict = self._grade(chosen) if not is_empty(chosen) else try_again(
            "Choose one first." if self.options else "Write your answer first.")
        self.marks[str(chosen)] = "right" if self.verdict.state in states.GOOD else "wrong"
        self._refresh()
        return self.verdict

    def _grade(self, value: Any) -> Verdict:
        raise NotImplementedError

    def _answer_html(self) -> str:
        """Return the content of a filled fold."""
        return ""

    def _received(self, content: dict[str, Any]) -> None:
        if "answer" in content:
            self.say(content["answer"])

    def __repr__(self) -> str:
        options = f" ({' / '.join(map(plain, self.options))})" if (
            self.options and not self.closed) else ""
        return f"{plain(self.word).capitalize()}{mark(': ')}{plain(self.question)}{options}"

    def _repr_html_(self) -> str:
        options = "".join(f"<li>{html(as_text(option))}</li>" for option in self.options)
        listed = f'<ul style="margin: 4px 0 0">{options}</ul>' if options else ""
        listed = fold(self.closed, listed) if self.closed else listed
        shown = answers_shown() and self._answer_html()
        inside = fold("Show the answer", shown) if shown else fold("Answer", html(NOTHING_YET))
        return box(f"<b>{html(self.question)}</b>{listed}{inside}", BLUE, "group", self.word)

    def _state(self) -> dict[str, Any]:
        verdict = self.verdict
        return {"kind": "question", "tag": plain(self.word),
                "text": whole_names(html(self.question)),
                "options": [[str(option), html(as_text(option)), self.marks.get(str(option), "")]
                            for option in self.options], "button": plain(self.button),
                "closed": plain(self.closed), "gives_up": self.gives_up, "settled": self.settled,
                "value": "" if self.value is None else str(self.value),
                "fold": plain(self.reveals) if self.result is not None else "",
                "spoken": plain(verdict.state) if verdict else "",
                "sign": verdict.sign if verdict else "", "state": verdict.state if verdict else "",
                "says": whole_names(html(verdict.text)).replace("→ ", "→&nbsp;") if verdict else "",
                "result": views(self.result) if self.settled else []}


class Prediction(Question):
    """What will come out? The answer, its reason and the result show inside the question.

    Args:
        question: The question, as text with marks.
        options: The choices. Without them the reader types a number or words.
        answer: The result; one of the options if there are any.
        because: Why; or the reply to each answer, the right one's last. The reply to a wrong answer
            comes right behind it, before the right answer.
        show: The cell's result: a table, a chart, a text, a list of them. It is shown after the
            answer.

    >>> goes = Prediction("Which queue goes first?", ["a", "b"], answer="b",
    ...                   because={"a": "a holds more.", "b": "It is the emptier one."})
    >>> goes
    Predict: Which queue goes first? (a / b)
    >>> goes.say("a")
    not so: You said a. a holds more. → b: It is the emptier one.
    """

    word, button, reveals, gives_up = "predict", "Answer", ONCE, True

    def __init__(self, question: str, options: Sequence[Any] = (), *, answer: Any,
                 because: str | Mapping[Any, str] = "", show: Any = None):
        super().__init__(question, options, show)
        self.truth, self.because = answer, because
        if self.options and not any(same(option, answer) for option in self.options):
            raise ValueError(gettext("the answer {answer} is none of the options {options}",
                                     answer=repr(answer), options=self.options))

    def _grade(self, value: Any) -> Verdict:
        if not self.options and _is_number(self.truth) and not _is_number(value):
            return try_again(WANTED)
        if same(value, self.truth):
            return Verdict(states.RIGHT, paragraph([
                gettext("Right: {answer}.", answer=_quoted(value)), self._reason()]))
        reason = self._reason()
        truth = f"→ {_quoted(self.truth)}{mark(': ') if reason else mark('.')}{reason}"
        return Verdict(states.WRONG, " ".join([paragraph([
            gettext("You said {answer}.", answer=_quoted(value)), self._of(value)]), truth]))

    def show_me(self) -> Verdict:
        """Give up: show the answer and the result."""
        self.verdict = Verdict(states.SHOWN, self._truth())
        self._refresh()
        return self.verdict

    def _truth(self) -> str:
        """Return the right answer and its reason."""
        return paragraph([gettext("It is {answer}.", answer=_quoted(self.truth)), self._reason()])

    def _reason(self) -> str:
        """Return why the right answer is right."""
        return gettext(self.because) if isinstance(self.because, str) else self._of(self.truth)

    def _of(self, value: Any) -> str:
        """Return the reply to this answer alone."""
        texts = {} if isinstance(self.because, str) else self.because
        return next((gettext(text) for key, text in texts.items() if same(key, value)), "")

    def _refresh(self) -> None:
        if self.settled:
            self.marks[str(self.truth)] = "right"
        super()._refresh()

    def _answer_html(self) -> str:
        parts = "".join(view["html"] for view in views(self.result))
        return f"<p>{html(self._truth())}</p>{parts}"

    def _received(self, content: dict[str, Any]) -> None:
        super()._received(content)
        if "show" in content:
            self.show_me()


class Asked(Question):
    """A question whose answer a check grades; a wrong one gets its hint and may be changed.

    Args:
        question: The question, or the check itself, whose task is the question then.
        graded: The check.
        show: What is shown inside the question when the answer is right.
        closed: The title of a fold in which the options are, until it is opened.

    >>> from volcano_lab.course.kit.verdict import well_done
    >>> half = Check("99.half", lambda answer: well_done("Yes.") if answer == 5 else
    ...              try_again("Divide by 2."), float)
    >>> Asked("What is half of ten?", half).say("4")
    try again: Divide by 2.
    """

    button = "Check"

    @property
    def word(self) -> str:
        """The place of the check in its lesson."""
        return tag_of(self.graded)

    def __init__(self, question: str | Check, graded: Check | None = None, *, show: Any = None,
                 closed: str = ""):
        if isinstance(question, Check):
            graded, question = question, question.task
        assert graded is not None
        super().__init__(question, graded.options, show)
        self.graded, self.closed = graded, closed

    @property
    def settled(self) -> bool:
        """Whether the check is done; of two causes the first one alone is right, too."""
        return self.verdict is not None and self.verdict.state == states.WELL_DONE

    def _answer_html(self) -> str:
        if not self.graded.solution:
            return ""
        answer, why = map(gettext, self.graded.solution)
        return f"<p>{html(paragraph([answer + mark('.'), why]))}</p>"

    def _grade(self, value: Any) -> Verdict:
        return self.graded(value)


def ask(name: str, *results: Any) -> Question:
    """Ask a question of the open lesson: an entry of its `questions.yaml`, or a check of its
    `checks.py`.

    Args:
        name: That of the entry or of the check.
        results: The cell's results: tables, pictures, texts. They are shown inside the question
            when it is answered.

    >>> opened.number = "03"
    >>> ask("late_before_early").say(3).state
    'right'

    Raises:
        NoSuch: The lesson has no such question.
    """
    entry = entries(opened.number).get(name, {})
    shown = [*entry.get("first", ()), *results, *entry.get("then", ())] or None
    if "predicts" not in entry:
        return Asked(_check(name), show=shown)
    answers = entry["answers"]
    return Prediction(entry["predicts"], () if "takes" in entry else tuple(answers),
                      answer=right(entry), show=shown,
                      because={each: reply.removeprefix(RIGHT) for each, reply in answers.items()})


def _check(name: str) -> Check:
    """Return the check of the open lesson. Raises `NoSuch` for one that it does not have."""
    checks = checks_of(opened.number)
    if name not in checks:
        raise NoSuch('Lesson {number} has no question "{name}"; it has {questions:,}.',
                     number=opened.number, name=name, questions=sorted(entries(opened.number)))
    return checks[name]


def tag_of(graded: Check) -> str:
    """Return the place of a check in its lesson, such as "check 3 of 7"."""
    lesson, _, name = graded.key.partition(".")
    names = list(checks_of(lesson))
    return gettext("check {place} of {count}", place=names.index(name) + 1, count=len(names)
                   ) if name in names else gettext("check")


def _is_number(value: Any) -> bool:
    try:
        read_number(value)
    except ValueError:
        return False
    return True


def _quoted(value: Any) -> str:
    """Return a value in bold; several words in quotation marks. An option that is code stays code.
    """
    if re.fullmatch("`[^`]+`", text := as_text(value)):
        return text
    text = plain(text)
    return f"**“{text}”**" if " " in text and not text[:1].isdigit() else f"**{text}**"
