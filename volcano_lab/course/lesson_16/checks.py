"""The last boss: two rooms, a tree of queues, three jobs that wait, and a trap in the repair."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import repaired
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.questions import HINTS, part
from volcano_lab.course.kit.scenery import conf_text
from volcano_lab.course.kit.verdict import well_done
from volcano_lab.course.lesson_10.cluster import hyper_node
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
    cluster = Cluster()
    for node in range(1, 9):
        cluster.node(f"node-{node}", cpu=8, gpu=2 if node < 5 else None)
    for rack in range(1, 5):
        cluster.add(hyper_node(f"rack-{rack}", 1, f"node-{2 * rack - 1}", f"node-{2 * rack}"))
    for room in (1, 2):
        cluster.add(hyper_node(f"room-{room}", 2, f"rack-{2 * room - 1}", f"rack-{2 * room}"))
    for queue, parent, cpus, gpus, most in (
            ("prod", None, 24, 2, 12), ("web", "prod", 12, 2, None), ("billing", "prod", 12, 0, 12),
            ("research", None, 40, 6, None), ("vision", "research", 12, 4, None),
            ("speech", "research", 28, 2, None)):
        cluster.queue(queue, parent=parent, deserved={"cpu": cpus, "nvidia.com/gpu": gpus},
                      capability=most)
    cluster.job("shop", queue="web", pods=2, cpu=3, gpu=1, min_member=1, running={"node-1": 2})
    cluster.job("crawl", queue="vision", pods=6, cpu=3, gpu=1, min_member=1,
                running={"node-2": 2, "node-3": 2, "node-4": 2})
    cluster.job("invoice", queue="billing", pods=8, cpu=1)
    cluster.job("train", queue="speech", pods=4, cpu=6,
                network_topology={"mode": "hard", "highestTierAllowed": 1})
    return cluster.job("eval", queue="speech", pods=2, cpu=3, gpu=1)


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
