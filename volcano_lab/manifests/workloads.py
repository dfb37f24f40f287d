"""The pods that Kubernetes' own controllers create for Deployments, StatefulSets, Jobs and so on.

For new objects in a cluster at rest: no rolling update, no pod of a Job has ended. Pods of other
schedulers are not created, because no simulated scheduler would place them.
"""

from collections.abc import Callable, Iterable, Sequence
from zlib import crc32

from volcano_lab.api import objects as api
from volcano_lab.api.node_affinity import required_node_affinity
from volcano_lab.api.taints import first_untolerated
from volcano_lab.manifests.job_controller import volume_of
from volcano_lab.manifests.names import series
from volcano_lab.messages import Message, Said

DAEMONS_TOLERATE = [
    api.Toleration(f"node.kubernetes.io/{what}", "Exists", effect=effect)
    for effect, names in (("NoExecute", "not-ready unreachable"), (
        "NoSchedule", "disk-pressure memory-pressure pid-pressure unschedulable"))
    for what in names.split()]
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
"""The label of objects that Kueue admits."""
MOST_PODS, MOST_QUEUES_DEEP = 50_000, 200
"""The most pods of all controllers, and levels of queues: the API bounds neither."""


def pod_count(workload: api.Workload, objects: Iterable[api.KubernetesObject]) -> int:
    """Return how many pods a workload's controller creates at first.

    >>> pod_count(api.BatchJob(spec=api.WorkloadSpec(completions=3, parallelism=5)), [])
    3
    """
    spec = workload.spec
    if isinstance(workload, api.DaemonSet):
        return len(_daemon_nodes(workload, objects))
    if not isinstance(workload, api.BatchJob):
        return 1 if spec.replicas is None else spec.replicas
    parallel = 1 if spec.parallelism is None else spec.parallelism
    return 0 if spec.suspend else min(parallel, parallel if spec.completions is None else
                                      spec.completions)


def suspended(owner: api.KubernetesObject, field: str = "spec.suspend", value: str = "true"
              ) -> Message:
    """Return that an object is suspended by a field, and whether Kueue has to admit it.

    >>> suspended(api.BatchJob(api.ObjectMeta("x", labels={KUEUE_QUEUE: "a"}))).facts["kueue"].code
    'not_created.kueue'
    """
    queue = owner.metadata.labels.get(KUEUE_QUEUE)
    return Message("not_created.suspended", field=field, value=value,
                   owner=f"{owner.kind.lower()}/{owner.key}",
                   kueue=Message("not_created.kueue", queue=queue) if queue else None)


def job_end(job: api.Workload) -> Message | None:
    """Return how a Job of Kubernetes has ended, by its conditions; None for one that has not.

    >>> done = {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}
    >>> print(job_end(api.BatchJob(status=done)))
    it is Failed (DeadlineExceeded), and its controller creates no pods for it any more: delete it
    and create it again
    """
    for each in job.status.get("conditions") or () if isinstance(job, api.BatchJob) else ():
        if each.get("type") in ("Complete", "Failed") and each.get("status") == "True":
            why = f" ({each['reason']})" if each.get("reason") else None
            return Message("not_created.finished", phase=each["type"], tried=why)
    return None


