"""Building and changing a cluster in a few words: nodes, queues and jobs in the units that people
use.

Answers to no Go file: it writes the manifests that one would hand to `kubectl`, and the scheduler
reads those. What a job becomes is what Volcano's controller would make of it: one PodGroup, and its
pods. More than there are words for here (roles of tasks, taints, affinity, topology) is added as an
object or as a manifest with `add`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

from attrs import Factory, define

from volcano_lab.api import quantity
from volcano_lab.api.objects import KubernetesObject, ObjectMeta, Pod, PodGroup
from volcano_lab.cache import Cache
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests import ManifestError, found_text, names
from volcano_lab.manifests import loader as manifests
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.export import literal
from volcano_lab.manifests.job_controller import GROUP_NAME
from volcano_lab.manifests.workloads import MOST_PODS
from volcano_lab.messages import NoSuch, friendly_errors, one_line
from volcano_lab.scheduler import run_cycle
from volcano_lab.trace import Outline, Part, Shown
from volcano_lab.trace.views.cycle import Cycle

SCHEDULING = "scheduling.volcano.sh/v1beta1"
TOPOLOGY = ("mode", "highestTierAllowed", "highestTierName")
Amount = int | float | str
Amounts = Mapping[str, Amount] | Amount | None


@friendly_errors
class Cluster(Shown):
    """A cluster that is described, run for a cycle, changed, and run again.

    `node`, `queue` and `job` add something or, where the name is known, change what is named in the
    call and nothing else. They return the cluster, so that calls can be chained. A plain number of
    resources is CPUs. What they write is checked when the cluster is used: `ManifestError` names
    object, field, value and what is allowed.

    >>> cluster = Cluster().node("n1", cpu=4).queue("team", weight=2)
    >>> cluster = cluster.job("train", queue="team", pods=3, cpu=1)
    >>> cluster.run().committed[0]
    ['allocate', 'default/train-0', 'n1']
    >>> cluster.job("train", cpu=2).run().committed  # three pods of 2 CPUs, all or none, on 4 CPUs
    []
    """

    def __init__(self, objects: Iterable[KubernetesObject] = ()):
        self.others: list[KubernetesObject] = checked_objects(objects)
        self._said: dict[tuple[str, str], dict[str, Any]] = {}
        # what has not changed since is not written again
        self._written: dict[tuple[str, str], _Written] = {}

    def __repr__(self) -> str:
        kinds = Counter(obj.kind for obj in self.objects())
        return f"Cluster({', '.join(f'{kind}={count}' for kind, count in sorted(kinds.items()))})"

    def _shown(self) -> Iterable[Part]:
        """One row per node, queue and gang, in the words of `kubectl get`."""
        objects = self.objects()
        kinds = Counter(obj.kind for obj in objects)
        yield f"A cluster: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}."
        yield [{"node": obj.name, "allocatable": _listed(obj.status.allocatable)}
               for obj in objects if obj.kind == "Node"]
        yield [{"queue": obj.name, "parent": obj.spec.parent, "weight": obj.spec.weight,
                "capability": _listed(obj.spec.capability)}
               for obj in objects if obj.kind == "Queue"]
        pods = Counter(f"{obj.metadata.namespace}/{obj.metadata.annotations.get(GROUP_NAME)}"
                       for obj in objects if obj.kind == "Pod")
        yield [{"job": obj.key, "queue": obj.spec.queue, "min_member": obj.spec.min_member,
                "pods": pods[obj.key]} for obj in objects if obj.kind == "PodGroup"]

    @classmethod
    def load(cls, *sources: manifests.Source) -> Cluster:
        """A cluster from manifests: files, directories or open streams. Raises `ManifestError`."""
        return cls(manifests.load(*sources))

    def copy(self) -> Cluster:
        """The same cluster once more; changing one leaves the other as it is.

        >>> one = Cluster().node("n1", cpu=4)
        >>> two = one.copy().node("n2", cpu=4)
        >>> len(one.objects()), len(two.objects())
        (3, 4)
        """
        other = Cluster(self.others)
        other._said, other._written = dict(self._said), dict(self._written)
        return other

    # -- describing it ---------------------------------------------------------------------------

    def node(self, name: str, *, cpu: Amount | None = None, memory: Amount | None = None,
             gpu: Amount | None = None, pods: int | None = None,
             resources: Mapping[str, Amount] | None = None,
             labels: Mapping[str, str] | None = None) -> Self:
        """A machine: `cpu` in CPUs, `memory` such as "64Gi", `gpu` whole GPUs, `pods` how many it
        takes (110).
        """
        return self._say("Node", name, locals())

    def queue(self, name: str, *, weight: int | None = None, capability: Amounts = None,
              guarantee: Amounts = None, deserved: Amounts = None, parent: str | None = None,
              priority: int | None = None, reclaimable: bool | None = None) -> Self:
        """A queue: its part by `weight`, the most it may hold, the least kept for it, what it is
        said to deserve.

        `{}` takes a capability, a guarantee or what is deserved away again.
        """
        return self._say("Queue", name, locals())

    def job(self, name: str, *, queue: str | None = None, pods: int | None = None,
            cpu: Amount | None = None, memory: Amount | None = None, gpu: Amount | None = None,
            min_member: int | None = None, running: Mapping[str, int] | None = None,
            priority: int | None = None, priority_class: str | None = None,
            namespace: str | None = None, resources: Mapping[str, Amount] | None = None,
            labels: Mapping[str, str] | None = None,
            network_topology: Mapping[str, Any] | None = None) -> Self:
        """A gang of `pods` equal pods, each asking for `cpu`, `memory` and so on.

        It starts with `min_member` pods (default: all) or not at all; the minimum's resources are
        what enqueue asks for. `running` says how many of its pods run already, and where:
        {"node-1": 2}. `priority` is that of its pods alone; `priority_class`, the name of a
        PriorityClass that was added, is that of its pods and of the job. `network_topology` is how
        close they must lie: {"mode": "hard", "highestTierAllowed": 1}.
        """
        return self._say("Job", name, locals())

    def add(self, *objects: KubernetesObject | str) -> Self:
        """Add objects, or the text of manifests. Raises `ManifestError`."""
        for obj in objects:
            self.others += manifests.loads(obj) if isinstance(obj, str) else checked_objects([obj])
        return self

    def remove(self, name: str) -> Self:
        """Take away every node, queue and job of that name, with its pods; `KeyError` where there
        is none.

        >>> len(Cluster().node("n1", cpu=4).remove("n1").objects())
        2
        """
        said = [key for key in self._said if key[1] == name]
        objects = [obj for obj in self.others if obj.name != name]
        if not said and len(objects) == len(self.others):
            raise NoSuch(f"the cluster has no object of the name {name}")
        for key in said:
            del self._said[key]
            self._written.pop(key, None)
        self.others = objects
        return self

    def _say(self, kind: str, name: str, said: dict[str, Any]) -> Self:
        if not isinstance(name, str):
            raise TypeError(name)  # which `friendly_errors` says in a sentence
        given = {word: value for word, value in said.items() if word not in ("self", "name")
                 and value is not None}
        before = self._said.get((kind, name))
        now = (before or {}) | given
        if now != before:
            self._said[kind, name] = now
            self._written.pop((kind, name), None)
        return self

    # -- using it --------------------------------------------------------------------------------

    def objects(self) -> list[KubernetesObject]:
        """Everything as the scheduler would hear of it, with the defaults of a cluster. Raises
        `ManifestError`.
        """
        write = {"Node": _node, "Queue": _queue, "Job": _job}
        for key, said in self._said.items():
            if key not in self._written:
                self._written[key] = write[key[0]](key[1], **said)
        written = [self._written[key] for key in self._said]
        complete = with_defaults(self.others + [obj for parts in written for obj in parts.objects])
        end = len(complete) - sum(len(parts.objects) for parts in written)
        objects = complete[:end]
        for parts in written:
            first, end = end, end + len(parts.objects)
            objects += complete[first:end] if parts.pods is None else _gang(
                *complete[first:end], parts.pods, parts.nodes)
        return objects

    def cache(self) -> Cache:
        """The cluster as a scheduler comes to know it."""
        return Cache(self.objects())

    def run(self, conf: SchedulerConfiguration | str | None = None,
            trace: Outline | None = None) -> Cycle:
        """Run one scheduling cycle with a configuration (its text, or Volcano's default).

        The cycle keeps an outline; for all that happened give a `Trace` to be filled.

        >>> from volcano_lab import Trace
        >>> result = Cluster().node("n1", cpu=4).job("a", cpu=1).run(trace=Trace())
        >>> result.trace.of("job_ready")[0]["answer"]
        True
        """
        return run_cycle(self.cache(), conf, trace=trace)

    def to_yaml(self) -> str:
        """The manifests of the cluster, defaults included.

        >>> print(Cluster().node("n1", cpu=4).to_yaml().split("---")[-1].strip())
        apiVersion: v1
        kind: Node
        metadata:
          name: n1
        ...
        """
        return manifests.dump(self.objects())

    def to_python(self) -> str:
        """Return the calls that describe this cluster; objects that were added stand as manifests.

        >>> print(Cluster().node("n1", cpu=4).job("train", pods=3, cpu=1).to_python())
        cluster = (
            Cluster()
            .node("n1", cpu=4)
            .job("train", pods=3, cpu=1)
        )
        """
        calls = []
        for (kind, name), said in self._said.items():
            words = [literal(name), *(f"{word}={literal(value)}" for word, value in said.items())]
            calls.append(f".{kind.lower()}({', '.join(words)})")
        if self.others:
            calls.append(f".add({literal(manifests.dump(self.others))})")
        return "\n    ".join(["cluster = (", "Cluster()", *calls]) + "\n)"


def _listed(amounts: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in (amounts or {}).items())


def _amounts(amounts: Amounts) -> dict[str, Amount] | None:
    return {"cpu": amounts} if isinstance(amounts, int | float | str) else amounts


def _requests(cpu: Amount | None = None, memory: Amount | None = None, gpu: Amount | None = None,
              resources: Mapping[str, Amount] | None = None) -> dict[str, Amount]:
    named = {"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpu}
    more = {} if resources is None else resources
    if not isinstance(more, Mapping) or not all(isinstance(name, str) for name in more):
        raise ManifestError([f"resources is {found_text(more)}; allowed is a mapping of names of "
                             "resources to amounts"])
    return {name: amount for name, amount in named.items() if amount is not None} | dict(more)


def _read(api_version: str, kind: str, metadata: dict[str, Any], **parts: Any) -> KubernetesObject:
    document = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
    obj = manifests.from_dict(document, strict=True)
    if wrong := names.problems(obj):
        raise ManifestError([f"{kind} {one_line(obj.name, 100)}: {problem}" for problem in wrong])
    return obj


def checked_objects(given: Any) -> list[KubernetesObject]:
    """A list of objects, and nothing else. Raises `ManifestError`."""
    found = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for obj in found:
        if not isinstance(obj, KubernetesObject):
            raise ManifestError([f"an object of a cluster is {one_line(found_text(obj), 100)}; "
                                 "allowed is one that a manifest was read into"])
    return found


@define
class _Written:
    """The objects of one node, queue or job; of a job the PodGroup, and one pod that stands for all
    `pods`.
    """

    objects: list[KubernetesObject]
    pods: int | None = None
    nodes: list[str] = Factory(list)


def _node(name: str, pods: int = 110, labels: Mapping[str, str] | None = None,
          **amounts: Any) -> _Written:
    allocatable = _requests(**amounts) | {"pods": pods}
    metadata = {"name": name, "labels": labels}
    return _Written([_read("v1", "Node", metadata, status={"allocatable": allocatable})])


def _queue(name: str, capability: Amounts = None, guarantee: Amounts = None,
           deserved: Amounts = None, **spec: Any) -> _Written:
    _check_whole(f"queue {name}", "weight", spec.setdefault("weight", 1), 1)
    amounts = {"capability": _amounts(capability), "deserved": _amounts(deserved),
               "guarantee": {"resource": _amounts(guarantee)}}
    return _Written([_read(SCHEDULING, "Queue", {"name": name}, spec=spec | amounts)])


def _job(name: str, queue: str = "default", pods: int = 1, min_member: int | None = None,
         priority: int | None = None, priority_class: str | None = None, namespace: str = "default",
         running: Mapping[str, int] | None = None, labels: Mapping[str, str] | None = None,
         network_topology: Mapping[str, Any] | None = None, **amounts: Any) -> _Written:
    _check_whole(f"job {name}", "pods", pods, 0, MOST_PODS)
    least = pods if min_member is None else min_member
    _check_whole(f"job {name}", "min_member", least, 0)
    odd = {*network_topology} - {*TOPOLOGY} if isinstance(network_topology, Mapping) else ()
    if odd:
        raise ManifestError([f"job {name}: network_topology has {one_line(str(min(odd)), 100)}; "
                             f"allowed are {', '.join(TOPOLOGY)}"])
    requests, nodes = _requests(**amounts), _placed(running, name, pods)
    pod = _read("v1", "Pod",
                {"name": name, "namespace": namespace, "labels": labels,
                 "annotations": {GROUP_NAME: name}},
                spec={"schedulerName": "volcano", "priority": priority,
                      "priorityClassName": priority_class,
                      "containers": [{"name": "main", "resources": {"requests": requests}}]})
    group = _read(SCHEDULING, "PodGroup", {"name": name, "namespace": namespace},
                  spec={"queue": queue, "minMember": least, "minResources": _times(requests, least),
                        "priorityClassName": priority_class,
                        "networkTopology": network_topology},
                  status={"phase": "Running" if nodes else "Pending"})
    return _Written([group, pod], pods, nodes)


def _placed(running: Mapping[str, int] | None, name: str, pods: int) -> list[str]:
    """The node of each pod that runs already."""
    if not isinstance(running, Mapping | None) or {type(node) for node in running or ()} - {str}:
        raise ManifestError([f"job {name}: running is {found_text(running)}; allowed is a mapping "
                             "of names of nodes to numbers of pods"])
    for node, count in (running or {}).items():
        _check_whole(f"job {name}", f"running on {node}", count, 0)
    asked = sum((running or {}).values())
    if asked > pods:
        raise ManifestError(
            [f"job {name}: running is {asked} pods; allowed are as many as it has, {pods}"])
    return [node for node, count in (running or {}).items() for _ in range(count)]


def _gang(group: PodGroup, pod: Pod, count: int, nodes: list[str]) -> list[KubernetesObject]:
    """A PodGroup and its numbered pods, a second apart; those that run have a node. Equal parts are
    shared.
    """
    meta = pod.metadata
    specs = {node: pod.spec.evolve(node_name=node) for node in nodes} | {"": pod.spec}
    running = pod.status.evolve(phase="Running")
    pods = []
    for number in range(count):
        node, name = nodes[number] if number < len(nodes) else "", f"{meta.name}-{number}"
        own = ObjectMeta(name, meta.namespace, f"{meta.uid}-{number}", meta.labels,
                         meta.annotations, meta.creation_timestamp + number)
        pods.append(Pod(own, specs[node], running if node else pod.status))
    return [group, *pods]


def _times(requests: Mapping[str, Amount], count: int) -> dict[str, str]:
    """The requests of `count` pods, as text."""
    texts = {name: str(amount) for name, amount in requests.items()}
    return {name: quantity.to_text(quantity.parse(text) * count, quantity.style_of(text))
            for name, text in texts.items()}


def _check_whole(what: str, field: str, value: Any, least: int, most: int | None = None) -> None:
    if type(value) is not int or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most}"
        raise ManifestError(
            [f"{what}: {field} is {found_text(value)}; allowed is a whole number from {least}{to}"])
