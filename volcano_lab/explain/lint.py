"""Fields that a cluster's author has set and that the scheduler never reads, and amounts that it
cannot give, as messages.

Volcano ignores such fields without a word (issue #5814 of volcano-sh/volcano): what a queue
deserves is read by the plugin capacity only, its weight by proportion only, a tree of queues by
whichever plugin has `enableHierarchy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from volcano_lab.api import ROOT_QUEUE, QueueInfo, Resource, total
from volcano_lab.api import objects as api
from volcano_lab.api.job import SLA_WAITING_TIME, SLA_WAITING_TIME_SHORT
from volcano_lab.api.node_usage import CPU_USAGE_ANNOTATION
from volcano_lab.api.queue import HIERARCHY_ANNOTATION
from volcano_lab.api.storage import CLAIM, Storage, attach_key, claims_of
from volcano_lab.api.task import COOLDOWN_TIME, REVOCABLE_ZONE
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import PluginOption
from volcano_lab.manifests import job_controller, pod_group_controller
from volcano_lab.messages import Message, meant
from volcano_lab.plugins.queue_tree import QueueTree
from volcano_lab.trace.names import owner_key as called

LIMITS = ("proportion", "capacity")
"""Who reads capability and guarantee."""
TOPOLOGY = "network-topology-aware"
TREES = ("capacity", "nodegroup")
"""Who follows `spec.parent`, with `enableHierarchy`."""
ANNOTATIONS = {**{f"volcano.sh/task-topology-{what}": "task-topology"  # not loaded for its names
                  for what in ("affinity", "anti-affinity", "task-order")},
               SLA_WAITING_TIME: "sla", SLA_WAITING_TIME_SHORT: "sla", COOLDOWN_TIME: "cdp",
               REVOCABLE_ZONE: "tdm", job_controller.NUMA_POLICY: "numa-aware"}
"""Annotations and labels of jobs and pods -> the plugin that alone reads them."""


def doubts(ssn: Session) -> list[str]:
    """Return what a configuration and its plugins say of themselves, fields that nothing reads, and
    amounts that cannot be had.
    """
    return [*ssn.conf.warnings, *ssn.warnings, *map(str, ignored_fields(ssn)),
            *(str(Message("sentence", what=what)) for _, what in contradictions(ssn))]


def ignored_fields(ssn: Session) -> list[Message]:
    """Return a notice of each field that has no effect under the session's configuration:
    its `place`, and `what` of it.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", deserved=2).run()
    >>> print(*ignored_fields(cycle.session))
    Queue a: spec.deserved has no effect: only the plugin capacity reads it, and the configuration
    does not name it.
    """
    options = {option.name: option for tier in ssn.conf.tiers for option in tier.plugins}
    queues = sorted(
        name for name in ssn.queues if name != ROOT_QUEUE)  # the root is made with each cluster
    found = [_about(Message("place.queue", name=name), what) for name in queues
             for what in _of(ssn.queues[name], options)]
    root = ssn.queues.get(ROOT_QUEUE)
    if root is not None and root.queue.spec.parent not in ("", ROOT_QUEUE):
        found.append(_about(Message("place.queue", name=ROOT_QUEUE), Message(
            "unread.root_parent", field="spec.parent", found=root.queue.spec.parent)))
    pods = [task.pod for job in ssn.jobs.values() for task in job.tasks.values()]
    if "usage" in options and not any(node.resource_usage.cpu for node in ssn.nodes.values()):
        found.append(_about(Message("place.plugin", name="usage"),
                            Message("unread.usage", field=CPU_USAGE_ANNOTATION)))
    return [*found, *_quotas(ssn, options), *_tier_names(ssn), *_annotations(ssn, options),
            *_queue_labels(ssn), *_queue_slips(ssn), *_shared_alone(ssn.snapshot.storage, pods)]


def _about(place: Message, what: Message) -> Message:
    return Message("notice", place=place, what=what)


def contradictions(ssn: Session) -> list[tuple[str, Message]]:
    """Return a rule and a message for each amount of a queue that the cluster, or the queue above
    it, cannot give.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", guarantee=6).run()
    >>> for rule, what in contradictions(cycle.session):
    ...     print(rule, what, sep="; ")
    guarantees-above-cluster; Queues are guaranteed cpu 6 in sum (a 6), and the cluster has cpu 4
    """
    tree = getattr(ssn.plugins.get("capacity"), "tree", None)
    parents = {queue.queue.spec.parent for queue in ssn.queues.values()}
    kept = {name: Resource.from_list(queue.queue.spec.guarantee.resource)
            for name, queue in ssn.queues.items() if name not in parents}
    found = [("two-shares", Message("two_shares"))] * ({*LIMITS} <= {*ssn.conf.plugin_names()})
    for name, amount in total(kept.values()):
        has = ssn.total_resource.get(name)
        if amount and amount > has:
            parts = [Message("guarantee", queue=queue, amount={name: each.get(name)})
                     for queue, each in kept.items() if each.get(name)]
            found.append(("guarantees-above-cluster", Message(
                "guarantees_above_cluster", sum={name: amount}, parts=parts, total={name: has})))
    found += [("queue-circle", Message("queue_circle", queues=" -> ".join([*circle, circle[0]])))
              for circle in _circles(tree)]
    found += [("driver-nowhere", Message("driver_unknown", claim=claim, driver=driver))
              for driver, claim in drivers_nowhere(ssn, (
                  task.pod for job in ssn.jobs.values() for task in job.tasks.values()
                  if not task.node_name)).items()]
    return found + [("tree", warning) for warning in getattr(tree, "warnings", ())]


def drivers_nowhere(ssn: Session, pods: Iterable[api.Pod]) -> dict[str, str]:
    """{a driver whose volumes pods claim and no node can have attached: the first such claim}."""
    storage, found = ssn.snapshot.storage, {}
    for pod in pods:
        counted = storage.attached(pod) if pod.spec.volumes else {}
        for name, _ in claims_of(pod) if counted else ():
            driver = storage.driver_of(storage.get(CLAIM, f"{pod.namespace}/{name}"))
            key = attach_key(driver)
            if key in counted and not ssn.total_resource.get(key):
                found.setdefault(driver, f"{pod.namespace}/{name}")
    return found


def _circles(tree: QueueTree | None) -> list[tuple[str, ...]]:
    """Queues that are one another's parents, each circle once, from its first name upwards."""
    found = set()
    for name, attr in tree.attrs.items() if tree is not None else ():
        if name in attr.ancestors:
            way = (name, *reversed(attr.ancestors[attr.ancestors.index(name) + 1:]))
            first = way.index(min(way))
            found.add(way[first:] + way[:first])
    return sorted(found)


