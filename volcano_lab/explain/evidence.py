"""What explanations read: a cycle's session and trace, and the state at any of its moments."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain
from typing import Any

from volcano_lab.api import JobInfo, NodeInfo, TaskInfo, objects as api, status as states
from volcano_lab.api.resource import Resource, max_of, total
from volcano_lab.explain.explanation import Amounts, added, part
from volcano_lab.framework import Session
from volcano_lab.manifests import SCHEDULER, job_of
from volcano_lab.manifests.events import OF_WORKLOAD
from volcano_lab.manifests.loader import place_key
from volcano_lab.messages import Message
from volcano_lab.plugins.admission import inqueue_resource
from volcano_lab.trace import Names, Record, State, Stepper, TraceReader, amounts, grouped
from volcano_lab.trace.views.jobs import missing

STATUSES = {str(status): status for status in states.TRANSITIONS}
STARTING = ("ContainerCreating", "PodInitializing")
"""Reasons of containers that are about to start."""
OWN = {"volcano-scheduler": "no_scheduler", "volcano-controller": "no_controller"}
"""The label `app` of a part of Volcano, and the cause that it does not run."""
ABOUT = ("task", "job", "queue")
"""Facts by which records are found at once."""


class Evidence:
    """A closed session, its trace, and what several explanations read of them.

    Of the `objects` it keeps the waiting pods of other schedulers, `not_created` (by the name of an
    object, why it lacks pods or is not read), the manifests that were `given` and their `newest`
    time, the names of PriorityClasses (`classes`), the parts of Volcano that do not run
    (`stopped`), and the version of the `scheduler` where it is another one.
    """

    def __init__(self, ssn: Session, trace: TraceReader,
                 objects: Sequence[api.KubernetesObject] = ()):
        self.ssn, self.trace, self.objects = ssn, trace, objects
        self.given = getattr(objects, "given", objects)
        self.newest = max((time for obj in self.given for time in times_of(obj)), default=0.0)
        self.classes, self.stopped = classes_of(objects), stopped(objects)
        self.names = Names(ssn, [*self.given, *getattr(objects, "created", ())])
        self.brief = False  # without holders
        self.future: Any = None  # the outcome of further cycles, once they have run
        self.alone: Any = None  # that in which nothing is changed, where it was needed
        self.fresh = False  # whether the session's cache is read by nothing else
        self.called = self.names.called
        self.not_created: dict[str, list[Message]] = getattr(objects, "not_created", {})
        self.unseen: list[api.Node] = getattr(objects, "unseen", [])
        self.node_labels: list[str] = getattr(objects, "node_labels", [])
        self.scheduler: str = getattr(objects, "scheduler", "")
        self.elsewhere = {obj.key: obj for obj in objects if isinstance(obj, api.Pod)
                          and obj.spec.scheduler_name not in ("", SCHEDULER)
                          and not obj.spec.node_name}
        self.let_in: dict[str, dict[str, bool]] = {}  # by pod and node, as far as it was asked
        self._indices: dict[tuple[str, str], dict[Any, list[Record]]] = {}

    @cached_property
    def named(self) -> dict[str, list[api.KubernetesObject]]:
        """The manifests by their names ("namespace/name"), whatever their kind."""
        return grouped(("/".join(filter(None, place_key(obj)[1:])), obj) for obj in self.given)

    def volcano_jobs(self, job: JobInfo) -> list[api.VolcanoJob]:
        """Return the Volcano Job of a PodGroup; none where another object has created it."""
        return [obj for obj in self.named.get(self.called(job.uid), ())
                if isinstance(obj, api.VolcanoJob)]

    def by_kueue(self, *names: str) -> list[Message]:
        """Return why Kueue has not admitted objects of some names."""
        return [Message("not_created", name=name, what=why) for name in names
                for why in self.not_created.get(OF_WORKLOAD + name, ())]

    def by_others(self, job: JobInfo) -> bool:
        """Whether pods of a PodGroup wait for another scheduler."""
        return job.uid in map(job_of, self.elsewhere.values())

    def is_new(self, task: TaskInfo) -> bool:
        """Whether a pod has no node in the cluster: what runs here may be placed in a cycle before.
        """
        return not any(isinstance(obj, api.Pod) and obj.spec.node_name
                       for obj in self.named.get(task.key, ()))

    @cached_property
    def _stepper(self) -> Stepper:
        return Stepper(self.trace)

    @cached_property
    def _index(self) -> dict[str, list[Record]]:
        """Records by kind, calls by their point."""
        return grouped((record.get("point") if record.kind == "call" else record.kind, record)
                       for record in self.trace.records)

    def _about(self, name: str, fact: str, value: Any) -> list[Record]:
        """Records of a kind by what they are about."""
        known = self._indices.get((name, fact))
        if known is None:
            said = ((record.get(fact), record) for record in self._index.get(name, ()))
            known = self._indices[name, fact] = grouped(
                (value if isinstance(value, str) else None, record) for value, record in said)
        return known.get(value, [])

    def of(self, name: str, /, **facts: Any) -> list[Record]:
        """Return the calls of an extension point, or records of another kind, with these facts."""
        known = next((fact for fact in ABOUT if fact in facts), None)
        found = self._index.get(name, ()) if known is None else self._about(name, known,
                                                                            facts[known])
        return [record for record in found
                if all(record.get(fact) == value for fact, value in facts.items())]

    def tiers(self, point: str) -> list[list[str]]:
        """Return the plugins that answer an extension point, by their tiers."""
        return [[plugin for plugin, _ in tier] for tier in self.ssn.points[point].tiers if tier]

    def plugins(self, point: str) -> list[str]:
        """Return the plugins that answer an extension point, in the order of their tiers."""
        return [*chain(*self.tiers(point))]

    @cached_property
    def tasks(self) -> dict[str, TaskInfo]:
        """The session's tasks by key."""
        return {task.key: task for job in self.ssn.jobs.values() for task in job.tasks.values()}

    @cached_property
    def whole(self) -> dict[str, Amounts]:
        """What each node has for jobs when it is empty: not what pods of DaemonSets request."""
        return {name: added(amounts(node.allocatable), of_daemons(node), -1)
                for name, node in self.ssn.nodes.items()}

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

    def placed_just_before(self, job: str, record: Record) -> list[TaskInfo]:
        """Return the pods of a job that were placed in this cycle before a record."""
        now, before = self.state_at(record)["tasks"], self.trace.start["tasks"]
        return [task for task in self.ssn.jobs[job].tasks.values()
                if now[task.key]["node"] and not before[task.key]["node"]]

    def placed_at(self, record: Record | None) -> list[tuple[TaskInfo, str]]:
        """Return the pods that have not ended at a moment, each with its node; those, too, that
        Volcano does not schedule.
        """
        now, nodes = self.state_at(record)["tasks"], self.ssn.nodes
        return [(task, now[key]["node"]) for key, task in self.tasks.items() if (
            now[key]["node"] in nodes and now[key]["status"] not in ("Succeeded", "Failed"))] + [
            (task, name) for name, node in nodes.items() for task in node.tasks.values()
            if task.job not in self.ssn.jobs]

    def there(self, pod: str, node: str) -> Message:
        """Return that a pod is on a node, and whether it was placed there in this cycle."""
        start = self.trace.start["tasks"]
        new = pod in start and not start[pod]["node"]
        return Message("pod.there_new" if new else "pod.there", pod=pod, node=node)

    def own(self, job: str, record: Record) -> Message | None:
        """Return that pods of the job itself, placed just before, are counted in: which, where they
        are not like the one of the record.
        """
        own, now = self.placed_just_before(job, record), self.state_at(record)["tasks"]
        asked = record.get("task") and self.tasks[record["task"]].resreq
        pods = [Message("pod.there", pod=task.key, node=now[task.key]["node"])
                for task in own if asked and task.resreq != asked]
        return Message("own_pods.unlike" if pods else "own_pods", n=len(own), pods=pods
                       ) if own else None

    def in_action(self, action: str, name: str, **facts: object) -> list[Record]:
        return [record for record in self.of(name, **facts) if record.action == action]

    def calls_about(self, job: JobInfo, name: str, action: str) -> list[Record]:
        """Records of a kind, in an action, about a job's tasks."""
        found = (self.in_action(action, name, task=task.key) for task in job.tasks.values())
        return sorted(chain(*found), key=lambda record: record.number)

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
        for record in self.of("node_values", alike=last["alike"]):
            if record.number > last.number:
                break
            nodes = [self.trace.nodes[row] for row in record["rows"]]
            found |= dict.fromkeys(nodes, "")
            for column, values in record["columns"].items():
                if column.startswith("predicate "):
                    found |= {node: column.partition(" ")[2]
                              for node, passes in zip(nodes, values, strict=True) if not passes}
        return {node: plugin for node, plugin in found.items() if plugin}


