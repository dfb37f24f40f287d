"""Steppers on a page: a cycle, or statements, forwards and backwards; one message per step.

Both have one grammar (`js/stepping.js`). The steps of a cycle stay in the kernel, however many: the
page requests with `ask` and shows `shown`, one frame of `debug.frames`. Statements are short, so
the page has all their frames.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from traitlets import Int, Unicode, observe

from volcano_lab.cluster import Cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError
from volcano_lab.debug.frames import AROUND, DETAILS, SLOTS, UNDER_WAY, Frame, StepView, frames_of
from volcano_lab.debug.presets import SYMPTOMS, Symptom, find
from volcano_lab.messages import Message, Misuse, NoSuch, gettext
from volcano_lab.scheduler import traced
from volcano_lab.trace import Record, Stepper, TraceReader, colors_of
from volcano_lab.widgets import live


class CycleSteps(live.OnPage):
    """A stepper through a cycle. It moves from Python as from the page, and the page follows.

    `view` is the `StepView`; each method returns the shown frame, whose `said` is a sentence if a
    jump found nothing or a breakpoint can't be parsed.

    >>> steps = stepper(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1))
    >>> steps.forward()["text"], steps.jump(operation="allocate")["text"], steps.back()["text"]
    ('action enqueue begins', 'allocate a-0 on n1', 'action allocate begins')
    >>> steps.stop_at("overused where not answer")["text"]
    'proportion on overused, about queue default: no'
    >>> steps.stop_at("tea time")["said"][:36]
    'the breakpoint stops at "tea time"; '
    >>> steps.show("A job is not admitted", "default/a")["said"]
    'this cycle has no place that shows "A job is not admitted" for default/a.'
    """

    def __init__(self, view: StepView):
        self.view = view
        super().__init__(shown=self._frame(), fixed={
            "widget": "cycleSteps",
            "names": {"jobs": view.names["jobs"], "queues": view.names["queues"],
                      "resources": view.resources, "outcomes": ["commit", "discard"],
                      "operations": ["allocate", "pipeline", "evict"]},
            "colors": colors_of(view.queues), "most": view.most,
            "slots": {what: min(most, len(view.names[what])) for what, most in SLOTS.items()},
            "lines": 2 * AROUND + 1, "under_way": UNDER_WAY, "details": labelled(DETAILS),
            "symptoms": [{"key": symptom.seen, "seen": gettext(symptom.seen),
                          "likely": gettext(symptom.likely), "name": symptom.about}
                         for symptom in SYMPTOMS]})

    # -- moves -------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The frame that is shown; see `debug.frames` for its fields."""
        return self.shown

    def goto(self, place: int) -> Frame:
        """Move to a place, or to the nearest end; 0 is the start."""
        self.view.to_place(place)
        return self._show()

    def forward(self) -> Frame:
        """Move one step forward."""
        return self.goto(self.view.place + 1)

    def back(self) -> Frame:
        """Move one step back."""
        return self.goto(self.view.place - (not self.shown["between"]))

    def jump(self, job: str = "", queue: str = "", operation: str = "", outcome: str = "",
             backwards: bool = False) -> Frame:
        """Move to the next record about a job, about a queue, of an operation, of an outcome
        ("commit", "discard"), or all of these.
        """
        found = self.view.stepper.jump(job=job, queue=queue, operation=operation, outcome=outcome,
                                       backwards=backwards)
        where = "before" if backwards else "after"
        return self._show("" if found else str(Message(
            f"stepper.nothing_{where}", what=[outcome, operation, job, queue])))

    def stop_at(self, text: str, backwards: bool = False) -> Frame:
        """Move to the next place where a breakpoint stops; see `debug.breakpoints`."""
        try:
            wanted = Breakpoint(text)
            found: Record | None = self.view.stepper.find(wanted, backwards)
        except BreakpointError as error:
            return self._show(str(error))
        where = Message(f"stepper.no_stop_{'before' if backwards else 'after'}")
        return self._show("" if found else wanted.nowhere(self.view.trace) or str(where))

    def show(self, symptom: Symptom | str, name: str = "") -> Frame:
        """Move to the place that decides a symptom of `debug.presets`, given by its sentence.

        Raises:
            KeyError: for an unknown symptom.
        """
        known = {each.seen: each for each in SYMPTOMS}
        sought = symptom if isinstance(symptom, Symptom) else known.get(symptom)
        if sought is None:
            raise NoSuch("stepper.symptom", symptom=symptom, known=[*map(gettext, known)])
        code = "stepper.no_symptom" + ".of" * bool(name and sought.about)
        return self._show("" if find(self.view.stepper, sought, name) else str(Message(
            code, symptom=gettext(sought.seen), name=name)))

    def detail(self, word: str) -> Frame:
        """Step by "operations", "decisions" or "every record"; `ValueError` for another word."""
        self.view.choose(word)
        return self._show()

    def resource(self, name: str) -> Frame:
        """Show amounts of another resource; `ValueError` for one that the nodes do not have."""
        self.view.show(name)
        return self._show()

    @observe("ask")
    def _asked(self, change: Any) -> None:
        """Answer the page: {"count": number of the question, name in `ANSWERS`: [arguments]}."""
        for word in ANSWERS & change.new.keys():
            getattr(self, word)(*change.new[word])

    def _fail(self, sentence: str) -> None:
        self._show(sentence)

    def _frame(self, said: str = "") -> Frame:
        return {**self.view.frame, "said": said, "answers": self.ask.get("count", 0)}

    def _show(self, said: str = "") -> Frame:
        self.shown = self._frame(said)
        return self.shown

    def __repr__(self) -> str:
        return str(Message("still.steps", n=len(self.view.places)))


