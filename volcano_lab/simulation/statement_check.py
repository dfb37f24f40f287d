"""A discarded operation leaves nothing: checked at the moment it is taken back."""

from __future__ import annotations

from volcano_lab.api.status import PENDING, RUNNING
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.statement import Evict, Operation, Statement
from volcano_lab.simulation.invariants import InvariantBroken, job_problems, node_problems


class StatementCheck(Observer):
    """Raises `InvariantBroken` where an operation that was taken back can still be seen."""

    def undid(self, statement: Statement | None, operation: Operation) -> None:
        if statement is None:
            return
        ssn, task = statement.ssn, operation.task
        node = ssn.nodes.get(getattr(operation, "node_name", task.node_name))
        problems = list(job_problems(ssn.jobs[task.job])) if task.job in ssn.jobs else []
        problems += node_problems(node) if node is not None else []
        if task.status != (RUNNING if isinstance(operation, Evict) else PENDING):
            problems.append(f"task {task.key} is {task.status} after {operation.name} was discarded")
        if not isinstance(operation, Evict) and (task.node_name or (node is not None and task.key in node.tasks)):
            problems.append(f"task {task.key} is still on node {node.name if node else task.node_name}")
        if problems:
            raise InvariantBroken("; ".join(problems))
