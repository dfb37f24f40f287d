"""Symptoms, and the places of a trace that decide them: what people see first, and where to look.

Each symptom asks for a queue or a job; `find` puts the stepper where the decision falls.
"""

from attrs import define

from volcano_lab.debug.breakpoints import Breakpoint
from volcano_lab.messages import Misuse
from volcano_lab.trace import Record
from volcano_lab.trace.stepper import Stepper


@define(slots=True, frozen=True)
class Symptom:
    """What is seen, what is likely behind it, and the breakpoint at the place that decides.

    In the breakpoint {queue} or {job} stands for the name that is asked about; `about` says which,
    "" for neither.
    """

    seen: str
    likely: str
    place: str
    about: str = ""

    def breakpoint(self, name: str = "") -> Breakpoint:
        """The breakpoint for one queue or job. Raises `ValueError` where a name is missing."""
        if self.about and not name:
            raise Misuse(f'the symptom "{self.seen}" is one of a {self.about}; name it.')
        return Breakpoint(self.place.format(**{self.about: repr(name)} if self.about else {}))


SYMPTOMS = (
    Symptom("A queue never gets anything", "it deserves next to nothing: its weight, capability, "
            "what is guaranteed to others", "stop at deserved_round where {queue} in "
            "round['deserved']", "queue"),
    Symptom("A queue is passed over",
            "it is overused: it holds all that it deserves, in every resource",
            "stop at overused where queue == {queue} and answer", "queue"),
    Symptom("Not overused, but not allocatable",
            "one resource would go beyond what is deserved or may be held, not all",
            "stop at allocatable where queue == {queue} and not answer", "queue"),
    Symptom("A job is not admitted", "its minimum, with what is allocated and reserved, exceeds "
            "what the queue may hold", "stop at job_enqueueable where job == {job} and answer < 0",
            "job"),
    Symptom("Both sides of an admission",
            "minimum + allocated + inqueue - elastic against the limit",
            "stop at enqueue_comparison where job == {job}", "job"),
    Symptom("No victims", "the candidates' queues hold no more than they deserve, or their gangs "
            "would break", "stop at reclaimable where len(candidates) > 0 and len(answer[0]) == 0"),
    Symptom("Reclaim does nothing for a queue",
            "the queue is overused itself, or may not reclaim for that pod",
            "stop at action reclaim where (kind == 'passed_over' and (queue == {queue} or task is "
            "not None)) or (point == 'overused' and queue == {queue} and answer)", "queue"),
    Symptom("Preempt finds nobody", "no running pod of the queue matters less, or all are "
            "protected", "stop at preemptable where len(answer[0]) == 0"),
    Symptom("One level of the tree refuses",
            "a queue above may hold no more, whatever the leaf may",
            "stop at allocatable_level where queue == {queue} and len(short_of) > 0", "queue"),
    Symptom("A gang's places are given back", "fewer members than the minimum found a node",
            "stop at undo where job == {job}", "job"),
    Symptom("A pod finds no node", "too little room, taints, affinity: the reasons are in the "
            "record", "stop at chose where node is None"),
    Symptom("A job has no turn", "its queue is passed over before it, or others come first",
            "stop at job where next == {job}", "job"))
"""The table of the symptoms, as the guides to debugging fair sharing and a cycle have it, and the
ones users ask about.
"""


def find(stepper: Stepper, symptom: Symptom, name: str = "") -> Record | None:
    """Put a stepper at the first place that decides a symptom, from the start; None, and no move,
    where there is none.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=1).job("a", pods=2, cpu=1).objects())
    >>> find(Stepper(trace), SYMPTOMS[3], "default/a").facts["plugin"]
    'overcommit'
    """
    at, wanted = stepper.at, symptom.breakpoint(name)
    record = stepper.to_start().find(wanted)
    if record is None:
        stepper.goto(at)
    return record
