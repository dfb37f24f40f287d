"""What the kubelet does with the pods of a job, which it refuses, starts and ends, and what
controllers create in their place; what Events say of them.

Volcano: none
"""

from collections.abc import Iterator

from volcano_lab.api import BOUND, FAILED, RUNNING, SUCCEEDED, JobInfo, TaskInfo, objects as api
from volcano_lab.api.storage import CLAIM, SELECTED_NODE, WAIT, claims_of, class_of
from volcano_lab.explain.evidence import STARTING, Evidence, not_started, unplaced
from volcano_lab.explain.explanation import Cause, over, part
from volcano_lab.explain.holders import held_by_strangers
from volcano_lab.manifests.events import EVICTS, OF_POD, SCALES
from volcano_lab.manifests.job_controller import CREATING, policy_for
from volcano_lab.messages import Message, Said
from volcano_lab.trace.plain import amounts

REFUSED, ONE_NODE = "OutOf", {"ReadWriteOnce", "ReadWriteOncePod"}
ENDED = {"Evicted": "failed.evicted", "UnexpectedAdmissionError": "failed.device",
         "Terminated": "failed.shutdown", "NodeShutdown": "failed.shutdown"}
"""Reasons of the kubelet -> what they mean."""
CLAIMS_ARGUMENT = "predicate.DynamicResourceAllocationEnable"


def failed_causes(seen: Evidence, job: JobInfo, pod: str = "") -> Iterator[Cause]:
    """Yield the status of the first pod that failed, or that of `pod`, what the kubelet means by
    it, and how many more had to succeed, or whether it is created again.
    """
    failed = sorted(job.in_status(FAILED).values(), key=lambda task: (task.key != pod, task.key))
    for task in failed[:1]:
        status, why = task.pod.status, why_ended(task.pod)
        message = next((each for each in why if isinstance(each, str)), "")
        said: list[Said] = [Message(
            ENDED[status.reason], node=task.node_name)] if status.reason in ENDED else []
        said += above(seen, task.node_name) if said else ()
        if message.startswith(REFUSED):
            name = message.removeprefix(REFUSED).partition(":")[0].strip()
            others = held_by_strangers(seen, [name], {task.node_name} & seen.ssn.nodes.keys())[0]
            said += [Message("failed.refused"), *others, *[Message("failed.two")] * bool(others)]
        for owner in seen.volcano_jobs(job):
            said += _afterwards(job, owner, task)
        stays = any(getattr(each, "code", "") == "failed.stays" for each in said)
        if why:
            cause = Cause.of("failed", *said, pod=task.key, message=why)
            cause.numbers["stuck"] = stays and job.ready_task_num() < job.min_available
            cause.numbers["reason"] = status.reason or next(
                (each.facts["reason"] for each in why if isinstance(each, Message)), "Error")
            yield cause


def why_ended(pod: api.Pod) -> list[Said]:
    """Return what the status of a pod says of its end, then which containers have failed."""
    message = ": ".join(filter(None, (pod.status.reason, pod.status.message))).rstrip(". ")
    return [*filter(None, [message]), *(
        Message("failed.container", name=each.name, code=end["exitCode"],
                reason=end.get("reason", "Error")) for each in pod.status.container_statuses
        for end in [each.state.terminated] if end.get("exitCode"))]


def above(seen: Evidence, name: str) -> Iterator[Message]:
    """Yield that pods request more of a node than it announces now."""
    node = seen.ssn.nodes.get(name)
    more = over(amounts(node.used), amounts(node.allocatable)) if node is not None else {}
    if node is not None and more:
        yield Message("failed.above", node=name, asked=part(amounts(node.used), more),
                      there=part(amounts(node.allocatable), more))


def _afterwards(job: JobInfo, owner: api.VolcanoJob, task: TaskInfo) -> Iterator[Message]:
    """Yield how many pods of a Job that failed had to succeed, or that no policy creates the failed
    pod of another one again.
    """
    field = "minSuccess" if owner.spec.min_success else "minAvailable"
    done, least = len(job.in_status(SUCCEEDED)), owner.spec.min_success or job.min_available
    if owner.status.state.phase == "Failed" and done < least:
        yield Message("failed.job", n=done, least=least, field=field)
    for spec in owner.spec.tasks if owner.status.state.phase in CREATING else ():
        codes = any(each.exit_code for each in (*spec.policies, *owner.spec.policies))
        if spec.name == task.task_role and not (codes or policy_for(owner, spec, "PodFailed")):
            yield Message("failed.stays", job=owner.key)


