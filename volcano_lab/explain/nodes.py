"""Why pods find no node: what the rules leave of the nodes first, then what room is on those.

A node is called short only where no rule (taint, selector, affinity, zone, ...) refuses it; each
amount is that of one node at the moment when the pod was tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from volcano_lab.api import MIN_RESOURCE, JobInfo, TaskInfo, amount_text
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Amounts, Cause, amounts_text, moment_text, part
from volcano_lab.explain.holders import room_causes
from volcano_lab.explain.slips import missing_labels, near_tolerations
from volcano_lab.explain.volumes import reach_of
from volcano_lab.messages import listed
from volcano_lab.plugins.kube.node_ports import conflict
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.trace import Record
from volcano_lab.trace.plain import amounts

INSUFFICIENT, PODS = "Insufficient ", "Insufficient pods"
RULES = {
    "untolerated taint": ("taint", "a taint that the pod does not tolerate"),
    "anti-affinity": ("anti_affinity", "pods beside which this one must not run (anti-affinity)"),
    "pod affinity": ("pod_affinity", "none of the pods beside which this one must run (affinity)"),
    "node affinity/selector":
    ("node_affinity", "not the labels that the pod asks for (node selector or affinity)"),
    "missing required label": ("spread_label", "no label by which its topology spread counts"),
    "topology spread": ("topology_spread", "too many such pods in their domain (topology spread)"),
    "pod number exceeded": ("pods_exceeded", "all the pods that a node may have"),
    PODS: ("pods_exceeded", "all the pods that a node may have"),
    "were unschedulable": ("cordoned", "been cordoned"),
    "free ports": ("host_ports", "no free host port of that number"),
    "PersistentVolume's node affinity": ("volume_node", "no way to a volume that the pod claims"),
    "persistent volumes to bind": ("volume_unbound", "no volume for a claim of the pod"),
    "non-existent pv": ("volume_missing", "nothing of a volume that is gone"),
    "exceed max volume count": ("volume_limit", "all the volumes of a driver that a node may have"),
    "no available volume zone": ("volume_zone", "another zone than a volume that the pod claims"),
    "node group label not found":
    ("node_group", "no label volcano.sh/nodegroup-name, by which its queue's affinity chooses"),
    "satisfy the node group affinity": ("node_group", "a node group that its queue does not use"),
    "beyond revocable zone": ("revocable_zone", "a revocable zone that is closed at this hour"),
    "dispatch to revocable": ("revocable_zone", "a revocable zone, and the pod is not preemptable"),
}
"""A part of the reason that a plugin gives -> (code, what such nodes have)."""
STATIC = ("taint", "node_affinity", "cordoned")
"""Rules that depend on no other pod: they refuse a node whatever room it has."""
BESIDE = ("anti_affinity", "host_ports")
"""Rules about the pods that are on a node already."""
GONE = ("Succeeded", "Failed")
KUBERNETES = re.compile(r"node\.(cloudprovider\.)?kubernetes\.io/")
"""Taints that Kubernetes, or its cloud, sets by a node's state begin so."""
MOST = 4
"""Nodes that are told one by one."""


def node_causes(seen: Evidence, job: JobInfo, room: bool = True) -> Iterator[Cause]:
    """Why pods of the job found no node when they were last tried; with `room` also where nodes
    lack resources.
    """
    tasks = {task.key: task for task in job.tasks.values()}
    last = {record["task"]: record for action in ("allocate", "backfill")
            for record in seen.calls_about(job, "chose", action) if record["node"] is None}
    told: set[object] = set()
    for key, record in last.items():
        task, signature = tasks[key], (record["errors"], tasks[key].init_resreq)
        if signature in told:
            continue
        nodes, inside = _able(seen, task, *_looked_at(seen, job, record))
        objections = _objections(seen, task, record, nodes)
        refused = [cause for cause in rule_causes(
            seen, key, objections, (len(nodes), inside), record)
            if cause.numbers["reason"] not in told]
        told |= {signature, *objections.values()}
        allowed, full = [name for name in nodes if name not in objections], []
        if room and allowed and "room" not in told and INSUFFICIENT in record["errors"]:
            told.add("room")
            found = _short(seen, task, record, allowed, len(nodes), inside)
            full = [found, *(room_causes(seen, job, found) if found.code != "role_failed" else ())]
        most = max((cause.numbers["nodes"] for cause in refused), default=0)
        yield from [*full, *refused] if len(allowed) >= most else [*refused, *full]


