"""The queue tree of lesson 05, two departments of two teams each, and what is to be done in its
lab.
"""

from attrs import define

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.widgets.cluster_lab import ClusterLab, lab

NODES, NODE_CPUS = 5, 4


@define(slots=True)
class QueueRow:
    """A queue as its manifest says it, in CPUs (None: not set), and its jobs: pods of 1 CPU that
    run, and pods of a gang.
    """

    name: str
    parent: str = ""
    deserved: float | None = None
    capability: float | None = None
    guarantee: float | None = None
    runs: int = 0
    gang: int = 0


START = [QueueRow("research", deserved=8, capability=8),
         QueueRow("train", "research", deserved=5, runs=5, gang=3),
         QueueRow("eval", "research", deserved=3, capability=6, runs=1, gang=4),
         QueueRow("prod", deserved=12, guarantee=4),
         QueueRow("web", "prod", deserved=8, runs=4, gang=2), QueueRow("batch", "prod", gang=3)]
"""Two departments of two teams each, on 20 CPUs."""

PLUGINS = {"capacity, with the tree": "  - name: capacity\n    enableHierarchy: true\n",
           "capacity, admitting as v1.11.0 did": "  - name: capacity\n    enableHierarchy: true\n  "
                                                 "  arguments:\n      lab.v1-11-enqueue: true\n",
           "capacity, without the tree": "  - name: capacity\n",
           "proportion (no tree; weight counts)": "  - name: proportion\n"}
"""What shares between the queues: its name in the lab -> its lines in the configuration."""

TREE = next(iter(PLUGINS))


def tree_conf(plugin: str = TREE) -> str:
    """The configuration of a scheduler that shares in one of the ways of `PLUGINS`."""
    return f'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n{PLUGINS[plugin]}'


def tree_cluster(rows: list[QueueRow]) -> Cluster:
    """Five nodes of four CPUs, the queues, and their jobs.

    >>> [row["queue"] for row in tree_cluster(START).run(tree_conf()).queues()]
    ['batch', 'default', 'eval', 'prod', 'research', 'root', 'train', 'web']
    """
    cluster = nodes(range(NODES), cpu=NODE_CPUS)
    free = [f"node-{number}" for number in range(NODES) for _ in range(NODE_CPUS)]
    for row in rows:
        cluster.queue(row.name, parent=row.parent or None, deserved=row.deserved,
                      capability=row.capability, guarantee=row.guarantee)
        if row.runs:
            taken, free = free[:row.runs], free[row.runs:]
            running = {node: taken.count(node) for node in taken}
            cluster.job(f"{row.name}-work", queue=row.name, pods=row.runs, min_member=1, cpu=1,
                        running=running)
        if row.gang:
            cluster.job(f"{row.name}-gang", queue=row.name, pods=row.gang, cpu=1)
    return cluster


TASKS = tasks("05", {
    "elastic pods": lambda values, facts: facts.jobs["web-gang"]["fate"] == "discarded",
    "admit train-gang": lambda values, facts: (
        facts.jobs["train-gang"]["fate"] != "not admitted" and values["conf"] == TREE)})


def queue_tree_lab() -> ClusterLab:
    """Open the lab: a tree of queues, and a choice of plugin.

    >>> queue_tree_lab().facts.jobs["train-gang"]["fate"]
    'not admitted'
    """
    return lab(tree_cluster(START), confs={name: tree_conf(name) for name in PLUGINS},
               title="A tree of queues on 20 CPUs", tasks=TASKS)
