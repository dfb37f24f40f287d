"""What a cluster adds to manifests before its scheduler sees them.

The defaults of the Kubernetes API server and its admission (namespace, uid, requests from limits,
priority from a PriorityClass), of Volcano's API and mutating webhooks, the queues that Volcano's
cache creates, and what controllers make: PodGroup and pods of Jobs, pods of Kubernetes' own
workloads, PodGroups of pods that have none. Differs on purpose: uids and creation times are the
same in each run, a second apart in document order, and every node carries the hostname label that
its kubelet would set. Recorded cases are replayed without any of this.

Volcano: pkg/webhooks/admission, pkg/scheduler/cache/cache.go (newDefaultAndRootQueue)
"""

from collections import Counter
from collections.abc import Iterable, Set
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

import attrs

from volcano_lab.api import objects as api
from volcano_lab.api.queue import HIERARCHY_ANNOTATION as HIERARCHY
from volcano_lab.api.queue import HIERARCHY_WEIGHTS_ANNOTATION as HIERARCHY_WEIGHTS
from volcano_lab.api.storage import CLASS
from volcano_lab.framework import collector_paused
from volcano_lab.manifests import job_controller as jobs
from volcano_lab.manifests import operators
from volcano_lab.manifests.loader import Loaded, ManifestError, place_key
from volcano_lab.manifests.owners import Owners, named_by_job
from volcano_lab.manifests.pod_group_controller import QUEUE_NAME, SCHEDULER, PodGroups
from volcano_lab.manifests.workloads import pod_count, pods_of, too_large
from volcano_lab.messages import friendly_errors, listed

T = TypeVar("T")
FIRST_TIME = 1767225600.0
"""2026-01-01T00:00:00Z: when the first object without a time of its own is created."""

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000,
                     "system-node-critical": 2_000_001_000}
HOSTNAME = "kubernetes.io/hostname"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
FINISHED = ("Completed", "Failed", "Terminated", "Aborted")
ENDING = ("Aborting", "Completing", "Restarting", "Terminating")


@friendly_errors
@collector_paused()
def with_defaults(objects: Iterable[api.KubernetesObject],
                  running: Iterable[api.Pod] = ()) -> Loaded:
    """Return the objects as the scheduler of a cluster would hear of them; those given stay.

    Jobs and other workloads become pods, unless these are among the objects already. `warnings`
    says what is not made, and why.

    Args:
        objects: In document order.
        running: Pods that the cluster has beyond them: tasks that depend on these are made, too.

    Raises:
        ManifestError: A pod names a PriorityClass that is not among the objects, two objects have
            one name, there are too many pods or queues lie too deep.

    >>> from volcano_lab.manifests.loader import loads
    >>> for obj in with_defaults(loads("{apiVersion: v1, kind: Pod, metadata: {name: web}}")):
    ...     print(obj.kind, obj.key, obj.metadata.uid, obj.metadata.creation_timestamp - FIRST_TIME)
    Queue root queue-root 0.0
    Queue default queue-default 1.0
    Pod default/web pod-default-web 2.0
    """
    complete = Loaded((), getattr(objects, "warnings", ()), getattr(objects, "places", {}))
    cluster = _Cluster(given := list(objects), list(running), complete)
    complete.given = given
    if not (problems := too_large(cluster.objects, cluster.count, cluster.label)):
        for number, obj in enumerate(_queues_of_the_cluster(cluster.objects) + cluster.objects
                                     + cluster.told_classes):
            time = FIRST_TIME + number
            for part in cluster.parts(_identified(obj, time)):
                part, group = _identified(part, time), None
                if isinstance(part, api.Pod):
                    group, part = cluster.groups.adopt(part)
                if group is not None:
                    complete.append(cluster.complete(_identified(group, time)))
                complete.append(cluster.complete(part))
        complete.later = {key: [cluster.complete(_identified(pod, FIRST_TIME + len(complete)))
                                for pod in pods] for key, pods in complete.later.items()}
        problems = cluster.problems + _given_twice(complete)
    if problems:
        raise ManifestError(problems)
    return complete


