"""Two cycles side by side: the first decision in which they part, and what follows."""

from __future__ import annotations

from recorded_cases import HERE, rows

from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.trace import Trace, TraceReader
from volcano_lab.trace.diff import CycleDiff

WITHOUT_PROPORTION = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: nodeorder}]
"""


def cluster(weight):
    return (Cluster().node("n1", cpu=4).queue("a", weight=1).queue("b", weight=weight).job(
        "one", queue="a", pods=4, min_member=1, cpu=1).job("two", queue="b", pods=4, min_member=1,
                                                           cpu=1))


def test_cycles_part_at_the_first_round_of_sharing_that_differs():
    diff = CycleDiff(traced(cluster(1).objects())[0], traced(cluster(3).objects())[0])
    assert diff.parting.left.kind == diff.parting.right.kind == "deserved_round"
    assert {(each.name, each.field): (each.left, each.right)
            for each in diff.jobs
            if each.field == "placed"} == {("default/one", "placed"): (2, 1),
                                           ("default/two", "placed"): (2, 3)}
    assert ("a", "allocated", {"cpu": 2000.0, "pods": 2.0}, {"cpu": 1000.0, "pods": 1.0}) in [
        (each.name, each.field, each.left, each.right) for each in diff.queues]
    assert "part where open: deserved_round" in str(diff) and "2 jobs end otherwise" in str(diff)
    assert {row["what"] for row in diff.rows()} == {"jobs", "queues", "tasks"}


def test_two_configurations_part_where_one_has_a_plugin_more():
    objects = cluster(1).objects()
    diff = CycleDiff(traced(objects)[0], traced(objects, WITHOUT_PROPORTION)[0])
    assert diff.parting is not None and diff.parting.left.get("plugin") == "proportion"


def test_a_cycle_that_stops_earlier_parts_where_it_stops():
    objects = cluster(1).objects()
    short = WITHOUT_PROPORTION.replace("enqueue, allocate, backfill", "enqueue")
    diff = CycleDiff(traced(objects, WITHOUT_PROPORTION)[0], traced(objects, short)[0])
    assert diff.parting.right is None and "only the first cycle goes on" in str(diff)


def test_the_same_case_twice_is_the_same_also_when_loaded():
    for case in rows(HERE / "dev-cases.jsonl.gz")[::60]:
        traces = []
        for _ in range(2):
            trace = Trace()
            Scheduler(load_cache(case), case["conf"]).run_once(trace)
            traces.append(trace)
        loaded = TraceReader.from_lines(traces[1].lines())
        assert str(CycleDiff(traces[0], loaded)) == "The two cycles decide the same.", case["name"]
