"""The queue tree of lesson 05, two departments of two teams each, and what is to be done in its
lab.
"""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.widgets.cluster_lab import ClusterLab, lab

PLUGINS = {"capacity, with the tree": "  - name: capacity\n    enableHierarchy: true\n",
           "capacity, admitting as v1.11.0 did": "  - name: capacity\n    enableHierarchy: true\n  "
                                                 "  arguments:\n      lab.v1-11-enqueue: true\n",
           "capacity, without the tree": "  - name: capacity\n",
           "proportion (no tree; weight counts)": "  - name: proportion\n"}
"""What shares between the queues: its name in the lab -> its lines in the configuration."""


def tree_conf(plugin: str = "capacity, with the tree") -> str:
    """The configuration of a scheduler that shares in one of the ways of `PLUGINS`."""
    return f'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n{PLUGINS[plugin]}'


def tree_cluster() -> Cluster:
    """Five nodes of four CPUs, two departments of two teams each, and their jobs.

    >>> [row["queue"] for row in tree_cluster().run(tree_conf()).queues()]
    ['batch', 'default', 'eval', 'prod', 'research', 'root', 'train', 'web']
    """
    return cluster_of("05", "tree")


TASKS = tasks("05", {
    "elastic pods": lambda values, facts: facts.jobs["web-gang"]["fate"] == "discarded"})


def queue_tree_lab() -> ClusterLab:
    """Open the lab: a tree of queues, and a choice of plugin.

    >>> queue_tree_lab().facts.jobs["train-gang"]["fate"]
    'not admitted'
    """
    return lab(tree_cluster(), confs={name: tree_conf(name) for name in PLUGINS},
               title="A tree of queues on 20 CPUs", tasks=TASKS)
