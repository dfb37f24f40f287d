"""Rules by which nodes refuse a pod (taint, selector, affinity, zone, ...), with what else they and
the nodes show.

Volcano: none
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from volcano_lab.api import TaskInfo, amount_text, objects as api
from volcano_lab.api.node_usage import METRICS_PERIOD
from volcano_lab.changes.change import value_text
from volcano_lab.explain import required, volumes
from volcano_lab.explain.evidence import Evidence, not_ready, unplaced
from volcano_lab.explain.explanation import TABLES, Cause, moment_text
from volcano_lab.explain.origin import above
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import Message
from volcano_lab.plugins import tdm
from volcano_lab.plugins.kube import inter_pod_affinity, node_ports, topology_spread
from volcano_lab.plugins.kube.node_pods import kube_nodes
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.trace import Record, grouped

RULES = {text: (said.split()[0], said.split()[-1]) for text, said in TABLES["rules"].items()}
"""A part of a plugin's reason, as in Volcano -> (code, the message of the rule)."""
STATIC = ("taint", "node_affinity", "cordoned", "node_group")
"""Rules that depend on no other pod: they refuse a node whatever it has left."""
BESIDE = {"anti_affinity": inter_pod_affinity.ANTI_AFFINITY_REASON, "host_ports": node_ports.REASON}
"""Rules about the pods that are on a node already, with their reason."""
OCCUPIED = ("volume_limit", *BESIDE, "pods_exceeded")
"""Rules that allow more once pods of a node have ended."""
STATES = {state: re.compile(taints) for state, taints in TABLES["states"].items()}
"""The state of a node -> a part of the taints that it sets."""
MOST = 4
"""Nodes that are named one by one."""
Pods = list[tuple[TaskInfo, Message]]
"""Pods, each with its node as a message."""


@cache
def rule_of(reason: str) -> tuple[str, str]:
    """Return (code, message) of a reason, both "" for an unknown one.

    >>> rule_of("node(s) had untolerated taint(s)")[0]
    'taint'
    """
    return next((rule for text, rule in RULES.items() if text in reason), ("", ""))


def refused_then(seen: Evidence, task: TaskInfo, refusing: Mapping[str, str], choice: Record
                 ) -> dict[str, str]:
    """Return the reason of the plugin that refused each node at a choice: that at the end of the
    cycle, or of pods that were there and were rolled back.
    """
    found = {node: refused_now(seen, task, node) for node in refusing}
    for code, reason in BESIDE.items():
        unknown = [node for node, said in found.items() if not said]
        there = _there(seen, task.key, code, unknown, choice) if unknown else []
        found |= {node: reason for node in unknown
                  if any(_excludes(seen, task, code, pod, [node]) for pod in there)}
    spread = any(each.when_unsatisfiable == "DoNotSchedule"
                 for each in task.pod.spec.topology_spread_constraints)
    return {node: said or (topology_spread.REASON if spread and not task.pod.spec.volumes
                           else str(Message("node.plugin", plugin=refusing[node])))
            for node, said in found.items()}


def refused_now(seen: Evidence, task: TaskInfo, node: str) -> str:
    """Return the first plugin's reason against a node at the end of the cycle, a known rule before
    what says only that no search has begun; "" without.
    """
    functions, info = seen.ssn.points["predicate"].functions, seen.ssn.nodes[node]
    first = ""
    for plugin in seen.plugins("predicate"):
        error = functions[plugin](task, info)
        if error is not None and (isinstance(error, str) or error.blocks_allocate()):
            reason = error if isinstance(error, str) else ", ".join(error.reasons)
            if rule_of(reason)[0]:
                return reason
            first = first or reason
    return first


def lets_in(seen: Evidence, task: TaskInfo, node: str) -> bool:
    """Whether no rule refuses a node that depends on no other pod."""
    known = seen.let_in.setdefault(task.key, {})
    if node not in known:
        known[node] = rule_of(refused_now(seen, task, node))[0] not in STATIC
    return known[node]


