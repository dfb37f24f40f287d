"""sla: a job that has waited too long is admitted, and keeps the room that is being freed for it.

Argument: `sla-waiting-time`, a duration such as "1h30m", which holds for every job that doesn't
name its own in the annotation `sla-waiting-time` of its PodGroup. A text that is no duration above
zero is as good as none. How long a job has waited is measured at the cycle's `now`.

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

WAITING_TIME = "sla-waiting-time"

YEAR_ONE = -62135596800.0
"""When a job without a creation time counts as created, as Go has it: it has waited longer than any
duration.
"""


class Sla(Plugin):
    """Jobs by deadline, creation plus waiting time; one that is past it is admitted and counts as
    pipelined.
    """

    name = "sla"

    def on_session_open(self, ssn: Session) -> None:
        self.waiting_time = self._read_waiting_time()

    def _read_waiting_time(self) -> float | None:
        """Seconds that jobs wait unless they say otherwise; None without a limit."""
        if WAITING_TIME not in self.arguments:
            return None
        given = self.arguments.get(WAITING_TIME)
        seconds = parse_duration(given) if isinstance(given, str) else None
        if seconds is not None and seconds > 0:
            return seconds
        self.arguments.doubt(WAITING_TIME, given, "a duration above zero, such as 1h30m",
                             "it has no effect")
        return None

    def deadline(self, job: JobInfo) -> float | None:
        """Return until when a job may wait, in seconds since the epoch; None without a limit."""
        waiting_time = self.waiting_time if job.waiting_time is None else job.waiting_time
        if waiting_time is None:
            return None
        created = job.pod_group.metadata.creation_timestamp
        return (YEAR_ONE if created is None else created) + waiting_time

    def job_order(self, left: JobInfo, right: JobInfo) -> int:
        """The earlier deadline first; jobs without one last."""
        mine, theirs = self.job_order_key(left), self.job_order_key(right)
        return (mine > theirs) - (mine < theirs)

    def job_order_key(self, job: JobInfo) -> float:
        """`job_order` as a number to sort by."""
        deadline = self.deadline(job)
        return math.inf if deadline is None else deadline

    def job_enqueueable(self, job: JobInfo) -> int:
        """Past its deadline a job has this plugin's vote; before, the plugin leaves it to the
        others.
        """
        deadline = self.deadline(job)
        return ABSTAIN if deadline is None or self.ssn.now < deadline else PERMIT

    job_pipelined = job_enqueueable
