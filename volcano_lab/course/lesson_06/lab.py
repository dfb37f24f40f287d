"""Lesson 06: a statement step by step, and where pods are on the nodes."""

from collections.abc import Mapping

from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.lesson_06.scene import SCENES
from volcano_lab.debug.frames import frames_of
from volcano_lab.debug.sandbox import Rehearsal
from volcano_lab.messages import gettext
from volcano_lab.trace import TraceReader, colors_of
from volcano_lab.widgets import pictures
from volcano_lab.widgets.steps import Scene, StatementSteps


def statement_stepper(scenes: Mapping[str, Scene] | None = None) -> StatementSteps:
    """Make the stepper with the scenes of the lesson, or with others.

    >>> statement_stepper().goto(99)["text"]
    'commit: allocate train-2 on node-1'
    """
    return StatementSteps(SCENES if scenes is None else scenes)


def show(by_hand: Rehearsal, what: str = "nodes", caption: str = "") -> Table:
    """Show the nodes, pods or queues of a session as they are now.

    >>> from volcano_lab.course.lesson_06.scene import half_full
    >>> print(show(Rehearsal(half_full()), "queues"))
    queue  deserved  allocated  share
    a             4          4      1
    b             4          0      0
    """
    return table(frames_of(by_hand.trace)[-1][what], caption=caption)


STATES = {"Allocated": "allocated", "Binding": "allocated", "Pipelined": "promised",
          "Releasing": "leaving"}


def nodes_of(trace: TraceReader, title: str, step: int = 0) -> pictures.Picture:
    """Draw which pods are on which node after a step of a trace's statements; -1 is the last.

    >>> from volcano_lab.course.lesson_06.scene import half_full
    >>> nodes_of(Rehearsal(half_full()).trace, "Nodes").alt
    'Nodes. node-0: 2 pods run, idle 0 of 4 CPUs (web-0, web-1). node-1: empty, idle 4 of 4 CPUs.'
    """
    frame = frames_of(trace)[step]
    colors = colors_of(pod["queue"] for pod in frame["pods"])
    return pictures.cluster(title, {"nodes": [{
        "name": node["node"], "size": node["allocatable"],
        "pods": [{"name": pod["pod"], "size": pod["asks"], "color": colors[pod["queue"]],
                  "state": STATES.get(pod["status"], "running")}
                 for pod in frame["pods"] if pod["node"] == node["node"]]}
        for node in frame["nodes"]]}, unit="CPUs", cell=1)


def states_of(trace: TraceReader, title: str) -> pictures.Picture:
    """Show the states that a trace's statements give to the pods that move; a dot: as before.

    >>> from volcano_lab.course.lesson_06.scene import half_full
    >>> by_hand = Rehearsal(half_full())
    >>> _ = by_hand.statement().evict("web-1")
    >>> states_of(by_hand.trace, "Steps").data[1]
    {'step': '1. evict web-1 from node-0', 'web-1': 'Releasing'}
    """
    frames = list(frames_of(trace))
    states = [{pod["pod"]: pod["status"] for pod in frame["pods"]} for frame in frames]
    moved = [pod for pod in states[0] if len({at[pod] for at in states}) > 1]
    return pictures.table(title, [
        {"step": gettext("{step}. {text}", step=frame["step"], text=gettext(frame["text"]))} | {
            pod: "·" if at > 0 and now[pod] == states[at - 1][pod] else now[pod] for pod in moved}
        for at, (frame, now) in enumerate(zip(frames, states, strict=True))],
        texts=True, heads=["step"])
