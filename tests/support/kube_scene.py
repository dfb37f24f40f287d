"""Small clusters in a few words, for the tests of placement rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from attrs import evolve

from volcano_lab.api.node import NodeInfo
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.objects import (
    Affinity,
    Container,
    ContainerPort,
    KubernetesObject,
    LabelSelector,
    LabelSelectorRequirement,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    PreferredSchedulingTerm,
    ResourceRequirements,
    Taint,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from volcano_lab.api.snapshot import ClusterInfo
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.plugin import Event
from volcano_lab.plugins.nodeorder import NodeOrder
from volcano_lab.plugins.predicates import Predicates

HOSTNAME = "kubernetes.io/hostname"


def node(
    name: str = "n1",
    cpu: str = "4",
    memory: str = "8Gi",
    pods: str = "10",
    taints: Iterable[Taint] = (),
    unschedulable: bool = False,
    extra: dict[str, str] | None = None,
    **labels: str,
) -> Node:
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **(extra or {})}
    return Node(
        ObjectMeta(name, labels={HOSTNAME: name, **labels}),
        NodeSpec(unschedulable, list(taints)),
        NodeStatus(dict(allocatable), allocatable),
    )


def pod(
    name: str = "p",
    app: str = "web",
    cpu: str = "1",
    memory: str = "1Gi",
    namespace: str = "default",
    host_port: int = 0,
    extra: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Pod:
    requests = {"cpu": cpu, "memory": memory, **(extra or {})}
    requests = {key: value for key, value in requests.items() if value}
    ports = [ContainerPort(host_port=host_port, container_port=80)] if host_port else []
    container = Container("c", ports, ResourceRequirements(requests))
    meta = ObjectMeta(name, namespace, f"uid-{namespace}-{name}", {"app": app}, annotations or {})
    return Pod(meta, PodSpec([container], **spec))


def apps(*names: str) -> LabelSelector:
    """Pods of any of these apps."""
    return LabelSelector(match_expressions=[LabelSelectorRequirement("app", "In", list(names))])


def near(app: str, key: str = HOSTNAME, **more: Any) -> Affinity:
    return Affinity(
        pod_affinity=PodAffinity([PodAffinityTerm(apps(app), topology_key=key, **more)]))


def away_from(app: str, key: str = HOSTNAME, **more: Any) -> Affinity:
    return Affinity(
        pod_anti_affinity=PodAntiAffinity([PodAffinityTerm(apps(app), topology_key=key, **more)]))


def rather_near(app: str, weight: int, key: str = HOSTNAME) -> Affinity:
    return Affinity(pod_affinity=PodAffinity(
        [], [WeightedPodAffinityTerm(weight, PodAffinityTerm(apps(app), topology_key=key))]))


def on_nodes(key: str, operator: str, *values: str) -> Affinity:
    term = NodeSelectorTerm([NodeSelectorRequirement(key, operator, list(values))])
    return Affinity(node_affinity=NodeAffinity(NodeSelector([term])))


def rather_on_nodes(weight: int, key: str, *values: str) -> Affinity:
    term = NodeSelectorTerm([NodeSelectorRequirement(key, "In", list(values))])
    return Affinity(node_affinity=NodeAffinity(None, [PreferredSchedulingTerm(weight, term)]))


def spread(key: str = HOSTNAME, skew: int = 1, app: str = "web", hard: bool = True,
           **more: Any) -> list:
    action = "DoNotSchedule" if hard else "ScheduleAnyway"
    return [TopologySpreadConstraint(skew, key, action, apps(app), **more)]


class Scene:
    """A session in small: nodes in order, pods on them, and the two plugins, open."""

    def __init__(
        self,
        nodes: Iterable[Node],
        running: dict[str, list[Pod]] | None = None,
        arguments: dict[str, Any] | None = None,
        namespaces: dict[str, dict[str, str]] | None = None,
        storage: Iterable[KubernetesObject] = (),
    ):
        self.snapshot = ClusterInfo()
        for obj in storage:
            self.snapshot.storage.add(obj)
        table = NodeTable()
        self.node_list = [NodeInfo(n.name, table, n) for n in nodes]
        self.nodes = {n.name: n for n in self.node_list}
        self.namespaces, self.conf = namespaces or {}, load_conf()
        self.states: dict[str, dict] = defaultdict(dict)
        for name, pods in (running or {}).items():
            for one in pods:
                task = TaskInfo(evolve(one, spec=evolve(one.spec, node_name=name)))
                self.nodes[name].tasks[task.key] = task
        self.predicates = Predicates(Arguments(arguments or {}))
        self.nodeorder = NodeOrder(Arguments(arguments or {}))
        for plugin in (self.predicates, self.nodeorder):
            plugin.ssn = self
            plugin.on_session_open(self)

    def cycle_state(self, uid: str) -> dict:
        return self.states[uid]

    def reasons(self, one: Pod) -> dict[str, list[str]]:
        """Why the pod can't be on each node, for the nodes where it can't; for all at once, too."""
        task = TaskInfo(one)
        assert self.predicates.pre_predicate(task) is None
        errors = {n.name: self.predicates.predicate(task, n) for n in self.node_list}
        at_once = self.predicates.predicate_nodes(task)
        assert at_once is None or at_once.tolist() == [each is None for each in errors.values()]
        assert at_once is None or self.predicates.predicate_unresolvable(task, ~at_once).tolist(
            ) == [each is not None and each.blocks_preempt() for each in errors.values()]
        return {name: error.reasons for name, error in errors.items() if error is not None}

    def fits(self, one: Pod) -> list[str]:
        """The nodes on which the pod may be."""
        refused = self.reasons(one)
        return [name for name in self.nodes if name not in refused]

    def scores(self, one: Pod, *names: str) -> dict[str, float]:
        """node_order of the named nodes (or all)."""
        return {
            name: self.nodeorder.node_order(TaskInfo(one), self.nodes[name])
            for name in names or self.nodes
        }

    def batch_scores(self, one: Pod, *names: str) -> dict[str, float]:
        """batch_node_order among the named nodes (or all)."""
        return self.nodeorder.batch_node_order(TaskInfo(one),
                                               [self.nodes[name] for name in names or self.nodes])

    def place(self, one: Pod, name: str) -> TaskInfo:
        task = TaskInfo(one)
        task.node_name = name
        self.predicates.on_allocate(Event(task))
        return task

    def take_away(self, task: TaskInfo) -> None:
        self.predicates.on_deallocate(Event(task))
