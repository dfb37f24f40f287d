"""A lab: controls, a scheduler that decides from their values, and pictures of the decisions.

One widget holds all of it, so a move is one message to the kernel and one back. Controls, tasks and
panels are data; `decide` runs the real scheduler. A lab moves from Python as on the page, so it is
tested without a browser. `docs/labs-and-pictures.md` builds one in thirty lines.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Self

from traitlets import observe

from volcano_lab.cluster import Cluster
from volcano_lab.framework.collector import collector_paused
from volcano_lab.messages import Message, Misuse, NoSuch, gettext, paragraph
from volcano_lab.messages.attempt import attempt
from volcano_lab.widgets import decisions, live, pictures, stills
from volcano_lab.widgets.controls import Control
from volcano_lab.widgets.story import Facts, Report
from volcano_lab.widgets.task import Task, Values

KEPT = 200
"""How many moves can be undone."""

AHEAD_AFTER, AHEAD_MOST = 0.02, 1.0
"""Seconds after a move until the next values are decided, and the limit of such a decision."""

AT_REST = '<details class="vp-at-rest">'
"""How a lab's pictures begin where there is no kernel."""


class Lab(live.OnPage):
    """A set of controls whose moves update its pictures.

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
                 panels: Sequence[pictures.Picture], *, title: str, tasks: Sequence[Task] = (),
                 says: Sequence[Report] = (), opening: str | Callable[[Facts], str] = "",
                 nothing: str | Callable[[Facts], str] = "Nothing else changes.",
                 because: Callable[[Facts, Facts], str] = lambda before, now: "",
                 code: Callable[[Values], Cluster] | None = None,
                 why: Callable[[Facts, dict[str, str]], str] | None = None):
        """Build a lab.

        Args:
            controls: by name, see `widgets.controls`.
            decide: values -> facts; any exception is shown as a sentence.
            panels: pictures whose data are functions of the facts.
            title: one line.
            tasks: the lesson's own tasks; each is ticked when it was begun and is done.
            says: what the sentence after a move reports, see `widgets.story`.
            opening: the sentence before the first move, or a function of the facts.
            nothing: the sentence where nothing of `says` changed, or a function of the facts.
            because: facts before and now -> the cause, behind these: what was moved, the numbers
                that were compared, and the plugin that decided.
            code: values -> the cluster, for "copy as Python" and "copy as YAML".
            why: facts and {"node": …, "pod": …} -> a sentence, for a click in a cluster picture.
        """
        self.controls, self.decide, self.panels = dict(controls), decide, list(panels)
        self.title, self.tasks, self.says, self.code, self.why = title, list(tasks), says, code, why
        self._opening, self._nothing, self._because = opening, nothing, because
        self.start = {name: control.start for name, control in self.controls.items()}
        self._keys = [panel.key or panel.kind for panel in self.panels]
        twice = {key for key in self._keys if self._keys.count(key) > 1}
        if twice:
            raise Misuse("lab.keys", keys=sorted(twice))
        self._recent: dict[str, tuple[Facts, dict[str, Any]]] = {}  # recent decisions
        self._took = 0.0  # seconds of the last one
        self._timer: asyncio.TimerHandle | None = None
        self._values = dict(self.start)
        self._facts, self._board = self._decided(self.start)
        self._past: list[Values] = []
        self._before = self._facts  # facts before the current move
        self._origin: Values = self._values
        self._task, self._done = -1, [False] * len(self.tasks)
        super().__init__(fixed=self._fixed(),
                         shown=self._frame(self._words(opening, self._facts), "none"))

    # -- from Python -------------------------------------------------------------------------------

    @property
    def values(self) -> Values:
        """The controls' values by name."""
        return dict(self._values)

    @property
    def facts(self) -> Facts:
        """The facts decided from the values."""
        return self._facts

    @property
    def board(self) -> dict[str, Any]:
        """The data of the pictures, by key."""
        board: dict[str, Any] = self.shown["board"]
        return board

    @property
    def said(self) -> str:
        """The sentence about the last move."""
        return " ".join(self.shown["said"]).replace("**", "")

    @property
    def done(self) -> dict[str, bool]:
        """Whether each task is done, by name."""
        return {task.name: done for task, done in zip(self.tasks, self._done, strict=True)}

    def set(self, **values: Any) -> Self:
        """Set controls by name; the page follows with one message.

        Raises:
            KeyError: for a name that no control has.
            ValueError: for a value that a control does not allow.
        """
        self._move(values)
        return self

    def undo(self) -> Self:
        """Undo the last move."""
        if self._past:
            self._apply(self._past.pop(), [gettext("Undone.")], past=False)
        return self

    def reset(self) -> Self:
        """Set all controls to their initial values."""
        self._past.clear()
        self._task = -1
        self._apply(self.start, [], ghost="none", past=False)
        return self

    def begin(self, task: int | str) -> Self:
        """Begin a task, by its number or name: show its text, set its values."""
        found = self._begun(task)
        self._apply(self.start | found.start, [found.said()], ghost="none")
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
            raise Misuse("lab.move", values=repr(values))
        for name in values:
            if name not in self.controls:
                raise NoSuch("lab.control", name=name, controls=[*self.controls])
        checked = {name: self.controls[name].check(name, value) for name, value in values.items()}
        sentences = self._sentences(self._origin if more else self._values, checked)
        if len(sentences) > 2:
            sentences = [str(Message("moves", n=len(sentences)))]
        self._apply(self._values | checked, sentences, more=more)
        if self._timer:
            self._timer.cancel()
        self._ahead(self._beside(values))

    def _sentences(self, before: Values, now: Values) -> list[str]:
        return [self.controls[name].sentence(before[name], value) for name, value in now.items()
                if value != before[name]]

    def _apply(self, values: Values, sentences: list[str], *, more: bool = False,
               ghost: str = "last", past: bool = True) -> None:
        """Decide from other values; `more` continues the last move, `past` can be undone."""
        with collector_paused(decisions.collect_later):
            fresh = ghost == "none"
            was = (self._origin, self._before) if more else (self._values, self._facts)
            found, error = attempt(lambda: self._followed(values, sentences, was, fresh))
            if not more:
                self._origin, self._before = self._values, self._facts
                if past and values != self._values:
                    self._past = [*self._past[-KEPT:], self._values]
            self._values = dict(values)
            if found is None:
                return self._fail(str(Message("move.fails", error=gettext(str(error)))))
            self._facts, self._board, self._done, words = found
            self.shown = self._frame(paragraph(words), "keep" if more else ghost)

    def _followed(self, values: Values, sentences: list[str], was: tuple[Values, Facts],
                  fresh: bool) -> tuple[Facts, dict[str, Any], list[bool], list[str]]:
        """Return facts, board, done tasks and sentences for values; nothing changes on failure."""
        facts, board = self._decided(values)
        done = [was or (self._task == number and task.is_done(values, facts))
                for number, (was, task) in enumerate(zip(self._done, self.tasks, strict=True))]
        if fresh:
            return facts, board, done, sentences or [self._words(self._opening, facts)]
        task = self.tasks[self._task] if self._task >= 0 else None
        solved = task and task.is_done(values, facts) and not task.is_done(*was)
        words = [*sentences, *([gettext(task.answer)] if task and solved and task.answer
                               else self._changes(was[1], facts))]
        if task and not done[self._task] and task.moved(values, was[0]):
            words.append(task.said())
        return facts, board, done, words

    def _fail(self, sentence: str) -> None:
        self.shown = self._frame(sentence, "keep", error=True)

    def _decided(self, values: Values) -> tuple[Facts, dict[str, Any]]:
        """Return facts and board for values; of recent ones the same, so that a control moved back
        is answered at once.
        """
        key = repr(values)
        if key not in self._recent:
            began, facts = perf_counter(), self.decide(dict(values))
            self._recent[key] = facts, {name: panel.of(facts) for name, panel in zip(
                self._keys, self.panels, strict=True)}
            self._took = perf_counter() - began
            if len(self._recent) > decisions.REMEMBERED:
                del self._recent[next(iter(self._recent))]
        return self._recent[key]

    def _beside(self, moved: Iterable[str]) -> Iterator[Values]:
        """Yield the values on both sides of each moved control."""
        for name in moved:
            choices = self.controls[name].choices()
            at = choices.index(self._values[name]) if choices else 0
            for value in choices[max(at - 1, 0):at + 2]:
                yield self._values | {name: value}

    def _ahead(self, values: Iterator[Values]) -> None:
        """Decide in idle time for the values that the next key press may request."""
        def decide() -> None:
            if each := next(values, None):
                attempt(lambda: self._changes(self._facts, self._decided(each)[0]))
                self._ahead(values)

        if self._took < AHEAD_MOST:
            self._timer = decisions.later(AHEAD_AFTER, decide)

    def _changes(self, before: Facts, now: Facts) -> list[str]:
        changed = [text for each in self.says for text in each.sentences(before, now)]
        return [*(changed or [self._words(self._nothing, now)]), self._because(before, now)]

    def _words(self, text: str | Callable[[Facts], str], facts: Facts) -> str:
        return gettext(text(facts) if callable(text) else text)

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
            raise Misuse('the lab "{title}" has no code for its cluster', title=gettext(self.title))
        return self.code(dict(self._values))

    # -- what the page asks ------------------------------------------------------------------------

    @observe("ask")
    def _asked(self, change: Any) -> None:
        """Answer {"n": number, and one of values, undo, reset, task, show, copy, why}."""
        asked = change.new
        answers: dict[str, Callable[[Any], object]] = {
            "values": lambda values: self._move(values, bool(asked.get("more"))),
            "undo": lambda _: self.undo(), "reset": lambda _: self.reset(), "task": self.begin,
            "show": self._shown,
            "copy": self._copied, "why": lambda about: self._again(
                why=self.why(self._facts, about) if self.why else "")}
        for word in answers.keys() & asked.keys():
            answers[word](asked[word])
        if self.shown["n"] != asked.get("n", 0):  # nothing was there to do
            self._again()

    def _begun(self, task: int | str) -> Task:
        """Make a task the current one; `NoSuch` for one that the lab does not have."""
        names = [each.name for each in self.tasks]
        number = names.index(task) if task in names else task
        if number not in range(len(names)):
            raise NoSuch("lab.task", task=repr(task), names=names)
        self._task = int(number)
        return self.tasks[self._task]

    def _shown(self, at: int) -> None:
        """Set the values of one solution of a task, and list them."""
        task = self._begun(at)
        start, show = self.start | task.start, task.show or {}
        sentences = self._sentences(start, start | show)
        self._apply(start | show, [str(Message("task.shown", moves=paragraph(sentences)))])

    def _forms(self) -> list[str]:
        """Return the forms in which this state can be copied: names of methods."""
        return ["python", "yaml"] if self.code else []

    def _copied(self, form: str) -> None:
        if form not in self._forms():
            raise Misuse("lab.copy", form=repr(form), forms=self._forms())
        text = getattr(self, form)()
        self._again(copied={"n": self.ask["n"], "form": form, "text": text})

    def _again(self, **more: Any) -> None:
        """Answer without a move: the board stays."""
        kept = {name: value for name, value in self.shown.items() if name not in ("copied", "why")}
        self.shown = kept | {"n": self.ask.get("n", 0), "ghost": "keep"} | more

    # -- without a kernel --------------------------------------------------------------------------

    def _repr_mimebundle_(self, **_asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view, about = super()._repr_mimebundle_() or ({}, {})
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
