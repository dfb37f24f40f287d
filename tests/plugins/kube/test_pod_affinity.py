"""Pod affinity and anti-affinity: sentences about small clusters, and random ones against the
definition.
"""

from copy import copy

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from kube_random import pods_to_place, scenes
from kube_scene import HOSTNAME, Scene, away_from, near, node, pod, rather_near
from labels import matches

from volcano_lab.api.fit_error import SUCCESS
from volcano_lab.api.objects import (
    Affinity,
    LabelSelector,
    Pod,
    PodAffinityTerm,
    PodAntiAffinity,
    WeightedPodAffinityTerm,
)
from volcano_lab.plugins.kube import inter_pod_affinity
from volcano_lab.plugins.kube.inter_pod_affinity import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_REASON,
)

ZONES = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b")]
GOLD = {"gold": {"tier": "gold"}, "tin": {"tier": "tin"}}
IN_GOLD = {"namespace_selector": LabelSelector({"tier": "gold"})}


@pytest.mark.parametrize(
    ("sentence", "running", "wish", "allowed"),
    [
        ("without wishes every node will do", {}, None, "n1 n2 n3"),
        ("a pod goes to the node where its friend is", {"n2": ["db"]}, near("db"), "n2"),
        ("or to any node of the same zone", {"n2": ["db"]}, near("db", "zone"), "n1 n2"),
        ("without its friend anywhere there is no place", {}, near("db"), ""),
        ("the first of its own kind may go anywhere", {}, near("web"), "n1 n2 n3"),
        ("but the second follows the first", {"n3": ["web"]}, near("web"), "n3"),
        ("a node without the label is no place to be together", {"n2": ["db"]}, near("db",
                                                                                     "rack"), ""),
        ("not even for the first of its kind", {}, near("web", "rack"), ""),
        ("a pod keeps away from the node of its foe", {"n2": ["db"]}, away_from("db"), "n1 n3"),
        ("or from the whole zone", {"n2": ["db"]}, away_from("db", "zone"), "n3"),
        ("where nodes lack the label nothing keeps it away", {"n2": ["db"]}, away_from(
            "db", "rack"), "n1 n2 n3"),
        ("pods of another namespace don't count", {"n2": ["db"]}, near("db", namespaces=["team"
                                                                                         ]), ""),
    ],
)
def test_where_a_pod_may_be_placed(sentence, running, wish, allowed):
    pods = {name: [pod(f"old-{app}", app) for app in names] for name, names in running.items()}
    assert Scene(ZONES, pods).fits(pod(affinity=wish)) == allowed.split(), sentence


def test_the_reasons_are_those_of_kubernetes():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=away_from("web"))]})
    assert scene.reasons(pod(affinity=near("cache"))) == {
        "n1": [AFFINITY_REASON], "n2": [AFFINITY_REASON], "n3": [AFFINITY_REASON]}
    assert scene.reasons(pod(app="x", affinity=away_from("db"))) == {"n2": [ANTI_AFFINITY_REASON]}
    assert scene.reasons(pod()) == {"n2": [EXISTING_REASON]}
    assert AFFINITY_REASON == "node(s) didn't match pod affinity rules"
    assert ANTI_AFFINITY_REASON == "node(s) didn't match pod anti-affinity rules"
    assert EXISTING_REASON == "node(s) didn't satisfy existing pods anti-affinity rules"


def test_a_node_that_gets_its_first_anti_affine_pod_during_the_session_is_not_seen():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=away_from("web"))]})
    scene.place(pod("new", "db", affinity=away_from("web")), "n1")
    scene.place(pod("other", "db", affinity=away_from("web", "zone")), "n2")
    assert scene.fits(pod()) == ["n3"]  # n1 through the zone of n2's second pod only
    apart = Scene(ZONES, {"n2": [pod("old", "db", affinity=away_from("web"))]})
    apart.place(pod("new", "db", affinity=away_from("web")), "n1")
    assert apart.fits(pod()) == ["n1", "n3"]


def test_a_rule_that_was_skipped_for_a_task_stays_skipped():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=away_from("cache"))]})
    assert scene.fits(pod()) == ["n1", "n2", "n3"]
    scene.place(pod("new", "db", affinity=away_from("web")), "n2")
    assert scene.fits(pod()) == ["n1", "n2", "n3"]
    assert scene.fits(pod("another")) == ["n1", "n3"]


