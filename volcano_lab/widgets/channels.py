"""The data of `pictures.channels`: what the queues of a cycle hold, deserve and may hold, their
jobs with the outcome of each, and the nodes, all in one resource and on one scale.

>>> from volcano_lab.cluster import Cluster
>>> cycle = Cluster().node("n1", cpu=4).job("train", pods=6, min_member=2, cpu=1).run()
>>> row = channels(cycle)["queues"][0]
>>> row["deserved"], [(job["name"], job["fate"], job["now"]) for job in row["jobs"]]
(4, [('train', 'placed', 4)])
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from volcano_lab.api import PENDING, PIPELINED, RELEASING, JobInfo, in_units, quantity
from volcano_lab.changes.change import path_text
from volcano_lab.framework import Session
from volcano_lab.messages import Message, NoSuch, gettext
from volcano_lab.trace import COLORS, Names, Row, short
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import tree
from volcano_lab.widgets.facts import SCALE, plain, queue_colors, rounds
from volcano_lab.widgets.story import counted

UNITS = {"cpu": "CPUs", "memory": "Gi", "nvidia.com/gpu": "GPUs", "pods": "pods"}
MOST_PODS = 300
"""Pods on nodes that are drawn one by one; beyond that, one mark per queue and node."""
OF_A_JOB = {PENDING: "waiting", RELEASING: "leaving"}
ON_A_NODE = {PIPELINED: "promised", RELEASING: "leaving"}
"""States in pictures, by status; other pods were placed by this cycle, or run."""

SHARING = ("proportion", "capacity", "capacity-card")
"""The plugins that share resources between queues."""


def unit_of(resource: str) -> str:
    """Return the unit of a resource; its name if it has none."""
    return UNITS.get(resource, resource)


def named_resource(ssn: Session, resource: str) -> str:
    """Return the name of a resource that a node has or a pod requests; its last part finds it, too.
    Raises `NoSuch`.

    >>> from volcano_lab.cluster import Cluster
    >>> named_resource(Cluster().node("n1", gpu=8).run().session, "gpu")
    'nvidia.com/gpu'
    """
    there = dict.fromkeys(["cpu", "memory", "pods", *ssn.total_resource.resource_names()])
    asked = (name for job in ssn.jobs.values() for task in job.tasks.values()
             for name in task.resreq.resource_names())
    for name in (each for names in (there, asked) for each in names):
        if resource in (name, name.rpartition("/")[2]):
            return name
    raise NoSuch("picture.resource", resource=resource, names=list(there))


def amount(value: float | None, resource: str) -> float | None:
    """Return an amount in the unit of the pictures; None for no limit."""
    return None if value is None else plain(value / SCALE.get(resource, 1))


def written(amounts: Any, resource: str) -> float | None:
    """Return one resource of the amounts in a manifest; None if it is not set.

    >>> written({"memory": "512Mi"}, "memory"), written(None, "cpu")
    (0.5, None)
    """
    text = (amounts or {}).get(resource)
    return None if text is None else amount(float(quantity.parse(text)), resource)


def sharing_plugin(cycle: Cycle) -> str:
    """Return the plugin that shares between queues; "" without one."""
    return next((name for name in SHARING if name in cycle.session.plugins), "")


def stopped(cycle: Cycle) -> bool:
    """Tell whether the plugin that shares has stopped at an invalid tree, with nothing computed."""
    plugin: Any = cycle.session.plugins.get(sharing_plugin(cycle))
    return not getattr(plugin, "ready", True)


def channels(cycle: Cycle, resource: str = "cpu",
             reason: Callable[[Row], tuple[str, str]] | None = None,
             shown: Iterable[str] = ()) -> Row:
    """Return the picture of a cycle in one resource.

    Args:
        cycle: a cycle that has run.
        resource: "cpu" in CPUs, "memory" in Gi, others in their own unit.
        reason: a row of `job_rows` -> the reason of its outcome, as a sentence and as short words.
        shown: queues that have a row even without jobs.

    Raises `NoSuch` for a resource that is not there.
    """
    resource = named_resource(cycle.session, resource)
    rows = _queue_rows(cycle, resource, shown)
    names = {row["queue"] for row in rows}
    colors = queue_colors(cycle)
    nodes = list(_nodes(cycle, resource, colors))
    total = plain(sum(node["size"] for node in nodes))
    jobs: dict[str, list[Row]] = {}
    for job in gathered(job_rows(cycle, resource), resource):
        if reason and job["fate"] != "running" and "reason" not in job:
            job["reason"], job["brief"] = reason(job)
        jobs.setdefault(job["queue"], []).append(job)
    before = _before(cycle, resource)
    largest = _largest(cycle, resource)
    turns, plugin = _first_turns(cycle), sharing_plugin(cycle)
    queues = []
    for row in rows:
        name, spec = row["queue"], cycle.session.queues[row["queue"]].queue.spec
        first, own = before.get(name, row), jobs.get(name, [])
        capability = _capability(spec.capability, resource, total)
        deserved, limit = (amount(row[word], resource) for word in ("deserved", "real_capability"))
        if plugin and name not in before:  # as Volcano's metrics: what the queue says
            deserved = (plugin == "capacity" and written(spec.deserved, resource)) or 0
            limit = capability
        queues.append({
            "queue": name, "parent": row["parent"] if row["parent"] in names else "",
            "leaf": row["leaf"], "color": colors.get(name, COLORS[-1]), "weight": row["weight"],
            "deserved": deserved,
            **{word: amount(row[word], resource) for word in ("allocated", "request")},
            "held": amount(first["allocated"], resource),
            **({} if row["request"] else _by_pods(own)), "limit": limit, "capability": capability,
            "guarantee": written(spec.guarantee and spec.guarantee.resource, resource) or 0,
            **_exact(deserved, amount(row["request"], resource)),
            "share": first["share"], "after": row["share"], "of": gettext(largest.get(name, "")),
            "rank": str(Message("queue.rank", n=spec.priority)) * bool(plugin and spec.priority),
            **turns.get(name, {"turn": None, "overused": False}), "jobs": own})
    return {"unit": gettext(unit_of(resource)), "resource": resource,
            "path": path_text("", resource), "plugin": plugin, "queues": queues, "nodes": nodes,
            "total": total, "rounds": rounds(cycle, resource) if plugin == "proportion" else []}


def _exact(deserved: float | None, request: float | None) -> Row:
    """Return what a queue deserves as text, where rounding would hide that it requests more.

    >>> _exact(7.958, 8), _exact(1.9996, 2), _exact(8, 8), _exact(7.5, 8)
    ({'exact': '7.96'}, {'exact': '1.9996'}, {}, {})
    """
    deserved, request = deserved or 0, request or 0
    texts = (f"{deserved:.{digits}f}" for digits in range(2, 8))
    tenths, asked = (math.floor(each * 10 + 0.5) for each in (deserved, request))
    short = 0 < deserved < request and tenths == asked
    return {"exact": next(each for each in texts if float(each) < request)} if short else {}


def _before(cycle: Cycle, resource: str) -> dict[str, Row]:
    """Return the sums of each queue before the cycle; nothing where none were computed."""
    return {} if stopped(cycle) else {row["queue"]: row for row in tree(cycle.trace, -1, resource)}


def _first_turns(cycle: Cycle) -> dict[str, Row]:
    """Return the first turn of each queue, in order."""
    turns: dict[str, Row] = {}
    for turn in cycle.turns():
        turns.setdefault(turn["queue"], {"turn": len(turns) + 1,
                                         "overused": turn["outcome"] == "overused"})
    return turns


def _by_pods(jobs: list[Row]) -> Row:
    """Return the sums of a queue for which no plugin has computed them."""
    runs, placed, asks = (sum(row[word] * row["size"] for row in jobs)
                          for word in ("running", "now", "pods"))
    return {"held": runs, "allocated": runs + placed, "request": asks}


def _largest(cycle: Cycle, resource: str) -> dict[str, str]:
    """Return the resource of each queue's share, in short, where it is not the shown one."""
    found: dict[str, str] = {}
    for row in cycle.queues():
        shares = {each: row["allocated"].get(each, 0) / (row["deserved"].get(each) or math.inf)
                  for each in (resource, *row["deserved"])}
        found[row["queue"]] = max(shares, key=shares.__getitem__)
    return {name: each.rpartition("/")[2] for name, each in found.items() if each != resource}


