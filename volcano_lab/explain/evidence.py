"""What explanations read: a cycle's session and trace, and the state at any of its moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from typing import Any

from volcano_lab.api.job import JobInfo
from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.api.resource import Resource, max_of, total
from volcano_lab.api.status import (
    FAILED,
    PENDING,
    PIPELINED,
    READY_STATUSES,
    SUCCEEDED,
    TRANSITIONS,
)
from volcano_lab.api.task import TaskInfo, pod_resource_request
from volcano_lab.explain.explanation import Amounts, part
from volcano_lab.explain.slips import announced, in_milli
from volcano_lab.framework import ExtensionPoint, Session
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import Message, Said
from volcano_lab.plugins.admission import inqueue_resource
from volcano_lab.trace import Record, State, Trace
from volcano_lab.trace.names import Names
from volcano_lab.trace.plain import amounts, plain
from volcano_lab.trace.state import Change, Seen
from volcano_lab.trace.stepper import Stepper

STATUSES = {str(status): status for status in TRANSITIONS}
ABOUT = ("task", "job", "queue")
"""Facts by which records are found at once."""
READ = {"job_enqueueable", "job_valid", "overused", "allocatable", "predicate", "preemptive",
        "preemptable", "reclaimable"}
"""The extension points whose calls explanations read; the others are about order."""
POINTS = {"reclaim": "reclaimable", "preempt": "preemptable"}
"""Action -> the extension point that names victims."""


class _Late(Record):
    """A record whose facts are made plain when they are first read, one by one by name: most
    searches are never read, and explanations read states.
    """

    __slots__ = ("_live", "_convert")

    def __init__(self, number: int, action: str, kind: str, names: tuple[str, ...],
                 live: tuple[Any, ...], convert: Callable[[int, str, Any], Any]):
        self.number, self.action, self.kind, self.names = number, action, kind, names
        self._live, self._convert = live, convert

    @property
    def values(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self._convert is not None:
            convert, self._convert = self._convert, None
            self._live = tuple(convert(self.number, name, live)
                               for name, live in zip(self.names, self._live, strict=True))
        return self._live

    def get(self, name: str, default: Any = None) -> Any:
        if self._convert is None or name not in self.names:
            return super().get(name, default)
        return self._convert(self.number, name, self._live[self.names.index(name)])

    def __getitem__(self, name: str) -> Any:
        return self.get(name) if name in self.names else super().__getitem__(name)


def _plain(number: int, name: str, value: Any) -> Any:
    return plain(value)


class CauseTrace(Trace):
    """A trace of what explanations read, in a fraction of a whole trace's time and records: of each
    search for victims its candidates and the plugins' answers, not the checks of queue and node
    beside it. Where a job is named (`about`), only searches for its pods, and among them, are kept;
    "" where no job has that name.
    """

    watches_attempts = False

    def __init__(self, about: str = ""):
        super().__init__()
        self.about = about

    def opened(self, ssn: Session) -> None:
        self.about = _job_called(ssn, self.about)
        job = ssn.jobs.get(self.about)
        self.holds = job is not None and not job.allocated.is_empty()
        self._log: list[tuple[int, Seen, list[Change]]] = []
        self._not_listed, self._looked = 0, (-1, self.start)
        super().opened(ssn)
        self._known = self._changes

    def watches_claims(self, job: str) -> bool:
        return self.holds or self.about in ("", job)

    watches_victims = watches_claims

    def _skips(self, point: ExtensionPoint) -> bool:
        return point.name not in READ

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        if point.name in POINTS.values():
            return self._searching("call", point.name, (point.name, tier, plugin), function)
        watched = super().watch(point, tier, plugin, function)
        if point.name not in ("allocatable", "predicate"):
            return watched
        return lambda *args: (function if self._action in POINTS else watched)(*args)

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        if point.name in POINTS.values() and point.flat:
            return self._searching("asked", point.name, None, ask)
        return super().watch_point(point, ask)

    def _searching(self, kind: str, point: str, head: tuple[Any, ...] | None,
                   function: Callable[..., Any]) -> Callable[..., Any]:
        """A search for victims, recorded where there are candidates."""
        names, records = self._named(kind, point, 2)[0], self.records

        def searched(claimant: Any, candidates: Any) -> Any:
            since = len(records)
            answer = function(claimant, candidates)
            if candidates and (self.about in ("", claimant.job) or (self.holds and any(
                    task.job == self.about for task in candidates))):
                live = (*(head or (point, since)), claimant, candidates, answer)
                records.append(_Late(len(records), self._action, kind, names, live, _plain))
            return answer

        return searched

    # -- what steps changed ------------------------------------------------------------------------

    def _add(self, kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Record:
        if names[-1:] != ("changes",):
            return super()._add(kind, names, values)
        record = _Late(len(self.records), self._action, kind, names, values, self._fact)
        self.records.append(record)
        return record

    def _settle(self) -> None:
        seen = self._changes.everywhere()
        if seen:
            self._add("settle", ("changes",), (self._as_changes(seen),))

    def _as_changes(self, seen: Seen) -> list[Change]:
        changes: list[Change] = []
        self._log.append((len(self.records), seen, changes))
        return changes

    def _fact(self, number: int, name: str, value: Any) -> Any:
        """A fact; where it is the changes, those up to a record are listed in their order."""
        last = number if name == "changes" else -1
        while self._not_listed < len(self._log) and self._log[self._not_listed][0] <= last:
            _, seen, changes = self._log[self._not_listed]
            self._not_listed += 1
            changes += self._known.as_changes(seen)
        return value

    def state_at(self, number: int) -> State:
        """The state right after a record."""
        if self._looked[0] != number:
            state = {what: dict(items) for what, items in self.start.items()}
            latest = {(what, name): now for at, seen, _ in self._log if at <= number
                      for what, name, _, now in seen}
            for (what, name), now in latest.items():
                state[what][name] = state[what].get(name, {}) | self._known.named(what, now)
            self._looked = number, state
        return self._looked[1]


def _job_called(ssn: Session, name: str) -> str:
    try:
        kind, uid = Names(ssn).find(name)
    except LookupError:
        return ""
    return uid if kind == "job" else ""


class Evidence:
    """A closed session, its trace, and what several explanations read of them.

    Of the `objects` it keeps the waiting pods of other schedulers, `unmade` (by the name of an
    object, why it lacks pods or is not read), and the manifests that were `given`.
    """

    def __init__(self, ssn: Session, trace: Trace, objects: Sequence[KubernetesObject] = ()):
        self.ssn, self.trace, self.objects = ssn, trace, objects
        self.names, self.brief = Names(ssn), False  # brief: without the jobs that hold resources
        self.future: Any = None  # the outcome of further cycles, once they have run
        self.alone: Any = None  # that in which nothing is changed, where it was needed
        self.fresh = False  # whether the session's cache is read by nothing else
        self.called = self.names.called
        self.given = getattr(objects, "given", objects)
        self.unmade: dict[str, list[Said]] = getattr(objects, "unmade", {})
        self.elsewhere = {obj.key: obj for obj in objects if isinstance(obj, Pod)
                          and obj.spec.scheduler_name not in ("", SCHEDULER)
                          and not obj.spec.node_name}
        self._indices: dict[tuple[str, str], dict[Any, list[Record]]] = {}

    @cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.trace)

    @cached_property
    def _index(self) -> dict[str, list[Record]]:
        """Records by kind, calls by their point."""
        index: dict[str, list[Record]] = defaultdict(list)
        for record in self.trace.records:
            index[record.get("point") if record.kind == "call" else record.kind].append(record)
        return index

    def _about(self, name: str, fact: str, value: Any) -> list[Record]:
        """Records of a kind by what they are about."""
        known = self._indices.get((name, fact))
        if known is None:
            known = self._indices[name, fact] = defaultdict(list)
            for record in self._index.get(name, ()):
                said = record.get(fact)
                known[said if isinstance(said, str) else None].append(record)
        return known.get(value, [])

    def of(self, name: str, /, **facts: Any) -> list[Record]:
        """Return the calls of an extension point, or records of another kind, with these facts."""
        known = next((fact for fact in ABOUT if fact in facts), None)
        found = self._index.get(name, ()) if known is None else self._about(name, known,
                                                                            facts[known])
        return [record for record in found
                if all(record.get(fact) == value for fact, value in facts.items())]

    def plugins(self, point: str) -> list[str]:
        """Return the plugins that answer an extension point, in the order of their tiers."""
        return [plugin for tier in self.ssn.points[point].tiers for plugin, _ in tier]

    @cached_property
    def tasks(self) -> dict[str, TaskInfo]:
        """The session's tasks by key."""
        return {task.key: task for job in self.ssn.jobs.values() for task in job.tasks.values()}

    @cached_property
    def largest_nodes(self) -> Amounts:
        return largest_of(node.allocatable for node in self.ssn.nodes.values())

    @cached_property
    def reserved_at_start(self) -> dict[str, Amounts]:
        """What each job had reserved beyond what it held when the session opened."""
        found = {}
        for uid, job in self.ssn.jobs.items():
            then = job.clone()
            then.pod_group.status.phase = self.trace.start["jobs"][uid]["phase"]
            running = then.pod_group.status.phase == "Running"
            for task in list(then.tasks.values()) if running else ():
                then.update_task_status(
                    task, STATUSES[self.trace.start["tasks"][task.key]["status"]])
            found[uid] = amounts(inqueue_resource(then))
        return found

    def state_at(self, record: Record | None) -> State:
        """Return the state right after a record, valid until the next call; without one, that at
        the start of the cycle.
        """
        if record is None:
            return self.trace.start
        if isinstance(self.trace, CauseTrace):
            return self.trace.state_at(record.number)
        return self._stepper.goto(record.number).state

    def sums(self, queue: str, names: Iterable[str] = (), record: Record | None = None
             ) -> dict[str, Any]:
        """Return the facts `queue`, `allocated` and `deserved` of some resources (unset: of all
        that it deserves) at a moment; nothing where no plugin shares between queues.
        """
        sums = self.state_at(record)["queues"].get(queue)
        if sums is None:
            return {}
        names = [*names] or [name for name in sums["deserved"] if name != "pods"]
        return {"queue": queue, "allocated": part(sums["allocated"], names),
                "deserved": part(sums["deserved"], names)}

    def not_announced(self, names: Iterable[str]) -> Iterator[Message]:
        """Yield which of some resources no node has at all, and the nearest name; and the nodes
        that have other devices of the vendor instead.
        """
        there = amounts(self.ssn.total_resource)
        for name in names:
            close = announced(name, [each for each, amount in there.items()
                                     if amount and each != name])
            nodes = [node for node in self.ssn.nodes.values() if close and not (
                node.allocatable.get(name)) and node.allocatable.get(close)]
            amount = {close: sum(node.allocatable.get(close) for node in nodes)}
            if there.get(name) and nodes:
                yield Message("resource.instead", resource=name, amount=amount, n=len(nodes),
                              nodes=[node.name for node in nodes])
            elif not there.get(name):
                yield Message("resource.near" if close else "resource.unknown", resource=name,
                              near=close, amount=amount)

    def missing_unit(self, task: TaskInfo) -> Message | None:
        """Return that the CPUs which a pod requests may be meant in thousandths."""
        asked = task.init_resreq.get("cpu")
        found = in_milli(asked, self.largest_nodes.get("cpu", 0.0))
        return Message("unit.milli", asked=f"{asked / 1000:g}") if found else None

    def placed_just_before(self, job: str, record: Record) -> list[TaskInfo]:
        """Return the pods of a job that were placed in this cycle before a record."""
        now, before = self.state_at(record)["tasks"], self.trace.start["tasks"]
        return [task for task in self.ssn.jobs[job].tasks.values()
                if now[task.key]["node"] and not before[task.key]["node"]]

    def own(self, job: str, record: Record) -> Message | None:
        """Return that pods of the job itself, placed just before, are counted in."""
        own = self.placed_just_before(job, record)
        return Message("own_pods", n=len(own)) if own else None

    def at_first(self, task: TaskInfo, names: Iterable[str]) -> Iterator[Message]:
        """Yield what of the request for some resources is overhead, what each of several containers
        requests, and that the init containers request this much.
        """
        spec = task.pod.spec
        overhead = amounts(Resource.from_list(spec.overhead))
        if any(map(overhead.get, names)):
            yield Message("overhead", overhead={
                name: overhead[name] for name in names if overhead.get(name)})
        sidecars = [each for each in spec.init_containers if each.restart_policy == "Always"]
        own = {each.name: part(amounts(Resource.from_list(each.resources.requests)), names)
               for each in (*spec.containers, *sidecars)}
        several = [Message("container", name=name, amount=amount)
                   for name, amount in own.items() if any(amount.values())]
        if len(several) > 1:
            yield Message("containers", parts=several)
        later = spec.init_containers and pod_resource_request(
            task.pod.changed(spec={"init_containers": sidecars}))
        more = [name for name in names if later and later.get(name) < task.init_resreq.get(name)]
        if more:
            yield Message("init_containers", later=part(amounts(later), more))

    def in_action(self, action: str, name: str, **facts: object) -> list[Record]:
        return [record for record in self.of(name, **facts) if record.action == action]

    def calls_about(self, job: JobInfo, name: str, action: str) -> list[Record]:
        """Records of a kind, in an action, about a job's tasks."""
        found = [record for task in job.tasks.values()
                 for record in self._about(name, "task", task.key) if record.action == action]
        return sorted(found, key=lambda record: record.number)

    def free(self, record: Record | None, names: Iterable[str] | None = None) -> dict[str, Amounts]:
        """Return what each node would have left at that moment (None: when the session opened),
        once what is releasing is gone and what is pipelined has come; of some resources, or all.
        """
        wanted = self.ssn.total_resource.resource_names() if names is None else list(names)
        return {name: {each: node["idle"].get(each, 0.0) + node["releasing"].get(each, 0.0) - node[
            "pipelined"].get(each, 0.0) for each in wanted}
            for name, node in self.state_at(record)["nodes"].items()}

    def refusing(self, choice: Record) -> dict[str, str] | None:
        """Return {node: plugin} of the nodes that a plugin refused at a choice, whatever they had
        left; None where the trace has no values of all nodes for it.
        """
        last = self.trace.records[choice.number - 1] if choice.number else choice
        if last.kind != "node_values" or last["task"] != choice["task"]:
            return None
        found: dict[str, str] = {}
        for record in self._index["node_values"]:
            if record.number > last.number or record["alike"] != last["alike"]:
                continue
            nodes = [self.trace.nodes[row] for row in record["rows"]]
            for node in nodes:
                found.pop(node, None)
            for column, values in record["columns"].items():
                if column.startswith("predicate "):
                    found |= {node: column.partition(" ")[2]
                              for node, passes in zip(nodes, values, strict=True) if not passes}
        return found


