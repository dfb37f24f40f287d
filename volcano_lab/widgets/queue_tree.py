"""The lab of the queue tree: edit the tree, and see every level, whose turn it is, who is let in, and each gang's end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import ipywidgets

from volcano_lab.cluster import Cluster
from volcano_lab.cycle import Cycle
from volcano_lab.cycle_record import CycleRecord, queue_shares
from volcano_lab.framework.action import action_names
from volcano_lab.framework.conf import SchedulerConfiguration, load_conf
from volcano_lab.framework.session import Session
from volcano_lab.log import quiet
from volcano_lab.manifests import ManifestError
from volcano_lab.queue_levels import admission, gangs, indented, levels, order
from volcano_lab.scheduler import Scheduler
from volcano_lab.widgets.lab import Lab, Values
from volcano_lab.widgets.queue_tree_editor import ROOT, QueueRow, QueueTreeEditor

NODES, NODE_CPUS = 5, 4

START = [
    QueueRow(ROOT, "", weight=None),
    QueueRow("research", deserved=8, capability=8),
    QueueRow("train", "research", deserved=5, runs=5, gang=3),
    QueueRow("eval", "research", deserved=3, capability=6, runs=1, gang=4),
    QueueRow("prod", deserved=12, guarantee=4),
    QueueRow("web", "prod", deserved=8, runs=4, gang=2),
    QueueRow("batch", "prod", gang=3),
]
"""The tree that the lab begins with: two departments of two teams each, on 20 CPUs."""

PLUGINS = {
    "capacity, with the tree": "  - name: capacity\n    enableHierarchy: true\n",
    "capacity, letting in as v1.11.0 did": "  - name: capacity\n    enableHierarchy: true\n    arguments:\n"
                                           "      lab.v1-11-enqueue: true\n",
    "capacity, without the tree": "  - name: capacity\n",
    "proportion (no tree; weight counts)": "  - name: proportion\n",
}
"""What shares between the queues: its name in the lab -> its lines in the configuration."""

TREE = next(iter(PLUGINS))


def tree_conf(plugin: str = TREE) -> str:
    """The configuration of a scheduler that shares in one of the ways of `PLUGINS`."""
    return f'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n{PLUGINS[plugin]}'


def tree_cluster(rows: list[QueueRow]) -> Cluster:
    """Five nodes of four CPUs, the queues, and their jobs. Raises `ValueError` for rows that can't be queues.

    >>> [row["queue"] for row in tree_cluster(START).run(tree_conf()).queues()]
    ['batch', 'default', 'eval', 'prod', 'research', 'root', 'train', 'web']
    """
    _check(rows)
    cluster, free = _nodes().copy(), [f"node-{number}" for number in range(NODES) for _ in range(NODE_CPUS)]
    for row in rows:
        cluster.queue(row.name, parent=row.parent or None, weight=row.weight, deserved=row.deserved,
                      capability=row.capability, guarantee=row.guarantee)
        if row.runs:
            taken, free = free[:row.runs], free[row.runs:]
            running = {node: taken.count(node) for node in taken}
            cluster.job(f"{row.name}-work", queue=row.name, pods=row.runs, min_member=1, cpu=1, running=running)
        if row.gang:
            cluster.job(f"{row.name}-gang", queue=row.name, pods=row.gang, cpu=1)
    return cluster


@cache
def _nodes() -> Cluster:
    cluster = Cluster()
    for number in range(NODES):
        cluster.node(f"node-{number}", cpu=NODE_CPUS)
    cluster.objects()  # written once, for all clusters that begin as a copy
    return cluster


@cache
def _conf(plugin: str) -> SchedulerConfiguration:
    return load_conf(tree_conf(plugin), action_names())


def _check(rows: list[QueueRow]) -> None:
    names = [row.name for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'queue "{name}" is there {names.count(name)} times; names must differ.')
    for row in rows:
        for word, least in (("weight", 1), ("deserved", 0), ("capability", 0), ("guarantee", 0), ("runs", 0), ("gang", 0)):
            value = getattr(row, word)
            if value is not None and value < least:
                raise ValueError(f'queue "{row.name}": {word} is {value}; allowed is a number from {least} on.')
    running = sum(row.runs or 0 for row in rows)
    if running > NODES * NODE_CPUS:
        raise ValueError(f"{running} pods run; the cluster has {NODES * NODE_CPUS} CPUs.")


class _Shares(CycleRecord):
    """Remembers the shares with which the queues were lined up."""

    def opened(self, ssn: Session) -> None:
        super().opened(ssn)
        self.shares = queue_shares(ssn)


def run_tree(rows: list[QueueRow], plugin: str = TREE) -> Cycle:
    """One cycle over the queues of some rows. Raises `ValueError` or `ManifestError`."""
    scheduler, record = Scheduler(tree_cluster(rows).cache(), _conf(plugin)), _Shares()
    with quiet():  # what is wrong with a tree is said on the board
        return Cycle(scheduler.run_once(record), record, scheduler.times)


SUM = "minimum_+_allocated_+_in_queue_−_elastic"
PANELS: list[dict[str, Any]] = [
    {"kind": "sentences", "key": "sentences", "title": "This tree does not work"},
    {"kind": "table", "key": "levels", "title": "Every level when the cycle ends, in CPUs",
     "columns": ["queue", "deserved", "guarantee", "real_capability", "request", "allocated", "inqueue", "elastic", "share"],
     "legend": "Each row counts the jobs of the queue and of all queues below it. The share of a queue that has queues "
               "below it is the one from the beginning of the cycle."},
    {"kind": "table", "key": "order", "title": "Whose turn it is: the queues with jobs, as the session lines them up",
     "columns": ["place", "queue", "shares_on_the_way_down"], "texts": ["queue", "shares_on_the_way_down"],
     "legend": "Two queues are compared where their ways part: the smaller share goes first."},
    {"kind": "table", "key": "admission", "title": "Who is let in: what enqueue compares, level by level, in CPUs",
     "columns": ["gang", "level", SUM, "may_hold", "verdict"], "texts": ["level", SUM, "verdict"]},
    {"kind": "table", "key": "gangs", "title": "What becomes of each gang",
     "columns": ["gang", "phase", "statement", "operations", "why"], "texts": ["phase", "statement", "operations", "why"]},
]


def board_state(rows: list[QueueRow], plugin: str = TREE) -> dict[str, Any]:
    """What the board shows of a tree; what makes it invalid is told in sentences."""
    try:
        cycle = run_tree(rows, plugin)
    except (ValueError, ManifestError) as error:
        return {"sentences": [str(error)], **{panel["key"]: [] for panel in PANELS[1:]}}
    broken, names = list(cycle.session.warnings), {row.name for row in rows}
    state = {"sentences": broken, "levels": [], "order": [], "admission": list(_sums(cycle)), "gangs": list(_ends(cycle))}
    if not broken:
        state["levels"] = [row | {"queue": indented(row)} for row in levels(cycle) if row["queue"] in names]
        state["order"] = [row | {"shares_on_the_way_down": " › ".join(f"{name} {share:.3g}" for name, share in row["way"])}
                          for row in order(cycle, cycle.record.shares)]
    return state


def _sums(cycle: Cycle) -> Iterator[dict[str, Any]]:
    for row in admission(cycle):
        parts = "{minimum:.6g} + {allocated:.6g} + {inqueue:.6g} − {elastic:.6g} = {sum:.6g}".format(**row)
        yield row | {"gang": _short(row["job"]), SUM: parts}


def _ends(cycle: Cycle) -> Iterator[dict[str, Any]]:
    for row in gangs(cycle):
        yield row | {"gang": _short(row["job"]), "operations": ", ".join(row["operations"])}


class QueueTreeLab(Lab):
    """The editor, a choice of plugin, and the board. Code edits the tree with `queue` and `remove_queue`.

    >>> lab = QueueTreeLab()
    >>> [row["queue"] for row in lab.state["order"]]
    ['web', 'batch', 'eval', 'train']
    >>> lab.queue("prod", deserved=4).state["order"][0]["queue"]
    'eval'
    """

    def __init__(self, rows: list[QueueRow] | None = None):
        self.editor = QueueTreeEditor(START if rows is None else rows)
        plugin = ipywidgets.Dropdown(options=list(PLUGINS), description="Plugin", layout={"width": "26em"})
        again = ipywidgets.Button(description="start again", tooltip="the tree as it was at first")
        again.on_click(lambda _: self.reset())
        super().__init__({"tree": self.editor, "plugin": plugin}, self._state, PANELS,
                         ipywidgets.VBox([ipywidgets.HBox([plugin, again]), self.editor]))

    @staticmethod
    def _state(values: Values) -> dict[str, Any]:
        return board_state([QueueRow(**row) for row in values["tree"]], values["plugin"])

    def queue(self, name: str, **words: Any) -> QueueTreeLab:
        """Change a queue, or add one; the board repaints once."""
        self.editor.change(name, **words)
        return self

    def remove_queue(self, name: str) -> QueueTreeLab:
        self.editor.remove(name)
        return self


def queue_tree_lab(rows: list[QueueRow] | None = None) -> QueueTreeLab:
    """The lab of the queue tree, with the tree of the lesson or with another one."""
    return QueueTreeLab(rows)


def _short(key: str) -> str:
    return key.removeprefix("default/")
