"""The session, its extension points and their configuration.

Names that plugins, actions and other packages use most are exported here; import others from their
module.
"""

from .action import Action, action_names
from .collector import collector_paused
from .config.arguments import Arguments, effect
from .config.conf import SchedulerConfiguration, load_conf
from .config.yaml import ConfError
from .observer import Observer, joined
from .placement.arrays import ByRow, node_arrays
from .plugin import Event, Plugin, TasksAndVote, active_if
from .points.rules import ABSTAIN, PERMIT, REJECT, ExtensionPoint, NoScore
from .priority_queue import PriorityQueue
from .session import BindContext, Session
from .statement import Operation, Statement, StatementError, unplace
from .topology import CLUSTER_TOP

__all__ = ["ABSTAIN", "CLUSTER_TOP", "PERMIT", "REJECT", "Action", "Arguments", "BindContext",
           "ByRow", "ConfError", "Event", "ExtensionPoint", "NoScore",
           "Observer", "Operation", "Plugin", "PriorityQueue",
           "SchedulerConfiguration", "Session", "Statement", "StatementError", "TasksAndVote",
           "action_names", "active_if", "collector_paused", "effect", "joined",
           "load_conf", "node_arrays", "unplace"]
