"""A smaller request, or more nodes: what a job lacks by the sums of its causes, and what would be
enough.

Volcano: none
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from math import ceil
from typing import Any

from volcano_lab.api import ATTACHABLE, JobInfo, Resource, TaskInfo, quantity_text
from volcano_lab.changes.job_fields import requests_of
from volcano_lab.explain import owners, requests, required, values, volumes
from volcano_lab.explain.evidence import largest_of, of_daemons, requested, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, in_quantity, over
from volcano_lab.explain.options import ENDED, Option, Rank, World, once, setting, several, text_of
from volcano_lab.framework import Session
from volcano_lab.manifests import cards
from volcano_lab.manifests.field_defaults import HOSTNAME
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.trace import amounts

FULL = ("cluster_full", "fragmented", "allowed_nodes_full", "larger_than_any_node")
DEVICES = 8000
"""As many thousandths of a device as a node has that is to be bought."""


def less_or_more(world: World, ssn: Session, job: JobInfo, causes: list[Cause]) -> Iterator[Option]:
    """A smaller request, or more nodes: what always is left to do."""
    waiting = _refused([task for task in unplaced(job) if not task.sch_gated], causes)
    if job.tasks and not waiting:
        return
    largest = largest_of(task.init_resreq for task in waiting) if waiting else requests.member(job)
    members = max(min(job.min_available, len(waiting) or job.min_available), 1)
    lacking, gang, allowed = _lacking(ssn, causes, largest, members)
    most = largest_of(node.allocatable for node in ssn.nodes.values())
    meant = _slips(world, ssn, job, largest, most)
    yield from chain.from_iterable(meant.values())
    yield from _without(world, job, largest, {*most, *meant})
    fewer = members if any("asked" in cause.numbers or cause.code == "gang_short"
                           for cause in causes) else 1
    for name in resources(causes) or _short(ssn, largest, members):
        if name in largest and name not in meant and name != "pods":
            yield from _smaller(world, job, name, lacking.get(name, 0.0), largest[name], fewer)
    yield from chain(_together(world, job.uid, causes), _repaired(world, ssn, largest),
                     _of_the_vendor(world, job.uid, largest, most))
    if not meant and _likely(largest, most):
        wanted = _wanted(ssn, causes, lacking, gang)
        devices = _devices(world.nodes_called(allowed), ssn, causes, largest, members)
        labels = _labels(world, ssn, job)
        for each in (labels, labels | _domain(world, job, causes)):
            yield from values.nodes(world, largest, wanted, allowed, devices, each)


def _short(ssn: Session, largest: Amounts, members: int) -> list[str]:
    """The resources of which some node has not enough left for so many pods."""
    return [name for name, amount in largest.items() if min(
        (node.idle.get(name) for node in ssn.nodes.values()), default=0.0) < amount * members]


def _refused(waiting: list[TaskInfo], causes: list[Cause]) -> list[TaskInfo]:
    """Those of some pods that are as large as one that found no node; all, where none is named."""
    records = [record for cause in causes if cause.code in FULL for record in cause.records]
    keys = {record.get("task") for record in records}
    sizes = [task.init_resreq for task in waiting if task.key in keys]
    return [task for task in waiting if task.init_resreq in sizes] or waiting


def _likely(largest: Amounts, most: Amounts) -> bool:
    """Whether nodes of the size that a pod needs are likely, as the largest one is at most
    `BEYOND` times smaller.
    """
    return bool(most) and all(largest.get(name, 0.0) <= requests.BEYOND * amount
                              for name, amount in most.items() if amount)


def _wanted(ssn: Session, causes: list[Cause], lacking: Amounts, gang: Amounts) -> Amounts:
    """What new nodes have to bring: overcommit counts each of theirs more than once."""
    refused = any(cause.code == "overcommit_refuses" for cause in causes)
    overcommit: Any = ssn.plugins.get("overcommit")
    factor = overcommit.factor if refused else 1.0
    return {name: float(ceil(max(amount / factor, gang.get(name, 0.0))))
            for name, amount in lacking.items()}


def _slips(world: World, ssn: Session, job: JobInfo, largest: Amounts, most: Amounts
           ) -> dict[str, list[Option]]:
    """The requested resources that no node announces and whose name, or of which the unit, may be
    a slip -> what may be meant.
    """
    close = {name: requests.announced(name, [each for each in most if each not in largest])
             for name in largest if name not in most}
    found = {name: [*_renamed(world, job.uid, name, near)] for name, near in close.items() if near}
    if any("/" in name and name in most for name in largest):
        found |= {name: [_whole_device(world, ssn, job.uid, name, largest[name])]
                  for name in close if requests.PART.search(name)}
    if requests.in_milli(largest.get("cpu", 0.0), most.get("cpu", 0.0)):
        found["cpu"] = [once(setting(world.job(job.uid), "requests", "cpu", to=quantity_text(
            "cpu", largest["cpu"] / 1000) + "m"), rank=Rank.JOB)]
    return found


def _whole_device(world: World, ssn: Session, uid: str, name: str, amount: float) -> Option:
    """Without a part of a device that no node announces: as much of its memory, if it is known."""
    part, memory = in_quantity(name, amount), cards.largest(ssn.nodes.values())[0]
    texts = [setting(world.job(uid), "requests", each, to=to) for each, to in (
        (name, None), (cards.MEMORY, int(part * memory / cards.WHOLE)))]
    known = name == cards.PERCENT and part < cards.WHOLE and memory
    return once(*texts[:2 if known else 1], rank=Rank.JOB)


def _without(world: World, job: JobInfo, asked: Iterable[str], there: set[str]) -> Iterator[Option]:
    """Without the requested resources that no node announces, where the pods also request the one
    of those `there` that has the nearest name; last, where they request any other device.
    """
    absent = [name for name in asked if name not in there]
    for rank, names in ((Rank.JOB, [name for name in absent if requests.announced(name, there)]), (
            Rank.LESS, absent if any("/" in name and name in there for name in asked) else [])):
        yield once(*(setting(world.job(job.uid), "requests", name, to=None) for name in names),
                   rank=rank)


def _devices(names: Iterable[str], ssn: Session, causes: list[Cause], largest: Amounts,
             members: int) -> Amounts:
    """What a new node has to have besides a like one's: of each resource of which even an empty
    node has too little, also what its DaemonSets request; of one that no node announces, what the
    pods request that it is large enough for.
    """
    node = max([ssn.nodes[name] for name in names if name in ssn.nodes] or ssn.nodes.values(),
               key=lambda each: each.allocatable.milli_cpu)
    there, agents = largest_of(each.allocatable for each in ssn.nodes.values()), of_daemons(node)
    small = [name for cause in causes for name in cause.numbers.get("largest", {})]
    left = added(amounts(node.allocatable), agents, -1)
    fit = min((left[name] // amount for name, amount in largest.items() if amount and name in left
               ), default=members)
    unknown = {name: amount * max(min(DEVICES // amount, members, fit), 1)
               for name, amount in largest.items() if name not in there and amount
               and not name.startswith(ATTACHABLE)}  # a CSINode offers these
    return {name: largest[name] + agents.get(name, 0.0) for name in small} | unknown


def _labels(world: World, ssn: Session, job: JobInfo) -> dict[str, str]:
    """The labels that a new node has to have as the pods, or volumes of these, select them and no
    node has them: a pool that has no node. None where others may be meant.
    """
    for pod in world.waiting(job.uid)[:1]:
        wanted, nodes = next(required.labels_for(pod, {})), world.nodes.values()
        wanted |= {each.key: each.values[0]
                   for _, selected in volumes.requires(ssn.snapshot.storage, pod) if selected
                   for each in selected.node_selector_terms[0].match_expressions if each.values}
        known = any(wanted.items() <= node.metadata.labels.items() for node in nodes)
        labels = required.values_by_label(nodes)
        meant = any(required.slips_of("", pod, labels))
        if not (known or meant or any(map(volumes.names_node, wanted))):
            return wanted
    return {}


def _domain(world: World, job: JobInfo, causes: list[Cause]) -> dict[str, str]:
    """The labels of a node in domains, such as a zone, that no node is in, where pods in those that
    are there keep a pod off: each node in its own ("#"), where they keep off any other one.
    """
    keys = {key for pod in world.waiting(job.uid)[:1] for key in (
        *(term.topology_key for term in PodInfo(pod).required_anti_affinity),
        *(spread.topology_key for spread in pod.spec.topology_spread_constraints))}
    value = {"topology_spread": "new", "anti_affinity": "new-#"}
    found = [value[cause.code] for cause in causes if cause.code in value]
    return dict.fromkeys(sorted(keys - {HOSTNAME}) if found else (), max(found, default=""))


def _lacking(ssn: Session, causes: list[Cause], largest: Amounts, members: int
             ) -> tuple[Amounts, Amounts, Iterable[str]]:
    """What is missing by the causes' sums, what for the whole gang, and the nodes that may help."""
    lacking: Amounts = {}
    gang: Amounts = {}
    allowed: Iterable[str] = ssn.nodes
    for cause in causes:
        for name, amount in missing(cause.numbers).items():
            lacking[name] = max(amount, lacking.get(name, 0.0))
            if cause.numbers.get("whole"):  # all the cluster has, of which the gang needs more
                gang[name] = amount + (members - 1) * cause.numbers["each"][name]
        if cause.code in FULL:
            for name, amount in cause.numbers["free_on_one_node"].items():
                lacking[name] = max(largest.get(name, 0.0) - amount, lacking.get(name, 0.0))
                gang[name] = members * largest.get(name, 0.0) - cause.numbers["free_in_total"][name]
            allowed = cause.numbers.get("let_in", cause.numbers.get("allowed", allowed))
    return lacking, gang, allowed


