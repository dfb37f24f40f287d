"""Changes around a promise that is not kept, as pods that should have ended do not.

Volcano: none
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from math import inf
from time import perf_counter

from volcano_lab.api import PIPELINED, JobInfo
from volcano_lab.changes import Change
from volcano_lab.explain import outcome, values
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Rank, World
from volcano_lab.explain.price import costs, placed_before, price
from volcano_lab.explain.remedy import Remedy, placed_on
from volcano_lab.explain.search import LARGER
from volcano_lab.manifests import ManifestError
from volcano_lab.messages import Message
from volcano_lab.trace import amounts, short


def around(seen: Evidence, job: JobInfo, late: Cause, seconds: float = inf, pod: str = ""
           ) -> Iterator[Remedy]:
    """Yield changes with which a job does not wait for pods that should have ended (`overdue`):
    these are gone, unless a finalizer keeps them; its own are nominated to no node; without the
    nodes of these; with more, also of its own such pods. None after `seconds`.
    """
    world, end = World(seen.objects, seen.ssn.conf, seen.called), perf_counter() + seconds
    stuck = [*map(seen.tasks.__getitem__, late.numbers["overdue"])]
    gone = tuple(f"pod/{task.key}" for task in stuck if not task.pod.metadata.finalizers)
    nodes, own = sorted({task.node_name for task in stuck}), [*job.in_status(PIPELINED).values()]
    free = Change(tuple(f"pod/{task.key}.status.nominatedNodeName=null" for task in own
                        if task.pod.status.nominated_node_name))
    more = [each.at(count) for task in own[:1] for count in range(1, LARGER) for each in (
        values.nodes(world, amounts(task.init_resreq), {}, seen.ssn.nodes, {}, {}))]
    for changes in ([Change(removals=gone)] * bool(gone), [free] * len(own), [Change(tuple(
            f"node/{name}.unschedulable=true" for name in nodes))] * len(own),
            [*more, *(free + each for each in more)]):
        tried = (_tried(seen, job, world, nodes, each, end) for each in dict.fromkeys(changes))
        yield from islice(chain.from_iterable(tried), 1)


def _tried(seen: Evidence, job: JobInfo, world: World, left: list[str], change: Change, end: float
           ) -> Iterator[Remedy]:
    """Yield what a change gives and costs; nothing where a pod has no place, or waits for one of
    the nodes that are to be `left`, or where nodes are added in vain.
    """
    with suppress(ManifestError, outcome.TooLate):
        after = outcome.outcome(*world.applied(change), job.uid, seen.ssn.now, end)
        assert after.first is not None
        tasks = [*after.first.jobs[job.uid].tasks.values()]
        used, added = {task.node_name for task in tasks}, after.first.nodes.keys() - seen.ssn.nodes
        if not any(task.status == PIPELINED and task.node_name in left for task in tasks) and (
                "" not in used and (used & added or not added)):
            cost = price(outcome.alone(seen, end), after, placed_before(seen.ssn), job.uid)
            also = [Message("cost.cordoned", nodes=left)] * (".unschedulable=" in str(change))
            also += [Message("gains.created_again")] * ("nominatedNodeName" in str(change))
            gain = placed_on(seen.ssn, tasks, short(seen.called(job.uid)), True, 0)
            yield Remedy((*gain, *also, *costs(seen.called, cost)), change, Rank.OTHERS, world,
                         seen.called(job.uid), len(tasks), cost)
