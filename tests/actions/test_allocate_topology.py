"""allocate with a hard network topology: the HyperNode of a job, and what is left of attempts."""

import math

import pytest
from hyper_scene import gang, two_tiers
from small_cluster import NOW, conf, queue

from volcano_lab.api.objects import ResourceRequirements
from volcano_lab.cache import Cache
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.plugin import Plugin, register_plugin
from volcano_lab.scheduler import Scheduler

CONF = conf("priority", "gang", "predicates", "nodeorder", "network-topology-aware")


class Watching(Observer):
    """With it each HyperNode is tried, and tried again where it is chosen."""

    watches_calls = True


def hard(tier=1):
    return {"mode": "hard", "highestTierAllowed": tier}


def leaving(name, *nodes):
    """A gang of whole nodes whose pods end soon."""
    return [each.changed(metadata={"deletion_timestamp": NOW + 9}) if each.kind == "Pod" else each
            for each in gang(name, len(nodes), None, nodes, cpu="4")]


def of_minimum(least, *args, **more):
    first, *pods = gang(*args, **more)
    return [first.changed(spec={"min_member": least}), *pods]


def cycle(*objects, conf=CONF, observer=None):
    """The session of one cycle."""
    return Scheduler(Cache([queue(), *two_tiers(), *objects]), conf).run_once(observer, now=NOW)


def found(ssn, name="new"):
    """The HyperNode of a job, and the nodes of its pods in their order."""
    job = ssn.jobs[f"default/{name}"]
    places = sorted((task.name, task.node_name) for task in job.tasks.values())
    return job.allocated_hyper_node, " ".join(node or "-" for _, node in places)


S0 = gang("old", 1, None, ["n0"])  # one CPU of four is in use
S1 = gang("old", 1, None, ["n3"])
PLACED = [  # what is there, the gang, its HyperNode and nodes
    ("the first of equal leaves", [], gang("new", 2, hard(), cpu="4"), "s0", "n0 n1"),
    ("a lower tier before a higher one", [], gang("new", 2, hard(2), cpu="4"), "s0", "n0 n1"),
    ("the tier above where no leaf holds it", [], gang("new", 3, hard(2), cpu="4"), "top",
     "n0 n1 n2"),
    ("nothing where no allowed tier holds it", [], gang("new", 3, hard(), cpu="4"), "", "- - -"),
    ("the only leaf that holds it", S0, gang("new", 2, hard(), cpu="4"), "s1", "n2 n3"),
    ("the fuller one of two leaves", S1, gang("new", 2, hard(), cpu="3"), "s1", "n2 n3"),
    ("the leaf that has some of its pods, though another is fuller", S1,
     gang("new", 3, hard(), ["n1"], cpu="2"), "s0", "n1 n0 n0"),
    ("the tier above where its leaf is too small", [], gang("new", 3, hard(2), ["n1"], cpu="4"),
     "top", "n1 n2 n3"),
    ("nothing where its leaf is too small and no more is allowed", [],
     gang("new", 3, hard(), ["n1"], cpu="4"), "s0", "n1 - -"),
    ("the tier above for pods beyond the minimum where its leaf is full",
     gang("busy", 1, None, ["n0"], cpu="4"), of_minimum(1, "new", 3, hard(2), ["n1"], cpu="4"),
     "top", "n1 n2 n3"),
    ("pods above the minimum in the same leaf", [], of_minimum(2, "new", 5, hard(), cpu="2"), "s0",
     "n0 n1 n0 n1 -"),
    ("resources that become free, with no HyperNode yet",
     [*leaving("old", "n0", "n1"), *gang("busy", 2, None, ["n2", "n3"])],
     gang("new", 2, hard(), cpu="4"), "", "n0 n1"),
    ("free resources before those that become free", leaving("old", "n0", "n1"),
     gang("new", 2, hard(), cpu="4"), "s1", "n2 n3"),
    ("only a leaf with the job's minimum, though another is fuller and holds the pods", S0,
     gang("new", 2, hard(), cpu="3", minResources={"cpu": "8"}), "s1", "n2 n3"),
    ("what becomes free counts for the minimum",
     [*leaving("old", "n0", "n1"), *gang("busy", 2, None, ["n2", "n3"])],
     gang("new", 2, hard(), cpu="4", minResources={"cpu": "8"}), "", "n0 n1"),
    ("what pods in use request does not", [*S0, *gang("busy", 2, None, ["n2", "n3"])],
     gang("new", 2, hard(), cpu="3", minResources={"cpu": "8"}), "", "- -"),
    ("the tier above where no leaf has the minimum", S0,
     gang("new", 2, hard(2), cpu="3", minResources={"cpu": "9"}), "top", "n1 n0"),
]


