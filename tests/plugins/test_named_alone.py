"""What a plugin says of one candidate for eviction holds for all candidates together."""

from __future__ import annotations

import pytest
from evictions import conf, contended
from hypothesis import HealthCheck, given, settings

from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.plugin import plugin_class, plugin_names
from volcano_lab.framework.session import Session

POINTS = ("preemptable", "reclaimable")
ALONE = [(name, point) for name in plugin_names() for point in POINTS
         if hasattr(plugin_class(name), f"{point}_alone")]


def test_these_plugins_answer_for_one_candidate():
    assert ALONE == [("capacity", "reclaimable"), ("drf", "preemptable"), ("gang", "preemptable"),
                     ("gang", "reclaimable"), ("priority", "preemptable"),
                     ("proportion", "reclaimable")]


@pytest.mark.long
@pytest.mark.parametrize(("plugin", "point"), ALONE)
@given(objects=contended())
@settings(max_examples=25, deadline=None,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_a_task_is_named_first_exactly_if_it_is_named_alone(plugin, point, objects):
    """And one that is not named alone is not named among others, nor once those are evicted."""
    ssn = Session(Cache(objects), load_conf(conf(second=f"{plugin} predicates")))
    asked = ssn.plugins[plugin]
    name, alone = getattr(asked, point), getattr(asked, f"{point}_alone")
    tasks = [task for job in ssn.jobs.values() for task in job.tasks.values()]
    running = [task for task in tasks if task.node_name]
    for claimant in [task for task in tasks if not task.node_name][:3]:
        single = {task.uid for task in running if alone(claimant, task)}
        assert single == {task.uid for task in running if name(claimant, [task])[0]}
        named, statement = name(claimant, running)[0], ssn.statement()
        assert {task.uid for task in named} <= single
        for task in named[:2]:
            statement.evict(task.clone(), "test")
        assert {task.uid for task in running[2:] if alone(claimant, task)} <= single
        statement.discard()
