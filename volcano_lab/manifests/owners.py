"""The owners of objects: owner references, as controllers set and read them.

A controller creates nothing for an owner whose children are among the objects already, as in
kubectl's output of a running cluster.

Volcano: pkg/controllers/job/job_controller_actions.go (getPodGroupByJob)
"""

import re
from collections.abc import Iterable, Iterator

from volcano_lab.api import objects as api
from volcano_lab.api.objects import OwnerReference, Pod, PodGroup, VolcanoJob
from volcano_lab.api.objects.pod import PodStatus
from volcano_lab.manifests import loader, operators, workloads
from volcano_lab.manifests.job_controller import GROUP_NAME, JOB_NAME

UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
JOB = "batch.volcano.sh/Job"
"""Volcano's Job; a Job without a group is Kubernetes' own."""


class Owners:
    """Index of objects by owner; `groups` has the PodGroup of each Volcano Job.

    >>> from volcano_lab.api.objects import ObjectMeta, OwnerReference, VolcanoJob
    >>> job = VolcanoJob(ObjectMeta("train", "team"))
    >>> owner = OwnerReference(job.api_versions[0], "Job", "train")
    >>> Owners([Pod(ObjectMeta("p", "team", owner_references=[owner]))]).has(job, Pod)
    True
    """

    def __init__(self, objects: Iterable[api.KubernetesObject]) -> None:
        self._uids: dict[tuple[str, str, str, str], set[str]] = {}
        self._given: dict[tuple[str, str, str], str] = {}
        self._groups: set[tuple[str, str]] = set()
        self._labelled: set[tuple[str, str, str]] = set()
        self.groups: dict[tuple[str, str], str] = {}
        for obj in objects:
            namespace = obj.namespace or "default"
            self._given[loader.place_key(obj)] = obj.metadata.uid
            if isinstance(obj, PodGroup):
                self._groups.add((namespace, obj.name))
                obj = named_by_job(obj)
            for reference in obj.metadata.owner_references:
                owner = owner_kind(reference.api_version, reference.kind)
                if isinstance(obj, PodGroup) and owner == JOB:
                    self.groups.setdefault((namespace, reference.name), obj.name)
                self._add(obj.kind, owner, namespace, reference.name, reference.uid)
            if isinstance(obj, Pod):
                self._labelled.update((namespace, *named) for named in by_label(obj))
            if isinstance(obj, Pod) and (above := deployment_of(obj)):
                self._add("ReplicaSet", "Deployment", namespace, above, "")
            if isinstance(obj, Pod) and not obj.metadata.owner_references:
                self._add("Pod", JOB, namespace, obj.metadata.annotations.get(JOB_NAME, ""), "")

    def _add(self, child: str, owner: str, namespace: str, name: str, uid: str) -> None:
        self._uids.setdefault((child, owner, namespace, name), set()).add(uid)

    def kinds(self, owner: api.KubernetesObject) -> set[str]:
        """Return the kinds of an owner's children; pods also if a label names it."""
        kind, namespace = owner_kind(owner.api_versions[0], owner.kind), owner.namespace
        found = {child for child in {key[0] for key in self._uids}
                 if (child, kind, namespace, owner.name) in self._uids}
        return found | ({"Pod"} if (namespace, owner.kind, owner.name) in self._labelled else set())

    def has(self, owner: api.KubernetesObject, child: type[api.KubernetesObject]) -> bool:
        """Return whether the owner has a child of that kind; uids are compared if both have one."""
        uid = self._given.get(loader.place_key(owner), "")
        kind = owner_kind(owner.api_versions[0], owner.kind)
        namespace = owner.namespace or "default"
        uids = self._uids.get((child.kind, kind, namespace, owner.name), set())
        named = child is PodGroup and kind == JOB and not self._groups.isdisjoint(
            (namespace, name) for name in (owner.name, f"{owner.name}-{uid}"))
        return named or (bool(uids) and (not uid or not uids.isdisjoint((uid, ""))))