@pytest.mark.parametrize("sentence, there, new, hyper_node, nodes", PLACED)
def test_the_hyper_node_of_a_job(sentence, there, new, hyper_node, nodes):
    ssn = cycle(*there, *new)
    assert found(ssn) == (hyper_node, nodes), sentence
    watched = cycle(*there, *new, observer=Watching())
    assert found(watched) == (hyper_node, nodes)
    assert watched.committed == ssn.committed and watched.undone == ssn.undone


def test_jobs_take_one_leaf_after_the_other():
    ssn = cycle(*(each for number in (1, 2, 3)
                  for each in gang(f"new{number}", 2, hard(), cpu="4")))
    assert [found(ssn, f"new{number}") for number in (1, 2, 3)] == [
        ("s0", "n0 n1"), ("s1", "n2 n3"), ("", "- -")]
    errors = ssn.jobs["default/new1"].nodes_fit_errors
    assert not errors, "it has its places: what other attempts found is no longer said"


@pytest.mark.parametrize("scores, hyper_node", [
    ({"s0": 1, "s1": 2}, "s1"), ({"s0": 2, "s1": 1}, "s0"), ({"s1": -1, "s0": -2}, "s1"),
    ({"s0": -math.inf, "s1": -1}, "s1"), ({"s0": -math.inf, "s1": -math.inf}, "top"),
    ({"s0": -math.inf, "s1": -math.inf, "top": -math.inf}, ""), ({"top": 9, "s1": 1}, "s1")])
def test_the_hyper_node_with_the_highest_score(scores, hyper_node):
    class Scores(Plugin):
        name = "scores"

        def hyper_node_order(self, sub_job, nodes):
            return scores

    register_plugin("scores", Scores)
    for observer in (None, Watching()):
        ssn = cycle(*gang("new", 2, hard(2), cpu="4"), observer=observer, conf=conf(
            "gang", "predicates", "{name: network-topology-aware, enabledHyperNodeOrder: false}",
            "scores"))
        assert found(ssn)[0] == hyper_node
        assert len(ssn.committed) == 2 * bool(hyper_node)
        assert all(node.used.get("cpu") == 4000 * (node.name in {
            task.node_name for task in ssn.jobs["default/new"].tasks.values()})
            for node in ssn.nodes.values()), "attempts leave nothing"


def uneven(topology, *cpus, least=2):
    """A gang whose pods request different amounts, in the order of their names."""
    first, *pods = gang("new", len(cpus), topology)
    return [first.changed(spec={"min_member": least}), *(
        each.changed(spec={"containers": [each.spec.containers[0].evolve(
            resources=ResourceRequirements({"cpu": str(cpu), "memory": "1Gi"}))]})
        for each, cpu in zip(pods, cpus, strict=True))]


@pytest.mark.parametrize("in_small", [  # pods in the leaf that the large one does not fit
    {"old": ["n0", "n1"]}, {"old": ["n2", "n3"]}], ids=["small-first", "small-last"])
@pytest.mark.parametrize("scores", [{"s0": 2, "s1": 1}, {"s0": 1, "s1": 2}], ids=str)
@pytest.mark.parametrize("cpus", [(4, 1, 1, 1), (1, 4, 1)], ids=str)
def test_after_several_attempts_the_pods_left_are_those_of_the_best(in_small, scores, cpus):
    """Each attempt places other pods: in the leaf with less left, not the large one. What the best
    one did not place is placed in the following round; of the others nothing is left.
    """
    class Scores(Plugin):
        name = "scores"

        def hyper_node_order(self, sub_job, nodes):
            return scores

    register_plugin("scores", Scores)
    text = conf("gang", "predicates",
                "{name: network-topology-aware, enabledHyperNodeOrder: false}", "scores")
    (there,) = in_small.values()
    small = "s0" if there == ["n0", "n1"] else "s1"
    best = max(("s0", "s1"), key=scores.__getitem__)
    for observer in (None, Watching()):
        ssn = cycle(*gang("old", 2, None, there, cpu="2"), *uneven(hard(), *cpus), conf=text,
                    observer=observer)
        hyper_node, nodes = found(ssn)
        assert hyper_node == best
        waits = [cpu for cpu, node in zip(cpus, nodes.split(), strict=True) if node == "-"]
        assert waits == ([4] if best == small else [])
