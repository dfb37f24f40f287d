"""What comes after a first change, or before a job: its reasons, and the changes for it."""

import pytest
from small_cluster import conf, group, node, pod

from explain.test_no_victims import klass
from volcano_lab import Cluster
from volcano_lab.explain import Explainer

ADMITS = conf("priority", "gang", "overcommit", "predicates", "proportion",
              actions="enqueue, allocate")
SHARES = ADMITS.replace("  - {name: overcommit}\n", "")


def test_a_job_waits_for_one_that_runs_and_one_that_comes_first():
    cluster = Cluster().node("n1", cpu=8).job("run", cpu=6, running={"n1": 1}).job(
        "first", cpu=4).job("mine", cpu=6)
    found = Explainer(cluster.objects(), ADMITS).why("mine")
    assert "the end of default/run, and then of default/first, which waits as well" in found.head
    assert found.remedies[0].change == (
        "both: job default/mine: a PriorityClass above 0; wait for the end of default/run")


def test_what_a_job_waits_for_after_the_first_of_two_changes():
    cluster = Cluster().node("n1", cpu=8, memory="16Gi").queue("q", capability={"cpu": 2}).job(
        "old", cpu=4, memory="12Gi", running={"n1": 1}).job("mine", queue="q", cpu=4, memory="8Gi")
    first = Explainer(cluster.objects(), SHARES).why("mine").remedies[0]
    assert first.change == "both: queue q: capability cpu 2 -> 4; wait for the end of default/old"
    assert first.effect == ("mine is placed on n1; after the first change alone it waits for "
                            "resources: node n1 lacks memory 4Gi for its pod")


@pytest.mark.parametrize("reserved, said", [
    ("{cpu: 2}", ["Its PodGroup's minResources are cpu 2, and its minimum of 4 pods requests cpu 8 "
                  "and nvidia.com/gpu 4: enqueue compared the former only, and admitted it before "
                  "so much is free."]),
    ("{memory: 1Gi}", ["Its PodGroup's minResources do not name cpu and nvidia.com/gpu, and its "
                       "minimum of 4 pods requests cpu 8 and nvidia.com/gpu 4: enqueue compared "
                       "only what they name, and admitted it before so much is free."]),
    ("{cpu: 8, nvidia.com/gpu: 4}", [])])
def test_a_gang_is_admitted_by_less_than_its_pods_request(reserved, said):
    cluster = Cluster().node("n1", cpu=8, gpu=4, memory="4Gi").job(
        "old", cpu=4, gpu=2, running={"n1": 1}).job("mine", pods=4, cpu=2, gpu=1).changed(
        f"podgroup/default/mine.minResources={reserved}")
    causes = Explainer(cluster.objects(), ADMITS).why("mine").causes
    assert [cause.text for cause in causes if cause.code == "admitted_early"] == said


@pytest.mark.parametrize("requests", [None, {}])  # {}: best effort, it holds a slot alone
def test_preempt_is_tried_where_a_node_has_its_maximum_of_pods(requests):
    cluster = Cluster([
        node("n1", cpu="9"), klass("high", 9), group("old"),
        pod("old-0", "old", "n1", requests=requests),
        group("new", priorityClassName="high"), pod("new-0", "new", priority=9)]).changed(
        "node/n1.allocatable.pods=1")
    settings = conf("priority", "gang", "predicates", actions="allocate")
    found = Explainer(cluster.objects(), settings).why("new")
    changes = {each.change: each.price.evicts for each in found.remedies}
    assert {"default/old": 1} in [
        taken for change, taken in changes.items() if "actions with preempt" in change]


@pytest.mark.parametrize("value, advised", [("true", False), ("false", True)])
def test_a_value_that_holds_for_all_is_no_advice(value, advised):
    cluster = Cluster([node("n1", cpu="1"), group("new"), pod("new-0", "new", requests={
        "cpu": "4"}, annotations={"volcano.sh/preemptible": value})])
    settings = conf("gang", "predicates", actions="allocate, preempt")
    causes = Explainer(cluster.objects(), settings).why("new").causes
    assert ("ineffective" in [cause.code for cause in causes]) is advised