def pods_of(workload: api.Workload, objects: Iterable[api.KubernetesObject]) -> list[api.Pod]:
    """Return the pods that a workload's controller creates at first; a Deployment's are owned by
    a ReplicaSet.
    """
    owner, template = workload, workload.spec.template
    kind, name, uid = owner.kind, owner.name, owner.metadata.uid
    labels = dict(template.metadata.labels)
    if isinstance(workload, api.Deployment):
        digest = f"{crc32(repr(template).encode()):08x}"
        labels["pod-template-hash"] = digest
        kind, name, uid = "ReplicaSet", f"{name}-{digest}", f"{uid}-{digest}"
    elif isinstance(workload, api.BatchJob):
        labels |= {"batch.kubernetes.io/job-name": name, "job-name": name}
    reference = api.OwnerReference(owner.api_versions[0], kind, name, uid, True, True)
    nodes = _daemon_nodes(workload, objects) if isinstance(workload, api.DaemonSet) else []
    pods, names = [], series(f"{name}-")
    for number in range(pod_count(workload, nodes)):
        own, spec = f"{name}-{number}", template.spec
        if isinstance(workload, api.StatefulSet):
            own_labels = labels | {"apps.kubernetes.io/pod-index": str(number),
                                   "statefulset.kubernetes.io/pod-name": own}
            spec = _with_claims(workload, own)
        else:
            own, own_labels = next(names), labels
        if nodes:
            spec = _on_node(template, nodes[number].name)
        pods.append(api.Pod(api.ObjectMeta(own, owner.namespace, labels=own_labels,
                                   annotations=template.metadata.annotations,
                                   owner_references=[reference]), spec))
    return pods


def _with_claims(workload: api.StatefulSet, pod: str) -> api.PodSpec:
    """Return the spec of a StatefulSet's pod: its claims replace volumes of their names."""
    spec, names = workload.spec.template.spec, [
        each.metadata.name for each in workload.spec.volume_claim_templates]
    return spec if not names else spec.evolve(volumes=[
        *(volume for volume in spec.volumes if volume.get("name") not in names),
        *(volume_of(name, f"{name}-{pod}") for name in names)])


def _daemon_nodes(workload: api.DaemonSet, objects: Iterable[api.KubernetesObject]
                  ) -> list[api.Node]:
    """Return nodes that the pods select and without an untolerated taint."""
    spec = workload.spec.template.spec
    required = required_node_affinity(api.Pod(spec=spec))
    return [node for node in objects if isinstance(node, api.Node) and required.matches(node)
            and not first_untolerated(node.spec.taints, [*spec.tolerations, *DAEMONS_TOLERATE])]


def _on_node(template: api.PodTemplateSpec, name: str) -> api.PodSpec:
    """Return the spec of a daemon's pod: an affinity to one node by its name replaces its own."""
    term = api.NodeSelectorTerm(
        match_fields=[api.NodeSelectorRequirement("metadata.name", "In", [name])])
    affinity = (template.spec.affinity or api.Affinity()).evolve(
        node_affinity=api.NodeAffinity(api.NodeSelector([term])))
    return template.spec.evolve(affinity=affinity,
                                tolerations=[*template.spec.tolerations, *DAEMONS_TOLERATE])


def too_large(objects: Sequence[api.KubernetesObject],
              count: Callable[[api.KubernetesObject], int],
              label: Callable[[api.KubernetesObject], Said]) -> list[Message]:
    """Return messages about what would take hours: pods beyond bounds (`count` returns how many a
    controller creates), too many levels of queues. Pods of a refused object do not count for the
    others.
    """
    problems, pods = [], 0
    for obj in objects:
        own = count(obj)
        if pods + own <= MOST_PODS:
            pods += own
        else:
            problems.append(Message("problem", place=label(obj), what=Message(
                "too_large.pods", own=own, most=MOST_PODS)))
    parents = {obj.name: obj.spec.parent for obj in objects if isinstance(obj, api.Queue)}
    depths: dict[str, int] = {"": 0}
    for name in parents:
        path: dict[str, None] = {}  # a cycle of parents ends where it began
        while name not in depths and name not in path:
            path[name] = None
            name = parents.get(name, "")
        depths |= {queue: depths.get(name, 0) + below
                   for below, queue in enumerate(reversed(path), 1)}
    deepest = max(depths, key=depths.__getitem__)
    if depths[deepest] > MOST_QUEUES_DEEP:
        problems.append(Message("problem", place=Message("place.queue", name=deepest), what=Message(
            "too_large.queues", depth=depths[deepest], most=MOST_QUEUES_DEEP)))
    return problems
