"""What the disruption controller counts, and when."""

import pytest

from volcano_lab.changes import Change
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.disruptions import counted
from volcano_lab.manifests.loader import from_dict
from volcano_lab.scheduler import life
from volcano_lab.simulation import Latencies, Simulation

CONF = """
actions: allocate, preempt
tiers:
- plugins: [{name: priority}, {name: gang}, {name: pdb}]
- plugins: [{name: predicates}]
"""
HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}"


def budget(namespace="default", version="", status=None, **spec):
    return from_dict({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": namespace, "resourceVersion": version},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}, "status": status or {}})


def cluster(pods=5, *more):
    """Five CPUs, on which web runs; urgent waits for two."""
    web = Cluster().node("n1", cpu=5).add(HIGH, *more).job(
        "web", pods=pods, min_member=1, cpu=1, labels={"app": "web"}, running={"n1": pods})
    return web.job("urgent", pods=2, cpu=1, priority_class="high", min_member=1)


def pods(**facts):
    return [pod.changed(**facts) if pod.name == "web-0" else pod
            for pod in cluster().objects() if pod.kind == "Pod"]


COUNTS = [
    ("all but those that must stay", budget(minAvailable=2), {}, 3),
    ("none where all must stay", budget(minAvailable=5), {}, 0),
    ("never fewer than none", budget(minAvailable=9), {}, 0),
    ("a percentage that must stay is rounded up", budget(minAvailable="50%"), {}, 2),
    ("a percentage that may leave is rounded up", budget(maxUnavailable="50%"), {}, 3),
    ("as many as may be unavailable", budget(maxUnavailable=1), {}, 1),
    ("a budget without a bound allows none", budget(), {}, 0),
    ("no pod of another namespace counts", budget("b", minAvailable=0), {}, 0),
    ("a pod that waits is unavailable", budget(maxUnavailable=2),
     {"status": {"phase": "Pending"}}, 1),
    ("a pod that leaves is unavailable", budget(maxUnavailable=2),
     {"metadata": {"deletion_timestamp": 9.0}}, 1),
]


@pytest.mark.parametrize(("sentence", "given", "facts", "allowed"), COUNTS,
                         ids=[row[0] for row in COUNTS])
def test_how_many_pods_may_leave(sentence, given, facts, allowed):
    assert counted(given, pods(**facts)).status.disruptions_allowed == allowed, sentence


def test_a_pod_whose_probe_fails_is_unavailable():
    ready, other = ([{"type": "Ready", "status": status}] for status in ("True", "False"))
    for conditions, allowed in ((ready, 2), (other, 1)):
        web = [from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": f"web-{number}", "namespace": "default", "labels": {"app": "web"}},
            "status": {"phase": "Running", "conditions": conditions if number == 0 else ready}})
            for number in range(3)]
        assert counted(budget(maxUnavailable=2), web).status.disruptions_allowed == allowed


def test_a_budget_that_is_not_counted_yet_is_counted_when_objects_are_read():
    allowed = {}
    for name, given in (("new", budget(minAvailable=3)),
                        ("exported", budget(minAvailable=3, version="7")),
                        ("counted", budget(minAvailable=3, status={"disruptionsAllowed": 1}))):
        found = cluster(5, given).objects()
        allowed[name] = next(obj.status.disruptions_allowed for obj in found
                             if obj.kind == "PodDisruptionBudget")
    assert allowed == {"new": 2, "exported": 0, "counted": 1}


@pytest.mark.parametrize("described, allowed", [(0, 1), (2, 3)])
def test_pods_that_are_given_and_those_that_are_described_count(described, allowed):
    web = {"cpu": 1, "labels": {"app": "web"}}
    given = Cluster().node("n1", cpu=8).job("old", pods=2, running={"n1": 2}, **web).objects()
    built = Cluster(given).add(budget(minAvailable=1))
    if described:
        built.job("new", pods=described, running={"n1": described}, **web)
    assert [obj.status.disruptions_allowed for obj in built.objects()
            if obj.kind == "PodDisruptionBudget"] == [allowed]


def test_a_changed_bound_is_counted_again():
    before = cluster(5, budget(minAvailable=5, version="7")).objects()
    after, _ = Change(("pdb/web.minAvailable=3",)).given(before, load_conf(CONF))
    assert [obj.status.disruptions_allowed for obj in after
            if obj.kind == "PodDisruptionBudget"] == [2]


def test_pods_that_have_left_are_subtracted_in_the_next_cycle():
    given, evicted = cluster(5, budget(maxUnavailable=1)).objects(), 0
    for cycle in life(given, CONF, most=4):
        (known,) = cycle.session.snapshot.pod_disruption_budgets
        assert known.status.disruptions_allowed == 1 - evicted
        evicted += sum(operation == "evict" for operation, *_ in cycle.committed)
    assert evicted == 1


@pytest.mark.long
def test_a_simulated_cluster_counts_as_time_passes():
    sim = Simulation(cluster(5, budget(maxUnavailable=1)), CONF, seed=1, latencies=Latencies())
    allowed = []
    for second in range(1, 120):
        sim.run(until=second)
        allowed.append(sim.server.get("PodDisruptionBudget", "default/web")
                       .status.disruptions_allowed)
    assert allowed[0] == 1 and allowed[-1] == 0
    running = sum(pod.status.phase == "Running" and pod.name.startswith("web-")
                  for pod in sim.server.list("Pod"))
    assert running == 4, "one has left, and its successor waits"
