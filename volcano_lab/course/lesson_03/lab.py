"""Lesson 03: queues that want CPU and memory; how full each is in each resource when a cycle
begins.
"""

from collections.abc import Sequence

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.messages import gettext
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.views.queues import sums
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.cluster_lab import ClusterLab, Decided, lab
from volcano_lab.widgets.controls import Control, slider

START = {"a": {"weight": 1, "memory": 4, "asks": 15, "runs": 5},
         "b": {"weight": 3, "memory": 2, "asks": 30, "runs": 4},
         "c": {"weight": 5, "memory": 3, "asks": 20, "runs": 6}}


def two_resource_cluster(**queues: dict[str, int]) -> Cluster:
    """Ten nodes of 10 CPUs and 12Gi; three queues whose pods take 2 CPUs and a different amount of
    memory.

    Of each queue what is not given is as in `START`; at most one pod of a queue runs on a node.

    >>> cluster = two_resource_cluster(a={"memory": 1})
    >>> [row["text"] for row in fullness(cluster, "").data][:2]
    ['0.67 = 10 / 15', '0.33 = 5 / 15']
    """
    cluster = nodes(range(10), cpu=10, memory="12Gi")
    for name, start in START.items():
        said = start | queues.get(name, {})
        cluster.queue(name, weight=said["weight"])
        memory = f"{said['memory']}Gi" if said["memory"] else None
        cluster.job(f"{name}-work", queue=name, pods=said["asks"], min_member=1, cpu=2,
                    memory=memory, running={f"node-{number}": 1 for number in range(said["runs"])})
    return cluster


def fullness(cluster: Cluster, title: str,
             resources: Sequence[str] = ("cpu", "memory", "pods"), waits: bool = False
             ) -> pictures.Picture:
    """Draw how full each queue is in each resource when a cycle begins; the line stands at what it
    deserves. A queue has no bar of what it does not deserve; `waits` adds what its waiting pods
    request.

    >>> [row["text"] for row in fullness(two_resource_cluster(), "").data][:3]
    ['0.67 = 10 / 15', '1.33 = 20 / 15', '0.33 = 5 / 15']
    """
    opening = [*sums(cluster.run().trace, -1)]
    colors = colors_of(row["queue"] for row in opening)
    amounts = [(row["queue"], name, *(facts.amount(row[word], name)
                                      for word in ("allocated", "deserved", "request")))
               for row in opening for name in resources if row["deserved"].get(name)]
    return pictures.sums(title, [
        {"name": f"{queue} {gettext(name.rpartition('/')[2])}", "link": queue,
         "color": colors[queue], "parts": [held, asked - held] if waits else [held],
         "limit": deserved, "over": held > deserved,
         "text": f"{asked:g} / {deserved:g}" if waits else
         f"{held / deserved:.2f} = {held:g} / {deserved:g}"}
        for queue, name, held, deserved, asked in amounts
    ], limit="deserved", most=2.2 if waits else 1.5, parts=["held", "requested"] * waits)


def _controls() -> dict[str, Control]:
    return {f"job/default/{queue}-work.requests.memory": slider(
        start["memory"], 0, 6, gettext("memory of a new pod of {queue}", queue=queue), unit="Gi")
        for queue, start in START.items()}


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


def patient(cluster: Cluster) -> pictures.Picture:
    """Draw what can be read of a cluster in which team-work waits.

    >>> from volcano_lab.course.kit.scenery import cluster_of
    >>> patient(cluster_of("03", "two")).title
    'team-work, in queue team: Pending, 0 pods placed, 2 pending'
    """
    (job,) = (row for row in cluster.run().jobs() if row["job"] == "default/team-work")
    return fullness(cluster, gettext(
        "team-work, in queue team: {job}, {job1} pods placed, {job2} pending",
        job=job["phase"], job1=job["placed"], job2=job["pending"]), waits=True)
