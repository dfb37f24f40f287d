"""Kinds of operators that use Volcano for their pods: the objects they create, as data.

`table` has a row for each kind, with its source. Objects that an operator has already created are
not created twice. Pods that an operator creates only when others run (executors, launchers,
submitters) appear later in the same way as those of a waiting Volcano Job.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from fractions import Fraction
from itertools import islice

from volcano_lab.api import pod_sum, task
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, PodGroupSpec
from volcano_lab.manifests import job_controller, workloads
from volcano_lab.manifests.operators import model
from volcano_lab.manifests.operators.model import KINDS, Created, Gang, OperatorObject, Role, at
from volcano_lab.manifests.operators.table import NAMED_BY, OPERATORS, REFUSING
from volcano_lab.messages import Message
from volcano_lab.trace.plain import grouped

__all__ = ["KINDS", "NAMED_BY", "OPERATORS", "SUSPENDED", "Created", "OperatorObject", "created",
           "ended", "pod_count", "pods_of", "problems", "refusing", "roles_of"]

SUSPENDED = (("suspend", True), ("runPolicy.suspend", True), ("job.state", "suspended"))
MISSING = "MISSING"
AGAIN = dict.fromkeys(("failed", "error"), Message("not_created.again"))
FAILURES = frozenset([*AGAIN, MISSING.lower()])
UNSUBMITTED = re.compile("(submission_|validation)?(?:.*_)?(.*)")
"""The states of objects that failed before pods were created of them."""
OF_JSON = re.compile(r'"message":"((?:[^"\\]|\\.)*)"')
ENDED = FAILURES | {"succeeded", "complete", "completed", "stopped"}


def problems(obj: OperatorObject) -> tuple[list[Message], list[Message]]:
    """Return the errors and the warnings of an object's templates and numbers.

    >>> cls = KINDS["ray.io", "RayCluster"]
    >>> print(*problems(cls(spec={"workerGroupSpecs": [{"replicas": -1}]}))[0])
    spec.workerGroupSpecs[0].replicas is -1; allowed is a whole number from 0 to 50,000
    """
    read, _ = _found(obj, [])
    return read.misfits.errors, read.misfits.warnings


def roles_of(obj: OperatorObject) -> list[Role]:
    """Return the equal pods that an operator creates for an object, where it creates no others."""
    found = _found(obj, [])[1]
    return [role for gang in found for role in gang.roles] if isinstance(found, list) else []


def pod_count(obj: OperatorObject, objects: list[KubernetesObject]) -> int:
    """Return how many pods an operator creates for an object, without those of other objects."""
    _, found = _found(obj, objects)
    gangs = found if isinstance(found, list) else []
    return sum(role.count for gang in gangs for role in gang.roles)


def pods_of(obj: OperatorObject) -> list[Pod]:
    """Return the pods that an operator creates for an object at once, as if none was there."""
    return [pod for role in roles_of(obj) if not role.later
            for pod in _pods(obj, role, role.template.spec, "")]


def _found(obj: OperatorObject, objects: list[KubernetesObject]
           ) -> tuple[model.Reading, model.Found]:
    row = OPERATORS[type(obj)]
    read = model.Reading(obj, objects, row.where)
    return read, row.reader(read) if row.reader else []


def refusing(text: str) -> Message | None:
    """Return what a webhook that refuses objects, or is not there, needs to let them through.

    >>> refusing('podgroups.scheduling.volcano.sh "g" not found').facts
    {'name': 'g'}
    """
    for code, pattern in REFUSING.items():
        if found := pattern.search(text):
            return Message(code, **found.groupdict(), **(
                {"feature": f"kubernetes.podspec-{found['name'].lower()}"}
                if code.endswith("knative") else {}))
    return None


def ended(obj: OperatorObject) -> Message | None:
    """Return how an object ended, and by its own message why it failed; None if it did not end.

    >>> str(ended(OperatorObject(status={"applicationState": {"state": "COMPLETED"}})))
    'it is COMPLETED, so that no pods are created of it'
    >>> ended(OperatorObject(status={"jobDeploymentStatus": "ValidationFailed"})).code
    'not_created.unsubmitted'
    """
    conditions = at(obj.status, "conditions")
    why = at(obj.status, "applicationState.errorMessage") or at(obj.status, "message")
    words = [(at(obj.status, path), why) for path in (
        "phase", "jobDeploymentStatus", "applicationState.state", "terminalState")]
    if (error := str(at(obj.status, "error") or "")) and at(
            obj.status, "jobManagerDeploymentStatus") == MISSING:  # Flink: nothing is deployed
        found = OF_JSON.search(error)
        words.append((MISSING, found[1].replace('\\"', '"') if found else error))
    words += [(at(each, "type"), at(each, "message"))
              for each in (conditions if isinstance(conditions, list) else ())
              if at(each, "status") == "True"]
    for word, why in words:
        found = UNSUBMITTED.fullmatch(str(word).lower())
        if found and (state := found[2]) in ENDED:
            why = str(why).rstrip(". ") if why and state in FAILURES else ""
            early = found[1] or word == MISSING
            return Message(
                f"not_created.{'unsubmitted' if early else 'of_ended'}", phase=word,
                why=[why] if why else None, again=AGAIN.get(state),
                webhook=refusing(why))
    return None


def created(obj: OperatorObject, objects: list[KubernetesObject],
            given: Callable[[str], PodGroup | None], there: Set[str],
            priorities: Mapping[str, int], handed: Set[str] = frozenset()) -> Created:
    """Return what an operator creates for an object.

    Args:
        obj: With a uid.
        objects: All objects around it.
        given: The existing PodGroup of a name, or None.
        there: The kinds of existing children of the object.
        priorities: The value of each PriorityClass.
        handed: The uids of objects of which there are pods for Volcano, or PodGroups.
    """
    found = _found(obj, objects)[1]
    why = _why_not(obj, objects, there, found)
    if why is not None:
        later = [*_to_come(obj, objects, found)] if "Pod" in there and not why else []
        return Created(sentences=why, later=later)
    if isinstance(found, Created):
        if not (found.objects or found.sentences):
            found.sentences.append(Message("not_created.names_none"))
        return found
    plan, gangs = Created(), found or []
    asked = OPERATORS[type(obj)].hands_over(obj, gangs) or obj.metadata.uid in handed
    for gang in gangs:
        _add_gang(obj, gang, asked, given, priorities, plan)
    plan.sentences = [*dict.fromkeys(plan.sentences)]
    if not (plan.objects or plan.later or plan.sentences):
        plan.sentences.append(Message("not_created.no_replicas"))
    return plan


def _why_not(obj: OperatorObject, objects: list[KubernetesObject], there: Set[str],
             found: model.Found) -> list[Message] | None:
    """Return why an operator creates nothing for an object; None if it does."""
    row = OPERATORS[type(obj)]
    if row.reader is None:
        return [] if any(each.kind == row.namer for each in objects) else [
            Message("not_created.no_owner", kind=row.namer)]
    if there - {"PodGroup"}:
        said = getattr(found, "sentences", ()) if "Job" in there else ()
        return [why for why in said if why.code.startswith("not_created.later")]
    for path, value in SUSPENDED:
        if at(obj.spec, path) == value:
            return [workloads.suspended(obj, f"spec.{path}", str(value).lower())]
    if reason := ended(obj):
        return [reason]
    return [Message("not_created.runtime")] if found is None else None


def _to_come(obj: OperatorObject, objects: Iterable[KubernetesObject], found: model.Found
             ) -> Iterator[Pod]:
    """Yield the pods that follow those of a gang's first roles which are there without a node."""
    gangs = [gang for gang in found if any(role.later and role.count for role in gang.roles)
             ] if isinstance(found, list) else []
    there = grouped((each.metadata.annotations.get(task.GROUP_NAME), each) for each in objects
                    if isinstance(each, Pod) and each.namespace == obj.namespace) if gangs else {}
    for gang in gangs:
        first, own = sum(role.count for role in gang.roles if not role.later), there.get(gang.name)
        if own and len(own) == first and not any(pod.spec.node_name for pod in own):
            for role in (role for role in gang.roles if role.later):
                spec = role.template.spec.evolve(scheduler_name=model.VOLCANO)
                yield from _pods(obj, role, spec, gang.name)


