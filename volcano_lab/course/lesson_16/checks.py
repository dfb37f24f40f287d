"""The last boss: two rooms, a tree of queues, three jobs that wait, and a trap in the repair."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import repaired
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.questions import HINTS, part
from volcano_lab.course.kit.scenery import cluster_of, conf_text
from volcano_lab.course.kit.verdict import well_done
from volcano_lab.trace.views.cycle import Cycle

CONF = conf_text("enqueue, allocate, backfill", "priority, gang, conformance",
                 "predicates, capacity, nodeorder, network-topology-aware",
                 switches={"capacity": "enableHierarchy: true"})

NEEDS = {"shop": 2, "invoice": 8, "train": 4, "eval": 2}
"""Job -> its pods that have to be at work; those of eval may be promised a node."""


def after_the_cleanup() -> Cluster:
    """Eight nodes of 8 CPUs in two rooms, GPUs in the first; shop and crawl hold all GPUs.

    >>> after_the_cleanup().run(CONF).committed
    []
    """
    return cluster_of("16", "after_the_cleanup")


def _in_one_room(cycle: Cycle) -> bool:
    job = cycle.session.jobs["default/train"]
    rooms = {int(task.node_name.removeprefix("node-")) > 4 for task in job.tasks.values()}
    topology, reader = job.pod_group.spec.network_topology, "network-topology-aware"
    return (len(rooms) == 1 and topology is not None and topology.mode == "hard"
            and reader in cycle.session.plugins)


@check(takes=lambda answer: isinstance(answer, tuple) and len(answer) == 2
       and isinstance(answer[0], Cluster) and isinstance(answer[1], str),
       wanted="(a cluster, the text of a configuration)")
def all_served(answer: tuple[Cluster, str]) -> Mistakes:
    """Repair cluster and configuration: invoice and train start, eval gets its GPUs, and shop
    loses no pod. Nodes and pods stay as they are; train stays in one room.
    """
    cluster, conf = answer
    yield cluster.objects() == after_the_cleanup().objects() and conf == CONF, "as_it_was"
    cycle = yield from repaired(
        after_the_cleanup(), cluster, conf, NEEDS, part("16", HINTS), ("eval",))
    yield not _in_one_room(cycle), "not_in_one_room"
    return well_done("on_call")