def closed_causes(seen: Evidence, job: JobInfo, then: str) -> Iterator[Cause]:
    """That rules refuse all nodes that are large enough for a pod whose node was not sought."""
    task = next((task for task in job.tasks.values() if not task.node_name), None)
    if task is None or seen.brief:
        return
    asked = {name: amount for name, amount in amounts(task.init_resreq).items() if name != "pods"}
    large = [name for name, node in seen.ssn.nodes.items() if all(
        node.allocatable.get(each) >= amount for each, amount in asked.items())]
    said = {name: text for name in large if rule_of(text := _now_said(seen, task, name))[0] in
            STATIC}
    if large and len(said) == len(large):
        for cause in rule_causes(seen, task.key, said, (len(large), ""), None):
            yield Cause(cause.code, f"{then}, it would wait, too: large enough are {len(large)} "
                        f"of {len(seen.ssn.nodes)} nodes. {cause.text}", cause.numbers, [], True)


def rule_of(reason: str) -> tuple[str, str]:
    """(code, words) of a reason, both "" for one that isn't among Kubernetes' rules.

    >>> rule_of("node(s) had untolerated taint(s)")[0]
    'taint'
    """
    return next((rule for text, rule in RULES.items() if text in reason), ("", ""))


def _looked_at(seen: Evidence, job: JobInfo, choice: Record) -> tuple[list[str], str]:
    """The nodes among which one was sought: all, or those of the HyperNode that was tried, and its
    name.
    """
    if choice["nodes"] == len(seen.trace.nodes):
        return seen.trace.nodes, ""
    tried = next((record for record in seen.of("hyper_node_tried", job=job.uid)
                  if record.number > choice.number), None)
    inside = seen.ssn.topology.nodes.get(tried["hyper_node"]) if tried is not None else None
    if not inside:
        return seen.trace.nodes, ""
    return [node.name for node in inside], f" of HyperNode {tried['hyper_node']}"


def _able(seen: Evidence, task: TaskInfo, nodes: list[str], inside: str) -> tuple[list[str], str]:
    """Only the nodes that have the devices a pod asks for, where there are such: what the others
    are like does not matter to it.
    """
    devices = [name for name, amount in seen.trace.start["tasks"][task.key]["request"].items()
               if amount and name not in ("cpu", "memory", "pods")]
    able = [name for name in nodes if all(
        seen.trace.start["nodes"][name]["allocatable"].get(each) for each in devices)]
    if not able or len(able) == len(nodes):
        return nodes, inside
    return able, f"{inside} with {listed(devices)}"


def _objections(seen: Evidence, task: TaskInfo, choice: Record, nodes: list[str]) -> dict[str, str]:
    """{node: what a rule has against it}, also of nodes that are short of a resource besides."""
    refusing, large = seen.refusing(choice), len(seen.trace.nodes) > 100 or seen.brief
    errors = seen.ssn.jobs[task.job].nodes_fit_errors.get(task.uid)
    recorded = errors.nodes if errors is not None else {}
    found = {}
    for name in nodes:
        reasons = recorded[name].reasons if name in recorded else []
        if reasons and not reasons[0].startswith(INSUFFICIENT):
            found[name] = ", ".join(reasons)
        elif refusing is None or name in refusing:
            said = _now_said(seen, task, name)
            if rule_of(said)[0] in STATIC or (refusing is not None and said):
                found[name] = said
            elif refusing is not None:
                found[name] = PODS if PODS in reasons else (
                    f"plugin {refusing[name]} refuses it" if large
                    else then_said(seen, task.key, name, refusing[name]))
    return found


def _now_said(seen: Evidence, task: TaskInfo, node: str) -> str:
    """What the plugins say of a node as the cycle has left it."""
    point, info = seen.ssn.points["predicate"], seen.ssn.nodes[node]
    for tier in point.tiers:
        for plugin, _ in tier:
            error = point.functions[plugin](task, info)
            if error is not None and (isinstance(error, str) or error.blocks_allocate()):
                return error if isinstance(error, str) else ", ".join(error.reasons)
    return ""


def then_said(seen: Evidence, task: str, node: str, plugin: str) -> str:
    """What a plugin said of a node when the pod was tried; the cycle is run again for that."""
    said = seen.refusal(task, node)
    if said is None:
        return f"plugin {plugin} refuses it"
    return said["answer"] if isinstance(said["answer"], str) else ", ".join(said["answer"])


