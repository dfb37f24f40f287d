"""What a job's owner is: which of its pods come later, which are needed from the start, whether it
ends.

Volcano: none
"""

import re
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Any

from volcano_lab.api import BOUND, TASK_SPEC, JobInfo, TaskInfo
from volcano_lab.api.objects import BatchJob, KubernetesObject, OwnerReference, Pod, VolcanoJob
from volcano_lab.changes.details import has_policy
from volcano_lab.changes.job_fields import at_path
from volcano_lab.explain.evidence import Evidence, fails_to_start, requested
from volcano_lab.explain.explanation import TABLES, Amounts, over
from volcano_lab.manifests import events, operators, owners, templates
from volcano_lab.manifests.job_controller import fails_first, policy_for
from volcano_lab.manifests.operators.model import OperatorObject
from volcano_lab.messages import Message, Said, known
from volcano_lab.trace import names, short
from volcano_lab.trace.plain import amounts, grouped

NUMBER = re.compile(r"-\d+$")
KINDS = TABLES["owners"]
"""What is known of kinds of owners, and of the labels of their pods."""
READ = {"queue": "notes", "minMember": "reads"}
"""What owners name = the table of the fields that Volcano's controller reads."""


def owner_of(job: JobInfo) -> OwnerReference | None:
    """What has created the job's PodGroup, or else the pods of it."""
    metas = [job.pod_group.metadata] if job.pod_group is not None else []
    metas += [task.pod.metadata for task in list(job.tasks.values())[:1]]
    return next((ref for meta in metas for ref in meta.owner_references
                 if ref.kind != "PodGroup"), None)


def objects_of(seen: Evidence, job: JobInfo) -> list[KubernetesObject]:
    """Return the object that is the job's owner, as it was given; none where it was not."""
    owner = owner_of(job)
    return [obj for obj in seen.named.get(f"{job.namespace}/{owner.name}", ())
            if obj.kind == owner.kind] if owner else []


def above(seen: Evidence, job: JobInfo) -> dict[str, str]:
    """Return the names of all owners of a job, the highest first, each with its kind: by references
    and, of objects that were given, by labels of its pods. Of two with one name, as a
    LeaderWorkerSet and its StatefulSet have, the higher one counts.
    """
    own = seen.names.above[job.uid]
    named = {f"{job.namespace}/{name}": kind for task in job.tasks.values()
             for kind, name in owners.by_label(task.pod)}
    higher = {name: kind for name, kind in named.items() if kind not in own.values() and any(
        obj.kind == kind for obj in seen.named.get(name, ()))}
    return higher | {name: kind for name, kind in own.items() if name not in higher}


def specs_in(seen: Evidence, job: JobInfo, task: TaskInfo) -> tuple[str, str, list[str]]:
    """Return where a pod has its spec from: (the kind of its highest owner with such templates, its
    name, the fields there), "" and none for a pod without one.
    """
    for name, kind in above(seen, job).items():
        for obj in seen.named.get(name, ()):
            if obj.kind == kind and (found := templates.specs_of(obj, task.pod)):
                return kind, short(name), templates.of_role(
                    [*map(templates.field_text, found)], head(job, task))
        owner = owner_of(job)
        known = known_of("specs", owner if owner and owner.kind == kind else None) or KINDS[
            "specs"].get(kind, ())
        if known:
            fields = ((field, tuple(field.replace("[]", "").split("."))) for field in known)
            return kind, short(name), templates.of_role(
                templates.likest(fields, task.pod), head(job, task))
    return "", "", []


def kind_of(job: JobInfo) -> str:
    """Return the kind of what has created a job, "" where nothing has."""
    return getattr(owner_of(job), "kind", "")


def known_of(table: str, owner: OwnerReference | KubernetesObject | None) -> Any:
    """What a table knows of an owner's kind in its apiVersion, or else of its kind."""
    rows, kind = KINDS[table], getattr(owner, "kind", "")
    versions = getattr(owner, "api_version", ""), *getattr(owner, "api_versions", ())
    return rows.get(f"{kind} {next(filter(None, versions), '')}", rows.get(kind))


def flag_of(owner: OwnerReference | KubernetesObject | None) -> Message | None:
    """By which flag the operator of an owner creates PodGroups for Volcano."""
    flag = known_of("switch", owner) or (known_of("apart", owner) or ("", ""))[1]
    return Message("no_gang.switch", flag=flag, kind=owner.kind) if owner and flag else None


