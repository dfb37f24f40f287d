"""The table of extension points: one method each, with its rule, its switches and its default.

A method's docstring is the question; its body is the result without any answer (without a body: the
rule's own default). Beyond Volcano: a user-defined point takes one line
(`register_extension_point`), where Volcano needs a change of the framework.

Volcano: pkg/scheduler/framework/session_plugins.go
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from volcano_lab.api import FitError, JobInfo, NodeInfo, QueueInfo, SubJobInfo, TaskInfo
from volcano_lab.api.hyper_node import HyperNodeInfo
from volcano_lab.framework.points import answers, rules
from volcano_lab.framework.registry import NotRegistered, Registry

Method = TypeVar("Method", bound=Callable[..., Any])
Scores = dict[str, float]
State = dict[str, Any]
OLDER, ITSELF = "the older, then the smaller uid", "the HyperNode itself"
BUILT_IN: dict[str, rules.ExtensionPoint] = {}
"""Volcano's extension points by name."""


def point(rule: type[rules.ExtensionPoint], *switches: str,
          **facts: Any) -> Callable[[Method], Method]:
    """Declare a method of `ExtensionPoints` as a row of the table."""

    def declare(method: Method) -> Method:
        code = method.__code__
        sentence = (method.__doc__ or "").partition("\n")[0]
        BUILT_IN[method.__name__] = rule(
            method.__name__, *switches, arguments=code.co_varnames[1 : code.co_argcount],
            sentence=sentence, method=method, **facts)
        return method

    return declare


