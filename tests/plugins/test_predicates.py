"""The predicates plugin: what is checked in which order, the switches, the cache, events and
simulations.
"""

import copy

import numpy as np
import pytest
from kube_scene import Scene, away_from, near, node, on_nodes, pod, spread

from volcano_lab.api.fit_error import ERROR, UNRESOLVABLE, UNSCHEDULABLE
from volcano_lab.api.objects import Taint
from volcano_lab.api.task import TaskInfo
from volcano_lab.plugins.predicates import CACHE_ENABLE, TEMPLATE_UID

FULL = "node(s) pod number exceeded"
CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint {gpu: x}"
SELECTOR = "node(s) didn't match Pod's node affinity/selector"
PORTS = "node(s) didn't have free ports for the requested pod ports"
AFFINITY = "node(s) didn't match pod affinity rules"
ANTI = "node(s) didn't match pod anti-affinity rules"
SPREAD = "node(s) didn't match pod topology spread constraints"
GPU = Taint("gpu", "x", "NoSchedule")
OLD = [pod("old", host_port=80)]


@pytest.mark.parametrize(
    ("sentence", "change", "wish", "reasons"),
    [
        ("a node that it fits", {}, {}, []),
        ("a node that has all the pods it may have", {"pods": "1"}, {}, [FULL]),
        ("a node that says nothing of pods takes none", {"pods": "0"}, {}, [FULL]),
        ("a full node is checked further", {"pods": "1", "taints": [GPU]}, {}, [FULL, TAINTED]),
        ("a cordon comes before taints", {"unschedulable": True, "taints": [GPU]}, {}, [CORDONED]),
        ("node affinity comes before a cordon", {"unschedulable": True
                                                 }, {"node_selector": {"a": "b"}}, [SELECTOR]),
        ("a taint ends the check before ports", {"taints": [GPU]}, {"host_port": 80}, [TAINTED]),
        ("reasons that evictions can mend add up", {"pods": "1"}, {
            "host_port":
            80, "affinity":
            away_from("web"), "topology_spread_constraints":
            [*spread("kubernetes.io/hostname", app="web", min_domains=2)]
        }, [FULL, ANTI, PORTS, SPREAD]),
        ("pod affinity that no eviction mends ends it", {},
         {"host_port": 80, "affinity": near("db")}, [AFFINITY]),
    ],
)
def test_reasons_and_their_order(sentence, change, wish, reasons):
    found = Scene([node("n1", **change)], {"n1": OLD}).reasons(pod(**wish))
    assert found == ({"n1": reasons} if reasons else {}), sentence


def test_codes_and_text_of_a_refusal():
    scene = Scene([node("n1", taints=[GPU], pods="1")], {"n1": OLD})
    error = scene.predicates.predicate(TaskInfo(pod()), scene.nodes["n1"])
    assert [status.code
            for status in error.statuses] == [UNSCHEDULABLE, UNRESOLVABLE]
    assert str(error) == f"task default/p on node n1 fit failed: {FULL}, {TAINTED}"


@pytest.mark.parametrize(
    ("switch", "change", "wish"),
    [
        ("NodeAffinityEnable", {}, {"affinity": on_nodes("zone", "Exists")}),
        ("TaintTolerationEnable", {"taints": [GPU]}, {}),
        ("NodePortsEnable", {}, {"host_port": 80}),
        ("PodAffinityEnable", {}, {"affinity": away_from("web")}),
        ("PodTopologySpreadEnable", {}, {"topology_spread_constraints": spread("zone")}),
    ],
)
def test_an_argument_disables_its_rule(switch, change, wish):
    for on in (True, False):
        scene = Scene([node("n1", **change)], {"n1": OLD}, {f"predicate.{switch}": on})
        assert scene.fits(pod(**wish)) == ([] if on else ["n1"])
        assert scene.predicates.predicate_nodes(TaskInfo(pod(**wish))).tolist() == [not on]


def test_a_cordon_has_no_switch():
    every = ("NodeAffinity", "TaintToleration", "NodePorts", "PodAffinity", "PodTopologySpread")
    scene = Scene([node(unschedulable=True)],
                  arguments={f"predicate.{name}Enable": False for name in every})
    assert scene.reasons(pod()) == {"n1": [CORDONED]}


