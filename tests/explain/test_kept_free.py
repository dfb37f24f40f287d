"""What keeps for a job what others leave, and why a guarantee gives its queue nothing."""

import pytest
from small_cluster import conf

from volcano_lab import Cluster
from volcano_lab.explain import Explainer

PLAIN = conf("priority", "gang", "predicates", "proportion", actions="enqueue, allocate")
FULL = conf("priority", "gang", "overcommit", "predicates", "proportion",
            actions="enqueue, allocate")
TIERS = FULL.replace("  - {name: overcommit}", "- plugins:\n  - {name: overcommit}")
CAPACITY = conf("priority", "gang", "predicates", "capacity", actions="enqueue, allocate")
RECLAIM = CAPACITY.replace("allocate", "allocate, reclaim")
KEEPS = ("Each of these, tried, keeps for it what others leave, from the end of the first job to "
         "that of the last one needed: ")
FAILS = "Tried as well, and not enough for that: "
SLA = "plugin sla in tier 1 and sla-waiting-time 1m on its PodGroup"
CLASS = "job default/large: a PriorityClass above 0"


GUARANTEE, CLOSED = "a guarantee of cpu 16 for queue a", "queue b closed"


def crowded(queue, pods=2, more=0):
    """Nodes with small jobs of one queue, further ones of which wait; a large one of queue a."""
    cluster = Cluster().node("g1", cpu=8).node("g2", cpu=8).queue("a").queue("b")
    for number in range(8):
        cluster.job(f"run-{number}", queue=queue, cpu=2, running={f"g{number % 2 + 1}": 1})
    for number in range(3):
        cluster.job(f"wait-{number}", queue=queue, cpu=2)
    cluster.node("g3", cpu=more) if more else None
    return cluster.job("large", queue="a", pods=pods, cpu=16 // pods)


@pytest.mark.parametrize("cluster, settings, keeps, fails", [
    (crowded("b"), PLAIN, [GUARANTEE], [CLASS, CLOSED, SLA]),
    (crowded("b"), FULL, [GUARANTEE], [CLASS, CLOSED, SLA]),
    (crowded("b"), CAPACITY, [GUARANTEE, CLOSED], [CLASS, SLA]),
    (crowded("b", more=1), CAPACITY, [GUARANTEE, "a capability of cpu 1 for queue b", CLOSED],
     [CLASS, SLA]),
    (crowded("a"), TIERS, [SLA], [CLASS]),  # once it is admitted, overcommit admits no other one
    (crowded("a"), FULL, [], [CLASS, SLA])])
def test_what_keeps_freed_resources_for_a_large_job(cluster, settings, keeps, fails):
    found = Explainer(cluster.objects(), settings).why("large")
    cause = next(cause for cause in found.causes if cause.code == "kept_free")
    said = [f"{KEEPS}{'; '.join(keeps)}."] * bool(keeps)
    assert cause.text == " ".join([*said, f"{FAILS}{'; '.join(fails)}."])
    assert "Plugin sla, in a tier above gang" not in found.text  # it is tried
    offered = [each for each in found.remedies if each.effect.endswith("undo it once large runs")]
    assert len(offered) == min(len(keeps), 2)
    assert not keeps or not any("PriorityClass" in each.change for each in found.remedies)


def test_nothing_is_tried_where_no_other_job_takes_what_is_left():
    cluster = Cluster().node("n1", cpu=4).job("old", cpu=4, running={"n1": 1}).job("new", cpu=4)
    assert "kept_free" not in Explainer(cluster.objects(), FULL).why("new").codes


def owned(pods=8, others=None, own=0, **spec):
    """A node that a job of another queue holds, and `own` of the queue whose job waits."""
    cluster = Cluster().node("n1", cpu=8).queue("own", **spec).queue("other", **others or {})
    cluster.job("hold", queue="other", pods=pods, min_member=1, cpu=1, running={"n1": pods})
    if own:
        cluster.job("first", queue="own", pods=own, cpu=1, running={"n1": own})
    return cluster.job("mine", queue="own", pods=2, cpu=1)


HELD = ("Queue own is guaranteed cpu 4 and holds 0. A guarantee lowers the limit of other queues "
        "(queue other: cpu 8 allocated, limit 4), and takes back nothing that they hold: ")


@pytest.mark.parametrize("cluster, settings, said", [
    (owned(guarantee=4, deserved=4), CAPACITY,
     f"{HELD}reclaim alone does that, and it is not configured."),
    (owned(guarantee=4, deserved=4, others={"reclaimable": False}), RECLAIM,
     f"{HELD}reclaim alone does that, by what queues deserve."),
    (owned(6, own=2, guarantee=2, deserved=2), RECLAIM, "The guarantee of queue own, cpu 2, is in "
     "use by default/first: nothing beyond it is kept for this job."),
    (owned(6, own=2, guarantee=4, capability=2), CAPACITY, "Queue own is guaranteed cpu 4, and may "
     "hold 2 (its capability): the guarantee cannot be used."),
    (owned(), CAPACITY, None)])
def test_why_a_guarantee_gives_nothing(cluster, settings, said):
    causes = Explainer(cluster.objects(), settings).why("mine").causes
    assert [cause.text for cause in causes if cause.code.startswith("guaranteed")] == [
        *filter(None, [said])]