class ExtensionPoints:
    """The questions that a session asks its plugins. An open session has each as a function that
    combines the plugins' answers.
    """

    # -- which comes first: True for the left one --------------------------------------------------

    @point(rules.FirstDifference, "enableJobOrder", default=OLDER,
           asked_by="allocate backfill enqueue preempt reclaim")
    def job_order(self, left: JobInfo, right: JobInfo) -> bool:
        """Which of two jobs comes first?"""
        return (left.creation_timestamp, left.uid) < (right.creation_timestamp, right.uid)

    @point(rules.FirstDifference, "enableQueueOrder", default=OLDER,
           asked_by="allocate backfill enqueue reclaim")
    def queue_order(self, left: QueueInfo, right: QueueInfo) -> bool:
        """Which of two queues comes first?"""
        return (left.creation_timestamp, left.uid) < (right.creation_timestamp, right.uid)

    @point(rules.FirstDifference, default="queue_order the other way round", asked_by="reclaim")
    def victim_queue_order(self, left: QueueInfo, right: QueueInfo, preemptor: QueueInfo) -> bool:
        """Which of two queues loses a task first, to a third?"""
        return not self.queue_order(left, right)

    @point(rules.FirstDifference, "enableTaskOrder", asked_by="allocate backfill preempt reclaim",
           default="the smaller index in its role, then the older")
    def task_order(self, left: TaskInfo, right: TaskInfo) -> bool:
        """Which of two tasks comes first?"""
        return left.before(right)

    @point(rules.FirstDifference, "enabledSubJobOrder", default="the smaller match index",
           asked_by="allocate")
    def sub_job_order(self, left: SubJobInfo, right: SubJobInfo) -> bool:
        """Which of two sub-groups of a job comes first?"""
        return (left.match_index, left.uid) < (right.match_index, right.uid)

    @point(rules.FirstDifference, "EnabledClusterOrder", default="the name")
    def cluster_order(self, left: Any, right: Any) -> bool:
        """Which of two clusters comes first?"""
        return str(left.name) < str(right.name)

    # -- whether, and why not ----------------------------------------------------------------------

    @point(rules.FirstObjection, answer=answers.INVALID,
           asked_by="allocate backfill preempt reclaim")
    def job_valid(self, job: JobInfo) -> Any:
        """Why can a job not be scheduled, whatever the cluster has?"""

    @point(rules.FirstObjection, "enablePredicate", asked_by="allocate backfill preempt reclaim")
    def pre_predicate(self, task: TaskInfo) -> str | None:
        """Why is there no point in looking at nodes for a task?"""

    @point(rules.FirstObjection, "enablePredicate", asked_by="allocate backfill preempt reclaim")
    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | str | None:
        """Why can a task not go to a node?"""

    @point(rules.FirstObjection, "enablePredicate", asked_by="preempt")
    def simulate_predicate(self, state: State, task: TaskInfo, node: NodeInfo) -> str | None:
        """Why can a task not be placed there, even after evictions?"""

    @point(rules.FirstObjection, "enablePreemptable", "enabledAllocatable", asked_by="preempt")
    def simulate_add_task(self, state: State, task: TaskInfo, added: TaskInfo,
                          node: NodeInfo) -> str | None:
        """What if a task were on a node?"""

    @point(rules.FirstObjection, "enablePreemptable", "enabledAllocatable", asked_by="preempt")
    def simulate_remove_task(self, state: State, task: TaskInfo, removed: TaskInfo,
                             node: NodeInfo) -> str | None:
        """What if a task were removed from a node?"""

    @point(rules.AllTrue, "enabledAllocatable", asked_by="preempt")
    def simulate_allocatable(self, state: State, queue: QueueInfo, task: TaskInfo) -> bool:
        """May a queue take a task after evictions?"""

    @point(rules.AllTrue, "enabledAllocatable", asked_by="allocate preempt")
    def allocatable(self, queue: QueueInfo, task: TaskInfo) -> bool:
        """May a queue take a task?"""

    @point(rules.AllTrue, "enablePreemptive", asked_by="reclaim")
    def preemptive(self, queue: QueueInfo, task: TaskInfo) -> bool:
        """May a queue reclaim resources for a task?"""

    @point(rules.AllTrue, "enableJobReady", asked_by="allocate backfill")
    def job_ready(self, job: JobInfo) -> bool:
        """Has a job enough tasks placed to start?"""

    @point(rules.AllTrue, "enabledSubJobReady", asked_by="allocate")
    def sub_job_ready(self, sub_job: SubJobInfo) -> bool:
        """Has a sub-group enough tasks placed to start?"""

    @point(rules.AnyTrue, "enabledOverused", asked_by="allocate reclaim")
    def overused(self, queue: QueueInfo) -> bool:
        """Has a queue all that it deserves?"""

    @point(rules.AllOfFirstTier, "enableJobStarving", asked_by="preempt reclaim")
    def job_starving(self, job: JobInfo) -> bool:
        """Does a job lack tasks for which others should be evicted?"""

    @point(rules.Vote, "enableJobPipelined", asked_by="allocate preempt reclaim")
    def job_pipelined(self, job: JobInfo) -> bool:
        """Has a job enough tasks placed, or waiting for resources that are being freed?"""

    @point(rules.Vote, "enabledSubJobPipelined", asked_by="allocate")
    def sub_job_pipelined(self, sub_job: SubJobInfo) -> bool:
        """Has a sub-group enough tasks placed or pipelined?"""

    @point(rules.Vote, "enableJobEnqueued", asked_by="enqueue")
    def job_enqueueable(self, job: JobInfo) -> bool:
        """May a job be admitted?"""

    @point(rules.Notify, "enableJobEnqueued", asked_by="enqueue")
    def job_enqueued(self, job: JobInfo) -> None:
        """A job has been admitted."""

    @point(rules.Notify, "enableReservedNodes")
    def reserved_nodes(self) -> None:
        """Reserve nodes."""

    # -- victims -----------------------------------------------------------------------------------

    @point(rules.Victims, "enablePreemptable", asked_by="preempt")
    def preemptable(self, task: TaskInfo, candidates: list[TaskInfo]) -> list[TaskInfo]:
        """Which tasks may a task of the same queue evict?"""

    @point(rules.Victims, "enableReclaimable", asked_by="reclaim")
    def reclaimable(self, task: TaskInfo, candidates: list[TaskInfo]) -> list[TaskInfo]:
        """Which tasks may a task of another queue evict?"""

    @point(rules.UnionOfFirstTier, "enabledVictim", asked_by="shuffle")
    def victim_tasks(self, candidates: list[TaskInfo]) -> list[TaskInfo]:
        """Which running tasks should be evicted?"""

    # -- scores ------------------------------------------------------------------------------------

    @point(rules.Sum, "enableNodeOrder", asked_by="allocate backfill preempt")
    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        """How good is a node for a task?"""

    @point(rules.SumByName, "enableNodeOrder", asked_by="allocate backfill preempt")
    def batch_node_order(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> Scores:
        """How good are all these nodes?"""

    @point(rules.ByPlugin, "enableNodeOrder", asked_by="allocate backfill preempt")
    def node_map(self, task: TaskInfo, node: NodeInfo) -> Scores:
        """How good is a node, on a scale of the plugin's own?"""

    @point(rules.Reduce, "enableNodeOrder", asked_by="allocate backfill preempt")
    def node_reduce(self, task: TaskInfo, mapped: dict[str, Scores]) -> Scores:
        """How good is a node, on the common scale?"""

    @point(rules.FirstChoice, "enableBestNode", asked_by="allocate backfill")
    def best_node(self, task: TaskInfo, scores: dict[float, list[NodeInfo]]) -> NodeInfo | None:
        """Which node, whatever the scores?"""

    # -- HyperNodes, and the rest ------------------------------------------------------------------

    @point(rules.ByPlugin, "enabledHyperNodeOrder", answer=answers.SCORES, asked_by="allocate")
    def hyper_node_order(self, sub_job: SubJobInfo,
                         hyper_nodes: dict[str, list[NodeInfo]]) -> dict[str, Scores]:
        """How good is a HyperNode for a sub-group?"""

    @point(rules.FirstAnswer, "enableTargetJob")
    def target_job(self, jobs: list[JobInfo]) -> JobInfo | None:
        """For which job should resources be reserved?"""

    @point(rules.FirstAnswer, "enabledHyperNodeGradient", default=ITSELF, answer=answers.LEVELS,
           asked_by="allocate")
    def hyper_node_gradient_for_job(self, job: JobInfo,
                                    hyper_node: HyperNodeInfo) -> list[list[HyperNodeInfo]]:
        """Which HyperNodes may a job be tried in, the nearer ones first?"""
        return [[hyper_node]]

    @point(rules.FirstAnswer, "enabledHyperNodeGradient", default=ITSELF, answer=answers.LEVELS,
           asked_by="allocate")
    def hyper_node_gradient_for_sub_job(self, sub_job: SubJobInfo,
                                        hyper_node: HyperNodeInfo) -> list[list[HyperNodeInfo]]:
        """Which HyperNodes may a sub-group be tried in, within the job's?"""
        return [[hyper_node]]


SWITCHES = tuple(dict.fromkeys(switch for row in BUILT_IN.values() for switch in row.switches))
"""Keys of the configuration that enable a plugin. Their spelling is uneven in Volcano, too: some
begin with `enable`, some with `enabled`, one with `Enabled`; any other has no effect."""


def _prepare(name: str, rule: Any, switches: Sequence[str] = (), arguments: Sequence[str] = (),
             **how: Any) -> rules.ExtensionPoint:
    if not name.isidentifier() or name.startswith("_"):
        raise NotRegistered("registered.point", name=repr(name))
    if not (isinstance(rule, type) and issubclass(rule, rules.ExtensionPoint)):
        raise NotRegistered("registered.rule", name=name, rule=repr(rule))
    unknown = [switch for switch in switches if switch not in SWITCHES]
    if unknown:
        raise NotRegistered("registered.switch", name=name, unknown=unknown, names=[*SWITCHES])
    row = rule(name, *switches, **how)
    row.arguments = tuple(arguments)
    return row


POINTS: Registry[rules.ExtensionPoint] = Registry("extension point", _prepare)
POINTS.built_in.update(BUILT_IN)
unregister_extension_point = POINTS.unregister


def register_extension_point(name: str, rule: type[rules.ExtensionPoint], *switches: str,
                             arguments: Sequence[str] = (), **how: Any) -> None:
    """Register a user-defined extension point: plugins have a method of that name, actions call
    `ssn.name(...)`.

    Args:
        name: The name of the methods.
        rule: How answers combine: a class such as `AllTrue` or `Sum`, or a subclass of
            `ExtensionPoint` with an `ask`.
        switches: Keys of the configuration, such as "enableNodeOrder", of which any one enables a
            plugin; without any it is always enabled.
        arguments: The names of its arguments.
        how: Passed to the rule.

    Raises:
        NotRegistered: The name is one of Volcano's, or another argument is not allowed.

    >>> register_extension_point("fee", rules.Sum, arguments=["queue"])
    >>> extension_points(None)["fee"].rule
    'sum'
    >>> unregister_extension_point("fee")
    """
    POINTS.register(name, rule, switches, arguments, **how)


def extension_points(ssn: Any) -> dict[str, rules.ExtensionPoint]:
    """Return every extension point by name, Volcano's and user-defined, without functions.

    >>> points = extension_points(None)
    >>> points["allocatable"].rule, points["preemptable"].switches
    ('all must agree', ('enablePreemptable',))
    """
    return {name: row.for_session(ssn) for name, row in {**BUILT_IN, **POINTS.own}.items()}
