"""drf: the job, and with a hierarchy the queue, with the lower dominant share is first."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from small_cluster import group, names, node, open_session, pod, queue, task

from volcano_lab.framework.points.rules import PERMIT
from volcano_lab.plugins import hierarchy
from volcano_lab.plugins.hierarchy import resource_saturated

CPU, MEMORY = {"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "8Gi"}


def jobs(**pods):
    """Jobs on 10 CPU and 40 GiB: of each the requests of its running pods, and one that waits."""
    objects = []
    for name, requests in pods.items():
        objects.append(group(name, minMember=0))
        objects += [pod(f"{name}-{n}", name, "n1", requests=each)
                    for n, each in enumerate(requests)]
        objects.append(pod(f"{name}-wait", name, requests=CPU))
    return open_session(node("n1", "10", "40Gi"), queue(), *objects, plugins="drf")


@pytest.mark.parametrize(
    ("sentence", "a", "b", "shares"),
    [
        ("who holds less goes first", [CPU], [CPU, CPU], (0.1, 0.2)),
        ("the resource of which most is held decides: memory here", [MEMORY], [CPU], (0.2, 0.1)),
        ("nothing held", [], [CPU], (0, 0.1)),
    ],
)
def test_jobs_by_dominant_share(sentence, a, b, shares):
    ssn = jobs(a=a, b=b)
    left, right = ssn.jobs["default/a"], ssn.jobs["default/b"]
    attrs = ssn.plugins["drf"].job_attrs
    assert (attrs[left.uid].share, attrs[right.uid].share) == shares, sentence
    assert ssn.job_order(left, right) is (shares[0] < shares[1])


@pytest.mark.parametrize(
    ("sentence", "a", "b", "victims"),
    [
        ("as long as the other still has as much as I would", [CPU] * 4, [], 3),
        ("equal shares count as enough", [CPU] * 3, [CPU], 1),
        ("no job with less than the preemptor would have", [CPU], [CPU], 0),
        ("a candidate that is not named counts as gone, too", [{"cpu": "3"}, CPU], [CPU], 0),
    ],
)
def test_preemptable(sentence, a, b, victims):
    ssn = jobs(a=a, b=b)
    theirs = [task(ssn, f"a-{n}") for n in range(len(a))]
    found = ssn.plugins["drf"].preemptable(task(ssn, "b-wait"), theirs)
    assert (names(found[0]), found[1]) == ([f"a-{n}" for n in range(victims)], PERMIT), sentence


def test_shares_follow_what_is_placed():
    ssn = jobs(a=[CPU])
    statement = ssn.statement()
    statement.allocate(task(ssn, "a-wait"), ssn.nodes["n1"])
    assert ssn.plugins["drf"].job_attrs["default/a"].share == 0.2
    statement.discard()
    assert ssn.plugins["drf"].job_attrs["default/a"].share == 0.1


# -- with a hierarchy ------------------------------------------------------------------------------


def tree(weights=None, memory=(), waiting=None, **running):
    """Queues root/eng/dev, root/eng/ops and root/art of equal weights; of each the CPUs that its
    running job holds, and the pods that wait (one). Queues in `memory` ask for 4 GiB a CPU."""
    paths = {"dev": "root/eng/dev", "ops": "root/eng/ops", "art": "root/art"}
    objects = [node("n1", "16", "16Gi")]
    for name, path in paths.items():
        own = (weights or {}).get(name, "/".join("1" for _ in path.split("/")))
        objects.append(queue(name, {"volcano.sh/hierarchy": path,
                                    "volcano.sh/hierarchy-weights": own}))
        objects.append(group(name, name, minMember=0))
        request = {"cpu": "1", "memory": "4Gi"} if name in memory else {"cpu": "1"}
        objects += [pod(f"{name}-{n}", name, "n1", requests=request)
                    for n in range(running.get(name, 0))]
        objects += [pod(f"{name}-wait{n or ''}", name, requests=request)
                    for n in range((waiting or {}).get(name, 1))]
    return open_session(*objects, plugins="{name: drf, enableHierarchy: true}")


def in_order(ssn):
    order = ssn.plugins["drf"].queue_order
    return sorted(ssn.queues.values(), key=lambda q: sum(
        order(other, q) < 0 for other in ssn.queues.values()))


@pytest.mark.parametrize(("weight", "counts"), [
    ("2", 2.0), ("1.5", 1.5), ("1", 1.0), ("0.5", 1.0), ("0", 1.0), ("-3", 1.0), ("x", 1.0)])
def test_a_weight_in_the_hierarchy_is_at_least_one(weight, counts):
    """Two branches that hold the same differ by their weights alone."""
    ssn = tree({"dev": f"1/{weight}/1"}, dev=2, art=2)
    order = ssn.plugins["drf"].queue_order(ssn.queues["dev"], ssn.queues["art"])
    share = ssn.plugins["drf"].hierarchy.root.children["art"].share
    assert order == pytest.approx(share / counts - share)


@pytest.mark.parametrize(
    ("sentence", "running", "weights", "first"),
    [
        ("the emptier branch", {"dev": 1, "ops": 2, "art": 4}, {}, "dev"),
        ("below one branch the emptier queue", {"dev": 3, "ops": 1, "art": 9}, {}, "ops"),
        ("a branch counts as its poorest queue, for each of its queues",
         {"dev": 1, "ops": 5, "art": 3}, {}, "dev"),
        ("a queue that holds nothing does not count for its branch", {"ops": 3, "art": 1}, {},
         "art"),
        ("weights divide", {"dev": 2, "ops": 2, "art": 5}, {"art": "1/4"}, "art"),
        ("of the inner levels, too", {"dev": 3, "ops": 2, "art": 9}, {"dev": "1/1/3"}, "dev"),
        ("a weight that is no number is one", {"dev": 2, "ops": 1, "art": 9}, {"dev": "1/1/x"},
         "ops"),
    ],
)
def test_the_queue_that_is_served_first(sentence, running, weights, first):
    assert in_order(tree(weights, **running))[0].name == first, sentence


def test_weights_count_alike_for_both_of_two_queues():
    ssn = tree({"art": "1/4", "dev": "1/1/3"}, dev=3, ops=2, art=5)
    order = ssn.plugins["drf"].queue_order
    for left, right in permutations(ssn.queues.values(), 2):
        assert order(left, right) == -order(right, left)


def test_a_saturated_branch_is_last():
    """All memory is in use: who needs it is saturated, however little it holds."""
    ssn = tree(memory=("art",), art=4, dev=5, ops=5)
    assert in_order(ssn)[-1].name == "art"


@pytest.mark.parametrize(
    ("sentence", "running", "victims"),
    [
        ("as long as the other branch would still come after mine", {"art": 6}, ["art-0"]),
        ("not from a branch that would come first", {"art": 1, "dev": 3, "ops": 3}, []),
    ],
)
def test_reclaimable(sentence, running, victims):
    ssn = tree(**running)
    found = ssn.plugins["drf"].reclaimable(task(ssn, "dev-wait"), [task(ssn, "art-0")])
    assert (names(found[0]), found[1]) == (victims, PERMIT), sentence


def test_a_trial_of_reclaiming_leaves_the_tree_as_it_was():
    ssn = tree(art=6, dev=1)
    before = in_order(ssn), ssn.plugins["drf"].hierarchy.total_allocated
    ssn.plugins["drf"].reclaimable(task(ssn, "dev-wait"), [task(ssn, "art-0")])
    assert (in_order(ssn), ssn.plugins["drf"].hierarchy.total_allocated) == before


AMOUNTS = [dict(zip(("dev", "ops", "art"), each, strict=True))
           for each in product((0, 1, 3), (0, 2, 5), (1, 2, 4))]
FULL = [{"dev": dev, "art": art, "ops": held - dev - art}  # of 16 CPUs all are held, or but one
        for dev, art, held in product(range(0, 9, 2), range(1, 9, 2), (15, 16)) if dev + art < 15]


@pytest.mark.long
@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("memory", [(), ("art",)])
def test_a_victim_is_one_without_which_its_queue_comes_after_the_reclaimers(memory, more):
    """Compared with a cluster in which the victim is gone and the reclaimer is placed."""
    found = set()
    for running in [*AMOUNTS, *FULL]:
        then = tree(memory=memory, waiting={"dev": more, "art": 2}, **running | {
            "dev": running["dev"] + 1, "art": running["art"] - 1})
        after = then.plugins["drf"].queue_order(then.queues["dev"], then.queues["art"])
        ssn = tree(memory=memory, waiting={"dev": 1 + more}, **running)
        victims, _ = ssn.plugins["drf"].reclaimable(task(ssn, "dev-wait"), [task(ssn, "art-0")])
        assert bool(victims) is (after < 0), running
        found.add(bool(victims))
    assert found == {True, False}


FEW = [{"ops": ops, "art": art} for ops, art in product((1, 2), (1, 2, 3, 4))]


@pytest.mark.parametrize("running", [*FULL, *FEW])
def test_candidates_are_judged_one_by_one(running):
    """Where a trial frees the only CPU, or leaves a queue with none: the next one starts over."""
    ssn = tree(**running)
    reclaimable, claimant = ssn.plugins["drf"].reclaimable, task(ssn, "dev-wait")
    jobs = [ssn.jobs[f"default/{name}"] for name in ("ops", "art")]
    candidates = [each for job in jobs for each in job.tasks.values() if each.node_name]
    for some in (candidates, candidates[::-1]):
        alone = [each for each in some if reclaimable(claimant, [each])[0]]
        assert names(reclaimable(claimant, some)[0]) == names(alone)


@pytest.mark.parametrize("running", AMOUNTS[::4])
def test_the_queues_follow_what_is_placed_and_taken_back(running):
    ssn, then = tree(**running), tree(waiting={"dev": 0}, **running | {"dev": running["dev"] + 1})

    def orders(one):
        queues = [one.queues[name] for name in ("dev", "ops", "art")]
        return [one.plugins["drf"].queue_order(*pair) for pair in permutations(queues, 2)]

    before, statement = orders(ssn), ssn.statement()
    statement.allocate(task(ssn, "dev-wait"), ssn.nodes["n1"])
    assert orders(ssn) == orders(then) != before
    statement.discard()
    assert orders(ssn) == before


def test_a_pod_changes_the_shares_above_it_only(monkeypatch):
    """As long as the cluster has some left of each resource."""
    asked = []

    def counted(allocated, request, demanding):
        asked.append(request)
        return resource_saturated(allocated, request, demanding)

    ssn = tree(dev=2, ops=3, art=4)
    monkeypatch.setattr(hierarchy, "resource_saturated", counted)
    statement = ssn.statement()
    statement.allocate(task(ssn, "dev-wait"), ssn.nodes["n1"])
    assert len(asked) == 1