@pytest.mark.parametrize(
    ("sentence", "term", "allowed"),
    [
        ("a namespace selector chooses namespaces by label", IN_GOLD, "n1"),
        ("an empty one chooses all", {"namespace_selector": LabelSelector()}, "n1 n2"),
        ("names and selector add up", {**IN_GOLD, "namespaces": ["tin"]}, "n1 n2"),
    ],
)
def test_namespaces_of_a_term(sentence, term, allowed):
    running = {"n1": [pod("a", "db", namespace="gold")], "n2": [pod("b", "db", namespace="tin")]}
    assert Scene(ZONES, running, namespaces=GOLD).fits(
        pod(affinity=near("db", **term))) == allowed.split(), sentence


def test_preferred_affinity_scores_from_worst_to_best():
    scene = Scene(ZONES, {"n2": [pod("old", "db")]},
                  {"tainttoleration.weight": 0, "podaffinity.weight": 1})
    assert scene.batch_scores(pod(affinity=rather_near("db", 10))) == {"n1": 0, "n2": 100, "n3": 0}
    assert scene.batch_scores(
        pod(affinity=rather_near("db", 10, "zone"))) == {"n1": 100, "n2": 100, "n3": 0}
    assert scene.batch_scores(pod(affinity=rather_near("cache", 10))) == {"n1": 0, "n2": 0, "n3": 0}
    apart = Affinity(pod_anti_affinity=PodAntiAffinity([], [
        WeightedPodAffinityTerm(
            5, PodAffinityTerm(LabelSelector({"app": "db"}), topology_key=HOSTNAME))
    ]))
    assert scene.batch_scores(pod(affinity=apart)) == {"n1": 100, "n2": 0, "n3": 100}


def test_preferred_terms_of_existing_pods_count_but_not_required_ones():
    scene = Scene(
        ZONES, {
            "n2": [pod("old", "db", affinity=rather_near("web", 1))], "n3":
            [pod("older", "db", affinity=near("web"))]
        }, {"tainttoleration.weight": 0})
    assert scene.batch_scores(pod()) == {"n1": 0, "n2": 200, "n3": 0}


def test_wishes_of_pods_on_nodes_that_had_none_at_opening_count_only_for_pods_with_wishes():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=rather_near("web", 1))]},
                  {"tainttoleration.weight": 0})
    scene.place(pod("new", "db", affinity=rather_near("web", 3)), "n3")
    assert scene.batch_scores(pod()) == {"n1": 0, "n2": 200, "n3": 0}
    assert scene.batch_scores(
        pod(affinity=rather_near("cache", 1))) == {"n1": 0, "n2": 66, "n3": 200}


def test_pods_that_terms_distinguish_do_not_share_counts():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=away_from("web"))]})
    assert scene.fits(pod("a", "cache")) == ["n1", "n2", "n3"]
    assert scene.fits(pod("b", "web")) == ["n1", "n3"]


def test_pods_that_preferred_terms_distinguish_do_not_share_scores():
    scene = Scene(ZONES, {"n2": [pod("old", "db", affinity=rather_near("web", 1))]},
                  {"tainttoleration.weight": 0})
    assert scene.batch_scores(pod("a", "cache")) == {"n1": 0, "n2": 0, "n3": 0}
    assert scene.batch_scores(pod("b", "web")) == {"n1": 0, "n2": 200, "n3": 0}


@pytest.mark.long
@settings(max_examples=60)
@given(scenes(), pods_to_place(), pods_to_place("second"))
def test_random_clusters_as_by_the_definition(scene: Scene, one: Pod, second: Pod):
    kube = scene.predicates.kube
    scene.place(second, "n0")
    for incoming in (one, evolve(one, metadata=evolve(one.metadata, labels={"app":
                                                                            "cache"})), second):
        state = inter_pod_affinity.pre_filter(kube, kube.info(incoming))
        for n in kube.nodes:
            refusal = state.refusal(n) if state else None
            assert (refusal and refusal.reason) == reason_by_definition(kube, incoming, n)
        sums = [sum_by_definition(kube, incoming, n) for n in kube.nodes]
        low, high = min(sums), max(sums)
        expected = [int(100 * ((s - low) / (high - low))) if high > low else 0 for s in sums]
        found = inter_pod_affinity.scores(kube, kube.info(incoming), np.arange(len(kube.nodes)))
        assert np.broadcast_to(found, len(kube.nodes)).tolist() == expected


