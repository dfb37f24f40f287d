"""Lesson 15: how work grows, how many nodes are looked for, and a lab that counts cycles."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.effort import effort_of
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_15.clusters import exponent
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.framework.placement.feasible import nodes_to_find
from volcano_lab.messages import Message, gettext, mark
from volcano_lab.trace.palette import COLORS
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import slider
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.story import amounts, plain

EACH, FEWER, ONCE = "every pair", "with the flags", "the lab"
SCORES = "Pale: every pair. Full: the lab, which computes again where a pod was placed."
OF_PAIRS = ("predicate", "node_order")
Row = dict[str, Any]


def calls_rows(**efforts: Effort) -> list[Row]:
    """One row per extension point and plugin: asked for what, and how often in each cycle; the most
    asked first.

    >>> calls_rows(small=effort_of(cost_cluster(), conf_of(), arrays=False))[0]
    {'extension point': 'node_order', 'plugin': 'binpack', 'asked for each': 'pod and node',
     'small': 12}
    """
    first = next(iter(efforts.values()))
    asked = {(point, plugin) for _, point, plugin in first.calls}
    return [{"extension point": point, "plugin": plugin, "asked for each":
             "pod and node" if point in OF_PAIRS else "pod, job or queue",
             **{name: effort.count(point=point, plugin=plugin) for name, effort in efforts.items()}}
            for point, plugin in sorted(asked, key=lambda who: (
                -first.count(point=who[0], plugin=who[1]), who))]


def scores_film(title: str, cycle: Cycle) -> pictures.Picture:
    """Play the equal pods of a cycle: the scores of each node, for every pair and where they are
    computed once.

    >>> film = scores_film("Scores", cost_cluster(nodes=4, pods=3).run(conf_of()))
    >>> film.spec["moments"][-1]
    'pod 3 on node-2: every pair 12 scores, the lab 6'
    """
    placed, nodes = [node for *_, node in cycle.committed], sorted(cycle.session.nodes)
    film = {}
    for number, node in enumerate(placed, 1):
        once = {name: 1 + placed[:number - 1].count(name) for name in nodes}
        says = gettext("pod {number} on {node}: every pair {pairs} scores, the lab {once}",
                       number=number, node=node, pairs=number * len(nodes), once=sum(once.values()))
        film[says] = pictures.bars(title, [
            {"name": name, "color": COLORS[0], "asked": number, "held": held}
            for name, held in once.items()], most=len(placed), unit="scores", legend=SCORES,
            words={"asked": EACH, "held": "computed"})
    return pictures.film(film)


def sampling(percentages: Iterable[int], title: str) -> pictures.Picture:
    """Draw how many nodes that fit are enough, against the size of the cluster; one curve per
    percentage (0: by size).

    >>> sampling([0], "Enough").data["lines"][0]["points"][-1]
    [10000, 500]
    """
    sizes = [*range(50, 1000, 50), *range(1000, 10_001, 250)]
    lines = [{"name": f"{percentage}%" if percentage else "by size (0)", "color": COLORS[number],
              "points": [[nodes, nodes_to_find(nodes, percentage)] for nodes in sizes]}
             for number, percentage in enumerate(percentages)]
    return pictures.curves(title, {"lines": lines}, x="nodes in the cluster",
                           y="nodes looked for", least=(50, 50), most=(10_000, 10_000))


@define
class Counted:
    """One cycle's work, and the sizes that it was counted for."""

    values: Values
    effort: Effort
    found: int
    """After how many nodes that fit Volcano stops, with the flags."""

    @property
    def work(self) -> dict[str, int]:
        """Way to look -> scores in the whole cycle."""
        return {EACH: self.effort.pairs, FEWER: self.effort.choices * self.found,
                ONCE: self.effort.scored}

    @property
    def numbers(self) -> Row:
        """The values, and the numbers that the sentences name."""
        values, turns = self.values, self.effort.count(point="overused")
        each = plain(self.effort.count(point="queue_order") / turns)
        return values | {"found": self.found, "pairs": self.work[EACH], "fewer": self.work[FEWER],
                         "once": self.work[ONCE], "turns": turns, "each": each, "part":
                             nodes_to_find(values["nodes"], values["percentage"], 0)}

    @property
    def rows(self) -> list[Row]:
        """The rows of the table: per pod, and in total."""
        return [{"way": gettext(name), "per pod": round(total / self.effort.choices, 1),
                 "in total": total} for name, total in self.work.items()]

    @property
    def asked(self) -> list[Row]:
        """Questions that do not depend on the nodes, and how often each was asked."""
        points = ("queue_order", "overused", "allocatable", "job_ready")
        return [{"question": point, "calls": self.effort.count(point=point)} for point in points]

    @property
    def curves(self) -> Row:
        """The data of `pictures.curves`: the work against the nodes, with a dot for this cycle."""
        sizes, pods = range(10, 121, 10), self.effort.choices
        flags = self.values["percentage"], self.values["minimum"]
        points = {EACH: [[size, pods * size] for size in sizes],
                  FEWER: [[size, pods * nodes_to_find(size, *flags)] for size in sizes], ONCE: []}
        colors = (COLORS[5], COLORS[1], COLORS[0])
        return {"lines": [{"name": name, "color": color, "points": points[name],
                           "dot": [self.values["nodes"], self.work[name]]}
                          for name, color in zip(points, colors, strict=True)]}


