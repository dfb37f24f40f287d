"""shuffle: victims of plugins are evicted at once; pdb: budgets hold everywhere."""

from __future__ import annotations

import pytest
from evictions import change, conf, decide, priority, run, scene

from volcano_lab.api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    ObjectMeta,
    PodDisruptionBudget,
)
from volcano_lab.api.objects.cluster import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from volcano_lab.cluster import Cluster
from volcano_lab.framework.plugin import Plugin, register_plugin

SHUFFLE = conf("pdb", "gang", "shuffle")
WEB = LabelSelector({"app": "web"})


def base() -> Cluster:
    return (Cluster().node("n1", cpu=4).job(
        "web", pods=3, cpu=1, min_member=1, running={"n1": 3}, labels={"app": "web"}).job(
            "other", pods=1, cpu=1, running={"n1": 1}, labels={"app": "other"}))


def budget(allowed: int, selector: LabelSelector | None = WEB, namespace: str = "default",
           gone: tuple[str, ...] = ()):
    status = PodDisruptionBudgetStatus(allowed, disrupted_pods=dict.fromkeys(
        gone, "2026-01-01T00:00:00Z"))
    name = f"budget-{allowed}-{id(selector)}-{namespace}"
    return lambda objects: objects.append(
        PodDisruptionBudget(ObjectMeta(name, namespace), PodDisruptionBudgetSpec(selector=selector),
                            status))


def evicted(*names: str) -> list[str]:
    return [f"evict {name} n1 direct" for name in names]


@pytest.mark.parametrize(("sentence", "changes", "expected"), [
    ("without budgets all that run and have a label go; jobs by name", [],
     evicted("other-0", "web-0", "web-1", "web-2")),
    ("a budget holds back what is more", [budget(1)], evicted("other-0", "web-0")),
    ("a used up budget holds back all", [budget(0)], evicted("other-0")),
    ("the tightest of several decides", [budget(2), budget(1)], evicted("other-0", "web-0")),
    ("a budget of another namespace doesn't count", [budget(
        0, namespace="else")], evicted("other-0", "web-0", "web-1", "web-2")),
    ("an empty selector selects nothing", [budget(0, LabelSelector())
                                           ], evicted("other-0", "web-0", "web-1", "web-2")),
    ("nor does none at all", [budget(0, None)], evicted("other-0", "web-0", "web-1", "web-2")),
    ("nor one that isn't valid", [
        budget(0, LabelSelector(match_expressions=[LabelSelectorRequirement("app", "NotIn", [])]))
    ], evicted("other-0", "web-0", "web-1", "web-2")),
    ("what the cluster has let go already doesn't count", [budget(1, gone=("web-1", ))
                                                           ], evicted("other-0", "web-0", "web-1")),
    ("pods without a label always stay", [
        change("Pod", "other", lambda pod: setattr(pod.metadata, "labels", {}))
    ], evicted("web-0", "web-1", "web-2")),
    ("what doesn't run stays", [
        change("Pod", "web-1", lambda pod: setattr(pod.metadata, "deletion_timestamp", 1.0))
    ], evicted("other-0", "web-0", "web-2")),
])
def test_shuffle_within_budgets(sentence, changes, expected):
    assert decide(base(), SHUFFLE, *changes) == expected, sentence


def test_without_a_plugin_that_selects_victims_none_is_evicted():
    assert decide(base(), conf("priority", "gang", "shuffle")) == []


class TwoOpinions(Plugin):
    """Names the same task twice: once as the session showed it, once as the node's copy."""

    name = "two-opinions"

    def on_session_open(self, ssn):
        def copies(tasks):
            return [task for node in ssn.node_list for task in node.tasks.values()][:1]

        self.victim_tasks = [lambda tasks: tasks[1:2], copies]


def test_several_functions_of_a_plugin_and_copies_of_a_task_cause_one_eviction_each():
    register_plugin("two-opinions", TwoOpinions)
    ssn = run(scene(base()), conf("two-opinions", "gang", "shuffle"))
    assert [row[1:] for row in ssn.committed] == [["default/web-0", "n1", "direct"]]
    node = ssn.nodes["n1"]
    assert (node.releasing.milli_cpu, node.used.milli_cpu, node.idle.milli_cpu) == (1000, 4000, 0)
    web = ssn.jobs["default/web"].tasks.values()
    assert {task.name: str(task.status)
            for task in web} == {"web-0": "Releasing", "web-1": "Running", "web-2": "Running"}


@pytest.mark.long
def test_budgets_hold_in_preempt_and_reclaim_where_pdb_is_in_the_deciding_tier():
    cluster = base().job("high", pods=1, cpu=1)
    changes = [priority("web", 1), priority("other", 2000), priority("high", 1000)]
    preempt = conf("priority gang pdb", "predicates", "enqueue, preempt")
    assert decide(cluster, preempt, *changes, budget(1)) == ["evict web-0 n1", "pipeline high-0 n1"]
    assert decide(cluster, preempt, *changes, budget(0)) == []

    taken = (Cluster().node("n1",
                            cpu=4).queue("a").queue("b").job("high", queue="b", pods=1, cpu=1).job(
                                "web", queue="a", pods=4, cpu=1, min_member=1, running={"n1": 4},
                                labels={"app": "web"}))
    reclaim = conf("gang pdb", "predicates", "enqueue, reclaim")
    assert decide(taken, reclaim, budget(1)) == ["evict web-0 n1", "pipeline high-0 n1"]
    assert decide(taken, reclaim, budget(0)) == []