def _quotas(ssn: Session, options: dict[str, PluginOption]) -> Iterator[Message]:
    """ResourceQuotas where no plugin reads them."""
    spaces = {job.namespace for job in ssn.jobs.values()}
    for space in sorted(spaces) if "resourcequota" not in options else ():
        for quota in ssn.snapshot.resource_quotas.get(space, ()):
            yield _about(Message("place.object", kind="ResourceQuota", name=quota.key),
                         Message("unread.scheduler", field="spec.hard", plugin="resourcequota"))


def _annotations(ssn: Session, options: dict[str, PluginOption]) -> Iterator[Message]:
    """Annotations and labels of jobs and pods that a plugin would read, and topologies."""
    unread = {key: plugin for key, plugin in ANNOTATIONS.items() if plugin not in options}
    who: dict[str, list[str]] = {}
    for job in ssn.jobs.values():
        written = set().union(*([*each.metadata.annotations, *each.metadata.labels] for each in (
            job.pod_group, *(task.pod for task in job.tasks.values()))))
        for key in unread.keys() & written:
            who.setdefault(key, []).append(called(job))
    for key, jobs in sorted(who.items()):
        yield _about(_jobs(jobs), Message("unread.annotation", field=key, plugin=unread[key]))
    close = [called(job) for job in ssn.jobs.values() if TOPOLOGY not in options and any(
        part.network_topology is not None for part in (
            job.pod_group.spec, *job.pod_group.spec.sub_group_policy))]
    if close:
        yield _about(_jobs(close), _only("spec.networkTopology", TOPOLOGY))


def _jobs(names: list[str]) -> Message:
    return Message("place.job", n=len(names), names=names)


