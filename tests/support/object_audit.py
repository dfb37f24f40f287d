"""Compare what a session knows of jobs, tasks, nodes and queues with their objects, read again by
rules of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from volcano_lab.api.job import JobInfo
from volcano_lab.api.objects import Container, Pod
from volcano_lab.api.resource import CPU, MEMORY, PODS, Resource
from volcano_lab.api.status import (
    ALLOCATED_STATUSES,
    BINDING,
    PENDING,
    PIPELINED,
    READY_STATUSES,
    RELEASING,
)
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.session import Session

QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([numkKMGTPE]?i?))")
FACTORS = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
           "k": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4, "P": 1000**5, "E": 1000**6,
           **{f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}}
VOLUMES = "attachable-volumes-"
Amounts = Counter[str]


def object_problems(ssn: Session) -> Iterator[str]:
    """A sentence for each fact that is not what the objects say, when a session opens."""
    for job in ssn.jobs.values():
        yield from _different(f"job {job.uid}", job, _of_job(ssn, job))
        yield from counts_problems(job)
        for task in job.tasks.values():
            yield from _different(f"task {task.key}", task, _of_task(task))
            yield from _unequal(f"task {task.key} requests", task.resreq, requested(task.pod))
    for node in ssn.node_list:
        meta, offered = node.node.metadata, amounts(node.node.status.allocatable)
        yield from _unequal(f"node {node.name} offers", node.allocatable, offered)
        yield from _different(f"node {node.name}", node, {
            "labels": meta.labels, "name": meta.name,
            "revocable_zone": meta.labels.get("volcano.sh/revocable-zone", "")})
    yield from _hyper_node_problems(ssn)
    for name, queue in ssn.queues.items():
        spec, meta = queue.queue.spec, queue.queue.metadata
        yield from _different(f"queue {name}", queue, {
            "name": meta.name, "uid": meta.name, "weight": spec.weight or 0,
            "reclaimable": spec.reclaimable in (None, True),
            "is_open": queue.queue.status.state == "Open",
            "hierarchy": meta.annotations.get("volcano.sh/hierarchy", ""),
            "weights": meta.annotations.get("volcano.sh/hierarchy-weights", "")})


def _hyper_node_problems(ssn: Session) -> Iterator[str]:
    """HyperNodes have the nodes that their members name, of those that there are."""
    labels = {node.name: node.labels for node in ssn.node_list}
    objects = {obj.name: obj.spec for obj in ssn.cache.hyper_nodes.objects()}

    def below(name: str) -> set[str]:
        found: set[str] = set()
        for member in objects[name].members if name in objects else ():
            by = member.selector
            if member.type == "HyperNode":
                found |= below(by.exact_match.name)
            elif by.exact_match:
                found |= {by.exact_match.name} & labels.keys()
            elif by.regex_match:
                found |= {each for each in labels if re.search(by.regex_match.pattern, each)}
            else:
                wanted = by.label_match.match_labels.items()
                found |= {each for each, mine in labels.items() if wanted <= mine.items()}
        return found

    for name, spec in objects.items() if ssn.topology.ready else ():
        nodes = {node.name for node in ssn.topology.nodes.get(name, ())}
        if nodes != below(name):
            yield f"HyperNode {name} has nodes {sorted(nodes)}, and should {sorted(below(name))}"
        tier = ssn.snapshot.hyper_nodes.hyper_nodes[name].tier
        if tier != spec.tier:
            yield f"HyperNode {name} is of tier {tier}, and should be of {spec.tier}"


def counts_problems(job: JobInfo) -> Iterator[str]:
    """What a job and its sub-groups count of their tasks, now."""
    for name, group in ((job.uid, job), *job.sub_jobs.items()):
        count = Counter(task.status for task in group.tasks.values())
        free = sum(task.best_effort and task.status == PENDING for task in group.tasks.values())
        ready = sum(count[status] for status in READY_STATUSES)
        waits, least = count[PIPELINED], group.min_available
        yield from (f"job {name}: {what} is {said}, and should be {mine}"
                    for what, said, mine in (
                        ("ready", group.ready_task_num(), ready),
                        ("pipelined", group.waiting_task_num(), waits),
                        ("allocated", group.allocated_task_num(),
                         sum(count[status] for status in ALLOCATED_STATUSES)),
                        ("is_ready", group.is_ready(), ready + free >= least),
                        ("is_pipelined", group.is_pipelined(), waits + ready + free >= least),
                        ("is_starving", group.is_starving(), waits + ready < least))
                    if said != mine)
    grouped = Counter(uid for sub_job in job.sub_jobs.values() for uid in sub_job.tasks)
    if job.tasks and (grouped.keys() != job.tasks.keys() or max(grouped.values()) > 1):
        yield f"job {job.uid} has {len(job.tasks)} tasks, its sub-groups have {grouped}"
    for policy in job.pod_group.spec.sub_group_policy:
        mine = {tuple(task.pod.metadata.labels.get(key) for key in policy.match_label_keys)
                for task in job.tasks.values()}
        found = [each for each in job.sub_jobs.values() if each.gid == f"{job.uid}/{policy.name}"]
        if len(found) != len(mine) or any(
                each.min_available != (policy.sub_group_size or 1) for each in found):
            yield f"job {job.uid} has sub-groups {found}, and should have {len(mine)}"


def _of_job(ssn: Session, job: JobInfo) -> dict[str, Any]:
    meta, spec = job.pod_group.metadata, job.pod_group.spec
    notes, classes = meta.annotations, ssn.cache.priority_classes
    usual = [each.value for each in classes.values() if each.global_default]
    named = classes.get(spec.priority_class_name)
    waiting = notes.get("volcano.sh/sla-waiting-time")
    return {"uid": f"{meta.namespace}/{meta.name}", "queue": spec.queue,
            "min_available": spec.min_member, "task_min_available": spec.min_task_member,
            "priority": named.value if named else max(usual, default=0),
            "creation_timestamp": meta.creation_timestamp,
            "waiting_time": float(waiting[:-1]) if waiting else None,
            "preemptable": notes.get("volcano.sh/preemptable") == "true",
            "min_available_budget": notes.get("volcano.sh/jdb-min-available", ""),
            "max_unavailable_budget": notes.get("volcano.sh/jdb-max-unavailable", "")}


def _of_task(task: TaskInfo) -> dict[str, Any]:
    """What a pod says; of its node and status only where nothing is on its way."""
    meta, spec = task.pod.metadata, task.pod.spec
    notes = meta.annotations
    facts = {"uid": meta.uid, "key": f"{meta.namespace}/{meta.name}",
             "job": f"{meta.namespace}/{notes['scheduling.k8s.io/group-name']}",
             "priority": int(notes.get("volcano.sh/task-priority", spec.priority or 0)),
             "task_role": notes.get("volcano.sh/task-spec", ""),
             "sch_gated": bool(spec.scheduling_gates),
             "creation_timestamp": meta.creation_timestamp,
             "preemptable": notes.get("volcano.sh/preemptable", "true") == "true",
             "best_effort": not +requested(task.pod),
             "revocable_zone": "*" if notes.get("volcano.sh/revocable-zone") == "*" else ""}
    if task.status not in (BINDING, RELEASING):
        facts["node_name"] = spec.node_name
    return facts


def requested(pod: Pod, least: Mapping[str, int] = MappingProxyType({}),
              there: bool | None = None) -> Amounts:
    """Return what a pod requests: its containers beside the sidecars, or more while it begins.

    Args:
        pod: The pod.
        least: What a container requests that does not say so.
        there: None by Volcano's rule, where init containers need no overhead. By Kubernetes' rule
            they do, and of a pod on a node the pod's own requests count.
    """
    def of(container: Container) -> Amounts:
        return Counter({**least, **amounts(container.resources.requests)})

    beside, most = Counter[str](), Counter[str]()
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            beside += of(container)
            most |= beside
        else:
            most |= beside + of(container)
    found, overhead = sum(map(of, pod.spec.containers), beside), amounts(pod.spec.overhead)
    if there is None:
        return (found + overhead) | most
    found |= most
    if there and pod.spec.resources:
        found = Counter({**found, **amounts(pod.spec.resources.requests)})
    return found + overhead


def amounts(listed: Mapping[str, str]) -> Amounts:
    """Return amounts in the units of `Resource`: bytes, pods, thousandths of all others."""
    found: Amounts = Counter()
    for name, text in listed.items():
        number, power, suffix = QUANTITY.fullmatch(text).groups()
        value = Fraction(number) * (Fraction(10) ** int(power) if power else FACTORS[suffix or ""])
        found[name] = -int(-value * (1 if name in (MEMORY, PODS) else 1000) // 1)
    return found


def _unequal(what: str, said: Resource, mine: Amounts) -> Iterator[str]:
    names = {*said.resource_names(), *mine, CPU} - {PODS}
    yield from (f"{what} {said.get(name)} of {name}, and should {mine[name]}"
                for name in sorted(names) if not name.startswith(VOLUMES)
                and abs(said.get(name) - mine[name]) >= 1)


def _different(what: str, subject: Any, facts: Mapping[str, Any]) -> Iterable[str]:
    return (f"{what} has {name} {getattr(subject, name)!r}, and should have {expected!r}"
            for name, expected in facts.items() if getattr(subject, name) != expected)
