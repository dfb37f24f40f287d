"""The cluster of the lesson on preempt and reclaim, its configurations, and who said what about
each candidate.

Twelve CPUs are in use: queue a holds 3 and deserves 5, queue b holds 9 and deserves 7. Queue a's
urgent gang waits for 2 pods.
"""

from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import conf_text, nodes
from volcano_lab.display.palette import colors_of
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import traced
from volcano_lab.trace import TraceReader, short
from volcano_lab.trace.stepper import Stepper
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures

Row = dict[str, Any]
COLORS = colors_of(("urgent", "old", "greedy"))

HIGH = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
ONE_TIER = conf_text("enqueue, allocate, backfill", "priority, gang, conformance, drf, proportion",
                     "overcommit, predicates, nodeorder")
"""The plugins of Volcano's default, with all that name victims in the first tier."""

ACTIONS = {"preempt": "preemptable", "reclaim": "reclaimable"}
"""Action that evicts -> the extension point that it asks about its candidates."""


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


def votes(trace: TraceReader, ssn: Session, pod: str, back: bool = False) -> Row:
    """Return what was said of the candidates when room was sought for a pod on a node, as data of
    `pictures.votes`: on the node where victims were found, or else on the first one that was tried.
    `back`: whoever was evicted stays, because the gang did not get all its room.

    >>> from volcano_lab.scheduler import traced
    >>> cycle = traced(eviction_cluster().objects(), conf_with("preempt"))
    >>> found = votes(*cycle, "default/urgent-0")
    >>> found["rows"][-1]["votes"], found["verdict"]
    ({'priority': True, 'gang': False, 'conformance': True, 'drf': None},
     'old-1 has to go: tier 1 names it.')
    """
    nodes = {name: task["node"] for name, task in trace.start["tasks"].items()}
    calls = [(record, nodes[record["candidates"][0]]) for action, point in ACTIONS.items()
             for record in trace.iter(point, task=pod)
             if record.kind == "call" and record.action == action and record["candidates"]]
    if not calls:
        return {"tiers": [], "rows": [], "verdict": "Nobody was asked: there was no candidate."}
    found = next(iter(trace.iter("victims", task=pod)), None)
    action, node = ((found["action"], found["node"]) if found else
                    (calls[0][0].action, calls[0][1]))
    asked = [record for record, where in calls if (record.action, where) == (action, node)]
    last = asked[-1]["tier"]
    said = {(record["tier"], record["plugin"]): record["answer"][0] for record in asked}
    tiers = [{"name": f"tier {tier + 1}", "decides": bool(found) and tier == last,
              "note": "not asked" if tier > last else "decides" if found and tier == last else
              "names nobody", "plugins": [plugin for plugin, _ in plugins]}
             for tier, plugins in enumerate(ssn.points[ACTIONS[action]].tiers) if plugins]
    rows = []
    for name in asked[0]["candidates"]:
        by = {plugin: name in said[tier, plugin] if (tier, plugin) in said else None
              for tier, plugins in enumerate(ssn.points[ACTIONS[action]].tiers)
              for plugin, _ in plugins}
        rows.append({"name": short(name), "votes": by,
                     "left": bool(found) and name in found["candidates"]})
    chosen = ", ".join(map(short, found["chosen"])) if found else ""
    return {"tiers": tiers, "rows": rows,
            "verdict": "Nobody has to go: no tier names anybody." if not found
            else f"{chosen} stays: tier {last + 1} names it, but the gang is discarded." if back
            else f"{chosen} has to go: tier {last + 1} names it."}


LEGEND = "✓ names it: it may go. – keeps it. Blank: not asked. Frame: who is left."


def votes_picture(cluster: Cluster, conf: str, title: str, pod: str = "default/urgent-0"
                  ) -> pictures.Picture:
    """Draw `votes` of one cycle over a cluster."""
    return pictures.votes(title, votes(*traced(cluster.objects(), conf), pod), legend=LEGEND,
                          width=760)


def nodes_drawn(ssn: Session) -> Row:
    """Return the nodes of a session with their pods, as data of `pictures.cluster`."""
    return {"nodes": [{"name": name, "size": node.allocatable.milli_cpu / 1000,
                       "pods": facts.pods(node.tasks.values(), COLORS)}
                      for name, node in sorted(ssn.nodes.items())]}


def nodes_picture(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the nodes when a cycle ends: who runs, who leaves, and to whom room is promised."""
    return pictures.cluster(title, nodes_drawn(cycle.session), unit="CPUs", width=760,
                            legend="Blue: greedy. Orange: old. Green, dashed: urgent, promised. "
                                   "Hollow: is leaving.")


def asked_in_order(cluster: Cluster, conf: str) -> list[dict[str, Any]]:
    """What a dry run of preempt asks proportion, in order, with what the queue default holds
    meanwhile.
    """
    trace, _ = traced(cluster.objects(), conf)
    stops = Stepper(trace)
    rows = []
    for record in trace.records:
        asked = record.kind == "call" and record["plugin"] == "proportion"
        if record.action == "preempt" and asked and record["point"].startswith("simulate"):
            holds = stops.goto(record.number).state["queues"]["default"]["allocated"]["cpu"]
            pod = record.get("removed") or record.get("added") or record["task"]
            rows.append({"question": record["point"], "pod": short(pod),
                         "answer": {True: "yes", False: "no"}.get(record["answer"], "noted"),
                         "the queue holds": holds / 1000})
    return rows
