"""What becomes of a cluster in the next cycles, if nothing changes but what they decide.

Answers to no Go file. Between two cycles kubelets start what was bound, end what was evicted, and
controllers create that again; left out: time, faults, and jobs that end.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from volcano_lab.api import PIPELINED, RELEASING, JobInfo
from volcano_lab.api.objects import Pod
from volcano_lab.api.objects.pod import PodStatus
from volcano_lab.cache import Cache
from volcano_lab.explain.knob import Objects
from volcano_lab.explain.trial import silent
from volcano_lab.framework import SchedulerConfiguration, Session
from volcano_lab.scheduler import Scheduler

CYCLES = 10
"""So many are run to see what a decision is worth."""


def following(objects: Objects, conf: SchedulerConfiguration, now: float | None = None,
              most: int = CYCLES) -> Iterator[Session]:
    """The closed sessions of the next cycles, until one changes nothing, or `most` have run.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.framework.config.conf import load_conf
    >>> cluster = Cluster().node("n1", cpu=4).job("a", cpu=3).job("b", cpu=3)
    >>> [ssn.committed for ssn in following(cluster.objects(), load_conf("actions: allocate"))]
    [[['allocate', 'default/a-0', 'n1']], [], []]
    """
    cache = Cache(objects)
    scheduler = Scheduler(cache, conf)
    before = None
    for cycle in range(most):
        with silent():
            ssn = scheduler.run_once(now=None if now is None else now + cycle)
            _carry_out(cache, ssn, all_that_leave=not cycle)
        yield ssn
        phases = {uid: job.pod_group.status.phase for uid, job in ssn.jobs.items()}
        if phases == before and all(done[0] == "pipeline" for done in ssn.committed):
            return
        before = phases


def _carry_out(cache: Cache, ssn: Session, all_that_leave: bool) -> None:
    """Start what was bound, end what was evicted, and create that again."""
    evicted = {}
    for operation, key, node, *_ in ssn.committed:
        if operation == "evict":
            evicted[key] = node
        elif operation == "allocate":
            cache.update(cache.pods[key].changed(spec={"node_name": node},
                                                 status={"phase": "Running"}))
    for job in ssn.jobs.values():
        owners = {owner.kind for owner in job.pod_group.metadata.owner_references}
        for key in [task.key for task in job.in_status(RELEASING).values()]:
            if key in cache.pods and (key in evicted or all_that_leave):
                pod = cache.pods[key]
                cache.delete(pod)
                if key in evicted and "Pod" not in owners:
                    cache.add(_again(pod))


def _again(pod: Pod) -> Pod:
    """A pod as its controller creates it once more."""
    fresh = {"uid": "", "resource_version": "", "deletion_timestamp": None}
    return attrs.evolve(pod.changed(spec={"node_name": ""}, metadata=fresh),
                        status=PodStatus("Pending"))


def never_bound(last: Session | None, job: JobInfo) -> bool:
    """Whether pods that were promised a place in a first cycle have no more than that in the last.
    """
    later = last and last.jobs.get(job.uid)
    return bool(later) and all(later.tasks[uid].status == PIPELINED
                               for uid in job.in_status(PIPELINED) if uid in later.tasks)