def _queues_of_the_cluster(objects: list[api.KubernetesObject]) -> list[api.KubernetesObject]:
    """The queues that Volcano creates when they do not exist."""
    given = {obj.name for obj in objects if isinstance(obj, api.Queue)}
    own = {"root": False, "default": True}
    return [api.Queue(api.ObjectMeta(name), api.QueueSpec(weight=1, reclaimable=reclaimable))
            for name, reclaimable in own.items() if name not in given]


def _identified(obj: api.KubernetesObject, time: float) -> api.KubernetesObject:
    """The object with namespace, uid and a time of creation."""
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
    """Return the uid of a Job that has none; it becomes part of the PodGroup's name.

    >>> uid_of_job("team", "train")
    'af3fb8a6'
    """
    return str(uuid5(NAMESPACE_URL, f"job-{namespace}-{name}"))[:8]


def _given_twice(objects: list[api.KubernetesObject]) -> list[str]:
    """One sentence about objects of one kind and name, however many there are."""
    counts = Counter((obj.kind, obj.key) for obj in objects)
    twice = [f"{kind} {key}" for (kind, key), count in counts.items() if count > 1]
    return twice and [f"{listed(twice, 1)}: given twice; allowed is one object of a kind and name"]


def _key(obj: api.KubernetesObject) -> str:
    return f"{obj.namespace or 'default'}/{obj.name}"


def _told_classes(pods: list[api.Pod], known: Set[str]) -> list[api.PriorityClass]:
    """Return the PriorityClasses that pods name and give the value of, where they are not known."""
    told = {pod.spec.priority_class_name: pod.spec.priority for pod in pods
            if pod.spec.priority is not None and pod.spec.priority_class_name}
    return [api.PriorityClass(api.ObjectMeta(name), value)
            for name, value in sorted(told.items()) if name not in known]


def _default_storage_class(classes: list[api.StorageClass]) -> api.StorageClass | None:
    """Return the StorageClass of claims that name none: of several defaults the newest."""
    return min((obj for obj in classes if obj.metadata.annotations.get(DEFAULT_CLASS) == "true"),
               key=lambda obj: (-(obj.metadata.creation_timestamp or 0), obj.name), default=None)


def _ready_by_task(running: list[api.Pod]) -> Counter[tuple[str, str | None, str | None]]:
    """Count pods that are ready by namespace, Job and task."""
    return Counter((pod.namespace, pod.metadata.annotations.get(jobs.JOB_NAME),
                    pod.metadata.annotations.get(jobs.TASK_SPEC)) for pod in running
                   if pod.status.phase in ("Running", "Succeeded")
                   and all(status.ready for status in pod.status.container_statuses))