def largest_of(some: Iterable[Resource]) -> Amounts:
    """Return by resource the most of some amounts."""
    return amounts(reduce(max_of, some, Resource()))


def ended(job: JobInfo) -> int:
    """Return how many pods of a job have ended."""
    return len(job.in_status(states.SUCCEEDED)) + len(job.in_status(states.FAILED))


def unplaced(job: JobInfo) -> list[TaskInfo]:
    """Return the pods of a job that have no node."""
    return [task for task in job.tasks.values() if not task.node_name]


def requested(tasks: Iterable[TaskInfo]) -> Amounts:
    """Return what some pods request in sum."""
    return amounts(total(task.resreq for task in tasks))


def of_daemon(task: TaskInfo) -> bool:
    """Return whether a DaemonSet has created a pod, which is on each node like its own, too."""
    return any(ref.kind == "DaemonSet" for ref in task.pod.metadata.owner_references)


def of_daemons(node: NodeInfo) -> Amounts:
    """Return what the pods of DaemonSets on a node request."""
    return requested(filter(of_daemon, node.tasks.values()))


def fails_to_start(job: JobInfo) -> list[str]:
    """Return why pods of a job that have a node do not start there or keep running, apart from
    steps of each start, where the others are fewer than its minimum.

    >>> fails_to_start(JobInfo("a"))
    []
    """
    placed = [task for task in job.tasks.values() if task.node_name]
    failing = [(task, reasons) for task in placed if task.status in (states.BOUND, states.RUNNING)
               for reasons in [[each for each in not_started([task.pod]) if each not in STARTING]]
               if reasons]
    return [] if len(placed) - len(failing) >= max(job.min_available, 1) else [
        *dict.fromkeys(reason for _, reasons in failing for reason in reasons)]


