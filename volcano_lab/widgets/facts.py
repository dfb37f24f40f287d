"""What a cycle decided, as data of pictures; nothing is decided or summed here.

>>> from volcano_lab.cluster import Cluster
>>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
>>> limits(cycle)[0]["held"], turns(cycle)["turns"][0]["pods"], deserved(cycle)
(4, 2, {'default': 4})
"""

from collections.abc import Iterable, Mapping
from itertools import cycle as endless
from typing import Any

from volcano_lab.api import PIPELINED, RELEASING, RUNNING, TaskInfo, in_units
from volcano_lab.messages import Message
from volcano_lab.trace import COLORS, Row
from volcano_lab.trace.views.cycle import Cycle

SCALE = {"memory": 2**30}  # what is not shown in a resource's own unit


def amount(value: Any, resource: str) -> Any:
    """Return the amount of one resource in a row of `Cycle.queues`, of memory in Gi; or None."""
    if not isinstance(value, dict):
        return value
    found = value.get(resource, 0)
    return None if found is None or found == float("inf") else plain(found / SCALE.get(resource, 1))


def plain(value: float) -> float:
    """Return a number without binary rounding noise, as an integer if it is whole."""
    near = round(value, 6)
    return int(near) if near == int(near) else near


def deserved(cycle: Cycle, resource: str = "cpu") -> dict[str, float]:
    """Return the deserved amount of each queue."""
    return {row["queue"]: amount(row["deserved"], resource) for row in cycle.queues()}


def queue_colors(cycle: Cycle) -> dict[str, str]:
    """Return the colours of the queues that have none below them, in the order of creation with
    `default` last: a new queue changes the colour of no other but that. Those above are grey.

    >>> from volcano_lab.cluster import Cluster
    >>> queue_colors(Cluster().queue("b").queue("a").run())
    {'b': '#0072B2', 'a': '#E69F00', 'default': '#009E73'}
    """
    queues = {name: info.queue for name, info in cycle.session.queues.items()}
    used = {job.queue for job in cycle.session.jobs.values()}
    above = {"root", *(row.get("parent") for row in cycle.trace.start["queues"].values()),
             *({queue.spec.parent for queue in queues.values()} - used)}
    names = sorted(queues.keys() - above, key=lambda name: (
        name == "default", queues[name].metadata.creation_timestamp, name))
    return dict(zip(names, endless(COLORS), strict=False))


def queue_rows(cycle: Cycle, resource: str = "cpu", names: Iterable[str] = ()) -> list[Row]:
    """Return `Cycle.queues` in one resource, with colours, restricted to `names` if given."""
    colors = queue_colors(cycle)
    return [{word: amount(value, resource) for word, value in row.items()}
            | {"color": colors.get(row["queue"], COLORS[-1])}
            for row in cycle.queues() if not names or row["queue"] in names]


def limits(cycle: Cycle, resource: str = "cpu", names: Iterable[str] = ()) -> list[Row]:
    """Return the rows of `pictures.bars`: what queues hold, request, deserve and may hold."""
    return [{"name": row["queue"], "color": row["color"], "asked": row["request"],
             "held": row["allocated"], "deserved": row["deserved"], "guarantee": row["guarantee"],
             "limit": row["real_capability"]} for row in queue_rows(cycle, resource, names)]


def rounds(cycle: Cycle, resource: str = "cpu") -> list[Row]:
    """Return the rounds in which deserved was computed; none without the proportion plugin."""
    def gib(value: Any) -> float:
        return plain((in_units(resource, value.get(resource)) or 0) / SCALE.get(resource, 1))

    return [{"left_before": gib(round_.available), "left": gib(round_.remaining), "steps": {
        step.queue: {"before": gib(step.before), "after": gib(step.after),
                     "offered": plain(gib(step.offered) - gib(step.before))}
        for step in round_.steps}} for round_ in cycle.rounds]


def turns(cycle: Cycle) -> dict[str, Any]:
    """Return the data of `pictures.turns`."""
    colors = queue_colors(cycle)  # without proportion and capacity no queue has a share
    return {"queues": [{"queue": name, "color": colors.get(name, COLORS[-1])} for name in sorted(
        {row["queue"] for row in (*cycle.queues(), *cycle.turns())})],
            "turns": [{word: turn[word] for word in ("queue", "share", "outcome", "pods")}
                      | {"job": turn["job"].removeprefix("default/")} for turn in cycle.turns()]}


def statement(cycle: Cycle, key: str) -> dict[str, Any]:
    """Return the data of `pictures.statement` for a job ("namespace/name")."""
    job = cycle.session.jobs[key]
    steps: dict[str, Row] = {}
    for number, row in enumerate(cycle.operations(key), 1):
        name = row["pod"].rpartition("/")[2]
        word = row["operation"].removeprefix("undo ")
        if row["operation"] == word:
            steps[name] = {"step": number, "node": row["node"],
                           "state": "promised" if word == "pipeline" else "placed"}
        elif name in steps:
            steps[name] |= {"state": "tried", "undone": number}
    pods = [{"name": task.name, "state": "running" if task.node_name else "waiting"}
            | steps.get(task.name, {}) for task in
            sorted(job.tasks.values(), key=lambda task: (len(task.name), task.name))]
    outcomes = [row["outcome"] for row in cycle.statements(key)]
    outcome = "commit" if "commit" in outcomes else next(iter(outcomes), "")
    placed = sum(pod["state"] != "waiting" for pod in pods)
    why = "" if outcome == "commit" else next(iter(cycle.why(key)), "")
    return {"outcome": outcome, "pods": pods, "minimum": job.min_available, "reason": why,
            "headline": str(Message("statement.pods", placed=placed, pods=len(pods))),
            "color": queue_colors(cycle).get(job.queue)}


PODS = {RUNNING: "running", RELEASING: "leaving", PIPELINED: "promised"}
"""A pod's status -> its drawing; others were placed in this cycle."""


def pods(tasks: Iterable[TaskInfo], colors: Mapping[str, str], ring: str = "") -> list[Row]:
    """Return the pods of a node of `pictures.cluster`, coloured by job name.

    Leaving pods come last, so that promised ones are drawn on top of them; `ring` is the pod that
    the text is about.
    """
    rows = [{"name": task.name, "size": plain(task.resreq.milli_cpu / 1000),
             "color": colors.get(task.name.rpartition("-")[0]), "ring": task.name == ring,
             "state": PODS.get(task.status, "allocated")} for task in tasks]
    order = ["running", "allocated", "leaving", "promised"]
    return sorted(rows, key=lambda row: (order.index(row["state"]), row["name"]))
