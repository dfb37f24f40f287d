"""Lesson 08: which nodes may take a pod, and which of those has most points: pictures, and a lab to
explore it.
"""

from typing import Any

from attrs import define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_08 import scene
from volcano_lab.course.lesson_08.scores import look, score_parts
from volcano_lab.explain import Explainer
from volcano_lab.messages import gettext, mark
from volcano_lab.trace.palette import colors_of
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.controls import choice, group, slider, switch
from volcano_lab.widgets.facts import plain
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import counted, outcome

Rows = list[dict[str, Any]]

COLORS = colors_of(("new", *scene.RUNS.values()))
COLORS["leaving"] = COLORS["web"]
TAINTS = 300
"""Points of nodeorder that every node has here: no node has a taint that is only a preference."""

RULES = {"none": "", "nodeSelector disk: ssd": "nodeSelector: {disk: ssd}",
         "prefers disk: ssd, weight 1": scene.preference(1),
         "prefers disk: ssd, weight 50": scene.preference(50),
         "not beside web, by node": scene.anti_affinity("web", "kubernetes.io/hostname"),
         "not beside web, by zone": scene.anti_affinity("web", "zone"),
         "tolerates the taint": "tolerations: [{key: team, operator: Exists}]"}
"""What the lab's pod may have in its spec."""


def nodes_drawn(rows: Rows, notes: bool = True) -> dict[str, Any]:
    """Return rows of `look` as data of `pictures.cluster`, with what each node said or without."""
    nodes = []
    for row in rows:
        zone = gettext("refused" if notes and row["refused"] else "zone {zone}, {disk}",
                       zone=scene.ZONES[row["node"]], disk=scene.DISKS[row["node"]])
        nodes.append({"name": row["node"], "size": scene.CPUS,
                      "pods": facts.pods(row["pods"], COLORS, "new-0" * notes),
                      "note": _points(row) if notes and row["total"] is not None else zone,
                      "state": notes and (
                          "chosen" if row["chosen"] else "refused" * bool(row["refused"]))})
    return {"nodes": nodes}


def _points(row: dict[str, Any]) -> str:
    return counted(row["total"], "points", f"{_shown(row['total']):g}")


def _shown(points: float) -> float:
    """Return points as bars and tables show them: one decimal, halves up."""
    return plain(int(10 * points + 0.5) / 10)


def nodes_picture(cluster: Cluster, title: str, *, conf: str = "", notes: bool = True,
                  legend: str = "") -> pictures.Picture:
    """Draw the nodes with their pods, and where *new* went and why not elsewhere.

    >>> nodes_picture(scene.placement_cluster(), "The node of new").data["nodes"][1]["note"]
    '449 points'
    """
    return pictures.cluster(title, nodes_drawn(look(cluster, conf), notes), unit="CPUs", width=760,
                            legend=legend)


def points_picture(cluster: Cluster, *scorers: str, title: str = "", **arguments: Any
                   ) -> pictures.Picture:
    """Draw the points of each node part by part. Parts that are alike on all nodes are left out,
    and named below.

    >>> picture = points_picture(scene.placement_cluster(), title="Points")
    >>> [row["text"] for row in picture.data], picture.legend
    (['99', '149, chosen', '124'], 'Left out, alike on all nodes: taints 300.')
    """
    given = score_parts(cluster, *scorers, **arguments)
    every = list(dict.fromkeys(part for parts in given.values() for part in parts))
    values = {part: [parts.get(part, 0) for parts in given.values()] for part in every}
    shown = [part for part in every if len(set(values[part])) > 1]
    alike = [f"{gettext(part)} {values[part][0]:g}" for part in every if part not in shown]
    rows = [{"name": row["node"], "text": row["refused"],
             "parts": [plain(given.get(row["node"], {}).get(part, 0)) for part in shown],
             "chosen": row["chosen"]}
            for row in look(cluster, scene.conf_with(*scorers, **arguments))]
    return pictures.sums(title, _against(rows), parts=shown, limit="the most", most=1.1,
                         width=760, legend=gettext("Left out, alike on all nodes: {alike:,}.",
                                                   alike=alike)
                         if alike else "")


def _against(rows: Rows, line: float = 0) -> Rows:
    line = line or max(sum(row["parts"]) for row in rows) or 1
    return [{"name": row["name"], "parts": row["parts"], "limit": line, "over": False,
             "text": row["text"] or gettext("{points}, chosen" if row["chosen"] else "{points}",
                                            points=_shown(sum(row["parts"])))} for row in rows]


@define
class Placed:
    """A cluster that was scheduled: rows of `look`, and why its pod waits ("": it does not)."""

    cluster: Cluster
    conf: str
    rows: Rows
    waits: str

    @property
    def where(self) -> str:
        """Where the pod went."""
        return next((row["node"] for row in self.rows if row["chosen"]), "nowhere")


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    named = {name: value for name, value in values.items() if name not in ("binpack", "rule")}
    return scene.placement_cluster(RULES[values["rule"]], **named)


