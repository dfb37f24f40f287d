"""A sub-job: the tasks of one group of a `subGroupPolicy`, with its own minimum and topology.

A job without such policies has one default sub-job.

Volcano: pkg/scheduler/api/sub_job_info.go
"""


from volcano_lab.api.objects import NetworkTopologySpec, Pod, SubGroupPolicySpec
from volcano_lab.api.resource import Resource, total
from volcano_lab.api.selector import label_selector, parse_int
from volcano_lab.api.status import PENDING, TaskStatus
from volcano_lab.api.task import TaskInfo
from volcano_lab.api.task_index import TaskIndex


class SubJobInfo(TaskIndex):
    """`gid` is the policy's name, `uid` the policy and the label values of this group's pods.

    `min_available` is the policy's sub-group size, `priority` the highest of its tasks (at least
    0), `match_index` the first label value where that is a number: it orders groups that are
    otherwise equal.
    """

    __slots__ = ("gid", "uid", "job", "priority", "match_index", "allocated_hyper_node",
                 "network_topology")

    def __init__(self, gid: str, uid: str, job: str, policy: SubGroupPolicySpec,
                 match_values: tuple[str, ...] = ()):
        super().__init__(1 if policy.sub_group_size is None else policy.sub_group_size)
        self.gid, self.uid, self.job = gid, uid, job
        self.priority = 0
        self.match_index = parse_int(match_values[0]) or 0 if match_values else 0
        self.allocated_hyper_node = ""
        # a copy: resolving a tier's name on the policy later does not change existing sub-jobs
        self.network_topology: NetworkTopologySpec | None = (
            policy.network_topology and policy.network_topology.evolve())

    def add_task(self, task: TaskInfo) -> None:
        self.index_task(task)
        if task.priority > self.priority:
            self.priority = task.priority

    def get_min_resources(self) -> Resource:
        """Return the summed requests of the pending tasks."""
        return total(task.init_resreq for task in self.in_status(PENDING).values())

    def __repr__(self) -> str:
        return f"SubJobInfo({self.uid}, {len(self.tasks)} tasks, min {self.min_available})"


class WholeJob(SubJobInfo):
    """The one sub-job of a job without policies and topology: a view of the job's own tasks.

    It shares the job's maps and counts, so that a status change is recorded once.
    """

    __slots__ = ("whole",)

    def __init__(self, job: TaskIndex, uid: str, min_available: int):
        self.whole, self.gid, self.uid, self.job = job, uid, uid, uid
        self.priority = self.match_index = 0
        self.allocated_hyper_node, self.network_topology = "", None
        self.min_available = min_available
        self.tasks, self.task_status_index = job.tasks, job.task_status_index

    def index_task(self, task: TaskInfo) -> None:
        """Do nothing: the job already updated its index."""

    def unindex_task(self, uid: str, status: TaskStatus) -> None:
        """Do nothing: the job already updated its index."""

    @property
    def _ready(self) -> int:  # type: ignore[override]
        return self.whole._ready

    @property
    def _pending_best_effort(self) -> int:  # type: ignore[override]
        return self.whole._pending_best_effort


def match_values(policy: SubGroupPolicySpec, pod: Pod) -> tuple[str, ...]:
    """Return the values of a policy's label keys on a pod, () where the pod is not in it.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> policy = SubGroupPolicySpec(match_label_keys=["group"])
    >>> match_values(policy, Pod()), match_values(policy, Pod(ObjectMeta(labels={"group": "1"})))
    ((), ('1',))
    """
    labels, chosen = pod.metadata.labels, label_selector(policy.label_selector)
    if policy.label_selector is not None and not (chosen.is_valid() and chosen.matches(labels)):
        return ()
    values = tuple(labels.get(key, "") for key in policy.match_label_keys)
    return values if all(values) else ()


def sub_job_id(job: str, policy: str, values: tuple[str, ...]) -> str:
    """Return "job/policy-value…"; very long values are replaced by their hash."""
    name = "-".join(values)
    if len(name.encode()) > 128:
        letters = "bcdfghjklmnpqrstvwxz2456789"  # Kubernetes' own, which form no words
        digits = str(_fnv32a(name.encode()))
        name = "".join(letters[ord(digit) % len(letters)] for digit in digits)
    return f"{job}/{policy}-{name}"


def _fnv32a(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value
