"""Fields that a cluster's author has set and that the scheduler never reads, and amounts that it
cannot give, in sentences.

Volcano ignores such fields without a word (issue #5814 of volcano-sh/volcano): what a queue
deserves is read by the plugin capacity only, its weight by proportion only, a tree of queues by
whichever plugin has `enableHierarchy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from volcano_lab.api import ROOT_QUEUE, QueueInfo, Resource, amount_text, total
from volcano_lab.api import objects as api
from volcano_lab.api.job import SLA_WAITING_TIME, SLA_WAITING_TIME_SHORT
from volcano_lab.api.node_usage import CPU_USAGE_ANNOTATION
from volcano_lab.api.queue import HIERARCHY_ANNOTATION
from volcano_lab.api.storage import CLAIM, Storage, attach_key, claims_of
from volcano_lab.api.task import COOLDOWN_TIME, REVOCABLE_ZONE
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import PluginOption
from volcano_lab.manifests import job_controller, pod_group_controller
from volcano_lab.messages import listed, meant
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
    return [*ssn.conf.warnings, *ssn.warnings, *ignored_fields(ssn),
            *(sentence for _, sentence in contradictions(ssn))]


def ignored_fields(ssn: Session) -> list[str]:
    """A sentence for each field that has no effect under the session's configuration.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", deserved=2).run()
    >>> ignored_fields(cycle.session)
    ['Queue a: spec.deserved has no effect: only the plugin capacity reads it, and the
    configuration does not name it.']
    """
    options = {option.name: option for tier in ssn.conf.tiers for option in tier.plugins}
    queues = sorted(
        name for name in ssn.queues if name != ROOT_QUEUE)  # the root is made with each cluster
    found = [f"Queue {name}: {sentence}" for name in queues
             for sentence in _of(ssn.queues[name], options)]
    root = ssn.queues.get(ROOT_QUEUE)
    if root is not None and root.queue.spec.parent not in ("", ROOT_QUEUE):
        found.append(f'Queue {ROOT_QUEUE}: spec.parent is "{root.queue.spec.parent}" and has no '
                     "effect: allowed is none, the root is above all other queues.")
    pods = [task.pod for job in ssn.jobs.values() for task in job.tasks.values()]
    if "usage" in options and not any(node.resource_usage.cpu for node in ssn.nodes.values()):
        found.append("Plugin usage: it refuses no node and prefers none, as no node's usage is "
                     f"known (the lab reads the annotation {CPU_USAGE_ANNOTATION}).")
    return [*found, *_quotas(ssn, options), *_tier_names(ssn), *_annotations(ssn, options),
            *_queue_labels(ssn), *_queue_slips(ssn), *_shared_alone(ssn.snapshot.storage, pods)]


def contradictions(ssn: Session) -> list[tuple[str, str]]:
    """A rule and a sentence for each amount of a queue that the cluster, or the queue above it,
    cannot give.

    >>> from volcano_lab.cluster import Cluster
    >>> contradictions(Cluster().node("n1", cpu=4).queue("a", guarantee=6).run().session)
    [('guarantees-above-cluster',
      'Queues are guaranteed cpu 6 in sum (a 6), and the cluster has cpu 4.')]
    """
    tree = getattr(ssn.plugins.get("capacity"), "tree", None)
    parents = {queue.queue.spec.parent for queue in ssn.queues.values()}
    kept = {name: Resource.from_list(queue.queue.spec.guarantee.resource)
            for name, queue in ssn.queues.items() if name not in parents}
    found = [("two-shares", "The plugins proportion and capacity both say what queues deserve, and "
              "contradict each other: name one of them.")] * (
                  {*LIMITS} <= {*ssn.conf.plugin_names()})
    for name, amount in total(kept.values()):
        if amount and amount > ssn.total_resource.get(name):
            who = ", ".join(f"{queue} {amount_text(name, each.get(name))}"
                            for queue, each in kept.items() if each.get(name))
            has = amount_text(name, ssn.total_resource.get(name))
            found.append(("guarantees-above-cluster", f"Queues are guaranteed {name} "
                          f"{amount_text(name, amount)} in sum ({who}), and the cluster has "
                          f"{name} {has}."))
    found += [("queue-circle", f"Queues stand below each other in a circle "
               f"({' below '.join([*circle, circle[0]])}), so that they and all below them hang on "
               "nothing and may hold nothing: give one of them another spec.parent.")
              for circle in _circles(tree)]
    found += [("driver-nowhere", f"PersistentVolumeClaim {claim} counts as a volume of the driver "
               f"{driver}, and no node has a CSINode that offers any: Volcano places no pod with "
               "this claim. Install the driver, or start Volcano's scheduler with "
               f"--ignored-provisioners={driver} (ignored-provisioners in the lab's "
               "configuration).")
              for driver, claim in drivers_nowhere(ssn, (
                  task.pod for job in ssn.jobs.values() for task in job.tasks.values()
                  if not task.node_name)).items()]
    return found + [("tree", warning[0].upper() + warning[1:])
                    for warning in getattr(tree, "warnings", ())]


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


def _quotas(ssn: Session, options: dict[str, PluginOption]) -> Iterator[str]:
    """ResourceQuotas where no plugin reads them."""
    spaces = {job.namespace for job in ssn.jobs.values()}
    for space in sorted(spaces) if "resourcequota" not in options else ():
        for quota in ssn.snapshot.resource_quotas.get(space, ()):
            yield (f"ResourceQuota {quota.key}: spec.hard has no effect on the scheduler: only the "
                   "plugin resourcequota reads it, and the configuration does not name it.")


def _annotations(ssn: Session, options: dict[str, PluginOption]) -> Iterator[str]:
    """Annotations and labels of jobs and pods that a plugin would read, and topologies."""
    unread = {key: plugin for key, plugin in ANNOTATIONS.items() if plugin not in options}
    who: dict[str, list[str]] = {}
    for job in ssn.jobs.values():
        written = set().union(*([*each.metadata.annotations, *each.metadata.labels] for each in (
            job.pod_group, *(task.pod for task in job.tasks.values()))))
        for key in unread.keys() & written:
            who.setdefault(key, []).append(called(job))
    for key, jobs in sorted(who.items()):
        yield f"Job{'s' * (len(jobs) > 1)} {listed(jobs, 3)}: " + _only(
            f"the annotation {key}", unread[key])
    close = [called(job) for job in ssn.jobs.values() if TOPOLOGY not in options and any(
        part.network_topology is not None for part in (
            job.pod_group.spec, *job.pod_group.spec.sub_group_policy))]
    if close:
        yield f"Job{'s' * (len(close) > 1)} {listed(close, 3)}: " + _only(
            "spec.networkTopology", TOPOLOGY)


def _queue_labels(ssn: Session) -> Iterator[str]:
    """Labels of pods that look as if they named their queue: their controller reads another."""
    for job in ssn.jobs.values():
        for task in list(job.tasks.values())[:1] * job.pod_group.name.startswith("podgroup-"):
            meta, read = task.pod.metadata, pod_group_controller.QUEUE_NAME
            name = next((labels[key] for labels in (meta.labels, meta.annotations)
                         for key in (job_controller.QUEUE_NAME, read) if key in labels), job.queue)
            if name != job.queue:
                yield (f"Job {called(job)}: that its pods name queue {name} has no effect: when "
                       f"Volcano makes a PodGroup it reads their annotation {read}.")


def _tier_names(ssn: Session) -> Iterator[str]:
    """Topologies that name their highest tier where v1.14.0 does not read the name."""
    tiers = ssn.topology.tier_by_name
    for uid, job in ssn.jobs.items():
        own = job.pod_group.spec.network_topology
        if own is not None and own.highest_tier_name and own.highest_tier_name not in tiers:
            yield (f"Job {called(job)}: highestTierName {own.highest_tier_name} has no effect: no "
                   f"HyperNode has this tierName; there are {', '.join(tiers) or 'none'}.")
        named = {sub.network_topology.highest_tier_name for sub in job.sub_jobs.values()
                 if sub.uid != uid and sub.network_topology is not None
                 and sub.network_topology.highest_tier_allowed is None}
        for name in sorted(filter(None, named)):
            use = f"highestTierAllowed: {tiers[name]}" if name in tiers else "a tier's number"
            yield (f"Job {called(job)}: highestTierName {name} of its partitionPolicy has no "
                   f"effect in v1.14.0, so that its sub-groups lie anywhere; write {use}.")


def _queue_slips(ssn: Session) -> Iterator[str]:
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
                    yield (f"Queue {name}: spec.{field} names {resource}, of which no node has "
                           f"anything; near it is {close}.")


def _of(queue: QueueInfo, options: dict[str, PluginOption]) -> Iterator[str]:
    spec = queue.queue.spec
    if spec.deserved and "capacity" not in options:
        yield _only("spec.deserved", "capacity")
    if "capacity" in options and "proportion" not in options and spec.weight != 1:
        yield _only("spec.weight", "proportion")
    if not any(name in options for name in LIMITS):
        for field, amount in (("capability", spec.capability), ("guarantee",
                                                                spec.guarantee.resource)):
            if amount:
                yield (f"spec.{field} has no effect: proportion and capacity read it, "
                       "and the configuration names neither.")
    if spec.parent not in ("",
                           ROOT_QUEUE) and not any(_has_hierarchy(options, name) for name in TREES):
        yield ("spec.parent has no effect: it takes the plugin capacity (for affinity, nodegroup) "
               "with enableHierarchy: true.")
    if spec.affinity is not None and "nodegroup" not in options:
        yield _only("spec.affinity", "nodegroup")
    if queue.hierarchy and not _has_hierarchy(options, "drf"):
        yield (f"the annotation {HIERARCHY_ANNOTATION} has no effect: "
               "it takes the plugin drf with enableHierarchy: true.")


def _only(field: str, plugin: str) -> str:
    return (f"{field} has no effect: only the plugin {plugin} reads it, "
            "and the configuration does not name it.")


def _has_hierarchy(options: dict[str, PluginOption], plugin: str) -> bool:
    return plugin in options and bool(options[plugin].enables("enableHierarchy"))


def _shared_alone(storage: Storage, pods: list[api.Pod]) -> Iterator[str]:
    """A sentence for each claim that one pod alone may use and that several name."""
    for claim in storage.all(CLAIM):
        users = [pod.key for pod in pods if pod.namespace == claim.namespace
                 and any(name == claim.name for name, _ in claims_of(pod))]
        if "ReadWriteOncePod" in claim.spec.access_modes and len(users) > 1:
            yield (f"PersistentVolumeClaim {claim.key} is ReadWriteOncePod and named by "
                   f"{len(users)} pods; Volcano does not look at that, and places them all.")
