"""Known defects of Volcano v1.14.0, as data: by what one shows, its issue, what helps, since when
it is mended.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define

from volcano_lab.api import MIN_RESOURCE, ROOT_QUEUE, JobInfo, Resource
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.origin import guarantee_of
from volcano_lab.messages import Message
from volcano_lab.trace import queue_attributes

Shows = Callable[[Evidence, JobInfo, Cause], bool]


@define(slots=True, frozen=True)
class Defect:
    """One `issue`: the cause by which it `shows` (its code, and what must be true besides), and
    since when it is `mended` ("" where no release is known). Symptom and what helps stand in the
    message `known_defect.ISSUE`.
    """

    issue: int
    code: str
    shows: Shows
    mended: str = ""

    @property
    def said(self) -> list[Message]:
        """The issue, its symptom, what helps, and where it is mended."""
        more = [Message("known_defect.mended", release=self.mended)] if self.mended else []
        return [Message("known_defect", issue=self.issue), Message(f"known_defect.{self.issue}"),
                *more]


def _owed(limit_of: Callable[[Evidence, JobInfo], Resource | None]) -> Shows:
    """A root that is full keeps a job out which its queue is owed room for, and reclaim waits."""
    def shows(seen: Evidence, job: JobInfo, cause: Cause) -> bool:
        known, limit = queue_attributes(seen.ssn).get(job.queue), limit_of(seen, job)
        least = job.get_min_resources()
        if known is None or limit is None or cause.numbers.get("level") != ROOT_QUEUE or (
                "reclaim" not in seen.ssn.enabled_actions):
            return False
        named = [name for name in cause.numbers["short_of"] if limit.get(name)]
        return bool(named) and all(known.allocated.get(name) + least.get(name)
                                   <= limit.get(name) + MIN_RESOURCE for name in named)

    return shows


def _deserved(seen: Evidence, job: JobInfo) -> Resource | None:
    known = queue_attributes(seen.ssn).get(job.queue)
    return None if known is None else known.deserved


def _guaranteed(seen: Evidence, job: JobInfo) -> Resource | None:
    return guarantee_of(seen.ssn.queues[job.queue])


def _always(seen: Evidence, job: JobInfo, cause: Cause) -> bool:
    return True


KNOWN = (
    Defect(4817, "ancestor_over_capability", _owed(_guaranteed), "v1.14.4"),
    Defect(4679, "ancestor_over_capability", _owed(_deserved), "v1.14.4"),
    Defect(2976, "never_bound",
           lambda seen, job, cause: cause.numbers.get("against") == "anti_affinity"),
    Defect(4947, "promise_lost", lambda seen, job, cause: cause.numbers.get("action") == "reclaim"),
    Defect(4579, "driver_nowhere", _always),
    Defect(5189, "no_effect", lambda seen, job, cause: "highestTierName" in cause.text, "v1.14.4"))
"""The first one that applies is told of each cause."""


def defect_causes(seen: Evidence, job: JobInfo, causes: list[Cause]) -> Iterator[Cause]:
    """The known defects that a job's causes show, each once."""
    told = set()
    for cause in causes:
        found = next((each for each in KNOWN if each.code == cause.code
                      and each.shows(seen, job, cause)), None)
        if found is not None and found.issue not in told:
            told.add(found.issue)
            yield Cause("known_defect", found.said, {"issue": found.issue}, [], True)
