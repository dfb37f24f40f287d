"""Lesson 07: the tree of queues, its configurations, and how many pods of each have a place."""

from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import conf_text
from volcano_lab.trace.views.cycle import Cycle

CPUS = 12
PARENTS = {"sci": "", "eng": "", "dev": "eng", "prod": "eng"}
START = {"sci_weight": 1, "eng_weight": 1, "dev_weight": 1, "prod_weight": 1, "sci_pods": 12,
         "dev_pods": 12, "prod_pods": 12, "prod_gi": 0}
FLAT = conf_text("enqueue, allocate", "priority, gang", "drf, predicates, proportion, nodeorder")
HIERARCHICAL = conf_text("enqueue, allocate", "priority, gang", "drf, predicates, nodeorder",
                         switches={"drf": "enableHierarchy: true"})
AT_REST = HIERARCHICAL.replace("enqueue, allocate", "backfill")
WITHOUT_DRF = FLAT.replace("  - name: drf\n", "")


def queue_text(name: str, path: str, weights: str) -> str:
    """The manifest of a queue with a place in the tree.

    >>> print(queue_text("sci", "root/sci", "1/2").splitlines()[5].strip())
    volcano.sh/hierarchy: root/sci
    """
    return (f"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: {name}\n"
            f"  annotations:\n    volcano.sh/hierarchy: {path}\n"
            f'    volcano.sh/hierarchy-weights: "{weights}"\nspec:\n  weight: 1\n')


def tree_cluster(prod_memory: bool = False, running: dict[str, int] | None = None,
                 **values: int) -> Cluster:
    """A node of 12 CPUs and 12Gi; root has sci and eng, eng has dev and prod. Pods ask for 1 CPU.

    With `prod_memory` those of prod ask for 1Gi of memory and nothing else, with `prod_gi` for so
    much memory beside the CPU; `running` are pods of each queue that run already.

    >>> len(tree_cluster(eng_weight=2).run(HIERARCHICAL).committed)
    12
    """
    said = START | values
    cluster = Cluster().node("n1", cpu=CPUS, memory=f"{CPUS}Gi")
    for queue in ("sci", "dev", "prod"):
        way = [*filter(None, [PARENTS[queue]]), queue]
        cluster.add(queue_text(queue, "/".join(["root", *way]), "/".join(
            ["1", *(str(said[f"{name}_weight"]) for name in way)])))
        asked: dict[str, Any] = (
            {"memory": "1Gi"} if prod_memory and queue == "prod" else {"cpu": 1})
        if queue == "prod" and said["prod_gi"]:
            asked["memory"] = f"{said['prod_gi']}Gi"
        runs = {"n1": (running or {})[queue]} if running else {}
        cluster.job(f"{queue}-work", queue=queue, pods=said[f"{queue}_pods"], min_member=1,
                    running=runs, **asked)
    return cluster


def placed(cycle: Cycle) -> dict[str, int]:
    """How many pods of each job have a place, by its name without the "-work" of a queue's job.

    >>> placed(tree_cluster(sci_pods=2).run(HIERARCHICAL))["sci"]
    2
    """
    return {row["job"].removeprefix("default/").removesuffix("-work"): row["placed"]
            for row in cycle.jobs()}