def _queue_rows(cycle: Cycle, resource: str, shown: Iterable[str]) -> list[Row]:
    """Return the rows of the drawn queues: not the root, and `default` only if it is used."""
    rows = {row["queue"]: row for row in tree(cycle.trace, None, resource)}
    idle = {"parent": "", "deserved": 0, "allocated": 0, "request": 0, "real_capability": None,
            "share": 0}  # unknown to the plugin that shares between queues
    rows |= {name: idle | {"queue": name, "weight": queue.weight}
             for name, queue in cycle.session.queues.items() if name not in rows}
    parents = {queue.get("parent", "") for queue in cycle.trace.start["queues"].values()}
    used = {job.queue for job in cycle.session.jobs.values()} | parents | {*shown}
    return [row | {"leaf": name not in parents} for name, row in rows.items()
            if name != "root" and (name != "default" or name in used)]


def job_rows(cycle: Cycle, resource: str = "cpu") -> list[Row]:
    """Return a row for each job: its pods in numbers, and its `fate`.

    A job is "running" with nothing to be placed, "placed" in this cycle, "discarded", "not tried",
    "not admitted", or "waiting" for more pods than it has. `called` is its displayed name,
    `size` the request of one pod, `reserves` its minResources.
    """
    ssn, called = cycle.session, Names(cycle.session).called
    placed = {pod for word, pod, *_ in ssn.committed if word in ("allocate", "pipeline")}
    tried = {row["job"] for row in cycle.statements() if row["outcome"] == "discard"}
    rows = []
    for job in ssn.jobs.values():
        tasks = list(job.tasks.values())
        counts = Counter("now" if task.key in placed else OF_A_JOB.get(task.status, "running")
                         for task in tasks)
        size = sum(in_units(resource, task.resreq.get(resource)) or 0 for task in tasks)
        least = in_units(resource, job.get_min_resources().get(resource))
        rows.append({"job": job.uid, "called": called(job.uid), "name": short(called(job.uid)),
                     "queue": job.queue, "pods": len(tasks), "min": job.min_available,
                     "size": amount(size / max(len(tasks), 1), resource),
                     **{word: counts[word] for word in ("running", "now", "leaving", "waiting")},
                     "reserves": amount(least or 0, resource),
                     "fate": _fate(job, counts, job.uid in tried or bool(job.nodes_fit_errors))})
    return sorted(rows, key=lambda row: (row["fate"] == "running", not row["pods"],
                                         row["fate"] == "placed", row["job"]))


