"""task-topology: buckets, the order of tasks and the nodes they get, by sentences."""

from collections import Counter

import pytest
from small_cluster import conf, group, names, node, open_session, pod, queue, run, task

from volcano_lab.api import total
from volcano_lab.framework.placement.arrays import node_arrays
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.plugins.task_topology.buckets import size_of
from volcano_lab.plugins.task_topology.plugin import read_topology
from volcano_lab.simulation.invariants import differ

KEYS = {
    "affinity": "volcano.sh/task-topology-affinity", "anti":
    "volcano.sh/task-topology-anti-affinity", "order": "volcano.sh/task-topology-task-order"
}


def wants(name="a", **notes):
    return group(name, annotations={KEYS[key]: text for key, text in notes.items()})


def roles(job="a", on=None, **counts):
    """Pods such as `a-ps-0`; `on` maps the name of one to its node."""
    return [pod(f"{job}-{role}-{i}", job, (on or {}).get(f"{job}-{role}-{i}", ""), role=role)
            for role, count in counts.items() for i in range(count)]


def session(group, pods, nodes=(), plugin="task-topology"):
    return open_session(queue(), group, *pods, *(nodes or [node("n1", "100", "100Gi")]),
                        plugins=plugin)


@pytest.mark.parametrize(
    ("sentence", "notes", "affinity", "anti", "order"),
    [
        ("groups and roles", {
            "affinity": "ps,worker;ps,chief", "anti": "ps;worker,chief", "order": "ps,chief"
        }, [["ps", "worker"], ["ps", "chief"]], [["ps"], ["worker", "chief"]], ["ps", "chief"]),
        ("too much punctuation", {"affinity": "ps,,worker,;"}, [["ps", "", "worker", ""], [""]], (),
         ()),
        ("only an order", {"order": "worker"}, (), (), ["worker"]),
    ],
)
def test_annotations(sentence, notes, affinity, anti, order):
    ssn = session(wants(**notes), roles(ps=1, worker=1, chief=1))
    topology = read_topology(ssn.jobs["default/a"])
    assert (topology.affinity, topology.anti_affinity, topology.task_order) == (affinity, anti,
                                                                                order), sentence


@pytest.mark.parametrize(
    ("notes", "sentence"),
    [
        ({"affinity": "ps,boss", "anti": "ps"}, 'affinity names "boss" but has no such role'),
        ({"affinity": "ps;ps,boss"}, 'affinity names "boss" but has no such role'),
        ({"affinity": "ps,worker", "anti": "ps,ps"}, 'anti-affinity names "ps" twice in a group'),
        ({"anti": "ps", "order": "ps,worker,ps"}, 'task-order names "ps" twice in a group'),
    ],
)
def test_a_wrong_annotation_invalidates_all_of_them_with_a_message(notes, sentence):
    ssn = session(wants(**notes), roles(ps=1, worker=1))
    assert ssn.plugins["task-topology"].managers == {}
    assert [*map(str, ssn.warnings)] == [
        f"PodGroup default/a: annotation volcano.sh/task-topology-{sentence}; allowed are ps, "
        "worker, each once; it has no effect."]


@pytest.mark.parametrize(
    ("sentence", "notes", "counts", "on", "buckets"),
    [
        ("who belongs together, in one", {"affinity": "ps,worker"
                                          }, {"ps": 1, "worker": 2}, {}, ["ps0 worker0 worker1"]),
        ("who avoids its like, apart", {"anti": "ps"}, {"ps": 3}, {}, ["ps0", "ps1", "ps2"]),
        ("workers go round to the servers", {"affinity": "ps,worker", "anti": "ps"},
         {"ps": 2, "worker": 4}, {}, ["ps0 worker0 worker2", "ps1 worker1 worker3"]),
        ("who belongs to its like, in one", {"affinity": "worker"
                                             }, {"worker": 3}, {}, ["worker0 worker1 worker2"]),
        ("a comma more, and it is another group", {"affinity": "worker,"
                                                   }, {"worker": 2}, {}, ["worker0 worker1"]),
        ("roles that avoid each other", {"anti": "ps,worker"}, {"ps": 2, "worker": 2}, {},
         ["ps0 ps1", "worker0 worker1"]),
        ("other roles are in no bucket", {"anti": "ps"}, {"ps": 1, "chief": 1}, {}, ["ps0"]),
        ("those on a node make a bucket", {"affinity": "ps,worker"}, {"ps": 1, "worker": 2},
         {"a-worker-1": "n1"}, ["worker1 ps0 worker0"]),
        ("a bucket for each node", {"affinity": "ps,worker", "anti": "ps"}, {"ps": 2, "worker": 2},
         {"a-ps-0": "n2", "a-ps-1": "n1"}, ["ps1 worker0", "ps0 worker1"]),
    ],
)
def test_buckets(sentence, notes, counts, on, buckets):
    ssn = session(wants(**notes), roles(on=on, **counts), [node("n1"), node("n2")])
    manager = ssn.plugins["task-topology"].managers["default/a"]
    found = [[] for _ in manager.buckets]
    for uid, bucket in manager.bucket_of.items():
        found[bucket.index].append(uid.removeprefix("uid-a-").replace("-", ""))
    assert [" ".join(names) for names in found] == buckets, sentence


