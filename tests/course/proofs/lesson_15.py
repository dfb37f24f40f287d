"""What lesson 15, "What a cycle costs, and where it goes", says is so."""

from course.proofs import after


@after("cost-04")
def a_tiny_cluster(small):
    assert small.count(point="predicate") == 12


@after("cost-08")
def a_tiny_cluster_2(twice):
    assert (twice.count(point="predicate"), twice.count(point="allocatable")) == (24, 3)


@after("cost-12")
def two_minutes(times):
    assert times["pairs"].iloc[-1] == 10_000_000
    assert times["microseconds a pair"].iloc[-1] == 11.5


@after("cost-14")
def two_minutes_2(minutes):
    assert 19 < minutes < 20


@after("cost-20")
def where_the_time_goes(busy):
    assert busy.times["allocate"] > 0.75 * busy.times["cycle"]


@after("cost-27")
def what_repeats(conf_of, cost_cluster, effort_of):
    shared = effort_of(cost_cluster(nodes=50, pods=100), conf_of())
    assert (shared.pairs, shared.scored, shared.count(point="node_order")) == (5000, 149, 0)


@after("cost-29")
def what_repeats_2(rows):
    assert (rows[-1]["pairs"], rows[-1]["scored"]) == (25_600, 399)


@after("cost-31")
def what_repeats_3(busy, conf_of, cost_cluster, effort_of):
    quick = effort_of(cost_cluster(nodes=60, pods=120, gang=4), conf_of())
    assert quick.placed == busy.placed == 120
    assert busy.times["cycle"] > 2 * quick.times["cycle"]


@after("cost-33")
def what_switches_it_off(table):
    assert table["Ssd"]["node_order calls"] == 6000 and table["SsdAlike"]["scored"] == 119


@after("cost-36")
def look_at_fewer_nodes(nodes_to_find):
    assert nodes_to_find(10_000) == 500 and nodes_to_find(10_000, percentage=20) == 2000


@after("cost-38")
def look_at_fewer_nodes_2(nodes_to_find, sampled):
    assert nodes_to_find(5625) == 281 and 50 - 5625 // 125 == 5
    assert sampled.loc[1000].tolist() == [420, 48]


@after("cost-42")
def explore(lab):
    def work(**values):
        state = lab.reset().set(**values).state
        asked = [row["calls"] for row in state["asked"]]
        return [row["in all"] for row in state["work"]], asked

    assert work() == ([3200, 1600, 119], [0, 21, 80, 120])
    assert work(nodes=80)[0] == [6400, 3200, 159]
    assert work(queues=8)[0] == work()[0] and work(queues=8)[1][0] > 0
    assert work(kinds=2)[0][:2] == work()[0][:2] and work(kinds=2)[0][2] > 119
    assert [row["a pod"] for row in lab.reset().set(nodes=120).state["work"]][:2] == [120, 60]
    assert [row["a pod"] for row in lab.set(percentage=100).state["work"]][:2] == [120, 120]


@after("cost-48")
def and_memory():
    from volcano_lab.course.lesson_15.clusters import kibibytes_a_pod
    assert kibibytes_a_pod(nodes=20, pods=400) < 20
    assert round(50_000 * 20 * 1024 / 1e9) == 1
