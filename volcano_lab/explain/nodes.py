"""Why pods find no node: which nodes a rule refuses, and what the others have left.

A node is short of a resource only where no rule (taint, selector, affinity, zone, ...) refuses it;
each amount is that of one node at the moment when the pod was tried.

Volcano: none
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any

from volcano_lab.api import ATTACHABLE, MIN_RESOURCE, JobInfo, Resource, TaskInfo
from volcano_lab.explain import holders, requests, rules
from volcano_lab.explain.evidence import Evidence, requested, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, over, part
from volcano_lab.explain.rules import STATIC, lets_in, refused_now, rule_causes, rule_of
from volcano_lab.messages import Message, known
from volcano_lab.trace import Record, amounts, grouped

INSUFFICIENT, PODS = "Insufficient ", "Insufficient pods"
REQUIRED = ("node_affinity", "volume_node", "volume_zone")
"""Rules of labels that the author of a pod knows, or of its volume: which nodes these let in."""


def node_causes(seen: Evidence, job: JobInfo, free: bool = True) -> Iterator[Cause]:
    """Yield why pods of the job found no node in their last search; with `free` also what nodes
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
        let_in = [name for name in nodes if name not in objections]
        full: list[Cause] = []
        if free and "free" not in reported and INSUFFICIENT in record["errors"]:
            full = _full(seen, task, record, (nodes, let_in), inside)
            reported |= {"free"} if full else set()
            for cause in full[:1] if refused else ():
                cause.numbers |= _behind(seen, record, refused)
        yield from _in_order(refused, full, len(let_in))


def _in_order(refused: list[Cause], full: list[Cause], let_in: int) -> list[Cause]:
    """What concerns most nodes is first; `full` concerns those that are let in, or all, and says
    which these are where others are refused by one rule. That pods of the same attempt are
    elsewhere follows from the others.
    """
    refused = sorted(refused, key=_follows)
    most = max((cause.numbers["nodes"] for cause in refused
                if cause.code not in REQUIRED and not _follows(cause)), default=0)
    too_large = any("let_in" in cause.numbers for cause in full)
    code = ".".join(["let_in", *{cause.code for cause in refused}])
    for cause in full:
        facts = getattr(cause.sentences[0], "facts", {})
        if facts.get("allowed", 0) < facts.get("count", 0):
            cause.numbers["which"] = code if known(code) else "let_in"
    return [*full, *refused] if too_large or let_in >= most else [*refused, *full]


def _behind(seen: Evidence, choice: Record, refused: list[Cause]) -> dict[str, Message]:
    """How many nodes that rules refuse have enough left for a pod, and by which (`behind`)."""
    request = seen.trace.start["tasks"][choice["task"]]["request"]
    left = seen.free(choice, request)
    by = {name: f"refused_by.{cause.code}" for cause in refused for name in cause.numbers["names"]
          if known(f"refused_by.{cause.code}") and not missing(request, left[name])}
    return {"behind": Message("gap.behind", n=len(by), rules=[
        *map(Message, dict.fromkeys(by.values()))])} if by else {}


def _follows(cause: Cause) -> bool:
    """Whether a pod requires the company of pods that the same attempt has placed elsewhere."""
    return any(isinstance(said, Message) and said.code == "company" and {"pod.there_new"} == {
        getattr(each, "code", "") for each in said.facts["pods"]} for said in cause.sentences)


def _full(seen: Evidence, task: TaskInfo, choice: Record, nodes: tuple[list[str], list[str]],
          inside: list[Message]) -> list[Cause]:
    """What the nodes lack that no rule refuses, and who holds it: the smaller ones, where rules
    refuse all that are large enough; of a pod that is larger than each node all of them, whatever
    a rule refuses. `nodes` are (all, those that none refuses).
    """
    large = over(amounts(task.init_resreq), seen.largest_nodes)
    allowed, searched = nodes[not large], nodes[0]
    if not allowed and [each.code for each in inside] == ["inside.large"]:
        allowed, searched, inside = _smaller(seen, task, searched), seen.trace.nodes, []
    if not allowed:
        return []
    found = _short(seen, task, choice, allowed, len(searched), inside)
    if large:
        found.numbers["let_in"] = nodes[1]
        return [found]
    job = seen.ssn.jobs[task.job]
    return [found, *(holders.room_causes(seen, job, found) if found.code != "role_failed" else ())]


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
        after = Message("nodes.after", then=Message(f"nodes.after.{then}"), n=len(large),
                        count=len(seen.ssn.nodes))
        for cause in rule_causes(seen, task.key, said, (len(large), None), None):
            yield Cause(cause.code, [after, *cause.sentences], cause.numbers, [], True)


