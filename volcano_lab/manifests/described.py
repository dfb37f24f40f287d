"""A cluster's objects, read from manifests or described by a few arguments: nodes, queues and jobs
in display units.

It writes manifests as for `kubectl`, and the scheduler reads those. Whatever has no argument here
(roles of tasks, taints, affinity, topology) is added as an object or as a manifest with `add`.
`volcano_lab.cluster` has the verbs.

Volcano: none
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from volcano_lab.api.objects import KubernetesObject, Node, Pod, PodGroup, Queue
from volcano_lab.manifests import builder, defaults, disruptions, loader as manifests, owners
from volcano_lab.manifests.builder import Amount, Amounts, checked_objects
from volcano_lab.manifests.loader import Loaded
from volcano_lab.manifests.writer import dump
from volcano_lab.messages import Message, friendly_errors
from volcano_lab.trace import Part, Shown

One = KubernetesObject | str | Path
Added = One | Iterable[KubernetesObject]
"""An object, a cluster, the text of manifests, or files of them as `Cluster.read` takes them."""
Objects = str | Path | Iterable[KubernetesObject] | Sequence[str | Path]


@friendly_errors
class ClusterObjects(Shown):
    """The objects of a cluster that is read, described and changed; iterating yields them.

    `node`, `queue` and `job` add an object or, for a known name, change only the given arguments.
    They return the cluster, so that calls can be chained. A plain number of resources is CPUs. The
    objects are checked when the cluster is used: `ManifestError` names object, field, value and
    what is allowed.

    >>> cluster = ClusterObjects().node("n1", cpu=4).queue("team", weight=2)
    >>> [obj.name for obj in cluster.job("train", queue="team", pods=2, cpu=1)]
    ['root', 'default', 'n1', 'team', 'train', 'train-0', 'train-1']
    """

    def __init__(self, objects: Objects = ()):
        given: Any = [objects] if isinstance(objects, str | Path) else objects
        if isinstance(given, ClusterObjects):
            given = given.objects()
        elif isinstance(given, list | tuple) and isinstance(next(iter(given), 0), str | Path):
            given = manifests.load(*given)
        self.others = Loaded(checked_objects(given), given)
        self._described: dict[tuple[str, str, str], dict[str, Any]] = {}
        # unchanged objects are not written again
        self._written: dict[tuple[str, str, str], builder.Written] = {}

    def __repr__(self) -> str:
        kinds = Counter(obj.kind for obj in self.objects())
        counts = ", ".join(f"{kind}={count}" for kind, count in sorted(kinds.items()))
        return f"{type(self).__name__}({counts})"

    def __iter__(self) -> Iterator[KubernetesObject]:
        return iter(self.objects())

    def __len__(self) -> int:
        return len(self.objects())

    def _shown(self) -> Iterable[Part]:
        """Return one row per node, queue and gang, with the columns of `kubectl get`."""
        objects = self.objects()
        counts = Counter(obj.kind for obj in objects).items()
        yield str(Message("described.cluster", kinds=[f"{count} {kind}" for kind, count in counts]))
        for rows in self._frames().values():
            yield [{name: ", ".join(map(" ".join, value.items()))
                    if isinstance(value, Mapping) else value
                    for name, value in row.items()} for row in rows]
        yield from map(str, objects.warnings)

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        objects = self.objects()
        pods = Counter(owners.job_of(obj) for obj in objects if isinstance(obj, Pod))
        return {"nodes": [{"node": obj.name, "allocatable": obj.status.allocatable}
                          for obj in objects if isinstance(obj, Node)],
                "queues": [{"queue": obj.name, "parent": obj.spec.parent, "weight": obj.spec.weight,
                            "capability": obj.spec.capability}
                           for obj in objects if isinstance(obj, Queue)],
                "jobs": [{"job": owners.job_called(obj), "queue": obj.spec.queue,
                          "min_member": obj.spec.min_member, "pods": pods[obj.key]}
                         for obj in objects if isinstance(obj, PodGroup)]}

    def copy(self) -> Self:
        """Return an independent copy of the cluster.

        >>> one = ClusterObjects().node("n1", cpu=4)
        >>> two = one.copy().node("n2", cpu=4)
        >>> len(one), len(two)
        (3, 4)
        """
        other = type(self)(self.others)
        other._described, other._written = dict(self._described), dict(self._written)
        return other

    # -- description -----------------------------------------------------------------------------

    def node(self, name: str, *, cpu: Amount | None = None, memory: Amount | None = None,
             gpu: Amount | None = None, pods: int | None = None,
             resources: Mapping[str, Amount] | None = None,
             labels: Mapping[str, str] | None = None) -> Self:
        """Add or change a node: `cpu` in CPUs, `memory` such as "64Gi", `gpu` whole GPUs, `pods`
        its maximum number (110).

        >>> ClusterObjects().node("n1", cpu=4, memory="64Gi", gpu=2).rows_of("nodes")[0]["node"]
        'n1'
        """
        return self._describe("Node", name, locals())

    def queue(self, name: str, *, weight: int | None = None, capability: Amounts = None,
              guarantee: Amounts = None, deserved: Amounts = None, parent: str | None = None,
              priority: int | None = None, reclaimable: bool | None = None) -> Self:
        """Add or change a queue: its `weight`, its capability and guarantee, and the `deserved` of
        its manifest.

        `{}` removes a capability, a guarantee or deserved.

        >>> ClusterObjects().queue("team", weight=2, capability=8).rows_of("queues")[-1]
        {'queue': 'team', 'parent': '', 'weight': 2, 'capability': {'cpu': '8'}}
        """
        return self._describe("Queue", name, locals())

    def job(self, name: str, *, queue: str | None = None, pods: int | None = None,
            cpu: Amount | None = None, memory: Amount | None = None, gpu: Amount | None = None,
            min_member: int | None = None, running: Mapping[str, int] | None = None,
            priority: int | None = None, priority_class: str | None = None,
            namespace: str | None = None, resources: Mapping[str, Amount] | None = None,
            labels: Mapping[str, str] | None = None,
            network_topology: Mapping[str, Any] | None = None) -> Self:
        """Add or change a gang of `pods` equal pods, each requesting `cpu`, `memory` and so on.

        It starts with `min_member` pods (default: all) or not at all; enqueue compares the
        minimum's resources. `running` is how many of its pods run already, by node: {"node-1": 2}.
        `priority` is that of its pods only; `priority_class`, the name of an added PriorityClass,
        is that of its pods and of the job. Jobs of one name in two namespaces are two jobs.
        `network_topology` is the required proximity: {"mode": "hard", "highestTierAllowed": 1}.

        >>> ClusterObjects().job("train", pods=4, cpu=1, min_member=2).rows_of("jobs")
        [{'job': 'default/train', 'queue': 'default', 'min_member': 2, 'pods': 4}]
        """
        return self._describe("Job", name, locals())

    def add(self, *objects: Added) -> Self:
        """Add objects, clusters, the text of manifests, or files. Raises `ManifestError`.

        >>> len(ClusterObjects().add("docs/cluster.yaml").rows_of("nodes"))
        2
        """
        for obj in objects:
            if isinstance(obj, ClusterObjects):
                more = obj.manifests()
            elif isinstance(obj, str | Path):
                text = isinstance(obj, str) and _TEXT.search(obj)
                more = manifests.loads(str(obj)) if text else manifests.load(obj)
            else:
                more = Loaded(checked_objects([obj]))
            self.others += more
            self.others.warnings += more.warnings
            self.others.places = self.others.places | more.places
        return self

    def _describe(self, kind: str, name: str, arguments: dict[str, Any]) -> Self:
        given = {word: value for word, value in arguments.items() if word not in ("self", "name")
                 and value is not None}
        space = str(given.get("namespace", "default"))
        before = self._described.get((kind, name, space))
        now = (before or {}) | given
        if now != before:
            self._described[kind, name, space] = now
            self._written.pop((kind, name, space), None)
        return self

    # -- use ---------------------------------------------------------------------------------------

    def objects(self) -> Loaded:
        """Return all objects as the scheduler receives them, with the defaults of a cluster. Raises
        `ManifestError`.
        """
        write: dict[str, Callable[..., builder.Written]] = {
            "Node": builder.node, "Queue": builder.queue, "Job": builder.job}
        for key, arguments in self._described.items():
            if key not in self._written:
                self._written[key] = write[key[0]](key[1], **arguments)
        written = [self._written[key] for key in self._described]
        given = Loaded(self.others + [obj for parts in written for obj in parts.objects],
                       self.others)
        world = defaults.with_defaults(given)
        first = end = len(world) - sum(len(parts.objects) for parts in written)
        complete: list[KubernetesObject] = []
        for parts in written:
            start, end = end, end + len(parts.objects)
            complete += world[start:end] if parts.pods is None else builder.gang(
                world[start:end], parts.pods, parts.nodes)
        world[first:] = complete
        disruptions.count_new(world, given)  # again, with the pods of gangs
        world.given = Loaded([*self.others, *complete], self.others)
        return world

    def manifests(self) -> Loaded:
        """Return the manifests as given, before defaults and controllers."""
        return Loaded(self.objects().given, self.others) if self._described else self.others

    def to_yaml(self) -> str:
        """Return the manifests of the cluster, defaults included.

        >>> print(ClusterObjects().node("n1", cpu=4).to_yaml().split("---")[-1].strip())
        apiVersion: v1
        kind: Node
        metadata:
          name: n1
        ...
        """
        return dump(self.objects())

    def to_python(self) -> str:
        """Return the calls that describe this cluster; added objects are written as manifests.

        >>> print(ClusterObjects().node("n1", cpu=4).job("train", pods=3, cpu=1).to_python())
        cluster = (
            Cluster()
            .node("n1", cpu=4)
            .job("train", pods=3, cpu=1)
        )
        """
        from volcano_lab.manifests.export import literal

        calls = []
        for (kind, name, _), arguments in self._described.items():
            words = [literal(name), *(f"{word}={literal(value)}"
                                      for word, value in arguments.items())]
            calls.append(f".{kind.lower()}({', '.join(words)})")
        if self.others:
            calls.append(f".add({literal(dump(self.others))})")
        return "\n    ".join(["cluster = (", "Cluster()", *calls]) + "\n)"


_TEXT = re.compile(r"^\s*[\[{]|\n|:(\s|$)")
"""What the text of manifests has, and no name of a file."""


def world_of(given: Iterable[KubernetesObject]) -> Loaded:
    """Return the scheduler's objects: manifests get the defaults of a cluster, unless they have
    them. Raises `ManifestError`.

    >>> [obj.name for obj in world_of([])], [obj.name for obj in world_of(world_of([]))]
    (['root', 'default'], ['root', 'default'])
    """
    if isinstance(given, ClusterObjects):
        return given.objects()
    if isinstance(given, Loaded):
        return given if given.given is not given else defaults.with_defaults(given)
    return defaults.with_defaults(checked_objects(given))
