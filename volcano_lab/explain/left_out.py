"""Why an object is not in the session: nothing has created it, its queue or its PodGroup does not
exist, or its pods name another scheduler.

Volcano: none
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from attrs import evolve

from volcano_lab.api.objects import OwnerReference, Pod, PodGroup
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.changes import Change, at_path, draft
from volcano_lab.explain import kubelet, options, origin, quotas
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, Explanation
from volcano_lab.explain.options import Objects, Option, World
from volcano_lab.explain.outcome import outcome
from volcano_lab.explain.owners import unread_group
from volcano_lab.explain.remedy import Remedy, gains
from volcano_lab.explain.standing import elsewhere
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests import OPERATORS, SCHEDULER, document, job_of, operators, with_defaults
from volcano_lab.manifests.workloads import suspended
from volcano_lab.messages import Message, meant
from volcano_lab.trace import Names

WhyWith = Callable[[Objects, str], Explanation]
LABELS = {row.label for row in OPERATORS.values() if "/" in row.label}
"""Labels in which pods have the name of the object of which an operator has created them."""
ENDED = ("Succeeded", "Failed")
RESUMED = {"true": False, "suspended": "running", "0": 1}
"""The value of a field that suspends an owner -> the one that resumes it."""


def left_out(seen: Evidence, what: str, why_job: Callable[[str], Explanation],
             why_with: WhyWith) -> Explanation | None:
    """Why an object of this name is not in the session; `why_with` answers about a job in another
    world.
    """
    alike = {key for key in (*seen.not_created, *seen.named)
             if "/" not in what and key.partition("/")[2] == what}
    key = min(alike) if len(alike) == 1 else what
    pods = sorted(_pods_called(seen, key), key=lambda pod: bool(pod.spec.node_name))
    for pod in pods:
        group = job_of(pod)
        if pod.spec.scheduler_name not in ("", SCHEDULER):
            return why_job(group) if group in seen.ssn.jobs else Explanation(
                f"pod {pod.key}", Message("left_out.stranger", name=what,
                                          scheduler=pod.spec.scheduler_name),
                [*elsewhere([pod], _creator(seen, pod))])
        if pod.status.phase in ENDED and what in _names(pod):
            return _ended(seen, pod)
    names = {what, key, f"default/{what}", *(pod.key for pod in pods)}
    groups = _groups(seen, names, pods)
    reason = next((reason for reason in seen.ssn.snapshot.left_out if isinstance(
        reason, Message) and reason.facts["name"] in (groups or names)), None)
    if reason is None:
        return _not_created(seen, what, names)
    lost = {key: queue for key, queue in groups.items() if queue not in seen.ssn.queues}
    return Explanation(what, Message("left_out.head", why=[
        Message(reason.code, **{**reason.facts, "name": what}),
        *_also(seen, reason, groups, pods)]), [Cause("left_out", "")],
        partial(_with_a_queue, seen, what, lost, why_with) if lost else None)


def _ended(seen: Evidence, pod: Pod) -> Explanation:
    """How a pod has ended, and why what has created it creates no other."""
    after = _not_created(seen, pod.key, {
        f"{pod.namespace}/{owner.name}" for owner in pod.metadata.owner_references})
    return Explanation(f"pod {pod.key}", Message(
        "left_out.ended", name=pod.key, phase=pod.status.phase,
        why=kubelet.why_ended(pod) or None), [Cause("left_out", after.said), *(
            after.causes)] if after else [Cause("left_out", "")])


def _names(pod: Pod) -> tuple[str, ...]:
    return pod.key, pod.name, f"pod/{pod.name}"


def _creator(seen: Evidence, pod: Pod) -> OwnerReference | None:
    """What has created a pod, or what has created that in turn."""
    owners, found = pod.metadata.owner_references, None
    while owners:
        found = owners[0]
        owners = next((obj.metadata.owner_references for obj in seen.named.get(
            f"{pod.namespace}/{found.name}", ()) if obj.kind == found.kind), [])
    return found


def _not_created(seen: Evidence, what: str, names: set[str]) -> Explanation | None:
    """Why the controllers do not create an object of these names, or its pods."""
    names = names | _with_created(seen, what)
    reasons = [Message("not_created", name=name, what=why)
               for name, sentences in seen.not_created.items()
               for why in sentences if not names.isdisjoint([name, *(
                   f"{name.partition('/')[0]}/{each}"
                   for each in why.facts.get("names", ()))])]
    reasons += _at_none(seen, names.difference(seen.not_created))
    if not reasons:
        return None
    reasons += [Message("not_created", name=name, what=group) for name in sorted(names)
                for reason in reasons if reason.facts["name"] == name
                for said in [reason.facts["what"].facts.get("webhook")]
                for group in [said and said.code == "webhook.group" and unread_group(
                    seen, f"{name.partition('/')[0]}/{said.facts['name']}", next(iter(
                        seen.named.get(name, ())), None))] if group]
    reasons += seen.by_kueue(*names)
    reasons.sort(key=lambda reason: reason.facts["what"].code in document.UNREAD)
    created = [*_created(seen, reasons)]
    begins = tuple(f"{name}-" for name in names)
    alike = [job for job in map(seen.called, seen.ssn.jobs) if job.startswith(begins)]
    if alike and reasons[0].facts["what"].code in document.UNREAD:
        reasons.append(Message("left_out.begins", jobs=alike))
    return Explanation(what, reasons[0], [Cause("left_out", reasons[1:])],
                       partial(_with_pods, seen, what, created) if created else None)


def _at_none(seen: Evidence, names: set[str]) -> Iterator[Message]:
    """Yield that objects of these names ask for no pods."""
    for name in sorted(names & seen.named.keys()):
        for obj in seen.named[name]:
            if at_path(obj, ["spec", "replicas"]) == 0:
                yield Message("not_created", name=name, what=suspended(obj, "spec.replicas", "0"))


def _created(seen: Evidence, reasons: list[Message]) -> Iterator[Option]:
    """Yield what lets controllers create pods: a quota that allows more, their PriorityClass, a Job
    that is submitted again, an owner that is resumed unless Kueue decides when.
    """
    for reason in reasons:
        why = reason.facts["what"]
        code, facts = why.code, why.facts
        if refusal := quotas.refusal_of(why):
            yield from options.quota_raised(refusal["quota"], refusal["wanted"].items(),
                                            quotas.wanted_by_all(seen, refusal).items())
        if code == "not_created.priority":
            yield options.once(*(
                f'priorityclass/{each}={{"value": 0}}' for each in facts["classes"]))
        if code == "not_created.no_pods":
            yield options.once(f"job/{reason.facts['name']}.status.state.phase=Pending")
        if code == "not_created.suspended" and facts["kueue"] is None:
            yield options.once(options.setting(
                facts["owner"], *facts["field"].split(".")[1:], to=RESUMED[facts["value"]]))


def _with_pods(seen: Evidence, name: str, created: list[Option], _: float) -> Iterator[Remedy]:
    """The remedies of an owner whose pods are not created, each at its first step that helps."""
    world = World(seen.given, seen.ssn.conf)
    for option in created:
        for change in map(option.at, range(1, option.steps + 1)):
            objects, conf = change.given(world.objects, world.conf)
            pod = next((obj for obj in objects if isinstance(obj, Pod) and any(
                name in (made, f"{obj.namespace}/{made}") for _, owner in draft.owners_of(obj)
                for made in (owner, owner.rpartition("-")[0]))), None)  # or by a CronJob
            found = pod and [*_remedy(seen, world, name, change, (objects, conf), job_of(pod))]
            if found:
                yield from found
                break


def no_queue(seen: Evidence, name: str, why_with: WhyWith) -> Explanation | None:
    """Which jobs are in a queue of this name, which does not exist."""
    lost = {uid: said.facts["name"] for uid, said in absent(seen).items()
            if said.facts.get("queue") == name}
    return Explanation(f"queue {name}", Message(
        "left_out.queue", queue=name, n=len(lost), jobs=[*lost.values()], near=origin.near(
            name, seen.ssn.queues)), [Cause("left_out", "")], partial(
        _with_a_queue, seen, next(iter(lost.values())), dict.fromkeys([*lost][:1], name),
        why_with)) if lost else None


def _pods_called(seen: Evidence, what: str) -> list[Pod]:
    """The pods of a name, or that name a PodGroup of it, or else those of an owner of that name, or
    of what it has created, without a PodGroup.
    """
    pods, made = [obj for obj in seen.objects if isinstance(obj, Pod)], _with_created(seen, what)
    own = [pod for pod in pods if what in _names(pod)]
    return own or ([] if _groups(seen, {what, f"default/{what}"}, []) else [
        pod for pod in pods if job_of(pod) == what or any(
            not made.isdisjoint((owner.name, f"{pod.namespace}/{owner.name}"))
            for owner in pod.metadata.owner_references)])


def _with_created(seen: Evidence, what: str) -> set[str]:
    """A name, and those of the objects that an owner of that name has created."""
    return {what} | {obj.key for obj in seen.given for owner in obj.metadata.owner_references
                     if what in (owner.name, f"{obj.namespace}/{owner.name}")}


def _also(seen: Evidence, left_out: Message, groups: dict[str, str], pods: list[Pod]
          ) -> Iterator[Message]:
    """Yield the annotation of a PodGroup that is gone, queues, and PodGroups of the same name
    in other namespaces.
    """
    queue = groups.get(left_out.facts["name"], "default")
    for pod in pods[:1] if left_out.code == "left_out.no_pod_group" else ():
        group = pod.metadata.annotations[GROUP_NAME]
        owner = _creator(seen, pod)
        if other := unread_group(seen, f"{pod.namespace}/{group}", owner):
            yield other
            continue
        over = owner and next(filter(None, (operators.ended(obj) for obj in seen.named.get(
            f"{pod.namespace}/{owner.name}", ()) if isinstance(obj, operators.OperatorObject)
            and obj.kind == owner.kind)), None)
        if owner and over:
            yield Message("left_out.over", kind=owner.kind, name=owner.name, group=group,
                          phase=over.facts["phase"])
            continue
        if pod.metadata.labels.get("spark-app-selector", "?") + "-podgroup" == group:
            yield Message("left_out.spark", group=group, annotation=GROUP_NAME)
            continue
        yield Message("left_out.stale" if group.startswith("podgroup-") else "left_out.create",
                      group=group, annotation=GROUP_NAME, namespace=pod.namespace)
    if queue not in seen.ssn.queues:
        yield Message("left_out.default") if queue == "default" else origin.near(
            queue, seen.ssn.queues)
    names = {key.partition("/")[2] for key in groups}
    alike = [obj.key for obj in seen.objects if isinstance(obj, PodGroup)
             and obj.key not in groups and obj.name in names]
    if alike:
        yield Message("left_out.alike", groups=alike)


def _groups(seen: Evidence, names: set[str], pods: list[Pod]) -> dict[str, str]:
    """The PodGroups of some names, or of some pods, and the queue of each."""
    groups = {obj.key: obj.spec.queue for obj in seen.objects if isinstance(obj, PodGroup)
              and not names.isdisjoint([obj.key, *(f"{obj.namespace}/{owner.name}" for owner
                                                   in obj.metadata.owner_references)])}
    return groups | {key: "default" for pod in pods for key in (job_of(pod), pod.key)}


def _with_a_queue(seen: Evidence, name: str, lost: dict[str, str], why_with: WhyWith,
                  seconds: float) -> Iterator[Remedy]:
    """The remedies of a job that is left out: the queue with the nearest name, and a new one; with
    what the job waits for in it.
    """
    pods = [pod for pods in getattr(seen.objects, "later", {}).values() for pod in pods]
    objects = with_defaults([*seen.objects, *pods])
    objects.given = [*seen.given]
    world = World(objects, seen.ssn.conf, lambda uid: name if uid in lost else seen.called(uid))
    for uid, queue in lost.items():
        known = filter(None, [meant(queue, seen.ssn.queues, 0.7)])
        for option in (*options.in_queues(world, [uid], known), options.once(
                f'queue/{queue}={{"spec": {{"weight": 1}}, "status": {{"state": "Open"}}}}')):
            found = [*_remedy(seen, world, name, option.most, world.applied(option.most), uid)]
            if not any(remedy.placed for remedy in found):
                changed = option.most.given(seen.given, world.conf)[0]
                rest = why_with(changed, uid).remedies_within(seconds)
                found = [evolve(more, tried=option.most + more.tried, world=world)
                         for more in islice(rest, 1)] or found
            yield from found


def _remedy(seen: Evidence, world: World, name: str, change: Change,
            changed: tuple[Any, SchedulerConfiguration], uid: str) -> Iterator[Remedy]:
    """Yield a change as a remedy where a job that was not in the session runs with it."""
    after = outcome(*changed, uid, seen.ssn.now)
    if after.runs(uid) and after.rest is not None:
        yield Remedy((*gains(seen, seen.ssn, after, uid, name),), change, options.Rank.QUEUE,
                     world, Names(after.rest.session, seen.given).called(uid), after.placed(uid))


def labelled(seen: Evidence, name: str) -> list[str]:
    """Return the jobs of whose pods a label of their operator has a name: it has created no
    PodGroup.
    """
    return sorted({task.job for task in seen.tasks.values() for label in LABELS
                   for value in filter(None, [task.pod.metadata.labels.get(label)])
                   if name in (value, f"{task.namespace}/{value}")})


def absent(seen: Evidence) -> dict[str, Message]:
    """Why jobs are not in the session, by their PodGroups, unless all pods that name one that is
    gone have ended.
    """
    there = {job_of(obj) for obj in seen.objects if isinstance(obj, Pod)
             and obj.status.phase not in ENDED}
    owners = {obj.key: owner.name for obj in seen.objects if isinstance(obj, PodGroup)
              for owner in obj.metadata.owner_references[:1]}
    return {uid: Message(reason.code, **{**reason.facts, "name": (
        f"{uid.partition('/')[0]}/{owners[uid]}" if uid in owners else uid)})
        for reason in seen.ssn.snapshot.jobs_left_out for uid in [reason.facts["name"]]
        if reason.code != "left_out.no_pod_group" or uid in there}
