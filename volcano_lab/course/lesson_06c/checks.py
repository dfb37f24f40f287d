"""The boss after lesson 06: a cluster in which four jobs wait, each for a reason of its own."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.boss import repaired
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import well_done

NEEDS = {"report": 9, "train": 3, "infer": 1, "backup": 1}
"""Job -> the pods that its team wants to see running, at least."""

HINTS = {"backup":
         "It has no phase at all: no action ever saw it. What does the copy leave out? (01)",
         "infer":
         "It asks for a GPU, and two are idle. What does its queue's capability say of them? (02)",
         "report":
         "Its queue has no capability of its own. What else limits what it may hold? (04)",
         "train": "Compare where its pods find room, node by node, with the minimum. (06)"}


def standstill() -> Cluster:
    """Three nodes of 16 CPUs, on which only web runs; four jobs wait.

    >>> [row["job"] for row in standstill().run().jobs() if row["placed"]]
    ['default/web']
    """
    cluster = Cluster().node("n1", cpu=16).node("n2", cpu=16).node("n3", cpu=16, gpu=2)
    cluster.queue("prod", weight=3).queue("research", weight=2).queue("reserve", guarantee=30)
    cluster.queue("serving", capability={"cpu": 4, "nvidia.com/gpu": 0})
    cluster.job("web", queue="prod", pods=12, cpu=1, running={"n1": 4, "n2": 4, "n3": 4})
    cluster.job("report", queue="prod", pods=9, cpu=1)
    cluster.job("train", queue="research", pods=4, cpu="6500m")
    cluster.job("infer", queue="serving", pods=1, cpu="500m", gpu=1)
    return cluster.job("backup", queue="backups", pods=1, cpu="500m")


@check(takes=Cluster, wanted="a cluster, such as broken.copy().queue(...)")
def all_at_work(answer: Cluster) -> Mistakes:
    """Get all four jobs to work in one cycle, each with as many pods as its team needs. Nodes and
    pods stay as they are, and web keeps its pods.
    """
    yield answer.objects() == standstill().objects(), (
        "This is the cluster as it was. Begin with the job that is easiest.")
    yield from repaired(standstill(), answer, None, NEEDS, HINTS)
    return well_done("Four jobs, four reasons: a queue that is not there, a GPU limit of zero, a "
                     "guarantee that nobody uses, and a gang larger than what its nodes can hold.")
