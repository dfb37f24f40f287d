"""Fields that the scheduler never reads, and amounts that no cluster can give, as messages.

Volcano ignores such fields without a warning (issue #5814 of volcano-sh/volcano): capacity alone
reads a queue's deserved, proportion alone its weight, and a plugin with `enableHierarchy` its
parent.

Volcano: none
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from volcano_lab.api import PODS, ROOT_QUEUE, QueueInfo, Resource, quantity, total
from volcano_lab.api.node_usage import CPU_USAGE_ANNOTATION
from volcano_lab.api.queue import HIERARCHY_ANNOTATION
from volcano_lab.api.storage import CLAIM, claims_of
from volcano_lab.api.taints import first_untolerated
from volcano_lab.api.task import REVOCABLE_ZONE
from volcano_lab.changes import at_path, value_text
from volcano_lab.explain import releases, volumes
from volcano_lab.explain.explanation import TABLES
from volcano_lab.explain.origin import SHARES
from volcano_lab.framework import Session
from volcano_lab.framework.config.conf import PluginOption
from volcano_lab.manifests import OPERATORS, job_controller, pod_group_controller, unstructure
from volcano_lab.messages import Message, meant
from volcano_lab.plugins.queue_tree import QueueTree
from volcano_lab.trace import grouped
from volcano_lab.trace.names import owner_key as called, owner_of

Notice = tuple[Message, Message]
"""A place, and what of it has no effect."""
Options = dict[str, PluginOption]
TOPOLOGY, PREDICATES = "network-topology-aware", "predicates"
TREES = ("capacity", "nodegroup")
"""The plugins that read `spec.parent`, with `enableHierarchy`."""
QUEUES = {key: row.queue[0] for kind, row in OPERATORS.items()
          for key in (kind.kind, *((kind.kind, version) for version in kind.api_versions))}
"""Kinds of operators -> where of its object an operator reads the queue."""


def doubts(ssn: Session) -> list[Message]:
    """Return the warnings of a configuration and its plugins, fields that no plugin reads, and
    amounts that no cluster can give.
    """
    lacking = [Message("no_nodes")] if ssn.jobs and not ssn.nodes else []
    return [*ssn.conf.warnings, *ssn.warnings, *lacking, *_merged(ignored_fields(ssn)),
            *(Message("sentence", what=what) for _, what in contradictions(ssn))]


def _merged(notices: list[Message]) -> Iterator[Message]:
    """Yield notices, one of all queues of which the same is said."""
    alike = grouped((what if place.code == "place.queue" else each, each) for each in notices
                    for place, what in [(each.facts["place"], each.facts["what"])])
    for what, same in alike.items():
        names = [each.facts["place"].facts.get("name") for each in same]
        yield same[0] if len(same) == 1 else Message("notice", what=what, place=Message(
            "place.queues", names=names))


def ignored_fields(ssn: Session, release: str = "") -> list[Message]:
    """Return a notice of each field that has no effect under the session's configuration, or that
    the `release` of Volcano that runs does not have: its `place`, and `what` of it.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", deserved=2).run()
    >>> print(*ignored_fields(cycle.session))
    Queue a: spec.deserved has no effect: only the plugin capacity reads it, and the configuration
    does not name it.
    """
    options = {option.name: option for tier in ssn.conf.tiers for option in tier.plugins}
    found = [(Message("place.queue", name=name), what) for name, queue in sorted(ssn.queues.items())
             for what in _of(queue, options)]
    if "usage" in options and unmeasured(ssn):
        found.append((Message("place.plugin", name="usage"),
                      Message("unread.usage", field=CPU_USAGE_ANNOTATION)))
    found += [*_quotas(ssn, options), *_tier_names(ssn), *_annotations(ssn, options),
              *_queue_labels(ssn), *_queue_slips(ssn), *_one_pod_claims(ssn),
              *_rules_of_nodes(ssn, options), *_task_minima(ssn), *_newer(ssn, release, options)]
    said = [Message("notice", place=place, what=what) for place, what in found]
    return [*{str(each): each for each in said}.values()]  # an owner of several PodGroups has one


def _newer(ssn: Session, release: str, options: Options) -> Iterator[Notice]:
    """Yield plugins, actions, arguments and fields that a release of Volcano does not have."""
    if not release:
        return
    parts: list[tuple[str, Message, Any]] = [
        ("conf", Message("place.configuration"), {*options, *ssn.enabled_actions}), *(
            ("field.argument", Message("place.plugin", name=name), each.arguments)
            for name, each in options.items()), *(
            ("field.Queue", Message("place.queue", name=name), each.queue)
            for name, each in sorted(ssn.queues.items()) if name != ROOT_QUEUE)]
    parts += [(f"field.{part.kind}", place_of([called(job)]), part) for job in ssn.jobs.values()
              for part in (job.pod_group, *(task.pod for task in job.tasks.values()))]
    for kind, place, part in parts:
        for field, first in TABLES["newer"][kind].items():
            if releases.number(release) < releases.number(first) and (field in part if isinstance(
                    part, Collection) else at_path(part, field.split())):
                yield place, Message(f"newer.{kind.split('.')[0]}", first=first, version=release,
                                     field=field.replace(" ", "."))


def unmeasured(ssn: Session) -> bool:
    """Whether no node's usage, which plugin usage reads, is known."""
    return not any(node.resource_usage.cpu for node in ssn.nodes.values())


