"""Answers for all nodes at once are those node by node, whatever has been placed and taken away
before.
"""

import copy

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from kube_random import pods_to_place, renamed, scenes
from kube_scene import Scene

from volcano_lab.api import NodeInfo, TaskInfo
from volcano_lab.api.node_affinity import required_node_affinity
from volcano_lab.api.node_table import NodeTable
from volcano_lab.api.objects import Node, ObjectMeta, Pod, PodSpec
from volcano_lab.api.selector import Requirement
from volcano_lab.plugins.kube import inter_pod_affinity, topology_spread
from volcano_lab.plugins.kube.node_pods import KubeNodes
from volcano_lab.plugins.kube.pod_changes import PodChanges
from volcano_lab.plugins.kube.pod_info import PodInfo

pods = st.lists(pods_to_place(), min_size=1, max_size=5)


@pytest.mark.long
@settings(max_examples=120)
@given(scenes(), pods, st.data())
def test_all_nodes_at_once_as_node_by_node(scene: Scene, pods, data):
    placed = []
    for number, one in enumerate(pods):
        task = TaskInfo(renamed(one, f"new-{number}"))
        scene.predicates.pre_predicate(task)
        mask = scene.predicates.predicate_nodes(task)
        assert mask.tolist() == [
            scene.predicates.predicate(task, n) is None for n in scene.node_list
        ]
        for rows in (mask, np.ones(len(mask), bool)):
            chosen = [n for n, at in zip(scene.node_list, rows, strict=True) if at]
            batch = scene.nodeorder.batch_node_order(task, chosen)
            scores = scene.nodeorder.batch_node_order_nodes(task, rows)
            assert [scores[n.row] for n in chosen] == [batch[n.name] for n in chosen]
        if data.draw(st.booleans(), label="take one away") and placed:
            scene.take_away(placed.pop())
        else:
            placed.append(
                scene.place(task.pod, data.draw(st.sampled_from(sorted(scene.nodes)),
                                                label="node")))


@pytest.mark.long
@settings(max_examples=80)
@given(scenes(), pods, pods_to_place("last"), st.data())
def test_updated_counts_equal_recounted_ones(scene: Scene, pods, last, data):
    for number, one in enumerate(
            pods):  # ask about every pod first, so that its counts exist before the placements
        answers(scene.predicates.kube, renamed(one, f"new-{number}"))
    names, placed = sorted(scene.nodes), []
    for number, one in enumerate(pods):
        placed.append(scene.place(renamed(one, f"new-{number}"), names[number % len(names)]))
        for ask in data.draw(st.lists(st.booleans(), max_size=3), label="take the last away"):
            if ask:  # between two changes, so that counts follow what is undone, too
                answers(scene.predicates.kube, renamed(one, f"new-{number}"))
            elif placed:
                scene.take_away(placed.pop())
    kube = scene.predicates.kube
    table = NodeTable()
    nodes = [NodeInfo(n.name, table, n.node) for n in kube.nodes]
    for node, there in zip(nodes, kube.nodes, strict=True):
        node.tasks = {info.uid: TaskInfo(info.pod) for info in kube.pods(there)}
    recounted = KubeNodes(nodes, kube.namespaces)
    recounted.rows_with_affinity = kube.rows_with_affinity
    recounted.rows_with_required_anti_affinity = kube.rows_with_required_anti_affinity
    for one in (*pods, last):
        assert answers(kube, one) == answers(recounted, one)
    assert kube.taken.tolist() == recounted.taken.tolist()
    assert kube.pod_count.tolist() == recounted.pod_count.tolist()


def answers(kube: KubeNodes, one):
    """The answers of the counting rules for a pod, as comparable data."""
    info = kube.info(one)
    rows = np.arange(len(kube.nodes))
    affinity = inter_pod_affinity.pre_filter(kube, info)
    spread = topology_spread.pre_filter(kube, info)
    return (
        affinity and [affinity.refusal(n) for n in kube.nodes],
        spread and [spread.refusal(n) for n in kube.nodes],
        np.broadcast_to(inter_pod_affinity.scores(kube, info, rows), rows.shape).tolist(),
        np.broadcast_to(topology_spread.scores(kube, info, rows), rows.shape).tolist(),
    )


@pytest.mark.long
@given(scenes(), pods_to_place(), pods_to_place("guest"))
def test_a_simulated_pod_counts_on_the_copy_alone_and_leaves_again(scene: Scene, one, guest):
    task, other = TaskInfo(one), TaskInfo(renamed(guest, "guest"))
    scene.predicates.pre_predicate(task)
    state = scene.cycle_state(task.uid)
    tried = {key: copy.copy(value) for key, value in state.items()}
    before = simulate(scene, tried, task)
    for n in scene.node_list:
        scene.predicates.simulate_add_task(tried, task, other, n)
    assert simulate(scene, state, task) == before
    for n in scene.node_list:
        scene.predicates.simulate_remove_task(tried, task, other, n)
    assert simulate(scene, tried, task) == before


def simulate(scene: Scene, state: dict, task: TaskInfo):
    return [scene.predicates.simulate_predicate(state, task, n) for n in scene.node_list]


def test_a_condition_is_asked_once_for_each_value_of_its_label(monkeypatch):
    holds, asked = Requirement.holds, []

    def counted(self, labels):
        asked.append(labels)
        return holds(self, labels)

    monkeypatch.setattr(Requirement, "holds", counted)
    table = NodeTable()
    kube = KubeNodes([NodeInfo(f"n{number}", table, Node(ObjectMeta(
        f"n{number}", labels={"zone": f"z{number % 3}"}))) for number in range(30)], {})
    selects = required_node_affinity(Pod(spec=PodSpec(node_selector={"zone": "z1"})))
    assert kube.required(selects).sum() == 10
    assert len(asked) == 4  # three values, and none


def test_what_was_undone_since_counts_with_its_opposite():
    changes, info = PodChanges(), PodInfo(Pod())
    changes.add(0, info, 1)
    seen = changes.last
    changes.add(0, info, -1)
    changes.add(1, info, 1)
    assert [*changes.since(seen)] == [(0, info, -1), (1, info, 1)]