class _Cluster:
    """API server, webhooks and controllers, as far as they look at several objects."""

    def __init__(self, objects: list[api.KubernetesObject], running: list[api.Pod],
                 into: Loaded) -> None:
        self.objects, self.owners, self.into = objects, Owners(objects), into
        self.problems: list[str] = []
        pods = self._of(api.Pod)
        self.nodes, self.quotas = self._of(api.Node), self._of(api.ResourceQuota)
        self.pods = {_key(pod) for pod in pods}
        self.classes = {obj.name: obj for obj in self._of(api.PriorityClass)}
        self.told_classes = _told_classes(pods, SYSTEM_PRIORITIES.keys() | self.classes.keys())
        if self.told_classes:
            into.warnings.append(
                f"PriorityClass {listed([each.name for each in self.told_classes])}: not among the "
                "objects; the priority of pods that name it is taken as its value.")
        self.classes |= {each.name: each for each in self.told_classes}
        self.priorities = SYSTEM_PRIORITIES | {name: cls.value
                                               for name, cls in self.classes.items()}
        self.default_class = min((cls for cls in self.classes.values() if cls.global_default),
                                 key=lambda cls: cls.value, default=None)
        self.volumes = {obj.name for obj in self._of(api.PersistentVolume)}
        self.storage_class = _default_storage_class(self._of(api.StorageClass))
        self.default_queues = {obj.name: obj.metadata.annotations[QUEUE_NAME]
                               for obj in self._of(api.Namespace)
                               if QUEUE_NAME in obj.metadata.annotations}
        self.given_groups = {_key(obj): obj for obj in self._of(api.PodGroup)}
        annotations = {(obj.namespace or "default", obj.kind, obj.name): obj.metadata.annotations
                       for obj in self._of(api.Workload)}
        self.groups = PodGroups(annotations, {*self.given_groups})
        self.ready = _ready_by_task(running)
        self._specs: dict[int, tuple[api.PodSpec, api.PodSpec]] = {}

    def _of(self, kind: type[T]) -> list[T]:
        return [obj for obj in self.objects if isinstance(obj, kind)]

    def label(self, obj: api.KubernetesObject) -> str:
        """How a sentence names an object."""
        place = self.into.places.get(place_key(obj))
        return f"{obj.kind} {obj.key}" + (f" ({place})" if place else "")

    def count(self, obj: api.KubernetesObject) -> int:
        """How many pods controllers create of an object."""
        if isinstance(obj, api.VolcanoJob):
            return sum(task.replicas for task in obj.spec.tasks)
        if isinstance(obj, api.Workload):
            return pod_count(obj, self.nodes)
        return (operators.pod_count(obj, self.objects)
                if isinstance(obj, operators.OperatorObject) else 0)

    def parts(self, obj: api.KubernetesObject) -> list[api.KubernetesObject]:
        """Return what the scheduler hears of in place of an object: controllers make nothing twice,
        and no pods beside a PodGroup that is there.
        """
        if isinstance(obj, api.Queue) and obj.metadata.resource_version and not obj.status.state:
            self._unmade(obj, "its status.state is unset, and no job of it is admitted before "
                         "Volcano's controller has opened it; here it is taken as Open")
        if isinstance(obj, api.VolcanoJob):
            return self._job(obj)
        if isinstance(obj, api.PodGroup):
            return [named_by_job(obj)]
        if isinstance(obj, api.Workload):
            return self._workload(obj)
        if isinstance(obj, operators.OperatorObject):
            return self._operator(obj)
        return [] if isinstance(obj, api.ConfigMap) else [obj]

    def _job(self, job: api.VolcanoJob) -> list[api.KubernetesObject]:
        has_group, has_pods = self.owners.has(job, api.PodGroup), self.owners.has(job, api.Pod)
        phase = job.status.state.phase
        if phase in FINISHED and (has_group or not has_pods):
            again = (f"; vcctl job resume -n {job.namespace} -N {job.name} starts it again"
                     if phase == "Aborted" else "")
            tried = f" after {job.status.retry_count} retries" if job.status.retry_count else ""
            self.into.unmade[job.key] = [
                f"it is {phase}{tried}, and its controller makes no pods for it" if has_pods
                else f"it is {phase}{tried} and has no pods{again}"]
            return []
        ready = {task.name: self.ready[job.namespace, job.name, task.name]
                 for task in job.spec.tasks}
        group, pods = jobs.expand(job, self.priorities, ready)
        for task, others in jobs.waiting_tasks(job, ready).items():
            if not has_pods or f"{job.namespace}/{job.name}-{task}-0" not in self.pods:
                self._unmade(job, f"the pods of its task {task} are made when those of "
                             f"{', '.join(others)} run (dependsOn), and not before")
        if has_pods:
            told = jobs.lacking(job, [pod for pod in pods if pod.key not in self.pods], len(pods),
                                self.quotas)
            if told:
                self._unmade(job, told)
            return [] if has_group else [group]
        pods = self._admitted(job, pods)
        if not has_group:
            return [group, *pods]
        named = self.owners.groups.get((job.namespace, job.name), job.name)
        given = self.given_groups.get(f"{job.namespace}/{named}", group)
        if phase in ENDING:
            self._unmade(job, f"it is {phase}: its controller ends its pods, and makes none before "
                         "they are gone")
        elif given.status.phase not in ("", "Pending"):
            self._unmade(job, f"its PodGroup is {given.status.phase} and none of its pods is among "
                         "the objects; none are made")
        else:
            self.into.later[job.key] = [pod.changed(metadata={
                "annotations": pod.metadata.annotations | {jobs.GROUP_NAME: given.name}})
                for pod in pods]
        return []

    def _operator(self, obj: operators.OperatorObject) -> list[api.KubernetesObject]:
        """What the operator of a kind creates; objects that it creates create others in turn."""
        label = operators.OPERATORS[type(obj)].label
        made = operators.created(
            obj, self.objects, lambda name: self.given_groups.get(f"{obj.namespace}/{name}"),
            self.owners.kinds(obj, label), self.priorities)
        for sentence in made.sentences:
            self._unmade(obj, sentence)
        pods = self._admitted(obj, [each for each in made.objects if isinstance(each, api.Pod)])
        parts: list[api.KubernetesObject] = []
        time = obj.metadata.creation_timestamp or FIRST_TIME
        for each in made.objects:
            if not isinstance(each, api.Pod):
                parts += self.parts(_identified(each, time))
        if later := self._admitted(obj, made.later):
            self.into.later[obj.key] = later
        return parts + pods

    def _workload(self, workload: api.Workload) -> list[api.KubernetesObject]:
        child = api.ReplicaSet if isinstance(workload, api.Deployment) else api.Pod
        template = workload.spec.template
        if (QUEUE_NAME in workload.metadata.annotations and not workload.metadata.owner_references
                and QUEUE_NAME not in template.metadata.annotations
                and template.spec.scheduler_name == SCHEDULER):
            self._warn(workload, f'metadata.annotations "{QUEUE_NAME}" has no effect, as Volcano '
                       "reads it of the pods; allowed is spec.template.metadata.annotations")
        if self.owners.has(workload, child):
            return []
        if not pod_count(workload, self.nodes):
            if workload.spec.suspend:
                self._unmade(workload, "spec.suspend is true, so that no pods are made of it")
            return []
        scheduler = template.spec.scheduler_name or "default-scheduler"
        if scheduler != SCHEDULER:
            self._unmade(workload,
                         f"its pods are for another scheduler, {scheduler}, and are not made")
            return []
        pods = pods_of(workload, self.nodes)
        if isinstance(workload, api.Deployment):  # its ReplicaSet has its annotations
            owner = pods[0].metadata.owner_references[0].name
            self.groups.owners[workload.namespace, "ReplicaSet",
                               owner] = workload.metadata.annotations
        return self._admitted(workload, pods)

    def _admitted(self, owner: api.KubernetesObject, pods: list[api.Pod]) -> list[api.Pod]:
        """The pods that the API server lets a controller make."""
        new = [pod for pod in pods if pod.key not in self.pods]
        if len(new) < len(pods):
            self._unmade(
                owner, f"{len(pods) - len(new)} of its {len(pods)} pods are not made, for there "
                "are pods of these names with another owner (see the uid in their "
                "metadata.ownerReferences)")
        missing = {pod.spec.priority_class_name for pod in new} - self.priorities.keys() - {""}
        admitted = [pod for pod in new if pod.spec.priority_class_name not in missing]
        if missing:
            self._unmade(
                owner, f"{len(new) - len(admitted)} of its {len(new)} pods are not made, for "
                f"there is no PriorityClass {' or '.join(sorted(missing))}; add it, or take its "
                "name out")
        return admitted

    def _unmade(self, owner: api.KubernetesObject, sentence: str) -> None:
        self._warn(owner, sentence)
        self.into.unmade.setdefault(owner.key, []).append(sentence)

    def _warn(self, obj: api.KubernetesObject, sentence: str) -> None:
        self.into.warnings.append(f"{self.label(obj)}: {sentence}.")

    # -- defaults ----------------------------------------------------------------------------------

    def complete(self, obj: api.KubernetesObject) -> api.KubernetesObject:
        """Return the object with the defaults of its kind."""
        complete = {api.Pod: self._pod, api.PodGroup: self._pod_group, api.Queue: _queue,
                    api.Node: _node, api.PersistentVolumeClaim: self._claim,
                    api.PersistentVolume: _volume, api.StorageClass: _storage_class}.get(type(obj))
        return complete(obj) if complete else obj

    def _pod(self, pod: api.Pod) -> api.Pod:
        """A pod; those of one template share its spec."""
        spec, known = pod.spec, self._specs.get(id(pod.spec))
        if known is None:
            both = [[_container(container, spec.host_network) for container in containers]
                    for containers in (spec.containers, spec.init_containers)]
            complete = attrs.evolve(spec, containers=both[0], init_containers=both[1],
                                    scheduler_name=spec.scheduler_name or "default-scheduler")
            self._set_priority(pod, complete)
            known = self._specs[id(spec)] = spec, complete
        status = pod.status if pod.status.phase else attrs.evolve(pod.status, phase="Pending")
        return api.Pod(pod.metadata, known[1], status)

    def _pod_group(self, group: api.PodGroup) -> api.PodGroup:
        """A PodGroup; a new one in the default queue gets that of its namespace, if one is named.
        """
        spec, topology = group.spec, group.spec.network_topology
        if topology is not None and not topology.mode:
            topology = attrs.evolve(topology, mode="hard")
        policies = [attrs.evolve(policy, min_sub_groups=policy.min_sub_groups or 0, sub_group_size=1
                                 if policy.sub_group_size is None else policy.sub_group_size)
                    for policy in spec.sub_group_policy]
        queue = spec.queue or "default"
        if queue == "default" and not group.status.phase:
            queue = self.default_queues.get(group.namespace) or queue
        return group.changed(status={"phase": group.status.phase or "Pending"}, spec={
            "queue": queue, "network_topology": topology, "sub_group_policy": policies})

    def _claim(self, claim: api.PersistentVolumeClaim) -> api.PersistentVolumeClaim:
        """A claim; one that is new and names its volume gets it, where there is such a volume."""
        volume, name = claim.spec.volume_name, claim.spec.storage_class_name
        if name is None and CLASS not in claim.metadata.annotations and self.storage_class:
            claim = claim.changed(spec={"storage_class_name": self.storage_class.name})
        if not claim.status.phase and volume in self.volumes:
            return claim.bound(volume)
        return claim.changed(status={"phase": claim.status.phase or "Pending"})

    def _set_priority(self, pod: api.Pod, spec: api.PodSpec) -> None:
        """The priority of the pod's class, or of the class that is the cluster's default, or 0."""
        if spec.priority is not None:
            return
        if not spec.priority_class_name and self.default_class:
            spec.priority_class_name = self.default_class.name
        name = spec.priority_class_name
        spec.priority = self.priorities.get(name, 0)
        if name in self.classes:
            spec.preemption_policy = spec.preemption_policy or self.classes[name].preemption_policy
        elif name and name not in self.priorities:
            self.problems.append(f'{self.label(pod)}: spec.priorityClassName is "{name}"; allowed '
                                 f"is {', '.join(sorted(self.priorities))}")