def searched_in(seen: Evidence, choice: Record) -> tuple[str, list[str]]:
    """Return (the HyperNode in which a search was, its nodes); "" and all nodes for one in all."""
    tried = "" if choice["nodes"] == len(seen.trace.nodes) else next((
        record["hyper_node"] for record in seen.of("hyper_node_tried", job=seen.tasks[
            choice["task"]].job) if record.number > choice.number), "")
    return tried, [node.name for node in seen.ssn.topology.nodes.get(tried, ())
                   ] or seen.trace.nodes


def _searched(seen: Evidence, task: TaskInfo, choice: Record) -> tuple[list[str], list[Message]]:
    """The nodes of a search, and which these are: those of a HyperNode, or all; of these only the
    ones that are large enough for the pod, or at least have the devices that it requests, where
    there are such.
    """
    tried, nodes = searched_in(seen, choice)
    inside = [Message("inside.hyper_node", hyper_node=tried)] if tried else []
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


def _smaller(seen: Evidence, task: TaskInfo, large: list[str]) -> list[str]:
    """The nodes beside large ones that no rule refuses and that have some of each resource."""
    request = seen.trace.start["tasks"][task.key]["request"]
    return [name for name in seen.trace.nodes if name not in large and all(
        map(seen.whole[name].get, filter(request.get, request))) and lets_in(seen, task, name)]


def _objections(seen: Evidence, task: TaskInfo, choice: Record, nodes: list[str]) -> dict[str, str]:
    """{node: a rule's reason against it}, also of nodes that are short of a resource besides."""
    refusing, errors = seen.refusing(choice), seen.ssn.jobs[task.job].nodes_fit_errors.get(task.uid)
    recorded = {name: each.reasons for name, each in errors.nodes.items()} if errors else {}
    found: dict[str, str] = {}
    unsaid: dict[str, str] = {}
    for name in nodes:
        reasons = recorded.get(name, [])
        if reasons and not reasons[0].startswith(INSUFFICIENT):
            found[name] = ", ".join(reasons)
        elif refusing is None:  # each call was recorded, and none of a node that is short
            reason = refused_now(seen, task, name)
            found |= {name: reason} if rule_of(reason)[0] in STATIC else {}
        elif name in refusing and PODS in reasons:
            found[name] = PODS
        elif name in refusing:
            unsaid[name] = refusing[name]
    found |= rules.refused_then(seen, task, unsaid, choice)
    return {name: found[name] for name in nodes if name in found}


def _short(seen: Evidence, task: TaskInfo, choice: Record, allowed: list[str],
           count: int, inside: list[Message]) -> Cause:
    """What the nodes that no rule refuses have left, and of which resources that is too little."""
    request: Amounts = seen.trace.start["tasks"][task.key]["request"]
    left = seen.free(choice, request)
    lacking = {name: missing(request, left[name]) for name in allowed}
    if fits := [name for name, short in lacking.items() if not short]:
        return Cause.of("role_failed", records=[choice], pod=task.key, nodes=fits)
    some = len(allowed) < count
    if not some:
        lacking, inside = requests.with_devices(request, lacking, inside)
        count = len(lacking)
    everywhere = requests.by_all(request, lacking)
    anywhere = sorted({*chain(*lacking.values())}, key=[*request].index)
    names = everywhere or anywhere
    total, most = _left_in_all(left, lacking, names)
    full = missing(part(request, everywhere), total)
    largest = _largest(seen, request, allowed, everywhere)
    numbers = {"request": part(request, names), "free_in_total": total, "free_on_one_node": most,
               "nodes": len(allowed), "allowed": allowed,
               **({"largest": largest} if any(largest.values()) else {}),  # else no node has any
               **nearest(seen, choice, part(request, names), left, lacking)}
    code, form = _kind(any(largest.values()), some, bool(full), len(allowed))
    listed = anywhere if some and len(allowed) <= rules.MOST else names
    said = Message(form, pod=task.key, inside=inside, count=count, allowed=len(allowed),
                   node=allowed[0], largest=largest, total=part(total, full or names),
                   request=part(request, largest or (full if code == "cluster_full" else listed)),
                   left=_one_by_one(left, lacking, most, everywhere, rules.MOST if some else 0))
    return Cause(code, [said, _of_all(seen, task, choice, left) if code == "cluster_full" else None,
                        *requests.at_first(seen, task, largest or names),
                        None if largest else seen.own(task.job, choice),
                        *_beside_daemons(seen, request, largest, allowed),
                        *requests.not_announced(seen, largest, task),
                        *requests.stranded(request, left, lacking),
                        *_hints(seen, task, code, names)], numbers, [choice])


