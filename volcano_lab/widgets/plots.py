"""Pictures of any cycle, such as `cycle.plot.tree()`: the methods of `Plot`.

>>> from volcano_lab.cluster import Cluster
>>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
>>> cycle.plot.turns().data["turns"][0]["pods"], cycle.plot.statement("train").data["outcome"]
(2, 'commit')

Volcano: none
"""


from collections import Counter
from typing import Any

from volcano_lab.api import in_units
from volcano_lab.framework import Session
from volcano_lab.messages import Message, gettext, paragraph
from volcano_lab.trace import COLORS, POINTS, Names, Record, Row, TraceReader, short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import admissions, levels, tree
from volcano_lab.widgets import channels as of_queues, facts, pictures
from volcano_lab.widgets.channels import amount, channels, job_rows, named_resource, unit_of
from volcano_lab.widgets.pictures import Picture
from volcano_lab.widgets.story import counted

WIDE: Row = {"width": 760}
TREE = ("A box is as wide as what a queue may hold, on every level at the same scale. Full: "
        "allocated. Hatched: admitted, waiting. Dashed: guarantee.")
VOTES = "✓: named as a victim. –: kept. Blank: not asked. Frame: the victims that remain."
WATER = "A band for each round. Lines: what a queue deserves, its guarantee, its limit."
NODES = "Full: runs. Hatched: placed in this cycle. Dashed: promised. ×: leaving."
OPERATIONS = "From left to right: operations of the cycle, also those that were undone."
PLACED = "Full: runs. Hatched: placed in this cycle."
STOPPED = ("capacity has stopped, and computed neither limits nor shares. Lines: what the queues' "
           "manifests say.")
SUMS = ("allocated − elastic", "in queue", "this job")
ENDS = {"discarded": "discard", "not admitted": "refused", "placed": "commit"}
"""How a job ended -> the fate of a gang in the tree's picture; others wait."""


