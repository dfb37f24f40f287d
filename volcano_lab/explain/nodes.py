"""Why pods find no node: which nodes a rule refuses, and what the others have left.

A node is short of a resource only where no rule (taint, selector, affinity, zone, ...) refuses it;
each amount is that of one node at the moment when the pod was tried.

Volcano: none
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from volcano_lab.api import MIN_RESOURCE, JobInfo, Resource, TaskInfo, amount_text
from volcano_lab.api.node_usage import METRICS_PERIOD
from volcano_lab.api.objects import Pod
from volcano_lab.api.storage import ATTACHABLE
from volcano_lab.changes.change import value_text
from volcano_lab.explain import required
from volcano_lab.explain.evidence import Evidence, not_ready, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, moment_text, over, part
from volcano_lab.explain.holders import room_causes
from volcano_lab.explain.origin import above
from volcano_lab.explain.pages import TABLES
from volcano_lab.explain.slips import missing_keys, near_tolerations, values_by_label
from volcano_lab.explain.volumes import reach_of
from volcano_lab.manifests.schema import unstructure
from volcano_lab.messages import Message, gettext
from volcano_lab.plugins.kube import inter_pod_affinity, node_ports, topology_spread
from volcano_lab.plugins.kube.node_ports import conflict
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.trace import Record, amounts, grouped

INSUFFICIENT, PODS = "Insufficient ", "Insufficient pods"
RULES = {text: (said.split()[0], said.split()[-1]) for text, said in TABLES["rules"].items()}
"""A part of a plugin's reason, as in Volcano -> (code, the message of the rule)."""
STATIC = ("taint", "node_affinity", "cordoned", "node_group")
"""Rules that depend on no other pod: they refuse a node whatever it has left."""
BESIDE = {"anti_affinity": inter_pod_affinity.ANTI_AFFINITY_REASON, "host_ports": node_ports.REASON}
"""Rules about the pods that are on a node already, with their reason."""
STATES = {state: re.compile(taints) for state, taints in TABLES["states"].items()}
"""The state of a node -> a part of the taints that it sets."""
MOST = 4
"""Nodes that are named one by one."""
Pods = list[tuple[TaskInfo, Message]]
"""Pods, each with its node as a message."""


def node_causes(seen: Evidence, job: JobInfo, room: bool = True) -> Iterator[Cause]:
    """Yield why pods of the job found no node in their last search; with `room` also what nodes
    lack.
    """
    tasks = {task.key: task for task in job.tasks.values()}
    last = {record["task"]: record for action in ("allocate", "backfill")
            for record in seen.calls_about(job, "chose", action) if record["node"] is None}
    reported: set[object] = set()
    for key, record in last.items():
        task, signature = tasks[key], (record["errors"], tasks[key].init_resreq)
        if signature in reported:
            continue
        nodes, inside = _searched(seen, task, record)
        objections = _objections(seen, task, record, nodes)
        refused = [cause for reasons, among in _by_labels(task, objections, len(nodes), inside)
                   for cause in rule_causes(seen, key, reasons, among, record)
                   if cause.numbers["reason"] not in reported]
        reported |= {signature, *objections.values()}
        allowed, full = [name for name in nodes if name not in objections], []
        if room and allowed and "room" not in reported and INSUFFICIENT in record["errors"]:
            reported.add("room")
            found = _short(seen, task, record, allowed, len(nodes), inside)
            full = [found, *(room_causes(seen, job, found) if found.code != "role_failed" else ())]
        most = max((cause.numbers["nodes"] for cause in refused  # what concerns most nodes is first
                    if cause.code != "node_affinity"), default=0)  # of labels the author knows
        yield from [*refused, *full] if len(allowed) < most else [*full, *refused]


def _by_labels(task: TaskInfo, reasons: dict[str, str], count: int, inside: list[Message]
               ) -> Iterator[tuple[dict[str, str], tuple[int, list[Message]]]]:
    """Yield reasons against nodes whose labels fit, which are nearest, with how many these are and
    which; then the reasons against labels.
    """
    others = {name for name, reason in reasons.items() if rule_of(reason)[0] == "node_affinity"}
    wanted = [f"{key}={value}" for key, value in task.pod.spec.node_selector.items()]
    which = Message("inside.devices", devices=wanted) if wanted else Message("inside.labels")
    yield ({name: reasons[name] for name in reasons if name not in others},
           (count - len(others), [*inside, which] if others else inside))
    yield {name: reasons[name] for name in reasons if name in others}, (count, inside)