@pytest.mark.parametrize(
    ("sentence", "notes", "counts", "order"),
    [
        ("bucket by bucket, the server with its workers", {"affinity": "ps,worker", "anti": "ps"},
         {"worker": 4, "ps": 2}, "ps0 worker0 worker2 ps1 worker1 worker3"),
        ("the order that the job names, within the bucket", {
            "affinity": "ps,worker", "order": "worker,ps"
        }, {"worker": 2, "ps": 1}, "worker0 worker1 ps0"),
        ("that order before what a role's kind of affinity says", {
            "affinity": "ps,worker", "anti": "ps", "order": "worker,ps"
        }, {"worker": 2, "ps": 1}, "worker0 worker1 ps0"),
        ("the fullest bucket first, although it is younger", {
            "affinity": "worker", "anti": "ps,worker", "order": "ps"
        }, {"ps": 1, "worker": 2}, "worker0 worker1 ps0"),
        ("who is in no bucket comes last", {"affinity": "worker"}, {"chief": 1, "worker": 2
                                                                    }, "worker0 worker1 chief0"),
    ],
)
def test_order(sentence, notes, counts, order):
    ssn = session(wants(**notes), roles(**counts))
    tasks = PriorityQueue(ssn.task_order, ssn.jobs["default/a"].tasks.values()).drain()
    assert " ".join(
        name.removeprefix("a-").replace("-", "") for name in names(tasks)) == order, sentence


def test_jobs_are_not_compared_unless_one_task_has_a_bucket_and_the_other_none():
    other = [
        wants("b", affinity="worker"), *roles("b", worker=1, chief=1),
        group("c"), *roles("c", worker=1)
    ]
    ssn = open_session(queue(), wants(affinity="worker"), *roles(worker=1), *other,
                       plugins="task-topology")
    compare, t = ssn.plugins["task-topology"].task_order, lambda name: task(ssn, name)
    assert compare(t("a-worker-0"), t("b-worker-0")) == 0
    assert compare(t("a-worker-0"), t("b-chief-0")) < 0 < compare(t("b-chief-0"), t("a-worker-0"))
    assert compare(t("a-worker-0"), t("c-worker-0")) == 0  # c has no annotations


@pytest.mark.parametrize(
    ("sentence", "room", "on", "score"),
    [
        ("the whole bucket fits", "4", {}, 3),
        ("all but one of the others", "2", {}, 2),
        ("only the task itself", "1", {}, 1),
        ("not even that", "500m", {}, 0),
        ("one of the bucket is there already", "4", {"a-worker-1": "n1"}, 1 + 2),
        ("one is elsewhere", "4", {"a-worker-1": "n2"}, 2),
    ],
)
def test_score(sentence, room, on, score):
    ssn = session(wants(affinity="ps,worker"), roles(on=on, ps=1, worker=2),
                  [node("n1", room), node("n2")])
    asked, plugin = task(ssn, "a-ps-0"), ssn.plugins["task-topology"]
    assert ssn.node_order(asked, ssn.nodes["n1"]) == pytest.approx(100 * score / 3), sentence
    assert node_arrays(ssn).orders[0](asked).tolist() == [
        plugin.node_order(asked, n) for n in ssn.node_list
    ]


def test_resources_being_released_count_for_a_bucket():
    ssn = session(wants(affinity="ps,worker"),
                  [*roles(ps=1, worker=1), group("b"), *roles("b", on={"b-x-0": "n1"}, x=1)],
                  [node("n1", "2")])
    asked, n1 = task(ssn, "a-ps-0"), ssn.nodes["n1"]
    before = ssn.node_order(asked, n1)
    ssn.statement().evict(task(ssn, "b-x-0"), "test")
    assert (before, ssn.node_order(asked, n1)) == (50.0, 100.0)