def _smaller(world: World, job: JobInfo, name: str, less: float, largest: float, members: int
             ) -> Iterator[Option]:
    """Less of one resource: what a PodGroup reserves beyond its pods, unless more pods are to come;
    else what its pods ask for.
    """
    if job.is_pending() and unplaced(job) and name in owners.beyond_pods(job):
        least = world.groups[job.uid].spec.min_resources or {}
        text = text_of(name, in_quantity(name, requested(job.tasks.values()).get(name, 0.0)),
                       least.get(name, ""))
        yield from [] if owners.grows(job) else [once(setting(
            world.job(job.uid), "minResources", name, to=text), rank=Rank.HARMLESS)]
    else:
        yield from values.request(world, job.uid, name, largest - less / members)


def _repaired(world: World, ssn: Session, asked: Amounts) -> Iterator[Option]:
    """That nodes which would have enough left of a device announce all of them again: any of a few,
    or as many as it takes.
    """
    texts = [setting(f"node/{name}", "allocatable", each, to=whole)
             for name, node in world.nodes.items() if name in ssn.nodes
             for each, amount in asked.items() if "/" in each
             for whole in [node.status.capacity.get(each, "0")]
             for lost in [Resource.from_list({each: whole}).get(each)
                          - ssn.nodes[name].allocatable.get(each)]
             if lost > 0 and ssn.nodes[name].idle.get(each) + lost >= amount]
    yield from [once(text, kind="repair") for text in texts if len(texts) <= ENDED]
    yield several(texts)


