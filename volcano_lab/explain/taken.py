"""What actions have evicted before the cycle: pods that leave with the scheduler's mark, and the
objects as they were before that.

Volcano: pkg/scheduler/cache/cache.go (the conditions of a pod that is evicted)
"""

import re
from collections.abc import Iterable

from volcano_lab.api import PIPELINED, TaskInfo, objects as api
from volcano_lab.changes import Change
from volcano_lab.explain.evidence import Evidence, unplaced
from volcano_lab.explain.kubelet import warnings_of
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests import Loaded
from volcano_lab.messages import Message
from volcano_lab.trace import grouped

MARK = re.compile(r"^Pod is evicted, because of (\w+)$|"
                  r"^\S+: preempting to accommodate a higher priority pod$")
"""What the scheduler writes: the action; and whatever it is, in a condition that stays where the
kubelet writes the other one again.
"""


def mark_of(seen: Evidence, task: TaskInfo) -> str:
    """What the scheduler has written of a pod that it has evicted and that leaves; "" for others.
    """
    pod = task.pod
    if not pod.metadata.deletion_timestamp:
        return ""
    said = [each.message for each in pod.status.conditions]
    said += [each.facts["said"] for each in warnings_of(seen, task, True)]
    marks = sorted(filter(MARK.match, said), key=lambda text: not text.startswith("Pod"))
    return next(iter(marks), "")


def by_action(seen: Evidence, tasks: Iterable[TaskInfo]) -> dict[str, list[TaskInfo]]:
    """Return the pods that actions have evicted and that leave; under "Volcano" where it is not
    known which action has.
    """
    found = [(MARK.match(mark_of(seen, task)), task) for task in tasks]
    return grouped((mark[1] or "Volcano", task) for mark, task in found if mark)


def taken(seen: Evidence, tasks: Iterable[TaskInfo]) -> list[Message]:
    """Return which actions have evicted pods that leave, and for which jobs."""
    return [_taken(seen, action, gone) for action, gone in by_action(seen, tasks).items()]


def _taken(seen: Evidence, action: str, gone: list[TaskInfo]) -> Message:
    nodes = {task.node_name for task in gone}
    on = [task for task in seen.tasks.values() if task.node_name in nodes and action != "shuffle"
          and task.status == PIPELINED and task.job != gone[0].job]
    named = [task for task in seen.tasks.values()
             if task.pod.status.nominated_node_name in nodes and task.job != gone[0].job]
    code = "taken" + ".for" * bool(named) + ".now" * bool(on and not named)
    return Message(code, action=action, said=mark_of(seen, gone[0]), nodes=sorted(nodes),
                   pods=[task.key for task in gone],
                   jobs=[*dict.fromkeys(seen.called(task.job) for task in named or on)])


def undone(seen: Evidence) -> tuple[Loaded, SchedulerConfiguration]:
    """Return the objects as before evictions, and the configuration: the pods of jobs that have
    lost some run, no pod is nominated to their nodes, and none is created in their place.
    """
    gone = [task for task in seen.tasks.values() if mark_of(seen, task)]
    jobs = [seen.ssn.jobs[uid] for uid in dict.fromkeys(task.job for task in gone)]
    nodes, since = {task.node_name for task in gone}, max(map(_created, gone))
    new = {task.key for job in jobs for task in unplaced(job) if _created(task) > since}
    settings = [f"pod/{task.key}.metadata.deletionTimestamp=null" for job in jobs
                for task in job.tasks.values() if task.pod.metadata.deletion_timestamp]
    settings += [f"pod/{key}.status.nominatedNodeName=null" for key, task in seen.tasks.items()
                 if task.pod.status.nominated_node_name in nodes and key not in new]
    return Change(tuple(settings)).given(Loaded((
        obj for obj in seen.given if not (isinstance(obj, api.Pod) and obj.key in new)),
        seen.given), seen.ssn.conf)


def _created(task: TaskInfo) -> float:
    return task.pod.metadata.creation_timestamp or 0
