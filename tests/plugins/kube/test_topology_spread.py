"""Topology spread: sentences about small clusters, and random ones against the definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from kube_random import pods_to_place, scenes
from kube_scene import HOSTNAME, Scene, node, on_nodes, pod, spread
from labels import matches

from volcano_lab.api.objects import LabelSelector, Taint
from volcano_lab.plugins.kube import topology_spread
from volcano_lab.plugins.kube.pod_info import PodInfo
from volcano_lab.plugins.kube.topology_spread import MISSING_LABEL_REASON, REASON

ZONES = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4")]
TAINTED = [node("n1", zone="a"), node("n2", zone="b", taints=[Taint("gpu", effect="NoSchedule")])]


def running(**counts: int) -> dict:
    """That many pods of app "web" on each node."""
    return {name: [pod(f"{name}-{i}") for i in range(count)] for name, count in counts.items()}


@pytest.mark.parametrize(
    ("sentence", "counts", "constraint", "allowed"),
    [
        ("the first pod may go wherever the label is", {}, spread("zone"), "n1 n2 n3"),
        ("zone a is one ahead, so zone b is next", {"n1": 1}, spread("zone"), "n3"),
        ("with a skew of two zone a is still allowed", {"n1": 1}, spread("zone", 2), "n1 n2 n3"),
        ("nodes count by host name too", {"n1": 1, "n2": 1, "n3": 1}, spread(HOSTNAME), "n4"),
        ("pods that the selector doesn't choose don't count", {"n1": 3}, spread(
            "zone", app="db"), "n1 n2 n3"),
        ("too few domains: the emptiest counts as zero", {"n1": 1, "n3": 1
                                                          }, spread("zone", min_domains=3), ""),
        ("enough domains: the emptiest has one", {"n1": 1, "n3": 1}, spread(
            "zone", min_domains=2), "n1 n2 n3"),
        ("soft constraints refuse nothing", {"n1": 5}, spread("zone", hard=False), "n1 n2 n3 n4"),
        ("a node without all labels counts for none of them", {"n1": 1, "n2": 1, "n3": 1},
         spread("zone") + spread(HOSTNAME), "n3"),
        ("all constraints must hold", {"n1": 1}, spread("zone") + spread(HOSTNAME), "n3"),
    ],
)
def test_where_a_pod_may_be_placed(sentence, counts, constraint, allowed):
    assert Scene(ZONES, running(**counts)).fits(
        pod(topology_spread_constraints=constraint)) == allowed.split(), (sentence)


@pytest.mark.parametrize(
    ("sentence", "more", "allowed"),
    [
        ("a zone that the pod can't use is left out, unless set otherwise", {}, ["n1", "n2"]),
        ("if its wish about nodes is ignored, zone b is the empty one",
         {"node_affinity_policy": "Ignore"}, []),
    ],
)
def test_node_affinity_policy(sentence, more, allowed):
    one = pod(affinity=on_nodes("zone", "In", "a"), topology_spread_constraints=spread(
        "zone", **more))
    assert Scene(ZONES[:3], running(n1=1)).fits(one) == allowed, sentence


@pytest.mark.parametrize(
    ("sentence", "more", "allowed"),
    [
        ("taints are not looked at: tainted zone b is the empty one", {}, []),
        ("if they are, zone b is left out", {"node_taints_policy": "Honor"}, ["n1"]),
    ],
)
def test_node_taints_policy(sentence, more, allowed):
    one = pod(topology_spread_constraints=spread("zone", **more))
    assert Scene(TAINTED, running(n1=1)).fits(one) == allowed, sentence


def test_match_label_keys_narrow_the_selector_to_the_pods_own_value():
    constraint = spread("zone", match_label_keys=["version"])
    one = pod(topology_spread_constraints=constraint)
    one.metadata.labels["version"] = "2"
    assert Scene(ZONES, running(n1=3)).fits(one) == ["n1", "n2", "n3"]


def test_pods_that_are_being_deleted_do_not_count():
    gone = pod("gone")
    gone.metadata.deletion_timestamp = 1.0
    assert Scene(ZONES, {"n1": [gone]}).fits(
        pod(topology_spread_constraints=spread("zone"))) == ["n1", "n2", "n3"]


def test_the_reasons_are_those_of_kubernetes():
    refused = Scene(ZONES, running(n1=1)).reasons(pod(topology_spread_constraints=spread("zone")))
    assert refused == {"n1": [REASON], "n2": [REASON], "n4": [MISSING_LABEL_REASON]}
    assert REASON == "node(s) didn't match pod topology spread constraints"
    assert f"{REASON} (missing required label)" == MISSING_LABEL_REASON


def test_the_score_prefers_zones_with_fewer_pods_and_gives_nothing_without_the_label():
    scene = Scene(ZONES, running(n1=2),
                  {"tainttoleration.weight": 0, "podtopologyspread.weight": 1})
    soft = pod(topology_spread_constraints=spread("zone", hard=False))
    assert scene.batch_scores(soft) == {"n1": 0, "n2": 0, "n3": 100, "n4": 0}
    assert scene.batch_scores(soft, "n1", "n2") == {"n1": 100, "n2": 100}


def test_the_score_counts_no_pods_per_node_as_volcano_does():
    scene = Scene(ZONES, running(n1=2),
                  {"tainttoleration.weight": 0, "podtopologyspread.weight": 1})
    soft = pod(topology_spread_constraints=spread(HOSTNAME, hard=False))
    assert set(scene.batch_scores(soft).values()) == {100}


@pytest.mark.long
@settings(max_examples=120)
@given(scenes(), pods_to_place())
def test_random_clusters_as_by_the_definition(scene: Scene, one):
    kube = scene.predicates.kube
    state = topology_spread.pre_filter(kube, kube.info(one))
    hard = [
        c for c in one.spec.topology_spread_constraints if c.when_unsatisfiable == "DoNotSchedule"
    ]
    soft = [
        c for c in one.spec.topology_spread_constraints if c.when_unsatisfiable == "ScheduleAnyway"
    ]
    for n in kube.nodes:
        refusal = state.refusal(n) if state else None
        assert (refusal and refusal.reason) == reason_by_definition(kube, one, n, hard)
    expected = scores_by_definition(kube, one, soft) if soft else [0] * len(kube.nodes)
    found = topology_spread.scores(kube, kube.info(one), np.arange(len(kube.nodes)))
    assert np.broadcast_to(found, len(kube.nodes)).tolist() == expected


def chosen(c, one, other) -> bool:
    same = all(
        other.labels.get(k) == one.metadata.labels[k]
        for k in c.match_label_keys
        if k in one.metadata.labels)
    return matches(c.label_selector, other.labels) and (same or c.label_selector is None)


def everything(c, one) -> bool:
    """An empty selector chooses all pods, and then counts none of them."""
    return c.label_selector == LabelSelector() and not any(k in one.metadata.labels
                                                           for k in c.match_label_keys)


def counted(kube, one, n, c, constraints) -> bool:
    info = kube.info(one)
    if not all(other.topology_key in n.labels for other in constraints):
        return False
    if c.node_affinity_policy != "Ignore" and not info.required_nodes.matches(n.node):
        return False
    bad = [t for t in n.node.spec.taints if t.effect != "PreferNoSchedule"]
    return c.node_taints_policy != "Honor" or all(
        any(w.effect in ("", t.effect) and w.key in ("", t.key) and
            (w.operator == "Exists" or w.value == t.value)
            for w in one.spec.tolerations)
        for t in bad)


def pods_on(kube, one, n, c) -> int:
    return 0 if everything(c, one) else sum(
        p.namespace == one.namespace and chosen(c, one, p) for p in kube.pods(n))


def domains(kube, one, c, constraints) -> dict[str, int]:
    result: dict[str, int] = {}
    for n in kube.nodes:
        if counted(kube, one, n, c, constraints):
            value = n.labels[c.topology_key]
            result[value] = result.get(value, 0) + pods_on(kube, one, n, c)
    return result


def reason_by_definition(kube, one, n, hard) -> str | None:
    for c in hard:
        if c.topology_key not in n.labels:
            return MISSING_LABEL_REASON
        found = domains(kube, one, c, hard)
        lowest = min(found.values()) if len(found) >= (c.min_domains or 1) else 0
        own = chosen(c, one, PodInfo(one))
        if found.get(n.labels[c.topology_key], 0) + own - lowest > c.max_skew:
            return REASON
    return None


def scores_by_definition(kube, one, soft) -> list[int]:
    kept = [n for n in kube.nodes if all(c.topology_key in n.labels for c in soft)]
    raw = {}
    for n in kept:
        total = 0.0
        for c in soft:
            if c.topology_key == HOSTNAME:
                total += c.max_skew - 1
                continue
            weight = math.log(len({m.labels[c.topology_key] for m in kept}) + 2)
            total += domains(kube, one, c, soft).get(n.labels[c.topology_key], 0) * weight + (
                c.max_skew - 1)
        raw[n.name] = math.floor(total + 0.5)
    high, low = max(raw.values(), default=0), min(raw.values(), default=0)
    return [
        0 if n not in kept else 100 if high == 0 else 100 * (high + low - raw[n.name]) // high
        for n in kube.nodes
    ]
