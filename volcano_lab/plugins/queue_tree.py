"""`QueueAttr`, what proportion and capacity keep of a queue; and the tree of queues in capacity:
parents and children, and the limits from the root down.

Differs on purpose: a queue's list of ancestors is its own (in the Go, below six levels, two lists
may share memory and one overwrites the other), and a cluster without any queue is refused like one
without a root, where Volcano stops with a nil pointer.

As in Volcano, a cycle of parents is not refused: its queues are detached from the root, get no
limits from it and, each having a child, accept no jobs.

Volcano: pkg/scheduler/plugins/capacity/capacity.go (queueAttr, updateAncestors,
checkHierarchicalQueue, getQueueLevel)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import takewhile

from attrs import define, field

from volcano_lab.api import EMPTY, ROOT_QUEUE, ZERO, QueueInfo, Resource, TaskInfo
from volcano_lab.api.fairness import queue_share, real_capability
from volcano_lab.api.resource import IGNORED_SCALARS, total
from volcano_lab.messages import Message, OneSentence


class Verdict(StrEnum):
    """Whether a task is a victim for a reclaimer, and why not."""

    VICTIM = "victim"
    NOTHING_ASKED = "nothing_asked"
    BELOW_GUARANTEE = "below_guarantee"
    WITHIN_DESERVED = "within_deserved"


@define(slots=True)
class QueueAttr:
    """The state of one queue in capacity or proportion; the sums include all its descendants'.

    `capability`, `guarantee` and, in capacity, `deserved` are those of the queue's spec (missing
    amounts come from the parent); proportion computes `deserved`. `real_capability` is its limit,
    `inqueue` what admitted jobs reserve, `elastic` what jobs hold above their minimum. `ancestors`
    are ordered from the root to the parent; flat queues have none.
    """

    queue_id: str
    name: str
    deserved: Resource = EMPTY
    capability: Resource = EMPTY
    real_capability: Resource = EMPTY
    guarantee: Resource = EMPTY
    allocated: Resource = EMPTY
    request: Resource = EMPTY
    elastic: Resource = EMPTY
    inqueue: Resource = EMPTY
    ancestors: tuple[str, ...] = ()
    children: list[str] = field(factory=list)
    _kept: float | None = None
    _known: tuple[Resource | None, Resource | None, float] = (None, None, 0.0)

    @classmethod
    def of(cls, queue: QueueInfo) -> QueueAttr:
        """Return a queue's attributes by its spec, before anything is counted."""
        spec = queue.queue.spec
        return cls(queue.uid, queue.name, Resource.from_list(spec.deserved),
                   Resource.from_list(spec.capability),
                   guarantee=Resource.from_list(spec.guarantee.resource))

    @property
    def share(self) -> float:
        """Return allocated over deserved in the fullest dimension: the kept value, if any."""
        if self._kept is not None:
            return self._kept
        allocated, deserved, share = self._known
        if allocated is not self.allocated or deserved is not self.deserved:
            share = queue_share(self.allocated, self.deserved)
            self._known = self.allocated, self.deserved, share
        return share

    def keep_share(self) -> None:
        """Compute the share and keep it until the next call; without deserved it is 1."""
        self._kept = 1.0 if self.is_best_effort else queue_share(self.allocated, self.deserved)

    @property
    def is_best_effort(self) -> bool:
        """Return whether the queue deserves nothing; it follows all below their deserved."""
        return self.deserved.is_empty()

    def verdict(self, task: TaskInfo, reclaimer: TaskInfo, held: Resource) -> Verdict:
        """Return whether one of the queue's tasks is a victim, while the queue still holds `held`.

        A task that requests nothing the queue deserves is a victim however little the queue holds.
        """
        asked, deserved = task.resreq, self.deserved
        if not _in_common(asked, reclaimer.init_resreq) - IGNORED_SCALARS:
            return Verdict.NOTHING_ASKED
        if not self.guarantee.less_equal(held.sub(asked), ZERO):
            return Verdict.BELOW_GUARANTEE
        if _in_common(asked, deserved) and not held.greater_partly_with_relevant_dimensions(
                deserved, asked)[0]:
            return Verdict.WITHIN_DESERVED
        return Verdict.VICTIM


def _in_common(left: Resource, right: Resource) -> set[str]:
    """Return resources of which both hold some."""
    return {*left.resource_names()} & {*right.resource_names()}


class QueueTreeError(OneSentence, ValueError):
    """The queues do not form a tree; the message names the queue and the reason."""


