"""The session's HyperNodes: which nodes lie together in the network, and where jobs with a topology are already.

Answers to the HyperNode part of `openSession` in `pkg/scheduler/framework/session.go` and to `GetRealNodesByHyperNode`
and `FindHyperNodeForNode` of `pkg/scheduler/util/scheduler_helper.go`. After `attach` a session has

- `hyper_nodes`: the tree, a `HyperNodeMap`, under one virtual top that holds every node;
- `hyper_nodes_set_by_tier`, `hyper_nodes_tiers` (ascending) and `hyper_node_tier_name_map`;
- `real_nodes_list`, `real_nodes_set`: the nodes of each HyperNode, in the order of their names, and those names;
- `hyper_nodes_ready`: whether the tree is as the objects say; otherwise jobs with a topology wait.

The relations don't change while the session lasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from volcano_lab.api.hyper_node import HyperNodeInfo
from volcano_lab.api.status import ALLOCATED_STATUSES

if TYPE_CHECKING:
    from volcano_lab.api.cluster_info import ClusterInfo
    from volcano_lab.api.job import JobInfo
    from volcano_lab.api.sub_job import SubJobInfo
    from volcano_lab.framework.session import Session

CLUSTER_TOP = "<cluster-top-hypernode>"
"""The virtual HyperNode above all others: it holds every node."""


def attach(ssn: Session, snapshot: ClusterInfo) -> None:
    """Give the session its HyperNodes, with the virtual top above them."""
    view = snapshot.hyper_nodes
    ssn.hyper_nodes = view.hyper_nodes
    ssn.hyper_nodes_set_by_tier = view.set_by_tier
    ssn.hyper_node_tier_name_map = view.hyper_nodes.tier_by_name()
    ssn.hyper_nodes_ready = view.ready
    ssn.real_nodes_list = {
        name: [ssn.nodes[node] for node in sorted(nodes) if node in ssn.nodes] for name, nodes in view.real_nodes_set.items()
    }
    _add_cluster_top(ssn)
    ssn.hyper_nodes_tiers = sorted(ssn.hyper_nodes_set_by_tier)
    ssn.real_nodes_set = {name: {node.name for node in nodes} for name, nodes in ssn.real_nodes_list.items()}
    ssn.lowest_hyper_nodes = _lowest_hyper_nodes(ssn)
    if ssn.hyper_nodes_ready:
        for job in ssn.jobs.values():
            _remove_invalid(ssn, job)
            _recover(ssn, job)


def lowest_hyper_node_of_node(ssn: Session, node: str) -> str:
    """The HyperNode of the lowest tier that holds a node, the first by name; "" where none does."""
    return ssn.lowest_hyper_nodes.get(node, "")


def _add_cluster_top(ssn: Session) -> None:
    """The top stands one tier above the highest; without HyperNodes it is the only one, in tier 1."""
    tier = max([1, *(tier + 1 for tier in ssn.hyper_nodes_set_by_tier)])
    top = HyperNodeInfo.named(CLUSTER_TOP, tier)
    for info in ssn.hyper_nodes.values():
        if not info.parent:
            info.parent = CLUSTER_TOP
            top.children.add(info.name)
    ssn.hyper_nodes[CLUSTER_TOP] = top
    ssn.hyper_nodes_set_by_tier[tier] = {CLUSTER_TOP}
    ssn.real_nodes_list[CLUSTER_TOP] = ssn.node_list
    ssn.hyper_nodes.freeze()


def _lowest_hyper_nodes(ssn: Session) -> dict[str, str]:
    """Node -> HyperNode of the lowest tier there is in the cluster."""
    lowest: dict[str, str] = {}
    for name in sorted(ssn.hyper_nodes_set_by_tier[ssn.hyper_nodes_tiers[0]]):
        for node in ssn.real_nodes_list.get(name, ()):
            lowest.setdefault(node.name, name)
    return lowest


def _remove_invalid(ssn: Session, job: JobInfo) -> None:
    """Forget an allocated HyperNode that is gone, or that nothing of the job or sub-job stands in any more."""
    for holder in (job, *job.sub_jobs.values()):
        name = holder.allocated_hyper_node
        if name and (name not in ssn.hyper_nodes or not holder.allocated_task_num()):
            holder.allocated_hyper_node = ""
            ssn.mark_job_dirty(job.uid)


def _recover(ssn: Session, job: JobInfo) -> None:
    """Where it isn't known, find the HyperNodes in which a job and its sub-jobs stand by the nodes of their tasks.

    A sub-job's is the smallest one that holds all its nodes, a job's the lowest that holds those of its sub-jobs.
    """
    if not job.contains_network_topology():
        return
    found_any = False
    for _, sub_job in sorted(job.sub_jobs.items()):
        if sub_job.with_network_topology() and not sub_job.allocated_hyper_node:
            sub_job.allocated_hyper_node = _smallest_around(ssn, sub_job)
            found_any = found_any or bool(sub_job.allocated_hyper_node)
    if found_any:
        ssn.mark_job_dirty(job.uid)
    if job.allocated_hyper_node and not found_any:
        return
    around = ""
    for _, sub_job in sorted(job.sub_jobs.items()):
        if sub_job.allocated_hyper_node:
            around = ssn.hyper_nodes.lowest_common_ancestor(around, sub_job.allocated_hyper_node)
            if not around:
                break
    if job.allocated_hyper_node != around:
        job.allocated_hyper_node = around
        ssn.mark_job_dirty(job.uid)


def _smallest_around(ssn: Session, sub_job: SubJobInfo) -> str:
    """The HyperNode with the fewest nodes that holds all nodes of a sub-job's allocated tasks, "" without any."""
    nodes = {task.node_name for status in ALLOCATED_STATUSES for task in sub_job.in_status(status).values() if task.node_name}
    around = [name for name, held in ssn.real_nodes_set.items() if nodes <= held] if nodes else []
    return min(around, key=lambda name: (len(ssn.real_nodes_set[name]), name), default="")
