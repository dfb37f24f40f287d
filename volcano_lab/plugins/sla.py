"""sla: a job that has waited too long is admitted, and keeps its pipelined resources.

Argument: `sla-waiting-time`, a duration such as "1h30m", the default for every job without the
annotation `sla-waiting-time` on its PodGroup. A text that is no positive duration counts as unset.
Waiting time is measured at the cycle's `now`.

>>> from volcano_lab.framework.config.arguments import Arguments
>>> sla = Sla(Arguments({"sla-waiting-time": "90m"}))
>>> sla.on_session_open(ssn=None)
>>> sla.waiting_time
5400.0

Volcano: pkg/scheduler/plugins/sla/sla.go
"""

import math

from volcano_lab.api import JobInfo, parse_duration
from volcano_lab.framework import ABSTAIN, PERMIT, Plugin, Session
from volcano_lab.messages import Message

WAITING_TIME = "sla-waiting-time"

YEAR_ONE = -62135596800.0
"""The creation time of a job without one, Go's zero time: it has waited longer than any duration.
"""


class Sla(Plugin):
    """Jobs by deadline, creation plus waiting time; one past it is admitted and counts as
    pipelined.
    """

    name = "sla"

    def on_session_open(self, ssn: Session) -> None:
        self.waiting_time = self._read_waiting_time()

    def _read_waiting_time(self) -> float | None:
        """Return the default waiting time in seconds; None without a limit."""
        if WAITING_TIME not in self.arguments:
            return None
        given = self.arguments.get(WAITING_TIME)
        seconds = parse_duration(given) if isinstance(given, str) else None
        if seconds is not None and seconds > 0:
            return seconds
        self.arguments.doubt(WAITING_TIME, given, "some_duration", Message("used.not"))
        return None

    def deadline(self, job: JobInfo) -> float | None:
        """Return until when a job may wait, in seconds since the epoch; None without a limit."""
        waiting_time = self.waiting_time if job.waiting_time is None else job.waiting_time
        if waiting_time is None:
            return None
        created = job.pod_group.metadata.creation_timestamp
        return (YEAR_ONE if created is None else created) + waiting_time

    def job_order(self, left: JobInfo, right: JobInfo) -> int:
        """Put the earlier deadline first; jobs without one last."""
        mine, theirs = self.job_order_key(left), self.job_order_key(right)
        return (mine > theirs) - (mine < theirs)

    def job_order_key(self, job: JobInfo) -> float:
        """Return `job_order` as a number to sort by."""
        deadline = self.deadline(job)
        return math.inf if deadline is None else deadline

    def job_enqueueable(self, job: JobInfo) -> int:
        """Permit a job past its deadline; abstain before."""
        deadline = self.deadline(job)
        return ABSTAIN if deadline is None or self.ssn.now < deadline else PERMIT

    job_pipelined = job_enqueueable
