"""What a cluster adds to manifests before its scheduler sees them.

Answers to the defaults of the Kubernetes API server and its admission (namespace, uid, requests from limits,
priority from a PriorityClass), of Volcano's API and webhooks (`pkg/webhooks/admission`), to the queues that
Volcano's cache creates (`newDefaultAndRootQueue`) and, for Jobs, to the job controller (`jobs`).
Differs on purpose: uids and creation times are the same in each run, a second apart in document order, and every
node carries the hostname label that its kubelet would set. Recorded cases are replayed without any of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import NAMESPACE_URL, uuid5

import attrs

from volcano_lab.api.objects import (
    Container,
    KubernetesObject,
    Node,
    ObjectMeta,
    Pod,
    PodGroup,
    PodSpec,
    PriorityClass,
    Queue,
    QueueSpec,
    VolcanoJob,
)
from volcano_lab.jobs import expand
from volcano_lab.manifests import ManifestError

FIRST_TIME = 1767225600.0
"""2026-01-01T00:00:00Z: when the first object without a time of its own is created."""

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
HIERARCHY, HIERARCHY_WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
HOSTNAME = "kubernetes.io/hostname"


def with_defaults(objects: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """The objects as the scheduler of a cluster would hear of them; those given stay as they are.

    Volcano Jobs become a PodGroup and Pods; the queues `root` and `default` exist. Raises `ManifestError` where a pod
    names a PriorityClass that is not among the objects.

    >>> from volcano_lab.manifests import loads
    >>> for obj in with_defaults(loads("{apiVersion: v1, kind: Pod, metadata: {name: web}}")):
    ...     print(obj.kind, obj.key, obj.metadata.uid, obj.metadata.creation_timestamp - FIRST_TIME)
    Queue root queue-root 0.0
    Queue default queue-default 1.0
    Pod default/web pod-default-web 2.0
    """
    objects = list(objects)
    classes = {obj.name: obj for obj in objects if isinstance(obj, PriorityClass)}
    priorities = SYSTEM_PRIORITIES | {name: cls.value for name, cls in classes.items()}
    problems: list[str] = []
    complete = []
    for number, obj in enumerate(_queues_of_the_cluster(objects) + objects):
        obj = attrs.evolve(obj, metadata=_metadata(obj, FIRST_TIME + number))
        if isinstance(obj, VolcanoJob):
            group, pods = expand(obj, priorities)
            parts = [attrs.evolve(part, metadata=_metadata(part, FIRST_TIME + number)) for part in (group, *pods)]
        else:
            parts = [obj]
        complete += [_complete(part, classes, problems) for part in parts]
    if problems:
        raise ManifestError(problems)
    return complete


def _queues_of_the_cluster(objects: list[KubernetesObject]) -> list[KubernetesObject]:
    """The queues that Volcano creates when they do not exist."""
    given = {obj.name for obj in objects if isinstance(obj, Queue)}
    own = {"root": False, "default": True}
    return [
        Queue(ObjectMeta(name), QueueSpec(weight=1, reclaimable=reclaimable))
        for name, reclaimable in own.items()
        if name not in given
    ]


def _metadata(obj: KubernetesObject, time: float) -> ObjectMeta:
    metadata = obj.metadata
    namespace = (metadata.namespace or "default") if obj.namespaced else ""
    uid = "-".join(filter(None, (obj.kind.lower(), namespace, metadata.name)))
    if isinstance(obj, VolcanoJob):
        uid = str(uuid5(NAMESPACE_URL, uid))[:8]  # it becomes part of the podgroup's name
    created = time if metadata.creation_timestamp is None else metadata.creation_timestamp
    return attrs.evolve(metadata, namespace=namespace, uid=metadata.uid or uid, creation_timestamp=created)


def _complete(obj: KubernetesObject, classes: dict[str, PriorityClass], problems: list[str]) -> KubernetesObject:
    if isinstance(obj, Pod):
        return _pod(obj, classes, problems)
    if isinstance(obj, PodGroup):
        return _pod_group(obj)
    if isinstance(obj, Queue):
        return _queue(obj)
    return _node(obj) if isinstance(obj, Node) else obj


def _pod(pod: Pod, classes: dict[str, PriorityClass], problems: list[str]) -> Pod:
    spec = attrs.evolve(
        pod.spec,
        containers=[_container(container, pod.spec.host_network) for container in pod.spec.containers],
        init_containers=[_container(container, pod.spec.host_network) for container in pod.spec.init_containers],
        scheduler_name=pod.spec.scheduler_name or "default-scheduler",
    )
    _set_priority(pod, spec, classes, problems)
    return attrs.evolve(pod, spec=spec, status=attrs.evolve(pod.status, phase=pod.status.phase or "Pending"))


def _set_priority(pod: Pod, spec: PodSpec, classes: dict[str, PriorityClass], problems: list[str]) -> None:
    """The priority of the pod's class, or of the class that is the default of the cluster, or 0."""
    if spec.priority is not None:
        return
    fallback = min((cls for cls in classes.values() if cls.global_default), key=lambda cls: cls.value, default=None)
    if not spec.priority_class_name and fallback:
        spec.priority_class_name = fallback.name
    cls = classes.get(spec.priority_class_name)
    if cls is not None:
        spec.priority = cls.value
        spec.preemption_policy = spec.preemption_policy or cls.preemption_policy
    elif spec.priority_class_name in SYSTEM_PRIORITIES or not spec.priority_class_name:
        spec.priority = SYSTEM_PRIORITIES.get(spec.priority_class_name, 0)
    else:
        known = ", ".join(sorted([*classes, *SYSTEM_PRIORITIES]))
        problems.append(f'Pod {pod.key}: spec.priorityClassName is "{spec.priority_class_name}"; allowed is {known}')