def unread_group(seen: Evidence, key: str, owner: OwnerReference | KubernetesObject | None
                 ) -> Message | None:
    """That a PodGroup is there in an apiVersion which Volcano does not read."""
    said = next(iter(seen.not_created.get(events.OF_GROUP + key, ())), None)
    return Message(said.code, **said.facts, switch=flag_of(owner)) if isinstance(
        said, Message) else None


def switch(job: JobInfo, owner: OwnerReference | KubernetesObject | None, what: str = ""
           ) -> Message | None:
    """By which flag an operator creates PodGroups of a kind, where Volcano's controller did; else
    where a kind has `what` that reads.
    """
    flag = flag_of(owner) if is_generated(job) else None
    field = known_of(READ[what], owner) if what in READ and not flag else None
    return Message(f"unread.{what}_above.read", field=field, kind=owner.kind) if (
        owner and field) else flag


def creator_of(pod: Pod) -> tuple[str, str]:
    """Return the kind and the key of the Deployment or StatefulSet of a pod; "" without one."""
    name = owners.deployment_of(pod)
    refs = [ref.name for ref in pod.metadata.owner_references if ref.kind == "StatefulSet"]
    return ("Deployment", f"{pod.namespace}/{name}") if name else (
        "StatefulSet" * bool(refs), f"{pod.namespace}/{refs[0]}" if refs else "")


def is_single(job: JobInfo) -> bool:
    """Whether it is one pod that nothing has put into a PodGroup with others."""
    return kind_of(job) == "Pod"


def application(called: Callable[[str], str], job: JobInfo) -> str:
    """Return what a job is a part of: of a single pod whose name ends in a number the rest of that,
    else its owner, which may have several PodGroups, or itself.
    """
    name, owner = called(job.uid), names.owner_of(job)
    if is_single(job):
        return NUMBER.sub("", name)
    return f"{job.namespace}/{owner.name}" if owner and name == job.uid else name


def is_generated(job: JobInfo) -> bool:
    """Return whether Volcano's controller has created the PodGroup, with a minimum of 1."""
    return job.pod_group.name.startswith("podgroup-")


def runs_on(job: JobInfo) -> bool:
    """Whether it is meant to run until it is stopped: its end is not waited for, and it is not
    deleted for other jobs.
    """
    made_for = {task.pod.metadata.labels.get(label) for label in KINDS["made_for"]
                for task in job.tasks.values()} - {None} or {kind_of(job)}
    return kind_of(job) in KINDS["forever"] or not made_for.isdisjoint(KINDS["serving"])


def stays(job: JobInfo) -> bool:
    """Whether its pods are started again until they are deleted, and no operator deletes them."""
    owner = owner_of(job)
    alone = owner is None or owner.kind == "Pod" or owner.api_version == VolcanoJob.api_versions[0]
    return alone and {task.pod.spec.restart_policy for task in job.tasks.values()} == {"Always"}


def ends(job: JobInfo) -> bool:
    """Whether a job has the places of its minimum, pods that run, not its head alone, that many
    keep running, and it does not run forever.
    """
    runs = [task for task in job.tasks.values() if task.node_name and task.status != BOUND]
    alone = len(runs) < len(job.tasks) and all(head(job, task) for task in runs)
    return job.is_ready() and not (runs_on(job) or stays(job) or alone or fails_to_start(job))


def ended_as(seen: Evidence, job: JobInfo) -> str:
    """Return the state in which its Job, or the object of an operator, has ended; "" if not."""
    said = [why for why in seen.not_created.get(seen.called(job.uid), ())
            if isinstance(why, Message) and why.code == "not_created.finished"]
    found = [operators.ended(obj) for name, kind in seen.names.above[job.uid].items()
             if kind in KINDS["headed"] for obj in seen.named.get(name, ())
             if isinstance(obj, OperatorObject) and obj.kind == kind]
    return next((each.facts["phase"] for each in [*said, *filter(None, found)]), "")


