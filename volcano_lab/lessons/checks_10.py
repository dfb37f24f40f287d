"""The checks of lesson 10: network topology."""

from __future__ import annotations

from volcano_lab.cluster import Cluster
from volcano_lab.lessons.checking import check
from volcano_lab.lessons.verdict import Verdict, try_again, well_done
from volcano_lab.widgets.topology_cluster import CONF, JOB, topology_cluster


@check(takes=int, right=[12, "12"], wrong=[(4, "dry run"), (8, "taken back"), (24, "commit")])
def allocations_in_all(answer: int) -> Verdict:
    """Three racks fit a gang of 4 pods. How many times is a pod of it allocated on paper in the three dry runs together?"""
    if answer == 12:
        return well_done("3 dry runs of 4 pods. All 12 are taken back; then 4 are recovered and committed.")
    hints = {4: "4 is one dry run. How many are there?", 8: "All three are tried before any is chosen, and taken back.",
             24: "Count only the dry runs, not what is undone, and no commit."}
    return try_again(hints.get(answer, "Each of the three dry runs places the whole gang."))


@check(takes=str, right=["copy", "the copy"], wrong=[("original", "(none)"), ("both", "(none)")],
       wanted='"copy" or "original"')
def which_can_be_recovered(answer: str) -> Verdict:
    """After the discard, which one still knows on which node the pod should go: the original or the copy?"""
    if answer.casefold() in ("copy", "the copy"):
        return well_done("Discard changes the pod that the original points to. The copy has a pod of its own.")
    return try_again("Look at the rows after discarding: where is the node (none)?")


@check(takes=int, right=[2], wrong=[(1, "6"), (3, "lower")])
def lowest_tier_for_seven(answer: int) -> Verdict:
    """What must highestTierAllowed be, at least, so that a gang of 7 pods of 1 CPU finds room?"""
    if answer == 2:
        return well_done("A room has more than 7 CPUs free; no rack has. A switch between two racks is then allowed.")
    return try_again("The emptiest rack has 6 CPUs free." if answer < 2 else "It works, but something lower is enough.")


def _emptied() -> Cluster:
    return topology_cluster(pods=7, taken={"node-5": 1})


@check(takes=Cluster, wanted="a cluster", right=lambda: [_emptied(), topology_cluster(pods=7, taken={"node-1": 0})],
       wrong=lambda: [(topology_cluster(pods=7), "no rack"), (topology_cluster(pods=4), "7 pods"),
                      (topology_cluster(pods=7, highest_tier=2), "tier 1"),
                      (topology_cluster(pods=7, mode="soft"), "tier 1"),
                      (topology_cluster(pods=7, taken=dict.fromkeys(("node-1", "node-2", "node-7"), 0)), "one node")])
def room_for_seven(answer: Cluster) -> Verdict:
    """A cluster where 7 pods lie in one rack (hard, tier 1), and on one node only something else changed than the gang."""
    cycle = answer.run(CONF)
    job = cycle.session.jobs[JOB]
    topology = job.pod_group.spec.network_topology
    if len(job.tasks) != 7 or job.min_available != 7:
        return try_again("The gang must stay one of 7 pods that needs all 7.")
    if topology is None or topology.mode != "hard" or topology.highest_tier_allowed != 1:
        return try_again("The gang's topology must stay hard with tier 1. Change what others hold.")
    before, after = _held(topology_cluster(pods=7)), _held(answer)
    changed = [node for node in before | after if before.get(node, 0) != after.get(node, 0)]
    if len(changed) > 1:
        return try_again(f"Change one node only; you changed {', '.join(sorted(changed))}.")
    if not [step for step in cycle.committed if step[1].startswith(f"{JOB}-")]:
        return try_again("There is no rack with 7 CPUs free. Which one is nearest to it, and who holds the rest?")
    return well_done(f"The gang lies in {job.allocated_hyper_node}: now it has room for all 7.")


def _held(cluster: Cluster) -> dict[str, float]:
    return {name: node.used.milli_cpu for name, node in cluster.cache().snapshot().nodes.items()}
