"""Rules of nodes, as a reader of the specification would compute them from pods and labels alone:
which node refuses a pod, and which is best for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from object_audit import requested

from volcano_lab.api.node import NodeInfo
from volcano_lab.api.objects import Pod, Taint
from volcano_lab.api.resource import CPU, MEMORY
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session
from volcano_lab.simulation.invariants import host_ports

Pods = Mapping[str, Sequence[Pod]]
"""The pods that count on each node, by its name."""
LEAST = {CPU: 100, MEMORY: 200 << 20}
"""What a container counts for that requests none."""
GPU, ZONE, GROUP = "nvidia.com/gpu", "volcano.sh/revocable-zone", "volcano.sh/nodegroup-name"


# -- what keeps a pod off a node -------------------------------------------------------------------


def keeps_off(task: TaskInfo, node: NodeInfo) -> str:
    """Return what of the node itself keeps a pod off it, "" where nothing does."""
    spec = node.node.spec
    cordon = [Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")] * spec.unschedulable
    for taint in (*spec.taints, *cordon):
        if taint.effect != "PreferNoSchedule" and not tolerated(taint, task):
            return f"the node's taint {taint.key} is not tolerated"
    if not may_use(task.pod, node):
        return "the pod's nodeSelector or node affinity names other nodes"
    return ""


def may_use(pod: Pod, node: NodeInfo) -> bool:
    """Return whether a node has the labels that a pod requires."""
    needs = pod.spec.affinity and pod.spec.affinity.node_affinity
    terms = needs and needs.required_during_scheduling_ignored_during_execution
    return pod.spec.node_selector.items() <= node.labels.items() and (not terms or any(
        selects(term.match_expressions, node.labels) for term in terms.node_selector_terms))


def selects(expressions: Sequence[Any], labels: Mapping[str, str]) -> bool:
    """Return whether labels have all that some expressions require."""
    tests: dict[str, Callable[[Any], bool]] = {
        "In": lambda each: labels.get(each.key) in each.values,
        "NotIn": lambda each: labels.get(each.key) not in each.values,
        "Exists": lambda each: each.key in labels,
        "DoesNotExist": lambda each: each.key not in labels}
    return all(tests[each.operator](each) for each in expressions)


def chosen(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects labels; one that is not there selects none."""
    return selector is not None and selector.match_labels.items() <= labels.items() and selects(
        selector.match_expressions, labels)


def tolerated(taint: Taint, task: TaskInfo) -> bool:
    """Return whether a pod tolerates a taint, whatever its value."""
    return any(each.key in ("", taint.key) and each.effect in ("", taint.effect)
               for each in task.pod.spec.tolerations)


def refusal(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Pods) -> str:
    """Return why the plugins must refuse a node for a pod, "" where they must not; volumes, and
    what a user's plugin says, are left out.
    """
    found = []
    if "predicates" in ssn.plugins:
        found.append(keeps_off(task, node) or _ports(task, pods[node.name]) or _neighbours(
            ssn, task, node, pods) or _spread(ssn, task, node, pods))
        if len(pods[node.name]) >= node.allocatable.get("pods"):
            found.append("it is full of pods")
    if "nodegroup" in ssn.plugins and not _group_points(ssn, task, node)[0]:
        found.append("it is in no group of nodes of the queue")
    zone = node.labels.get(ZONE) if "tdm" in ssn.plugins else None
    if zone and not (zone_is_open(ssn, zone) and task.pod.metadata.annotations.get(ZONE) == "*"):
        found.append("the hours of its zone do not allow it")
    if "usage" in ssn.plugins and any(
            load > limit for load, limit in zip(_load(node), (60, 70), strict=True)):
        found.append("its load is above the limits")
    return next(filter(None, found), "")


def _ports(task: TaskInfo, pods: Sequence[Pod]) -> str:
    """Host ports by protocol, on whatever address."""
    taken = {port for pod in pods for port in host_ports(pod)}
    return "a host port is taken" if taken & host_ports(task.pod) else ""


def terms_of(pod: Pod, kind: str, how: str) -> list[Any]:
    """Return the terms of a pod's affinity to other pods."""
    affinity = pod.spec.affinity and getattr(pod.spec.affinity, kind)
    name = f"{how}_during_scheduling_ignored_during_execution"
    return getattr(affinity, name) if affinity else []


def _beside(ssn: Session, term: Any, node: NodeInfo, pods: Pods, by: Pod) -> list[Pod]:
    """Return the pods that a term names in the node's domain."""
    domain = node.labels.get(term.topology_key)
    return [pod for other in ssn.node_list if domain is not None
            and other.labels.get(term.topology_key) == domain for pod in pods[other.name]
            if named(term, pod, by)]


def named(term: Any, pod: Pod, by: Pod) -> bool:
    """Return whether a term of a pod's affinity names a pod of the same namespace."""
    return pod.namespace == by.namespace and chosen(term.label_selector, pod.metadata.labels)


