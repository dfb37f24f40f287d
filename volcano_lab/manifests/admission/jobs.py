"""Rules for Volcano Jobs, after the defaults of the mutating webhook.

Volcano: pkg/webhooks/admission/jobs/validate
"""

from graphlib import CycleError, TopologicalSorter
from itertools import zip_longest

from volcano_lab.api import quantity
from volcano_lab.api.objects import LifecyclePolicy, TaskSpec, VolcanoJob
from volcano_lab.manifests.admission.pods import broken_containers
from volcano_lab.manifests.job_controller import as_admitted, minimum
from volcano_lab.manifests.names import is_qualified, is_subdomain

from .rules import Broken, Queues, both_tiers, first, for_jobs, state_of

EVENTS = ["*", "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed",
          "JobUpdated"]
ACTIONS = ["AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition",
           "TerminateJob", "CompleteJob", "ResumeJob"]
PLUGINS = ["env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow"]


def broken(job: VolcanoJob, queues: Queues) -> Broken:
    """Yield the rules that a Job breaks."""
    job = as_admitted(job)
    spec, names = job.spec, [task.name for task in job.spec.tasks]
    role = next((role for role in ("master", "worker") if "mpi" in spec.plugins
                 and _flag(spec.plugins["mpi"], role) not in names), "")
    if alone := first((not names, "job-tasks"), (role, "job-mpi"), role=role):
        yield from alone
        return
    if both_tiers(spec.network_topology):
        yield "job-topology", {"field": "spec"}
    for i, task in enumerate(spec.tasks):
        if task.name in names[:i]:
            yield "job-task-name", {"field": f"spec.tasks[{i}]", "task": task.name}
            break
        yield from _broken_task(job, task, i)
    if not is_qualified(job.name):
        yield "job-name", {"job": job.name}
    if (replicas := sum(task.replicas for task in spec.tasks)) < spec.min_available:
        yield "job-min-available", {"replicas": replicas}
    yield from _broken_policies(spec.policies, "spec.policies")
    for plugin in sorted(spec.plugins.keys() - set(PLUGINS)):
        yield "job-plugin", {"plugin": plugin, "known": ", ".join(PLUGINS)}
    yield from _broken_volumes(job)
    yield from _broken_queue(spec.queue, queues)
    yield from first((not _can_follow(spec.tasks), "job-dependencies"))


def _broken_queue(name: str, queues: Queues) -> Broken:
    queue = queues.get(name)
    children = sum(other.spec.parent == name for other in queues.values())
    about = {"queue": name, "known": for_jobs(queues), "children": children}
    if queue and state_of(queue) != "Open":
        yield "job-queue-closed", about | {"state": queue.status.state}
    yield from first((queue is None, "job-queue-missing"), (name == "root", "job-queue-root"),
                     (children, "job-queue-leaf"), **about)


def _can_follow(tasks: list[TaskSpec]) -> bool:
    """Return whether each task depends only on existing tasks, and none on itself."""
    graph = {task.name: task.depends_on.name if task.depends_on else () for task in tasks}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return False
    return all(name in graph for needed in graph.values() for name in needed)


def _flag(arguments: list[str], name: str) -> str:
    """Return the value of a plugin's flag, by default the flag's name."""
    for text, following in zip_longest(arguments, arguments[1:], fillvalue=""):
        flag, equals, value = text.lstrip("-").partition("=")
        if flag == name:
            return value if equals else following
    return name


def _broken_task(job: VolcanoJob, task: TaskSpec, i: int) -> Broken:
    field, spec, partition = f"spec.tasks[{i}]", task.template.spec, task.partition_policy
    pod = f"{job.name}-{task.name}-{i}"
    about = {"field": field, "i": i, "task": task.name, "job": job.name, "pod": pod}
    if minimum(task) > task.replicas:
        yield "job-task-min-available", about | {"replicas": task.replicas}
    yield from _broken_policies(task.policies, f"{field}.policies")
    if not is_qualified(pod):
        yield "job-pod-name", about
    if not is_subdomain(task.name):
        yield "job-task-name-form", about
    yield from broken_containers(spec, f"{field}.template.spec")
    cpus = [(container.resources.requests or container.resources.limits).get("cpu", "0")
            for container in (*spec.containers, *spec.init_containers)]
    odd = next((number for number, cpu in enumerate(cpus)
                if quantity.milli_value(cpu) % 1000 or not quantity.value(cpu)), None)
    if odd is not None and task.topology_policy not in ("", "none"):
        yield "job-numa-cpus", about | {"container": odd}
    if partition:
        size, count = partition.partition_size, partition.total_partitions
        about |= {"all": count * size, "least": partition.min_partitions * size}
        yield from first((count <= 0, "job-partitions-total"), (size <= 0, "job-partitions-size"),
                         (task.replicas != about["all"], "job-partitions-replicas"),
                         (task.min_available != about["least"], "job-partitions-least"), **about)
        if both_tiers(partition.network_topology):
            yield "job-topology", {"field": f"{field}.partitionPolicy"}


def _broken_policies(policies: list[LifecyclePolicy], field: str) -> Broken:
    """Yield the first error in policies, and an event that includes all the others."""
    events: list[str] = []
    codes: list[int | None] = []
    for i, policy in enumerate(policies):
        own, code = dict.fromkeys(filter(None, [*policy.events, policy.event])), policy.exit_code
        event = next((event for event in own if event not in EVENTS), None)
        again = next((event for event in own if event in events), None)
        problem = first(
            (own and code is not None, "job-policy-both"),
            (not own and code is None, "job-policy-neither"), (event, "job-policy-event"),
            (own and policy.action not in ACTIONS, "job-policy-action"),
            (again, "job-policy-event-twice"), (code == 0, "job-policy-code"),
            (code is not None and code in codes, "job-policy-code-twice"),
            field=f"{field}[{i}]", event=event, again=again, code=code, action=policy.action,
            events=" ".join(EVENTS), actions=" ".join(ACTIONS))
        yield from problem
        if problem:
            break
        events += own
        codes.append(code)
    if "*" in events and len(events) > 1:
        yield "job-policy-any", {"field": field}


def _broken_volumes(job: VolcanoJob) -> Broken:
    """Yield the first error in the volumes."""
    paths = [volume.mount_path for volume in job.spec.volumes]
    for i, volume in enumerate(job.spec.volumes):
        path, name, claim = volume.mount_path, volume.volume_claim_name, volume.volume_claim
        problem = first((not path, "job-volume-path"), (path in paths[:i], "job-volume-path-twice"),
                        (claim is None and not name, "job-volume-claim"),
                        (name and claim is not None, "job-volume-claims"),
                        (name and not is_subdomain(name), "job-volume-name"),
                        field=f"spec.volumes[{i}]", path=path, name=name)
        if problem:
            yield from problem
            return