def named_by_job(group: PodGroup) -> PodGroup:
    """Return a PodGroup with the reference to its Job that its name implies: tools that clean
    exports drop references, and `JOB-UID` stays.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> group = PodGroup(ObjectMeta("train-a8823096-1111-2222-3333-444444444444"))
    >>> named_by_job(group).metadata.owner_references[0].name
    'train'
    """
    found = re.fullmatch(f"(.+)-({UUID})", group.name)
    if not found or found[1] == "podgroup" or group.metadata.owner_references:
        return group
    owner = OwnerReference(VolcanoJob.api_versions[0], "Job", found[1], found[2], True)
    return group.changed(metadata={"owner_references": [owner]})


def deployment_of(pod: Pod) -> str:
    """Return the name of a pod's Deployment, also where its ReplicaSet is not among the objects; ""
    without one.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> deployment_of(Pod(ObjectMeta("web-7f-a", labels={"pod-template-hash": "7f"},
    ...     owner_references=[OwnerReference("apps/v1", "ReplicaSet", "web-7f")])))
    'web'
    """
    digest = pod.metadata.labels.get("pod-template-hash", "")
    return next((owner.name.removesuffix(f"-{digest}") for owner in pod.metadata.owner_references
                 if owner.kind == "ReplicaSet" and owner.name.endswith(f"-{digest}")), "")


def by_label(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the (kind, name) of each object of an operator that a label of a pod may name.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> [*by_label(Pod(ObjectMeta(labels={"ray.io/cluster": "a"})))]
    [('RayCluster', 'a')]
    """
    for label in operators.NAMED_BY.keys() & pod.metadata.labels.keys():
        for kind in operators.NAMED_BY[label]:
            yield kind, pod.metadata.labels[label]


def pods_asked(owner: api.KubernetesObject, objects: list[api.KubernetesObject]) -> int:
    """Return how many pods a controller creates for an owner among some objects, for any other 0.

    >>> from volcano_lab.api.objects import Deployment
    >>> pods_asked(Deployment(), []), pods_asked(Pod(), [])
    (1, 0)
    """
    if isinstance(owner, VolcanoJob):
        return sum(task.replicas for task in owner.spec.tasks)
    if isinstance(owner, api.Workload):
        return workloads.pod_count(owner, objects)
    return operators.pod_count(owner, objects) if isinstance(owner, operators.OperatorObject) else 0


def job_called(group: PodGroup) -> str:
    """Return the namespace and name of a PodGroup's Volcano Job, else its own.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> job = OwnerReference(VolcanoJob.api_versions[0], "Job", "train")
    >>> job_called(PodGroup(ObjectMeta("train-1", "team", owner_references=[job])))
    'team/train'
    """
    return f"{group.namespace}/" + next((ref.name for ref in group.metadata.owner_references if (
        owner_kind(ref.api_version, ref.kind) == JOB)), group.name)


def created_again(pod: Pod) -> Pod:
    """Return a pod as its controller creates it again."""
    uid = pod.metadata.uid
    fresh = {"uid": uid and f"{uid}-again", "resource_version": "", "deletion_timestamp": None}
    return pod.changed(spec={"node_name": ""}, metadata=fresh).evolve(status=PodStatus("Pending"))


def submitted_again(pod: Pod) -> Pod:
    """Return the same without a uid and a creation time, which the API server gives it."""
    return created_again(pod).changed(metadata={"uid": "", "creation_timestamp": None})


def has_controller(group: PodGroup) -> bool:
    """Return whether a controller creates evicted pods of a PodGroup again: none does where the
    group belongs to the pod itself.

    >>> has_controller(PodGroup())
    True
    """
    return "Pod" not in owners_of(group)


def owner_kind(api_version: str, kind: str) -> str:
    """Return the kind, with its group in front for those of Volcano.

    >>> owner_kind("batch/v1", "Job"), owner_kind("batch.volcano.sh/v1alpha1", "Job")
    ('Job', 'batch.volcano.sh/Job')
    """
    group = api_version.rpartition("/")[0]
    return f"{group}/{kind}" if group.endswith("volcano.sh") else kind


def owners_of(obj: api.KubernetesObject) -> set[str]:
    """Return the kinds of an object's owners."""
    return {owner_kind(ref.api_version, ref.kind) for ref in obj.metadata.owner_references}


def job_of(pod: Pod) -> str:
    """Return the namespace and name of a pod's PodGroup; "" without one."""
    group = pod.metadata.annotations.get(GROUP_NAME, "")
    return f"{pod.namespace}/{group}" if group else ""