class QueueTree:
    """All queues by name, each below its parent, or below the root without one.

    >>> from volcano_lab.api.objects import ObjectMeta, Queue, QueueSpec
    >>> specs = {"dev": QueueSpec(parent="eng", capability={"cpu": "2"}),
    ...          "eng": QueueSpec(capability={"cpu": "8"}),
    ...          "root": QueueSpec(capability={"cpu": "20"})}
    >>> queues = {name: QueueInfo.of(Queue(ObjectMeta(name=name), specs[name])) for name in specs}
    >>> tree = QueueTree()
    >>> tree.add_queues(queues)
    >>> tree.limit(Resource(16000.0))
    >>> [(attr.name, attr.real_capability.milli_cpu) for attr in tree.line("dev")]
    [('dev', 2000.0), ('eng', 8000.0), ('root', 16000.0)]
    >>> tree.is_leaf("eng")
    False
    """

    def __init__(self) -> None:
        self.attrs: dict[str, QueueAttr] = {}
        self.warnings: list[Message] = []
        self._lines: dict[str, list[QueueAttr]] = {}

    # -- parents and children --------------------------------------------------------------------

    def add_queues(self, queues: Mapping[str, QueueInfo]) -> None:
        """Add all queues. Raises `QueueTreeError` at the first whose parent does not exist; those
        before it are kept.
        """
        for queue in queues.values():
            if queue.uid not in self.attrs:
                self._add(queue, queues)
        if ROOT_QUEUE not in self.attrs:
            raise QueueTreeError("tree.no_root", root=ROOT_QUEUE)

    def _add(self, queue: QueueInfo, queues: Mapping[str, QueueInfo]) -> None:
        attr = self.attrs[queue.uid] = QueueAttr.of(queue)
        if queue.name == ROOT_QUEUE:
            return
        parent = queue.queue.spec.parent or ROOT_QUEUE
        if parent not in queues:
            raise QueueTreeError("tree.no_parent", name=queue.name, parent=parent, root=ROOT_QUEUE)
        if parent not in self.attrs:
            self._add(queues[parent], queues)
        self.attrs[parent].children.append(queue.uid)
        attr.ancestors = (*self.attrs[parent].ancestors, parent)

    def circles(self) -> list[Message]:
        """Return the cycles of queues that are one another's parents, as sentences without an end,
        each from its first name upwards.
        """
        found = set()
        for name, attr in self.attrs.items():
            if name in attr.ancestors:
                way = (name, *reversed(attr.ancestors[attr.ancestors.index(name) + 1:]))
                first = way.index(min(way))
                found.add(way[first:] + way[:first])
        return [Message("queue_circle", queues=" -> ".join([*way, way[0]]))
                for way in sorted(found)]

    def is_leaf(self, queue: str) -> bool:
        """Return whether a queue has no children, so that it accepts jobs."""
        return not self.attrs[queue].children

    def line(self, queue: str) -> list[QueueAttr]:
        """Return a queue and its ancestors, from the queue up to the root; nothing for a queue that
        is not in the tree.
        """
        line = self._lines.get(queue)
        if line is None:
            attr = self.attrs.get(queue)
            if attr is None:
                return []
            line = self._lines[queue] = [attr, *(self.attrs[name]
                                                 for name in reversed(attr.ancestors))]
        return line

    def level(self, left: str, right: str) -> int:
        """Return the depth of the lowest common ancestor of two queues; the root's is 0."""
        lines = zip(self.attrs[left].ancestors, self.attrs[right].ancestors, strict=False)
        shared = takewhile(lambda pair: pair[0] == pair[1], lines)
        return max(sum(1 for _ in shared) - 1, 0)

    def branches(self, left: str, right: str) -> tuple[QueueAttr, QueueAttr]:
        """Return the children of the last common ancestor that contain `left` and `right`."""
        below = self.level(left, right) + 1
        lines = ((*self.attrs[queue].ancestors, queue) for queue in (left, right))
        mine, theirs = (self.attrs[line[min(below, len(line) - 1)]] for line in lines)
        return mine, theirs

    # -- limits, from the root down ----------------------------------------------------------------

    def limit(self, cluster: Resource) -> None:
        """Compute each queue's limit. The root's is the cluster, which also fills in what the
        root's spec omits.
        """
        root = self.attrs[ROOT_QUEUE]
        if root.capability.is_empty():
            root.capability = cluster
        if root.deserved.is_empty():
            root.deserved = cluster
        root.real_capability = cluster
        self._limit_children(root)

    def _limit_children(self, attr: QueueAttr) -> None:
        children = [self.attrs[name] for name in sorted(attr.children)]
        guarantees, deserved = total(child.guarantee for child in children), total(
            child.deserved for child in children)
        for child in children:
            child.capability = inherit(child.capability, attr.capability)
        if attr.name == ROOT_QUEUE:
            attr.guarantee = guarantees if attr.guarantee.is_empty() else attr.guarantee
            attr.deserved = deserved if attr.deserved.is_empty() else attr.deserved
        for child in children:
            child.real_capability = real_capability(attr.real_capability, guarantees,
                                                    child.guarantee, child.capability)
        self._check_children(attr, children, guarantees, deserved)
        for child in children:
            self._limit_children(child)

    def _check_children(self, attr: QueueAttr, children: list[QueueAttr], guarantees: Resource,
                        deserved: Resource) -> None:
        """Warn about children that exceed their parent; none is refused."""
        for child in children:
            if attr.capability.less_partly(child.capability):
                self.warnings.append(Message(
                    "tree.capability", queue=child.name, parent=attr.name,
                    **_more(child.capability, attr.capability)))
        for what, mine, sum_ in (("deserved", attr.deserved, deserved),
                                 ("guarantee", attr.guarantee, guarantees)):
            if mine.less_partly(sum_):
                self.warnings.append(Message("tree.sum", queue=attr.name, field=f"spec.{what}",
                                             **_more(sum_, mine)))


def _more(found: Resource, allowed: Resource) -> dict[str, dict[str, float]]:
    """Return the amounts that are above an allowed one, and these."""
    names = [name for name, amount in found if amount > allowed.get(name)]
    return {"found": {name: found.get(name) for name in names},
            "allowed": {name: allowed.get(name) for name in names}}


def inherit(capability: Resource, parent: Resource) -> Resource:
    """Return a queue's capability, with the parent's for absent resources (for CPU and memory: or
    zero).

    >>> inherit(Resource(2.0), Resource(9.0, 8.0, {"a/x": 1.0}))
    Resource(cpu=2, memory=8, a/x=1)
    >>> inherit(Resource(2.0, 3.0, {"a/x": 0.0}), Resource(9.0, 8.0, {"a/x": 1.0})).get("a/x")
    0.0
    """
    scalars = capability.scalars if parent.scalars is None else {**parent.scalars,
                                                                 **(capability.scalars or {})}
    return Resource(capability.milli_cpu if capability.milli_cpu > 0 else parent.milli_cpu,
                    capability.memory if capability.memory > 0 else parent.memory, scalars)