def contradictions(ssn: Session) -> list[tuple[str, Message]]:
    """Return (rule, message) of each amount of a queue that the cluster, or the queue above it,
    cannot give.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", guarantee=6).run()
    >>> for rule, what in contradictions(cycle.session):
    ...     print(rule, what, sep="; ")
    guarantees-above-cluster; Queues are guaranteed cpu 6 in sum (a 6), and the cluster has cpu 4
    """
    tree: QueueTree | None = getattr(ssn.plugins.get("capacity"), "tree", None)
    found = [("two-shares", Message("two_shares"))] * ({*ssn.conf.plugin_names()} >= SHARES)
    found += [("guarantees-above-cluster", what) for what in _guarantees(ssn)]
    found += [("queue-circle", circle) for circle in (tree.circles() if tree is not None else ())]
    found += [("driver-nowhere", Message("driver_unknown", claim=claim, driver=driver))
              for driver, claim in volumes.drivers_nowhere(ssn, (
                  task.pod for job in ssn.jobs.values() for task in job.tasks.values()
                  if not task.node_name)).items()]
    found += [("hyper-node-member", what) for what in said_misnamed(ssn, ssn.topology.hyper_nodes)]
    found += [("hyper-node-tree", what) for what in tangled(ssn)]
    found += [("memory-in-bytes", Message("memory_in_bytes", queue=name, field=field,
                                          found=amounts["memory"]))
              for name, field, amounts in _amounts(ssn)
              if 0 < quantity.parse(amounts.get("memory", "0")) < 2**20]
    return found + [("tree", warning) for warning in getattr(tree, "warnings", ())]


def _guarantees(ssn: Session) -> Iterator[Message]:
    """Yield the resources of which queues are guaranteed more in sum than the cluster has."""
    parents = {queue.queue.spec.parent or ROOT_QUEUE for queue in ssn.queues.values()}
    kept = {name: Resource.from_list(queue.queue.spec.guarantee.resource)
            for name, queue in ssn.queues.items() if name not in parents}
    for name, amount in total(kept.values()) if ssn.nodes else ():
        has = ssn.total_resource.get(name)
        if amount and amount > has:
            parts = [Message("guarantee", queue=queue, amount={name: each.get(name)})
                     for queue, each in kept.items() if each.get(name)]
            yield Message("guarantees_above_cluster", sum={name: amount}, parts=parts,
                          total={name: has})


def misnamed(ssn: Session, hyper_nodes: Iterable[str]) -> list[tuple[str, str, int]]:
    """Return the members of HyperNodes that are no nodes: (HyperNode, the name, its place)."""
    return [(name, member.selector.exact_match.name, place) for name in hyper_nodes
            for place, member in enumerate(ssn.topology.hyper_nodes[name].hyper_node.spec.members)
            if member.type == "Node" and member.selector.exact_match is not None
            and member.selector.exact_match.name not in ssn.nodes]


def said_misnamed(ssn: Session, hyper_nodes: Collection[str]) -> list[Message]:
    """Return that such members are no nodes, and which selectors of HyperNodes match none."""
    named = [f"{hyper_node}: {name}" for hyper_node, name, _ in misnamed(ssn, hyper_nodes)]
    empty = [f"{name}: {value_text(unstructure(member.selector))}" for name in hyper_nodes
             for member in ssn.topology.hyper_nodes[name].hyper_node.spec.members
             if member.type == "Node" and member.selector.exact_match is None
             and not ssn.topology.nodes.get(name)]
    return [Message(code, n=len(names), names=names) for code, names in (
        ("topology.misnamed", named), ("topology.unmatched", empty)) if names]


