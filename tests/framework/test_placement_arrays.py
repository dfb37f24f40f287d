"""Filtering and scoring all nodes at once decides the same as node by node."""

from __future__ import annotations

import numpy as np
import pytest
from clusters import cases
from hypothesis import HealthCheck, given, settings, strategies as st
from own_plugins import CONF

from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.resource import ZERO, Resource
from volcano_lab.cache import Cache
from volcano_lab.cli.replay import load_cache, replay
from volcano_lab.cluster import Cluster
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.placement.arrays import FITS, LATER, fit_memo
from volcano_lab.framework.plugin import Plugin
from volcano_lab.framework.registry import registered
from volcano_lab.scheduler import Scheduler


@pytest.mark.long
@given(cases())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_both_ways_decide_the_same(case):
    assert replay(case, arrays=True) == replay(case, arrays=False)


amounts = st.builds(Resource, st.sampled_from([0.0, 0.05, 500.0, 1000.0]),
                    st.sampled_from([0.0, 1.0, 2.0]),
                    st.sampled_from([None, {"a/x": 1000.0}, {"a/x": 0.0, "pods": 1.0}]))


@pytest.mark.long
@given(amounts, st.lists(st.tuples(amounts, amounts, amounts, amounts), min_size=1, max_size=9))
def test_fit_is_what_comparing_resources_says(request, rows):
    table = NodeTable()
    for offered, *_ in rows:
        table.add_row(offered)
    memo = fit_memo(table, request)
    for row, (_, used, releasing, pipelined) in enumerate(rows):
        for account, amount in (("idle", used), ("releasing", releasing * -1.0),
                                ("pipelined", pipelined * -1.0)):
            taken = table.vector(amount)[0]  # first: it may give the table new columns
            getattr(table, account)[row] -= taken
            table.changes.append(row)
    for row, level in enumerate(memo.current()):
        now = request.less_equal(table.resource("idle", row), ZERO)
        later, short = request.less_equal_with_resources_name(table.future_idle_resource(row), ZERO)
        names = [name for name, _ in request]
        assert level == ((FITS if now else LATER) if later else -1 - names.index(short[0]))


def test_who_watches_every_call_gets_the_plain_way():
    class Watcher(Observer):
        watches_calls = True

    case = {"objects": []}
    assert Scheduler(load_cache(case)).run_once().use_arrays
    assert not Scheduler(load_cache(case)).run_once(Watcher()).use_arrays
    assert not Scheduler(load_cache(case)).run_once(arrays=False).use_arrays


def test_rows_keep_their_columns_when_a_new_resource_appears():
    table = NodeTable()
    row = table.add_row(Resource(1000.0, 10.0))
    before = table.vector(Resource(1.0))[0].size
    assert fit_memo(table, Resource(0.0, 0.0, {"new/thing": 1.0})).values[row] == -3
    assert table.vector(Resource(1.0))[0].size == before + 1
    assert np.array_equal(table.idle[row], [1000.0, 10.0, 0.0])


@pytest.mark.parametrize("arrays", [True, False])
def test_a_task_that_finds_no_node_says_why_of_each(arrays):
    cluster = Cluster().node("n1", cpu=1).node("n2", cpu=8, labels={"zone": "a"}).node("n3", cpu=8)
    for obj in (objects := cluster.job("a", cpu=4).objects()):
        if obj.kind == "Pod":
            obj.spec.node_selector = {"zone": "b"}
    (errors,) = Scheduler(Cache(objects)).run_once(arrays=arrays).jobs[
        "default/a"].nodes_fit_errors.values()
    affinity = "node(s) didn't match Pod's node affinity/selector"
    assert {name: error.reasons for name, error in errors.nodes.items()} == {
        "n1": ["Insufficient cpu"], "n2": [affinity], "n3": [affinity]}


class Short(Plugin):
    """Refuses node n2 for the reason for which others are refused."""

    def predicate(self, task, node):
        return "Insufficient cpu" if node.name == "n2" else None

    def predicate_nodes(self, task):
        return np.array([node.name != "n2" for node in self.ssn.node_list])


@pytest.mark.parametrize("arrays", [True, False])
def test_nodes_that_a_plugin_refuses_for_what_others_are_short_of_are_counted_with_them(arrays):
    cluster = Cluster().node("n1", cpu=1).node("n2", cpu=8).node("n3", cpu=2).job("a", cpu=4)
    with registered(plugin={"mine": Short}):
        ssn = Scheduler(cluster.cache(), CONF.format(actions="allocate")).run_once(arrays=arrays)
    (errors,) = ssn.jobs["default/a"].nodes_fit_errors.values()
    assert errors.reasons() == {"Insufficient cpu": 3}