def _add_gang(obj: OperatorObject, gang: Gang, asked: bool,
              given: Callable[[str], PodGroup | None], priorities: Mapping[str, int],
              plan: Created) -> None:
    row, name, sentences = OPERATORS[type(obj)], gang.name if asked else "", plan.sentences
    first: list[Pod] = []
    later: list[Pod] = []
    for role in gang.roles:
        spec = role.template.spec
        if asked and (row.forced or not spec.scheduler_name):
            spec = spec.evolve(scheduler_name=model.VOLCANO)
        if spec.scheduler_name == model.VOLCANO:
            (later if role.later and name else first).extend(_pods(obj, role, spec, name))
        elif role.count:
            sentences.append(Message("not_created.unhanded", asks=Message(f"asks.{row.asks}"),
                                     scheduler=spec.scheduler_name or "default-scheduler"))
    group = given(name) if name else None
    if group is not None:
        if group.status.phase in ("", "Pending"):
            plan.later += first + later
        else:
            sentences.append(
                Message("not_created.unseen", name=name, now=group.status.phase)
                if group.status.phase == "Inqueue" else
                Message("not_created.no_pod_of", name=name, phase=group.status.phase))
        return
    if name and first + later:
        plan.objects.append(_pod_group(obj, gang, priorities))
    plan.objects += first
    plan.later += later
    if later:
        sentences.append(_after(later, first or plan.objects, name))