def rule_causes(seen: Evidence, task: str, objections: dict[str, str],
                among: tuple[int, list[Message] | None], choice: Record | None) -> Iterator[Cause]:
    """Yield a cause for each reason against nodes; `among` is how many nodes were searched, and
    which: 0 for the one that is asked about.
    """
    if not objections:
        return
    count, inside = among
    labels = required.values_by_label(node.node for node in seen.ssn.nodes.values())
    by_reason = grouped((reason, name) for name, reason in objections.items())
    for reason, names in by_reason.items():
        code, rule = rule_of(reason)
        why = Message(f"rule.{rule or 'quoted'}", reason=reason,
                      queue=seen.ssn.jobs[seen.tasks[task].job].queue)
        said = Message("nodes.refuse" if count else "node.refuses", n=len(names), count=count,
                       pod=task, rule=why, node=names[0], inside=inside,
                       names=names if len(names) <= MOST else None)
        numbers = {"nodes": len(names), "of": count, "reason": reason, "names": names, "slips": [
            *required.slips_of(code, seen.tasks[task].pod, labels)]}
        there = _beside(seen, task, code, names, choice) if code in OCCUPIED and choice else []
        if code in OCCUPIED:
            jobs = dict.fromkeys(other.job for other, _ in there if other.job in seen.ssn.jobs)
            numbers |= {"holders": [*jobs], "slots": len(unplaced(seen.ssn.jobs[seen.tasks[
                task].job])) + max(len(seen.ssn.nodes[name].tasks) for name in names), "stranded": [
                uid for uid in jobs if uid != seen.tasks[task].job
                and seen.ssn.jobs[uid].ready_task_num() < seen.ssn.jobs[uid].min_available]}
        yield Cause(code or "refused", [said, *_about_rule(seen, task, code, reason, names, choice),
                                        *_in_the_way(seen.tasks[task], code, there)],
                    numbers, [choice] if choice else [])


def _in_the_way(task: TaskInfo, code: str, there: Pods) -> Iterator[Message | None]:
    """Yield the pods by which a rule refuses nodes, their labels that exclude this one, and that
    all are of its own job.
    """
    if there and code in BESIDE:
        yield Message("in_the_way", pods=[said for _, said in there])
        yield required.excluding(task.pod, [other.pod for other, _ in there])
    if code == "anti_affinity" and {other.job for other, _ in there} == {task.job}:
        yield Message("in_the_way.own")


def _about_rule(seen: Evidence, task: str, code: str, reason: str, names: list[str],
                choice: Record | None) -> Iterator[Message]:
    """Yield what else a rule and the nodes that it refuses show: the field, the nearest value."""
    pod, nodes = seen.tasks[task].pod, seen.ssn.nodes.values()
    about: dict[str, Callable[[], Iterable[Message]]] = {
        "revocable_zone": lambda: _hours(seen, reason, names[0]),
        "taint": lambda: _about_taint(seen, pod, reason, names),
        # a node that another rule refuses may have the labels
        "node_affinity": lambda: required.label_terms(pod, [node.node for node in nodes]),
        "pod_affinity": lambda: required.company(seen, pod, choice),
        "topology_spread": lambda: required.spread_counts(seen, pod, choice),
        "spread_label": lambda: required.missing_keys([
            each.topology_key for each in pod.spec.topology_spread_constraints],
            required.values_by_label(node.node for node in nodes)),
        **dict.fromkeys(("volume_node", "volume_unbound"), lambda: volumes.reach_of(seen, task)),
        "volume_limit": lambda: volumes.full_drivers(seen, task, names[0]),
        "node_group": lambda: _node_groups(seen, seen.ssn.jobs[seen.tasks[task].job].queue),
        "host_ports": lambda: [Message("ports", ports=sorted({
            port for *_, port in PodInfo(pod).host_ports}))],
        "over_usage": lambda: _measured(seen, names),
        "pods_exceeded": lambda: _slots(seen, names, choice) if choice is not None else ()}
    yield from about.get(code, tuple)()


def _hours(seen: Evidence, reason: str, node: str) -> Iterator[Message]:
    """Yield when the zone of a node is open, where it is closed now."""
    if rule_of(reason)[1] == "zone_closed":
        zone = seen.ssn.nodes[node].revocable_zone
        yield Message("zone.hours", **hours_facts(seen, zone))


def hours_facts(seen: Evidence, zone: str) -> dict[str, Any]:
    """Return the hours of a zone, which end at midnight unless they end later than they begin."""
    plugin: Any = seen.ssn.plugins["tdm"]
    hours = plugin.zones[zone]
    first, end = tdm.hours_of(hours) or (0, 0)
    start = hours.strip().partition("-")[0]
    night = Message("hours.night", hours=hours, start=start) if first and end >= tdm.DAY else None
    return {"zone": zone, "hours": f"{start}-24:00" if night else hours, "night": night,
            "time": moment_text(seen.ssn.now)[-5:]}


def _node_groups(seen: Evidence, own: str) -> Iterator[Message]:
    """Yield the node groups of a queue, or of the nearest above it, and whether it inherits them.
    """
    specs = {name: seen.ssn.queues[name].queue.spec.affinity for name in (own, *above(seen, own))}
    for name in [*filter(specs.get, specs)][:1]:
        inherits = name == own or seen.ssn.hierarchy_enabled("nodegroup")
        yield Message("node_group.affinity" if inherits else "node_group.above", queue=name,
                      affinity=value_text(unstructure(specs[name])))


