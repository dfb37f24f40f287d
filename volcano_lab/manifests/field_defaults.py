"""Defaults of fields: what the API server, its admission and Volcano's mutating webhooks add to an
object on creation.

Volcano: pkg/webhooks/admission
"""

from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

from volcano_lab.api import objects as api, storage
from volcano_lab.api.queue import HIERARCHY_ANNOTATION, HIERARCHY_WEIGHTS_ANNOTATION
from volcano_lab.manifests.admission.rules import state_of
from volcano_lab.manifests.pod_group_controller import QUEUE_NAME
from volcano_lab.messages import Message, Said
from volcano_lab.trace.plain import grouped

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000,
                     "system-node-critical": 2_000_001_000}
HOSTNAME = "kubernetes.io/hostname"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
LIMIT_RANGER = "kubernetes.io/limit-ranger"
"""The annotation in which the API server names what a LimitRange has filled in."""
FIRST_TIME = 1767225600.0
"""2026-01-01T00:00:00Z: the creation time of the first object without one."""
Kind = TypeVar("Kind", bound=api.KubernetesObject)


class FieldDefaults:
    """Completes objects among others: PriorityClasses, StorageClasses and Namespaces set defaults.

    `named_classes` are PriorityClasses that pods name with their value and that are not among the
    objects; `problems` has a sentence for each pod with an unknown PriorityClass.
    """

    def __init__(self, objects: Iterable[api.KubernetesObject],
                 label: Callable[[api.KubernetesObject], Said]) -> None:
        by_kind: dict[type, list[Any]] = grouped((type(obj), obj) for obj in objects)
        self.problems: list[Message] = []
        self._label = label
        self._classes = {obj.name: obj for obj in by_kind.get(api.PriorityClass, ())}
        self.named_classes = _named_classes(by_kind.get(api.Pod, ()),
                                            SYSTEM_PRIORITIES.keys() | self._classes.keys())
        self._classes |= {each.name: each for each in self.named_classes}
        self.priorities = SYSTEM_PRIORITIES | {name: cls.value
                                               for name, cls in self._classes.items()}
        self._default_class = min((cls for cls in self._classes.values() if cls.global_default),
                                  key=lambda cls: cls.value, default=None)
        self._volumes = {obj.name for obj in by_kind.get(api.PersistentVolume, ())}
        self._storage_class = _default_storage_class(by_kind.get(api.StorageClass, ()))
        self._queues = {obj.name: obj.metadata.annotations[QUEUE_NAME]
                        for obj in by_kind.get(api.Namespace, ())
                        if QUEUE_NAME in obj.metadata.annotations}
        self._ranges: dict[str, tuple[dict[str, str], ...]] = {}
        for each in by_kind.get(api.LimitRange, ()):  # for each resource the first that names it
            known = self._ranges.setdefault(each.namespace or "default", ({}, {}))
            for first, own in zip(known, each.defaults(), strict=True):
                first.update(own | first)
        self._there = {id(pod.spec) for pod in by_kind.get(api.Pod, ())
                       if self._ranges and is_there(pod)}
        self._specs: dict[int, tuple[api.PodSpec, api.PodSpec, dict[str, str]]] = {}

    def complete(self, obj: Kind) -> Kind:
        """Return the object with the defaults of its kind."""
        by_kind: dict[type, Callable[[Any], Any]] = {
            api.Pod: self._pod, api.PodGroup: self._pod_group, api.Queue: _queue, api.Node: _node,
            api.PersistentVolumeClaim: self._claim, api.PersistentVolume: _volume,
            api.StorageClass: _storage_class, api.ResourceQuota: _quota}
        complete = by_kind.get(type(obj))
        return complete(obj) if complete else obj

    def _pod(self, pod: api.Pod) -> api.Pod:
        """Complete a pod; those of one template share its spec."""
        spec, known = pod.spec, self._specs.get(id(pod.spec))
        if known is None:
            given = None if id(spec) in self._there else self._ranges.get(pod.namespace)
            both = [[_container(container, spec.host_network, given) for container in containers]
                    for containers in (spec.containers, spec.init_containers)]
            complete = spec.evolve(containers=both[0], init_containers=both[1],
                                   scheduler_name=spec.scheduler_name or "default-scheduler")
            self._set_priority(pod, complete)
            known = self._specs[id(spec)] = spec, complete, _note(spec, given[1]) if given else {}
        status = pod.status if pod.status.phase else pod.status.evolve(phase="Pending")
        metadata = pod.metadata.evolve(annotations=known[2] | pod.metadata.annotations
                                       ) if known[2] else pod.metadata
        return api.Pod(metadata, known[1], status)

    def _pod_group(self, group: api.PodGroup) -> api.PodGroup:
        """Complete a PodGroup; a new one in the default queue gets that of its namespace."""
        spec, topology = group.spec, group.spec.network_topology
        if topology is not None and not topology.mode:
            topology = topology.evolve(mode="hard")
        policies = [policy.evolve(min_sub_groups=policy.min_sub_groups or 0, sub_group_size=1
                                  if policy.sub_group_size is None else policy.sub_group_size)
                    for policy in spec.sub_group_policy]
        queue = spec.queue or "default"
        if queue == "default" and not group.status.phase:
            queue = self._queues.get(group.namespace) or queue
        return group.changed(status={"phase": group.status.phase or "Pending"}, spec={
            "queue": queue, "network_topology": topology, "sub_group_policy": policies})

    def _claim(self, claim: api.PersistentVolumeClaim) -> api.PersistentVolumeClaim:
        """Complete a claim; a new one that names an existing volume gets it."""
        volume, name = claim.spec.volume_name, claim.spec.storage_class_name
        if name is None and storage.CLASS not in claim.metadata.annotations and self._storage_class:
            claim = claim.changed(spec={"storage_class_name": self._storage_class.name})
        if not claim.status.phase and volume in self._volumes:
            return claim.bound(volume)
        return claim.changed(status={"phase": claim.status.phase or "Pending"})

    def _set_priority(self, pod: api.Pod, spec: api.PodSpec) -> None:
        """Set the priority of the pod's class, or of the cluster's default class, or 0."""
        if spec.priority is not None:
            return
        if not spec.priority_class_name and self._default_class:
            spec.priority_class_name = self._default_class.name
        name = spec.priority_class_name
        spec.priority = self.priorities.get(name, 0)
        if name in self._classes:
            spec.preemption_policy = spec.preemption_policy or self._classes[name].preemption_policy
        elif name and name not in self.priorities:
            self.problems.append(Message("problem", place=self._label(pod), what=Message(
                "priority_class.unknown", name=name, priorities=sorted(self.priorities))))


