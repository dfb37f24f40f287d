"""Lesson 10: more clusters with HyperNodes: a gang that runs in part, sub-groups, a soft gang, and
members by pattern.
"""

from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.questions import CLUSTERS, part
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.tracing import DataFrame, frame, logged
from volcano_lab.course.lesson_10 import cluster as rooms
from volcano_lab.framework import CLUSTER_TOP, Session, load_conf
from volcano_lab.messages import gettext
from volcano_lab.scheduler import traced
from volcano_lab.trace import TraceReader
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import pictures

PLUGIN = "network-topology-aware"


def growing_cluster(highest_tier: int = 1, node_2: int = 3) -> Cluster:
    """Two pods of the gang train run on node-1 already, two wait; others hold `node_2` CPUs of
    node-2.

    >>> growing_cluster().run(rooms.CONF).committed
    [['allocate', 'default/train-2', 'node-1'], ['allocate', 'default/train-3', 'node-2']]
    """
    return rooms.topology_cluster(highest_tier=highest_tier, taken={"node-2": node_2}).job(
        "train", running={"node-1": 2})


# -- sub-groups

PARTS: dict[str, str] = part("10", CLUSTERS)["parts"]
"""Manifests of a gang in sub-groups, and of one of its pods, with places to fill in."""


def sub_group_policy(size: int, tier: int) -> dict[str, Any]:
    """Pods with the same value of the label `part` are a sub-group of `size` pods, and must lie
    together up to a tier.
    """
    return {"name": "parts", "subGroupSize": size, "matchLabelKeys": ["part"],
            "networkTopology": {"mode": "hard", "highestTierAllowed": tier}}


def sub_group_cluster(groups: int = 2, size: int = 4, job_tier: int = 2, tier: int = 1) -> Cluster:
    """The gang train in sub-groups of `size` pods of 1 CPU; the job up to `job_tier`, each
    sub-group up to `tier`.

    >>> sub_group_cluster(groups=2, size=2).run(rooms.CONF).committed[2:]
    [['allocate', 'default/train-1-0', 'node-4'], ['allocate', 'default/train-1-1', 'node-4']]
    """
    group, pod = PARTS["group"], PARTS["pod"]
    cluster = rooms.topology_cluster().remove("train").add(group.format(
        pods=groups * size, policy=sub_group_policy(size, tier), tier=job_tier))
    return cluster.add(*(pod.format(group=part, number=number)
                         for part in range(groups) for number in range(size)))


# -- soft


def points_by_rack(trace: TraceReader, *pods: str) -> DataFrame:
    """The plugin's points for a node of each rack, at the time when a node was sought for each of
    the pods.
    """
    scores = {pod: trace.scores(f"default/{pod}") for pod in pods}
    rows = [{"rack": rack, **{pod: scores[pod][nodes[0]][PLUGIN] for pod in pods}}
            for rack, nodes in rooms.RACKS.items()]
    return frame(rows, "rack").round(3)


def normal_cluster() -> Cluster:
    """The job normal, one pod of 1 CPU without a topology, waits in place of train.

    >>> normal_cluster().run(rooms.CONF).committed
    [['allocate', 'default/normal-0', 'node-7']]
    """
    return rooms.topology_cluster().remove("train").job("normal", pods=1, cpu=1)


# -- members

SELECTORS: dict[str, str] = part("10", CLUSTERS)["members"]["selectors"]
"""HyperNode -> how its member is named."""
LOOSE: str = part("10", CLUSTERS)["members"]["loose"]
"""A HyperNode whose members are named by a pattern."""


def members_cluster() -> Cluster:
    """Four nodes gpu-1 to gpu-4, of which the last two are at switch s2; three HyperNodes that name
    members in three ways.
    """
    cluster = cluster_of("10", "members")
    for name, selector in SELECTORS.items():
        cluster.add("{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: "
                    f"{{name: {name}}}, spec: "
                    f"{{tier: 1, members: [{{type: Node, selector: {{{selector}}}}}]}}}}")
    return cluster


def loose_cluster(pattern: str) -> Cluster:
    """The same with a fifth node, gpu-10, and a HyperNode *loose* whose members a pattern names.

    >>> hyper_tree(loose_cluster("gpu-1")).loc["loose", "nodes"]
    'gpu-1, gpu-10'
    """
    return members_cluster().node("gpu-10", cpu=4).add(LOOSE.format(pattern))


def claimed_twice(mode: str = "soft") -> tuple[int, str]:
    """(How many pods of train get a place, what the log says) where a third room names rack-1, too.

    >>> claimed_twice()
    (0, 'HyperNode "rack-1" is a member of "room-3", but already of "room-1".')
    """
    cluster = rooms.topology_cluster(mode=mode).add(rooms.hyper_node("room-3", 2, "rack-1"))
    cycles: list[Cycle] = []
    said = logged(lambda: cycles.append(cluster.run(rooms.CONF)), 1, "ERROR ")
    return len(cycles[0].committed), said[0].removeprefix("ERROR ") if said else ""


def hyper_tree(cluster: Cluster) -> DataFrame:
    """The HyperNodes as the scheduler sees them: tier, the one above, and the nodes in it.

    >>> hyper_tree(members_cluster()).loc["by-label", "nodes"]
    'gpu-3, gpu-4'
    """
    ssn = Session(cluster.cache(), load_conf(rooms.CONF))
    shown = {CLUSTER_TOP: rooms.TOP, "": ""}
    rows = [{"hyper node": shown.get(info.name, info.name), "network tier": info.tier,
             "above it": shown.get(info.parent, info.parent),
             "nodes": ", ".join(node.name for node in ssn.topology.nodes.get(info.name, []))}
            for info in sorted(ssn.topology.hyper_nodes.values(),
                               key=lambda info: (info.tier, info.name))]
    return frame(rows, "hyper node")


def tree_of_hyper_nodes() -> pictures.Picture:
    """Draw the lesson's tree: nodes in racks in rooms, what others hold, what is free in each.

    >>> tree_of_hyper_nodes().data["text"]
    'Whole cluster (tier 3): 19 CPUs free.'
    """
    trace, ssn = traced(rooms.topology_cluster(pods=9).objects(), rooms.CONF)
    before = rooms.dry_runs(trace, ssn)
    free = {row["hyper_node"]: row["free"] for row in rooms.hyper_nodes(trace)}
    for group in before["groups"]:
        group |= {"note": gettext("{free} CPUs free", free=free[group["name"]]), "state": ""}
    before["text"] = gettext("Whole cluster (tier 3): {free} CPUs free.", free=free[rooms.TOP])
    return pictures.cluster("The tree of HyperNodes, and what others hold", before, unit="CPUs",
                            cell=1)
