"""The PodGroup and Pods of a Volcano Job.

For a new job: no retries, no version. A task's pods are created at once, but those of a task that
depends on others only when these run. Left out: its plugins (ssh, svc, ...). Differs on purpose:
the pods do not wait until the PodGroup has been enqueued; two tasks of the same priority count in
document order.

Volcano: pkg/controllers/job/job_controller_actions.go, pkg/webhooks/admission/jobs/mutate
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from volcano_lab.api import objects as api, quantity
from volcano_lab.api.job import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE
from volcano_lab.api.pod_sum import Amounts, add, parsed, sum_of_containers
from volcano_lab.api.task import COOLDOWN_TIME, GROUP_NAME, PREEMPTABLE, REVOCABLE_ZONE, TASK_SPEC
from volcano_lab.messages import Message
from volcano_lab.trace.plain import grouped

TASK_INDEX = "volcano.sh/task-index"
PARTITION = "volcano.sh/partition-id"
JOB_NAME = "volcano.sh/job-name"
JOB_NAMESPACE = "volcano.sh/job-namespace"
QUEUE_NAME = "volcano.sh/queue-name"
NUMA_POLICY = "volcano.sh/numa-topology-policy"

CREATING = ("", "Pending", "Running")
"""States of a Job in which its controller creates pods."""
FINISHED = ("Completed", "Failed", "Terminated", "Aborted")
ENDING = ("Aborting", "Completing", "Restarting", "Terminating")
ENDS = {"Terminated": "TerminateJob", "Aborted": "AbortJob", "Completed": "CompleteJob"}
"""The state of a Job -> the action of a policy that leads there."""
NATIVE = ("cpu", "memory", "ephemeral-storage")


def expand(job: api.VolcanoJob, priorities: Mapping[str, int] | None = None,
           ready: Mapping[str, int] | None = None) -> tuple[api.PodGroup, list[api.Pod]]:
    """Return the PodGroup and the pods of a job.

    Args:
        job: With a uid, which is part of the PodGroup's name.
        priorities: The value of each PriorityClass.
        ready: Per task, how many of its pods run with all containers ready, or have succeeded.

    >>> from volcano_lab.manifests.loader import from_dict
    >>> group, pods = expand(from_dict({
    ...     "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
    ...     "metadata": {"name": "train", "namespace": "team", "uid": "1"},
    ...     "spec": {"tasks": [{"name": "worker", "replicas": 2, "template": {"spec": {
    ...         "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}}]}}))
    >>> group.key, group.spec.min_member, group.spec.min_resources["cpu"]
    ('team/train-1', 2, '1')
    >>> [pod.name for pod in pods]
    ['train-worker-0', 'train-worker-1']
    """
    job = as_admitted(job)
    spec, topology = job.spec, job.spec.network_topology
    if topology is not None and topology.highest_tier_allowed is not None:
        topology = topology.evolve(highest_tier_name="")  # the number takes precedence
    group = api.PodGroup(
        _owned(job, f"{job.name}-{job.metadata.uid}").evolve(
            labels=dict(job.metadata.labels), annotations=dict(job.metadata.annotations)),
        api.PodGroupSpec(min_member=spec.min_available,
                         min_task_member={task.name: minimum(task) for task in spec.tasks},
                         queue=spec.queue, priority_class_name=spec.priority_class_name,
                         min_resources=min_resources(job, priorities or {}),
                         network_topology=topology,
                         sub_group_policy=[_sub_group_policy(task.name, task.partition_policy)
                                           for task in spec.tasks if task.partition_policy]))
    waiting = waiting_tasks(job, ready or {})
    return group, [pod for task in spec.tasks if task.name not in waiting
                   for pod in _pods(job, task)]


def waiting_tasks(job: api.VolcanoJob, ready: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the tasks whose pods are not created yet, and the tasks that each waits for.

    A task waits for all its dependencies, or with `iteration: any` for the first of several.
    """
    tasks = as_admitted(job).spec.tasks
    least = {task.name: minimum(task) for task in tasks}
    waiting = {}
    for task in tasks:
        needed = task.depends_on.name if task.depends_on else []
        unmet = [name for name in needed if name not in least or ready.get(name, 0) < least[name]]
        any_will_do = task.depends_on and len(needed) > 1 and task.depends_on.iteration == "any"
        if len(unmet) == len(needed) if any_will_do else unmet:
            waiting[task.name] = unmet
    return waiting


def by_task(running: list[api.Pod], ready: bool) -> dict[tuple[str | None, ...], list[api.Pod]]:
    """Return pods that run or have succeeded, `ready` or not, by namespace, Job and task."""
    return grouped(((pod.namespace, *map(pod.metadata.annotations.get, (
        JOB_NAME, TASK_SPEC))), pod) for pod in running
        if pod.status.phase in ("Running", "Succeeded") and ready is all(
            status.ready for status in pod.status.container_statuses))


def policy_for(job: api.VolcanoJob, task: api.TaskSpec, event: str) -> api.LifecyclePolicy | None:
    """Return the policy that acts on an event of a task's pod: its own before the job's."""
    return next((each for each in (*task.policies, *job.spec.policies) if {event, "*"} & {
        each.event, *each.events} and (each.timeout or event != "PodPending")), None)


def fails_first(job: api.VolcanoJob) -> Message | None:
    """Return that an evicted pod may be Failed before it is deleted, where the policies of a job
    then do something else.
    """
    for task in job.spec.tasks:
        failed, evicted = (policy_for(job, task, event) for event in ("PodFailed", "PodEvicted"))
        if failed and evicted and failed.action != evicted.action:
            return Message("fails_first", failed=failed.action, evicted=evicted.action)
    return None


def ended_by(job: api.VolcanoJob) -> Message | None:
    """Return the events for which policies of a job end it in the state that it has."""
    action = ENDS.get(job.status.state.phase)
    events = [event for some in (job.spec.policies, *(task.policies for task in job.spec.tasks))
              for policy in some if policy.action == action for event in (
                  [f"exitCode {policy.exit_code}"] if policy.exit_code is not None else
                  policy.events or [policy.event]) if event]
    return Message("not_created.policy", action=action, events=[*dict.fromkeys(events)],
                   early=Message("not_created.policy.early") if "PodEvicted" in events else None
                   ) if events else None


def not_created(job: api.VolcanoJob, has_pods: bool) -> Message:
    """Return why the controller creates no pods of a job that ends or has ended."""
    phase, again = job.status.state.phase, None
    if phase in ("Terminated", "Failed"):
        again = Message("not_created.final")
    if phase == "Aborted":
        again = Message(
            "not_created.resume", command=f"vcctl job resume -n {job.namespace} -N {job.name}",
            change=f"--set job/{job.key}.status.state.phase=Pending")
    retries, most = job.status.retry_count, job.spec.max_retry or 3
    tried = Message("not_created.tried", retries=retries, most=most) if retries else None
    code = "finished" if has_pods else "no_pods"
    code = "ending" if phase in ENDING else code
    return Message(f"not_created.{code}", phase=phase, tried=tried, again=again,
                   why=again and fails_first(job), policy=None if has_pods else ended_by(job))


def min_resources(job: api.VolcanoJob, priorities: Mapping[str, int]) -> dict[str, str]:
    """Return the minimum of a job's gang: its first `min_available` pods, tasks of high priority
    first.

    Where the tasks' own minimums fit into the job's, they come first, and other replicas fill up.
    """
    tasks = sorted(job.spec.tasks,
                   key=lambda task: -priorities.get(task.template.spec.priority_class_name, 0))
    minimums = [minimum(task) for task in tasks]
    wanted = job.spec.min_available
    if wanted < sum(minimums):
        rounds = [[task.replicas for task in tasks]]
    else:
        rounds = [minimums,
                  [task.replicas - least for task, least in zip(tasks, minimums, strict=True)]]

    total: Amounts = {}
    styles: dict[str, str] = {}
    for counts in rounds:
        for task, available in zip(tasks, counts, strict=True):
            taken = min(available, wanted)
            if taken > 0:
                wanted -= taken
                add(total, usage(task.template.spec, styles), taken)
    return amounts_text(total, styles)


def amounts_text(amounts: Amounts, styles: Mapping[str, str]) -> dict[str, str]:
    """Return amounts as quantities, each in the style in which it was written."""
    return {name: quantity.to_text(amount, styles.get(name, "DecimalSI"))
            for name, amount in amounts.items()}


def scaled(amounts: Mapping[str, str], part: Any, whole: Any = 1) -> dict[str, str]:
    """Scale amounts of a `whole`, as of its members, to a `part` of it."""
    return {name: quantity.to_text(quantity.parse(text) * part / whole, quantity.style_of(text))
            for name, text in amounts.items()}


def usage(spec: api.PodSpec, styles: dict[str, str]) -> Amounts:
    """Return what a quota counts for one pod: the pod itself, requests under both of their names,
    and limits.

    `styles` receives the style of each resource's quantity.
    """
    counted: Amounts = {"count/pods": Fraction(1), "pods": Fraction(1)}
    for name, amount in _pod_sum(spec, "requests", styles).items():
        if name in NATIVE or name.startswith("hugepages-") or (
                "/" in name and "kubernetes.io/" not in name):  # of other domains
            counted[name] = counted[f"requests.{name}"] = amount
            styles[f"requests.{name}"] = styles[name]
    for name, amount in _pod_sum(spec, "limits", styles).items():
        if name in NATIVE:
            counted[f"limits.{name}"] = amount
            styles[f"limits.{name}"] = styles[name]
    return counted


def _pod_sum(spec: api.PodSpec, part: str, styles: dict[str, str]) -> Amounts:
    """Return a pod's requests or limits: its containers and sidecars together, or one init
    container if that is more.
    """

    def amounts(texts: Mapping[str, str]) -> Amounts:
        for name, text in texts.items():
            styles.setdefault(name, quantity.style_of(text))
        return parsed(texts)

    total = sum_of_containers(spec, lambda container, once: amounts(getattr(container.resources,
                                                                            part)))
    if spec.resources is not None:
        total |= amounts(getattr(spec.resources, part))
    overhead = amounts(spec.overhead)
    if part == "limits":  # nothing is added to a limit of zero
        overhead = {name: amount for name, amount in overhead.items() if total.get(name)}
    add(total, overhead)
    return total


def as_admitted(job: api.VolcanoJob) -> api.VolcanoJob:
    """Return the job with the webhook's defaults: names for tasks, their minimums, the job's
    minimum, queue, scheduler.
    """
    tasks = [task.evolve(name=task.name or f"default{number}", min_available=minimum(task))
             for number, task in enumerate(job.spec.tasks)]
    spec = job.spec.evolve(tasks=tasks, min_available=job.spec.min_available
                           or sum(map(minimum, tasks)), queue=job.spec.queue or "default",
                           scheduler_name=job.spec.scheduler_name or "volcano")
    return job.evolve(spec=spec)


def minimum(task: api.TaskSpec) -> int:
    """Return how many pods of a task its job needs: by default those of its minimum of partitions,
    or all.
    """
    if task.min_available is not None:
        return task.min_available
    parts = task.partition_policy
    return parts.min_partitions * parts.partition_size if parts else task.replicas


def _owned(job: api.VolcanoJob, name: str) -> api.ObjectMeta:
    """Return the metadata of an object created by the job's controller."""
    owner = api.OwnerReference(job.api_versions[0], job.kind, job.name, job.metadata.uid, True,
                               True)
    return api.ObjectMeta(name, job.namespace, owner_references=[owner],
                      creation_timestamp=job.metadata.creation_timestamp)


def _pods(job: api.VolcanoJob, task: api.TaskSpec) -> list[api.Pod]:
    """Return the pods of a task; they share their spec."""
    template, owned = task.template, _owned(job, "")
    both = {TASK_SPEC: task.name, JOB_NAME: job.name, QUEUE_NAME: job.spec.queue}
    annotations = {**template.metadata.annotations, **both,
                   GROUP_NAME: f"{job.name}-{job.metadata.uid}", "volcano.sh/job-version": "0",
                   "volcano.sh/job-retry-count": "0",
                   "volcano.sh/template-uid": f"{job.name}-{task.name}",
                   **({NUMA_POLICY: task.topology_policy} if task.topology_policy else {}),
                   **inherited_annotations(job.metadata.annotations)}
    inherited = chosen(job.metadata.labels, PREEMPTABLE, COOLDOWN_TIME)
    labels = {**template.metadata.labels, **both, JOB_NAMESPACE: job.namespace, **inherited}
    size = task.partition_policy.partition_size if task.partition_policy else 0
    volumes = [volume_of(f"{job.name}-{claim}", claim) for claim in claims_of_job(job)]
    spec = template.spec.evolve(
        volumes=[*template.spec.volumes, *volumes],
        scheduler_name=template.spec.scheduler_name or job.spec.scheduler_name,
        priority_class_name=template.spec.priority_class_name or job.spec.priority_class_name)
    pods = []
    for index in range(task.replicas):
        own = {TASK_INDEX: str(index)}
        if task.partition_policy:
            own[PARTITION] = str(index // size if size > 0 else 0)
        pods.append(api.Pod(owned.evolve(
            name=f"{job.name}-{task.name}-{index}", labels=labels | own,
            annotations=annotations | {TASK_INDEX: str(index)}), spec))
    return pods


def volume_of(name: str, claim: str) -> dict[str, Any]:
    """Return a pod's volume that a claim provides.

    >>> volume_of("data", "web-data")
    {'name': 'data', 'persistentVolumeClaim': {'claimName': 'web-data'}}
    """
    return {"name": name, "persistentVolumeClaim": {"claimName": claim}}


def claims_of_job(job: api.VolcanoJob) -> dict[str, api.VolumeSpec]:
    """Return the claims that each pod of a Job mounts, by name.

    >>> from volcano_lab.api.objects import ObjectMeta, VolumeSpec, VolcanoJob, VolcanoJobSpec
    >>> volumes = [VolumeSpec(volume_claim_name="data"), VolumeSpec("/out")]
    >>> [*claims_of_job(VolcanoJob(ObjectMeta("train"), VolcanoJobSpec(volumes=volumes)))]
    ['data', 'train-volume-1']
    """
    return {each.volume_claim_name or f"{job.name}-volume-{number}": each
            for number, each in enumerate(job.spec.volumes)}


def inherited_annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return a pod's annotations from its job; of the two budget annotations only one."""
    budget = JDB_MIN_AVAILABLE if JDB_MIN_AVAILABLE in annotations else JDB_MAX_UNAVAILABLE
    return chosen(annotations, PREEMPTABLE, COOLDOWN_TIME, REVOCABLE_ZONE, budget)


def chosen(texts: Mapping[str, str], *keys: str) -> dict[str, str]:
    """Return the given keys of some labels or annotations, if present.

    >>> chosen({"a": "1", "b": "2"}, "b", "c")
    {'b': '2'}
    """
    return {key: texts[key] for key in keys if key in texts}


def _sub_group_policy(task: str, partitions: api.PartitionPolicySpec) -> api.SubGroupPolicySpec:
    """Return a task's partitions as sub-groups of the podgroup."""
    return api.SubGroupPolicySpec(
        name=task, network_topology=partitions.network_topology,
        sub_group_size=partitions.partition_size, min_sub_groups=partitions.min_partitions,
        label_selector=api.LabelSelector({TASK_SPEC: task}), match_label_keys=[PARTITION])