def closed_causes(seen: Evidence, job: JobInfo, then: str) -> Iterator[Cause]:
    """Yield that rules refuse all nodes that are large enough for a pod without a search."""
    task = next(iter(unplaced(job)), None)
    if task is None or seen.brief:
        return
    large = [name for name, node in seen.ssn.nodes.items()
             if not over(amounts(task.init_resreq), amounts(node.allocatable))]
    said = {name: refused_now(seen, task, name) for name in large}
    said = {name: text for name, text in said.items() if rule_of(text)[0] in STATIC}
    if large and len(said) == len(large):
        after = Message("nodes.after", then=Message(f"nodes.after.{then}"), large=len(large),
                        count=len(seen.ssn.nodes))
        for cause in rule_causes(seen, task.key, said, (len(large), None), None):
            yield Cause(cause.code, [after, *cause.sentences], cause.numbers, [], True)


def rule_of(reason: str) -> tuple[str, str]:
    """Return (code, message) of a reason, both "" for an unknown one.

    >>> rule_of("node(s) had untolerated taint(s)")[0]
    'taint'
    """
    return next((rule for text, rule in RULES.items() if text in reason), ("", ""))


def _searched(seen: Evidence, task: TaskInfo, choice: Record) -> tuple[list[str], list[Message]]:
    """The nodes of a search, and which these are: those of a HyperNode, or all; of these only the
    ones that are large enough for the pod, or at least have the devices that it requests, where
    there are such.
    """
    nodes, inside = seen.trace.nodes, []
    if choice["nodes"] != len(nodes):
        tried = next((record["hyper_node"] for record in seen.of("hyper_node_tried", job=task.job)
                      if record.number > choice.number), "")
        within = [node.name for node in seen.ssn.topology.nodes.get(tried, ())]
        if within:
            nodes, inside = within, [Message("inside.hyper_node", hyper_node=tried)]
    request = seen.trace.start["tasks"][task.key]["request"]
    devices = [name for name, amount in request.items() if amount
               and name not in ("cpu", "memory", "pods") and not name.startswith(ATTACHABLE)]
    with_devices = [name for name in nodes if all(map(seen.whole[name].get, devices))]
    large = [name for name in with_devices if not over(request, seen.whole[name])]
    able = large or with_devices
    if not able or len(able) == len(nodes):
        return nodes, inside
    return able, [*inside, Message("inside.devices", devices=devices) if len(able) == len(
        with_devices) else Message("inside.large")]


def _objections(seen: Evidence, task: TaskInfo, choice: Record, nodes: list[str]) -> dict[str, str]:
    """{node: a rule's reason against it}, also of nodes that are short of a resource besides."""
    refusing, errors = seen.refusing(choice), seen.ssn.jobs[task.job].nodes_fit_errors.get(task.uid)
    recorded = {name: each.reasons for name, each in errors.nodes.items()} if errors else {}
    found = {}
    for name in nodes:
        reasons = recorded.get(name, [])
        if reasons and not reasons[0].startswith(INSUFFICIENT):
            found[name] = ", ".join(reasons)
        elif refusing is None:  # each call was recorded, and none of a node that is short
            reason = refused_now(seen, task, name)
            found |= {name: reason} if rule_of(reason)[0] in STATIC else {}
        elif name in refusing:
            found[name] = PODS if PODS in reasons else refused_then(
                seen, task, name, choice, refusing[name])
    return found


def refused_then(seen: Evidence, task: TaskInfo, node: str, choice: Record, plugin: str) -> str:
    """Return the reason of a plugin that refused a node at a choice: that at the end of the cycle,
    or of pods that were there and were rolled back.
    """
    beside = (reason for code, reason in BESIDE.items()
              if _beside(seen, task.key, code, [node], choice))
    spread = any(each.when_unsatisfiable == "DoNotSchedule"
                 for each in task.pod.spec.topology_spread_constraints)
    return refused_now(seen, task, node) or next(beside, "") or (
        topology_spread.REASON if spread and not task.pod.spec.volumes else gettext(
            "plugin {plugin} refuses it", plugin=plugin))


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
    return rule_of(refused_now(seen, task, node))[0] not in STATIC


