"""Two cycles side by side: the first decision in which they part, and what follows."""

from __future__ import annotations

import pytest
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


def test_cycles_part_at_the_first_commitment_that_differs():
    diff = CycleDiff(traced(cluster(1).objects())[0], traced(cluster(3).objects())[0])
    left, right = diff.parting.left, diff.parting.right
    assert (left.kind, left["task"], right["task"]) == ("commit", "default/one-1", "default/two-1")
    assert [record.kind for record in diff.parting.cause] == ["deserved_round"] * 2
    assert {(each["name"], each["field"]): (each["left"], each["right"])
            for each in diff.jobs
            if each["field"] == "placed"} == {("default/one", "placed"): (2, 1),
                                           ("default/two", "placed"): (2, 3)}
    assert ("a", "allocated", {"cpu": 2000.0, "pods": 2.0}, {"cpu": 1000.0, "pods": 1.0}) in [
        (each["name"], each["field"], each["left"], each["right"]) for each in diff.queues]
    assert "goes on with allocate one-1 on n1, the second with allocate two-1 on n1" in str(diff)
    assert "2 pods moved (one-1 from n1 to no node, two-2 from no node to n1)" in str(diff)
    assert "2 jobs end otherwise" in str(diff)
    assert {row["what"] for row in diff.rows()} == {"jobs", "queues", "tasks"}


def test_cycles_part_where_a_job_is_admitted_or_a_promise_made():
    """Bookkeeping that differs is no parting: weights alone change nothing here."""
    small = Cluster().node("n1", cpu=9).queue("a").job("one", queue="a", cpu=1)
    same = CycleDiff(*(traced(small.copy().queue("a", weight=weight).objects())[0]
                       for weight in (1, 2)))
    assert same.parting is None and str(same).startswith("The two cycles decide the same on diff")
    more = CycleDiff(*(traced(small.copy().job("two", cpu=cpu).objects())[0] for cpu in (1, 99)))
    assert (more.parting.left.kind, more.parting.left["job"]) == ("enqueued", "default/two")


def test_a_cycle_that_stops_earlier_parts_where_it_stops():
    objects = cluster(1).objects()
    short = WITHOUT_PROPORTION.replace("enqueue, allocate, backfill", "enqueue")
    diff = CycleDiff(traced(objects, WITHOUT_PROPORTION)[0], traced(objects, short)[0])
    assert diff.parting.right is None and "the second with nothing" in str(diff)
    assert len(diff.moved) == 4 and "4 pods moved" in str(diff)


@pytest.mark.long
def test_the_same_case_twice_is_the_same_also_when_loaded():
    for case in rows(HERE / "dev-cases.jsonl.gz")[::60]:
        traces = []
        for _ in range(2):
            trace = Trace()
            Scheduler(load_cache(case), case["conf"]).run_once(trace)
            traces.append(trace)
        loaded = TraceReader.from_lines(traces[1].lines())
        assert str(CycleDiff(traces[0], loaded)) == "The two cycles decide the same.", case["name"]
