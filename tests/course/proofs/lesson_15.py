"""What lesson 15, "What a cycle costs, and where it goes", says is so."""

import tracemalloc

from course.proofs import after, answer
from volcano_lab.course.lesson_15.scene import conf_of, cost_cluster
from volcano_lab.framework.placement.feasible import nodes_to_find


def kibibytes_a_pod(nodes: int, pods: int) -> float:
    """The most memory that a whole cycle needs, with the cluster itself, for each pod."""
    conf = conf_of()
    cost_cluster(2, 2).run(conf)  # what is made once and kept
    tracemalloc.start()
    try:
        cost_cluster(nodes, pods, gang=4).run(conf)
        return tracemalloc.get_traced_memory()[1] / 1024 / pods
    finally:
        tracemalloc.stop()


@after("cost-06")
def a_small_cluster(small, twice):
    assert small.count(point="predicate") == 12 == answer("15", "calls_of_predicate")
    assert (twice.count(point="predicate"), twice.count(point="allocatable")) == (24, 3)


@after("cost-12")
def two_minutes(times):
    assert times[-1]["pairs"] == 10_000_000
    assert times[-1]["microseconds per pair"] == 11.5


@after("cost-14")
def two_minutes_2():
    assert round(10_000 * 10_000 * 11.5e-6 / 60) == answer("15", "minutes_of_pairs")


@after("cost-20")
def where_the_time_goes(by_action):
    assert max(by_action, key=by_action.get) == answer("15", "slowest_part") == "allocate"
    assert by_action["allocate"] > 100 * by_action["enqueue"]


@after("cost-22")
def by_plugin(mystery_calls):
    assert mystery_calls["red"] == mystery_calls["green"] > mystery_calls["blue"]


@after("cost-27")
def what_repeats(effort_of):
    shared = effort_of(cost_cluster(nodes=50, pods=100), conf_of())
    assert shared.scored == answer("15", "scores_of_equals")
    assert (shared.pairs, shared.scored) == (5000, 149)


@after("cost-29")
def what_repeats_2(busy, conf_of, cost_cluster, effort_of):
    assert effort_of(cost_cluster(100, 200), conf_of()).scored == answer("15", "scored_again")
    quick = effort_of(cost_cluster(nodes=60, pods=120, gang=4), conf_of())
    assert quick.placed == busy.placed == 120
    assert busy.scored > 40 * quick.scored


@after("cost-33")
def what_switches_it_off(ssd):
    rows = {row["plugin"]: row for row in ssd}
    assert [row["asked for each pair"] for row in ssd] == [True, False, False]
    assert rows["Ssd"]["scored"] == rows["SsdAtOnce"]["scored"] == 20 * 100
    assert rows["SsdAlike"]["scored"] == 119 and {row["placed"] for row in ssd} == {100}


@after("cost-36")
def look_at_fewer_nodes(sampled):
    assert nodes_to_find(10_000) == 500 and nodes_to_find(10_000, percentage=20) == 2000
    assert nodes_to_find(5625) == 281 and 50 - 5625 // 125 == 5
    assert list(sampled([1000])[0].values()) == [1000, 420, 48]


@after("cost-40")
def what_grows_with_what(growing):
    rows = growing()
    exponents = {row["what"]: row["exponent"] for row in rows}
    assert exponents["nodes × n: pairs"] == exponents["pods × n: pairs"] == 1
    assert exponents["queues × n: pairs"] == 0
    assert 0 < exponents["nodes × n: scored once (the lab)"] < 1
    assert [row["1"] for row in rows][1] == 10 + 39
    assert [row["1"] for row in rows][5] == 40 * 2  # a queue, and the root


@after("cost-42")
def explore(lab):
    def work(**values):
        at = lab.reset().set(**values).facts
        return list(at.work.values()), [row["calls"] for row in at.asked]

    assert work() == ([3200, 1600, 119], [0, 21, 80, 120])
    assert work(nodes=80)[0] == [6400, 3200, 159]
    assert work(queues=8)[0] == work()[0] and work(queues=8)[1][0] > 0
    assert work(kinds=2)[0][:2] == work()[0][:2] and work(kinds=2)[0][2] > 119
    assert [row["per pod"] for row in lab.reset().set(nodes=120).facts.rows][:2] == [120, 60]
    assert [row["per pod"] for row in lab.set(percentage=100).facts.rows][:2] == [120, 120]
    lab.reset()


@after("cost-46")
def and_memory():
    assert kibibytes_a_pod(nodes=20, pods=400) < 20
    assert round(50_000 * 20 * 1024 / 1e9) == 1
