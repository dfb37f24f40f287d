"""What lesson 09, "Preempt and reclaim: who is a victim, and why", says is so."""

from course.proofs import after


@after("evictions-03")
def a_tiny_cluster(held):
    assert held["deserved"].to_dict() == {"a": 5, "b": 7}
    assert held["allocated"].to_dict() == {"a": 3, "b": 9}


@after("evictions-08")
def predict_what_does_volcano_do_by_default(cycle):
    assert cycle.committed == []


@after("evictions-13")
def predict_preempt(evicted, preempting):
    assert evicted(preempting) == ["old-1", "old-0"]


@after("evictions-19")
def predict_reclaim(cluster, conf_with, evicted, preempting):
    both = cluster.run(conf_with("reclaim", "preempt"))
    assert evicted(both) == ["greedy-2", "greedy-1"]
    assert evicted(cluster.run(conf_with("preempt", "reclaim"))) == evicted(preempting)


@after("evictions-24")
def no_veto_an_empty_list_ends_the_tier_and(outcome):
    assert outcome == ["old-1"]


@after("evictions-28")
def no_veto_an_empty_list_ends_the_tier_and_2(conf_with, evicted, whole):
    assert evicted(whole.run(conf_with("reclaim"))) == ["greedy-1", "greedy-0"]


@after("evictions-30")
def no_veto_an_empty_list_ends_the_tier_and_3(conf_with, evicted, whole):
    assert evicted(whole.run(conf_with("reclaim", one_tier=True))) == []


@after("evictions-32")
def also_not_asked_the_one_who_knows_the_quo(before):
    assert before["deserved"].to_dict() == {"a": 2, "b": 5, "c": 5}
    assert before["allocated"].to_dict() == {"a": 0, "b": 4, "c": 8}


@after("evictions-34")
def also_not_asked_the_one_who_knows_the_quo_2(conf_with, evicted, three):
    default_tiers = evicted(three.run(conf_with("reclaim")))
    one_tier = evicted(three.run(conf_with("reclaim", one_tier=True)))
    assert default_tiers == ["b-work-2", "b-work-1"] and one_tier == ["c-work-2", "c-work-1"]


@after("evictions-37")
def one_victim_too_many(conf_with, evicted, large):
    assert evicted(large.run(conf_with("reclaim"))) == ["greedy-1", "greedy-0"]


@after("evictions-dry-3")
def a_dry_run_try_it_out_first(DRY, PLAIN, evicted, packed):
    assert evicted(packed.run(PLAIN)) == ["small-0", "large-0"]
    assert evicted(packed.run(DRY)) == ["large-0"]


@after("evictions-dry-5")
def a_dry_run_try_it_out_first_2(simulated):
    verdicts = simulated.loc[simulated["question"] == "simulate_allocatable", "answer"]
    assert verdicts.tolist() == ["no", "yes", "yes", "no"]
    assert set(simulated["the queue holds"]) == {4}


@after("evictions-43")
def explore_the_lab(lab):
    def gang(**choices):
        return lab.reset().set(**choices).state["gang"]

    assert gang(actions="reclaim", reclaimable=False)["outcome"] == ""
    first = gang(actions="reclaim, preempt", reclaimable=False)["steps"][0]
    assert first == "evict old-1 on node-1"
    for least, outcome in ((7, "commit"), (8, "discard")):
        spared = gang(actions="reclaim", tiers=True, greedy_minimum=least)
        assert spared["outcome"] == outcome
    assert gang(urgent_pods=3, actions="reclaim")["headline"] == "phase Pending"
    assert lab.reset().state["gang"]["outcome"] == "commit"


@after("evictions-51")
def make_repair_reclaim(conf, repaired, tables):
    deserved = tables.queues(repaired.run(conf))["deserved"]
    assert deserved[["a", "b"]].to_dict() == {"a": 6, "b": 6}
