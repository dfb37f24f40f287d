"""pdb: evictions respect PodDisruptionBudgets."""

from __future__ import annotations

from itertools import permutations

import pytest
from small_cluster import group, names, node, open_session, pod, queue, task

from volcano_lab.manifests import loader as manifests

WEB, NONE = {"matchLabels": {"app": "web"}}, None


def budget(name, allowed, selector=WEB, namespace="default", gone=()):
    return manifests.from_dict({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector},
        "status": {"disruptionsAllowed": allowed,
                   "disruptedPods": dict.fromkeys(gone, "2026-01-01T00:00:00Z")}})


def session(*budgets):
    """Three pods of app web, the last of tier 1 as well; one of app db, one without labels."""
    labels = [{"app": "web"}, {"app": "web"}, {"app": "web", "tier": "1"}, {"app": "db"}, {}]
    pods = [pod(f"a-{n}", "a", "n1", labels=each) for n, each in enumerate(labels)]
    return open_session(node("n1", "8"), queue(), group("a"), *pods, *budgets, plugins="pdb")


@pytest.mark.parametrize(
    ("sentence", "budgets", "victims"),
    [
        ("without a budget all go, but who has no label", [], "0123"),
        ("as many as the budget allows, in the order asked", [budget("web", 2)], "013"),
        ("a budget that is used up lets none of its pods go", [budget("web", 0)], "3"),
        ("every budget of a pod must allow it", [
            budget("web", 2), budget("tier", 0, {"matchLabels": {"tier": "1"}})], "013"),
        ("a pod that one budget protects is subtracted from the others, too", [
            budget("web", 1), budget("first", 0, gone=["a-1"])], "3"),
        ("a budget of another namespace does not count", [budget("web", 0, namespace="b")], "0123"),
        ("a pod that the cluster has let go counts no longer", [budget("web", 0, gone=["a-1"])],
         "13"),
        ("a budget without a selector limits nothing", [budget("all", 0, NONE)], "0123"),
        ("nor one with an empty selector", [budget("all", 0, {})], "0123"),
        ("nor one that cannot be read", [budget("all", 0, {"matchExpressions": [
            {"key": "app", "operator": "In", "values": []}]})], "0123"),
    ],
)
def test_victims(sentence, budgets, victims):
    for in_order in permutations(budgets):  # which one comes first does not matter
        ssn = session(*in_order)
        candidates = [task(ssn, f"a-{n}") for n in range(5)]
        expected = [f"a-{n}" for n in victims]
        preemptable = ssn.plugins["pdb"].preemptable
        assert names(preemptable(candidates[0], candidates)[0]) == expected, sentence
        assert names(ssn.plugins["pdb"].victim_tasks(candidates)) == expected


def test_each_question_counts_from_the_start():
    ssn = session(budget("web", 1))
    first, second = task(ssn, "a-0"), task(ssn, "a-1")
    reclaimable = ssn.plugins["pdb"].reclaimable
    assert [names(reclaimable(first, [one])[0]) for one in (first, second)] == [["a-0"], ["a-1"]]
