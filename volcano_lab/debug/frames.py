"""Places in a trace as small plain frames: what a stepper displays.

A frame has the sentence of the record, its neighbours, the open statement, and rows of queues,
nodes and jobs, in display units. However large the cluster, a frame has no more rows than `SLOTS`
allows: of longer lists, the part around the record's object. `frames_of` returns whole frames of a
trace's statements: the operation, and pods, nodes and queues right after it.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Any, Self

from volcano_lab.api import in_units, status
from volcano_lab.messages import Message, Misuse
from volcano_lab.trace import KINDS, OPERATIONS, Record, State, Stepper, TraceReader
from volcano_lab.trace.kinds import operation, sentence, short
from volcano_lab.trace.views.queues import amount_of

Frame = dict[str, Any]
SLOTS = {"queues": 8, "nodes": 10, "jobs": 10}
"""The most rows of each kind in a frame."""
AROUND = 4
"""How many places before and after the current one are listed."""
UNDER_WAY = 4
"""The most operations of open statements in a frame."""

READY = frozenset(map(str, status.READY_STATUSES))
SUMS = ("allocated", "inqueue", "deserved", "real_capability")
ACCOUNTS = ("allocatable", "idle", "used", "releasing", "pipelined")
STEPS = (*OPERATIONS, "start", "saved", "recovers")

DETAILS: dict[str, Callable[[Record], Any]] = {
    "operations": lambda record: (record.kind in STEPS or record.get("short_of")
                                  or (record.kind == "chose" and not record["node"])),
    "decisions": lambda record: record.kind not in KINDS or not KINDS[record.kind].detail,
    "every record": lambda record: True}
"""How fine the steps are -> at which records they stop, beside those with changes."""


class StepView:
    """A `Stepper`, seen through frames. `places` are the records at which steps stop; place 0 is
    the start.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).objects())
    >>> view = StepView(Stepper(trace))
    >>> frame = view.to_place(4).frame
    >>> frame["text"], frame["jobs"][0]["placed"], frame["nodes"][0]["idle"]
    ('allocate a-0 on n1', 1, 3)
    >>> view.to_place(99).frame["text"], view.frame["place"] == view.frame["last"]
    ('action backfill begins', True)
    """

    def __init__(self, stepper: Stepper, detail: str = "operations"):
        self.stepper, self.trace = stepper, stepper.trace
        state = self.trace.start
        self.names = {what: sorted(state[what]) for what in ("queues", "nodes", "jobs")}
        self.resources = _resources(self.trace.start)
        self.resource = "cpu" if "cpu" in self.resources else self.resources[0]
        self.queues = [*self.names["queues"], *(job["queue"] for job in state["jobs"].values())]
        self.pods: dict[str, list[str]] = {uid: [] for uid in state["jobs"]}
        for key, task in state["tasks"].items():
            self.pods.setdefault(task["job"], []).append(key)
        self._from = dict.fromkeys(SLOTS, 0)  # first shown entry of each long list
        self.choose(detail)

    def choose(self, detail: str) -> None:
        """Set how fine the steps are: a key of `DETAILS`; `ValueError` for another word."""
        if detail not in DETAILS:
            raise Misuse("stepper.detail", detail=detail, details=[*DETAILS])
        self.detail, holds = detail, DETAILS[detail]
        self.places = [record.number for record in self.trace.records
                       if record.number in self.trace.log or holds(record)]

    def show(self, resource: str) -> None:
        """Show amounts of another resource; `ValueError` for one that the cluster doesn't have."""
        if resource not in self.resources:
            raise Misuse("stepper.resource", resource=resource, names=self.resources)
        self.resource = resource

    # -- position ----------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        """The number of places passed; after a jump between two places, that of the earlier."""
        return bisect_right(self.places, self.stepper.at)

    def to_place(self, place: int) -> Self:
        """Move to a place, or to the nearest end."""
        place = max(0, min(place, len(self.places)))
        self.stepper.goto(self.places[place - 1] if place else -1)
        return self

    # -- content -----------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        record, place = self.stepper.record, self.place
        about = self._about(record)
        between = self.stepper.at != (self.places[place - 1] if place else -1)
        under_way = [*chain.from_iterable(self.stepper.statements.values())]
        return {"place": place, "last": len(self.places), "between": between,
                "number": self.stepper.at, "detail": self.detail, "resource": self.resource,
                "action": record.action if record else "open", "text": sentence(record),
                "around": self._around(place), "statement": {
                    "count": len(under_way), "operations": [
                        str(operation(*entry)) for entry in under_way[-UNDER_WAY:]]},
                "queues": self._part("queues", about, self._queue),
                "nodes": self._part("nodes", about, self._node),
                "jobs": self._part("jobs", about, self._job),
                "of": {what: [self._from[what], len(names)] for what, names in self.names.items()}}

    def _about(self, record: Record | None) -> dict[str, str]:
        """Return the queue, node and job of a record."""
        if record is None:
            return {}
        task = self.trace.start["tasks"].get(record.get("task"), {})
        job = record.get("job") or task.get("job", "")
        queue = record.get("queue") or record.get("level") or self.trace.start["jobs"].get(
            job, {}).get("queue", "")
        return {"queues": queue, "nodes": record.get("node") or "", "jobs": job}

    def _part(self, what: str, about: dict[str, str],
              row: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
        names, slots, name = self.names[what], SLOTS[what], about.get(what, "")
        if len(names) > slots and isinstance(name, str) and name in self.stepper.state[what]:
            self._from[what] = min(names.index(name) // slots * slots, len(names) - slots)
        start = self._from[what]
        return [{**row(each), "about": each == name} for each in names[start : start + slots]]

    def _queue(self, name: str) -> dict[str, Any]:
        queue = self.stepper.state["queues"][name]
        return {"name": name, **_amounts(queue, SUMS, self.resource), "share": queue["share"]}

    def _node(self, name: str) -> dict[str, Any]:
        node = self.stepper.state["nodes"][name]
        return {"name": name, **_amounts(node, ACCOUNTS, self.resource)}

    def _job(self, uid: str) -> dict[str, Any]:
        job, tasks = self.stepper.state["jobs"][uid], self.stepper.state["tasks"]
        states = [tasks[pod]["status"] for pod in self.pods[uid]]
        return {"name": short(uid), "queue": job["queue"], "phase": job["phase"] or "Pending",
                "pods": len(states), "placed": sum(state in READY for state in states),
                "promised": states.count("Pipelined"), "releasing": states.count("Releasing"),
                "min_available": job["min_available"]}

    def _around(self, place: int) -> list[list[Any]]:
        """Return [place, sentence] of the places before and after; the start is place 0."""
        places = range(max(0, min(place - AROUND, len(self.places) - 2 * AROUND)),
                       len(self.places) + 1)[:2 * AROUND + 1]
        return [[number, sentence(self.trace.records[self.places[number - 1]] if number else None)]
                for number in places]

    @property
    def most(self) -> dict[str, dict[str, float]]:
        """The scale of each kind of row by resource: the largest node, and the largest amount that
        queues hold, deserve or request.
        """
        start = self.trace.start
        held = [queue[field] for queue in start["queues"].values()
                for field in ("deserved", "request", "allocated")]
        most: dict[str, dict[str, float]] = {"nodes": {}, "queues": {}}
        for name in self.resources:
            nodes = [node["allocatable"].get(name, 0.0) for node in start["nodes"].values()]
            queues = max((amounts.get(name, 0.0) for amounts in held), default=0.0)
            most["nodes"][name] = in_units(name, max(nodes, default=0.0)) or 1
            most["queues"][name] = in_units(name, min(queues, sum(nodes))) or 1
        return most


def _amounts(of: Mapping[str, Any], fields: Iterable[str], resource: str) -> dict[str, Any]:
    return {field: amount_of(of[field], resource) for field in fields}


def _resources(start: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return the nodes' resources, those that pods request first; never empty."""
    asked = {name for task in start["tasks"].values() for name, amount in task["request"].items()
             if amount}
    there = dict.fromkeys(name for node in start["nodes"].values() for name in node["allocatable"])
    listed = [name for name in there if name != "pods"]
    return [*sorted(listed, key=lambda name: name not in asked), "pods"]


def frames_of(trace: TraceReader) -> list[Frame]:
    """Return the start, and a frame for each operation that was done, undone, committed, saved or
    recovered; amounts are those of CPUs. Pods that have a node at the start come first, so that a
    picture keeps their places.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=1, cpu=1).objects())
    >>> [(frame["kind"], frame["text"], frame["pods"][0]["status"]) for frame in frames_of(trace)]
    [('start', 'the session is open', 'Pending'), ('do', 'allocate a-0 on n1', 'Allocated'),
     ('commit', 'commit: allocate a-0 on n1', 'Binding')]
    """
    stepper = Stepper(trace)
    waits = {name for name, task in stepper.state["tasks"].items() if task["status"] == "Pending"}
    shown = [_frame(0, "start", "the session is open", "", stepper.state, waits)]
    for record in trace.records:
        if record.kind in (*OPERATIONS, "saved", "recovers"):
            state = stepper.goto(record.number).state
            shown.append(_frame(len(shown), *_described(record, state), state, waits))
    return shown


def _described(record: Record, state: State) -> tuple[str, str, str]:
    """Return kind, sentence, and pod of a record."""
    text = sentence(record)
    if record.kind in ("saved", "recovers"):
        return record.kind.removesuffix("d").removesuffix("s"), text, ""
    pod = short(record["task"])
    before = {"allocate": "Pending", "evict": "Running"}.get(record["operation"])
    if record.kind == "commit" and before == state["tasks"][record["task"]]["status"]:
        return "refused", str(Message("record.commit_refused", operation=operation(
            record["operation"], record["task"], record["node"]))), pod
    return record.kind, text, pod


def _frame(step: int, kind: str, text: str, pod: str, state: State,
           waits: Collection[str]) -> Frame:
    pods = [{"pod": short(name), "job": short(task["job"]),
             "queue": state["jobs"][task["job"]]["queue"], "status": task["status"],
             "node": task["node"], "asks": amount_of(task["request"], "cpu")}
            for name, task in sorted(state["tasks"].items(), key=lambda each: (
                each[0] in waits, each[0]))]
    nodes = [{"node": name, **_amounts(node, ACCOUNTS, "cpu")}
             for name, node in state["nodes"].items()]
    for row in nodes:
        row["future_idle"] = row["idle"] + row["releasing"] - row["pipelined"]
    queues = [{"queue": name, **_amounts(queue, ("deserved", "allocated"), "cpu"),
               "share": queue["share"]} for name, queue in sorted(state["queues"].items())]
    return {"step": step, "kind": kind, "text": text, "pod": pod, "pods": pods, "nodes": nodes,
            "queues": queues}
