"""Answers to the checks of lesson 11: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.lesson_11 import checks
from volcano_lab.course.lesson_11.checks import Row, _by_node

CAUSES = checks_of("11")["patient_one"].options
SHOWN = checks_of("11")["kubectl_shows"].options
THREE = [(1, "bind_refused"), (2, "bind_refused"), (3, "bind_refused")]


def bound_twice(events: list[Row]) -> list[str]:
    """Pods that were bound although they were bound already, and were not lost in between."""
    bound, found = set(), []
    for _, what, pod, _ in events:
        if what == "pod bound" and pod in bound:
            found.append(pod)
        if what == "pod bound":
            bound.add(pod)
        elif what == "pod lost":
            bound.discard(pod)
    return found


def _counts(events: list[Row]) -> list[str]:
    names = [pod for _, what, pod, _ in events if what == "pod bound"]
    return sorted({name for name in names if names.count(name) > 1})


answers(
    "11.kubectl_shows",
    right=[SHOWN[0]],
    wrong=[
        (SHOWN[1], "has not answered"),
        (SHOWN[2], "no phase"),
        (SHOWN[3], "kubelet"),
        ("Bound", "Choose"),
        ("n1", "Choose"),
    ],
)

answers(
    checks.failures_until_a_second,
    right=[9, "9"],
    wrong=[(8, "0.64"), (10, "A smaller"), (200, "doubled"), (0, "at least one"), (7, "0.32")],
)

answers(
    checks.half_a_gang,
    right=[THREE, [list(entry) for entry in THREE], [(1, "node_lost")]],
    wrong=[
        (THREE[:1], "1 s"),
        ([(1, "bind_refused")] * 3, "All three"),
        ([(1, "pod_deleted")], "lost"),
        ([(1, "bind_lost")], "allowed are"),
        ([(1, "event_twice")], "no time"),
        (["bind_refused"], "second and a kind"),
        ([*THREE, (4, "bind_refused")], "three faults"),
        ([(1, "cycle_crash")], "no time"),
    ],
)

answers(
    checks.own_invariant,
    right=[bound_twice, lambda events: set(bound_twice(events))],
    wrong=[
        (_counts, "recreated"),
        (lambda events: ["default/train-1-0"], "bound once"),
        (_by_node, "same node"),
        (lambda events: True, "list of pods"),
        (lambda events: events[:1], "list of pods"),
        (lambda events: [], "finds nothing"),
    ],
)

answers(
    "11.patient_one",
    right=[CAUSES[0]],
    wrong=[
        (CAUSES[1], "Bound"),
        (CAUSES[2], "“–”"),
        (CAUSES[3], "never sent"),
        ("?", "Choose"),
        ("no room", "Choose"),
    ],
)

answers(
    "11.patient_two",
    right=[CAUSES[1]],
    wrong=[
        (CAUSES[0], "Both nodes are there"),
        (CAUSES[2], "was read"),
        (CAUSES[3], "never sent"),
        ("SchedulerError", "Choose"),
        ("no room", "Choose"),
    ],
)

answers(
    "11.patient_three",
    right=[CAUSES[2]],
    wrong=[
        (CAUSES[0], "is there"),
        (CAUSES[1], "only once"),
        (CAUSES[3], "never sent"),
        ("a bind request hangs", "Choose"),
        ("no room", "Choose"),
    ],
)

answers(
    "11.still_there",
    right=["its kubelet has not ended it yet"],
    wrong=[("the eviction failed", "Running in the cache"),
           ("the pod that waits has not come", "The victim goes first"),
           ("its queue holds no more than it deserves", "before the eviction"),
           ("the next cycle takes the eviction back", "its own plans"),
           ("a finalizer", "Choose one of")],
)

answers(
    "11.look_first",
    right=["what refuses the bind: the API server, a webhook, a volume"],
    wrong=[("its queue's capability", "Unschedulable"), ("what is idle on the nodes", "was chosen"),
           ("the gang's minimum", "was ready"), ("the kubelet of the node", "when it is bound"),
           ("the moon", "Choose one of")],
)