def _neighbours(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Pods) -> str:
    """Pods that must be in the node's domain, or must not."""
    pod = task.pod
    needs = terms_of(pod, "pod_affinity", "required")
    first = not any(all(named(term, other, pod) for term in needs)
                    for others in pods.values() for other in others) and all(
                        named(term, pod, pod) for term in needs)
    for term in needs:
        if term.topology_key not in node.labels or not (
                first or _beside(ssn, term, node, pods, pod)):
            return "no pod is there that this one must be with"
    for term in terms_of(pod, "pod_anti_affinity", "required"):
        if _beside(ssn, term, node, pods, pod):
            return "a pod is there that this one must not be with"
    for other in ssn.node_list:
        for there in pods[other.name]:
            for term in terms_of(there, "pod_anti_affinity", "required"):
                key = term.topology_key
                if named(term, pod, there) and key in node.labels and (
                        node.labels[key] == other.labels.get(key)):
                    return "a pod is there that must not be with this one"
    return ""


def _spread(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Pods) -> str:
    """No domain has more than `maxSkew` pods above the one with the fewest."""
    musts = [each for each in task.pod.spec.topology_spread_constraints
             if each.when_unsatisfiable == "DoNotSchedule"]
    for must in musts:
        key = must.topology_key
        if key not in node.labels:
            return f"it has no label {key}"
        counts: dict[str, int] = {}
        for other in ssn.node_list:
            if all(each.topology_key in other.labels for each in musts) and may_use(
                    task.pod, other) and (must.node_taints_policy != "Honor" or not any(
                        taint.effect != "PreferNoSchedule" and not tolerated(taint, task)
                        for taint in other.node.spec.taints)):
                domain = other.labels[key]
                counts[domain] = counts.get(domain, 0) + sum(
                    chosen(must.label_selector, pod.metadata.labels) for pod in pods[other.name]
                    if pod.namespace == task.namespace and pod.metadata.deletion_timestamp is None)
        mine = chosen(must.label_selector, task.pod.metadata.labels)
        if counts.get(node.labels[key], 0) + mine - min(counts.values(), default=0) > must.max_skew:
            return "more pods would be there than elsewhere"
    return ""


def _group_points(ssn: Session, task: TaskInfo, node: NodeInfo) -> tuple[bool, float]:
    """Return whether a node is in a group of the queue's, and its points."""
    wants, group = ssn.queues[ssn.jobs[task.job].queue].queue.spec.affinity, node.labels.get(GROUP)
    if wants is None or group is None:
        return wants is None and group is None, 0.0
    must, may = (getattr(wants.node_group_affinity,
                         f"{how}_during_scheduling_ignored_during_execution")
                 for how in ("required", "preferred"))
    return group in (*must, *may), 100.0 * (group in must) + 50.0 * (group in may)


def _load(node: NodeInfo) -> tuple[float, float]:
    notes = node.node.metadata.annotations
    return tuple(float(notes.get(f"volcano-lab/{what}-usage", "0")) for what in ("cpu", "memory"))


def zone_is_open(ssn: Session, zone: str) -> bool:
    """Return whether it is a time at which pods may use a zone: of times on one day, as drawn."""
    hours = ssn.plugins["tdm"].arguments.get(f"tdm.revocable-zone.{zone}", "")
    start, end = (sum(int(part) * unit for part, unit in zip(time.split(":"), (3600, 60),
                                                           strict=True))
                  for time in hours.split("-"))
    return start <= ssn.now % 86400 // 1 <= end


# -- which node is best ----------------------------------------------------------------------------


