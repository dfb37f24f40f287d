"""Releases of Volcano: which of them decide otherwise than the lab (the table `earlier` of
`tables.toml`), and known defects of v1.14.0 (the table `defects`): the causes by which an issue
shows, and the release that mends it. Symptom and workaround are the message `known_defect.ISSUE`.

Volcano: none
"""

import re
from collections.abc import Iterator
from typing import Any

from volcano_lab.api import ROOT_QUEUE, JobInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, added, over, part
from volcano_lab.explain.pages import TABLES
from volcano_lab.messages import Message
from volcano_lab.trace.plain import amounts

ROWS, DEFECTS = TABLES["earlier"], TABLES["defects"]


def number(release: str) -> tuple[int, ...]:
    """Return a release as numbers; one later than any where it is not known.

    >>> number("v1.9.0-rc.1"), number("1.10"), number("latest")
    ((1, 9, 0), (1, 10, 0), (99,))
    """
    found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", release)
    return tuple(int(each or 0) for each in found.groups()) if found else (99,)


def differs(release: str, row: str) -> bool:
    """Return whether a release decides otherwise than the lab in what a row is about: from `since`
    to before `to`, the first release with the change.

    >>> [differs(release, "above") for release in ("v1.10.2", "v1.11.0", "v1.12.9", "v1.13.0", "")]
    [False, True, True, False, False]
    """
    first = number(ROWS[row].get("since", "v0.0"))
    return first <= number(release) < number(ROWS[row]["to"])


def defect_causes(seen: Evidence, job: JobInfo, causes: list[Cause]) -> Iterator[Cause]:
    """Yield the known defects that a job's causes show, each once."""
    for issue in dict.fromkeys(filter(None, (_shown(seen, job, cause) for cause in causes))):
        mended = DEFECTS[issue].get("mended")
        yield Cause("known_defect", [
            Message("known_defect", issue=issue), Message(f"known_defect.{issue}"),
            Message("known_defect.mended", release=mended) if mended else None],
            {"issue": int(issue)}, [], True)


def _shown(seen: Evidence, job: JobInfo, cause: Cause) -> str:
    """The first issue that a cause shows, "" without."""
    return next((issue for issue, known in DEFECTS.items() if cause.code in known["cause"].split()
                 and known.get("facts", {}).items() <= cause.numbers.items()
                 and ("owed" not in known or _owed(seen, job, known["owed"], cause.numbers))), "")


def _owed(seen: Evidence, job: JobInfo, field: str, numbers: dict[str, Any]) -> bool:
    """Whether a full root refuses a job what its queue deserves, or is guaranteed, and reclaim
    waits for the admission.
    """
    queue = seen.trace.start["queues"][job.queue]
    limit = over(part(queue[field], numbers["short_of"]), {})
    sums = added(part(queue["allocated"], limit), part(amounts(job.get_min_resources()), limit))
    more = any(over(part(other["allocated"], limit), other["deserved"])
               for name in {each.queue for each in seen.ssn.jobs.values()} - {job.queue}
               for other in [seen.trace.start["queues"][name]] if seen.ssn.queues[name].reclaimable)
    return bool(limit) and more and job.is_pending() and numbers["level"] == ROOT_QUEUE and (
        "reclaim" in seen.ssn.enabled_actions and not over(sums, limit))