def rule_causes(seen: Evidence, task: str, objections: dict[str, str],
                among: tuple[int, list[Message] | None], choice: Record | None) -> Iterator[Cause]:
    """Yield a cause for each reason against nodes; `among` is how many nodes were searched, and
    which: 0 for the one that is asked about.
    """
    count, inside = among
    by_reason = grouped((reason, name) for name, reason in objections.items())
    for reason, names in by_reason.items():
        code, rule = rule_of(reason)
        why = Message(f"rule.{rule or 'quoted'}", reason=reason,
                      queue=seen.ssn.jobs[seen.tasks[task].job].queue)
        said = Message("nodes.refuse" if count else "node.refuses", n=len(names), count=count,
                       pod=task, rule=why, node=names[0], inside=inside,
                       names=names if len(names) <= MOST else None)
        numbers = {"nodes": len(names), "of": count, "reason": reason, "names": names}
        there = _beside(seen, task, code, names, choice) if code in BESIDE and choice else []
        if code in BESIDE:
            jobs = dict.fromkeys(other.job for other, _ in there if other.job in seen.ssn.jobs)
            numbers |= {"holders": [*jobs], "stranded": [
                uid for uid in jobs if uid != seen.tasks[task].job
                and seen.ssn.jobs[uid].ready_task_num() < seen.ssn.jobs[uid].min_available]}
        yield Cause(code or "refused", [said, *_about_rule(seen, task, code, reason, names, choice),
                                        *_in_the_way(seen.tasks[task], code, there)],
                    numbers, [choice] if choice else [])


def _in_the_way(task: TaskInfo, code: str, there: Pods) -> Iterator[Message | None]:
    """Yield the pods by which a rule refuses nodes, their labels that exclude this one, and that
    all are of its own job.
    """
    if there:
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
        "pod_affinity": lambda: required.company(seen.ssn, pod),
        "topology_spread": lambda: required.spread_counts(seen, pod, choice),
        "spread_label": lambda: missing_keys([
            each.topology_key for each in pod.spec.topology_spread_constraints],
            values_by_label(node.node for node in nodes)),
        **dict.fromkeys(("volume_node", "volume_unbound"), lambda: reach_of(seen, task)),
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
        hours = getattr(seen.ssn.plugins.get("tdm"), "zones", {}).get(zone)
        yield Message("zone.hours", zone=zone, hours=hours, time=moment_text(seen.ssn.now)[-5:])


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


def _about_taint(seen: Evidence, pod: Pod, reason: str, names: list[str]) -> Iterator[Message]:
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
    yield from near_tolerations(pod, nodes)


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
    """The pods at that moment beside which this one must not run, and their nodes."""
    start, mine = seen.trace.start["tasks"], PodInfo(seen.tasks[key].pod)
    there: Pods = []
    for other, node in seen.placed_at(choice):
        theirs = PodInfo(other.pod)
        if (node in names and conflict(mine.host_ports, theirs.host_ports)
                if code == "host_ports" else _apart(seen, mine, theirs, node, names)
                or _apart(seen, theirs, mine, node, names)):
            new = other.key in start and not start[other.key]["node"]
            there.append((other, Message("pod.there_new" if new else "pod.there", pod=other.key,
                                         node=node)))
    return sorted(there, key=lambda each: each[0].job == seen.tasks[key].job)


def _apart(seen: Evidence, left: PodInfo, right: PodInfo, node: str, names: list[str]) -> bool:
    """Whether one pod's anti-affinity with another one that is on a node excludes these nodes."""
    def place(name: str, key: str) -> str | None:
        return seen.ssn.nodes[name].node.metadata.labels.get(key)

    return any(term.matches(right.namespace, right.labels, {})
               and any(place(name, term.topology_key) == place(node, term.topology_key) is not None
                       for name in names) for term in left.required_anti_affinity)


