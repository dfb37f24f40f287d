"""The checks of lesson 10: network topology."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from volcano_lab.api.go_pattern import compile_pattern
from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodeMap
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_10.cluster import CONF, JOB, RACKS, topology_cluster
from volcano_lab.course.lesson_10.scene import hyper_tree, loose_cluster
from volcano_lab.messages import gettext
from volcano_lab.plugins.network_topology_aware.gradients import gradients

Row = dict[str, Any]


def _held(cluster: Cluster) -> dict[str, float]:
    return {name: node.used.milli_cpu for name, node in cluster.cache().snapshot().nodes.items()}


# -- a gang that runs in part, sub-groups, soft


@check(takes=Cluster, wanted="a cluster, such as sub_group_cluster(groups=…, size=…)")
def twelve_in_parts(answer: Cluster) -> Mistakes:
    """A gang of 12 pods in sub-groups that starts, while each sub-group is placed in one rack
    (hard, tier 1).
    """
    cycle = answer.run(CONF)
    job = cycle.session.jobs.get(JOB)
    if job is None or not job.pod_group.spec.sub_group_policy:
        return try_again("no_sub_groups")
    yield len(job.tasks) != 12, try_again("twelve_pods", len=len(job.tasks))
    topology = job.pod_group.spec.sub_group_policy[0].network_topology
    yield topology is None or (topology.mode, topology.highest_tier_allowed) != ("hard", 1), (
        "hard_tier_one")
    size = 12 // len(job.sub_jobs)
    yield not cycle.committed and size > 6, try_again("no_rack", size=size)
    yield not cycle.committed, "no_room"
    racks = {task.node_name: rack for rack, nodes in RACKS.items() for task in job.tasks.values()
             if task.node_name in nodes}
    return well_done("sub_groups", len=len(job.sub_jobs), size=size, len2=len(set(racks.values())))


# -- make


@check(takes=Cluster, wanted="a cluster")
def room_for_seven(answer: Cluster) -> Mistakes:
    """A cluster in which the gang of 7 pods is placed in one rack (hard, tier 1), and others hold
    something else than before on one node only.
    """
    cycle = answer.run(CONF)
    job = cycle.session.jobs[JOB]
    topology = job.pod_group.spec.network_topology
    yield len(job.tasks) != 7 or job.min_available != 7, "gang_of_seven"
    yield topology is None or topology.mode != "hard" or topology.highest_tier_allowed != 1, (
        "topology_stays")
    before, after = _held(topology_cluster(pods=7)), _held(answer)
    changed = [node for node in before | after if before.get(node, 0) != after.get(node, 0)]
    yield len(changed) > 1, try_again("one_node_only", nodes=sorted(changed))
    yield not [step for step in cycle.committed if step[1].startswith(f"{JOB}-")], (
        "no_rack_with_seven")
    return well_done("room_for_all", allocated_hyper_node=job.allocated_hyper_node)


def trees() -> Iterator[tuple[list[Row], float, int]]:
    """(HyperNodes with name, tier and free CPUs; what a gang asks for; the highest tier), always
    the same ones by chance.
    """
    yield [{"name": "rack-1", "tier": 1, "free": 6}, {"name": "rack-2", "tier": 1, "free": 4},
           {"name": "room-1", "tier": 2, "free": 10}], 5, 2
    yield [{"name": "rack-1", "tier": 1, "free": 6}, {"name": "room-1", "tier": 2, "free": 6}], 6, 1
    chance = random.Random(10)
    for _ in range(40):
        leaves: list[Row] = [{"name": f"leaf-{number}", "tier": 1, "free": chance.randint(0, 8)}
                  for number in range(chance.randint(2, 6))]
        halves = [leaves[: len(leaves) // 2], leaves[len(leaves) // 2:]]
        spines = [{"name": f"spine-{number}", "tier": 2, "free": sum(leaf["free"] for leaf in half)}
                  for number, half in enumerate(halves)]
        top = {"name": "top", "tier": 3, "free": sum(leaf["free"] for leaf in leaves)}
        rows = [*leaves, *spines, top]
        chance.shuffle(rows)
        yield rows, chance.randint(1, 14), chance.randint(1, 3)


def _as_volcano(rows: list[Row], asks: float, highest: int) -> list[list[str]]:
    """What the plugin tries in a tree of such HyperNodes."""
    tree = HyperNodeMap(
        {row["name"]: HyperNodeInfo.named(row["name"], row["tier"]) for row in rows})
    tree["(top)"] = HyperNodeInfo.named("(top)", 99)
    tree["(top)"].children = {row["name"] for row in rows}
    free = {row["name"]: row["free"] for row in rows}
    tried = gradients(tree, tree["(top)"], highest, "", lambda name: free[name] >= asks)
    return [sorted(info.name for info in tier) for tier in tried]


@check(takes=callable, wanted="a function of rows, asks and highest")
def tiers_to_try(answer: Callable[[list[Row], float, int], Any]) -> Mistakes:
    """Write tiers_to_try(rows, asks, highest): a list of names for each tier that has any, in the
    order in which they are tried."""
    for tried, (rows, asks, highest) in enumerate(trees(), 1):
        got, wanted = answer([dict(row) for row in rows], asks, highest), _as_volcano(
            rows, asks, highest)
        if got is None and tried == 1:
            return None
        lists = isinstance(got, list) and all(isinstance(tier, list) for tier in got)
        yield not lists, try_again("tiers_no_lists", got=repr(got), wanted=str(wanted))
        yield not all(isinstance(name, str) for tier in got for name in tier), try_again(
            "tiers_no_names", got=repr(got), wanted=str(wanted))
        found = [sorted(tier) for tier in got]
        if found == wanted:
            continue
        free = {row["name"]: row["free"] for row in rows}
        tier_of = {row["name"]: row["tier"] for row in rows}
        names = [name for tier in found for name in tier]
        if any(free.get(name, 0) < asks for name in names):
            hint = "without_room"
        elif any(tier_of[name] > highest for name in names):
            hint = "tier_too_high"
        elif sorted(found) == sorted(wanted):
            hint = "lowest_first"
        elif any(free[name] == asks for tier in wanted for name in tier if name not in names):
            hint = "just_enough"
        elif any(tier_of[name] == highest for tier in wanted for name in tier if name not in names):
            hint = "highest_is_allowed"
        else:
            hint = "a_list_for_each_tier"
        shown = [gettext("{name} (tier {tier}, {free} free)", **row) for row in rows]
        return try_again("tiers_otherwise", shown=shown, asks=asks, highest=highest,
                         found=str(found), wanted=str(wanted), hint=hint)
    return well_done("tiers", tried=tried)


MEMBERS = {"gpu-3", "gpu-4", "gpu-10"}


@check(takes=str, wanted='a pattern, such as "gpu-[12]"')
def pattern(answer: str) -> Verdict:
    """Write a pattern that takes gpu-3, gpu-4 and gpu-10, and no other of the five nodes."""
    compile_pattern(answer)  # says what is wrong with it
    found = set(hyper_tree(loose_cluster(answer)).loc["loose", "nodes"].split(", ")) - {""}
    if found == MEMBERS:
        return well_done("pattern")
    node = min(found - MEMBERS or MEMBERS - found)
    hint = "missing" if node in MEMBERS else "not_in_it"
    return try_again("takes", hint, nodes=sorted(found) or gettext("no node"), node=node)