def scores(ssn: Session, task: TaskInfo, nodes: Sequence[NodeInfo], pods: Pods
           ) -> dict[str, float] | None:
    """Return the points of each node for a pod, by all plugins that give any; None where one has no
    rule here, or pods that are there have preferences, which count on some nodes only.
    """
    spread = any(each.when_unsatisfiable == "ScheduleAnyway"
                 for each in task.pod.spec.topology_spread_constraints)
    wishes = terms_of(task.pod, "pod_affinity", "preferred")
    others = any(pod.spec.affinity and (pod.spec.affinity.pod_affinity
                                        or pod.spec.affinity.pod_anti_affinity)
                 for there in pods.values() for pod in there)
    topology = "task-topology" in ssn.plugins and any("task-topology" in key for key in ssn.jobs[
        task.job].pod_group.metadata.annotations)
    if "network-topology-aware" in ssn.plugins or topology or spread or (others and not wishes):
        return None
    points = {node.name: sum(rule(ssn, task, node, pods[node.name]) for plugin, rule in POINTS
                             if plugin in ssn.plugins) for node in nodes}
    if wishes and "nodeorder" in ssn.plugins:
        sums = {node.name: _wishes(ssn, task, node, pods) for node in nodes}
        low, high = min(sums.values()), max(sums.values())
        points = {name: each + 2 * (100 * (sums[name] - low) // (high - low) if high > low else 0)
                  for name, each in points.items()}
    return points


def _wishes(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Pods) -> int:
    """Return the weights of pods in the node's domains: those that a pod wishes for, and those that
    wish for it.
    """
    total = sum(wish.weight * len(_beside(ssn, wish.pod_affinity_term, node, pods, task.pod))
                for wish in terms_of(task.pod, "pod_affinity", "preferred"))
    for other in ssn.node_list:
        for pod in pods[other.name]:
            for wish in terms_of(pod, "pod_affinity", "preferred"):
                key = wish.pod_affinity_term.topology_key
                if named(wish.pod_affinity_term, task.pod, pod) and key in node.labels:
                    total += wish.weight * (node.labels[key] == other.labels.get(key))
    return total


def _by_order(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Sequence[Pod]) -> float:
    """By nodeorder: what is left, how evenly, node affinity, and taints."""
    points, asked = 0.0, requested(task.pod, there=False)
    has = {name: int(node.allocatable.get(name)) for name in (CPU, MEMORY, GPU)}
    least = sum((requested(pod, LEAST, there=True) for pod in pods),
                requested(task.pod, LEAST, there=False))
    free = [max(has[name] - least[name], 0) * 100 // has[name] for name in LEAST if has[name]]
    points += sum(free) // len(free) if free else 0
    used = sum((requested(pod, there=True) for pod in pods), asked)
    parts = [min(used[name] / has[name], 1.0)
             for name in has if has[name] and (name != GPU or asked[GPU])]
    if any(asked.values()):
        mean = sum(parts) / len(parts) if parts else 0.0
        spread = sum((part - mean) ** 2 for part in parts) / max(len(parts), 1)
        points += (1 - spread ** 0.5) * 100 // 1
    likes = task.pod.spec.affinity and task.pod.spec.affinity.node_affinity
    for each in likes.preferred_during_scheduling_ignored_during_execution if likes else ():
        points += 2 * each.weight * selects(each.preference.match_expressions, node.labels)
    return points - 300 * any(taint.effect == "PreferNoSchedule" and not tolerated(taint, task)
                              for taint in node.node.spec.taints)


def _by_binpack(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Sequence[Pod]) -> float:
    """By binpack: how full the node is then of what is requested."""
    weights = {name: amount for name, amount in task.resreq if name in (CPU, MEMORY) and amount}
    filled = {name: node.used.get(name) + amount for name, amount in weights.items()}
    if not weights or any(amount > node.allocatable.get(name) for name, amount in filled.items()):
        return 0.0
    return 100 * sum(amount / node.allocatable.get(name)
                     for name, amount in filled.items()) / len(weights)


def _by_load(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Sequence[Pod]) -> float:
    """By usage, with its weights as drawn: how much of CPU and memory is not in use."""
    if "volcano-lab/cpu-usage" not in node.node.metadata.annotations:
        return 0.0
    cpu, memory = _load(node)
    return 2 * ((100 - cpu) * 3 + (100 - memory)) / 4


def _by_strategies(ssn: Session, task: TaskInfo, node: NodeInfo, pods: Sequence[Pod]) -> float:
    """By resource-strategy-fit, with its arguments as drawn, and the pod's own."""
    arguments = next(option.arguments for tier in ssn.conf.tiers for option in tier.plugins
                     if option.name == "resource-strategy-fit")
    own = task.pod.metadata.annotations.get("volcano.sh/resource-strategy-weight")
    cpu = arguments["resources"]["cpu"]["type"]
    kinds = {name: ("MostAllocated", weight) for name, weight in json.loads(own).items()} if (
        own) else {CPU: (cpu, 2), GPU: ("MostAllocated", 3)}
    sums, weights = 0.0, 0
    for name, (kind, weight) in kinds.items():
        has = node.allocatable.get(name)
        if not task.resreq.get(name):
            continue
        weights += weight
        if has:
            part = (node.used.get(name) + task.resreq.get(name)) / has
            if part > 1:
                sums = 0.0
                break
            sums += weight * (part if kind == "MostAllocated" else 1 - part)
    scarce = bool(node.allocatable.get(GPU))
    offers_all = all(node.allocatable.get(name) for name, amount in task.resreq)
    return 300 * sums / max(weights, 1) + (200 if offers_all and not scarce else 0)


POINTS: list[tuple[str, Callable[[Session, TaskInfo, NodeInfo, Sequence[Pod]], float]]] = [
    ("nodeorder", _by_order), ("binpack", _by_binpack), ("usage", _by_load),
    ("resource-strategy-fit", _by_strategies),
    ("nodegroup", lambda ssn, task, node, pods: _group_points(ssn, task, node)[1]),
    ("tdm", lambda ssn, task, node, pods: 100.0 * bool(
        node.labels.get(ZONE) and task.pod.metadata.annotations.get(ZONE) == "*"))]
