"""What decides about a job beyond the lab: the cluster's own last answer about a pod that is placed
here, plugins that the lab does not model or whose data no export has, claims of devices, and parts
of Volcano that do not run.

Volcano: none
"""

import re
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from volcano_lab.api import PIPELINED, JobInfo, TaskInfo, amount_text, storage
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, Queue, VolcanoJob
from volcano_lab.changes import Change
from volcano_lab.explain import devices, kubelet, lint, outcome, promises, releases
from volcano_lab.explain.evidence import OWN, Evidence, counts, unbound
from volcano_lab.explain.explanation import TABLES, Cause, moment_text
from volcano_lab.explain.options import World
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests import OperatorObject, cards, events, unsupported
from volcano_lab.messages import Message, Said
from volcano_lab.trace.views.jobs import missing

BEYOND = TABLES["beyond"]
NO_REASON = re.compile(TABLES["no_reason"]["text"])
"""In the cluster's answer about a pod: it names no reason against a node."""
FOREIGN = re.compile(TABLES["no_reason"]["foreign"])
"""Likewise: a reason of a plugin that Volcano does not have."""
COUNTED = re.compile(r"\d+/(\d+) tasks in gang ")
"""How plugin gang says how many pods of a PodGroup the scheduler has seen."""
WAITED = ("beyond_answer", "waited")
"""Causes by which a pod that is placed here waits in the cluster."""
SOON = 60
"""Seconds after which the scheduler has given a PodGroup a phase."""


def beyond_causes(seen: Evidence, tasks: Iterable[TaskInfo]) -> Iterator[Cause]:
    """Yield what may keep pods waiting in the cluster that this cycle places."""
    for task in [task for task in tasks if task.node_name and seen.is_new(task)][:1]:
        said, off = _last_answer(task), kubelet.claims_off(seen, task)
        deciding = _deciding(seen, task, said)
        if task.pod.spec.resource_claims and not off:
            deciding["claims"] = kubelet.claimed(task)
        for plugin, asks in deciding.items():
            by = Message("beyond.claims.name") if plugin == "claims" else Message(
                "beyond.plugin", plugin=plugin)
            more = devices.compared(seen, task, plugin)
            what = Message(f"beyond.{plugin if plugin in {*BEYOND, 'claims'} else 'foreign'}")
            found = Cause.of("beyond", what, *more, by=by, pod=task.key, asks=asks or None)
            found.numbers |= devices.certain(more)
            yield found
        yield from [Cause("claims_off", off, context=True)] if off else ()
        yield from _unknown_claims(seen, task)
        changed = None if deciding or _waits_here(seen, task) else Message(
            "beyond.changed", how=Message("beyond.pipelined" if task.status == PIPELINED else
                                          "beyond.placed", node=task.node_name),
            version=Message("beyond.version", version=seen.scheduler) if seen.scheduler else None)
        if said or (changed and not off):
            yield from _in_cluster(seen, task, said, changed)


def named(conf: SchedulerConfiguration) -> set[str]:
    """Return the plugins of a configuration that decide beyond the lab."""
    return {*BEYOND}.intersection(conf.plugin_names())


def lacks(seen: Evidence, tasks: Iterable[TaskInfo]) -> Cause | None:
    """Return the cause by which no node has what pods, placed here, request of a plugin."""
    return next((cause for cause in beyond_causes(seen, tasks) if "sure" in cause.numbers), None)


def unplaceable(seen: Evidence) -> dict[str, list[TaskInfo]]:
    """Return the pods, by their jobs, that the cycle places, and of which no node has what a plugin
    counts that the lab does not model.
    """
    new = {job.uid: [task for task in job.tasks.values() if task.node_name and seen.is_new(task)]
           for job in seen.ssn.jobs.values()} if named(seen.ssn.conf) else {}
    return {uid: tasks for uid, tasks in new.items() if tasks and lacks(seen, tasks)}


def without_unplaceable(seen: Evidence, job: JobInfo) -> Iterator[tuple[Any, Cause]]:
    """Yield the objects without other jobs that the cycle has placed while a job waits and of which
    no node has what it counts that the lab does not model, and that these are left out.
    """
    if unbound(job) and (never := [uid for uid in unplaceable(seen) if uid != job.uid]):
        yield _without(seen, never), Cause.of(
            "unplaceable", context=True, n=len(never), jobs=[*map(seen.called, never)])


def _without(seen: Evidence, never: Iterable[str]) -> Any:
    """The objects without some jobs."""
    world = World(seen.objects, seen.ssn.conf, seen.called)
    return world.applied(Change(removals=tuple(map(world.owner, never))))[0]


def waiting(seen: Evidence) -> dict[str, int]:
    """Return how many pods of each job wait in the cluster: also those that no node has enough for
    by a count that the lab does not model, and none that wait here for these alone.
    """
    jobs, never = seen.ssn.jobs, unplaceable(seen)
    then = outcome.run(_without(seen, never), seen.ssn.conf, seen.ssn.now).jobs if never else jobs
    return {uid: sum(counts(job)[1:]) + missing(job) + len(never.get(uid, ()))
            for uid, job in jobs.items() if uid in never or unbound(then.get(uid, job))}


