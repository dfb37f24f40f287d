"""A session's decisions as lines of the log, at Volcano's levels: a reader of the observer's hooks.

Attached to a cycle only where V(3) or more is wanted, so that it costs nothing otherwise. It sees
what the hooks show: answers of plugins are logged as the extension points combine them, node by
node only at V(5).
"""

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.api import FitErrors, NodeInfo, QueueInfo, Resource, TaskInfo
from volcano_lab.framework import CLUSTER_TOP, ExtensionPoint, Observer, Session, joined
from volcano_lab.framework.statement import Operation, Statement
from volcano_lab.messages import ENGLISH, log, paragraph, speaking
from volcano_lab.trace import KINDS, Record, queue_attributes, sentence
from volcano_lab.trace.plain import plain

FIRST_LEVEL = 3
LIMITS = {"overused": True, "allocatable": False, "preemptive": False}
"""Points about what a queue may have, and the answer that comes with the numbers behind it."""

ACCOUNTS = ("idle", "used", "releasing", "pipelined")
PARTS = ("deserved", "real_capability", "allocated", "request", "elastic", "inqueue")


def watched(observer: Observer | None) -> Observer | None:
    """The observer, and the log beside it where its facts are wanted."""
    return joined(observer, SessionLog()) if log.enabled(FIRST_LEVEL) else observer


class SessionLog(Observer):
    """Writes each fact as it happens.

    >>> from volcano_lab.cache import Cache
    >>> from volcano_lab.scheduler import run_once
    >>> log.verbosity(3)
    >>> ssn = run_once(Cache())
    V3 snapshot: jobs 0, queues 0, nodes 0; objects left out 0
    V3 session session-1 is open: jobs 0, queues 0, nodes 0
    V3 session session-1 is closed
    >>> log.verbosity(0)
    """

    ssn: Session | None = None
    _action = ""

    def opened(self, ssn: Session) -> None:
        self.ssn = ssn
        log.v(3, "session %s is open: jobs %d, queues %d, nodes %d", ssn.uid, len(ssn.jobs),
              len(ssn.queues), len(ssn.nodes))
        for each in ssn.snapshot.left_out:
            log.v(4, "left out: %s", paragraph([each], ENGLISH))
        if log.enabled(4):
            self._tell_amounts(ssn)

    def _tell_amounts(self, ssn: Session) -> None:
        log.v(4, "the cluster offers %s", ssn.total_resource)
        tree = ssn.snapshot.hyper_nodes
        for tier, names in tree.set_by_tier.items():
            for name in sorted(names - {CLUSTER_TOP}):
                nodes = sorted(tree.real_nodes_set.get(name, ()))
                log.v(4, "hyper node %s, tier %s: %s", name, tier, ", ".join(nodes) or "no nodes")
        for uid, job in ssn.jobs.items():
            log.v(4, "job %s has priority %d (%s)", uid, job.priority,
                  job.pod_group.spec.priority_class_name or "no class")
        for name, attr in queue_attributes(ssn).items():
            parts = ", ".join(f"{part.replace('_', ' ')} {getattr(attr, part)}" for part in PARTS)
            log.v(4, "queue %s: %s, share %.2f", name, parts, attr.share)
        for name, node in ssn.nodes.items():
            log.v(5, "node %s: %s", name,
                  ", ".join(f"{account} {getattr(node, account)}" for account in ACCOUNTS))

    def closed(self, ssn: Session) -> None:
        log.v(3, "session %s is closed", ssn.uid)

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        log.v(4, "cycle %s took %.1f ms", ssn.uid, times["cycle"] * 1000)

    def action_started(self, ssn: Session, action: str) -> None:
        self._action = action
        log.v(5, "action %s begins", action)
        if action == "allocate" and "enqueue" in ssn.enabled_actions and log.enabled(4):
            for uid, job in ssn.jobs.items():
                if job.is_pending():
                    log.v(4, "job %s is passed over: nobody has let it in", uid)

    def action_ended(self, ssn: Session, action: str) -> None:
        log.v(5, "action %s ends", action)

    def note(self, kind: str, /, **facts: Any) -> None:
        number = KINDS[kind].level if kind in KINDS else 5
        if number and log.enabled(number):
            values = tuple(map(plain, facts.values()))
            record = Record(0, self._action, kind, tuple(facts), values)
            with speaking(ENGLISH):  # log lines are English, as Volcano's are
                log.v(number, "%s", sentence(record))

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        number = point.log_level
        if not number or not log.enabled(number):
            return ask

        def told(*args: Any) -> Any:
            answer = ask(*args)
            why = self._numbers(
                *args) if point.name in LIMITS and bool(answer) == LIMITS[point.name] else ""
            log.v(number, "%s(%s): %s%s", point.name, ", ".join(map(_text, args)), _text(answer),
                  why)
            return answer

        return told

    def _numbers(self, queue: QueueInfo, task: TaskInfo | None = None) -> str:
        """The numbers behind a queue that has too much already."""
        attr = None if self.ssn is None else queue_attributes(self.ssn).get(queue.name)
        if attr is None:
            return ""
        asked = "" if task is None else f", the task asks for {task.resreq}"
        limit = "" if task is None else f", real capability {attr.real_capability}"
        return (f" (deserved {attr.deserved}{limit}, allocated {attr.allocated}, "
                f"share {attr.share:.2f}{asked})")

    def chose(self, task: TaskInfo, nodes: Sequence[NodeInfo], node: NodeInfo | None,
              errors: FitErrors) -> None:
        if node is None:
            log.v(3, "no node for %s: %s", task.key, errors)
        else:
            log.v(5, "node %s of %d is the best for %s", node.name, len(nodes), task.key)

    def did(self, statement: Statement | None, operation: Operation) -> None:
        task = operation.task
        log.v(3, "%s %s on %s", operation.name, task.key, task.node_name)
        node = None if self.ssn is None else self.ssn.nodes.get(task.node_name)
        if node is not None and log.enabled(3):
            log.v(3, "node %s now: idle %s, used %s, releasing %s", node.name, node.idle, node.used,
                  node.releasing)

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        log.v(3, "discard of %s %s", operation.name, operation.task.key)

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        log.v(3, "commit of %s %s on %s", operation.name, operation.task.key,
              operation.task.node_name)


def _text(fact: Any) -> str:
    """A fact for a line: names of objects, short lists."""
    if isinstance(fact, Resource):
        return str(fact)
    if isinstance(fact, list | tuple):
        return "[" + ", ".join(_text(item)
                               for item in fact[:8]) + (", ..." if len(fact) > 8 else "") + "]"
    name = getattr(fact, "key", None) or getattr(fact, "uid", None) or getattr(fact, "name", None)
    return name if isinstance(name, str) and name else str(fact)
