"""A lab: controls, a scheduler that decides from their values, and pictures of what it decided.

One widget holds all of it, so a move is one message to the kernel and one back. Controls, tasks and
panels are data; `decide` runs the real scheduler. From Python a lab moves as on the page, so it is
tested without a browser. `docs/labs-and-pictures.md` builds one in thirty lines.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field
from traitlets import observe

from volcano_lab.cluster import Cluster
from volcano_lab.framework.collector import collector_paused
from volcano_lab.messages import Message, Misuse, NoSuch, gettext, mark, paragraph
from volcano_lab.messages.attempt import attempt
from volcano_lab.widgets import stills
from volcano_lab.widgets.controls import Control
from volcano_lab.widgets.decisions import Decisions, collect_later, later
from volcano_lab.widgets.live import OnPage
from volcano_lab.widgets.pictures import Picture
from volcano_lab.widgets.story import Amounts, Facts, Outcome

Values = dict[str, Any]
KEPT = 200
"""How many moves can be undone."""

AHEAD_AFTER, AHEAD_MOST = 0.02, 1.0
"""Seconds after a move until the next values are decided, and what a decision may take for that."""

AT_REST = '<details class="vp-at-rest">'
"""How a lab's pictures begin where there is no kernel."""


@define
class Task:
    """A task of the lesson: a name for its button, what is to be done, and when it is done.

    Args:
        name: two or three words.
        text: what to do or find out, one or two short sentences.
        done: whether values and facts are what was wanted; without it, whether the values are those
            of `start` and `show`.
        start: values to begin with, where they are not those of the lab.
        show: values of a way to do it, where they are not those of `start`.
    """

    name: str
    text: str
    done: Callable[[Values, Facts], bool] | None = None
    start: Values = field(factory=dict)
    show: Values | None = None

    def is_done(self, values: Values, facts: Facts) -> bool:
        """Return whether values and facts are what was wanted."""
        if self.done is not None:
            return bool(self.done(values, facts))
        return (self.start | (self.show or {})).items() <= values.items()