def _waits_here(seen: Evidence, task: TaskInfo) -> bool:
    """Whether a pod waits here, too: pipelined, for pods that leave its node, or as it is never
    bound; or held for pods of its gang that are pipelined.
    """
    return leaves(seen, task) or task in promises.held(seen.ssn.jobs[task.job]) or (
        task.status == PIPELINED and promises.promise_fails(seen, seen.ssn.jobs[task.job]))


def _unknown_claims(seen: Evidence, task: TaskInfo) -> Iterator[Cause]:
    """Yield the claims of a pod where no object that is given decides about volumes."""
    names = [each.name for each in storage.claims_of(task.pod)]
    if names and not unsupported.claims_decide(seen.given):
        yield Cause("claims_unknown", Message("claims_unknown", pod=task.key, claims=names),
                    context=True)


def _in_cluster(seen: Evidence, task: TaskInfo, said: str, changed: Message | None
                ) -> Iterator[Cause]:
    """Yield what the cluster says of a pod, or that it has waited there; where something has
    `changed`, what the release that runs decides otherwise.
    """
    known = releases.earlier(seen, seen.ssn.jobs[task.job]) if changed else []
    more = [*_not_counted(seen, seen.ssn.jobs[task.job]), *(known or filter(None, [changed]))]
    answer = Cause.of("beyond_answer", *more, pod=task.key, said=said.strip().rstrip("."))
    own = [answer] if said else [*_not_admitted(seen, task, more)]
    for each in own or _waited(seen, task, more):
        each.numbers |= {"sure": "earlier", "version": seen.scheduler} if known else {}
        yield each


def _not_counted(seen: Evidence, job: JobInfo) -> Iterator[Message]:
    """Yield that the scheduler that runs counts fewer pods of a PodGroup than were there before."""
    for each in job.pod_group.status.conditions:
        at, found = each.last_transition_time or 0.0, COUNTED.match(each.message or "")
        there = [obj for task in job.tasks.values() for obj in seen.named.get(task.key, ())
                 if (obj.metadata.creation_timestamp or inf) + SOON < at]
        if found and int(found[1]) < len(there):
            yield Message("waited.not_counted", n=int(found[1]), there=len(there),
                          time=moment_text(at))


def _not_admitted(seen: Evidence, task: TaskInfo, changed: list[Message]) -> Iterator[Cause]:
    """Yield the scheduler's Event by which it does not admit a PodGroup that is Pending."""
    key = seen.ssn.jobs[task.job].pod_group.key
    waits = {_phase(obj) for obj in seen.named.get(key, ())} & {"", "Pending"}
    for each in seen.not_created.get(events.OF_ADMISSION + key, ()) if waits else ():
        if isinstance(each, Message):
            yield Cause("beyond_answer", [Message(
                "beyond_answer.group", group=key, **each.facts), *changed], dict(each.facts))


def _waited(seen: Evidence, task: TaskInfo, changed: list[Message]) -> Iterator[Cause]:
    """Yield that a pod is older than a cycle takes and has no node, or that its PodGroup is and it
    is not created.
    """
    job = seen.ssn.jobs[task.job]
    pods = [obj for obj in seen.named.get(task.key, ()) if isinstance(obj, Pod)]
    groups = [] if any(each.key in seen.named for each in job.tasks.values()) else [
        obj for obj in seen.named.get(job.pod_group.key, ()) if isinstance(obj, PodGroup)
        and obj.status.phase == "Pending"]
    for obj in pods or groups:
        if times := _times(seen, obj):
            yield Cause("waited", [Message("waited" if pods else "waited.group", pod=task.key,
                                           group=obj.key, **times), *changed])


def _times(seen: Evidence, obj: KubernetesObject) -> dict[str, Any]:
    """When an object of the cluster was created, and the newest time, where that is later by more
    than a cycle takes; else nothing.
    """
    created = obj.metadata.creation_timestamp or inf
    return {"created": moment_text(created), "newest": moment_text(seen.newest)} if (
        obj.metadata.resource_version and created + SOON < seen.newest) else {}


def leaves(seen: Evidence, task: TaskInfo) -> bool:
    """Whether a pod is pipelined to a node that pods are leaving in the cluster."""
    return task.status == PIPELINED and any(
        each.pod.metadata.deletion_timestamp
        for each in seen.ssn.nodes[task.node_name].tasks.values())


def _deciding(seen: Evidence, task: TaskInfo, said: str) -> dict[str, list[str]]:
    """The plugins that decide about a pod beyond the lab, with what it requests of them: or else
    one that Volcano does not have, whose reason the cluster gave.
    """
    asked = {plugin: _asks(seen, task, plugin) for plugin in BEYOND
             if plugin in seen.ssn.conf.plugin_names()}
    known = {plugin: asks for plugin, asks in asked.items() if asks or (
        said and not BEYOND[plugin] and (plugin != "usage" or lint.unmeasured(seen.ssn)))}
    foreign = {*seen.ssn.conf.plugin_names()} - {*seen.ssn.plugins, *BEYOND}
    return known or {name: [] for name in sorted(foreign)[:1] if FOREIGN.search(said)}