def tangled(ssn: Session) -> list[Message]:
    """Return which HyperNodes are below two others, and which below themselves: no tree."""
    above = grouped((child, name) for name, info in ssn.topology.hyper_nodes.items()
                    for child in info.child_names())
    found = [Message("topology.shared", name=name, above=parents)
             for name, parents in above.items() if len(parents) > 1]
    for name in sorted(above):
        path = [name]
        while path[-1] in above and above[path[-1]][0] not in path:
            path.append(above[path[-1]][0])
        if above.get(path[-1], [""])[0] == name == min(path):
            found.append(Message("topology.loop", name=path[-1],
                                 path=" > ".join([*path[::-1], path[-1]])))
    return found


def _quotas(ssn: Session, options: Options) -> Iterator[Notice]:
    """Yield ResourceQuotas where no plugin reads them."""
    spaces = {job.namespace for job in ssn.jobs.values()}
    for space in sorted(spaces) if "resourcequota" not in options else ():
        for quota in ssn.snapshot.resource_quotas.get(space, ()):
            yield Message("place.object", kind="ResourceQuota", name=quota.key), Message(
                "unread.scheduler", field="spec.hard", plugin="resourcequota")


def _annotations(ssn: Session, options: Options) -> Iterator[Notice]:
    """Yield annotations and labels of jobs and pods whose plugin is not configured."""
    unread = {key: row["by"][0] for row in TABLES["settings"] for key in row["keys"]
              if len(row["by"]) == 1 and row["by"][0] not in options}
    jobs: dict[str, list[str]] = {}
    for job in ssn.jobs.values():
        metas = [job.pod_group.metadata, *(task.pod.metadata for task in job.tasks.values())]
        written = set().union(*([*each.annotations, *each.labels] for each in metas))
        zones = {each.annotations.get(REVOCABLE_ZONE, "*") for each in metas} - {"*"}
        for zone in sorted(zones) if REVOCABLE_ZONE not in unread else ():
            yield place_of([called(job)]), Message("unread.zone", field=REVOCABLE_ZONE, found=zone)
        for key in unread.keys() & written:
            jobs.setdefault(key, []).append(called(job))
    for key, names in sorted(jobs.items()):
        yield place_of(names), Message("unread.annotation", field=key, plugin=unread[key])


def place_of(names: list[str], kind: str = "job") -> Message:
    """Return jobs, or nodes, as a place."""
    return Message(f"place.{kind}", n=len(names), names=names)


def _queue_labels(ssn: Session) -> Iterator[Notice]:
    """Yield labels of pods that name a queue, where a controller reads their annotation, or an
    operator a field of its own object.
    """
    keys = job_controller.QUEUE_NAME, pod_group_controller.QUEUE_NAME
    for job in ssn.jobs.values():
        own, owner = job.pod_group.name.startswith("podgroup-"), owner_of(job)
        reads = "" if owner is None else QUEUES.get(
            (owner.kind, owner.api_version), QUEUES.get(owner.kind, ""))
        metas = [task.pod.metadata for task in job.tasks.values()]
        late = {each.annotations.get(keys[1]) for each in metas} if own else set[str]()
        found = {labels[key]: None for each in metas if own or reads
                 for labels in (each.labels, each.annotations)
                 for key in keys if key in labels and labels[key] != job.queue}
        kind = getattr(owner, "kind", "")
        flag = TABLES["owners"]["switch"].get(kind)
        for name in [*found][:1]:
            said = Message("unread.queue_label", found=name, allowed=keys[1], operator=Message(
                "unread.operator", flag=flag, field=reads, kind=kind) if flag else None)
            if name in late:
                said = Message("unread.queue_late", found=name, queue=job.queue, key=keys[1])
            yield place_of([called(job)]), said if own else Message(
                "unread.queue_of_owner", found=name, queue=job.queue, kind=kind, field=reads)


def _tier_names(ssn: Session) -> Iterator[Notice]:
    """Yield topologies whose highestTierName v1.14.0 does not read."""
    tiers, field = ssn.topology.tier_by_name, "highestTierName"
    for uid, job in ssn.jobs.items():
        own = job.pod_group.spec.network_topology
        if own is not None and own.highest_tier_name and own.highest_tier_name not in tiers:
            yield place_of([called(job)]), Message(
                "unread.tier_name" if tiers else "unread.tier_name.none", field=field,
                found=own.highest_tier_name, allowed=[*tiers])
        named = {sub.network_topology.highest_tier_name for sub in job.sub_jobs.values()
                 if sub.uid != uid and sub.network_topology is not None
                 and sub.network_topology.highest_tier_allowed is None}
        for name in sorted(filter(None, named)):
            use = Message("unread.tier" if name in tiers else "unread.tier_number",
                          tier=tiers.get(name))
            yield place_of([called(job)]), Message("unread.partition_tier", field=field, found=name,
                                                allowed=use)