def cluster_of(values: Values) -> Cluster:
    """Return the cluster that the controls describe."""
    sizes = {name: values[name] for name in ("nodes", "pods", "kinds", "queues")}
    return cost_cluster(**sizes, gang=4)


def counted(values: Values) -> Counted:
    """Run a cycle of some values and count its work."""
    found = nodes_to_find(values["nodes"], values["percentage"], values["minimum"])
    return Counted(values, effort_of(cluster_of(values), conf_of()), found)


CONTROLS = {"nodes": slider(40, 10, 120, "nodes", step=10),
            "pods": slider(80, 20, 160, "pods", step=20, about="in gangs of 4"),
            "kinds": slider(1, 1, 4, "kinds", about="of pods"), "queues": slider(1, 1, 8, "queues"),
            "percentage": slider(0, 0, 100, "to find", step=10, unit="%",
                                 about="--percentage-nodes-to-find; 0: by the size of the cluster"),
            "minimum": slider(20, 10, 120, "at least", step=10, unit="nodes",
                              about="--minimum-feasible-nodes")}

PANELS = [pictures.curves("The work of one cycle, in scores", lambda at: at.curves, key="growth",
                          x="nodes", y="scores", least=(10, 10), most=(120, 20_000), height=190,
                          wide=True),
          pictures.table("Three ways to look", lambda at: at.rows, key="work", rows=3,
                         texts=["way"], heads=["way", "per pod", "in total"]),
          pictures.table("Asked per pod, job or queue", lambda at: at.asked, key="asked", rows=4,
                         texts=["question"], heads=["question", "calls"])]


COSTS = {"pods": "nodes", "percentage": "minimum"}
"""A control -> the one with the same cause."""


def _because(before: Counted, now: Counted) -> str:
    """Return the numbers behind the counts that what was moved has a part in."""
    moved = next((name for name, value in now.values.items() if before.values[name] != value), "")
    return str(Message(f"cost.{COSTS.get(moved, moved)}", **now.numbers)) if moved else ""


def cost_lab() -> Lab:
    """Make the lab: the sizes of a cluster, and the flags with which Volcano looks at fewer nodes.
    Every move runs a cycle.

    >>> cost_lab().set(nodes=10, pods=20).facts.work
    {'every pair': 200, 'with the flags': 200, 'the lab': 29}
    """
    return Lab(CONTROLS, counted, PANELS, title="What one cycle costs", tasks=tasks("15"),
               code=cluster_of, says=[
                   amounts("", lambda at: {f"{gettext(way)}{mark(':')}": at.work[way]
                                       for way in at.work}, "scores"),
                   amounts("is asked", lambda at: {"queue_order": at.asked[0]["calls"]}, "times")],
               because=_because, opening=lambda at: str(Message("cost.opening", **at.numbers)))


def sampled(sizes: Sequence[int]) -> list[dict[str, int]]:
    """After how many nodes that fit the search ends, and the seconds that 10,000 pods take then."""
    return [{"nodes": nodes, "nodes looked for": nodes_to_find(nodes),
             "seconds for 10,000 pods": round(10_000 * nodes_to_find(nodes) * 11.5e-6)}
            for nodes in sizes]


def _effort(nodes: int = 10, pods: int = 40, conf: str = conf_of(), arrays: bool = True,
            **sizes: int) -> Effort:
    return effort_of(cost_cluster(nodes, pods, gang=4, **sizes), conf, arrays=arrays)


TREE = conf_of("capacity").replace("name: capacity", "name: capacity\n    enableHierarchy: true")
GROWING: tuple[tuple[str, Callable[[int], int], str], ...] = (
    ("nodes × n: pairs", lambda n: _effort(10 * n, arrays=False).pairs, "each pod asks each node"),
    ("nodes × n: scored once (the lab)", lambda n: _effort(10 * n).scored,
     "each node once, and 39 placements that stay as they are"),
    ("pods × n: pairs", lambda n: _effort(pods=20 * n, arrays=False).pairs,
     "each pod asks each node"),
    ("queues × n: comparisons of queues",
     lambda n: _effort(pods=160, queues=2 * n).count(point="queue_order"),
     "each turn sorts the queues: a little more than one comparison per queue"),
    ("queues × n: pairs", lambda n: _effort(pods=160, queues=2 * n).pairs,
     "no pod asks more nodes"),
    ("levels × n: limits compared",
     lambda n: _effort(conf=TREE, depth=n).notes["allocatable_level"],
     "one per pod and level; the root is a level, too, and does not grow"))
"""What is multiplied and counted, the count of a cycle, and why it grows so."""


def growing(sizes: Sequence[int] = (1, 2, 4, 8)) -> list[dict[str, Any]]:
    """What is counted in a cycle when one size of the cluster is multiplied, and its exponent."""
    return [{"what": what, **{str(size): found for size, found in counts.items()},
             "exponent": exponent(sizes, [*counts.values()]), "why": why}
            for what, count, why in GROWING for counts in [{size: count(size) for size in sizes}]]