def _queue_labels(ssn: Session) -> Iterator[Message]:
    """Labels of pods that look as if they named their queue: their controller reads another."""
    for job in ssn.jobs.values():
        for task in list(job.tasks.values())[:1] * job.pod_group.name.startswith("podgroup-"):
            meta, read = task.pod.metadata, pod_group_controller.QUEUE_NAME
            name = next((labels[key] for labels in (meta.labels, meta.annotations)
                         for key in (job_controller.QUEUE_NAME, read) if key in labels), job.queue)
            if name != job.queue:
                yield _about(_jobs([called(job)]), Message("unread.queue_label", found=name,
                                                           allowed=read))


def _tier_names(ssn: Session) -> Iterator[Message]:
    """Topologies that name their highest tier where v1.14.0 does not read the name."""
    tiers = ssn.topology.tier_by_name
    for uid, job in ssn.jobs.items():
        own = job.pod_group.spec.network_topology
        if own is not None and own.highest_tier_name and own.highest_tier_name not in tiers:
            yield _about(_jobs([called(job)]), Message(
                "unread.tier_name" if tiers else "unread.tier_name.none", field="highestTierName",
                found=own.highest_tier_name, allowed=[*tiers]))
        named = {sub.network_topology.highest_tier_name for sub in job.sub_jobs.values()
                 if sub.uid != uid and sub.network_topology is not None
                 and sub.network_topology.highest_tier_allowed is None}
        for name in sorted(filter(None, named)):
            use = Message("unread.tier" if name in tiers else "unread.tier_number",
                          tier=tiers.get(name))
            yield _about(_jobs([called(job)]), Message(
                "unread.partition_tier", field="highestTierName", found=name, allowed=use))


def _queue_slips(ssn: Session) -> Iterator[Message]:
    """Resources of queues that no pod can ask for, or that are nearly called as one that is there.
    """
    there = [name for name, amount in ssn.total_resource if amount]
    for name, queue in sorted(ssn.queues.items()):
        spec = queue.queue.spec
        for field, amounts in (("capability", spec.capability), ("deserved", spec.deserved),
                               ("guarantee", spec.guarantee.resource)):
            for resource in amounts or {}:
                close = meant(resource, there) or next(
                    (each for each in there if each.endswith(f"/{resource}")), "")
                if resource not in there and close:
                    yield _about(Message("place.queue", name=name), Message(
                        "unread.resource", field=f"spec.{field}", found=resource, allowed=close))


def _of(queue: QueueInfo, options: dict[str, PluginOption]) -> Iterator[Message]:
    spec = queue.queue.spec
    if spec.deserved and "capacity" not in options:
        yield _only("spec.deserved", "capacity")
    if "capacity" in options and "proportion" not in options and spec.weight != 1:
        yield _only("spec.weight", "proportion")
    if not any(name in options for name in LIMITS):
        for field, amount in (("capability", spec.capability), ("guarantee",
                                                                spec.guarantee.resource)):
            if amount:
                yield Message("unread.limits", field=f"spec.{field}")
    if spec.parent not in ("",
                           ROOT_QUEUE) and not any(_has_hierarchy(options, name) for name in TREES):
        yield Message("unread.parent", field="spec.parent")
    if spec.affinity is not None and "nodegroup" not in options:
        yield _only("spec.affinity", "nodegroup")
    if queue.hierarchy and not _has_hierarchy(options, "drf"):
        yield Message("unread.hierarchy", field=HIERARCHY_ANNOTATION)


def _only(field: str, plugin: str) -> Message:
    return Message("unread.only", field=field, plugin=plugin)


def _has_hierarchy(options: dict[str, PluginOption], plugin: str) -> bool:
    return plugin in options and bool(options[plugin].enables("enableHierarchy"))


def _shared_alone(storage: Storage, pods: list[api.Pod]) -> Iterator[Message]:
    """A message about each claim that one pod alone may use and that several name."""
    for claim in storage.all(CLAIM):
        users = [pod.key for pod in pods if pod.namespace == claim.namespace
                 and any(name == claim.name for name, _ in claims_of(pod))]
        if "ReadWriteOncePod" in claim.spec.access_modes and len(users) > 1:
            yield _about(Message("place.object", kind=CLAIM, name=claim.key), Message(
                "unread.one_pod", found="ReadWriteOncePod", pods=len(users)))
