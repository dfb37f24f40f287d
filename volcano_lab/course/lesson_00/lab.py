"""The cluster of the first lesson, three queues that share a hundred CPUs and a gang that starts
whole or not at all, and what is to be done in its lab.
"""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.messages import Message
from volcano_lab.widgets.cluster_lab import ClusterLab, Decided, lab
from volcano_lab.widgets.story import amounts
from volcano_lab.widgets.task import Task

NO_LIMIT = 100
"""A capability of the whole cluster, which is as good as none."""

START = {"a": {"weight": 2, "capability": 50, "guarantee": 10, "demand": 80},
         "b": {"weight": 3, "capability": NO_LIMIT, "guarantee": 0, "demand": 60},
         "c": {"weight": 5, "capability": NO_LIMIT, "guarantee": 20, "demand": 30}}
POD = {"a": 4, "b": 6, "c": 5}
"""CPUs of each queue's pods; those of the gang in a are like a's others."""

RUNNING = {"a": 4, "b": 3, "c": 3}
"""Pods of each queue's plain work that run when the cycle begins: 16, 18 and 15 CPUs."""

MACHINE = "machine"
GANG = "default/a-gang"
GANG_MINIMUM = f"job/{GANG}.minAvailable"


def fair_share_cluster(gang_size: int = 4, gang_minimum: int = 3,
                       **queues: dict[str, int]) -> Cluster:
    """The cluster of the first lesson: one machine of a hundred CPUs, three queues, and a gang in
    queue a.

    Of each queue what is not given stays as in the lesson. The gang is part of what queue a asks
    for.

    >>> from volcano_lab import tables
    >>> tables.queues(fair_share_cluster().run())["deserved"].tolist()
    [28, 42, 30]
    """
    cluster = Cluster().node(MACHINE, cpu=100)
    for name, start in START.items():
        said = start | queues.get(name, {})
        limit: dict[str, int] | int = {} if said["capability"] == NO_LIMIT else said["capability"]
        cluster.queue(name, weight=said["weight"], capability=limit, guarantee=said["guarantee"])
        gang = gang_size if name == "a" else 0
        if gang:
            cluster.job("a-gang", queue=name, pods=gang, min_member=gang_minimum, cpu=POD[name])
        pods = max(said["demand"] // POD[name] - gang, RUNNING[name])
        cluster.job(f"{name}-work", queue=name, pods=pods, min_member=1, cpu=POD[name],
                    running={MACHINE: RUNNING[name]})
    return cluster


def weights_lab() -> ClusterLab:
    """Open the first toy: three weights, and what each queue deserves.

    >>> weights_lab().set(**{"queue/a.weight": 2}).facts.of("deserved")
    {'a': 50, 'b': 25, 'c': 25}
    """
    return lab(cluster_of("00", "weights"), moves=("weight",), title="Three weights, 100 CPUs",
               says=[amounts("deserves", lambda facts: facts.of("deserved"), "CPUs")],
               without=("nodes", "shares", "lanes"),
               opening="Pods come whole: **a** deserves 35 and holds eight of 4 CPUs, which is 32.",
               nothing="No queue deserves more or less.",
               tasks=[Task("twice as much", "Let a deserve twice as much as b.", lambda _, facts: (
                           facts.of("deserved")["a"] == 2 * facts.of("deserved")["b"]),
                           show={"queue/a.weight": 2}),
                      Task("more weight for c", "Give c weight 9. Does it deserve more?",
                           show={"queue/c.weight": 9}, answer="c asks for 30 and deserves 30. "
                           "No weight gives a queue more than it asks for.")])


TASKS = tasks("00", {
    "demand": lambda values, facts: sum(facts.of("deserved").values()) < 99.9,
    "a gang too large": lambda values, facts: values[GANG_MINIMUM] > values[f"job/{GANG}.pods"]})


def _opening(facts: Decided) -> str:
    first, second = facts.cycle.rounds[0], facts.of("deserved")
    got = {step.queue: step.after.milli_cpu / 1000 for step in first.steps}
    return str(Message("fair.opening", second=second["a"], got=got["a"],
                       x=first.remaining.milli_cpu / 1000))


def fair_share_lab() -> ClusterLab:
    """Open the lab: weight, capability, guarantee and demand of each queue, and the gang.

    >>> fair_share_lab().set(**{"queue/a.weight": 7}).facts.of("deserved")
    {'a': 49, 'b': 21, 'c': 30}
    """
    return lab(fair_share_cluster(), title="Fair share: 100 CPUs, three queues, one gang",
               tasks=TASKS, opening=_opening)
