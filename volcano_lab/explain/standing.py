"""What is known of jobs none of whose pods waits.

Volcano: none
"""

from collections.abc import Iterator
from itertools import chain

from volcano_lab.api import JobInfo, TaskInfo, objects as api
from volcano_lab.explain import beyond, origin, owners
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import TABLES, Cause
from volcano_lab.explain.head import OWN_PARTS, PODS_REFUSED
from volcano_lab.explain.placed import why_runs
from volcano_lab.explain.required import too_near
from volcano_lab.explain.settings import ineffective
from volcano_lab.explain.topology import beyond_tier, spread
from volcano_lab.manifests import SCHEDULER
from volcano_lab.messages import Message, known

STUCK = (*PODS_REFUSED, *OWN_PARTS, "bound", "failed", "other_scheduler")
"""Causes beside which it does not matter why pods are on their nodes."""


def standing_causes(seen: Evidence, job: JobInfo, beside: list[Cause], lacking: list[Cause]
                    ) -> list[Cause]:
    """Return what is known of a job none of whose pods waits, and why they run on their nodes."""
    idle = [*beyond.idle_causes(seen, job)]
    refused = [] if idle else beyond.beyond_causes(seen, job.tasks.values())
    pods = [] if seen.brief else [*job.tasks.values()]
    known = [*idle, *beside, *origin.both_share(seen, beside), *refused, *lacking,
             *_by_others(seen, job)]
    here = why_runs(seen, [] if {*STUCK} & {each.code for each in known} else pods)
    return [*known, *unusual(seen, job, pods), *ineffective(seen, job), *filter(None, [here])]


def unusual(seen: Evidence, job: JobInfo, pods: list[TaskInfo]) -> Iterator[Cause]:
    """Yield what may surprise of pods that are placed: beside others, and in a full queue, beyond a
    tier or in several HyperNodes where this was before the cycle.
    """
    yield from chain(too_near(seen, pods), beyond.crowded(seen, pods))
    if pods and not any(map(seen.is_new, pods)):
        yield from chain(beyond_tier(seen, job), origin.above_limit(seen, job.queue, True),
                         spread(seen, job))


def _by_others(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield that pods of an owner run which another scheduler has placed."""
    owner = owners.owner_of(job)
    yield from elsewhere([task.pod for task in job.tasks.values() if owner and not seen.is_new(
        task) and task.pod.spec.scheduler_name not in ("", SCHEDULER)], owner, run=True)


def elsewhere(pods: list[api.Pod], owner: api.OwnerReference | None = None, run: bool = False
              ) -> Iterator[Cause]:
    """Yield that pods name another scheduler, by which they may `run`, and which `owner` has
    created them.
    """
    if pods:
        names = dict.fromkeys(pod.spec.scheduler_name for pod in pods)
        creator = next((ref.kind for ref in pods[0].metadata.owner_references), "")
        rows = TABLES["owners"]
        by = Message("other_scheduler.owner", kind=owner.kind, name=owner.name,
                     flag=owners.known_of("switch", owner), template=rows["templates"].get(
                         f"{owner.kind} {creator}", Message("other_scheduler.template"))
                     ) if owner else None
        more = f"other_scheduler.{owner.kind}" if owner else ""
        yield Cause.of("other_scheduler", by, Message(more) if known(more) else None, context=run,
                       n=len(pods), pod=pods[0].key, schedulers=[*names], own=SCHEDULER)
