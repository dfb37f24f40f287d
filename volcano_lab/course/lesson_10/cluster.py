"""The cluster of the lesson on network topology, and what its dry runs found.

Two rooms with two racks each, two nodes of 4 CPUs per rack. Racks are HyperNodes of tier 1, rooms
of tier 2.
"""

from functools import cache
from typing import Any

from volcano_lab.api.task import TaskInfo
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import conf_text, nodes
from volcano_lab.framework import CLUSTER_TOP, Session
from volcano_lab.messages import gettext, mark
from volcano_lab.trace import COLORS, TraceReader, short
from volcano_lab.trace.views import jobs
from volcano_lab.widgets import pictures

RACKS = {"rack-1": ("node-1", "node-2"), "rack-2": ("node-3", "node-4"),
         "rack-3": ("node-5", "node-6"), "rack-4": ("node-7", "node-8")}
ROOMS = {"room-1": ("rack-1", "rack-2"), "room-2": ("rack-3", "rack-4")}
TAKEN = {"node-1": 1, "node-2": 1, "node-3": 3, "node-4": 1, "node-5": 2, "node-7": 3, "node-8": 2}
"""CPUs that other pods hold on each node."""

NODE_CPUS, JOB, TOP = 4, "default/train", "whole cluster"

CONF = conf_text("enqueue, allocate", "gang, predicates, network-topology-aware")


def hyper_node(name: str, tier: int, *members: str) -> str:
    """The manifest of a HyperNode: of tier 1 its members are nodes, above that HyperNodes.

    >>> print(hyper_node("rack-1", 1, "node-1").splitlines()[-1])
      - {type: Node, selector: {exactMatch: {name: node-1}}}
    """
    kind = "Node" if tier == 1 else "HyperNode"
    lines = "".join(f"  - {{type: {kind}, selector: {{exactMatch: {{name: {member}}}}}}}\n"
                    for member in members)
    return ("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
            f"metadata: {{name: {name}}}\nspec:\n  tier: {tier}\n  members:\n{lines}")


@cache
def _fixed() -> Cluster:
    cluster = nodes(range(1, 9), cpu=NODE_CPUS)
    for tier, level in enumerate((RACKS, ROOMS), 1):
        for name, members in level.items():
            cluster.add(hyper_node(name, tier, *members))
    cluster.objects()  # written once, for all clusters that begin as a copy
    return cluster


def topology_cluster(pods: int = 4, cpu: int = 1, mode: str = "hard", highest_tier: int = 1,
                     taken: dict[str, int] | None = None) -> Cluster:
    """The gang train waits; `taken` says how many CPUs others hold on each node (not named: as in
    the lesson).

    >>> topology_cluster().run(CONF).committed[0]
    ['allocate', 'default/train-0', 'node-3']
    """
    held = {node: count for node, count in (TAKEN | (taken or {})).items() if count}
    cluster = _fixed().copy().job("others", pods=sum(held.values()), min_member=1, cpu=1,
                                  running=held)
    topology = {"mode": mode, **({} if mode == "soft" else {"highestTierAllowed": highest_tier})}
    return cluster.job("train", pods=pods, cpu=cpu, network_topology=topology)


def hyper_nodes(trace: TraceReader) -> list[dict[str, Any]]:
    """One row per HyperNode, by tier: what is free in it, what waiting pods ask for, what became
    of the dry run.

    Amounts are CPUs. `score` is None where no dry run fitted.

    >>> from volcano_lab.scheduler import traced
    >>> trace, _ = traced(topology_cluster(pods=2, cpu=2).objects(), CONF)
    >>> [(row["hyper_node"], row["dry_run"]) for row in hyper_nodes(trace)][:4]
    [('rack-1', 'chosen'), ('rack-2', 'does not fit'), ('rack-3', 'fits'),
     ('rack-4', 'too little is free')]
    """
    racks_of = {**{rack: (rack,) for rack in RACKS}, **ROOMS, TOP: tuple(RACKS)}
    tried = {record["hyper_node"]: record
             for record in trace.of("hyper_node_tried", job=JOB, sub_job="")}
    chosen = [record["hyper_node"] for record in trace.of("hyper_node_chosen", job=JOB, sub_job="")]
    idle = {name: node["idle"].get("cpu", 0) / 1000 for name, node in trace.start["nodes"].items()}
    tasks = [task for task in trace.start["tasks"].values() if task["job"] == JOB]
    asks = sum(task["request"].get("cpu", 0) for task in tasks if not task["node"]) / 1000
    stands_on = {task["node"] for task in tasks if task["node"]}
    placed = any(record["job"] == JOB for record in trace.iter("commit"))
    rows = []
    for name, racks in racks_of.items():
        record = tried.get(CLUSTER_TOP if name == TOP else name)
        free = sum(idle[node] for rack in racks for node in RACKS[rack])
        tier = 1 + (name not in RACKS) + (name == TOP)
        row = {"hyper_node": name, "tier": tier, "free": free, "asks": asks, "score": None}
        if record is None:
            outside = stands_on - {node for rack in racks for node in RACKS[rack]}
            reasons = {"soft needs no dry run": placed and not chosen,
                       "the gang runs elsewhere": bool(outside),
                       "too little is free": free < asks, LOWER_SERVES: bool(chosen)}
            said = next((reason for reason, holds in reasons.items() if holds), NOT_ALLOWED)
        elif record["fits"]:
            said = "chosen" if chosen[-1:] == [record["hyper_node"]] else "fits"
            row["score"] = record["score"]
        else:
            said = "does not fit"
        rows.append(row | {"dry_run": said})
    return rows


