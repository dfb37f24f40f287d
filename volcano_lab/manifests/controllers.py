"""The objects that controllers create: PodGroup and pods of Jobs, pods of Kubernetes' own workloads
and of operators' objects, PodGroups of pods without one, claims of new pods; and why they create
none.

Volcano: pkg/controllers
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import chain
from typing import TypeVar

from volcano_lab.api import claims_of, objects as api
from volcano_lab.manifests import job_controller as jobs, operators, unsupported as not_modelled
from volcano_lab.manifests.admission.rules import state_of
from volcano_lab.manifests.claims import created_with, with_volume
from volcano_lab.manifests.field_defaults import FIRST_TIME, FieldDefaults, identified, is_there
from volcano_lab.manifests.job_controller import ENDING, FINISHED
from volcano_lab.manifests.loader import Loaded, about, labelled, place_key
from volcano_lab.manifests.owners import Owners, named_by_job
from volcano_lab.manifests.pod_group_controller import QUEUE_NAME, SCHEDULER, PodGroups
from volcano_lab.manifests.quotas import GROUPS, Counted, Limits, Quotas
from volcano_lab.manifests.workloads import job_end, pod_count, pods_of, suspended
from volcano_lab.messages import Message, Said

T = TypeVar("T")
ENDED_PODS = ("Succeeded", "Failed")


def name_of(obj: api.KubernetesObject) -> str:
    """Return an object's namespace and name; no namespace means `default`."""
    return f"{obj.namespace or 'default'}/{obj.name}"