class Lab(OnPage):
    """Move a control, and the pictures follow.

    >>> from volcano_lab.widgets import pictures
    >>> from volcano_lab.widgets.controls import slider
    >>> lab = Lab({"n": slider(2, 0, 9, "number")}, lambda values: 2 * values["n"],
    ...           [pictures.table("Double", lambda twice: [{"double": twice}], columns=["double"])],
    ...           title="Twice")
    >>> lab.set(n=4).board, lab.said
    ({'table': [{'double': 8}]}, 'Number: 4 (was 2). Nothing else changes.')
    >>> lab.undo().values, lab.reset().board
    ({'n': 2}, {'table': [{'double': 4}]})
    """

    def __init__(self, controls: Mapping[str, Control], decide: Callable[[Values], Facts],
                 panels: Sequence[Picture], *, title: str, tasks: Sequence[Task] = (),
                 says: Sequence[Amounts | Outcome] = (), opening: str | Callable[[Facts], str] = "",
                 nothing: str | Callable[[Facts], str] = "Nothing else changes.",
                 code: Callable[[Values], Cluster] | None = None,
                 why: Callable[[Facts, dict[str, str]], str] | None = None):
        """Make a lab.

        Args:
            controls: by name, see `widgets.controls`.
            decide: values -> facts; whatever it raises is shown as a sentence.
            panels: pictures whose data are functions of the facts.
            title: one line.
            tasks: the lesson's own tasks; each ticks itself off when it is done.
            says: what the sentence after a move tells, see `widgets.story`.
            opening: what is said before the first move, or a function of the facts.
            nothing: what is said where nothing of `says` changed, or a function of the facts.
            code: values -> the cluster, for "copy as Python" and "copy as YAML".
            why: facts and {"node": …, "pod": …} -> a sentence, for a click in a cluster picture.
        """
        self.controls, self.decide, self.panels = dict(controls), decide, list(panels)
        self.title, self.tasks, self.says, self.code, self.why = title, list(tasks), says, code, why
        self._opening, self._nothing = opening, nothing
        self.start = {name: control.start for name, control in self.controls.items()}
        self._keys = [panel.key or panel.kind for panel in self.panels]
        twice = {key for key in self._keys if self._keys.count(key) > 1}
        if twice:
            raise Misuse(gettext("two panels have the key {join}; give each its own: key=…",
                                 join=", ".join(sorted(twice))))
        self._decisions = Decisions(self._decided)
        self._timer: asyncio.TimerHandle | None = None
        self._values = dict(self.start)
        self._facts, self._board = self._decisions.of(self.start)
        self._past: list[Values] = []
        self._before = self._facts  # facts before the move that is being made
        self._origin: Values = self._values
        self._task, self._done = -1, [False] * len(self.tasks)
        super().__init__(fixed=self._fixed(),
                         shown=self._frame(self._first_words(self._facts), "none"))

    # -- from Python -------------------------------------------------------------------------------

    @property
    def values(self) -> Values:
        """The controls' values by name."""
        return dict(self._values)

    @property
    def facts(self) -> Facts:
        """What was decided from the values."""
        return self._facts

    @property
    def board(self) -> dict[str, Any]:
        """What the pictures show, by key."""
        board: dict[str, Any] = self.shown["board"]
        return board

    @property
    def said(self) -> str:
        """What is said about the last move."""
        return " ".join(self.shown["said"]).replace("**", "")

    @property
    def done(self) -> dict[str, bool]:
        """Which tasks are done, by name."""
        return {task.name: done for task, done in zip(self.tasks, self._done, strict=True)}

    def set(self, **values: Any) -> Lab:
        """Move controls by name; the page follows with one message.

        Raises:
            KeyError: for a name that no control has.
            ValueError: for a value that a control does not take.
        """
        self._move(values)
        return self

    def undo(self) -> Lab:
        """Take the last move back."""
        if self._past:
            self._go(self._past.pop(), [gettext("Undone.")], past=False)
        return self

    def reset(self) -> Lab:
        """Set all controls as they were at first."""
        self._past.clear()
        self._task = -1
        self._go(self.start, [], ghost="none", past=False)
        return self

    def begin(self, task: int | str) -> Lab:
        """Begin a task, by its number or name: its text is said, its values are set."""
        number = self._number(task)
        self._task = number
        found = self.tasks[number]
        told = f"**{gettext(found.name)}{mark('.')}** {gettext(found.text)}"
        self._go(self.start | found.start, [told], ghost="none")
        return self

    def python(self) -> str:
        """Return the Python that builds the cluster of these values."""
        return self._cluster().to_python()

    def yaml(self) -> str:
        """Return the manifests of the cluster of these values."""
        return self._cluster().to_yaml()

    # -- a move ------------------------------------------------------------------------------------

    def _move(self, values: Values, more: bool = False) -> None:
        if not isinstance(values, dict):
            raise Misuse(gettext("a move is {values}; allowed are values by the name of their "
                                 "control.", values=repr(values)))
        for name in values:
            if name not in self.controls:
                raise NoSuch(gettext("{name} is no control; there are {controls:,}", name=name,
                                     controls=[*self.controls]))
        checked = {name: self.controls[name].check(name, value) for name, value in values.items()}
        told = self._told(self._origin if more else self._values, checked)
        if len(told) > 2:
            told = [str(Message("moves", n=len(told)))]
        self._go(self._values | checked, told, more=more)
        if self._timer:
            self._timer.cancel()
        self._ahead(self._beside(values))

    def _told(self, before: Values, now: Values) -> list[str]:
        return [self.controls[name].told(before[name], value) for name, value in now.items()
                if value != before[name]]

    def _go(self, values: Values, told: list[str], *, more: bool = False, ghost: str = "last",
            past: bool = True) -> None:
        """Decide from other values; `more` goes on with the move before, `past` can be undone."""
        with collector_paused(collect_later):
            fresh = ghost == "none"
            before = self._before if more else self._facts
            found, error = attempt(lambda: self._followed(values, told, before, fresh))
            if not more:
                self._origin, self._before = self._values, self._facts
                if past and values != self._values:
                    self._past = [*self._past[-KEPT:], self._values]
            self._values = dict(values)
            if found is None:
                return self._fail(str(Message("move.fails", error=gettext(str(error)))))
            self._facts, self._board, self._done, words = found
            self.shown = self._frame(paragraph(words), "keep" if more else ghost)

    def _followed(self, values: Values, told: list[str], before: Facts, fresh: bool
                  ) -> tuple[Facts, dict[str, Any], list[bool], list[str]]:
        """Return facts, board, done tasks and words for values; nothing has changed if it fails."""
        facts, board = self._decisions.of(values)
        done = [was or task.is_done(values, facts)
                for was, task in zip(self._done, self.tasks, strict=True)]
        words = told or [self._first_words(facts)] if fresh else [
            *told, *self._changes(before, facts)]
        return facts, board, done, words

    def _fail(self, sentence: str) -> None:
        self.shown = self._frame(sentence, "keep", error=True)

    def _decided(self, values: Values) -> tuple[Facts, dict[str, Any]]:
        facts = self.decide(values)
        return facts, {key: panel.of(facts) for key, panel in zip(self._keys, self.panels,
                                                                  strict=True)}

    def _beside(self, moved: Iterable[str]) -> Iterator[Values]:
        """The values on both sides of what was moved."""
        for name in moved:
            choices = self.controls[name].choices()
            at = choices.index(self._values[name]) if choices else 0
            for value in choices[max(at - 1, 0):at + 2]:
                yield self._values | {name: value}

    def _ahead(self, values: Iterator[Values]) -> None:
        """Decide, while nobody waits, what the next key press may ask for."""
        def decide() -> None:
            if each := next(values, None):
                attempt(lambda: self._changes(self._facts, self._decisions.of(each)[0]))
                self._ahead(values)

        if self._decisions.took < AHEAD_MOST:
            self._timer = later(AHEAD_AFTER, decide)

    def _changes(self, before: Facts, now: Facts) -> list[str]:
        nothing = self._nothing(now) if callable(self._nothing) else self._nothing
        return [text for each in self.says for text in each.told(before, now)] or [
            gettext(nothing)]

    def _first_words(self, facts: Facts) -> str:
        return gettext(self._opening(facts) if callable(self._opening) else self._opening)

    def _frame(self, said: str, ghost: str, *, error: bool = False, **more: Any) -> dict[str, Any]:
        return {"n": self.ask.get("n", 0), "values": self._values, "board": self._board,
                "said": [said], "ghost": ghost, "error": error, "task": self._task,
                "done": list(self._done), "undo": bool(self._past),
                "moved": self._values != self.start, **more}

    def _fixed(self) -> dict[str, Any]:
        return {"widget": "lab", "title": gettext(self.title),
                "id": "-".join(re.findall(r"[a-z0-9]+", self.title.lower())),
                "controls": [control.page(name) for name, control in self.controls.items()],
                "panels": [panel.fixed | {"key": key}
                           for key, panel in zip(self._keys, self.panels, strict=True)],
                "tasks": [{"name": gettext(task.name), "text": gettext(task.text),
                           "shows": task.show is not None} for task in self.tasks],
                "copies": self._forms()}

    def _cluster(self) -> Cluster:
        if self.code is None:
            raise Misuse(gettext('the lab "{title}" has no code for its cluster',
                                 title=gettext(self.title)))
        return self.code(dict(self._values))

    # -- what the page asks ------------------------------------------------------------------------

    @observe("ask")
    def _asked(self, change: Any) -> None:
        """{"n": number of the question, and one of values, undo, reset, task, show, copy, why}."""
        asked = change.new
        answers: dict[str, Callable[[Any], object]] = {
            "values": lambda values: self._move(values, bool(asked.get("more"))),
            "undo": lambda _: self.undo(), "reset": lambda _: self.reset(), "task": self.begin,
            "show": self._shown,
            "copy": self._copied, "why": lambda about: self._again(why=self._why(about))}
        for word in answers.keys() & asked.keys():
            answers[word](asked[word])
        if self.shown["n"] != asked.get("n", 0):  # nothing was there to do
            self._again()

    def _number(self, task: int | str) -> int:
        """Return the number of a task; `NoSuch` for one that the lab does not have."""
        names = [each.name for each in self.tasks]
        number = names.index(task) if task in names else task
        if number not in range(len(names)):
            raise NoSuch(gettext("there is no task {task}; there are {names:,}", task=repr(task),
                                 names=names))
        return int(number)

    def _shown(self, at: int) -> None:
        """Set the values of a way to do a task, and say what they are."""
        task = self.tasks[self._number(at)]
        start, show = self.start | task.start, task.show or {}
        told = self._told(start, start | show)
        self._go(start | show, [str(Message("task.shown", moves=paragraph(told)))])

    def _forms(self) -> list[str]:
        """The forms in which this state can be copied: names of methods."""
        return ["python", "yaml"] if self.code else []

    def _copied(self, form: str) -> None:
        if form not in self._forms():
            raise Misuse(gettext("a copy is {form}; allowed are {forms:,}", form=repr(form),
                                 forms=self._forms()))
        text = getattr(self, form)()
        self._again(copied={"n": self.ask["n"], "form": form, "text": text})

    def _why(self, about: dict[str, str]) -> str:
        return self.why(self._facts, about) if self.why else ""

    def _again(self, **more: Any) -> None:
        """Answer without a move: the board stays."""
        kept = {name: value for name, value in self.shown.items() if name not in ("copied", "why")}
        self.shown = kept | {"n": self.ask.get("n", 0), "ghost": "keep"} | more

    # -- without a kernel --------------------------------------------------------------------------

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        view, about = super()._repr_mimebundle_()
        return {**view, "text/plain": repr(self), "text/html": self._still()}, about

    def _still(self) -> str:
        """Return the lab at rest, folded: its pictures answer questions of the page."""
        try:
            images = [stills.html(panel.at(self._facts).drawing) for panel in self.panels]
        except stills.NoEngineError as error:
            images = [str(error)]
        moves = gettext("moves in the lab: run this cell")
        head = f"<p><b>{gettext(self.title)}</b> <small>{moves}</small></p>"
        said = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", self.shown["said"][0])
        shown = "".join(f"<div>{image}</div>" for image in images)
        before = gettext("How it stands before the first move")
        return f"{head}{AT_REST}<summary>{before}</summary><p>{said}</p>{shown}</details>"

    def __repr__(self) -> str:
        return str(Message("still.lab", title=gettext(self.title)))
