"""Running a cycle with a trace, in one call. Answers to no Go file."""

from __future__ import annotations

from collections.abc import Iterable

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache import Cache
from volcano_lab.framework.conf import SchedulerConfiguration
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace.recorder import Trace


def traced(objects: Iterable[KubernetesObject], conf: SchedulerConfiguration | str | None = None, every_call: bool = False,
           now: float | None = None) -> tuple[Trace, Session]:
    """The trace of one cycle over some objects, and its session, closed and still readable. Raises `ConfError`.

    >>> from volcano_lab.cluster import Cluster
    >>> trace, ssn = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    >>> [(record.action, record["job"]) for record in trace.of("job")]
    [('enqueue', 'default/a'), ('allocate', 'default/a')]
    """
    trace = Trace(every_call)
    return trace, Scheduler(Cache(objects), conf).run_once(trace, now=now)
