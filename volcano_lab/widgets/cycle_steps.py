"""The stepper on a page: a cycle forwards and backwards, to a job, a queue, a breakpoint, a symptom; one message a move.

The page asks with `ask` and shows `shown`, one frame of `step_view`; the steps stay in the kernel, however many.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, observe

from volcano_lab.breakpoints import Breakpoint, BreakpointError
from volcano_lab.step_view import AROUND, DETAILS, SLOTS, UNDER_WAY, Frame, StepView
from volcano_lab.stepper import Stepper
from volcano_lab.symptoms import SYMPTOMS, Symptom, find
from volcano_lab.trace import Record, TraceReader, traced

HERE = Path(__file__).parent
OUTCOMES = ("commit", "discard")
OPERATION_NAMES = ("allocate", "pipeline", "evict")


class CycleSteps(anywidget.AnyWidget):
    """A stepper through a cycle. From Python it moves as from the page, and the page follows.

    `view` is the `StepView`; each method answers with the frame that is shown, whose `said` is a sentence where a jump
    found nothing or a breakpoint can't be read.

    >>> from volcano_lab.cluster import Cluster
    >>> steps = stepper(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1))
    >>> steps.forward()["text"], steps.jump(operation="allocate")["text"], steps.back()["text"]
    ('action enqueue begins', 'allocate a-0 on n1', 'action allocate begins')
    >>> steps.stop_at("overused where not answer")["text"]
    'proportion on overused, about queue default: no'
    >>> steps.stop_at("tea time")["said"][:36]
    'the breakpoint stops at "tea time"; '
    >>> steps.show("A job is not let in", "default/a")["said"]
    'this cycle has no place that shows "A job is not let in" for default/a.'
    """

    _esm = (HERE / "drawing.js").read_text(encoding="utf-8") + (HERE / "cycle_steps.js").read_text(encoding="utf-8")
    _css = HERE / "cycle_steps.css"
    fixed = Dict().tag(sync=True)
    shown = Dict().tag(sync=True)
    ask = Dict().tag(sync=True, echo_update=False)

    def __init__(self, view: StepView):
        self.view = view
        super().__init__(fixed=fixed_of(view), shown=self._frame())

    # -- moves ---------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """What is shown: `step_view` says what a frame has."""
        return self.shown

    def goto(self, place: int) -> Frame:
        """To a place, or to the nearest end; 0 is the start."""
        self.view.to_place(place)
        return self._show()

    def forward(self) -> Frame:
        return self.goto(self.view.place + 1)

    def back(self) -> Frame:
        return self.goto(self.view.place - (not self.shown["between"]))

    def jump(self, *, job: str | None = None, queue: str | None = None, operation: str | None = None,
             outcome: str | None = None, backwards: bool = False) -> Frame:
        """To the next record about a job, about a queue, of an operation, of an outcome ("commit", "discard"), or all."""
        found = self.view.stepper.jump(job=job, queue=queue, operation=operation, outcome=outcome, backwards=backwards)
        words = [word for word in (outcome, operation, job, queue) if word]
        where = "before" if backwards else "after"
        return self._show("" if found else f"nothing of {' and '.join(words) or 'it'} comes {where} this place.")

    def stop_at(self, text: str, backwards: bool = False) -> Frame:
        """To the next place where a breakpoint in words stops; see `breakpoints`."""
        try:
            found: Record | None = self.view.stepper.find(Breakpoint(text), backwards)
        except BreakpointError as error:
            return self._show(str(error))
        return self._show("" if found else f"nothing {'before' if backwards else 'after'} this place stops at that.")

    def show(self, symptom: Symptom | str, name: str = "") -> Frame:
        """To the place that decides a symptom, given by itself or by what is seen. `KeyError` for one that isn't known."""
        if not isinstance(symptom, Symptom):
            known = {each.seen: each for each in SYMPTOMS}
            if symptom not in known:
                raise KeyError(f'there is no symptom "{symptom}"; there are {", ".join(known)}')
            symptom = known[symptom]
        found = find(self.view.stepper, symptom, name)
        of = f" for {name}" if name and symptom.about else ""
        return self._show("" if found else f'this cycle has no place that shows "{symptom.seen}"{of}.')

    def detail(self, word: str) -> Frame:
        """How finely one steps: "operations", "decisions" or "every record". `ValueError` for another word."""
        self.view.choose(word)
        return self._show()

    def resource(self, name: str) -> Frame:
        """Amounts of another resource. `ValueError` for one that the nodes don't have."""
        self.view.show(name)
        return self._show()

    # -- what the page asks ----------------------------------------------------------------------------

    @observe("ask")
    def _asked(self, change: Any) -> None:
        """{"count": so many questions, word: [arguments]}; what can't be done is said."""
        asked = dict(change.new)
        asked.pop("count", None)
        for word, arguments in asked.items():
            try:
                ANSWERS[word](self, *arguments)
            except (ValueError, KeyError, TypeError) as error:
                self._show(str(error.args[0] if error.args else error))

    def _frame(self, said: str = "") -> Frame:
        return {**self.view.frame, "said": said, "answers": self.ask.get("count", 0)}

    def _show(self, said: str = "") -> Frame:
        self.shown = self._frame(said)
        return self.shown

    def __repr__(self) -> str:
        return f"<a stepper through {len(self.view.places)} steps; it moves while a kernel runs>"