def left_behind(seen: Evidence, job: JobInfo) -> Message | None:
    """Return that what has created the PodGroup of a job is over and the PodGroup still admitted,
    so that it reserves its minResources for pods that never come.
    """
    phase, owner = ended_as(seen, job), owner_of(job)
    least = amounts(job.get_min_resources())
    return Message("left_behind", kind=owner.kind, name=owner.name, phase=phase, queue=job.queue,
                   least=least, group=job.pod_group.name, namespace=job.namespace) if (
        phase and owner and least and seen.trace.start["jobs"][job.uid]["phase"] == "Inqueue"
        ) else None


def world_of(given: Iterable[KubernetesObject], job: JobInfo
             ) -> tuple[KubernetesObject, Message] | None:
    """Return the object of a job whose processes start their work once all its pods run, with what
    says so: the plugin of a Volcano Job, or its kind, unless a field makes that elastic.
    """
    owner = owner_of(job)
    for obj in given:
        if owner and (obj.kind, obj.key) == (owner.kind, f"{job.namespace}/{owner.name}"):
            plugins = obj.spec.plugins if isinstance(obj, VolcanoJob) else ()
            plugin = next((each for each in plugins if each in KINDS["worlds"]), "")
            elastic = known_of("worlds", obj)
            if plugin or (elastic is not None and not at_path(obj, ["spec", elastic])):
                return obj, Message(f"world.{'plugin' if plugin else 'kind'}", plugin=plugin,
                                    kind=obj.kind, n=owners.pods_asked(obj, []))
    return None


def one_by_one(job: JobInfo) -> bool:
    """Whether it is a Job of Kubernetes, of which each pod runs to its end without the others."""
    owner = owner_of(job)
    return owner is not None and (owner.kind, owner.api_version) == ("Job", "batch/v1")


def comes_whole(job: JobInfo) -> bool:
    """Whether its pods are alike, so that it may run with fewer of them; not so where each has a
    role, as head, driver or launcher.
    """
    specs = {task.pod.metadata.annotations.get(TASK_SPEC, "") for task in job.tasks.values()}
    return len(specs) < 2 and not is_headed(job)


def sets_minimum(job: JobInfo) -> bool:
    """Whether its owner has a scheduling policy, of which its operator copies the minimum."""
    owner = owner_of(job)
    return owner is not None and has_policy(owner)


def is_headed(job: JobInfo) -> bool:
    """Whether its pods have roles by their labels, or by the kind of their owner."""
    return bool(_roles(job)) or kind_of(job) in KINDS["headed"]


def head(job: JobInfo, task: TaskInfo) -> str:
    """The role of a pod that others of its job need to run, by its labels; "" of others."""
    roles = {task.pod.metadata.labels.get(label) for label in KINDS["roles"]}
    return next((role for role in KINDS["heads"] if role in roles and len(job.tasks) > 1), "")


def lacks_head(job: JobInfo) -> bool:
    """Whether the labels of its pods name their roles, and none is a head: that pod comes later."""
    return bool(_roles(job)) and _roles(job).isdisjoint(KINDS["heads"])


def lacking_roles(seen: Evidence, job: JobInfo) -> Iterator[tuple[str, int, int]]:
    """Yield the roles of which a job has fewer pods than its owner is to have: (the role, how many
    are there, how many are to be).
    """
    own = [{*pod.metadata.labels.values(), pod.metadata.annotations.get(TASK_SPEC)}
           for pod in (task.pod for task in job.tasks.values())]
    roles = [(role, sum(role.name in words for words in own)) for obj in objects_of(seen, job)
             if isinstance(obj, OperatorObject) for role in operators.roles_of(obj)]
    if any(count for _, count in roles):  # else no label names these
        yield from ((role.name, count, role.count) for role, count in roles if count < role.count)


def missing_head(seen: Evidence, job: JobInfo) -> str:
    """Return the role that starts the work of a job's other pods, where none of them has it; ""
    where one has, or that is not known.
    """
    steps = [step.lower() for spec in known_of("specs", owner_of(job)) or ()
             for step in spec.split(".")]
    return next((role for role in KINDS["heads"] if lacks_head(job) and any(
        step.startswith(role) for step in steps)), "")


