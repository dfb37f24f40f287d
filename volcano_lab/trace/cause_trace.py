"""A trace of what explanations read, in a fraction of a whole trace's time and records.

Volcano: none
"""

from collections.abc import Sequence
from typing import Any

from volcano_lab.api import FitErrors, NodeInfo, TaskInfo
from volcano_lab.framework import ExtensionPoint, Session
from volcano_lab.trace.names import Names
from volcano_lab.trace.reading import SCORES
from volcano_lab.trace.record import Record
from volcano_lab.trace.recorder import Trace

READ = {"job_enqueueable", "job_valid", "overused", "allocatable", "predicate", "preemptive",
        "preemptable", "reclaimable"}
"""The extension points whose calls explanations read, beside scores; the others are about order."""
POINTS = {"reclaim": "reclaimable", "preempt": "preemptable"}
"""Action -> the extension point that names victims."""


class CauseTrace(Trace):
    """A trace of what explanations read: of each search for victims its candidates and the plugins'
    answers, not the checks of queue and node beside it. Where a job is named (`about`), only
    searches for its pods, and among them, are kept, and of the pods of others only who evicts them;
    of None no search; "" where no job has that name.
    """

    watches_attempts = False

    def __init__(self, about: str | None = ""):
        super().__init__()
        self.about = about
        self._own: set[str] | None = None  # the tasks that it is about; None: all
        self._moved: dict[str, TaskInfo] = {}  # other tasks, since the last record

    def opened(self, ssn: Session) -> None:
        self.about = None if self.about is None else _job_called(ssn, self.about)
        job = ssn.jobs.get(self.about or "")
        self.holds = job is not None and not job.allocated.is_empty()
        self._own = None if job is None else {task.key for task in job.tasks.values()}
        super().opened(ssn)

    def watches_claims(self, job: str) -> bool:
        return self.holds or self.about in ("", job)

    watches_victims = watches_claims

    def watches_sums(self, job: str) -> bool:
        return self._own is None or self.watches_claims(job)

    def _skips(self, point: ExtensionPoint) -> bool:
        return point.name not in READ and (self.about is None or point.name not in SCORES)

    def _add_call(self, kind: str, point: str, head: tuple[Any, ...], args: tuple[Any, ...],
                  answer: Any) -> None:
        """Record an answer, but for checks beside searches for victims, and searches of others."""
        kept = self._action not in POINTS or point not in ("allocatable", "predicate")
        if point in POINTS.values():
            claimant, candidates = args
            kept = candidates and (self.about in ("", claimant.job) or (self.holds and any(
                task.job == self.about for task in candidates)))
        if kept:
            super()._add_call(kind, point, head, args, answer)

    # -- other jobs --------------------------------------------------------------------------------

    def _append(self, record: Record) -> None:
        """Keep a record, if it is about no other job's pod; states are known at those kept."""
        task = record.get("task")
        if not (task is None or self._own is None or "candidates" in record.names
                or not self._own.isdisjoint((task, record.get("reclaimer")))):
            return
        if self._moved:
            self._keep(self._changes.of_tasks(*self._moved.values()))
            self._moved = {}
        super()._append(record)

    def _moved_by(self, task: TaskInfo) -> None:
        if self._own is None or task.key in self._own:
            super()._moved_by(task)
        else:
            self._moved[task.uid] = task

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: FitErrors) -> None:
        if self._own is None or task.key in self._own:
            super().chose(task, nodes, node, errors)


def _job_called(ssn: Session, name: str) -> str:
    try:
        kind, uid = Names(ssn).find(name)
    except LookupError:
        return ""
    return uid if kind == "job" else ""