def largest_of(some: Iterable[Resource]) -> Amounts:
    """Return by resource the most of some amounts."""
    return amounts(reduce(max_of, some, Resource()))


def ended(job: JobInfo) -> int:
    """Return how many pods of a job have ended."""
    return len(job.in_status(SUCCEEDED)) + len(job.in_status(FAILED))


def unplaced(job: JobInfo) -> list[TaskInfo]:
    """Return the pods of a job that have no node."""
    return [task for task in job.tasks.values() if not task.node_name]


def requested(tasks: Iterable[TaskInfo]) -> Amounts:
    """Return what some pods request in sum."""
    return amounts(total(task.resreq for task in tasks))


def still_needed(job: JobInfo, most: int | None = None) -> Resource:
    """Return what the job's pods without a node request, of the largest (by CPU) so many."""
    return total(sorted((task.resreq for task in unplaced(job)),
                        key=lambda size: -size.get("cpu"))[:most])


def member(job: JobInfo) -> Amounts:
    """Return a member's part of a job's minResources."""
    return {name: amount / max(job.min_available, 1)
            for name, amount in amounts(job.get_min_resources()).items()}


def counts(job: JobInfo) -> tuple[int, int, int]:
    """Return how many pods of a job are (placed, pipelined, pending)."""
    return sum(len(job.in_status(s)) for s in READY_STATUSES), len(job.in_status(PIPELINED)), len(
        job.in_status(PENDING))
