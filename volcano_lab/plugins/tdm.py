"""tdm (time division multiplexing): nodes that Kubernetes may use for some hours of the day only.

A node's label `volcano.sh/revocable-zone` names its zone; a pod may use such nodes if it is
annotated `volcano.sh/revocable-zone: "*"` or `volcano.sh/preemptable: "true"`. When a zone's hours
end, the action `shuffle` evicts preemptable pods from its nodes, a few of each job at a time: as
many as the job's `volcano.sh/jdb-max-unavailable` or `volcano.sh/jdb-min-available` allows, or one.

Arguments: `tdm.revocable-zone.NAME`, the hours of a zone such as "10:00-21:00" (both ends included;
an end that is not later than the start is on the next day), and `tdm.evict.period`, the least time
between two evictions ("1m").

Differs on purpose: hours are UTC, where Volcano reads its machine's clock; an unreadable zone has
one message; the scheduler, not the process, keeps the time of the last eviction.

Volcano: pkg/scheduler/plugins/tdm/tdm.go
"""

import math
import re
from collections.abc import Iterable, Sequence

from volcano_lab.api import FitError, JobInfo, NodeInfo, TaskInfo, unresolvable
from volcano_lab.api.status import FAILED, PENDING, RUNNING, SUCCEEDED
from volcano_lab.framework import PERMIT, REJECT, NoScore, Plugin, Session, TasksAndVote
from volcano_lab.messages import Message, log

ZONE_PREFIX = "tdm.revocable-zone."
EVICT_PERIOD = "tdm.evict.period"
DEFAULT_EVICT_PERIOD = 60.0
NOT_ALLOWED = "not allow to dispatch to revocable node"
DEFAULT_EVICTIONS = 1
MAX_NODE_SCORE = 100.0
DAY = 86400

_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})")