class Controllers:
    """Creates the objects of controllers, and warns of others; `fields` completes each object."""

    def __init__(self, objects: list[api.KubernetesObject], running: list[api.Pod],
                 into: Loaded) -> None:
        self.objects, self.owners, self.into = objects, Owners(objects), into
        self.pods = {name_of(pod) for pod in self._of(api.Pod)}
        self.fields = FieldDefaults(objects, self.label)
        self.counted, self.quotas = Counted(), Quotas([
            self.fields.complete(identified(each, 0.0)) for each in objects
            if isinstance(each, Limits)], lambda pod: self.sizes.complete(pod))
        if named := self.fields.named_classes:
            into.warnings.append(about(
                Message("place.class", names=[each.name for each in named]),
                Message("priority_class.named")))
        self.given_groups = {name_of(obj): obj for obj in self._of(api.PodGroup)}
        annotations: dict[tuple[str, str, str], Mapping[str, str]] = {
            (obj.namespace or "default", obj.kind, obj.name): obj.metadata.annotations
            for obj in self._of(api.Workload)}
        self.groups = PodGroups(annotations, {*self.given_groups})
        pods = [*{name_of(pod): pod for pod in (*self._of(api.Pod), *running)}.values()]
        self.handed = {ref.uid for each in (*self._of(api.PodGroup), *(
            pod for pod in pods if pod.spec.scheduler_name == SCHEDULER))
            for ref in each.metadata.owner_references}
        self.ready, self.unready = jobs.by_task(pods, True), jobs.by_task(pods, False)

    def _of(self, kind: type[T]) -> list[T]:
        return [obj for obj in self.objects if isinstance(obj, kind)]

    def label(self, obj: api.KubernetesObject) -> Said:
        """Return an object's name in a sentence."""
        return labelled(obj, self.into.places.get(place_key(obj)))

    def parts(self, obj: api.KubernetesObject) -> Sequence[api.KubernetesObject]:
        """Return the scheduler's objects in place of an object: controllers create nothing twice,
        and no pods beside an existing PodGroup.
        """
        if isinstance(obj, api.Queue) and not state_of(obj):
            self._not_created(obj, Message("not_created.queue"))
        if isinstance(obj, api.VolcanoJob):
            return self._job(obj)
        if isinstance(obj, api.PodGroup):
            return [named_by_job(obj)]
        if isinstance(obj, api.Workload):
            return self._workload(obj)
        if isinstance(obj, operators.OperatorObject):
            return self._operator(obj)
        if isinstance(obj, api.PersistentVolumeClaim) and self.claims_decide:
            return self.claim(obj)
        return [] if isinstance(obj, (api.ConfigMap, api.LimitRange)) else [obj]

    @cached_property
    def sizes(self) -> FieldDefaults:
        """What completes pods that may never be created: their problems are not reported."""
        return FieldDefaults(self.objects, self.label)

    @cached_property
    def claims_decide(self) -> bool:
        return not_modelled.claims_decide(self.objects)

    def claim(self, claim: api.PersistentVolumeClaim) -> Sequence[api.KubernetesObject]:
        """Return a claim, and the volume that a new one gets at once."""
        there = claim.status.phase or claim.metadata.resource_version
        return [claim] if there else with_volume(
            self.fields.complete(claim), self._of(api.StorageClass),
            self._of(api.PersistentVolume))

    def claims(self) -> Iterator[api.PersistentVolumeClaim]:
        """Yield the claims that controllers create with new pods, where claims decide."""
        if not self.claims_decide:
            return
        there = {name_of(claim) for claim in self._of(api.PersistentVolumeClaim)}
        old = {name_of(pod) for pod in self._of(api.Pod) if is_there(pod)}
        owned = {(obj.api_versions[0], obj.kind, obj.namespace or "default", obj.name): obj
                 for obj in self.objects if isinstance(obj, (api.VolcanoJob, api.StatefulSet))}
        new = [obj for obj in chain(self.into, *self.into.later.values())
               if isinstance(obj, api.Pod) and obj.key not in old]
        for pod in new:
            for claim in created_with(pod, owned):
                if claim.key not in there:
                    there.add(claim.key)
                    yield claim

    def _unready(self, job: api.VolcanoJob, tasks: list[str]) -> Message | None:
        """Return the pods of some tasks that have succeeded, or else run and are not ready."""
        pods = [pod for task in tasks for pod in self.unready.get(
            (job.namespace, job.name, task), ())]
        ended = [pod for pod in pods if pod.status.phase == "Succeeded"]
        return Message(f"not_created.{'ended' if ended else 'unready'}", n=len(ended or pods),
                       pods=[pod.name for pod in ended or pods]) if pods else None

    def _until(self, job: api.VolcanoJob) -> Message | None:
        """Return that a Job gets pods once its PodGroup is admitted, where that is Pending."""
        named = self.owners.groups.get((job.namespace, job.name), job.name)
        group = self.given_groups.get(f"{job.namespace}/{named}")
        return Message("not_created.until", group=group.key) if (
            group is not None and group.status.phase in ("", "Pending")) else None

    def _job(self, job: api.VolcanoJob) -> list[api.KubernetesObject]:
        has_group, has_pods = self.owners.has(job, api.PodGroup), self.owners.has(job, api.Pod)
        phase, until = job.status.state.phase, self._until(job)
        again = until or not (has_group or has_pods)  # it gets its pods then
        ending = {*ENDING} - ({"Restarting"} if again else set())
        if phase in FINISHED or phase in ending:
            self.into.not_created[job.key] = [jobs.not_created(job, has_pods)]
            if phase in ("Terminated", "Aborted"):  # names the quota that refuses its pods
                self._within_quota(job, jobs.expand(job)[1], {})
            return [] if has_group or not has_pods else [jobs.expand(job)[0]]
        ready = {task.name: len(self.ready.get((job.namespace, job.name, task.name), ()))
                 for task in job.spec.tasks}
        group, pods = jobs.expand(job, self.fields.priorities, ready)
        self._depends(job, ready)
        named = self.owners.groups.get((job.namespace, job.name), job.name)
        given = self.given_groups.get(f"{job.namespace}/{named}", group)
        waits = given.status.phase in ("", "Pending")
        refused = given.status.phase == "Inqueue" and self._has_quota(job.namespace)
        if has_pods or (has_group and not waits and not refused):
            self._lacking(job, pods, self.pods, {}, until)
            return [] if has_group else [group]
        if not has_group:
            return [] if self._no_group(job) else [group, *self._admitted(job, pods)]
        pods = self._admitted(job, pods, counts=refused)
        pods = [pod.changed(metadata={
            "annotations": pod.metadata.annotations | {jobs.GROUP_NAME: given.name}})
            for pod in pods]
        if refused:  # these are let through now
            return [*pods]
        self.into.later[job.key] = pods
        return []

    def _depends(self, job: api.VolcanoJob, ready: dict[str, int]) -> None:
        """Say which tasks without pods wait for others."""
        for task, others in jobs.waiting_tasks(job, ready).items():
            if f"{job.namespace}/{job.name}-{task}-0" not in self.pods:
                self._not_created(job, Message("not_created.depends", task=task, others=[*others],
                                          unready=self._unready(job, others)))

    def _has_quota(self, namespace: str) -> bool:
        """Whether a ResourceQuota may have refused the pods of a namespace."""
        return any(isinstance(each, api.ResourceQuota) and each.namespace == namespace
                   for each in self.quotas.limits)

    def _operator(self, obj: operators.OperatorObject) -> list[api.KubernetesObject]:
        """Return what the operator of a kind creates; its objects create others in turn."""
        created = operators.created(
            obj, self.objects, lambda name: self.given_groups.get(f"{obj.namespace}/{name}"),
            self.owners.kinds(obj), self.fields.priorities, self.handed)
        for sentence in created.sentences:
            self._not_created(obj, sentence)
        if self._has_quota(obj.namespace) and not operators.ended(obj):
            self._beside(obj, operators.pods_of(obj))
        if any(isinstance(each, api.PodGroup) for each in created.objects) and self._no_group(obj):
            return []
        pods = self._admitted(obj, [each for each in created.objects if isinstance(each, api.Pod)])
        parts: list[api.KubernetesObject] = []
        time = obj.metadata.creation_timestamp or FIRST_TIME
        for each in created.objects:
            if not isinstance(each, api.Pod):
                self.into.created.append(each)
                parts += self.parts(identified(each, time))
        if later := self._admitted(obj, created.later):
            self.into.later[obj.key] = later
        return parts + pods

    def _beside(self, obj: operators.OperatorObject, pods: list[api.Pod]) -> None:
        """Say which pods of an operator's object lack beside those that are there, where an Event
        says that a quota refuses them, or one does.
        """
        own = sum(ref.uid == obj.metadata.uid and pod.status.phase not in ENDED_PODS
                  for pod in self._of(api.Pod) for ref in pod.metadata.owner_references)
        named = any(pod.key in self.pods for pod in pods)  # the others have random names
        said = [each for each in self._events(obj) if "exceeded quota" in each.facts["said"]]
        if (named or 0 < own < len(pods)) and (said or not self._events(obj)):
            for each in said:
                self.into.not_created[name_of(obj)].remove(each)
            self._lacking(obj, pods, self.pods if named else own, {}, certain=bool(said))

    def _workload(self, workload: api.Workload) -> Sequence[api.KubernetesObject]:
        child = api.ReplicaSet if isinstance(workload, api.Deployment) else api.Pod
        template = workload.spec.template
        if (QUEUE_NAME in workload.metadata.annotations and not workload.metadata.owner_references
                and QUEUE_NAME not in template.metadata.annotations
                and template.spec.scheduler_name == SCHEDULER):
            self._warn(workload, Message("manifest.queue_annotation", key=QUEUE_NAME))
        if self.owners.has(workload, child):
            if isinstance(workload, api.ReplicaSet):
                there = self.active[workload.namespace or "default", workload.name]
                self._lacking(workload, pods_of(workload, []), there, {})
            return []
        if ended := job_end(workload):
            self._not_created(workload, ended)
            return []
        if not pod_count(workload, self.objects):
            if workload.spec.suspend:
                self._not_created(workload, suspended(workload))
            return []
        scheduler = template.spec.scheduler_name or "default-scheduler"
        if scheduler != SCHEDULER:
            self._not_created(workload, Message("not_created.scheduler", scheduler=scheduler))
            return []
        pods = pods_of(workload, self.objects)
        if isinstance(workload, api.Deployment):  # its ReplicaSet inherits its annotations
            owner = pods[0].metadata.owner_references[0].name
            self.groups.owners[workload.namespace, "ReplicaSet",
                               owner] = workload.metadata.annotations
        return self._admitted(workload, pods)

    def _admitted(self, owner: api.KubernetesObject, pods: list[api.Pod], counts: bool = True
                  ) -> list[api.Pod]:
        """Return the pods that the API server lets a controller create; a quota `counts` none for
        others where their PodGroup is Pending.
        """
        if pods and (said := self._event(owner)):
            self._not_created(owner, said)
            return []
        new = [pod for pod in pods if pod.key not in self.pods]
        if len(new) < len(pods):
            self._not_created(owner, Message("not_created.taken", count=len(pods) - len(new),
                                        pods=len(pods)))
        known = self.fields.priorities.keys() | {""}
        missing = {pod.spec.priority_class_name for pod in new} - known
        admitted = [pod for pod in new if pod.spec.priority_class_name not in missing]
        if missing:
            self._not_created(owner, Message("not_created.priority", count=len(new) - len(admitted),
                                        pods=len(new), classes=sorted(missing)))
        unchecked = [said for pod in admitted for said in not_modelled.pod_warnings(pod)]
        if any(map(claims_of, admitted)) and not self.claims_decide:
            unchecked.append(Message("manifest.volumes_unknown"))
        self.into.warnings += [about(self.label(owner), said) for said in dict.fromkeys(unchecked)]
        return self._within_quota(owner, admitted,
                                  self.counted if counts else deepcopy(self.counted))

    def _no_group(self, owner: api.KubernetesObject) -> bool:
        """Whether the API server lets no controller create a PodGroup for an owner, and say why."""
        why = self.quotas.full_of(GROUPS, owner.namespace)
        if why is not None:
            ended = [job.name for job in self.objects if isinstance(job, api.VolcanoJob)
                     and job.namespace == owner.namespace and job.status.state.phase in FINISHED]
            self.into.not_created.setdefault(owner.key, []).insert(0, Message(
                why.code, **why.facts, ended=Message("not_created.objects.ended", jobs=ended)
                if ended else None))
        return why is not None

    def _event(self, owner: api.KubernetesObject) -> Message | None:
        """Return that a controller reports why it creates no pods of an owner; None where it does
        not, or a quota may refuse them: that is decided here.
        """
        said = self._events(owner)
        if not said or self._has_quota(owner.namespace):
            return None
        self.into.not_created[name_of(owner)].remove(said[0])
        return Message("not_created.refused", event=said[0])

    def _events(self, owner: api.KubernetesObject) -> list[Message]:
        return [said for said in self.into.not_created.get(name_of(owner), ())
                if said.code == "not_created.event"]

    def _within_quota(self, owner: api.KubernetesObject, pods: list[api.Pod], counted: Counted
                      ) -> list[api.Pod]:
        """Return the new pods of an owner that the API server lets through, beside what quotas
        count of pods created before.
        """
        if all(each.namespace != owner.namespace for each in self.quotas.limits):
            return [*pods]
        new = [pod for pod in pods if pod.key not in self.pods]
        kept = self.quotas.admitted(new, counted)
        self._lacking(owner, new, {pod.key for pod in kept}, counted)
        return kept

    @cached_property
    def active(self) -> Counter[tuple[str, str]]:
        """How many pods each ReplicaSet has that have not ended."""
        return Counter((pod.namespace or "default", owner.name) for pod in self._of(api.Pod)
                       for owner in pod.metadata.owner_references if owner.kind == "ReplicaSet"
                       and pod.status.phase not in ENDED_PODS)

    def _lacking(self, owner: api.KubernetesObject, pods: list[api.Pod],
                 there: Container[str] | int, counted: Counted,
                 until: Message | None = None, certain: bool = True) -> None:
        """Say which pods of an owner are not `there`, by name or by their number, and `until` when,
        or what refuses one more; unless that is `certain`, only where a quota does.
        """
        missing = pods[there:] if isinstance(there, int) else [
            pod for pod in pods if pod.key not in there]
        quota = self.quotas.refusal(missing, counted) if missing and not until else None
        if missing and (certain or quota):
            names = [] if isinstance(there, int) else [pod.name for pod in missing]
            self._not_created(owner, Message(
                "not_created.lacking", count=len(missing), pods=len(pods), names=names,
                which=Message("not_created.names", names=names) if names else None,
                until=until, quota=quota))

    def _not_created(self, owner: api.KubernetesObject, why: Message) -> None:
        self._warn(owner, why)
        self.into.not_created.setdefault(owner.key, []).append(why)

    def _warn(self, obj: api.KubernetesObject, what: Message) -> None:
        self.into.warnings.append(Message("problem.sentence", place=self.label(obj), what=what))
