"""proportion: flat queues share the cluster by weight; what one does not request is divided among
the others.

`api.fairness.water_fill` computes the rounds.

Volcano: pkg/scheduler/plugins/proportion/proportion.go
"""

from typing import Any

from volcano_lab.api import EMPTY, ZERO, QueueInfo, Resource, TaskInfo
from volcano_lab.api.fairness import Claim, Round, water_fill
from volcano_lab.framework import Session, active_if
from volcano_lab.plugins.queue_shares import QueueShares
from volcano_lab.plugins.queue_tree import QueueAttr


class Proportion(QueueShares):
    """Deserved shares by weight, and the queue order, overused, allocatable, admission and reclaim
    that follow from them. Queues without jobs have no attributes.
    """

    name = "proportion"

    def on_session_open(self, ssn: Session) -> None:
        super().on_session_open(ssn)
        self.tries_preemption = "preempt" in ssn.enabled_actions
        self.open_flat()
        self._share_out()

    def _share_out(self) -> None:
        self.rounds: list[Round] = water_fill(self.total_resource, [
            Claim(name, self.ssn.queues[name].weight, attr.request, attr.real_capability,
                  attr.guarantee) for name, attr in self.queue_opts.items()])
        for name, attr in self.queue_opts.items():
            attr.deserved = self.rounds[-1].deserved[name] if self.rounds else EMPTY
        for number, round_ in enumerate(self.rounds, 1):
            self.ssn.observer.note("deserved_round", plugin=self.name, number=number, round=round_)

    # -- order and limits ------------------------------------------------------------------------

    def queue_order(self, left: QueueInfo, right: QueueInfo) -> float:
        """Compare the queues' own priority first, then their shares, the lower first."""
        by_priority = right.queue.spec.priority - left.queue.spec.priority
        return by_priority or self.queue_opts[left.uid].share - self.queue_opts[right.uid].share

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether a queue has all it deserves, in every dimension."""
        attr = self.queue_opts[queue.uid]
        return attr.deserved.less_equal(attr.allocated, ZERO)

    def allocatable(self, queue: QueueInfo, candidate: TaskInfo) -> bool:
        """Return whether one more task keeps the queue within its deserved share, in the requested
        dimensions.
        """
        attr = self.queue_opts[queue.uid]
        return queue.is_open and attr.allocated.stays_within(attr.deserved, candidate.resreq)

    preemptive = allocatable

    def can_spare(self, task: TaskInfo, reclaimer: TaskInfo, attr: QueueAttr,
                  held: Resource) -> bool:
        """Return whether the queue holds more than it deserves, so that it may lose the task."""
        return not held.less_equal(attr.deserved, ZERO)

    # -- simulated preemption ----------------------------------------------------------------------

    @active_if("tries_preemption")
    def pre_predicate(self, task: TaskInfo) -> None:
        super().pre_predicate(task)

    def simulate_allocatable(self, state: dict[str, Any], queue: QueueInfo,
                             candidate: TaskInfo) -> bool:
        trial: dict[str, Resource] = state.get(self.name, {})
        if queue.uid not in trial:
            return False
        return trial[queue.uid].stays_within(self.queue_opts[queue.uid].deserved, candidate.resreq)
