"""The cluster of the lesson on preempt and reclaim, its configurations, and who said what about
each candidate.

Twelve CPUs are in use: queue a holds 3 and deserves 5, queue b holds 9 and deserves 7. Queue a's
urgent gang waits for 2 pods.
"""

from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import conf_text, nodes
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.messages import gettext
from volcano_lab.scheduler import traced
from volcano_lab.trace import Trace, palette, short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.plots import VOTES, votes

COLORS = dict(zip(("old", "greedy", "large", "small", "urgent"), palette.COLORS, strict=False))
"""Job -> its colour; old and greedy have those of their queues, a and b."""

HELD = "Full: held. Pale: asked for. Diamond: deserved. Line: limit."
DRY_RUN = {("leaving", False): "{pod} is removed: too little is free",
           ("leaving", True): "{pod} is removed: enough is free",
           ("running", True): "{pod} is put back: enough is free",
           ("running", False): "{pod} is put back: too little is free, so it is evicted"}
"""What became of a pod of the copy, and whether the claimant fits then -> the moment's text."""

HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}"
ONE_TIER = conf_text("enqueue, allocate, backfill", "priority, gang, conformance, drf, proportion",
                     "overcommit, predicates, nodeorder")
"""The plugins of Volcano's default, with all that name victims in the first tier."""

def conf_with(*actions: str, one_tier: bool = False) -> str:
    """Volcano's default configuration with actions after allocate; its victims named by two tiers,
    or by one.

    >>> conf_with("reclaim").splitlines()[0]
    'actions: "enqueue, allocate, backfill, reclaim"'
    """
    base = ONE_TIER if one_tier else DEFAULT_CONF
    return base.replace("backfill", ", ".join(("backfill", *actions)), 1)


def eviction_cluster(urgent_pods: int = 2, priority_class: str | None = "high",
                     greedy_minimum: int = 1, old_minimum: int = 1, greedy_cpus: int = 1,
                     reclaimable: bool = True, preemptable: bool = True) -> Cluster:
    """Two full nodes: jobs old (queue a) and greedy (queue b) run, and the gang urgent (queue a)
    waits.

    `greedy_cpus` is the size of greedy's pods: 1 or 3 CPUs, 9 in all. `reclaimable` is what queue b
    says of itself, `preemptable` what greedy's pods say.

    >>> [op[0] for op in eviction_cluster().run(conf_with("reclaim")).committed]
    ['evict', 'pipeline', 'evict', 'pipeline']
    """
    cluster = nodes((1, 2), cpu=6).add(HIGH).queue("a").queue("b", reclaimable=reclaimable)
    cluster.job("old", queue="a", pods=3, cpu=1, min_member=old_minimum, running={"node-1": 3})
    cluster.job("greedy", queue="b", pods=9 // greedy_cpus, cpu=greedy_cpus,
                min_member=greedy_minimum, running={
                    "node-1": 3 // greedy_cpus, "node-2": 6 // greedy_cpus
                }, labels={} if preemptable else {"volcano.sh/preemptable": "false"})
    return cluster.job("urgent", queue="a", pods=urgent_pods, cpu=1, priority_class=priority_class)


def votes_picture(cluster: Cluster, conf: str, title: str) -> pictures.Picture:
    """Draw the `votes` about the pods of the job urgent, of one cycle over a cluster."""
    return pictures.votes(title, votes(*traced(cluster.objects(), conf), "default/urgent-0"),
                          legend=VOTES, width=760)


def nodes_drawn(cycle: Cycle) -> dict[str, Any]:
    """Return the nodes at a cycle's end with their pods, as data of `pictures.cluster`."""
    return {"nodes": [{"name": name, "size": node.allocatable.milli_cpu / 1000,
                       "pods": facts.pods(node.tasks.values(), COLORS)}
                      for name, node in sorted(cycle.session.nodes.items())]}


def nodes_picture(cycle: Cycle, title: str = "Nodes and their pods") -> pictures.Picture:
    """Draw the nodes when a cycle ends: who runs, who leaves, and what is promised to whom."""
    return pictures.cluster(title, nodes_drawn(cycle), unit="CPUs", width=760,
                            legend="Blue: old. Orange: greedy. Light blue, dashed: "
                                   "urgent, promised. Hollow: is leaving.")


def dry_run(cluster: Cluster, conf: str, title: str) -> pictures.Picture:
    """Play a dry run of preempt on one node: which pods are on the copy whenever proportion is
    asked whether the queue may hold the claimant, and the answer.
    """
    cycle = cluster.run(conf, trace=Trace())
    (node,) = nodes_drawn(cycle)["nodes"]
    copy = {pod["name"]: "running" for pod in node["pods"] if pod["state"] != "promised"}
    moments, moved = {}, ""
    for record in cycle.trace.of("call"):
        if record["point"] in ("simulate_remove_task", "simulate_add_task"):
            moved = short(record.get("removed") or record["added"])
            copy[moved] = "leaving" if record.get("removed") else "running"
        elif record["point"] == "simulate_allocatable":
            states = copy | ({short(record["task"]): "promised"} if record["answer"] else {})
            pods = [pod | {"state": states[pod["name"]], "label": pod["name"].rpartition("-")[0]}
                    for pod in node["pods"] if pod["name"] in states]
            words = DRY_RUN[copy[moved], record["answer"]]
            moments[gettext(words, pod=moved)] = pictures.cluster(
                title, {"nodes": [node | {"pods": pods}]}, unit="CPUs",
                legend="Hollow: not on the copy. Dashed: the claimant.")
    return pictures.film(moments)
