"""Lesson 08: what each node's answer was when a node was sought for a pod: a refusal with its
reason, or points by plugin.

Refusals, points and the choice are read from a trace of the cycle with every call. What nodeorder's
points are made of isn't in the trace: for each part the cycle runs again, with all other weights 0.
"""

from typing import Any

from volcano_lab.api.fit_error import insufficient
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.lesson_08.scene import POD, conf_with
from volcano_lab.explain.evidence import Evidence
from volcano_lab.scheduler import traced
from volcano_lab.trace.views.nodes import choices

WEIGHTS = {"least requested": "leastrequested", "most requested": "mostrequested",
           "balanced": "balancedresource", "node affinity": "nodeaffinity",
           "pod affinity": "podaffinity", "taints": "tainttoleration", "images": "imagelocality",
           "topology spread": "podtopologyspread"}
"""A part of nodeorder's points -> the argument `….weight` that switches it."""


def look(cluster: Cluster, conf: str = "", pod: str = POD) -> list[dict[str, Any]]:
    """A row a node at the last time that a node was sought for a pod in allocate.

    `free` is in CPUs; `fits` says whether the pod's request fits now, later (pods are leaving) or
    not; `refused` has the reasons; `points` are by plugin, None where none was asked; `chosen` is
    whether the pod went there; `pods` are its tasks when the cycle ends.

    >>> from volcano_lab.course.lesson_08.scene import placement_cluster
    >>> [(row["node"], row["refused"], row["total"])
    ...  for row in look(placement_cluster(cpu=3, taint=True, node_1=0))]
    [('node-1', '', None), ('node-2', 'node(s) had untolerated taint {team: gpu}', None),
     ('node-3', 'Insufficient cpu', None)]
    """
    trace, ssn = traced(cluster.objects(), conf or conf_with(), every_call=True)
    evidence, rows = Evidence(ssn, trace), []
    request = trace.start["tasks"].get(pod, {}).get("request", {})
    for row in choices(trace, tasks={pod}):
        node, choice = row["node"], trace.records[row["number"]]
        idle = evidence.state_at(choice)["nodes"][node]["idle"]
        short = _short(request, evidence.free(choice)[node])
        points = {plugin: score for plugin, score in row["scores"].items()
                  if plugin != "predicates"} or None  # none was asked
        fits = "later" if _short(request, idle) else "now"
        rows.append({"node": node, "free": idle.get("cpu", 0) / 1000,
                     "fits": "no" if short else fits,
                     "refused": insufficient(short) if short else row["verdict"].partition(": ")[2],
                     "points": points, "total": None if points is None else sum(points.values()),
                     "chosen": choice["node"] == node,
                     "pods": list(ssn.nodes[node].tasks.values())})
    return rows


def _short(request: dict[str, float], free: dict[str, float]) -> list[str]:
    return [name for name, amount in request.items() if amount - free.get(name, 0.0) >= 0.1]


def score_parts(cluster: Cluster, *scorers: str, **arguments: Any) -> dict[str, dict[str, float]]:
    """{node: {part: points}} of the nodes that were compared; each part with its weight,
    nodeorder's one by one.

    >>> from volcano_lab.course.lesson_08.scene import placement_cluster
    >>> score_parts(placement_cluster())["node-2"]
    {'least requested': 68.0, 'balanced': 81.0, 'taints': 300.0}
    """
    names = scorers or ("nodeorder",)
    rows = look(cluster, conf_with(*names, **arguments))
    parts: dict[str, dict[str, float]] = {row["node"]: {} for row in rows
                                          if row["points"] is not None}
    for part, word in WEIGHTS.items() if "nodeorder" in names and parts else ():
        others = {f"{other}_weight": 0 for other in WEIGHTS.values() if other != word}
        for row in look(cluster, conf_with(*names, **arguments | others)):
            if row["node"] in parts and row["points"]["nodeorder"]:
                parts[row["node"]][part] = row["points"]["nodeorder"]
    for row in rows:
        for name, points in (row["points"] or {}).items():
            if name != "nodeorder" and points:
                parts[row["node"]][name] = points
    return parts


def parts_table(cluster: Cluster, *scorers: str, **arguments: Any) -> Table:
    """Return `score_parts` as a table, with the sum; parts that no node has are left out."""
    parts = score_parts(cluster, *scorers, **arguments)
    every = dict.fromkeys(part for given in parts.values() for part in given)
    names = sorted(every, key=[*WEIGHTS, *every].index)
    return table([{"node": node, **{name: given.get(name, 0) for name in names},
                   "sum": sum(given.values())} for node, given in parts.items()])