def rule_causes(seen: Evidence, task: str, objections: dict[str, str], among: tuple[int, str],
                choice: Record | None) -> Iterator[Cause]:
    """What rules have against nodes, a cause a reason; `among` how many nodes and where, 0 for the
    one that is asked about.
    """
    count, inside = among
    by_reason: dict[str, list[str]] = {}
    for name, reason in objections.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        code, words = rule_of(reason)
        which = f" ({listed(names, MOST)})" if len(names) <= MOST else ""
        have = "it has" if len(names) == 1 else "they have"
        why = f"{have} {words} ({reason})" if code else f'"{reason}"'
        where = f"{len(names)} of {count} nodes{inside}{which}" if count else f"node {names[0]}"
        text = f"Pod {task} may not go to {where}: {why}."
        if code == "revocable_zone":
            text += f" It is {moment_text(seen.ssn.now)[-5:]} UTC in this cycle."
        pod = seen.tasks[task].pod
        if KUBERNETES.search(reason):
            text += " Kubernetes sets this taint for as long as the node is in that state."
        elif code == "taint":
            text += near_tolerations(pod, [seen.ssn.nodes[name].node for name in names])
        if code == "node_affinity":  # a node that another rule refuses may have them
            text += missing_labels(pod, [node.node for node in seen.ssn.nodes.values()])
        if code == "volume_node":
            text += reach_of(seen, task)
        if code == "host_ports":
            ports = sorted({port for *_, port in PodInfo(pod).host_ports})
            text += f" It asks for host port {listed(map(str, ports), MOST)}."
        numbers = {"nodes": len(names), "of": count, "reason": reason, "names": names}
        if code == "pods_exceeded":
            text += "".join(_slots(seen, name, choice) for name in names[:MOST])
        if code in BESIDE:
            there = _beside(seen, task, code, names, choice)
            numbers["stranded"] = _stranded(seen, task, there)
            one = "is" if len(there) == 1 else "are"
            text += f" In the way {one} {listed(there.values(), MOST)}." if there else ""
        yield Cause(code or "refused", text, numbers, [choice])


def _slots(seen: Evidence, name: str, choice: Record) -> str:
    """How many pods a node has at that moment, and may have."""
    node, state = seen.ssn.nodes[name], seen.state_at(choice)["tasks"].values()
    own = sum(now["node"] == name and now["status"] not in GONE for now in state)
    others = sum(task.job not in seen.ssn.jobs for task in node.tasks.values())
    return (f" {name} has {own} pods of Volcano's jobs and {others} others, and may have "
            f"{amount_text('pods', node.allocatable.get('pods'))}.")


def _stranded(seen: Evidence, key: str, pods: Iterable[str]) -> list[str]:
    """The other jobs of some pods that hold places and are short of their minimum."""
    jobs = dict.fromkeys(seen.tasks[pod].job for pod in pods)
    return [uid for uid in jobs if uid != seen.tasks[key].job
            and seen.ssn.jobs[uid].ready_task_num() < seen.ssn.jobs[uid].min_available]


def _beside(seen: Evidence, key: str, code: str, names: list[str],
            choice: Record) -> dict[str, str]:
    """The pods in whose company this one must not be, at that moment, and where they are."""
    state, start = seen.state_at(choice)["tasks"], seen.trace.start["tasks"]
    mine = PodInfo(seen.tasks[key].pod)
    there: dict[str, str] = {}
    for other, now in state.items():
        if now["node"] not in seen.ssn.nodes or other == key or now["status"] in GONE:
            continue
        theirs = PodInfo(seen.tasks[other].pod)
        if (now["node"] in names and conflict(mine.host_ports, theirs.host_ports)
                if code == "host_ports" else
                _apart(seen, mine, theirs, now["node"], names)
                or _apart(seen, theirs, mine, now["node"], names)):
            new = "" if start[other]["node"] else ", placed in this cycle"
            there[other] = f"{other} ({now['node']}{new})"
    return there