def _measured(seen: Evidence, names: list[str]) -> Iterator[Message]:
    """Yield what nodes use, in percent, beside the thresholds of plugin usage."""
    plugin: Any = seen.ssn.plugins["usage"]
    uses = {name: seen.ssn.nodes[name].resource_usage for name in names}
    yield Message("usage.measured", cpu_most=plugin.cpu_threshold, most=plugin.memory_threshold,
                  nodes=[Message("usage.node", node=name, cpu=use.cpu.get(METRICS_PERIOD, 0.0),
                                 memory=use.memory.get(METRICS_PERIOD, 0.0))
                         for name, use in uses.items()])


def _about_taint(seen: Evidence, pod: api.Pod, reason: str, names: list[str]) -> Iterator[Message]:
    """Yield the state of nodes that a taint says, or the toleration that is near it."""
    nodes = [seen.ssn.nodes[name].node for name in names]
    if state := state_of(reason):
        yield Message(f"taint.{state}")
        said = {(each.message or each.reason).rstrip("."): node.name for node in reversed(nodes)
                for each in not_ready(node) if each.reason}  # each text once
        yield from [Message("taint.ready", node=name, text=text) for text, name in said.items()]
        return
    going = [node.name for node in nodes if "going" in map(
        state_of, [taint.key for taint in node.spec.taints])]
    yield from [Message("taint.going_too", n=len(going), nodes=going)] * bool(going)
    yield from required.near_tolerations(pod, nodes)


def state_of(taint: str) -> str:
    """Return by which state of a node a taint is set; "" for one that is set for another reason.

    >>> state_of("node.cilium.io/agent-not-ready"), state_of("dedicated")
    ('starting', '')
    """
    return next((state for state, taints in STATES.items() if taints.search(taint)), "")


def _slots(seen: Evidence, names: list[str], choice: Record) -> Iterator[Message]:
    """Yield how many pods nodes have at that moment, and may have; those alike in one sentence."""
    placed = seen.placed_at(choice)
    own, others = (Counter(node for task, node in placed if (
        task.job in seen.ssn.jobs) is ours) for ours in (True, False))
    alike = grouped(((own[name], others[name], amount_text("pods", seen.ssn.nodes[
        name].allocatable.get("pods"))), name) for name in names)
    for (mine, theirs, most), nodes in [*alike.items()][:MOST]:
        yield Message("pods.slots", n=len(nodes), nodes=nodes, own=mine, others=theirs, most=most)


def _beside(seen: Evidence, key: str, code: str, names: list[str], choice: Record) -> Pods:
    """The pods at that moment beside which a rule does not let this one run, and their nodes."""
    there = _there(seen, key, code, names, choice)
    return sorted(((other, seen.there(other.key, node)) for other, node in there),
                  key=lambda each: each[0].job == seen.tasks[key].job)


def _there(seen: Evidence, key: str, code: str, names: Collection[str], choice: Record
           ) -> list[tuple[TaskInfo, str]]:
    return [pod for pod in seen.placed_at(choice)
            if _excludes(seen, seen.tasks[key], code, pod, names)]


def _excludes(seen: Evidence, task: TaskInfo, code: str, pod: tuple[TaskInfo, str],
              names: Collection[str]) -> bool:
    """Whether a pod on a node is one for which a rule refuses another pod one of some nodes."""
    kube, node = kube_nodes(seen.ssn), pod[1]
    mine, theirs = kube.info_of(task), kube.info_of(pod[0])
    if code == "anti_affinity":
        return _apart(seen, mine, theirs, node, names) or _apart(seen, theirs, mine, node, names)
    if code == "volume_limit":
        attached = seen.ssn.snapshot.storage.attached
        return node in names and not attached(task.pod).keys().isdisjoint(attached(pod[0].pod))
    return node in names and (code not in BESIDE or node_ports.conflict(
        mine.host_ports, theirs.host_ports))


def _apart(seen: Evidence, left: PodInfo, right: PodInfo, node: str, names: Collection[str]
           ) -> bool:
    """Whether one pod's anti-affinity with another one that is on a node excludes these nodes."""
    def place(name: str, key: str) -> str | None:
        return seen.ssn.nodes[name].node.metadata.labels.get(key)

    return any(term.matches(right.namespace, right.labels, {})
               and any(place(name, term.topology_key) == place(node, term.topology_key) is not None
                       for name in names) for term in left.required_anti_affinity)
