"""The session's HyperNodes: the network topology of the nodes, and the HyperNodes that hold the
placed tasks of jobs with a topology.

The tree does not change during the session.

Volcano: pkg/scheduler/framework/session.go, pkg/scheduler/util/scheduler_helper.go
"""

from collections.abc import Callable, Mapping

from volcano_lab.api import ALLOCATED_STATUSES, JobInfo, NodeInfo, NodeList, SubJobInfo
from volcano_lab.api.hyper_node import HyperNodeInfo, HyperNodesView

CLUSTER_TOP = "<cluster-top-hypernode>"
"""The virtual HyperNode above all others: it holds every node."""


class Topology:
    """The tree of HyperNodes under one virtual top that holds every node.

    Attributes:
        hyper_nodes: Every HyperNode by name, the top too.
        by_tier: Names by tier; `tiers` are the tiers, ascending.
        tier_by_name: Tier name -> tier.
        ready: Whether the tree matches the objects; otherwise jobs with a topology wait.
        nodes: HyperNode -> its nodes, by name; the top's in the session's order. `node_names` has
            their names.
        lowest: Node -> the HyperNode of the lowest tier that holds it, the first by name.
    """

    def __init__(self, view: HyperNodesView, nodes: Mapping[str, NodeInfo], node_list: NodeList):
        self.hyper_nodes, self.by_tier, self.ready = view.hyper_nodes, view.set_by_tier, view.ready
        self.tier_by_name = view.hyper_nodes.tier_by_name()
        self.nodes = {name: NodeList(nodes[node] for node in sorted(names) if node in nodes)
                      for name, names in view.real_nodes_set.items()}
        self._add_cluster_top(node_list)
        self.tiers = sorted(self.by_tier)
        self.node_names = {name: {node.name for node in held} for name, held in self.nodes.items()}
        self.lowest: dict[str, str] = {}
        for name in sorted(self.by_tier[self.tiers[0]]):
            for node in self.nodes.get(name, ()):
                self.lowest.setdefault(node.name, name)

    def _add_cluster_top(self, node_list: NodeList) -> None:
        """Add the top one tier above the highest; without HyperNodes, in tier 1."""
        tier = max([1, *(tier + 1 for tier in self.by_tier)])
        top = HyperNodeInfo.named(CLUSTER_TOP, tier)
        for info in self.hyper_nodes.values():
            if not info.parent:
                info.parent = CLUSTER_TOP
                top.children.add(info.name)
        self.hyper_nodes[CLUSTER_TOP] = top
        self.by_tier[tier] = {CLUSTER_TOP}
        self.nodes[CLUSTER_TOP] = node_list
        self.hyper_nodes.freeze()

    def around(self, left: str, right: str) -> str:
        """Return the lowest HyperNode that holds both; of "" and a name, the name; "" for none."""
        return self.hyper_nodes.lowest_common_ancestor(left, right)

    # -- where jobs are placed already -------------------------------------------------------------

    def restore(self, job: JobInfo, changed: Callable[[str], None]) -> None:
        """Update a job's allocated HyperNodes; `changed` is called with the job's uid.

        One that was deleted, or that holds no task of the job any more, is cleared. An unknown one
        is found by the nodes of the tasks: a sub-job's is the smallest that holds all of them, a
        job's the lowest that holds those of its sub-jobs.
        """
        holders: list[JobInfo | SubJobInfo] = [job, *job.sub_jobs.values()]
        for holder in holders:
            name = holder.allocated_hyper_node
            if name and (name not in self.hyper_nodes or not holder.allocated_task_num()):
                holder.allocated_hyper_node = ""
                changed(job.uid)
        if job.contains_network_topology():
            self._find(job, changed)

    def _find(self, job: JobInfo, changed: Callable[[str], None]) -> None:
        sub_jobs = [sub_job for _, sub_job in sorted(job.sub_jobs.items())]
        lacking = [sub_job for sub_job in sub_jobs
                   if sub_job.with_network_topology() and not sub_job.allocated_hyper_node]
        for sub_job in lacking:
            sub_job.allocated_hyper_node = self._smallest_around(sub_job)
        if any(sub_job.allocated_hyper_node for sub_job in lacking):
            changed(job.uid)
        elif job.allocated_hyper_node:
            return
        around = ""
        for name in (s.allocated_hyper_node for s in sub_jobs if s.allocated_hyper_node):
            around = self.around(around, name)
            if not around:
                break
        if job.allocated_hyper_node != around:
            job.allocated_hyper_node = around
            changed(job.uid)

    def _smallest_around(self, sub_job: SubJobInfo) -> str:
        """Return the HyperNode with the fewest nodes that holds all nodes of a sub-job's allocated
        tasks, "" without any.
        """
        nodes = {task.node_name for status in ALLOCATED_STATUSES
                 for task in sub_job.in_status(status).values() if task.node_name}
        around = [name for name, held in self.node_names.items() if nodes <= held] if nodes else []
        return min(around, key=lambda name: (len(self.node_names[name]), name), default="")