def _apart(seen: Evidence, left: PodInfo, right: PodInfo, node: str, names: list[str]) -> bool:
    """Whether one pod requires to be away from another that is on a node, on one of these nodes."""
    def place(name: str, key: str) -> str | None:
        return seen.ssn.nodes[name].node.metadata.labels.get(key)

    return any(term.matches(right.namespace, right.labels, {})
               and any(place(name, term.topology_key) == place(node, term.topology_key) is not None
                       for name in names) for term in left.required_anti_affinity)


def _short(seen: Evidence, task: TaskInfo, choice: Record, allowed: list[str],
           count: int, inside: str) -> Cause:
    """What the nodes that no rule refuses have left, and of which resource that is too little."""
    request: Amounts = seen.trace.start["tasks"][task.key]["request"]
    left = seen.free(choice, request)
    free = {name: left[name] for name in allowed}
    lacking = {name: [each for each, amount in request.items()
                      if amount - amounts[each] >= MIN_RESOURCE] for name, amounts in free.items()}
    fits = [name for name, short in lacking.items() if not short]
    if fits:
        text = (f"Pod {task.key} was not tried on {listed(fits, MOST)}: another pod of its role "
                "had found no room there before, in the same attempt.")
        return Cause("role_failed", text, {"nodes": fits}, [choice])
    everywhere, anywhere = ([each for each in request if how(
        each in short for short in lacking.values())] for how in (all, any))
    names = everywhere or anywhere
    total = {each: sum(max(amounts[each], 0.0) for amounts in free.values()) for each in names}
    most = {each: max(max(amounts[each], 0.0) for name, amounts in free.items()
                      if each in lacking[name]) for each in names}
    numbers = {"request": part(request, names), "free_in_total": total, "free_on_one_node": most,
               "nodes": len(allowed)}
    full = [each for each in everywhere if total[each] < request[each]]
    asks = f"Pod {task.key} asks for {amounts_text(request, full or names)}"
    largest = _largest(seen, request, allowed, everywhere)
    ending = ("" if largest else seen.own(task.job, choice)) + seen.not_announced(largest)
    some, one = len(allowed) < count, len(allowed) == 1
    left_to_it = (f"of {count} nodes{inside} {len(allowed)} {'is' if one else 'are'} left to it, "
                  "and ")
    if some:
        numbers["allowed"] = allowed
    if any(largest.values()):
        code, numbers["largest"] = "larger_than_any_node", largest
        none = f"{left_to_it}none of these is" if some else f"no node{inside} is"
        text = (f"Pod {task.key} asks for {amounts_text(request, largest)}; {none} that large, "
                f"even empty: the largest has {amounts_text(largest)}")
    elif some:
        told = anywhere if len(allowed) <= MOST else names
        code = "allowed_nodes_full" if full or one else "fragmented"
        text = (f"Pod {task.key} asks for {amounts_text(request, told)}; {left_to_it}"
                f"{_one_by_one(free, lacking, most, everywhere)}")
    elif full:
        code = "cluster_full"
        have = f"{allowed[0]}, the only node{inside}, has" if one else (
            f"all {count} nodes{inside} together have")
        text = f"{asks}; {have} {amounts_text(total, full)} left"
    else:
        code = "fragmented"
        text = (f"{asks}; the nodes{inside} have {amounts_text(total)} left in total, but no "
                f"single one has room for it: {_one_by_one(free, lacking, most, everywhere, 0)}")
    return Cause(code, f"{text}.{seen.at_first(task, largest or names)}{ending}", numbers, [choice])


def _one_by_one(free: dict[str, Amounts], lacking: dict[str, list[str]], most: Amounts,
                everywhere: list[str], few: int = MOST) -> str:
    if len(free) <= few or (len(free) <= MOST and not everywhere):
        return ", ".join(f"{name} has {amounts_text(amounts, lacking[name])} left"
                         for name, amounts in free.items())
    if everywhere:
        return f"the most that one of them has left is {amounts_text(most, everywhere)}"
    return " and ".join(
        f"{sum(each in short for short in lacking.values())} have too little {each} "
        f"(at most {amount_text(each, amount)} left)" for each, amount in most.items())


def _largest(seen: Evidence, request: Amounts, allowed: list[str], names: list[str]) -> Amounts:
    """What the largest node has of each resource of which even an empty node has too little."""
    nodes = seen.trace.start["nodes"]
    largest = {each: max(nodes[name]["allocatable"].get(each, 0.0) for name in allowed)
               for each in names}
    return {each: most for each, most in largest.items() if request[each] - most >= MIN_RESOURCE}