def identified(obj: Kind, time: float) -> Kind:
    """Return the object with namespace, uid and a creation time."""
    metadata = obj.metadata
    namespace = (metadata.namespace or "default") if obj.namespaced else ""
    if metadata.uid and metadata.creation_timestamp is not None and namespace == metadata.namespace:
        return obj
    uid = "-".join(filter(None, (obj.kind.lower(), namespace, metadata.name)))
    if isinstance(obj, api.VolcanoJob):
        uid = uid_of_job(namespace, metadata.name)
    created = time if metadata.creation_timestamp is None else metadata.creation_timestamp
    return obj.changed(metadata={"namespace": namespace, "uid": metadata.uid or uid,
                                 "creation_timestamp": created})


def uid_of_job(namespace: str, name: str) -> str:
    """Return the uid of a Job without one; it is part of the PodGroup's name.

    >>> uid_of_job("team", "train")
    'af3fb8a6'
    """
    return str(uuid5(NAMESPACE_URL, f"job-{namespace}-{name}"))[:8]


def is_there(pod: api.Pod) -> bool:
    """Return whether an API server has admitted a pod, so that it is no new one."""
    return bool(pod.metadata.uid or pod.metadata.resource_version or pod.status.phase
                or pod.spec.node_name)


def _named_classes(pods: Iterable[api.Pod], known: Set[str]) -> list[api.PriorityClass]:
    """Return the unknown PriorityClasses that pods name together with a value."""
    values = {pod.spec.priority_class_name: pod.spec.priority for pod in pods
            if pod.spec.priority is not None and pod.spec.priority_class_name}
    return [api.PriorityClass(api.ObjectMeta(name), value)
            for name, value in sorted(values.items()) if name not in known]


def _default_storage_class(classes: Iterable[api.StorageClass]) -> api.StorageClass | None:
    """Return the StorageClass of claims without one: of several defaults the newest."""
    return min((obj for obj in classes if obj.metadata.annotations.get(DEFAULT_CLASS) == "true"),
               key=lambda obj: (-(obj.metadata.creation_timestamp or 0), obj.name), default=None)


def _container(container: api.Container, host_network: bool,
               given: tuple[dict[str, str], ...] | None) -> api.Container:
    """Use limits as requests where there are none, then what a LimitRange has given; on the host's
    network each port is a host port.
    """
    resources = container.resources
    resources = resources.evolve(requests={**resources.limits, **resources.requests})
    if given is not None:
        resources = resources.evolve(limits=given[0] | resources.limits,
                                     requests=given[1] | resources.requests)
    ports = [port.evolve(protocol=port.protocol or "TCP",
                         host_port=port.host_port or (port.container_port if host_network else 0))
             for port in container.ports]
    return container.evolve(ports=ports, resources=resources)


def _note(spec: api.PodSpec, requests: dict[str, str]) -> dict[str, str]:
    """Return the annotation that names which requests a LimitRange has filled in, if any."""
    filled = {name for each in (*spec.containers, *spec.init_containers)
              for name in requests.keys() - each.resources.limits.keys()
              - each.resources.requests.keys()}
    note = f"LimitRanger plugin set: {', '.join(sorted(filled))} request"
    return {LIMIT_RANGER: note} if filled else {}


def _queue(queue: api.Queue) -> api.Queue:
    notes, spec = queue.metadata.annotations, queue.spec
    path, weights = notes.get(HIERARCHY_ANNOTATION), notes.get(HIERARCHY_WEIGHTS_ANNOTATION)
    if path and weights and not path.startswith("root"):
        notes = notes | {HIERARCHY_ANNOTATION: f"root/{path}",
                         HIERARCHY_WEIGHTS_ANNOTATION: f"1/{weights}"}
    return queue.changed(metadata={"annotations": notes}, status={"state": state_of(queue)}, spec={
        "weight": 1 if spec.weight is None else spec.weight,
        "reclaimable": spec.reclaimable is not False})


def _node(node: api.Node) -> api.Node:
    status = {"allocatable": node.status.allocatable or dict(node.status.capacity),
              "capacity": node.status.capacity or dict(node.status.allocatable)}
    return node.changed(metadata={"labels": {HOSTNAME: node.name, **node.metadata.labels}},
                        status=status)


def _quota(quota: api.ResourceQuota) -> api.ResourceQuota:
    return quota.changed(status={"hard": quota.spec.hard | quota.status.hard})


def _volume(volume: api.PersistentVolume) -> api.PersistentVolume:
    phase = volume.status.phase or ("Available" if volume.spec.claim_ref is None else "Bound")
    return volume.changed(status={"phase": phase})


def _storage_class(found: api.StorageClass) -> api.StorageClass:
    return found.evolve(volume_binding_mode=found.volume_binding_mode or "Immediate")