def bound_causes(seen: Evidence, job: JobInfo, pod: str = "") -> Iterator[Cause]:
    """Yield the pods that have a node and have not started there, or else do not keep running, and
    what their containers, their Events and their claims say; of `pod` alone where one is asked for.
    """
    for code, status in (("bound", BOUND), ("bound.fails", RUNNING)):
        pods = sorted(job.in_status(status).values(), key=lambda task: task.key)
        pods = [task for task in pods if pod in ("", task.key) and (
            code == "bound" or not_started([task.pod]))]
        if why := not_started(task.pod for task in pods):
            warnings = next(filter(None, (warnings_of(seen, task) for task in pods)), [])
            said = Message(code, n=len(pods), pod=pods[0].key, node=pods[0].node_name, why=why)
            stalled = bool(warnings) or not {*why}.issubset(STARTING)
            yield Cause("bound", [said, *_one_node(seen, pods[0]), *_no_volume(seen, pods[0]),
                                  *warnings, claims_off(seen, pods[0])],
                        {"why": why, "stalled": stalled}, [], True)
            return


def claimed(task: TaskInfo) -> list[str]:
    """The claims of a pod to devices."""
    return [str(claim.get("name", "")) for claim in task.pod.spec.resource_claims]


def claims_off(seen: Evidence, task: TaskInfo) -> Message | None:
    """That plugin predicates does not read the claims of a pod to devices."""
    names, plugin = claimed(task), seen.ssn.plugins.get("predicates")
    if not names or (plugin is not None and plugin.arguments.get_bool(CLAIMS_ARGUMENT, False)):
        return None
    return Message("claims_off", claims=names, argument=CLAIMS_ARGUMENT)


def warnings_of(seen: Evidence, task: TaskInfo, evicted: bool = False) -> list[Message]:
    """The warnings about a pod: those of evictions, or the others."""
    return [each for each in _about(seen, task.key) if each.facts["reason"] not in SCALES
            and (each.facts["reason"] in EVICTS) == evicted]


def scaled(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield what the autoscaler has said last of a pod that waits."""
    found = [(task.key, each) for task in unplaced(job) for each in _about(seen, task.key)
             if each.facts["reason"] in SCALES]
    if found:
        pod, last = max(found, key=lambda item: item[1].facts["time"])
        facts = {**last.facts, "pod": pod}
        yield Cause("scales", Message(SCALES[last.facts["reason"]], **facts), {}, [], True)


def _about(seen: Evidence, key: str) -> list[Message]:
    """What Events say of a pod, or of a PodGroup whose pods were evicted."""
    return [each for each in seen.not_created.get(OF_POD + key, ()) if isinstance(each, Message)]


def _one_node(seen: Evidence, task: TaskInfo) -> Iterator[Message]:
    """Yield the claims of a pod whose volume only one node has at a time, and that pods on another
    node use.
    """
    used = {claim.name for claim in claims_of(task.pod)}
    for claim in seen.ssn.snapshot.storage.all(CLAIM) if used else ():
        if claim.namespace == task.namespace and claim.name in used and ONE_NODE.issuperset(
                claim.spec.access_modes):
            others = [(other.key, name) for name, node in seen.ssn.nodes.items()
                      for other in node.tasks.values() if name != task.node_name
                      and other.namespace == task.namespace
                      and claim.name in {each.name for each in claims_of(other.pod)}]
            if others:
                yield Message("bound.one_node", claim=claim.key, modes=claim.spec.access_modes,
                              pods=[pod for pod, _ in others],
                              nodes=[*dict.fromkeys(node for _, node in others)])


def _no_volume(seen: Evidence, task: TaskInfo) -> Iterator[Message]:
    """Yield the claims of a pod on its node that have no volume, and who has not created it."""
    storage = seen.ssn.snapshot.storage
    for name, _ in claims_of(task.pod):
        claim = storage.get(CLAIM, f"{task.namespace}/{name}")
        if claim is not None and not claim.is_bound:
            found = storage.class_of(claim)
            untold = found is not None and found.volume_binding_mode == WAIT and (
                SELECTED_NODE not in claim.metadata.annotations)
            code = "lost" if class_of(claim) else "no_class"
            code = "provisioner" if found else code
            code = "untold" if untold else code
            yield Message("bound.no_volume", claim=claim.key, why=Message(
                f"bound.no_volume.{code}", storage_class=class_of(claim), key=SELECTED_NODE,
                provisioner=found.provisioner if found else None))


def evicted_before(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods which wait were evicted, and have been created again."""
    found = {task.key: each for task in unplaced(job) for each in warnings_of(seen, task, True)}
    if found:
        pod, last = max(found.items(), key=lambda item: item[1].facts["time"])
        yield Cause.of("evicted_before", context=True, n=len(found), pod=pod, said=last)
    for said in _about(seen, job.pod_group.key) if unplaced(job) and not found else ():
        yield Cause("evicted_before", Message("evicted_before.group", said=said), {}, [], True)
