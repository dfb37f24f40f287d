"""What lesson 03, "Proportion: fair parts, and whose turn it is", says is so."""

from course.proofs import after


@after("proportion-06")
def one_round(table):
    assert table.loc[1]["deserves"].to_dict() == {"a": 20, "b": 30, "c": 30}


@after("proportion-10")
def one_round_2(table):
    assert table.loc[2]["deserves"].to_dict() == {"a": 28, "b": 42}


@after("proportion-19")
def modify_what_a_guarantee_really_does(nervous, tables):
    assert tables.queues(nervous)["deserved"].to_dict() == {"a": 24, "b": 46, "c": 30}


@after("proportion-25")
def several_resources_at_once(cpu, memory):
    assert cpu.loc[4].tolist() == [10, 80, 10] and memory.loc[4].tolist() == [80, 20, 0]


@after("proportion-30")
def share_and_whose_turn_it_is(cycle, turns):
    assert cycle.queue_order == ["b", "c", "a"]
    assert turns["share"].tolist()[:4] == [0.178, 0.222, 0.267, 0.3]


@after("proportion-33")
def is_it_first_come_first_served(line, tables):
    assert line.queue_order == ["late", "early"]
    assert tables.turns(line)["share"].round(1).tolist()[:4] == [0.0, 0.2, 0.4, 0.6]


@after("proportion-37")
def overused_or_not_allocatable(about_a):
    assert about_a["answer"].tolist()[0] is False and not about_a["answer"].any()


@after("proportion-41")
def answers_of_the_lab(lab):
    def column(name, **sliders):
        rows = lab.reset().set(**sliders).state["queues"]
        return {row["queue"]: row[name] for row in rows}

    weights = [w for w in range(1, 10) if column("one_more_pod", a_weight=w)["a"]]
    assert weights[0] == 2

    assert column("turn", a_memory=0) == {"a": 3, "b": 1, "c": 2}
    assert column("overused", c_asks=10, c_runs=10)["c"] is True
    assert column("deserved_cpu", c_asks=10)["c"] == 20
    assert column("deserved_cpu", c_asks=10, c_weight=9)["c"] == 20
    lab.reset()


@after("proportion-56")
def what_to_look_at_symptom_by_symptom(content, starved):
    assert (starved["deserved"], starved["real capability"]) == (0, 0)
    assert content["overused"] and content["share"] == 0


@after("proportion-58")
def what_to_look_at_symptom_by_symptom_2(reclaimed):
    assert reclaimed(5) == [] and len(reclaimed(7)) == 1


@after("proportion-62")
def where_to_stop_and_what_to_watch(first, stopped):
    assert stopped.loc["a"].tolist() == [56.6, 50, 50]  # its capability
    assert stopped.loc["b"].tolist() == [5.7, 5.7, 20]  # its guarantee
    assert stopped.loc["c"].tolist() == [37.7, 37.7, 30]  # its request
    assert first["available"]["cpu"] == 100_000 and "cpu" not in first["remaining"]


@after("proportion-64")
def where_to_stop_and_what_to_watch_2(b, now):
    assert now["held over deserved"].max() == round(b["share"], 3) == 0.222


@after("proportion-64c")
def where_to_stop_and_what_to_watch_3(cpu, pods):
    assert cpu.loc["a"].tolist() == [0, 1]
    assert pods.loc["a"].tolist() == [2, 1, 0.5]


@after("proportion-66")
def where_to_stop_and_what_to_watch_4(refusal, sums):
    assert (refusal["queue"], refusal["task"]) == ("a", "default/a-work-5")
    assert sums["fits"].to_dict() == {"cpu": True, "memory": False, "pods": True}


@after("proportion-67b")
def where_to_stop_and_what_to_watch_5(said):
    assert said["answer"].tolist() == [False]


@after("proportion-68")
def where_to_stop_and_what_to_watch_6(who):
    assert who["preemptive"] == who["reclaimable"] == "reclaim"
    assert who["allocatable"] == "allocate, preempt" and who["overused"] == "allocate, reclaim"
    assert who["queue_order"] == "allocate, enqueue, reclaim"


@after("proportion-70")
def where_to_stop_and_what_to_watch_7(guide, known, real, values):
    assert known.issuperset(real.values()) and sum(name not in known for name in guide) == 3
    assert (values["queue_overused"], round(values["queue_share"], 2)) == (0, 1.33)