def test_with_the_cache_pods_of_one_template_share_the_answer_of_the_stable_rules():
    scene = Scene([node("n1"), node("n2", pods="0")], arguments={CACHE_ENABLE: True})
    marked = {TEMPLATE_UID: "t1"}
    assert scene.reasons(pod("a", annotations=marked, node_selector={"x": "y"})) == {
        "n1": [SELECTOR],
        "n2": [FULL, SELECTOR],
    }
    refused = "plugin equivalence cache predicates failed"
    assert scene.reasons(pod("b", annotations=marked)) == {"n1": [refused], "n2": [FULL, refused]}
    error = scene.predicates.predicate(TaskInfo(pod("b", annotations=marked)), scene.nodes["n1"])
    assert error.statuses[0].code == ERROR
    assert scene.reasons(pod("c", annotations={TEMPLATE_UID: "t2"})) == {"n2": [FULL]}
    assert scene.reasons(pod("d", node_selector={"x": "y"}, annotations={TEMPLATE_UID:
                                                                         "t2"})) == {"n2": [FULL]}
    assert scene.reasons(pod(
        "e", node_selector={"x": "y"})) == {"n1": [SELECTOR], "n2": [FULL, SELECTOR]}
    assert scene.predicates.predicate_nodes(TaskInfo(pod())) is None


def test_without_a_look_at_the_cluster_the_counting_rules_report_a_fault():
    scene = Scene([node("n1")])
    task = TaskInfo(pod())
    error = scene.predicates.predicate(task, scene.nodes["n1"])
    assert error.reasons == ['error reading "PreFilterInterPodAffinity" from cycleState: not found']
    assert scene.predicates.predicate_nodes(task) is None
    tried, n1 = scene.cycle_state(task.uid), scene.nodes["n1"]
    assert scene.predicates.simulate_predicate(tried, task, n1) == (
        f"failed to filter pod on node n1: {error.reasons[0]}")


def test_a_node_that_the_session_does_not_know():
    scene, other = Scene([node("n1")]), Scene([node("n2")])
    error = scene.predicates.predicate(TaskInfo(pod()), other.nodes["n2"])
    assert error.reasons == ["node info not found"]


def test_placements_count_until_they_are_undone():
    scene = Scene([node("n1", pods="1"), node("n2", pods="1")])
    task = scene.place(pod("a"), "n1")
    assert scene.fits(pod("b")) == ["n2"]
    scene.take_away(task)
    assert scene.fits(pod("c")) == ["n1", "n2"]
    scene.take_away(task)  # it was removed already: nothing changes
    assert scene.predicates.kube.pod_count.tolist() == [0, 0]


def test_an_eviction_can_be_tried_on_a_copy_of_the_state():
    scene = Scene([node("n1")], {"n1": [pod("old", "db")]})
    task, victim, n1 = TaskInfo(pod(affinity=away_from("db"))), TaskInfo(pod(
        "old", "db")), scene.nodes["n1"]
    scene.predicates.pre_predicate(task)
    state = scene.cycle_state(task.uid)
    tried = {key: copy.copy(value) for key, value in state.items()}
    refused = f"failed to filter pod on node n1: {ANTI}"
    assert scene.predicates.simulate_predicate(tried, task, n1) == refused
    assert scene.predicates.simulate_remove_task(tried, task, victim, n1) is None
    assert scene.predicates.simulate_predicate(tried, task, n1) is None
    assert scene.predicates.simulate_predicate(state, task, n1) == refused
    assert scene.predicates.simulate_add_task(tried, task, victim, n1) is None
    assert scene.predicates.simulate_predicate(tried, task, n1) == refused


def test_its_batch_scores_are_zero_for_every_node_of_the_cluster():
    scene = Scene([node("n1"), node("n2")])
    assert scene.predicates.batch_node_order(TaskInfo(pod()),
                                             [scene.nodes["n1"]]) == {"n1": 0.0, "n2": 0.0}
    assert not np.any(scene.predicates.batch_node_order_nodes(TaskInfo(pod())))
    without = Scene([node("n1")], arguments={"predicate.VolumeBindingEnable": False})
    assert without.predicates.batch_node_order(TaskInfo(pod()), []) == {}
