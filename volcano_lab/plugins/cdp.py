"""cdp (cooldown protection): a pod is not evicted until some time after it was scheduled.

A pod's label or, without it, annotation `volcano.sh/cooldown-time` sets this time: a duration such
as "10m". The plugin has no arguments.

Volcano: pkg/scheduler/plugins/cdp/cdp.go
"""

from collections.abc import Sequence

from volcano_lab.api import TaskInfo, parse_duration
from volcano_lab.api.objects import Pod
from volcano_lab.api.task import COOLDOWN_TIME
from volcano_lab.framework import PERMIT, Plugin, TasksAndVote
from volcano_lab.messages import log


class CooldownProtection(Plugin):
    """Running pods are no victims until their cooldown time has passed; all other pods are."""

    name = "cdp"

    def preemptable(self, claimant: TaskInfo, candidates: Sequence[TaskInfo]) -> TasksAndVote:
        return [task for task in candidates if cooled(task.pod) <= self.ssn.now], PERMIT

    reclaimable = preemptable


def cooled(pod: Pod) -> float:
    """Return when the cooldown time of a pod that runs ends; 0 without one."""
    scheduled = next((each.last_transition_time for each in pod.status.conditions
                      if each.type == "PodScheduled" and each.status == "True"), None)
    cooldown = cooldown_time(pod)
    if scheduled is None or cooldown is None or pod.status.phase != "Running":
        return 0.0
    return scheduled + cooldown


def cooldown_time(pod: Pod) -> float | None:
    """Return a pod's cooldown time in seconds, or None.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> cooldown_time(Pod(ObjectMeta("p", labels={"volcano.sh/cooldown-time": "10m"})))
    600.0
    """
    meta = pod.metadata
    text = meta.labels.get(COOLDOWN_TIME, meta.annotations.get(COOLDOWN_TIME))
    if text is None:
        return None
    seconds = parse_duration(text)
    if seconds is None:
        log.warning("pod %s: %s is %r, allowed is a duration such as 10m; it has no effect",
                       meta.name, COOLDOWN_TIME, text)
    return seconds
