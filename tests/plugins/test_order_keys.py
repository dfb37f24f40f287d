"""Where a plugin gives its order also as a sort key, both agree on each pair."""

from itertools import permutations

import pytest
from small_cluster import group, node, open_session, pod, queue

from volcano_lab.framework.plugin import plugin_class, plugin_names
from volcano_lab.plugins import BUILT_IN

POINTS = ("job_order", "sub_job_order", "task_order")
KEYED = [(name, point) for name in plugin_names() for point in POINTS
         if hasattr(plugin_class(name), f"{point}_key")]
WAITING, PREEMPTABLE = "sla-waiting-time", "volcano.sh/preemptable"


def mixed_session(plugin: str):
    """Jobs and tasks that differ in priority, allocated and pending tasks, and annotations."""
    notes = [{}, {WAITING: "1h"}, {WAITING: "2m"}, {PREEMPTABLE: "true"},
             {WAITING: "1h", PREEMPTABLE: "true"}]
    objects = [queue(), node("n1", cpu="64", memory="64Gi")]
    for number, note in enumerate(notes):
        objects.append(group(f"g{number}", annotations=note, minMember=2,
                             created=f"2026-01-0{number + 1}T00:00:00Z"))
        for index in range(3):
            objects.append(pod(f"p{number}{index}", f"g{number}", priority=(number * index) % 4,
                               annotations=note, node="n1" if index < number % 4 else ""))
    ssn = open_session(*objects, plugins=plugin)
    for number, job in enumerate(ssn.jobs.values()):
        job.priority = number % 3
    return ssn


@pytest.mark.parametrize(("plugin", "point"), KEYED)
def test_a_key_orders_as_the_comparison_does(plugin, point):
    ssn = mixed_session(plugin)
    asked, jobs = ssn.plugins[plugin], list(ssn.jobs.values())
    items = {"job_order": jobs,
             "sub_job_order": [each for job in jobs for each in job.sub_jobs.values()],
             "task_order": [task for job in jobs for task in job.tasks.values()]}[point]
    compare, key = getattr(asked, point), getattr(asked, f"{point}_key")
    pairs = [(compare(left, right), key(left), key(right))
             for left, right in permutations(items, 2)]
    assert any(order for order, *_ in pairs) or plugin not in BUILT_IN, (
        "all are alike: this shows nothing")
    for order, mine, theirs in pairs:
        assert (order > 0) - (order < 0) == (mine > theirs) - (mine < theirs)
