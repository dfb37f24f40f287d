"""The job whose answer is to be turned, in its cluster after a cycle.

Volcano: none
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from volcano_lab.api import JobInfo
from volcano_lab.explain import slips
from volcano_lab.explain.options import World
from volcano_lab.framework import Session

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
"""The field of an affinity that a cycle keeps to."""
Numbers = dict[str, Any]
"""The numbers of a cause."""


class Case:
    """One job in a cluster, after a cycle: its name in a change, its `pods` that wait, and what
    pods have once they are created again (`renews`).
    """

    def __init__(self, world: World, ssn: Session, job: JobInfo):
        self.world, self.ssn, self.job, self.name = world, ssn, job, world.job(job.uid)
        self.pods = world.waiting(job.uid)
        self.renews: set[str] = set()  # what pods have once they are created again

    @cached_property
    def labels(self) -> dict[str, set[str]]:
        """The values that nodes have of each label."""
        return slips.values_by_label(self.world.nodes.values())
