"""The nouns of the scheduler: objects, quantities, resources, tasks, jobs, nodes, queues.

Names that other packages use most are exported here; import others from their module.

>>> from volcano_lab.api import Resource
>>> Resource.from_list({"cpu": "2"}).milli_cpu
2000.0
"""

from .durations import parse_duration
from .fairness import dominant_share, real_capability
from .fit_error import UNRESOLVABLE, UNSCHEDULABLE, FitError, FitErrors, Status, unresolvable
from .formatting import amount_text, in_units, quantity_text
from .hyper_node import HyperNodeInfo
from .job import JobInfo
from .node import NodeError, NodeInfo, NodeList
from .node_table import Memo, RowFormula, RowMemo
from .queue import ROOT_QUEUE, QueueInfo
from .resource import CPU, EMPTY, MEMORY, MIN_RESOURCE, PODS, ZERO, Resource, total
from .selector import EVERYTHING, Selector, label_selector
from .snapshot import ClusterInfo
from .status import (
    ALLOCATED_STATUSES,
    BINDING,
    BOUND,
    FAILED,
    PENDING,
    PIPELINED,
    RELEASING,
    RUNNING,
    SUCCEEDED,
)
from .storage import ATTACHABLE, CLAIM, Storage, claims_of
from .sub_job import SubJobInfo
from .task import GROUP_NAME, TASK_SPEC, TaskInfo

__all__ = ["ALLOCATED_STATUSES", "ATTACHABLE", "BINDING", "BOUND", "CLAIM", "CPU", "EMPTY",
           "EVERYTHING", "FAILED", "GROUP_NAME", "MEMORY", "MIN_RESOURCE", "PENDING", "PIPELINED",
           "PODS", "RELEASING", "ROOT_QUEUE", "RUNNING", "SUCCEEDED", "TASK_SPEC", "UNRESOLVABLE",
           "UNSCHEDULABLE", "ZERO", "ClusterInfo", "FitError", "FitErrors", "HyperNodeInfo",
           "JobInfo", "Memo", "NodeError", "NodeInfo", "NodeList", "QueueInfo", "Resource",
           "RowFormula", "RowMemo", "Selector", "Status", "Storage", "SubJobInfo", "TaskInfo",
           "amount_text", "claims_of", "dominant_share", "in_units", "label_selector",
           "parse_duration", "quantity_text", "real_capability", "total", "unresolvable"]
