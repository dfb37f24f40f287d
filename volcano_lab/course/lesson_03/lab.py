"""Lesson 03: queues that want CPU and memory; how full each is in each resource when a cycle
begins.
"""

from typing import Any

from volcano_lab.api.resource import share_of
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.kit.scenery import cluster_of, nodes
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.messages import gettext
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import sums
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.cluster_lab import ClusterLab, Decided, lab
from volcano_lab.widgets.controls import Control, slider

POD_CPU = 2
START = {"a": {"weight": 1, "memory": 4, "asks": 15, "runs": 5},
         "b": {"weight": 3, "memory": 2, "asks": 30, "runs": 4},
         "c": {"weight": 5, "memory": 3, "asks": 20, "runs": 6}}


def two_resource_cluster(**queues: dict[str, int]) -> Cluster:
    """Ten nodes of 10 CPUs and 12Gi; three queues whose pods take 2 CPUs and a different amount of
    memory.

    Of each queue what is not given is as in `START`; at most one pod of a queue runs on a node.

    >>> cluster = two_resource_cluster(a={"memory": 1})
    >>> [row["text"] for row in fullness(cluster, "").data][:2]
    ['0.67', '0.33']
    """
    cluster = nodes(range(10), cpu=10, memory="12Gi")
    for name, start in START.items():
        said = start | queues.get(name, {})
        cluster.queue(name, weight=said["weight"])
        memory = f"{said['memory']}Gi" if said["memory"] else None
        cluster.job(f"{name}-work", queue=name, pods=said["asks"], min_member=1, cpu=POD_CPU,
                    memory=memory, running={f"node-{number}": 1 for number in range(said["runs"])})
    return cluster


def fullness(cluster: Cluster, title: str) -> pictures.Picture:
    """Draw how full each queue is in each resource when a cycle begins; the line stands at what it
    deserves.

    >>> [row["text"] for row in fullness(two_resource_cluster(), "").data][:3]
    ['0.67', '1.33', '0.33']
    """
    return pictures.sums(title, _parts(cluster.run()), parts=["held"], limit="deserved", most=1.5)


def at_opening(cycle: Cycle) -> dict[str, dict[str, float | None]]:
    """Return how full each queue was in each resource when a cycle began: held as a part of what it
    deserves; None where it deserves none.
    """
    rows = {}
    for row in sums(cycle.trace, -1):
        if row["queue"] in START:
            held, deserved = row["allocated"], row["deserved"]
            rows[row["queue"]] = {
                name: share_of(held.get(name, 0), deserved[name]) if deserved.get(name) else None
                for name in ("cpu", "memory", "pods")}
    return rows


def _parts(cycle: Cycle) -> list[dict[str, Any]]:
    """Return one row per queue and resource: held as a part of deserved."""
    colors = colors_of(START)
    return [{"name": f"{queue} {gettext(resource)}", "link": queue, "color": colors[queue],
             "parts": [share or 0], "limit": 1, "over": share is not None and share > 1,
             "text": gettext("deserves none") if share is None else f"{share:.2f}"}
            for queue, shares in at_opening(cycle).items()
            for resource, share in shares.items()]


def _controls() -> dict[str, Control]:
    found = {}
    for queue in START:
        memory = slider(START[queue]["memory"], 0, 6, gettext("memory of a pod of {queue}",
                                                              queue=queue), unit="Gi")
        memory.more["suffix"] = "Gi"
        found[f"job/default/{queue}-work.requests.memory"] = memory
    return found


def _opening(facts: Decided) -> str:
    return gettext("The emptiest queue goes first: **{order:,}**. A queue is as full as its "
                   "fullest resource.", order=facts.cycle.queue_order)


def proportion_lab() -> ClusterLab:
    """Open the lab: weights, limits, memory and number of pods.

    >>> proportion_lab().begin("overused").set(**{"job/default/c-work.pods": 6}).done["overused"]
    True
    """
    return lab(two_resource_cluster(), title="Two resources: 100 CPUs and 120 Gi, three queues",
               controls=_controls(), tasks=tasks("03"), opening=_opening)


def patient(name: str) -> Table:
    """What can be read of one of the clusters in which team-work waits.

    >>> print(patient("two"))
    team-work, in queue team: Pending, 0 pods placed, 2 pending
    ...
    """
    cycle, units = cluster_of("03", name).run(), {"cpu": "CPUs", "memory": "Gi", "pods": "pods"}
    rows = [{"queue": row["queue"], "resource": unit,
             "deserved": facts.amount(row["deserved"], resource),
             "held": facts.amount(row["allocated"], resource)}
            for row in reversed(cycle.queues()) for resource, unit in units.items()]
    (job,) = (row for row in cycle.jobs() if row["job"] == "default/team-work")
    return table([row for row in rows if row["deserved"]], caption=(
        gettext("team-work, in queue team: {job}, {job1} pods placed, {job2} pending",
                job=job["phase"], job1=job["placed"], job2=job["pending"])))
