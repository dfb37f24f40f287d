"""What a session works on: a copy of the cluster as the cache knew it.

Volcano: pkg/scheduler/api/cluster_info.go
"""

from typing import Any

from attrs import Factory, define

from volcano_lab.api.hyper_node import HyperNodesView
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.objects import PodDisruptionBudget, ResourceQuota
from volcano_lab.api.queue import QueueInfo
from volcano_lab.api.storage import Storage


@define(slots=True)
class ClusterInfo:
    """Jobs, nodes and queues by ascending key; `node_list` holds the same nodes in the order they
    were announced.

    `left_out` has a message about each object that the snapshot leaves out, with the reason.
    `namespaces` maps names to labels.
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
