"""A session's decisions as lines of the log, at Volcano's levels: a reader of the observer's hooks.

Attached to a cycle only where V(3) or more is wanted, so that it costs nothing otherwise. It sees what the hooks show:
answers of plugins are logged as the extension points combine them, node by node only at V(5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from volcano_lab import log
from volcano_lab.api.resource import Resource
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.observers import joined

if TYPE_CHECKING:
    from volcano_lab.framework.extension_point import ExtensionPoint
    from volcano_lab.framework.session import Session
    from volcano_lab.framework.statement import Operation, Statement

FIRST_LEVEL = 3
LEVELS = {"queue": 3, "job": 3, "hyper_node_for_job": 3, "hyper_node_for_sub_job": 3, "victims": 4, "deserved_round": 4}
"""Kind of a note -> its level; other notes are comparisons, at V(5)."""

POINTS = {"overused": 3, "allocatable": 3, "preemptive": 3, "job_enqueueable": 4, "preemptable": 4, "reclaimable": 4,
          "job_valid": 4, "job_ready": 5, "job_pipelined": 5}
"""Extension points whose answers are logged, and at which level."""


def watched(observer: Observer | None) -> Observer | None:
    """The observer, and the log beside it where its facts are wanted."""
    return joined(observer, SessionLog()) if log.enabled(FIRST_LEVEL) else observer


class SessionLog(Observer):
    """Writes each fact as it happens.

    >>> from volcano_lab.cache import Cache
    >>> from volcano_lab.scheduler import run_once
    >>> log.verbosity(3)
    >>> ssn = run_once(Cache())
    V3 snapshot: 0 jobs, 0 queues, 0 nodes; left out are 0 objects
    V3 session session-1 is open: 0 jobs, 0 queues, 0 nodes
    V3 session session-1 is closed
    >>> log.verbosity(0)
    """

    def opened(self, ssn: Session) -> None:
        log.v(3, "session %s is open: %d jobs, %d queues, %d nodes", ssn.uid, len(ssn.jobs), len(ssn.queues), len(ssn.nodes))
        for sentence in ssn.snapshot.left_out:
            log.v(4, "left out: %s", sentence)

    def closed(self, ssn: Session) -> None:
        log.v(3, "session %s is closed", ssn.uid)

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        log.v(4, "cycle %s took %.1f ms", ssn.uid, times["cycle"] * 1000)

    def action_started(self, ssn: Session, action: str) -> None:
        log.v(5, "action %s begins", action)

    def action_ended(self, ssn: Session, action: str) -> None:
        log.v(5, "action %s ends", action)

    def note(self, kind: str, /, **facts: Any) -> None:
        number = LEVELS.get(kind, 5)
        if log.enabled(number):
            log.v(number, "%s: %s", kind.replace("_", " "), ", ".join(f"{name} {_text(fact)}" for name, fact in facts.items()))

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        number = POINTS.get(point.name)
        if number is None or not log.enabled(number):
            return ask

        def told(*args: Any) -> Any:
            answer = ask(*args)
            log.v(number, "%s(%s): %s", point.name, ", ".join(map(_text, args)), _text(answer))
            return answer

        return told

    def did(self, statement: Statement | None, operation: Operation) -> None:
        log.v(3, "%s %s on %s", operation.name, operation.task.key, operation.task.node_name)

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        log.v(3, "discard of %s %s", operation.name, operation.task.key)

    def committed(self, statement: Statement | None, operation: Operation) -> None:
        log.v(3, "commit of %s %s on %s", operation.name, operation.task.key, operation.task.node_name)


def _text(fact: Any) -> str:
    """A fact for a line: names of objects, short lists."""
    if isinstance(fact, Resource):
        return str(fact)
    if isinstance(fact, list | tuple):
        return "[" + ", ".join(_text(item) for item in fact[:8]) + (", ..." if len(fact) > 8 else "") + "]"
    name = getattr(fact, "key", None) or getattr(fact, "uid", None) or getattr(fact, "name", None)
    return name if isinstance(name, str) and name else str(fact)