def _hints(seen: Evidence, task: TaskInfo, code: str, names: list[str]) -> Iterator[Message | None]:
    """Yield what nodes do not announce; or else why devices are left in parts."""
    kept = [*withheld(seen, task, seen.ssn.nodes, names)]
    yield from kept
    if code == "fragmented" and not kept:
        yield requests.not_packed(seen, names)


def _of_all(seen: Evidence, task: TaskInfo, choice: Record, left: dict[str, Amounts]
            ) -> Message | None:
    """What the gang of a pod, or all that wait of its job, request, and what nodes have left."""
    job, own = seen.ssn.jobs[task.job], requested(seen.placed_just_before(task.job, choice))
    count, of = requests.rest_of(job)
    needed = part(amounts(requests.still_needed(job, count)), next(iter(left.values())))
    free = {name: sum(max(each[name], 0.0) for each in left.values()) + own.get(name, 0.0)
            for name in needed}
    short = over(needed, free)  # none where the largest pods are not those that lack something
    return Message(f"nodes.{of}", n=count, sum=part(needed, short), limit=free
                   ) if count > 1 and short else None


def _largest(seen: Evidence, request: Amounts, allowed: list[str], names: list[str]) -> Amounts:
    """The largest node's amount of each resource of which even an empty node has too little."""
    largest = {each: max(seen.whole[name].get(each, 0.0) for name in allowed) for each in names}
    return part(largest, missing(part(request, names), largest))


def _beside_daemons(seen: Evidence, request: Amounts, largest: Amounts, allowed: list[str]
                    ) -> Iterator[Message]:
    """Yield what pods of DaemonSets leave of a node that would be large enough without them."""
    for name, most in largest.items():
        if any(request[name] <= seen.ssn.nodes[node].allocatable.get(name) for node in allowed):
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
        alike = grouped((size[:2], size[2]) for size in less)
        for (whole, usable), names in [*alike.items()][:rules.MOST if device else 1]:
            yield Message("devices.withheld" if device else "node.kept", n=len(names), nodes=names,
                          capacity={each: whole}, usable={each: usable})


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


def nearest(seen: Evidence, choice: Record, request: Amounts, left: dict[str, Amounts],
            names: Collection[str]) -> dict[str, Any]:
    """Return the `best` of `n` nodes, by what they have left for a request, and what it `lacks`;
    of those that are level, one without pods of the same job.
    """
    job, there = seen.ssn.jobs[seen.tasks[choice["task"]].job], seen.state_at(choice)["tasks"]
    own = {there[task.key]["node"] for task in job.tasks.values()}
    short = {name: over(request, left[name]) for name in names}
    shares = {name: [amount / request[each] for each, amount in lacks.items()]
              for name, lacks in short.items()}
    best = min(short, key=lambda name: (
        max(shares[name], default=0.0), sum(shares[name]), name in own))
    return {"best": best, "lacks": short[best], "n": len(short)} if short[best] else {}


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
    if len(lacking) <= few or (len(lacking) <= rules.MOST and not everywhere):
        return Message("left.each", nodes=[
            Message("left.one", node=name, left=part(free[name], short))
            for name, short in lacking.items()])
    if everywhere:
        return Message("left.most", most=part(most, everywhere))
    return Message("left.too_little", parts=[
        Message("left.short", nodes=sum(each in short for short in lacking.values()),
                resource=each, most={each: amount}) for each, amount in most.items()])
