"""The nodes in Kubernetes' rules: the pods that count on each, their requests and host ports.

Built once per session from every task on every node, and changed only by the predicates plugin's
allocate and deallocate events; plain pods present from the start are only processed one by one
where a rule needs them. Two traps are kept on purpose: nodes that have pods with affinity are
listed once, when the session opens, so a node that gets its first such pod later is missing for the
rules that start from that list; and Volcano sets no images. A third trap: the host ports of a node
are a set, as in Kubernetes' `HostPortInfo`, so a port that two pods of a node use is free when the
first of them is removed.

Amounts are arrays, nodes x resources; each change is added to `changes`, so that counts kept for
all nodes follow it.

Volcano: pkg/scheduler/framework/util.go (GenerateNodeMapAndSlice),
pkg/scheduler/plugins/util/k8s/snapshot.go
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from volcano_lab.api import Memo, NodeInfo, Status, TaskInfo, quantity
from volcano_lab.api.fit_error import SUCCESS
from volcano_lab.api.node_affinity import NodeTerm, RequiredNodeAffinity
from volcano_lab.api.objects import Pod
from volcano_lab.api.resource import is_scalar_resource_name
from volcano_lab.api.selector import Requirement, Selector

from .pod_changes import PodChanges
from .pod_info import HostPort, Labels, PodInfo
from .resources import CPU, MEMORY, PODS, PodRequests

EPHEMERAL_STORAGE = "ephemeral-storage"
T = TypeVar("T")


class Topology(NamedTuple):
    """The values of one node label: each node's code (-1: it lacks the label) and each value's
    code.
    """

    codes: np.ndarray
    code_of: dict[str, int]

    def sum_by_value(self, rows: np.ndarray, amounts: np.ndarray | None = None) -> np.ndarray:
        """Return the amounts (or, without any, the number) of some nodes by value; the last entry
        is for nodes without the label.

        >>> Topology(np.array([0, 1, 0, -1]), {"a": 0, "b": 1}).sum_by_value(np.arange(4)).tolist()
        [2, 1, 1]
        """
        places = len(self.code_of) + 1
        weights = None if amounts is None else amounts[rows]
        return np.bincount(self.codes[rows] % places, weights, places).astype(np.int64)


class KubeNode:
    """One node and the pods that count on it; `row` is its row in the arrays of `KubeNodes`.

    `tasks` are those of the session's start, until its pods are first listed one by one;
    `KubeNodes.pods` then adds them to `listed`.
    """

    __slots__ = ("labels", "listed", "name", "node", "row", "tasks", "used_ports")

    def __init__(self, info: NodeInfo, row: int):
        self.name, self.node, self.row = info.name, info.node, row
        self.labels = info.node.metadata.labels
        self.tasks = sorted(info.tasks.items())
        self.listed: list[PodInfo] = []
        self.used_ports: set[HostPort] = set()


class KubeNodes:
    """All nodes of a session, in the order in which they were added.

    `allocatable` is nodes x `columns` (cpu in millicores, memory in bytes, then the nodes' other
    resources), `taken` the same for pods' requests, and in two more columns their cpu and memory
    with defaults for containers without requests.

    >>> from volcano_lab.api.objects import Container, Node, NodeStatus, ObjectMeta, PodSpec
    >>> status = NodeStatus({}, {"cpu": "4", "memory": "1Gi"})
    >>> from volcano_lab.api.node_table import NodeTable
    >>> node = NodeInfo("n1", NodeTable(), Node(ObjectMeta("n1"), status=status))
    >>> nodes = KubeNodes([node], {})
    >>> nodes.add_pod("n1", Pod(ObjectMeta("a", "default", uid="u1"), PodSpec([Container()])))
    >>> nodes.pod_count.tolist(), nodes.taken.tolist(), nodes.allocatable[0].tolist()
    ([1], [[0, 0, 100, 209715200]], [4000, 1073741824])
    """

    def __init__(self, nodes: Sequence[NodeInfo], namespaces: Mapping[str, Labels],
                 infos: dict[int, tuple[Pod, PodInfo]] | None = None):
        self.namespaces, self._infos = namespaces, {} if infos is None else infos
        self.nodes = [KubeNode(info, row) for row, info in enumerate(nodes)]
        self.by_name = {node.name: node for node in self.nodes}
        offers = [_offered(tuple(node.node.status.allocatable.items())) for node in self.nodes]
        names = sorted({name for offer in offers for name in offer} - {CPU, MEMORY})
        self.columns = {name: column for column, name in enumerate((CPU, MEMORY, *names))}
        shape = len(self.nodes), len(self.columns)
        self.allocatable = np.zeros(shape, np.int64)
        # one array, so that a pod is counted by one addition
        self.taken = np.zeros((len(self.nodes), len(self.columns) + 2), np.int64)
        self.pod_count = np.zeros(len(self.nodes), np.int64)
        for row, offer in enumerate(offers):
            for name, amount in offer.items():
                self.allocatable[row, self.columns[name]] = amount
        self.affinity_changes = PodChanges()  # of the pods with affinity
        # the rules' results for these nodes, by a key with the rule's name and its inputs
        self.memo: dict[Hashable, Any] = {}
        self._term_keys: dict[str, None] = {}
        self._templates: dict[int | None, PodInfo] = {}
        self._vectors = Memo(self._vector)
        self._since = PodChanges()
        self._begin()

    def _begin(self) -> None:
        """Count each node's pods when the session opens; those with a template have neither
        affinity nor host ports.
        """
        self._opening = [node.tasks for node in self.nodes]
        self.pod_count[:] = [len(tasks) for tasks in self._opening]
        rows, vectors = [], []
        by_template: dict[int | None, np.ndarray] = {}
        for node in self.nodes:
            for _, task in node.tasks:
                vector = by_template.get(task.template)
                if vector is None:
                    info = self.info_of(task)
                    vector = self._vectors[info.requests]
                    if task.template is None:
                        self._note(node, info, 1)
                        if info.has_affinity:
                            self.affinity_changes.start.append((node.row, info))
                    else:
                        by_template[task.template] = vector
                rows.append(node.row)
                vectors.append(vector)
        if rows:
            np.add.at(self.taken, rows, vectors)
        start = self.affinity_changes.start
        self.rows_with_affinity = frozenset(row for row, _ in start)
        self.rows_with_required_anti_affinity = frozenset(
            row for row, info in start if info.required_anti_affinity)

    @cached_property
    def changes(self) -> PodChanges:
        """Every pod that was added or removed."""
        self._since.start = [(row, self.info_of(task))
                             for row, tasks in enumerate(self._opening) for _, task in tasks]
        return self._since

    def pods(self, node: KubeNode) -> list[PodInfo]:
        """Return every pod that counts on a node now."""
        if node.tasks:
            node.listed[:0] = [self.info_of(task) for _, task in node.tasks]
            node.tasks = []
        return node.listed

    def info(self, pod: Pod, template: int | None = None) -> PodInfo:
        """Return the rules' view of a pod, computed once per pod object; pods of one template share
        it.
        """
        found = self._infos.get(id(pod))  # the pod is kept beside it, so its id is not reused
        if found is None:
            like = self._templates.get(template)
            found = self._infos[id(pod)] = pod, like.for_pod(pod) if like else PodInfo(pod)
            if template is not None:
                self._templates.setdefault(template, found[1])
        return found[1]

    def info_of(self, task: TaskInfo) -> PodInfo:
        """Return `info` of a task's pod."""
        return self.info(task.pod, task.template)

    def add_pod(self, node_name: str, pod: Pod) -> None:
        """Count a pod on a node. Raises KeyError where there is no such node."""
        self._count(self.by_name[node_name], self.info(pod), 1)

    def remove_pod(self, node_name: str, pod: Pod) -> None:
        """Subtract a pod, if it was counted on that node."""
        node, uid = self.by_name[node_name], pod.metadata.uid
        found = next((info for info in self.pods(node) if uid and info.uid == uid), None)
        if found is not None:
            self._count(node, found, -1)

    def topology(self, key: str) -> Topology:
        """Return the nodes grouped by the values of one label."""
        return self.remember(("topology", key), lambda: self._topology(key))

    def _topology(self, key: str) -> Topology:
        index: dict[str, int] = {}
        codes = np.full(len(self.nodes), -1, np.int64)
        for node in self.nodes:
            if key in node.labels:
                codes[node.row] = index.setdefault(node.labels[key], len(index))
        return Topology(codes, index)

    def seen_by_terms(self, info: PodInfo) -> tuple[str, tuple[str | None, ...]]:
        """Return a pod's namespace and labels relevant to affinity terms of pods on the nodes: pods
        with equal ones match the same terms.

        Labels that no term uses are omitted, since pods of one job differ in some (their index, for
        one).
        """
        labels = info.labels
        return info.namespace, tuple([labels.get(key) for key in self._term_keys])

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result of `compute` at the first call with this key."""
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = compute()
        return found

    def mask(self, key: Hashable, holds: Callable[[KubeNode], bool]) -> np.ndarray:
        """Return True for the nodes that satisfy `holds`; it is called once per key, as nodes keep
        their labels and taints during a session.
        """
        return self.remember(key, lambda: np.fromiter(map(holds, self.nodes), bool))

    def required(self, wanted: RequiredNodeAffinity) -> np.ndarray:
        """Return True for the nodes that satisfy a pod's node selector and affinity."""
        return self.remember(wanted, lambda: self._selected(wanted.selector) & (
            wanted.terms is None or self.matching(wanted.terms)))

    def matching(self, terms: Iterable[NodeTerm]) -> np.ndarray:
        """Return True for the nodes for which one of the terms holds."""
        found = np.zeros(len(self.nodes), bool)
        for term in [term for term in terms if term.readable]:
            mask = self._selected(term.labels)
            for row in mask.nonzero()[0].tolist() if term.fields else ():
                mask[row] = term.matches(self.nodes[row].node)
            found |= mask
        return found

    def _selected(self, selector: Selector) -> np.ndarray:
        """Return True for the nodes that satisfy all conditions, of which each is asked once for
        each value of its label.
        """
        mask = np.full(len(self.nodes), selector.requirements is not None)
        for condition in selector.requirements or ():
            mask &= self.remember(condition, partial(self._holding, condition))
        return mask

    def _holding(self, condition: Requirement) -> np.ndarray:
        codes, values = self.topology(condition.key)
        answers = [condition.holds({condition.key: value}) for value in values]
        return np.array([*answers, condition.holds({})]).take(codes)

    def _count(self, node: KubeNode, info: PodInfo, sign: int) -> None:
        if sign > 0:
            node.listed.append(info)
        else:
            self.pods(node).remove(info)
        self._since.add(node.row, info, sign)
        self._note(node, info, sign)
        if info.has_affinity:
            self.affinity_changes.add(node.row, info, sign)
        vector = self._vectors[info.requests]
        self.taken[node.row] += vector if sign > 0 else -vector
        self.pod_count[node.row] += sign

    def _note(self, node: KubeNode, info: PodInfo, sign: int) -> None:
        """Update the host ports, and the labels of affinity terms, for an added or removed pod."""
        if sign > 0:
            node.used_ports.update(info.host_ports)
        else:
            node.used_ports.difference_update(info.host_ports)
        if info.has_affinity:
            for term in (*info.required_anti_affinity, *info.preferred):
                self._term_keys.update(dict.fromkeys(term.selector.keys()))

    def _vector(self, requests: PodRequests) -> np.ndarray:
        """Return a pod's requests as a row of `taken`; resources that no node has are omitted."""
        vector = np.zeros(len(self.columns) + 2, np.int64)
        vector[-2:] = requests.counted_non_zero
        for name, amount in requests.counted:
            if name in self.columns:
                vector[self.columns[name]] = amount
        return vector