def _queue_slips(ssn: Session) -> Iterator[Notice]:
    """Yield resources of queues that no node has, with the nearest name that one has."""
    there = [name for name, amount in ssn.total_resource if amount]
    for name, field, amounts in _amounts(ssn):
        if field == "spec.capability" and PODS in amounts:
            yield Message("place.queue", name=name), Message("unread.pods", field=field)
        for resource in amounts:
            close = meant(resource, there) or next(
                (each for each in there if each.endswith(f"/{resource}")), "")
            if resource not in there and close:
                yield Message("place.queue", name=name), Message(
                    "unread.resource", field=field, found=resource, allowed=close)


def _amounts(ssn: Session) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the queue, the field and the amounts of each limit and share that is written."""
    for name, queue in sorted(ssn.queues.items()):
        for field in ("capability", "deserved", "guarantee.resource"):
            yield (name, f"spec.{field.partition('.')[0]}",
                   at_path(queue.queue.spec, field.split(".")) or {})


def _of(queue: QueueInfo, options: Options) -> Iterator[Message]:
    """Yield the fields of a queue that no configured plugin reads; of the root, which is created
    with each cluster, its parent.
    """
    spec = queue.queue.spec
    if queue.name == ROOT_QUEUE:
        if spec.parent not in ("", ROOT_QUEUE):
            yield Message("unread.root_parent", field="spec.parent", found=spec.parent)
        return
    trees = [name for name in (*TREES, "drf")
             if name in options and options[name].enables("enableHierarchy")]
    for field, plugins in TABLES["read_by"].items():
        if at_path(spec, field.split(".")) and not options.keys() & {*plugins}:
            yield Message("unread.only" if len(plugins) == 1 else "unread.limits",
                          field=f"spec.{field.partition('.')[0]}", plugin=plugins[0])
    if spec.weight != 1 and "capacity" in options and "proportion" not in options:
        yield Message("unread.only", field="spec.weight", plugin="proportion")
    if spec.parent not in ("", ROOT_QUEUE) and not {*TREES} & {*trees}:
        yield Message("unread.parent", field="spec.parent")
    if spec.dequeue_strategy == "fifo":
        yield Message("unread.dequeue", field="spec.dequeueStrategy", found="fifo")
    if queue.hierarchy and "drf" not in trees:
        yield Message("unread.hierarchy", field=HIERARCHY_ANNOTATION)


def _rules_of_nodes(ssn: Session, options: Options) -> Iterator[Notice]:
    """Yield topologies of jobs, taints of nodes and selectors of pods whose plugin is missing."""
    close = [called(job) for job in ssn.jobs.values() if job.contains_network_topology()]
    tainted = [name for name, node in ssn.nodes.items() if first_untolerated(
        node.node.spec.taints, ())]
    choosy = [called(job) for job in ssn.jobs.values() if any(
        task.pod.spec.node_selector for task in job.tasks.values())]
    for names, place, field, plugin in (
            (close, place_of(close), "spec.networkTopology", TOPOLOGY),
            (tainted, place_of(tainted, "nodes"), "spec.taints", PREDICATES),
            (choosy, place_of(choosy), "spec.nodeSelector", PREDICATES)):
        if names and plugin not in options:
            yield place, Message("unread.only", field=field, plugin=plugin)


def _task_minima(ssn: Session) -> Iterator[Notice]:
    """Yield minima of tasks below their replicas that gang does not read, as that of the job is
    smaller than their sum.
    """
    for job in ssn.jobs.values():
        roles = Counter(task.task_role for task in job.tasks.values())
        least = job.task_min_available
        if job.min_available < job.task_min_available_total and any(
                0 < count < roles[role] for role, count in least.items()):
            yield place_of([called(job)]), Message(
                "unread.task_minima", least=job.min_available, sum=job.task_min_available_total,
                parts=[f"{role} {count}" for role, count in sorted(least.items())])


def _one_pod_claims(ssn: Session) -> Iterator[Notice]:
    """Yield claims that only one pod may use and that several name."""
    pods = [task.pod for job in ssn.jobs.values() for task in job.tasks.values()]
    users = Counter(f"{pod.namespace}/{name}" for pod in pods
                    for name in {name for name, _ in claims_of(pod)})
    for claim in ssn.snapshot.storage.all(CLAIM):
        if "ReadWriteOncePod" in claim.spec.access_modes and users[claim.key] > 1:
            yield Message("place.object", kind=CLAIM, name=claim.key), Message(
                "unread.one_pod", found="ReadWriteOncePod", pods=users[claim.key])