def _short(seen: Evidence, task: TaskInfo, choice: Record, allowed: list[str],
           count: int, inside: list[Message]) -> Cause:
    """What the nodes that no rule refuses have left, and of which resources that is too little."""
    request: Amounts = seen.trace.start["tasks"][task.key]["request"]
    left = seen.free(choice, request)
    lacking = {name: missing(request, left[name]) for name in allowed}
    if fits := [name for name, short in lacking.items() if not short]:
        return Cause.of("role_failed", records=[choice], pod=task.key, nodes=fits)
    everywhere = [name for name in request if all(name in short for short in lacking.values())]
    anywhere = sorted({*chain(*lacking.values())}, key=[*request].index)
    names, some = everywhere or anywhere, len(allowed) < count
    total, most = _left_in_all(left, lacking, names)
    full = missing(part(request, everywhere), total)
    largest = _largest(seen, request, allowed, everywhere)
    numbers = {"request": part(request, names), "free_in_total": total, "free_on_one_node": most,
               "nodes": len(allowed), **({"allowed": allowed} if some else {}),
               **({"largest": largest} if any(largest.values()) else {})}  # else no node has any
    code, form = _kind(any(largest.values()), some, bool(full), len(allowed))
    listed = anywhere if some and len(allowed) <= MOST else names
    said = Message(form, pod=task.key, inside=inside, count=count, allowed=len(allowed),
                   node=allowed[0], largest=largest, total=part(total, full or names),
                   request=part(request, largest or (full if code == "cluster_full" else listed)),
                   left=_one_by_one(left, lacking, most, everywhere, MOST if some else 0))
    return Cause(code, [said, *seen.at_first(task, largest or names),
                        None if largest else seen.own(task.job, choice),
                        *_beside_daemons(seen, request, largest),
                        *seen.not_announced(largest, task),
                        *withheld(seen, task, seen.ssn.nodes, names)], numbers, [choice])


def _largest(seen: Evidence, request: Amounts, allowed: list[str], names: list[str]) -> Amounts:
    """The largest node's amount of each resource of which even an empty node has too little."""
    largest = {each: max(seen.whole[name].get(each, 0.0) for name in allowed) for each in names}
    return part(largest, missing(part(request, names), largest))


def _beside_daemons(seen: Evidence, request: Amounts, largest: Amounts) -> Iterator[Message]:
    """Yield what pods of DaemonSets leave of a node that would be large enough without them."""
    for name, most in largest.items():
        if request[name] <= seen.largest_nodes.get(name, 0.0):
            yield Message("daemon_pods", most={name: most})


def withheld(seen: Evidence, task: TaskInfo, nodes: Iterable[str], names: Iterable[str]
             ) -> Iterator[Message]:
    """Yield the nodes that have more devices than they may use, or all that the pod requests before
    the kubelet keeps its part, of those whose labels and taints let the pod in.
    """
    for each in names:
        asked, device = task.init_resreq.get(each), "/" in each
        sizes = [(Resource.from_list(node.node.status.capacity).get(each),
                  node.allocatable.get(each), node.name)
                 for node in map(seen.ssn.nodes.__getitem__, nodes)]
        less = [size for size in sizes if size[0] > size[1] and (
            device or size[1] < asked <= size[0]) and lets_in(seen, task, size[2])]
        for whole, usable, _ in less[:1]:
            yield Message("devices.withheld" if device else "node.kept", n=len(less), nodes=[
                name for *_, name in less], capacity={each: whole}, usable={each: usable})


def _left_in_all(left: dict[str, Amounts], lacking: dict[str, list[str]],
                 names: list[str]) -> tuple[Amounts, Amounts]:
    """(What nodes have left together, the most that one has that lacks a resource)."""
    total = {each: sum(max(left[name][each], 0.0) for name in lacking) for each in names}
    return total, {each: max(0.0, *(left[name][each] for name, short in lacking.items()
                                    if each in short)) for each in names}


def missing(request: Amounts, left: Amounts) -> list[str]:
    """Return the resources of which too little is left for a request."""
    return [name for name, amount in request.items()
            if amount - left.get(name, 0.0) >= MIN_RESOURCE]


def _kind(large: bool, some: bool, full: bool, allowed: int) -> tuple[str, str]:
    """(code, message): whether the request is too large for all nodes, whether these are only some,
    whether all together have too little.
    """
    if large:
        return "larger_than_any_node", f"larger_than_any_node{'.some' * some}"
    if some:
        return "allowed_nodes_full" if full or allowed == 1 else "fragmented", "nodes_full.some"
    if full:
        return "cluster_full", f"cluster_full{'.one' * (allowed == 1)}"
    return "fragmented", "fragmented"


def _one_by_one(free: dict[str, Amounts], lacking: dict[str, list[str]], most: Amounts,
                everywhere: list[str], few: int) -> Message:
    """What each of a few nodes has left, or the most that one of them has."""
    if len(lacking) <= few or (len(lacking) <= MOST and not everywhere):
        return Message("left.each", nodes=[
            Message("left.one", node=name, left=part(free[name], short))
            for name, short in lacking.items()])
    if everywhere:
        return Message("left.most", most=part(most, everywhere))
    return Message("left.too_little", parts=[
        Message("left.short", nodes=sum(each in short for short in lacking.values()),
                resource=each, most={each: amount}) for each, amount in most.items()])