class NodeByNode:
    """A rule for an incoming pod, checked node by node: `refusal(node)` returns why it refuses, or
    None.
    """

    def __init__(self, kube: KubeNodes, refusal: Callable[[KubeNode], Status | None]):
        self.kube, self.refusal = kube, refusal

    def codes(self) -> np.ndarray:
        """Return the code of `refusal` for all nodes at once."""
        return codes_of(map(self.refusal, self.kube.nodes))


class ByVerdict:
    """A rule for an incoming pod whose answer for each node is one of `refusals`, by its index in
    `verdicts`.
    """

    refusals: tuple[Status | None, ...]
    verdicts: Any

    def refusal(self, node: KubeNode) -> Status | None:
        """Return why the pod cannot be on the node, or None."""
        return self.refusals[int(self.verdicts[node.row])]

    def codes(self) -> np.ndarray:
        """Return the code of `refusal` for all nodes at once."""
        return codes_of(self.refusals).take(np.asarray(self.verdicts))


def codes_of(statuses: Iterable[Status | None]) -> np.ndarray:
    """Return the codes of statuses, SUCCESS without one."""
    return np.fromiter((SUCCESS if each is None else each.code for each in statuses), np.int8)


@lru_cache(maxsize=4096)
def _offered(allocatable: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """Return a node's allocatable amounts, without invalid resource names and without pods."""
    amounts = {}
    for name, text in allocatable:
        if name == CPU:
            amounts[name] = quantity.milli_value(text)
        elif name != PODS and (name in (MEMORY, EPHEMERAL_STORAGE)
                               or is_scalar_resource_name(name)):
            amounts[name] = quantity.value(text)
    return amounts


def kube_nodes(ssn: Any) -> KubeNodes:
    """Return the session's Kubernetes view of its nodes, created on first use and shared by the
    plugins.
    """
    if "kube_nodes" not in vars(ssn):
        ssn.kube_nodes = KubeNodes(ssn.node_list, ssn.namespaces, ssn.snapshot.pod_views)
    nodes: KubeNodes = ssn.kube_nodes
    return nodes