def test_anti_affinity_counts_this_cycles_placements_even_after_a_discard():
    ssn = session(wants(anti="ps"), roles(ps=2), [node("n1"), node("n2")])
    second, n1 = task(ssn, "a-ps-1"), ssn.nodes["n1"]
    before = ssn.node_order(second, n1)
    statement = ssn.statement()
    statement.allocate(task(ssn, "a-ps-0"), n1)
    after = ssn.node_order(second, n1)
    statement.discard()
    assert (before, after, ssn.node_order(second, n1)) == (100.0, 0.0, 0.0)


def test_weight_multiplies():
    text = "{name: task-topology, arguments: {task-topology.weight: 3}}"
    ssn = session(wants(affinity="ps,worker"), roles(ps=1, worker=1), plugin=text)
    assert ssn.node_order(task(ssn, "a-ps-0"), ssn.nodes["n1"]) == 300.0


def test_a_cycle_puts_each_server_with_its_workers_on_a_node_of_its_own():
    pods = roles(ps=2, worker=4)
    ssn = run(queue(), wants(affinity="ps,worker", anti="ps"), *pods, node("n1", "3"),
              node("n2", "3"), conf=conf("gang", "task-topology"))
    by_node = {}
    for _, key, where in ssn.committed:
        by_node.setdefault(where, []).append(key.removeprefix("default/a-"))
    assert by_node == {
        "n1": ["ps-0", "worker-0", "worker-2"], "n2": ["ps-1", "worker-1", "worker-3"]
    }


@pytest.mark.parametrize("on", [{}, {"a-worker-1": "n1"}])
def test_buckets_are_the_sums_of_their_tasks_after_each_placement(on):
    """`tasks`, `request` and `size` are of those that wait, `nodes` of the others."""
    ssn = session(wants(affinity="ps,worker", anti="ps"), roles(on=on, ps=2, worker=3),
                  [node("n1"), node("n2")])
    manager, statement = ssn.plugins["task-topology"].managers["default/a"], ssn.statement()
    members = sorted(ssn.jobs["default/a"].tasks)
    for uid in ["", *members]:
        each = ssn.jobs["default/a"].tasks.get(uid)
        if each is not None and not each.node_name:
            statement.allocate(each, ssn.nodes["n2"])
        for bucket in manager.buckets:
            own = [ssn.jobs["default/a"].tasks[name] for name in members
                   if manager.bucket_of[name] is bucket]
            waiting = {one.uid: one.resreq for one in own if not one.node_name}
            assert bucket.tasks.keys() == waiting.keys()
            assert not differ(bucket.request, total(waiting.values()))
            assert bucket.size == sum(map(size_of, waiting.values()))
            assert bucket.nodes == Counter(one.node_name for one in own if one.node_name)
            assert bucket.roles == Counter(one.task_role for one in own)


@pytest.mark.parametrize(("on", "most"), [({}, 4), ({"a-worker-0": "n1"}, 4), (
    {"a-worker-0": "n1", "a-worker-1": "n1", "a-ps-0": "n1"}, 4)])
def test_the_largest_bucket_counts_placed_and_pending_tasks_alike(on, most):
    ssn = session(wants(affinity="ps,worker"), roles(on=on, ps=1, worker=3), [node("n1")])
    assert ssn.plugins["task-topology"].managers["default/a"].bucket_max_size == most


def left_by_definition(sizes, own, free):
    """How many pods stay where the others go one by one, in their order, until the rest fits."""
    left = dict(enumerate(sizes))
    for number in [*left]:
        if sum(left.values()) > free and number != own:
            del left[number]
    return len(left)


@pytest.mark.parametrize("sizes", [(1, 2, 4), (2, 4, 1), (4, 1, 2), (3, 3, 1), (5,)], ids=str)
def test_how_many_of_a_bucket_fit_is_counted_without_the_first_others_until_the_rest_fits(sizes):
    pods = [pod(f"a-ps-{i}", "a", role="ps", requests={"cpu": str(cpu)})
            for i, cpu in enumerate(sizes)]
    for free in range(1, sum(sizes) + 1):
        ssn = session(wants(affinity="ps"), pods, [node("n1", str(free))])
        manager, idle = ssn.plugins["task-topology"].managers["default/a"], ssn.nodes["n1"].idle
        for own in range(len(sizes)):
            asked = task(ssn, f"a-ps-{own}")
            assert manager.bucket_of[asked.uid].how_many_fit(asked, idle) == left_by_definition(
                sizes, own, free), (free, own)