class Plot:
    """The pictures of a cycle; each takes a title and the frame of `pictures` (width, legend, …).

    A resource is "cpu", "memory" or another name; jobs and pods have their displayed names.
    """

    def __init__(self, cycle: Cycle):
        self._cycle = cycle

    def __repr__(self) -> str:
        names = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"<pictures of a cycle: {', '.join(names)}>"

    def queues(self, title: str = "Queues, jobs and nodes on one scale", resource: str = "cpu",
               without: tuple[str, ...] = (), **frame: Any) -> Picture:
        """Draw the picture of the one lab."""
        if of_queues.stopped(self._cycle):
            without, frame = (*without, "shares"), {"legend": STOPPED} | frame
        levels = getattr(self._cycle.session.plugins.get("capacity"), "tree", None)
        if circles := levels.circles() if levels else []:
            frame["legend"] = paragraph([*(Message("sentence", what=each) for each in circles),
                                         gettext(frame.get("legend", ""))])
        return pictures.channels(title, channels(self._cycle, resource), without=without,
                                 **{"width": 860} | frame)

    def tree(self, title: str = "The tree of queues", resource: str = "cpu", gangs: bool = True,
             **frame: Any) -> Picture:
        """Draw what each level holds and may hold, and each gang's climb through admission."""
        resource = named_resource(self._cycle.session, resource)
        return pictures.tree(title, tree_rows(self._cycle, resource, gangs), unit=unit_of(resource),
                             lines=3 if gangs else 0, **WIDE | {"legend": TREE} | frame)

    def water(self, title: str = "What each queue deserves, round by round", resource: str = "cpu",
              **frame: Any) -> Picture:
        """Draw the rounds in which proportion computed deserved; other plugins have no rounds."""
        return self.queues(title, resource, ("nodes", "shares", "lanes", "pods"),
                           **WIDE | {"legend": WATER} | frame)

    def turns(self, title: str = "The order of queues", **frame: Any) -> Picture:
        """Draw the queues in the order of allocate."""
        return pictures.turns(title, facts.turns(self._cycle), **frame)

    def sums(self, job: str = "", title: str = "", resource: str = "cpu", **frame: Any) -> Picture:
        """Draw what enqueue compared for a job, or for all, level by level."""
        resource = named_resource(self._cycle.session, resource)
        key = Names(self._cycle.session).find(job, "job")[1] if job else ""
        rows = [{"name": row["level"], "note": "" if job else short(row["job"]),
                 "label": gettext("cluster") if row["level"] == "cluster" else row["level"],
                 "parts": [amount(row["allocated"] - row["elastic"], resource),
                           amount(row["inqueue"], resource), amount(row["minimum"], resource)],
                 "limit": amount(row["may_hold"], resource), "over": row["verdict"] == "refused",
                 "text": str(Message(f"sum.{row['verdict']}", asked=amount(row["sum"], resource),
                                     limit=amount(row["may_hold"], resource)))}
                for row in admissions(self._cycle.trace, key, resource)
                if row["may_hold"] is not None]
        default = gettext("What enqueue compares, in {unit}", unit=gettext(unit_of(resource)))
        queue = self._cycle.session.jobs[key].queue if job else ""
        none = {"name": queue, "parts": [], "text": gettext("not compared in this cycle")}
        return pictures.sums(title or default, rows or [none], parts=SUMS, **WIDE | frame)

    def nodes(self, title: str = "Nodes and their pods", resource: str = "cpu", by: str = "",
              **frame: Any) -> Picture:
        """Draw the nodes at the end of the cycle; nodes with the same value of the label `by` stand
        in one frame. The legend names leaving and promised pods only where there are any.
        """
        shown, placed = channels(self._cycle, resource), {"now": {"state": "allocated"}}
        groups = {name: f"{by} {node.labels[by]}" for name, node in
                  self._cycle.session.nodes.items() if by in node.labels}
        nodes = [node | {"group": groups.get(node["name"], ""),
                         "pods": [pod | {"name": short(pod["name"])} | placed.get(pod["state"], {})
                                  for pod in node["pods"]]} for node in shown["nodes"]]
        frames = [{"name": name} for name in sorted(set(groups.values()))]
        moves = {"leaving", "promised"} & {pod["state"] for node in nodes for pod in node["pods"]}
        return pictures.cluster(title, {"nodes": nodes, "groups": frames}, **WIDE | {
            "unit": unit_of(shown["resource"]), "legend": NODES if moves else PLACED} | frame)

    def votes(self, pod: str = "", title: str = "Who may be evicted", **frame: Any) -> Picture:
        """Draw the victims named for a pod; without a name, for the first preemptor. Only
        `cluster.run(trace=Trace())` keeps the votes.
        """
        trace, ssn = self._cycle.trace, self._cycle.session
        sought = [record["task"] for point in POINTS.values() for record in trace.iter(point)]
        key = Names(ssn).find(pod, "pod")[1] if pod else next(iter(sought), "")
        return pictures.votes(title, votes(trace, ssn, key), **WIDE | {"legend": VOTES} | frame)

    def statement(self, job: str, title: str = "", **frame: Any) -> Picture:
        """Draw a gang's statement: the operations in order, and the outcome."""
        key = Names(self._cycle.session).find(job, "job")[1]
        return pictures.statement(title or gettext("The statement of {job}", job=short(key)),
                                  facts.statement(self._cycle, key), **frame)

    def timeline(self, title: str = "What queues hold, operation by operation",
                 resource: str = "cpu", **frame: Any) -> Picture:
        """Draw what each queue holds after each operation of the cycle, undone ones included."""
        shown = channels(self._cycle, resource)
        jobs = {row["job"]: row for row in job_rows(self._cycle, shown["resource"])}
        runs = Counter[str]()  # what jobs of a queue above others hold themselves
        for job in jobs.values():
            runs[job["queue"]] += job["running"] * job["size"]
        held = {name: [[0, facts.plain(amount)]] for name, amount in runs.items()} | {
            row["queue"]: [[0, row["held"]]] for row in shown["queues"] if row["leaf"]}
        owner = {task.key: job.uid for job in self._cycle.session.jobs.values()
                 for task in job.tasks.values()}
        steps = [step for row in self._cycle.statements() for step in row["steps"]]
        for at, (step, pod, _) in enumerate(steps, 1):
            job = jobs[owner[pod]]
            sign = (-1 if step.startswith("undo") else 1) * (
                -1 if step.endswith("evict") else step.endswith("allocate"))
            if sign:
                points = held[job["queue"]]
                points.append([at, facts.plain(points[-1][1] + sign * job["size"])])
        colors = facts.queue_colors(self._cycle)
        lanes = [{"name": name, "color": colors.get(name, COLORS[-1]), "points": points}
                 for name, points in held.items() if len(points) > 1 or points[0][1]]
        return pictures.timeline(title, {"lanes": lanes}, until=len(steps) + 1, unit="",
                                 **{"legend": OPERATIONS} | frame)


