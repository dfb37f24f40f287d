"""The nodeorder plugin: its scores, their weights, and what they see of the cluster."""

import pytest
from kube_scene import HOSTNAME, Scene, node, pod, rather_near, rather_on_nodes, spread

from volcano_lab.api.objects import Taint, Toleration

ALL = ("leastrequested", "mostrequested", "balancedresource", "nodeaffinity", "podaffinity",
       "tainttoleration", "imagelocality", "podtopologyspread")
SLOW = Taint("slow", "", "PreferNoSchedule")


def only(rule: str, weight: int = 1) -> dict[str, int]:
    """One score on, all others off."""
    return {f"{name}.weight": weight if name == rule else 0 for name in ALL}


@pytest.mark.parametrize(
    ("sentence", "rule", "score"),
    [
        ("least requested: a quarter of the CPU, half of the memory would be taken",
         "leastrequested", (75 + 50) // 2),
        ("most requested: the other way round", "mostrequested", (25 + 50) // 2),
        ("balanced: half of the distance between the two", "balancedresource", 87),
        ("no wish about nodes", "nodeaffinity", 0),
        ("no image is known to be there", "imagelocality", 0),
    ],
)
def test_scores_of_one_node(sentence, rule, score):
    one = pod(cpu="1", memory="4Gi")
    assert Scene([node(cpu="4", memory="8Gi")],
                 arguments=only(rule)).scores(one) == {"n1": score}, sentence
    assert Scene([node(cpu="4", memory="8Gi")],
                 arguments=only(rule, 7)).scores(one) == {"n1": 7 * score}, sentence


def test_by_default_least_requested_and_balance_count_and_images_find_nothing():
    scene = Scene([node(cpu="4", memory="8Gi")])
    assert scene.scores(pod(cpu="1", memory="2Gi")) == {"n1": 75 + 100}
    wish = rather_on_nodes(5, HOSTNAME, "n1")
    assert scene.scores(pod("q", cpu="1", memory="2Gi", affinity=wish)) == {"n1": 75 + 100 + 2 * 5}


def test_a_best_effort_pod_counts_a_little_for_least_requested_and_has_no_balance():
    scene = Scene([node(cpu="1", memory="2000Mi")], arguments=only("leastrequested"))
    assert scene.scores(pod(cpu="", memory="")) == {"n1": 90}
    balanced = Scene([node(cpu="1", memory="2000Mi")], arguments=only("balancedresource"))
    assert balanced.scores(pod(cpu="", memory="")) == {"n1": 0}


def test_gpus_are_balanced_only_for_pods_that_request_some():
    scene = Scene([node(cpu="4", memory="4Gi", extra={"nvidia.com/gpu": "4"})],
                  arguments=only("balancedresource"))
    assert scene.scores(pod(cpu="1", memory="1Gi")) == {"n1": 100}
    assert scene.scores(pod("g", cpu="1", memory="1Gi", extra={"nvidia.com/gpu":
                                                               "4"})) == {"n1": 64}


def test_a_placement_changes_the_scores_of_its_node_and_of_no_other():
    scene = Scene([node("n1"), node("n2")], arguments=only("leastrequested"))
    one = pod(cpu="1", memory="2Gi")
    assert scene.scores(one) == {"n1": 75, "n2": 75}
    task = scene.place(pod("a", cpu="1", memory="2Gi"), "n1")
    assert scene.scores(one) == {"n1": 50, "n2": 75}
    scene.take_away(task)
    assert scene.scores(one) == {"n1": 75, "n2": 75}


def test_taints_that_should_be_avoided_lower_the_score_among_the_nodes_in_question():
    nodes = [
        node("n1"),
        node("n2", taints=[SLOW]),
        node("n3", taints=[SLOW, Taint("old", "", "PreferNoSchedule")])
    ]
    scene = Scene(nodes, arguments=only("tainttoleration", 3))
    assert scene.batch_scores(pod()) == {"n1": 300, "n2": 150, "n3": 0}
    assert scene.batch_scores(pod(), "n1", "n2") == {"n1": 300, "n2": 0}
    assert scene.batch_scores(
        pod(tolerations=[Toleration("slow", "Exists")])) == {"n1": 300, "n2": 300, "n3": 0}
    hard = [Toleration("slow", "Exists", "", "NoSchedule")]
    assert scene.batch_scores(pod(tolerations=hard)) == {"n1": 300, "n2": 150, "n3": 0}


def test_scores_that_compare_nodes_add_up_with_their_weights():
    nodes = [node("n1", zone="a"), node("n2", zone="b")]
    scene = Scene(nodes, {"n1": [pod("old"), pod("db", "db")]},
                  {"podaffinity.weight": 5, "podtopologyspread.weight": 7})
    one = pod(affinity=rather_near("db", 10), topology_spread_constraints=spread(
        "zone", hard=False))
    assert scene.batch_scores(one) == {"n1": 300 + 500, "n2": 300 + 700}


def test_a_weight_of_zero_switches_a_score_off():
    scene = Scene([node("n1", taints=[SLOW]), node("n2")], arguments=dict.fromkeys(
        (f"{name}.weight" for name in ALL), 0))
    assert scene.scores(pod()) == {"n1": 0, "n2": 0} and scene.batch_scores(
        pod()) == {"n1": 0, "n2": 0}