def _container(container: api.Container, host_network: bool) -> api.Container:
    """Limits count as requests where there are none; on the host's network each port is a host
    port.
    """
    requests = {**container.resources.limits, **container.resources.requests}
    ports = [attrs.evolve(port, protocol=port.protocol or "TCP",
                          host_port=port.host_port or (port.container_port if host_network else 0))
             for port in container.ports]
    resources = attrs.evolve(container.resources, requests=requests)
    return attrs.evolve(container, ports=ports, resources=resources)


def _queue(queue: api.Queue) -> api.Queue:
    notes, spec = queue.metadata.annotations, queue.spec
    path, weights = notes.get(HIERARCHY), notes.get(HIERARCHY_WEIGHTS)
    if path and weights and not path.startswith("root"):
        notes = notes | {HIERARCHY: f"root/{path}", HIERARCHY_WEIGHTS: f"1/{weights}"}
    return queue.changed(metadata={"annotations": notes}, status={
        "state": queue.status.state or "Open"}, spec={
            "weight": spec.weight or 1, "reclaimable": spec.reclaimable is not False})


def _node(node: api.Node) -> api.Node:
    status = {"allocatable": node.status.allocatable or dict(node.status.capacity),
              "capacity": node.status.capacity or dict(node.status.allocatable)}
    return node.changed(metadata={"labels": {HOSTNAME: node.name, **node.metadata.labels}},
                        status=status)


def _volume(volume: api.PersistentVolume) -> api.PersistentVolume:
    phase = volume.status.phase or ("Available" if volume.spec.claim_ref is None else "Bound")
    return volume.changed(status={"phase": phase})


def _storage_class(found: api.StorageClass) -> api.StorageClass:
    return attrs.evolve(found, volume_binding_mode=found.volume_binding_mode or "Immediate")