def tree_rows(cycle: Cycle, resource: str = "cpu", gangs: bool = True) -> Row:
    """Return the data of the tree's picture, with a climb for each gang compared by enqueue.

    Hatched is what admitted gangs still need at the end of the cycle, where the level reserved it.
    """
    rows = [row for row in tree(cycle.trace, None, resource)
            if row["queue"] != "default" or row["request"]]
    parents, total = {row["queue"]: row["parent"] for row in rows}, cycle.session.total_resource
    most = amount(in_units(resource, total.get(resource)), resource) or 0
    colors = facts.queue_colors(cycle)
    waits = dict.fromkeys(parents, 0.0)
    gang_of: dict[str, Row] = {}
    for job in job_rows(cycle, resource):
        name = job["queue"]
        if job["running"] or not job["pods"]:
            continue
        gang_of.setdefault(name, {"name": job["name"], "pods": job["pods"],
                                  "fate": ENDS.get(job["fate"], "waits")})
        while job["fate"] in ("discarded", "not tried") and name in waits:
            waits[name] += job["size"] * job["waiting"]
            name = parents[name]
    queues = []
    for row in rows:
        name, size = row["queue"], amount(row["real_capability"], resource)
        reserved = amount(row["inqueue"], resource) or 0
        queues.append({"queue": name, "parent": row["parent"],
                       "inqueue": facts.plain(min(waits[name], reserved)),
                       "color": colors.get(name, COLORS[-1]),
                       "size": most if size is None else min(size, most),
                       **{word: amount(row[word], resource)
                          for word in ("allocated", "guarantee", "deserved")},
                       **({"gang": gang_of[name]} if gangs and name in gang_of else {})})
    climbs = _climbs(cycle, resource) if gangs else {}
    refused = [name for name, climb in climbs.items() if not climb["steps"][-1]["fits"]]
    return {"queues": queues, "climbs": climbs, "climb": next(iter([*refused, *climbs]), ""),
            "text": gettext("No gang is compared with the levels.") * gangs}


def _climbs(cycle: Cycle, resource: str) -> dict[str, Row]:
    climbs: dict[str, Row] = {}
    for row in levels(cycle.trace, "", resource):
        sides: Row = {word: amount(row[word], resource) for word in (
            "minimum", "allocated", "inqueue", "elastic", "sum", "may_hold")}
        gang, fits = short(row["job"]), row["verdict"] == "fits"
        counted_too = [Message(f"climb.{word}", amount=sides[word]) for word in (
            "allocated", "inqueue") if sides[word] or word == "allocated"]
        text = Message(
            f"climb.{row['verdict']}", sum=[sides["minimum"], *counted_too], asked=sides["sum"],
            elastic=Message("climb.elastic", amount=sides["elastic"]) if sides["elastic"] else None,
            limit=gettext("no limit") if sides["may_hold"] is None else sides["may_hold"])
        climb = climbs.setdefault(gang, {"amount": sides["minimum"], "steps": [], "text": str(
            Message("climb", gang=gang, amount=counted(sides["minimum"], unit_of(resource))))})
        climb["steps"].append({"queue": row["level"], "text": str(text), "fits": fits})
    return climbs


def votes(trace: TraceReader, ssn: Session, pod: str, back: bool = False) -> Row:
    """Return the plugins' votes on the candidates for a pod on a node, as data of `pictures.votes`:
    on the node where victims were found, or else on the first one that was tried. `back`: evictions
    were undone, because the gang stayed below its minimum.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.trace import Trace
    >>> cycle = Cluster().node("n1", cpu=4).job("train", cpu=1).run(trace=Trace())
    >>> votes(cycle.trace, cycle.session, "default/train-0")["verdict"]
    'No plugin was asked: there was no candidate.'
    """
    found = next(iter(trace.iter("victims", task=pod)), None)
    asked = _asked(trace, pod, found)
    if not asked:
        code = "votes.none_asked" if trace.whole else "votes.not_recorded"
        return {"tiers": [], "rows": [], "verdict": str(Message(code))}
    last = asked[-1]["tier"]
    tiers = [(tier, [plugin for plugin, _ in plugins]) for tier, plugins in
             enumerate(ssn.points[POINTS[asked[0].action]].tiers) if plugins]
    answers = {(record["tier"], record["plugin"]): record["answer"][0] for record in asked}
    victims = found["candidates"] if found else ()
    rows = [{"name": short(name), "votes": {
        plugin: name in answers[tier, plugin] if (tier, plugin) in answers else None
        for tier, plugins in tiers for plugin in plugins}, "left": name in victims}
        for name in asked[0]["candidates"]]
    decides = last if found else None
    verdict = Message("votes.none") if not found else Message(
        "votes.discarded" if back else "votes.goes", pods=[*map(short, found["chosen"])],
        tier=last + 1)
    return {"tiers": [{"name": gettext("tier {number}", number=tier + 1),
                       "decides": tier == decides, "plugins": plugins,
                       "note": _note(tier, last, decides)} for tier, plugins in tiers],
            "rows": rows, "verdict": str(verdict)}


def _asked(trace: TraceReader, pod: str, found: Record | None) -> list[Record]:
    """Return the votes on one node: where victims were found, or else the first tried."""
    nodes = {name: task["node"] for name, task in trace.start["tasks"].items()}
    calls = [(record, (record.action, nodes[record["candidates"][0]]))
             for action, point in POINTS.items() for record in trace.iter(point, task=pod)
             if record.kind == "call" and record.action == action and record["candidates"]]
    if not calls:
        return []
    place = (found["action"], found["node"]) if found else calls[0][1]
    return [record for record, where in calls if where == place]


def _note(tier: int, last: int, decides: int | None) -> str:
    if tier > last:
        return gettext("not asked")
    return gettext("decides" if tier == decides else "names no victim")