def _container(container: Container, host_network: bool) -> Container:
    """Limits count as requests where there are none; on the host's network each port is a host port."""
    requests = {**container.resources.limits, **container.resources.requests}
    ports = [
        attrs.evolve(
            port,
            protocol=port.protocol or "TCP",
            host_port=port.host_port or (port.container_port if host_network else 0),
        )
        for port in container.ports
    ]
    return attrs.evolve(container, ports=ports, resources=attrs.evolve(container.resources, requests=requests))


def _pod_group(group: PodGroup) -> PodGroup:
    spec = group.spec
    topology = spec.network_topology
    if topology is not None and not topology.mode:
        topology = attrs.evolve(topology, mode="hard")
    policies = [
        attrs.evolve(
            policy,
            sub_group_size=1 if policy.sub_group_size is None else policy.sub_group_size,
            min_sub_groups=0 if policy.min_sub_groups is None else policy.min_sub_groups,
        )
        for policy in spec.sub_group_policy
    ]
    spec = attrs.evolve(spec, queue=spec.queue or "default", network_topology=topology, sub_group_policy=policies)
    return attrs.evolve(group, spec=spec, status=attrs.evolve(group.status, phase=group.status.phase or "Pending"))


def _queue(queue: Queue) -> Queue:
    metadata = queue.metadata
    path, weights = metadata.annotations.get(HIERARCHY), metadata.annotations.get(HIERARCHY_WEIGHTS)
    if path and weights and not path.startswith("root"):
        rooted = {HIERARCHY: f"root/{path}", HIERARCHY_WEIGHTS: f"1/{weights}"}
        metadata = attrs.evolve(metadata, annotations=metadata.annotations | rooted)
    spec = attrs.evolve(
        queue.spec,
        weight=queue.spec.weight or 1,
        reclaimable=True if queue.spec.reclaimable is None else queue.spec.reclaimable,
    )
    status = attrs.evolve(queue.status, state=queue.status.state or "Open")
    return attrs.evolve(queue, metadata=metadata, spec=spec, status=status)


def _node(node: Node) -> Node:
    labels = {HOSTNAME: node.name, **node.metadata.labels}
    status = attrs.evolve(
        node.status,
        allocatable=node.status.allocatable or dict(node.status.capacity),
        capacity=node.status.capacity or dict(node.status.allocatable),
    )
    return attrs.evolve(node, metadata=attrs.evolve(node.metadata, labels=labels), status=status)
