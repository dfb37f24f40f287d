"""Lesson 03: queues that want CPU and memory; how full each is in each resource when a cycle
begins.
"""

from typing import Any

from attrs import define

from volcano_lab.api.resource import ZERO, share_of
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.display.palette import colors_of
from volcano_lab.scheduler import run_cycle
from volcano_lab.trace.language import say
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.controls import Control, group, slider
from volcano_lab.widgets.lab import Lab, Task, Values
from volcano_lab.widgets.story import Amounts, amounts, outcome

POD_CPU = 2
WORDS = {"weight": (1, 9, 1), "memory": (0, 4, 1), "asks": (10, 30, 1), "runs": (0, 10, 1)}
"""What can be set for each queue: weight, Gi of memory a pod, pods it asks for, and how many of
them run already.
"""

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
    return pictures.sums(title, _parts(at_opening(cluster)), parts=["held"], limit="deserved",
                         most=1.5)


LABELS = {"asks": "asks for"}


def _of_queue(queue: str, color: str) -> dict[str, Control]:
    units = {"memory": "Gi", "asks": "pods", "runs": "pods"}
    return group(f"queue {queue}",
                 {f"{queue}_{word}": slider(START[queue][word], least, most, LABELS.get(word, word),
                                            step=step, unit=units.get(word, ""),
                                            about="of each pod" if word == "memory" else "")
                  for word, (least, most, step) in WORDS.items()}, color=color, link=queue)


CONTROLS = {name: control for queue, color in colors_of(START).items()
            for name, control in _of_queue(queue, color).items()}


@define
class Opened:
    """A cycle, and how its queues stood when it began."""

    cycle: Cycle
    queues: list[dict[str, Any]]


@define
class First:
    """The first of several amounts that moved: what a queue deserves changes its share, too."""

    of: list[Amounts]

    def told(self, before: Opened, now: Opened) -> list[str]:
        return next(filter(None, (each.told(before, now) for each in self.of)), [])


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    return two_resource_cluster(
        **{queue: {word: values[f"{queue}_{word}"] for word in WORDS} for queue in START})


def opened(values: Values) -> Opened:
    """Run the cycle of some values and keep how its queues stood at its beginning."""
    return at_opening(cluster_of(values))


def at_opening(cluster: Cluster) -> Opened:
    """Run a cycle and keep how its queues stood when it began."""
    cache, colors = cluster.cache(), colors_of(START)
    jobs = cache.snapshot().jobs
    cycle, rows = run_cycle(cache), []
    for name, deserved in cycle.rounds[-1].deserved.items():
        job = jobs[f"default/{name}-work"]
        held, pod = job.allocated, next(iter(job.tasks.values())).resreq
        by_resource = {resource: share_of(held.get(resource), deserved.get(resource))
                       if resource in deserved.resource_names() else None
                       for resource in ("cpu", "memory", "pods")}
        rows.append({
            "queue": name, "color": colors[name], "turn": cycle.queue_order.index(name) + 1,
            "share": max([0.0, *(share for share in by_resource.values() if share is not None)]),
            **by_resource, "overused": deserved.less_equal(held, ZERO),
            "one_more_pod": held.stays_within(deserved, pod)})
    return Opened(cycle, rows)


def _parts(at: Opened) -> list[dict[str, Any]]:
    """Return one row per queue and resource: held as a part of deserved."""
    rows = []
    for row in at.queues:
        for resource in ("cpu", "memory", "pods"):
            share = row[resource]
            rows.append({"name": f"{row['queue']} {say(resource)}", "link": row["queue"],
                         "color": row["color"], "parts": [share or 0], "limit": 1,
                         "text": "deserves none" if share is None else f"{share:.2f}",
                         "over": share is not None and share > 1})
    return rows


PANELS = [pictures.vessels("Deserved CPUs", lambda at: facts.fill(at.cycle), key="cpu",
                           most=[42, 62], unit="CPUs", height=158),
          pictures.vessels("Deserved memory", lambda at: facts.fill(at.cycle, "memory"),
                           key="memory", most=[62, 92, 122], unit="Gi", height=158),
          pictures.sums("How full each queue is", _parts, key="shares", rows=9, parts=["held"],
                        limit="deserved", most=1.5, tall=True),
          pictures.turns("Whose turn it is", lambda at: facts.turns(at.cycle), key="turns",
                         slots=30, lanes=3),
          pictures.table("When the cycle begins", lambda at: at.queues, key="queues",
                         columns={"queue": "queue", "turn": "turn", "share": "share",
                                  "overused": "overused", "one_more_pod": "room"})]


def _moved(values: Values) -> set[str]:
    return {name for name, control in CONTROLS.items() if values[name] != control.start}


def _row(at: Opened, queue: str) -> dict[str, Any]:
    return next(row for row in at.queues if row["queue"] == queue)


TASKS = [Task("one more pod",
              "Raise only a's weight. From which weight on may a have one more pod?",
              lambda values, at: _moved(values) == {"a_weight"} and _row(at, "a")["one_more_pod"],
              show={"a_weight": 2}),
         Task("no memory", "Let a's pods take no memory. Which place in the order has a now?",
              show={"a_memory": 0}),
         Task("overused", "Make c overused. Which slider must meet which?",
              lambda values, at: _row(at, "c")["overused"], show={"c_asks": 10, "c_runs": 10}),
         Task("weight in vain", "c asks for 10 pods now. Give it weight 9: does it deserve more?",
              start={"c_asks": 10}, show={"c_weight": 9})]


def proportion_lab() -> Lab:
    """Make the lab: of each queue weight, memory per pod, pods asked for and pods that run.

    >>> lab = proportion_lab()
    >>> [(row["queue"], row["turn"]) for row in lab.set(a_runs=0).board["queues"]]
    [('a', 1), ('b', 2), ('c', 3)]
    """
    def order(at: Opened) -> str:
        return ", ".join(at.cycle.queue_order)

    def shares(at: Opened) -> str:
        return ", ".join(f"{row['queue']} {row['share']:.2f}"
                         for row in sorted(at.queues, key=lambda row: row["turn"]))

    def overused(at: Opened) -> str:
        return ", ".join(row["queue"] for row in at.queues if row["overused"]) or "none"

    return Lab(
        CONTROLS, opened, PANELS, title="Two resources: 100 CPUs and 120 Gi, three queues",
        tasks=TASKS, code=cluster_of,
        says=[outcome("The order", order, lambda at: f"{say('shares')} {shares(at)}"),
              outcome("Overused", overused),
              First([amounts("deserves", lambda at: facts.deserved(at.cycle), "CPUs"),
                     amounts("deserves", lambda at: facts.deserved(at.cycle, "memory"), "Gi"),
                     amounts("has a share of",
                             lambda at: {row["queue"]: row["share"] for row in at.queues})])],
        opening=lambda at: f"The emptiest queue goes first: **{order(at)}**, with the shares "
        f"{shares(at)}. A queue is as full as its fullest resource.",
        nothing="No queue deserves more or less, and the order stays.")