def _jump(steps: CycleSteps, job: str, queue: str, operation: str, outcome: str, backwards: bool) -> None:
    steps.jump(job=job or None, queue=queue or None, operation=operation or None, outcome=outcome or None, backwards=backwards)


ANSWERS: dict[str, Callable[..., Any]] = {
    "place": CycleSteps.goto, "stop_at": CycleSteps.stop_at, "show": CycleSteps.show, "detail": CycleSteps.detail,
    "resource": CycleSteps.resource, "jump": _jump,
}
"""A word of the page -> what it does."""


def fixed_of(view: StepView) -> dict[str, Any]:
    """What the page needs to know once."""
    return {"names": {what: view.names[what] for what in ("jobs", "queues")}, "resources": view.resources,
            "colors": view.colors, "most": view.most,
            "slots": {what: min(most, len(view.names[what])) for what, most in SLOTS.items()},
            "lines": 2 * AROUND + 1, "under_way": UNDER_WAY, "details": list(DETAILS),
            "operations": OPERATION_NAMES, "outcomes": OUTCOMES,
            "symptoms": [[symptom.seen, symptom.likely, symptom.about] for symptom in SYMPTOMS]}


def stepper(what: Any, conf: str | None = None, at: str = "", symptom: str = "", name: str = "") -> CycleSteps:
    """A stepper through a cycle: of a trace, a `Stepper`, whatever has a `trace` (an `Explainer`), a session that was
    watched by one, or a cluster, whose cycle runs with `conf`.

    It opens at the start, where a breakpoint `at` first stops, or where a `symptom` of `name` (a queue or job) is decided.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=1).job("big", pods=2, cpu=1)
    >>> stepper(cluster, symptom="A job is not let in", name="default/big").frame["text"]
    'overcommit on job_enqueueable, about job big: -1'
    """
    steps = CycleSteps(StepView(what if isinstance(what, Stepper) else Stepper(_trace_of(what, conf))))
    if at:
        steps.stop_at(at)
    if symptom:
        steps.show(symptom, name)
    return steps


def _trace_of(what: Any, conf: str | None) -> TraceReader:
    if hasattr(what, "objects") and callable(what.objects):
        return traced(what.objects(), conf)[0]
    observer = getattr(what, "observer", None)
    for found in (what, getattr(what, "trace", None), observer, *getattr(observer, "observers", ())):
        if isinstance(found, TraceReader):
            return found
    raise TypeError(f"a stepper goes through a trace, not a {type(what).__name__}; allowed are a Trace, a Stepper, an Explainer, "
                    "a session that a Trace watched, and a Cluster.")