def placed(values: Values) -> Placed:
    """Run a cycle over the cluster of some values, with nodeorder and binpack."""
    conf = scene.conf_with("nodeorder", "binpack", binpack_weight=values["binpack"])
    cluster = cluster_of(values)
    rows = look(cluster, conf)
    chosen = any(row["chosen"] for row in rows)
    return Placed(cluster, conf, rows, "" if chosen else cluster.run(conf).why("default/new")[0])


def _sums(at: Placed) -> Rows:
    rows = []
    for row in at.rows:
        points = row["points"] or {}
        nodeorder = max(points.get("nodeorder", 0) - TAINTS, 0)
        rows.append({"name": row["node"], "chosen": row["chosen"],
                     "text": "" if row["total"] is not None else
                     gettext("refused" if row["refused"] else "not asked"),
                     "parts": [plain(nodeorder), plain(points.get("binpack", 0))]})
    return _against(rows, 400)


def node_rows(at: Placed) -> Rows:
    """Return a row per node: what is free, who refuses, the points of each plugin."""
    return [{"node": row["node"], "CPUs_free": row["free"],
             "refused": row["refused"].removeprefix("node(s) "),
             **{name: (row["points"] or {}).get(name, None if row["total"] is None else 0)
                for name in ("nodeorder", "binpack")}, "sum": row["total"]} for row in at.rows]


IN_USE = {name.replace("-", "_"): slider(used, 0, scene.CPUS, name, unit="CPUs",
                                         about=f"by pods of {scene.RUNS[name]}")
          for name, used in zip(scene.NODES, (3, 1, 2), strict=True)}
NEW = {"cpu": slider(1, 1, 5, "requests", unit="CPUs"),
       "rule": choice("none", list(RULES), "its rule")}
SCORING = {"binpack": slider(0, 0, 5, "binpack", about="binpack.weight, beside nodeorder"),
           "taint": switch(False, "taint", about="team=gpu:NoSchedule on node-2")}
CONTROLS = (group("CPUs in use", IN_USE) | group("pod new", NEW, color=COLORS["new"], link="new-0")
            | group("scheduler and node-2", SCORING))

PANELS = [
    pictures.cluster("The node of new", lambda at: nodes_drawn(at.rows), key="where", unit="CPUs",
                     asks=True, wide=True,
                     legend="Hatched: new. Zone a: node-1 (ssd), node-2 (hdd); b: node-3 (ssd)."),
    pictures.sums("Points, without the 300 that each node has for taints", _sums, key="points",
                  rows=3, parts=["nodeorder", "binpack"], limit="400", most=1.3, wide=True),
    pictures.table("", node_rows, key="nodes", rows=3, wide=True, texts=["refused"],
                   long=["refused"],
                   columns={"node": "node", "CPUs_free": "CPUs free", "refused": "refused",
                            "nodeorder": "nodeorder", "binpack": "binpack", "sum": "sum"})]


def _because(at: Placed) -> str:
    if at.waits:
        return (at.waits.partition("Origin reason is new-0: ")[2] or at.waits).rstrip(".")
    scored = sorted((row for row in at.rows if row["total"] is not None),
                    key=lambda row: (not row["chosen"], -row["total"]))
    return mark("; ").join(f"{row['node']} {_points(row)}" for row in scored[:2]) or "only choice"


def _opening(at: Placed) -> str:
    return gettext("new is placed on **{where}**: {because}.", where=at.where,
                   because=gettext(_because(at)))


def _refusals(at: Placed) -> str:
    nodes = [row["node"] for row in at.rows if row["refused"]]
    return gettext("{names:,}", names=nodes) if nodes else gettext("no node")


def _why(at: Placed, about: dict[str, str]) -> str:
    return str(Explainer(at.cluster.objects(), at.conf).why_not(about["node"], scene.POD))


def placement_lab() -> Lab:
    """Make the lab: what is in use, the pod and its rule, a taint, binpack's weight.

    >>> lab = placement_lab().set(binpack=2)
    >>> lab.facts.where, lab.said
    ('node-1', 'Scheduler and node-2: binpack 2 (was 0). Node of new: node-1 (was node-2): node-1
    524 points; node-3 517.8 points.')
    """
    return Lab(CONTROLS, placed, PANELS, title="Three nodes and a pod that waits",
               tasks=tasks("08"), says=[outcome("Node of new", lambda at: at.where, _because),
                                        outcome("Refused by", _refusals)], code=cluster_of,
               opening=_opening, why=_why,
               nothing=lambda at: gettext("As before: {text}", text=_opening(at)))
