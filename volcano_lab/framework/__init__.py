"""The session, its extension points and their configuration.

What plugins, actions and other rooms need most is imported from here; the rest has its module.
"""

from volcano_lab.framework.action import Action, action_names
from volcano_lab.framework.calls import spoken
from volcano_lab.framework.config.arguments import AS_IT_IS, Arguments
from volcano_lab.framework.config.conf import ConfError, SchedulerConfiguration, load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.one_sentence import Misuse, NoSuch, OneSentence, listed, one_line
from volcano_lab.framework.placement.arrays import ByRow, node_arrays
from volcano_lab.framework.plugin import Event, Plugin, TasksAndVote, active_if
from volcano_lab.framework.points.rules import ABSTAIN, PERMIT, REJECT, ExtensionPoint
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.session import BindContext, Session
from volcano_lab.framework.statement import Operation, Statement, StatementError, unplace
from volcano_lab.framework.topology import CLUSTER_TOP

__all__ = ["ABSTAIN", "AS_IT_IS", "CLUSTER_TOP", "PERMIT", "REJECT", "Action", "Arguments",
           "BindContext", "ByRow", "ConfError", "Event", "ExtensionPoint", "Misuse", "NoSuch",
           "Observer", "OneSentence", "Operation", "Plugin", "PriorityQueue",
           "SchedulerConfiguration", "Session", "Statement", "StatementError", "TasksAndVote",
           "action_names", "active_if", "listed", "load_conf", "node_arrays", "one_line", "spoken",
           "unplace"]
