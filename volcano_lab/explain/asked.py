"""What the owners of a job name and its PodGroup does not have: a queue, a PriorityClass, a
minimum, the PodGroup itself; where each of these is read, and the commands that carry it over.

Volcano: none
"""

from collections.abc import Iterator
from typing import Any

from volcano_lab.api import GROUP_NAME, JobInfo, selector
from volcano_lab.api.objects import Workload
from volcano_lab.changes import Change
from volcano_lab.changes.kubectl import kubectl
from volcano_lab.explain import owners
from volcano_lab.explain.evidence import Evidence, counts
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.lint import place_of
from volcano_lab.manifests import OPERATORS
from volcano_lab.manifests.operators.model import QUEUE, OperatorObject
from volcano_lab.manifests.pod_group_controller import GROUP_MIN_MEMBER
from volcano_lab.messages import Message, meant

MINIMUM = f"annotation {GROUP_MIN_MEMBER}"
Slip = tuple[str, str, str]
"""Where pods name a PodGroup so that it is not read: a label or an annotation, the key, the name.
"""


def unheeded(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield what the owners of a job name that its PodGroup does not have, each once, of the
    highest owner.
    """
    above, heard = [*seen.names.above[job.uid]], list[Any]()
    for obj in sorted((obj for obj in seen.given if obj.kind != "PodGroup" and obj.key in above),
                      key=lambda obj: above.index(obj.key)):
        for what, field, found, has in _named(obj, job):
            if (what, found) in heard:
                continue
            switch = None if apart(seen, job) else owners.switch(job, obj, what)
            code = f"unread.{what}_above"
            commands = kubectl(Change((f"podgroup/{job.uid}.{what}={found}",)), seen.objects)
            now = "unread.now.group" if "podgroup" in "".join(commands) else "unread.now"
            said = Message(code, kind=obj.kind, found=found, field=field, has=has,
                           switch=None if switch in heard else switch,
                           command=Message(now, command=commands[0]) if commands else None)
            heard += [(what, found), switch]
            yield Cause("no_effect", Message("notice", what=said, place=place_of([
                seen.called(job.uid)])), {"what": code, what: [found]}, [], what == "minMember")


def _named(obj: Any, job: JobInfo) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield what an owner names otherwise than a PodGroup: (what, where, its value, that of the
    PodGroup).
    """
    row, spec, own = OPERATORS.get(type(obj)), job.pod_group.spec, owners.is_generated(job)
    classes = spec.priority_class_name, *(
        task.pod.spec.priority_class_name for task in job.tasks.values())
    parts: list[Any] = [obj, obj.spec.template] if isinstance(obj, Workload) else [obj]
    minimum = [str(owners.known_of("minimum", obj))] if row else [MINIMUM]
    for what, places, has in (("queue", row.queue if row else [QUEUE], (job.queue,)),
                              ("priorityClassName", row.priority if row else (), classes),
                              ("minMember", minimum if own else (), (job.min_available,))):
        for part in parts if what == "minMember" else [obj]:
            place = next((each for each in places if OperatorObject.first(part, each)), "")
            found = OperatorObject.first(part, place) if place else None
            if what == "minMember":
                number = selector.parse_int(str(found))
                found = number if (number or 0) > job.min_available else None
            if found and found not in has:
                yield what, place + " (spec.template)" * (part is not obj), found, has[0]


def apart(seen: Evidence, job: JobInfo) -> Message | None:
    """That a PodGroup of the job's owner has no pods, as these name none, so that Volcano's
    controller has created others for them.
    """
    sides = [seen.ssn.jobs[uid] for uid, owner in seen.names.owned.items()
             if owner == seen.names.owned[job.uid]]
    own = [each for each in sides if owners.is_generated(each)]
    empty = [each for each in sides if each not in own and not each.tasks]
    pods = [task for each in own for task in each.tasks.values()]
    return Message("groups_beside.apart", pods=[task.key for task in pods], pod=pods[0].name,
                   n=len(pods), namespace=job.namespace, group=empty[0].pod_group.name,
                   queue=empty[0].queue, key=GROUP_NAME) if empty and pods else None


def apart_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods which need each other are in several PodGroups of Volcano's controller: as
    labels name what has created them, where some run while others wait; or as they name one
    PodGroup where that is not read.
    """
    if seen.brief or not owners.is_generated(job):
        return
    for kind, (label, setting) in owners.KINDS["apart"].items():
        mine = {task.pod.metadata.labels.get(label, "") for task in job.tasks.values()}
        parts = [each for each in generated(seen, job) if any(mine) and mine == {
            task.pod.metadata.labels.get(label, "") for task in each.tasks.values()}]
        runs, waits = _placed(parts)
        if len(parts) > 1 and runs and waits:
            how = Message("no_gang.apart.setting", setting=setting) if setting else Message(
                "no_gang.apart.join", key=GROUP_NAME, field=owners.KINDS["notes"][kind])
            yield Cause.of("no_gang.apart", Message("no_gang.slip.held", n=runs, waits=waits), how,
                           context=True, kind=kind, name=max(mine), n=len(parts))
    for slip in slips(seen, job):
        yield Cause("no_gang.slip", [*slipped(seen, job, slip)], context=True)


def slipped(seen: Evidence, job: JobInfo, slip: Slip) -> Iterator[Message]:
    """Yield that pods in the namespace of a job name a PodGroup so that it is not read."""
    where, key, name = slip
    parts = [each for each in generated(seen, job) if slip in slips(seen, each)]
    named, (runs, waits) = seen.ssn.jobs.get(f"{job.namespace}/{name}"), _placed(parts)
    yield Message("no_gang.slip", where=where, key=key, name=name, n=len(parts),
                  annotation=GROUP_NAME)
    if runs and waits:
        yield Message("no_gang.slip.held", n=runs, waits=waits)
    yield Message("no_gang.slip.group", name=name, least=named.min_available) if named else Message(
        "no_gang.slip.none", name=name, namespace=job.namespace)
    yield Message("no_gang.slip.join", key=GROUP_NAME, name=name)


def generated(seen: Evidence, job: JobInfo) -> list[JobInfo]:
    """The PodGroups of Volcano's controller in the namespace of a job."""
    return [each for each in seen.ssn.jobs.values()
            if each.namespace == job.namespace and owners.is_generated(each)]


def _placed(parts: list[JobInfo]) -> tuple[int, int]:
    """How many pods of some jobs have a node, and how many wait."""
    return sum(counts(each)[0] for each in parts), sum(counts(each)[2] for each in parts)


def slips(seen: Evidence, job: JobInfo) -> set[Slip]:
    """Return where pods of a job name a PodGroup so that it is not read."""
    metas = [task.pod.metadata for task in job.tasks.values()]
    return {(where, key, name) for meta in metas for where, found in (
        ("label", meta.labels), ("annotation", meta.annotations)) for key, name in found.items()
        if name and (where, key) != ("annotation", GROUP_NAME) and (key == GROUP_NAME or (
            meant(key.rpartition("/")[2], ["group-name"], 0.8) and (
                "volcano" in key or f"{job.namespace}/{name}" in seen.ssn.jobs)))}