def dry_runs(trace: TraceReader, ssn: Session) -> dict[str, Any]:
    """The data of `pictures.cluster`: rooms and racks with what became of the dry run in each, and
    the pods where they are when the cycle has ended.

    >>> from volcano_lab.scheduler import traced
    >>> [group["note"] for group in dry_runs(*traced(topology_cluster().objects(), CONF))["groups"]]
    ['its tier is not allowed', 'fits: 75', 'chosen: 100', 'its tier is not allowed', 'fits: 75',
     'too little is free']
    """
    found = {row["hyper_node"]: row for row in hyper_nodes(trace)}
    job = ssn.jobs.get(JOB)
    topology = job.pod_group.spec.network_topology if job and job.pod_group else None
    for row in found.values():
        if "network-topology-aware" not in ssn.plugins and row["dry_run"] != "chosen":
            row["dry_run"] = "not tried"  # nothing but the whole cluster is
        elif topology and row["tier"] > (topology.highest_tier_allowed or row["tier"]):
            row["dry_run"] = NOT_ALLOWED if row["dry_run"] == LOWER_SERVES else row["dry_run"]
    room_of = {rack: room for room, racks in ROOMS.items() for rack in racks}
    names = [name for room, racks in ROOMS.items() for name in (room, *racks)]
    groups = [{"name": name, "group": room_of.get(name, ""), "note": _note(found[name]),
               "state": STATES.get(found[name]["dry_run"], "")} for name in names]
    if job and job.contains_sub_job_policy():  # racks are for its sub-groups, not for the whole
        held = {task.node_name for task in job.tasks.values()}
        for group in groups:
            if group["name"] in RACKS:
                inside = held.intersection(RACKS[group["name"]])
                group |= {"note": gettext("a sub-group") if inside else "", "state": ""}
    nodes = []
    for rack, members in RACKS.items():
        for name in members:
            tasks = sorted(ssn.nodes[name].tasks.values(), key=lambda task: task.name)
            nodes.append({"name": name, "group": rack, "size": NODE_CPUS,
                          "pods": [_pod(trace, task) for task in tasks]})
    return {"groups": groups, "nodes": nodes,
            "text": gettext("Whole cluster (tier 3): {note}.", note=_note(found[TOP]))}


LOWER_SERVES, NOT_ALLOWED = "a lower tier serves", "its tier is not allowed"
STATES = {"chosen": "chosen", "does not fit": "refused", "too little is free": "refused"}


def _note(row: dict[str, Any]) -> str:
    note = gettext(row["dry_run"])
    return f"{note}{mark(': ')}{row['score']:.4g}" if row["score"] else note


def _pod(trace: TraceReader, task: TaskInfo) -> dict[str, Any]:
    others = task.job.endswith("/others")
    before = trace.start["tasks"][task.key]["node"]
    return {"name": task.name, "size": task.resreq.milli_cpu / 1000, "ring": not others,
            "color": COLORS[6 if others else 0], "state": "running" if before else "allocated"}


def picture(trace: TraceReader, ssn: Session, title: str) -> pictures.Picture:
    """The picture of `dry_runs`."""
    return _drawn(title, dry_runs(trace, ssn))


def _drawn(title: str, data: dict[str, Any]) -> pictures.Picture:
    return pictures.cluster(title, data, unit="CPUs", cell=1, legend=LEGEND)


LEGEND = ("Grey: other pods. Blue with a ring: the gang (hatched: placed in this cycle). "
          "The number: the score of the HyperNode.")


def sub_dry_runs(trace: TraceReader) -> list[dict[str, Any]]:
    """One row per dry run of a gang's sub-groups and of the gang, in order, with scores."""
    rows: list[dict[str, Any]] = []
    for record in trace.records:
        part = record.get("sub_job", "").rpartition("/")[2]
        if record.kind == "hyper_node_tried":
            rows.append({"in": record["hyper_node"], "what": part or "the job",
                         "fits": record["fits"], "score": None if part else record["score"]})
        elif record.kind == "hyper_node_chosen" and part:
            for row in rows:
                if row["what"] == part and row["fits"] and row["score"] is None:
                    row["score"] = record["scores"][row["in"]]
    return rows


STATEMENTS = {"discard": "statement {number}: a dry run in {rack}, saved and undone",
              "commit": "statement {number}: {rack} is recovered and committed"}


def statements_film(trace: TraceReader, ssn: Session, title: str) -> pictures.Picture:
    """Play the statements of a gang that is placed: where its pods are in each.

    >>> from volcano_lab.scheduler import traced
    >>> film = statements_film(*traced(topology_cluster(pods=2).objects(), CONF), "Statements")
    >>> film.spec["moments"][0], film.spec["moments"][-1]
    ('statement 0: a dry run in rack-1, saved and undone',
     'statement 4: rack-4 is recovered and committed')
    """
    data, moments = dry_runs(trace, ssn), {}
    gang = {pod["name"]: pod for node in data["nodes"] for pod in node["pods"] if pod["ring"]}
    for row in jobs.statements(trace, JOB):
        on = {short(pod): node for word, pod, node in row["steps"] if word == "allocate"}
        nodes = [node | {"pods": [pod for pod in node["pods"] if not pod["ring"]] + [
            gang[pod] for pod in on if on[pod] == node["name"]]} for node in data["nodes"]]
        rack = next(rack for rack, names in RACKS.items() if {*names} & {*on.values()})
        words = gettext(STATEMENTS[row["outcome"]], number=row["statement"], rack=rack)
        moments[words] = _drawn(title, data | {"nodes": nodes})
    return pictures.film(moments)