def test_what_is_simulated_on_a_copy_leaves_the_original_and_other_copies_alone():
    both = evolve(near("db", "zone"), pod_anti_affinity=away_from("cache").pod_anti_affinity)
    scene = Scene(ZONES, {"n1": [pod("old", "db", affinity=away_from("web"))],
                          "n3": [pod("cache", "cache")]})
    kube = scene.predicates.kube
    state = inter_pod_affinity.pre_filter(kube, kube.info(pod(affinity=both)))

    def reasons(state):
        return [getattr(state.refusal(each), "reason", None) for each in kube.nodes]

    before, fresh = reasons(state), copy(state)
    assert before == [EXISTING_REASON, None, AFFINITY_REASON]
    for label, affinity, row, sign, after in (
            ("db", None, 2, 1, [EXISTING_REASON, None, ANTI_AFFINITY_REASON]),
            ("cache", None, 2, -1, [EXISTING_REASON, None, AFFINITY_REASON]),
            ("cache", None, 1, 1, [EXISTING_REASON, ANTI_AFFINITY_REASON, AFFINITY_REASON]),
            ("db", away_from("web"), 0, -1, [AFFINITY_REASON] * 3)):
        trial = copy(state)
        assert reasons(trial) == before
        trial.update(kube.info(pod("x", label, affinity=affinity)), row, sign)
        assert reasons(trial) == after
        assert reasons(state) == reasons(fresh) == reasons(copy(state)) == before


def apart_from_others(row, sign, affinity):
    """The nodes that refuse a pod without wishes, before and after one is simulated."""
    scene = Scene(ZONES, {"n1": [pod("old", "db", affinity=away_from("web", "zone"))]})
    kube = scene.predicates.kube
    state = inter_pod_affinity.pre_filter(kube, kube.info(pod()))
    found = [(state.codes() == SUCCESS).tolist()]
    state.update(kube.info(pod("x", "db", affinity=affinity)), row, sign)
    return [*found, (state.codes() == SUCCESS).tolist()]


@pytest.mark.parametrize(("row", "sign", "affinity", "after"), [
    (0, -1, away_from("web", "zone"), [True, True, True]),
    (2, 1, away_from("web", "zone"), [False, False, False]),
    (2, 1, away_from("web"), [False, False, False]),
    (2, 1, away_from("cache", "zone"), [False, False, True]),
    (2, 1, None, [False, False, True])])
def test_a_pod_that_keeps_others_away_counts_where_it_is_simulated(row, sign, affinity, after):
    assert apart_from_others(row, sign, affinity) == [[False, False, True], after]


@pytest.mark.parametrize(("running", "allowed"), [
    ({}, ""), ({"n1": [("a", "db")]}, ""), ({"n1": [("a", "db"), ("b", "db")]}, ""),
    ({"n3": [("both", "db cache")]}, "n3"),
    ({"n1": [("a", "db")], "n3": [("both", "db cache")]}, "n3")])
def test_only_a_pod_that_matches_all_required_terms_is_a_friend(running, allowed):
    wish = near("db", "zone")
    terms = wish.pod_affinity.required_during_scheduling_ignored_during_execution
    terms.append(evolve(terms[0], label_selector=LabelSelector({"with": "cache"})))

    def labelled(name, words):
        app, _, other = words.partition(" ")
        made = pod(name, app)
        return evolve(made, metadata=evolve(made.metadata, labels={"app": app, "with": other}))

    pods = {name: [labelled(*each) for each in some] for name, some in running.items()}
    assert Scene(ZONES, pods).fits(pod(affinity=wish)) == allowed.split()


@pytest.mark.parametrize(("old", "refused"), [
    (away_from("cache"), True), (near("db"), False), (None, False)])
def test_pods_placed_later_keep_others_away_where_one_did_when_the_session_opened(old, refused):
    """As in Volcano, which looks for such pods on the nodes that had any then."""
    scene = Scene([*ZONES, node("n4")], {"n1": [pod("old", "db", affinity=old)], "n4": [
        pod("older", "db", affinity=away_from("cache"))]})
    scene.place(pod("new", "db", affinity=away_from("web")), "n1")
    assert ("n1" not in scene.fits(pod())) is refused


