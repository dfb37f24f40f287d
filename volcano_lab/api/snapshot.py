"""A session's copy of the cluster as of the cache.

Volcano: pkg/scheduler/api/cluster_info.go
"""

from typing import Any

from attrs import Factory, define

from volcano_lab.api.hyper_node import HyperNodesView
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.objects import Pod, PodDisruptionBudget, ResourceQuota
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.storage import Storage

OF_JOBS = frozenset({"left_out.no_queue", "left_out.no_pod_group"})
"""The reasons for which a job is left out of a snapshot."""


@define(slots=True)
class ClusterInfo:
    """Jobs, nodes and queues by ascending key; `node_list` has the same nodes in the order in which
    they were added.

    `left_out` has a message for each object that is not in the snapshot, with the reason.
    `namespaces` maps names to labels. `pod_views` has what plugins computed of a pod, beside it by
    its `id`, and passes it on to later snapshots.
    """

    table: NodeTable = Factory(NodeTable)
    nodes: dict[str, NodeInfo] = Factory(dict)
    node_list: list[NodeInfo] = Factory(list)
    jobs: dict[str, JobInfo] = Factory(dict)
    queues: dict[str, QueueInfo] = Factory(dict)
    namespaces: dict[str, dict[str, str]] = Factory(dict)
    resource_quotas: dict[str, list[ResourceQuota]] = Factory(dict)
    pod_disruption_budgets: list[PodDisruptionBudget] = Factory(list)
    storage: Storage = Factory(Storage)
    hyper_nodes: HyperNodesView = Factory(HyperNodesView)
    left_out: list[Any] = Factory(list)
    pod_views: dict[int, tuple[Pod, Any]] = Factory(dict)

    @property
    def jobs_left_out(self) -> list[Any]:
        """The messages about jobs that are not in the snapshot; `name` is the job's uid."""
        return [why for why in self.left_out if getattr(why, "code", "") in OF_JOBS]