class Tdm(Plugin):
    """Keeps pods off revocable nodes outside the hours, prefers those nodes within them, and evicts
    afterwards.
    """

    name = "tdm"

    def on_session_open(self, ssn: Session) -> None:
        args = self.arguments
        self.zones = {key.replace(ZONE_PREFIX, "", 1): args.get_string(key, "")
                      for key in sorted(args) if ZONE_PREFIX in key}
        for zone, hours in self.zones.items():
            if hours_of(hours) is None and isinstance(args[ZONE_PREFIX + zone], str):
                args.doubt(ZONE_PREFIX + zone, hours, "hours", Message("used.no_pod"))
        self.evict_period = args.get_duration(EVICT_PERIOD, DEFAULT_EVICT_PERIOD)

    def closed_because(self, zone: str) -> str:
        """Return why nothing may run in a zone right now, or "" where pods may."""
        hours = self.zones.get(zone)
        if hours is None:
            return f"revocable zone {zone} not support"
        span = hours_of(hours)
        if span is None:
            return f"revocable zone {hours} format error"
        start, end = span
        inside = start <= math.floor(self.ssn.now) % DAY <= end
        return "" if inside else f"current time beyond revocable zone {zone}:{hours}"

    # -- placing ---------------------------------------------------------------------------------

    def predicate(self, task: TaskInfo, node: NodeInfo) -> FitError | None:
        if not node.revocable_zone:
            return None
        closed = self.closed_because(node.revocable_zone)
        reason = closed or ("" if task.revocable_zone else NOT_ALLOWED)
        return unresolvable(task.key, node.name, reason, self.name)

    def node_order(self, task: TaskInfo, node: NodeInfo) -> float:
        """Return the highest score for a revocable node and a pod that may use it."""
        if not node.revocable_zone:
            return 0.0
        reason = self.closed_because(node.revocable_zone)
        if reason:
            raise NoScore(reason)
        return MAX_NODE_SCORE if task.revocable_zone else 0.0

    def job_order(self, left: JobInfo, right: JobInfo) -> int:
        """Put jobs that are not preemptable first."""
        return left.preemptable - right.preemptable

    def job_order_key(self, job: JobInfo) -> bool:
        """Return `job_order` as a key to sort by."""
        return job.preemptable

    def job_pipelined(self, job: JobInfo) -> int:
        return PERMIT if job.is_pipelined() else REJECT

    def job_starving(self, job: JobInfo) -> bool:
        """Return whether a job that is not preemptable lacks any pod; its minimum is not enough."""
        return not job.preemptable and bool(job.in_status(PENDING))

    # -- evicting --------------------------------------------------------------------------------

    def preemptable(self, preemptor: TaskInfo, preemptees: Sequence[TaskInfo]) -> TasksAndVote:
        """Select preemptable pods on ordinary nodes, unless the preemptor could run on revocable
        ones.
        """
        if preemptor.preemptable or preemptor.revocable_zone:
            return [], REJECT
        nodes = self.ssn.nodes
        return self._within_budgets(task for task in preemptees if task.node_name in nodes
                                    and not nodes[task.node_name].revocable_zone), PERMIT

    def victim_tasks(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Select preemptable pods on nodes of closed zones, at most once per eviction period."""
        last = self.ssn.memory.get(self.name, -math.inf)
        if last + self.evict_period > self.ssn.now:
            return []
        victims = []
        for zone in sorted(self.zones):
            if self.closed_because(zone):
                nodes = (node for node in self.ssn.revocable_nodes.values()
                         if node.revocable_zone == zone)
                victims += self._within_budgets(
                    task for node in nodes for _, task in sorted(node.tasks.items()))
        self.ssn.memory[self.name] = self.ssn.now
        return victims

    def _within_budgets(self, tasks: Iterable[TaskInfo]) -> list[TaskInfo]:
        """Return of running preemptable tasks, job by job, as many as the job may lose."""
        by_job: dict[str, list[TaskInfo]] = {}
        for task in tasks:
            if task.preemptable and task.status == RUNNING:
                by_job.setdefault(task.job, []).append(task)
        jobs = self.ssn.jobs
        return [task for uid, found in sorted(by_job.items()) if uid in jobs
                for task in found[:max_evictions(jobs[uid])]]


def max_evictions(job: JobInfo) -> int:
    """Return how many running tasks a job may lose at once by its budget.

    A job with fewer than `jdb-min-available` running tasks may still lose one, as in Volcano.
    """
    running, tasks = len(job.in_status(RUNNING)), len(job.tasks)
    if job.max_unavailable_budget:
        missing = tasks - len(job.in_status(SUCCEEDED)) - len(job.in_status(FAILED)) - running
        return max(number_or_percent(job.max_unavailable_budget, tasks) - missing, 0)
    if job.min_available_budget:
        spare = running - number_or_percent(job.min_available_budget, tasks)
        if spare >= 0:
            return spare
    return DEFAULT_EVICTIONS


def number_or_percent(text: str, total: int) -> int:
    """Return a number, or a percentage of `total` rounded up; 0 for any other text.

    >>> number_or_percent("3", 10), number_or_percent("25%", 10), number_or_percent("some", 10)
    (3, 3, 0)
    """
    match = re.fullmatch(r"([+-]?[0-9]+)(%?)", text)
    if match is None:
        log.warning("a job's budget is %r, allowed is a number or a percentage; it counts as 0",
                       text)
        return 0
    number = int(match[1])
    return math.ceil(number * total / 100) if match[2] else number


def hours_of(text: str) -> tuple[int, int] | None:
    """Return a zone's opening hours in seconds of the day; an end on the next day is beyond the
    day's last second.

    As in Volcano, hours restart each day: of "22:00-06:00" nothing is left after midnight.

    >>> hours_of("10:00-21:30"), hours_of("22:00-06:00"), hours_of("10-21")
    ((36000, 77400), (79200, 108000), None)
    """
    match = _HOURS.fullmatch(text.strip())
    if match is None:
        return None
    start_hour, start_minute, end_hour, end_minute = map(int, match.groups())
    if max(start_hour, end_hour) > 23 or max(start_minute, end_minute) > 59:
        return None
    start, end = start_hour * 3600 + start_minute * 60, end_hour * 3600 + end_minute * 60
    return start, end if start < end else end + DAY
