"""The nouns of the scheduler: objects, quantities, resources, tasks, jobs, nodes, queues.

What other rooms need most is imported from here; the rest has its module.

>>> from volcano_lab.api import Resource
>>> Resource.from_list({"cpu": "2"}).milli_cpu
2000.0
"""

from volcano_lab.api.fairness import real_capability
from volcano_lab.api.fit_error import FitError, FitErrors, unresolvable
from volcano_lab.api.formatting import amount_text, in_units, quantity_text
from volcano_lab.api.hyper_node import HyperNodeInfo
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeError, NodeInfo, NodeList
from volcano_lab.api.queue import ROOT_QUEUE, QueueInfo
from volcano_lab.api.resource import CPU, EMPTY, MEMORY, MIN_RESOURCE, PODS, ZERO, Resource, total
from volcano_lab.api.status import ALLOCATED_STATUSES, PENDING, PIPELINED, RELEASING, RUNNING
from volcano_lab.api.storage import Storage
from volcano_lab.api.sub_job import SubJobInfo
from volcano_lab.api.task import TaskInfo

__all__ = ["ALLOCATED_STATUSES", "CPU", "EMPTY", "MEMORY", "MIN_RESOURCE", "PENDING", "PIPELINED",
           "PODS", "RELEASING", "ROOT_QUEUE", "RUNNING", "ZERO", "FitError",
           "FitErrors", "HyperNodeInfo", "JobInfo", "NodeError", "NodeInfo",
           "NodeList", "QueueInfo", "Resource", "Storage", "SubJobInfo", "TaskInfo", "amount_text",
           "in_units", "quantity_text", "real_capability", "total", "unresolvable"]