def idle_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the parts of Volcano that have work of a job and do not run, as none of their pods is
    ready, or have not handled its PodGroup, its Job, or its queue, for longer than a cycle takes.
    """
    tasks = [*job.tasks.values()]
    work = {"no_scheduler": not tasks or any(map(seen.is_new, tasks)),
            "no_controller": not tasks or any(
                key not in seen.named for key in (job.pod_group.key, *(
                    task.key for task in tasks)))}
    for code in OWN.values():
        why: list[Message] = seen.stopped.get(code, [])
        if work[code] and why:
            yield Cause.of(code, why=why, log=Message("idle.log", **dict(zip(
                ("namespace", "pod"), why[0].facts["pod"].split("/"), strict=True))))
        elif work[code]:
            yield from _unseen(seen, code, seen.volcano_jobs(job) if code == "no_controller" else (
                seen.named.get(job.pod_group.key, ())))
    if work["no_scheduler"] and not seen.stopped.get("no_controller"):
        yield from _unseen(seen, "no_controller", seen.named.get(job.queue, ()))
    yield from _unhandled(seen, job)


def _unhandled(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that an object is older than others of the cluster, and its operator has written no
    status and created nothing: pods and PodGroup are there in the lab alone.
    """
    for obj in seen.named.get(seen.called(job.uid), ()):
        times = _times(seen, obj)
        if times and isinstance(obj, OperatorObject) and not (obj.status or any(
                ref.uid == obj.metadata.uid for each in seen.given
                for ref in each.metadata.owner_references)):
            yield Cause.of("no_operator", kind=obj.kind, name=obj.key, **times)


def _unseen(seen: Evidence, code: str, own: Iterable[KubernetesObject]) -> Iterator[Cause]:
    """Yield that an object is older than others of the cluster, and has no phase; where a newer one
    has, the scheduler runs.
    """
    for obj in own:
        created, times = obj.metadata.creation_timestamp or 0.0, _times(seen, obj)
        if times and _phase(obj) == "":
            facts = {"name": obj.key, **times, "later": next((
                each.key for each in seen.given if type(each) is type(obj) and _phase(each)
                and (each.metadata.creation_timestamp or 0.0) > created), None)}
            if code == "no_scheduler" and not facts["later"]:
                yield Cause.of(code, why=[Message("idle.unseen", **facts)], log=None)
            else:
                yield Cause(code, Message(f"{code}.unseen", kind=obj.kind, **facts), {
                    "unseen": True})


def _phase(obj: KubernetesObject) -> str | None:
    """The phase of a PodGroup or of a Volcano Job, the state of a queue, None of others."""
    if isinstance(obj, VolcanoJob):
        return obj.status.state.phase
    if isinstance(obj, Queue):
        return obj.status.state
    return obj.status.phase if isinstance(obj, PodGroup) else None


def crowded(seen: Evidence, tasks: Iterable[TaskInfo]) -> Iterator[Cause]:
    """Yield that the node of the first of some pods, or a card, has less than its pods request."""
    for task in tasks:
        node = seen.ssn.nodes.get(task.node_name)
        if node is None or seen.is_new(task):
            continue
        sizes = {card[0]: int(card[2]) for card in cards.listed(node.node)}
        said = [*kubelet.above(seen, node.name), *(Message(
            "crowded.card", card=card, node=node.name, resource=cards.MEMORY, most=sizes[card],
            asked=asked, pods=[pod for pod, *_ in each]) for card, each in cards.held(node).items()
            for asked in [sum(amount for _, amount, _ in each)] if asked > sizes.get(card, inf)
            and any(pod == task.key for pod, *_ in each))]
        if said:
            yield Cause("crowded", said, context=True)
            return


def decided_by(causes: Iterable[Cause]) -> list[Said]:
    """Return what decides beyond the lab, by the causes that say so."""
    return [said.facts["by"] for cause in causes if cause.code == "beyond"
            for said in cause.sentences if isinstance(said, Message) and "by" in said.facts]


def _last_answer(task: TaskInfo) -> str:
    """The cluster's own reason against placing a pod, "" where it gave none."""
    return next((each.message for each in task.pod.status.conditions
                 if each.type == "PodScheduled" and each.status == "False" and each.message
                 and not NO_REASON.search(each.message)), "")


def _asks(seen: Evidence, task: TaskInfo, plugin: str) -> list[str]:
    """What a pod requests, or has as annotations, for which the plugin alone decides."""
    pattern = re.compile(BEYOND[plugin] or "$^")
    return [f"{name} {amount_text(name, amount)}" for name, amount in task.init_resreq
            if amount and pattern.search(name)] + [
        f"{key} {value}" for key, value in task.pod.metadata.annotations.items()
        if pattern.search(key) and value != "none"]