def counts(job: JobInfo) -> tuple[int, int, int]:
    """Return how many pods of a job are (placed, pipelined, pending)."""
    return (sum(len(job.in_status(s)) for s in states.READY_STATUSES),
            len(job.in_status(states.PIPELINED)), len(job.in_status(states.PENDING)))


def waits(job: JobInfo) -> bool:
    """Return whether pods of a job have no node, or are missing in a gang that has not started."""
    return counts(job)[2] > 0 or missing(job) > 0


def was_admitted(seen: Evidence, job: JobInfo) -> bool:
    """Return whether a job was admitted before the cycle or in it; in the end the phase may be
    Pending again.
    """
    before = seen.trace.start["jobs"][job.uid]["phase"]
    return before not in ("", "Pending") or bool(seen.of("enqueued", job=job.uid))


def unbound(job: JobInfo) -> bool:
    """Return whether pods of a job wait, are not created yet, or are pipelined."""
    return not job.tasks or waits(job) or counts(job)[1] > 0


def not_ready(node: api.Node) -> list[api.NodeCondition]:
    """Return the conditions by which a node says that it is not Ready."""
    return [each for each in node.status.conditions
            if each.type == "Ready" and each.status != "True"]


def times_of(obj: api.KubernetesObject) -> Iterator[float]:
    """Yield when an object was created, and when its conditions were written."""
    conditions = getattr(getattr(obj, "status", None), "conditions", ())
    yield from filter(None, [obj.metadata.creation_timestamp, *(
        getattr(each, name, None) for each in conditions
        for name in ("last_transition_time", "last_heartbeat_time"))])


def classes_of(objects: Iterable[api.KubernetesObject]) -> list[str]:
    """Return the names of the PriorityClasses among some objects."""
    return [obj.name for obj in objects if isinstance(obj, api.PriorityClass)]


def not_started(pods: Iterable[api.Pod]) -> list[str]:
    """Return why containers of pods that have a node wait there, each reason once.

    >>> not_started([])
    []
    """
    return [*dict.fromkeys(filter(None, (
        each.state.waiting.get("reason", "") for pod in pods for each in (
            *pod.status.init_container_statuses, *pod.status.container_statuses))))]


def stopped(objects: Iterable[api.KubernetesObject]) -> dict[str, list[Message]]:
    """Return the parts of Volcano of which no pod is ready, each as a cause with its pods.

    >>> stopped([])
    {}
    """
    pods = grouped((OWN.get(obj.metadata.labels.get("app", ""), ""), obj)
                   for obj in objects if isinstance(obj, api.Pod))
    return {code: [Message("idle.pod", pod=pod.key, why=not_started([pod]) or [pod.status.phase])
                   for pod in each] for code, each in pods.items() if code and not any(
        pod.status.phase == "Running" and all(one.ready for one in pod.status.container_statuses)
        for pod in each)}
