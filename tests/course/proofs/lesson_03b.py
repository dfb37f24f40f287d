"""What lesson 03b, "Proportion in the source", says is so."""

from course.proofs import after, answer


@after("proportion-56")
def symptoms(content, starved):
    assert (starved["deserved"], starved["real capability"]) == (0, 0)
    assert content["overused"] and content["share"] == 0


@after("proportion-58")
def symptoms_2(reclaimed):
    assert reclaimed(5) == [] and len(reclaimed(7)) == 1


@after("proportion-62")
def where_to_stop(first, stopped):
    assert stopped.loc["a"].tolist() == [56.6, 50, 50]  # its capability
    assert stopped.loc["b"].tolist() == [5.7, 5.7, 20]  # its guarantee
    assert stopped.loc["c"].tolist() == [37.7, 37.7, 30]  # its request
    assert first["available"]["cpu"] == 100_000 and "cpu" not in first["remaining"]


@after("proportion-64")
def where_to_stop_2(b, now):
    assert now["held over deserved"].max() == round(b["share"], 3) == 0.222


@after("proportion-64c")
def where_to_stop_3(cpu, pods):
    assert cpu.loc["a"].tolist() == [0, 1]
    assert pods.loc["a"].tolist() == [2, 1, 0.5]


@after("proportion-66")
def where_to_stop_4(refusal, sums):
    assert (refusal["queue"], refusal["task"]) == ("a", "default/a-work-5")
    assert sums["fits"].to_dict() == {"cpu": True, "memory": False, "pods": True}


@after("proportion-67b")
def where_to_stop_5(said):
    assert said["answer"].tolist() == [False]


@after("proportion-68")
def where_to_stop_6(who):
    assert who["preemptive"] == who["reclaimable"] == "reclaim"
    assert who["allocatable"] == "allocate, preempt" and who["overused"] == "allocate, reclaim"
    assert who["queue_order"] == "allocate, enqueue, reclaim"


@after("proportion-70")
def where_to_stop_7(guide, known, real, values):
    assert known.issuperset(real.values()) and sum(name not in known for name in guide) == 3
    assert (values["queue_overused"], round(values["queue_share"], 2)) == (0, 1.33)


@after("proportion-58q")
def whose_pod_goes(fair):
    assert ('one of b' if fair else "nobody's") == answer("03b", "whose_pod")


@after("proportion-64q")
def the_share_is_that_of_the_question(both):
    assert float(both.loc['a', 'share']) == answer("03b", "share_of_both")
