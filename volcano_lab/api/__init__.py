"""The nouns of the scheduler: objects, quantities, resources, tasks, jobs, nodes, queues.

What other rooms need most is imported from here; the rest has its module.

>>> from volcano_lab.api import Resource
>>> Resource.from_list({"cpu": "2"}).milli_cpu
2000.0
"""

from volcano_lab.api.fit_error import FitErrors
from volcano_lab.api.formatting import amount_text, in_units, quantity_text
from volcano_lab.api.job import JobInfo
from volcano_lab.api.node import NodeInfo, NodeList
from volcano_lab.api.queue import ROOT_QUEUE, QueueInfo
from volcano_lab.api.resource import EMPTY, MIN_RESOURCE, ZERO, Resource
from volcano_lab.api.status import IllegalTransition
from volcano_lab.api.sub_job import SubJobInfo
from volcano_lab.api.task import TaskInfo

__all__ = ["EMPTY", "MIN_RESOURCE", "ROOT_QUEUE", "ZERO", "FitErrors", "IllegalTransition",
           "JobInfo", "NodeInfo", "NodeList", "QueueInfo", "Resource", "SubJobInfo", "TaskInfo",
           "amount_text", "in_units", "quantity_text"]
