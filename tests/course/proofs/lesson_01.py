"""What lesson 01, "One scheduling cycle: open, act, close", says is so."""

from course.proofs import after


@after("c005")
def a_tiny_cluster(placed):
    assert placed == ["train-0", "train-1", "helper-0"]


@after("c011")
def before_the_configuration(conf_with, three):
    assert len(three.run(conf_with("allocate")).committed) == 0


@after("c014")
def open(cluster, cycle, trace_of):
    first = trace_of(cluster).records[0]
    assert (first.action, first.kind) == ("open", "deserved_round")
    assert cycle.session.total_resource.milli_cpu == 8000


@after("c016")
def open_2(copy):
    assert len(copy.left_out) == 2 and sorted(copy.nodes) == ["n1", "n2", "n3"]
    assert "default/lost" not in copy.jobs
    assert any("stray" in name for name in copy.jobs)


@after("c020")
def open_3(asked):
    assert {"job_enqueueable", "overused", "predicate", "job_ready"} <= set(asked.index)


@after("c022")
def close(over_time):
    assert [row["train"].split()[0] for row in over_time] == ["Inqueue", "Running", "Running"]


@after("c028")
def explain_it_from_the_trace(reason):
    assert "overcommit counts cpu 16 where 9.6 is allowed" in reason
    assert (2 * 2 + 3 * 4, round(1.2 * 8, 6)) == (16, 9.6)


@after("c033")
def the_order_of_the_actions(conf_with, small_cluster):
    wrong_order = small_cluster().run(conf_with("allocate, enqueue"))
    assert wrong_order.committed == []


@after("c035")
def the_order_of_the_actions_2(phases, without):
    assert phases["default/wide"] == "Inqueue" and len(without.committed) == 3


@after("c037")
def explore(lab):
    for actions in ("allocate, enqueue", "enqueue, allocate", "backfill"):
        rows = {row["job"]: row for row in lab.set(actions=actions).state["phases"]}
        assert "1 pod" not in rows["helper"].values()
    lab.reset()


@after("c045")
def stop_where_you_like(cycle):
    assert len(cycle.session.jobs) == 3


@after("c048-answers")
def step_by_step(commit, idle, second, sides):
    assert commit["statement"]["operations"] == ["allocate train-1 on n2"]
    assert second["text"] == "allocate train-1 on n2" and idle["n2"] == 2
    assert "cpu 16 against cpu 9.6" in sides["text"]


@after("c051")
def the_log_the_metrics_the_dump(known):
    names = ["e2e", "action", "plugin", "task"]
    assert all(f"volcano_{name}_scheduling_latency_milliseconds" in known for name in names)
    assert known["volcano_schedule_attempts_total"].source == ""


@after("c055")
def what_people_see_and_where_to_look(phases, why):
    assert phases["default/wide"] == "Inqueue" and why