def _of_the_vendor(world: World, uid: str, asked: Collection[str], there: Iterable[str]
                   ) -> Iterator[Option]:
    """Other devices of a vendor that nodes announce instead of those that are requested."""
    others = [name for name in there if name not in asked]
    for name, close in ((name, requests.announced(name, others)) for name in asked if "/" in name):
        if any(close in node.status.allocatable and name not in node.status.allocatable
               for node in world.nodes.values()):
            yield from _renamed(world, uid, name, close, Rank.LESS)


def _together(world: World, uid: str, causes: list[Cause]) -> Iterator[Option]:
    """Less at once of all resources of which no node has enough."""
    for cause in causes:
        if cause.code in FULL:
            yield from values.requests(world, uid, cause.numbers["free_on_one_node"])


def resources(causes: Iterable[Cause]) -> list[str]:
    """Return the resources that causes name."""
    return list(dict.fromkeys(name for cause in causes if not cause.context
                              for key in ("short_of", "request")
                              for name in cause.numbers.get(key, ()) if name != "pods"))


def missing(numbers: dict[str, Any]) -> Amounts:
    """By how much each amount is over its limit, or what there is."""
    limit = next((numbers[name] for name in ("limit", "there", "largest") if name in numbers), None)
    return {} if limit is None else over(numbers.get("asked", {}), limit)


def _renamed(world: World, uid: str, resource: str, close: str, rank: int = Rank.JOB
             ) -> Iterator[Option]:
    """That the job's pods ask for a resource by the name that nodes announce."""
    texts = requests_of(world.waiting(uid), resource)
    if texts:
        yield once(setting(world.job(uid), "requests", resource, to=None),
                   setting(world.job(uid), "requests", close, to=texts[0]), rank=rank)
