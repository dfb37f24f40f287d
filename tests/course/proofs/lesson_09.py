"""What lesson 09, "Preempt and reclaim: which pod is a victim, and why", says is so."""

from course.proofs import after, answer
from volcano_lab.course.kit import trace_of
from volcano_lab.trace.stepper import Stepper
from volcano_lab.widgets import facts


def marks(picture, plugin):
    """What a plugin said of each candidate in a picture of votes."""
    return [row["votes"][plugin] for row in picture.data["rows"]]


def deserved_and_held(cycle, *queues):
    rows = facts.limits(cycle, names=queues)
    return {row["name"]: (row["deserved"], row["held"]) for row in rows}


@after("evictions-03")
def a_tiny_cluster(cycle):
    assert deserved_and_held(cycle, "a", "b") == {"a": (5, 3), "b": (7, 9)}
    assert cycle.committed == []


@after("evictions-13")
def preempt(evicted, preempting):
    assert evicted(preempting) == ["old-1", "old-0"]


@after("evictions-16")
def each_candidate_is_asked_about(cluster, conf_with, votes_picture):
    asked = votes_picture(cluster, conf_with("preempt"), "")
    assert marks(asked, "priority") == [True] * 3 and marks(asked, "gang") == [True, True, False]
    assert marks(asked, "conformance") == [True] * 3 and marks(asked, "drf") == [None] * 3


@after("evictions-19")
def reclaim_first(both, cluster, conf_with, evicted, preempting, votes_picture):
    assert evicted(both) == ["greedy-2", "greedy-1"]
    assert evicted(cluster.run(conf_with("preempt", "reclaim"))) == evicted(preempting)
    asked = votes_picture(cluster, conf_with("reclaim", "preempt"), "")
    assert marks(asked, "proportion") == [None] * 3


@after("evictions-24")
def an_empty_list_is_no_veto(conf_with, equal, outcome, votes_picture):
    assert outcome == ["old-1"]
    asked = votes_picture(equal, conf_with("preempt"), "")
    assert marks(asked, "priority") == [False] * 3 and marks(asked, "gang") == [None] * 3
    assert any(marks(asked, "drf"))


@after("evictions-28")
def a_gang_is_torn(conf_with, evicted, torn, votes_picture, whole):
    assert torn == ["greedy-1", "greedy-0"]
    assert evicted(whole.run(conf_with("reclaim", one_tier=True))) == []
    asked = votes_picture(whole, conf_with("reclaim"), "")
    assert marks(asked, "gang") == [False] * 3
    assert marks(asked, "proportion") == [True, True, False]


@after("evictions-32")
def the_one_that_knows_the_quota(conf_with, evicted, three):
    assert deserved_and_held(three.run(), "a", "b", "c") == {"a": (2, 0), "b": (5, 4), "c": (5, 8)}
    default_tiers = evicted(three.run(conf_with("reclaim")))
    one_tier = evicted(three.run(conf_with("reclaim", one_tier=True)))
    assert default_tiers == ["b-work-2", "b-work-1"] and one_tier == ["c-work-2", "c-work-1"]


@after("evictions-37")
def one_victim_too_many(evicted, reclaiming):
    assert evicted(reclaiming) == ["greedy-1", "greedy-0"]


@after("evictions-43")
def answers_of_the_lab(lab):
    def seen(**choices):
        return lab.reset().set(**choices).facts

    assert seen(actions="reclaim", reclaimable=False).end == "not tried"
    assert seen(actions="reclaim, preempt", reclaimable=False).evicted == ["old-1", "old-0"]
    for least, end in ((7, "commit"), (8, "discard")):
        assert seen(actions="reclaim", one_tier=True, greedy_minimum=least).end == end
    assert seen(urgent_pods=3, actions="reclaim").end == "not tried"
    assert lab.reset().facts.end == "commit"


@after("evictions-51")
def fix_reclaim(conf, repaired, tables):
    deserved = tables.queues(repaired.run(conf))["deserved"]
    assert deserved[["a", "b"]].to_dict() == {"a": 6, "b": 6}


@after("evictions-06")
def nobody_by_default(cycle):
    assert len(cycle.committed) == answer("09", "evicted_by_default")


@after("evictions-23")
def equals_do_not_evict(outcome):
    assert ('yes' if outcome else 'no') == answer("09", "among_equals")


@after("evictions-29")
def a_gang_torn_or_not(torn):
    assert ('yes' if torn else 'no') == answer("09", "is_the_gang_torn")


@after("evictions-36")
def how_many_large_pods(evicted, reclaiming):
    assert len(evicted(reclaiming)) == answer("09", "large_pods")


@after("evictions-dry-1")
def the_victims_of_a_dry_run(DRY, PLAIN, evicted, packed):
    assert evicted(packed.run(PLAIN)) == ["small-0", "large-0"]
    assert evicted(packed.run(DRY)) == ["large-0"]


@after("evictions-dry-2")
def what_a_dry_run_asks(DRY, packed, dry_run):
    film = dry_run(packed, DRY, "A dry run")
    assert film.spec["moments"] == [
        "small-0 is removed: too little is free", "large-0 is removed: enough is free",
        "small-0 is put back: enough is free",
        "large-0 is put back: too little is free, so it is evicted"]
    drawn = [{pod["label"]: pod["state"] for pod in data["nodes"][0]["pods"]}
             for data in film.data]
    assert drawn == [{"small": "leaving", "large": "running"},
                     {"small": "leaving", "large": "leaving", "urgent": "promised"},
                     {"small": "running", "large": "leaving", "urgent": "promised"},
                     {"small": "running", "large": "running"}]
    stops = Stepper(trace_of(packed, DRY))
    held = {stops.goto(record.number).state["queues"]["default"]["allocated"]["cpu"]
            for record in stops.trace.records if record.action == "preempt"
            and record.kind == "call" and record["point"].startswith("simulate")}
    assert held == {4000}