def rollout(seen: Evidence, job: JobInfo) -> str:
    """Return how a rolling update and the gang of a new ReplicaSet wait for each other: "rollout",
    it creates fewer pods than the minimum; "update", it keeps the old ones; "" where they do not.
    """
    beside, owner = seen.names.beside(job.uid), seen.names.owned[job.uid]
    if not beside or kind_of(job) != "ReplicaSet" or job.is_ready():
        return ""
    wanted: Any = [at_path(obj, ["spec", "replicas"]) or 1 for obj in seen.named.get(owner, ())
                   if obj.kind == "Deployment"]
    if 0 < job.valid_task_num() < job.min_available:
        return "rollout" * all(count >= job.min_available for count in wanted)
    return "update" * any(seen.ssn.jobs[uid].is_ready() for uid in beside)


def creates_later(seen: Evidence, job: JobInfo) -> dict[str, str]:
    """Return the field of its owner by which some of its pods are created once the others are
    ready, or have a node, its value, and the one by which all are created at once ("": without
    one); nothing where it creates all at once.
    """
    return next(({"field": field, "value": value, "at_once": other}
                 for obj in objects_of(seen, job) if isinstance(obj, OperatorObject)
                 for field, (wanted, other) in KINDS["after"].get(obj.kind, {}).items()
                 for value in [obj.spec.get(field) or obj.metadata.annotations.get(field)]
                 if value and wanted in ("", value)), {})


def at_once(seen: Evidence, job: JobInfo) -> float:
    """Return how many pods its owner has at most at once: a Job of Kubernetes one, unless it says
    otherwise, other kinds any number.
    """
    found = [at_path(obj, ["spec", "parallelism"]) or int(isinstance(obj, BatchJob))
             for obj in objects_of(seen, job) if not isinstance(obj, VolcanoJob)]
    return next((most for most in found if isinstance(most, int) and most), inf)


def created_by(seen: Evidence, jobs: Iterable[str]) -> Iterator[Message]:
    """Yield what has created jobs and creates further ones, where it is not what they are called
    by; for a CronJob also whether it creates them one after the other.
    """
    first = {uid: next(iter(above(seen, seen.ssn.jobs[uid]).items())) for uid in jobs}
    found = grouped(((kind, name), seen.called(uid)) for uid, (name, kind) in first.items()
                    if kind and name not in (seen.called(uid), seen.names.owned[uid]))
    for (kind, name), each in found.items():
        policy = next((obj.spec.get("concurrencyPolicy", "Allow")
                       for obj in seen.named.get(name, ()) if isinstance(obj, OperatorObject)
                       and obj.kind == kind == "CronJob"), None)
        code = f"created_by.{policy or kind}"
        yield Message("created_by", kind=kind, name=name, jobs=each,
                      policy=Message(code) if known(code) else None)


def on_event(seen: Evidence, job: JobInfo, event: str) -> Message | None:
    """Return what the policies of its Volcano Job do to all its pods once one is evicted
    (PodEvicted), or has been Pending for as long as a policy says (PodPending).
    """
    for owner, task in [(each, task) for each in seen.volcano_jobs(job)
                        for task in each.spec.tasks]:
        found = policy_for(owner, task, event)
        if found and (effect := KINDS["whole"].get(found.action)):
            return Message(f"on_{event}.{effect}", job=owner.key, action=found.action,
                           n=len(job.tasks), timeout=found.timeout, first=fails_first(owner),
                           retries=owner.status.retry_count, most=owner.spec.max_retry or 3)
    return None


def grows(job: JobInfo) -> Said:
    """Return for which pods its PodGroup reserves that come once its first ones run: a driver's
    executors; "" for none. What it reserves keeps drivers from filling a queue in which no executor
    fits.
    """
    marks = {kind_of(job)}.union(*(task.pod.metadata.labels for task in job.tasks.values()))
    later = [KINDS["later"][each] for each in KINDS["later"] if each in marks]
    later += [Message("min_resources.later")] * lacks_head(job)
    return later[0] if later and job.tasks and beyond_pods(job) else ""


def _roles(job: JobInfo) -> set[str]:
    """The values of the labels that name the roles of its pods."""
    return {labels[role] for task in job.tasks.values()
            for labels in [task.pod.metadata.labels] for role in KINDS["roles"] if role in labels}


def beyond_pods(job: JobInfo) -> Amounts:
    """What a PodGroup reserves beyond what its pods request."""
    return over(amounts(job.get_min_resources()), requested(job.tasks.values()))
