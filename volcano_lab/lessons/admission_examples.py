"""Admission by hand, right and wrong, and the worked example that tries it (lesson 05 and its tests)."""

from __future__ import annotations

from volcano_lab.api.resource import Resource
from volcano_lab.cluster import Cluster
from volcano_lab.lessons.own_admission import short_of
from volcano_lab.plugins.queue_tree import QueueAttr


def worked_example() -> Cluster:
    """The cluster of Volcano's issue 4118: a parent of 2 CPUs and 4 GiB, two queues below it, two jobs of that size."""
    cluster = Cluster().node("node-0", cpu=16, memory="64Gi")
    cluster.queue("test-root", capability={"cpu": 2, "memory": "4Gi"})
    for number in (0, 1):
        cluster.queue(f"test-sub-{number}", parent="test-root")
        cluster.job(f"job-{number + 1}", queue=f"test-sub-{number}", pods=1, cpu=2, memory="4Gi")
    return cluster


def mended(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Ask all levels first, then reserve on all."""
    if any(short_of(level, minimum) for level in line):
        return False
    for level in line:
        level.inqueue = level.inqueue + minimum
    return True


def rolled_back(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Reserve level by level, and take it back where one refuses: as good."""
    for number, level in enumerate(line):
        if short_of(level, minimum):
            for done in line[:number]:
                done.inqueue = done.inqueue - minimum
            return False
        level.inqueue += minimum
    return True


def as_in_v1_11(minimum: Resource, line: list[QueueAttr]) -> bool:
    """Ask and reserve on the job's own queue, and on none above it."""
    queue = line[0]
    if short_of(queue, minimum):
        return False
    queue.inqueue = queue.inqueue + minimum
    return True


def asks_all_reserves_one(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not any(short_of(level, minimum) for level in line) and as_in_v1_11(minimum, line)


def asks_one_reserves_all(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not short_of(line[0], minimum) and all(as_in_v1_11(minimum, [level]) or True for level in line)


def reserves_on_the_way(minimum: Resource, line: list[QueueAttr]) -> bool:
    return all(as_in_v1_11(minimum, [level]) for level in line)


def asks_the_parent_only(minimum: Resource, line: list[QueueAttr]) -> bool:
    return not any(short_of(level, minimum) for level in line[:2]) and reserves_on_the_way(minimum, line)