def gathered(rows: Iterable[Row], resource: str) -> Iterator[Row]:
    """Yield the rows of jobs; a queue's admitted PodGroups without pods are one row."""
    empty: dict[str, list[Row]] = {}
    for row in rows:
        if row["fate"] == "not tried" and not row["pods"]:
            empty.setdefault(row["queue"], []).append(row)
        else:
            yield row
    for first, *others in empty.values():
        reserved = plain(sum(row["reserves"] for row in (first, *others)))
        reason = Message("lane.reserved" if reserved else "lane.empty", n=len(others) + 1,
                         amount=counted(reserved, unit_of(resource)))
        brief = str(Message("lane.reserved.short", **reason.facts)) if reserved else ""
        yield first | {"name": f"{first['name']}, …" if others else first["name"],
                       "brief": brief, "reason": str(reason)}


def _capability(written_amounts: Any, resource: str, total: float) -> float:
    """Return a queue's capability; the cluster's total where it has none, or 0 of CPU or memory."""
    value = written(written_amounts, resource)
    return value or (total if value is None or resource in ("cpu", "memory") else 0)


def _fate(job: JobInfo, counts: Counter[str], tried: bool) -> str:
    if counts["now"]:
        return "placed"
    if job.tasks and not counts["waiting"]:
        return "running"
    if job.pod_group.status.phase in ("", "Pending"):
        return "not admitted"
    if counts["running"]:
        return "waiting"
    return "discarded" if tried else "not tried"


def _nodes(cycle: Cycle, resource: str, colors: dict[str, str]) -> Iterable[Row]:
    """Return the nodes that have the resource, with their pods: running ones first."""
    ssn = cycle.session
    placed = {pod for word, pod, *_ in ssn.committed if word == "allocate"}
    queue_of = {uid: job.queue for uid, job in ssn.jobs.items()}
    whole = sum(len(node.tasks) for node in ssn.nodes.values()) <= MOST_PODS
    for name, node in ssn.nodes.items():
        size = amount(in_units(resource, node.allocatable.get(resource)), resource)
        if not size:
            continue
        pods: dict[str, Row] = {}
        for task in node.tasks.values():
            state = ON_A_NODE.get(task.status, "now" if task.key in placed else "running")
            queue = queue_of.get(task.job, "")
            each = amount(in_units(resource, task.resreq.get(resource)), resource)
            called = task.key if whole else f"{queue} {state}"
            row = pods.setdefault(called, {"name": called, "queue": queue, "state": state,
                                           "size": 0, "color": colors.get(queue, COLORS[-1])})
            row["size"] = plain(row["size"] + (each or 0))
        order = ["running", "leaving", "now", "promised"]
        yield {"name": name, "size": size, "pods": sorted(
            (row for row in pods.values() if row["size"]),
            key=lambda row: (order.index(row["state"]), row["name"]))}
