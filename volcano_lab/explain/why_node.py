"""Why a node takes no more pods: what it has left, whose pods are on it, and what keeps those that
wait off it.

Volcano: none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from volcano_lab.api import PENDING, TaskInfo
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause, Explanation, over
from volcano_lab.explain.questions import last_choice, why_not_cause
from volcano_lab.explain.why_job import gap_of, job_causes
from volcano_lab.framework import CLUSTER_TOP
from volcano_lab.messages import Message
from volcano_lab.trace.plain import amounts, grouped

MOST = 200
"""Of how many jobs that wait a pod is compared with the node."""


def why_node(seen: Evidence, name: str) -> Explanation:
    """Explain what a node has left at the end of the cycle, and what keeps waiting pods off it."""
    node = seen.ssn.nodes[name]
    held = Counter(seen.called(task.job) if task.job in seen.ssn.jobs else task.key
                   for task in node.tasks.values())
    total = over(amounts(node.allocatable), {})
    head = Message("node_head", node=name, n=len(node.tasks), total=total, free={
        each: node.idle.get(each) for each in total})
    jobs = Message("node_holds", jobs=[Message("node_holds.job", job=job, pods=Message(
        "pods", n=count)) for job, count in held.most_common()])
    inside = {each.name for known, nodes in seen.ssn.topology.nodes.items() if known != CLUSTER_TOP
              for each in nodes}
    apart = Message("node_outside", n=len(seen.ssn.nodes.keys() - inside - {name}))
    return Explanation(f"node {name}", [head, *[jobs] * bool(held), *[apart] * bool(
        inside and name not in inside)], [*_kept_off(seen, name)])


def _kept_off(seen: Evidence, node: str) -> Iterator[Cause]:
    """Yield each reason why the first waiting pods of jobs are not on a node, the most frequent
    first.
    """
    pods = [job.in_status(PENDING) for job in seen.ssn.jobs.values()]
    first = [next(iter(tasks.values())) for tasks in pods if tasks][:MOST]
    alike = grouped((key, (cause, task)) for task in first
                    for key, cause in [_reason(seen, task, node)])
    for cases in sorted(alike.values(), key=len, reverse=True):
        (cause, _), *more = cases
        also = Message("node_also", n=len(more), jobs=[
            seen.called(other.job) for _, other in more]) if more else None
        yield Cause(cause.code, [*cause.sentences, also], cause.numbers, cause.records)
    if not first:
        yield Cause.of("no_pod_waits")


def _reason(seen: Evidence, task: TaskInfo, node: str) -> tuple[Hashable, Cause]:
    """Return why a pod is not on a node, or that the node could take it, and what its job waits for
    instead; the first part is the same for jobs that share a sentence.
    """
    cause = why_not_cause(seen, task.key, node, last_choice(seen, task.key))
    if cause is not None:
        return cause.code, cause
    job = seen.ssn.jobs[task.job]
    gap = next(filter(None, map(gap_of, job_causes(seen, job))), None)
    alike = (gap.code, job.queue, *gap.facts.get("short", {}).items()) if gap else ()
    return alike, Cause.of("node_fits", pod=task.key, gap=gap and Message(
        "node_fits.gap", gap=gap))
