"""A cycle's log in Volcano's own lines, built from its trace: what guides search for with `grep`.

The lines, their levels and their places in the Go source are interface, as metrics' names are.
Amounts are as in Go: thousandths of a CPU, bytes.

Volcano: pkg/scheduler, calls of klog
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from volcano_lab.framework import Session
from volcano_lab.trace import Record, TraceReader

Line = tuple[int, str, str]
"""Level, place in the Go source, text."""
ROUND = "proportion.go"


def volcano_log(ssn: Session, trace: TraceReader, level: int = 4) -> list[str]:
    r"""Return the lines of a cycle up to V(level), in order; those of plugins need a whole trace.

    >>> from volcano_lab import Cluster, Trace
    >>> cycle = Cluster().node("n1", cpu=4).job("a", cpu=1).run(trace=Trace())
    >>> print(*volcano_log(cycle.session, cycle.trace, 3)[1:3], sep="\n")
    cache.go:1526] "SnapShot for scheduling" jobNum=1 QueueNum=2 NodeNum=1
    allocate.go:782] Binding Task <default/a-0> to node <n1>
    """
    return [f"{place}] {text}" for number, place, text in _lines(ssn, trace) if number <= level]


def _lines(ssn: Session, trace: TraceReader) -> Iterator[Line]:
    yield 4, "scheduler.go:108", "Start scheduling ..."
    yield from _snapshot(ssn)
    yield from _refused_tree(ssn)
    for record in trace.records:
        if record.kind == "deserved_round" and record["plugin"] == "proportion":
            yield from _round(record, ssn)
        elif record.kind == "call":
            yield from _answer(record)
        elif record.kind == "allocatable_level" and record["short_of"]:
            yield 3, "capacity.go:894", (
                f"Queue <{record['level']}>: realCapability <{amount(record['limit'])}>, allocated "
                f"<{amount(record['allocated'])}>; Candidate <{record['task'].partition('/')[2]}>: "
                f"resource request <{amount(record['request'])}>")
        elif record.kind == "do" and record["operation"] == "allocate":
            text = f"Binding Task <{record['task']}> to node <{record['node']}>"
            yield 3, "allocate.go:782", text
    yield 4, "scheduler.go:110", "End scheduling ..."


def _snapshot(ssn: Session) -> Iterator[Line]:
    plugins = " ".join(plugin.name for tier in ssn.conf.tiers for plugin in tier.plugins)
    yield 2, "scheduler.go:141", ("Finished loading scheduler config. Final state: actions="
                                  f"[{' '.join(ssn.conf.actions)}], plugins=[{plugins}]")
    for uid, job in ssn.jobs.items():
        name = job.pod_group.spec.priority_class_name
        yield 4, "cache.go:1490", f"The priority of job <{uid}> is <{name}/{job.priority}>"
    for why in ssn.snapshot.jobs_left_out:
        if queue := why.facts.get("queue"):
            yield 3, "cache.go:1516", (
                f"The Queue <{queue}> of Job <{why.facts['name']}> does not exist, ignore it.")
    yield 3, "cache.go:1526", (f'"SnapShot for scheduling" jobNum={len(ssn.jobs)} '
                               f"QueueNum={len(ssn.queues)} NodeNum={len(ssn.nodes)}")
    tree = ssn.snapshot.hyper_nodes
    tiers = " ".join(f"{tier}:{_set(names)}" for tier, names in tree.set_by_tier.items())
    nodes = " ".join(f"{name}:{_set(found)}" for name, found in tree.real_nodes_set.items())
    yield 4, "cache.go:1529", (f'"HyperNode snapShot for scheduling" tiers="map[{tiers}]" '
                               f'realNodesSet="map[{nodes}]"')


def _refused_tree(ssn: Session) -> Iterator[Line]:
    """Yield why capacity admits no job: a parent that is missing, or a job of an inner queue."""
    capacity: Any = ssn.plugins.get("capacity")
    if capacity is None or capacity.ready:
        return
    parents = ((name, each.queue.spec.parent) for name, each in ssn.queues.items())
    for name, parent in parents:
        if parent and parent not in ssn.queues:
            yield 0, "capacity.go:563", (f"Failed to update Queue <{name}> attributes, error: the "
                                         f"queue {name} has invalid parent queue {parent}")
            return
    for uid, job in ssn.jobs.items():
        if not capacity.tree.is_leaf(job.queue):
            yield 0, "capacity.go:572", f"The Queue <{job.queue}> of Job <{uid}> is not leaf queue"
            return


def _set(names: Iterable[str]) -> str:
    return f"map[{' '.join(f'{name}:{{}}' for name in sorted(names))}]"


def _round(record: Record, ssn: Session) -> Iterator[Line]:
    """Yield a round of sharing, as proportion logs it."""
    found = record["round"]
    if record["number"] == 1:
        yield 4, f"{ROUND}:94", f"The total resource is <{amount(found['available'])}>"
    for step in found["steps"]:
        queue = step["queue"]
        yield 4, f"{ROUND}:213", (f"Considering Queue <{queue}>: weight "
                                  f"<{ssn.queues[queue].weight}>, total weight "
                                  f"<{found['total_weight']}>.")
        yield 4, f"{ROUND}:229", (
            f"Format queue <{queue}> deserved resource to <{amount(step['after'])}>")
        if step["met"]:
            capped = " cause of the capability" * (step["met"] == "capability")
            yield 4, f"{ROUND}:{236 if capped else 233}", f"queue <{queue}> is meet{capped}"
    yield 4, f"{ROUND}:251", f"Remaining resource is  <{amount(found['remaining'])}>"


def _answer(record: Record) -> Iterator[Line]:
    """Yield an answer of a plugin that has a line."""
    if record["point"] == "reclaimable" and record["plugin"] == "proportion":
        victims = " ".join(record["answer"][0])
        yield 4, f"{ROUND}:296", f"Victims from proportion plugins are [{victims}]"
    elif record["point"] == "overused" and record["answer"]:
        place = {"reclaim": "reclaim.go:112"}.get(record.action, "allocate.go:289")
        yield 3, place, f"Queue <{record['queue']}> is overused, ignore it."


def amount(amounts: Mapping[str, Any]) -> str:
    """Return amounts of resources as Go's `Resource` prints them.

    >>> amount({"pods": 110.0, "cpu": 4000.0})
    'cpu 4000.00, memory 0.00, pods 110.00'
    """
    names = ["cpu", "memory", *sorted(amounts.keys() - {"cpu", "memory"})]
    return ", ".join(f"{name} {amounts.get(name, 0):.2f}" for name in names)