def test_no_nodes_have_no_scores():
    scene = Scene(ZONES, {"n1": [pod("old", "db")]})
    kube, none = scene.predicates.kube, np.array([], int)
    for wish in (None, rather_near("db", 5)):
        assert np.size(inter_pod_affinity.scores(kube, kube.info(pod(affinity=wish)), none)) <= 1


@pytest.mark.parametrize(("gone", "cpu", "count"), [("a", 2000, 1), ("b", 1000, 1), ("c", 3000, 2)])
def test_the_pod_that_is_taken_away_is_the_one_of_that_uid(gone, cpu, count):
    kube = Scene(ZONES, {"n1": [pod("a", cpu="1"), pod("b", cpu="2")]}).predicates.kube
    kube.remove_pod("n1", pod(gone))
    assert (kube.taken[0, 0], kube.pod_count[0]) == (cpu, count)
    nameless = pod("d", cpu="1")
    nameless.metadata = evolve(nameless.metadata, uid="")
    kube.add_pod("n2", nameless)
    kube.remove_pod("n2", nameless)  # without a uid it is not known again
    assert (kube.taken[1, 0], kube.pod_count[1]) == (1000, 1)


def required(one: Pod, kind: str) -> list[PodAffinityTerm]:
    part = getattr(one.spec.affinity, kind, None)
    return part.required_during_scheduling_ignored_during_execution if part else []


def wishes(one: Pod) -> list[tuple[int, PodAffinityTerm]]:
    result = []
    for kind, sign in (("pod_affinity", 1), ("pod_anti_affinity", -1)):
        part = getattr(one.spec.affinity, kind, None)
        result += [
            (sign * w.weight, w.pod_affinity_term)
            for w in (part.preferred_during_scheduling_ignored_during_execution if part else [])
        ]
    return result


def concerns(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: dict,
             incoming: Pod) -> bool:
    """Return whether `owner`'s term matches `other`."""
    if not term.namespaces and term.namespace_selector is None:
        there = other.namespace == owner.namespace
    elif owner is incoming:
        there = (
            other.namespace in term.namespaces
            or matches(term.namespace_selector, {})
            or matches(term.namespace_selector, namespaces[other.namespace])
        )
    else:
        there = other.namespace in term.namespaces or matches(term.namespace_selector,
                                                              namespaces[other.namespace])
    return there and matches(term.label_selector, other.metadata.labels)


def together(a, b, key: str) -> bool:
    return key in a.labels and a.labels[key] == b.labels.get(key)


def reason_by_definition(kube, one: Pod, n) -> str | None:
    def speaks(term, owner, other):
        return concerns(term, owner, other, kube.namespaces, one)

    everywhere = [(m, info.pod) for m in kube.nodes for info in kube.pods(m)]
    near_terms = required(one, "pod_affinity")
    friends = [(m, p) for m, p in everywhere if all(speaks(t, one, p) for t in near_terms)]
    if any(t.topology_key not in n.labels for t in near_terms):
        return AFFINITY_REASON
    alone = not any(t.topology_key in m.labels for m, _ in friends for t in near_terms)
    if not all(any(together(m, n, t.topology_key)
                   for m, _ in friends)
               for t in near_terms) and not (alone and all(speaks(t, one, one)
                                                           for t in near_terms)):
        return AFFINITY_REASON
    if any(speaks(t, one, p) and together(m, n, t.topology_key)
           for t in required(one, "pod_anti_affinity") for m, p in everywhere):
        return ANTI_AFFINITY_REASON
    if any(speaks(t, p, one) and together(m, n, t.topology_key) for m, p in everywhere
           if m.row in kube.rows_with_required_anti_affinity
           for t in required(p, "pod_anti_affinity") if p is not one):
        return EXISTING_REASON
    return None


def sum_by_definition(kube, one: Pod, n) -> int:
    total = 0
    for m in kube.nodes:
        if not wishes(one) and m.row not in kube.rows_with_affinity:
            continue
        for p in (info.pod for info in kube.pods(m)):
            mine = [(w, t) for w, t in wishes(one) if concerns(t, one, p, kube.namespaces, one)]
            theirs = [(w, t) for w, t in wishes(p) if concerns(t, p, one, kube.namespaces, None)]
            total += sum(w for w, t in mine + theirs if together(m, n, t.topology_key))
    return total