def _after(later: list[Pod], first: Iterable[KubernetesObject], name: str) -> Message:
    return Message("not_created.after", later=[pod.name for pod in later], name=name,
                   first=[pod.name for pod in first if isinstance(pod, Pod)])


def _pods(obj: OperatorObject, role: Role, spec, group: str) -> Iterator[Pod]:
    """Yield the pods of a role; they share their spec."""
    row, metadata = OPERATORS[type(obj)], role.template.metadata
    labels = {**metadata.labels, **role.labels, **({row.label: obj.name} if row.label else {})}
    notes = dict(metadata.annotations)
    if group:
        notes |= {task.GROUP_NAME: group, task.TASK_SPEC: role.name}
    own = obj.owned("", {"labels": labels, "annotations": notes})
    for name in islice(role.names, role.count):
        yield Pod(own.evolve(name=name), spec)


def _pod_group(obj: OperatorObject, gang: Gang, priorities: Mapping[str, int]) -> PodGroup:
    row = OPERATORS[type(obj)]
    notes = {key: text for key, text in obj.metadata.annotations.items()
             if row.inherits and key.startswith("volcano.sh/")}
    minimum = gang.minimum
    if minimum is None:
        total: dict[str, Fraction] = {}
        for role, count in _counted(gang, priorities):
            for container in role.template.spec.containers:
                pod_sum.add(total, pod_sum.parsed(model.SUMS[row.sums](container.resources)), count)
        minimum = job_controller.amounts_text(total, {})
    return PodGroup(
        obj.owned(gang.name, {"annotations": notes}),
        PodGroupSpec(gang.least, queue=str(obj.first(*row.queue) or ""), min_resources=minimum,
                     priority_class_name=str(obj.first(*row.priority) or ""),
                     **gang.more))


def _counted(gang: Gang, priorities: Mapping[str, int]) -> Iterable[tuple[Role, int]]:
    """Return the pods that minResources count: those named, or the first minMember by priority."""
    if gang.reserved is not None:
        yield from gang.reserved
        return
    left = gang.least
    for role in sorted(gang.roles, key=lambda role: -priorities.get(
            role.template.spec.priority_class_name, 0)):
        yield role, min(role.count, left)
        left -= min(role.count, left)