ANSWERS = {"goto", "stop_at", "show", "detail", "resource", "jump"}
"""The methods of `CycleSteps` that the page may call."""


def labelled(words: Iterable[str]) -> list[dict[str, str]]:
    """Return choices for the page: the key is sent back, the label is read."""
    return [{"key": word, "label": gettext(word)} for word in words]


Scene = TraceReader | Callable[[], TraceReader]


class StatementSteps(live.OnPage):
    """Steps through traces; `scenes` are traces, or functions that return one, by their name on the
    page, which has all their frames.

    On the page arrow keys step, Home and End jump. `at` is the shown step, 0 for the start; a step
    is one message.

    >>> cluster = Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1)
    >>> steps = StatementSteps({"a gang": lambda: traced(cluster.objects())[0]})
    >>> steps.frame["text"], steps.forward()["text"]
    ('the session is open', 'allocate a-0 on n1')
    >>> steps.goto(99)["text"], steps.back()["step"], steps.goto(0)["step"]
    ('commit: allocate a-1 on n1', 3, 0)
    """

    scene = Unicode().tag(sync=True)
    at = Int(0).tag(sync=True)

    def __init__(self, scenes: Mapping[str, Scene]):
        self.scenes = {name: frames_of(source if isinstance(source, TraceReader) else source())
                       for name, source in scenes.items()}
        super().__init__(scene=next(iter(scenes)), fixed={
            "widget": "statementSteps", "names": labelled(scenes), "scenes": {
                name: {"frames": frames, "colors": colors_of(
                    pod["queue"] for pod in frames[0]["pods"])}
                for name, frames in self.scenes.items()}})

    def show(self, scene: str) -> Self:
        """Show another scene, from its start. `KeyError` for an unknown name."""
        if scene not in self.scenes:
            raise NoSuch("stepper.scene", scene=scene, scenes=[*self.scenes])
        self.scene = scene
        return self

    @observe("scene")
    def _begin(self, _: Any) -> None:
        self.at = 0

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The frames of the shown scene; see `debug.frames.frames_of` for their fields."""
        return self.scenes[self.scene]

    @property
    def frame(self) -> dict[str, Any]:
        """The shown frame."""
        return self.frames[self.at]

    def goto(self, step: int) -> dict[str, Any]:
        """Move to a step, or to the nearest end."""
        self.at = max(0, min(step, len(self.frames) - 1))
        return self.frame

    def forward(self) -> dict[str, Any]:
        return self.goto(self.at + 1)

    def back(self) -> dict[str, Any]:
        return self.goto(self.at - 1)

    def __repr__(self) -> str:
        return str(Message("still.scenes", n=len(self.scenes)))


def stepper(what: Cluster | TraceReader, conf: str | None = None) -> CycleSteps:
    """Return a stepper through a cycle of a cluster, with its configuration or another, or through
    a trace.

    >>> cluster = Cluster().node("n1", cpu=1).job("big", pods=2, cpu=1)
    >>> stepper(cluster).show("A job is not admitted", "default/big")["text"]
    'overcommit on job_enqueueable, about job big: -1'
    """
    if not isinstance(what, Cluster | TraceReader):
        raise Misuse("stepper.source", name=type(what).__name__)
    trace = what if isinstance(what, TraceReader) else traced(
        what.objects(), what.configuration(conf))[0]
    return CycleSteps(StepView(Stepper(trace)))
