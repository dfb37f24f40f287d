"""pdb: evictions respect PodDisruptionBudgets.

As in Volcano, pods without any label are never victims while this plugin is on, and each call
starts from the disruptions that the budgets allowed when the session opened: victims of earlier
calls are not subtracted.

Volcano: pkg/scheduler/plugins/pdb/pdb.go
"""

from collections.abc import Sequence

from volcano_lab.api import Selector, TaskInfo, label_selector
from volcano_lab.api.objects import PodDisruptionBudget
from volcano_lab.framework import PERMIT, Plugin, Session, TasksAndVote


def selecting(ssn: Session) -> list[tuple[PodDisruptionBudget, Selector]]:
    """Return the budgets that select pods, each with its selector."""
    compiled = [(budget, label_selector(budget.spec.selector))
                for budget in ssn.snapshot.pod_disruption_budgets]
    return [(budget, selector) for budget, selector in compiled
            if selector.requirements and selector.is_valid()]


class Pdb(Plugin):
    """Selects tasks, in order, that may be evicted within all their budgets."""

    name = "pdb"

    def on_session_open(self, ssn: Session) -> None:
        self.budgets = selecting(ssn)

    def victim_tasks(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        allowed = [budget.status.disruptions_allowed for budget, _ in self.budgets]
        victims = []
        for task in tasks:
            if not task.pod.metadata.labels:
                continue
            within = True
            for number, (budget, selector) in enumerate(self.budgets):
                if (budget.namespace == task.namespace
                        and task.name not in budget.status.disrupted_pods
                        and selector.matches(task.pod.metadata.labels)):
                    allowed[
                        number] -= 1  # subtracted even where another budget protects the pod
                    within = within and allowed[number] >= 0
            if within:
                victims.append(task)
        return victims

    def preemptable(self, evictor: TaskInfo, evictees: Sequence[TaskInfo]) -> TasksAndVote:
        return self.victim_tasks(evictees), PERMIT

    reclaimable = preemptable
