"""What the page "In Volcano's source" says is so."""

from pathlib import Path

from course.proofs import after, answer
from volcano_lab.server.prometheus import catalogue


@after("source-02")
def jobs_in_the_copy(cluster):
    assert len(cluster.run().session.jobs) == 3


@after("c020")
def open_3(asked):
    assert {"job_enqueueable", "overused", "predicate", "job_ready"} <= {
        row["point"] for row in asked}


@after("proportion-70")
def the_log_the_metrics_the_dump(SERIES, known):
    names = ["e2e", "action", "plugin", "task"]
    assert known >= {f"{name}_scheduling_latency_milliseconds" for name in names}
    sources = {series.name: series.source for series in SERIES}
    assert sources["schedule_attempts_total"] == ""


@after("proportion-56")
def symptoms(content, starved, tables):
    cpu, pods = (tables.queues(starved, unit).loc["a"] for unit in ("cpu", "pods"))
    assert (cpu["deserved"], cpu["real capability"], pods["deserved"]) == (0, 0, 1)
    assert not cpu["overused"]
    empty = tables.queues(content).loc["a"]
    assert empty["overused"] and empty["share"] == 0
    assert tables.queues(content, "pods").loc["a", "deserved"] == 0


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
def where_to_stop_2(Breakpoint, Stepper, mixed, now, trace_of):
    stops = Stepper(trace_of(mixed))
    stops.find(Breakpoint('stop at allocate where job == "default/b-work"'))
    b = stops.state["queues"]["b"]
    assert now["held over deserved"].max() == round(b["share"], 3) == 0.222


@after("proportion-64c")
def where_to_stop_3(cpu, pods):
    assert cpu.loc["a"].tolist() == [0, 1]
    assert pods.loc["a"].tolist() == [2, 1, 0.5]


@after("proportion-64")
def where_to_stop_4(refusal, sums):
    assert (refusal["queue"], refusal["task"]) == ("a", "default/a-work-5")
    assert sums["fits"].to_dict() == {"cpu": True, "memory": False, "pods": True}


@after("proportion-68")
def where_to_stop_6(who):
    assert who["preemptive"] == who["reclaimable"] == "reclaim"
    assert who["allocatable"] == "allocate, preempt" and who["overused"] == "allocate, reclaim"
    assert who["queue_order"] == "allocate, enqueue, reclaim"


@after("proportion-70")
def where_to_stop_7(guide, known, real, values):
    assert known.issuperset(real.values()) and sum(name not in known for name in guide) == 3
    assert (values["queue_overused"], round(values["queue_share"], 2)) == (0, 1.33)


@after("proportion-58")
def whose_pod_goes(fair):
    assert ('one of b' if fair else "none") == answer("18", "whose_pod")


@after("proportion-64c")
def the_share_is_that_of_the_question(both):
    assert float(both.loc['a', 'share']) == 0.5


@after("06-gangs-and-statements-29")
def taking_it_back_3(before, trap):
    assert (before, trap.status("web-1")) == ("Bound", "Running")


@after("06-gangs-and-statements-42-contexts")
def from_commit_to_a_running_pod(contexts):
    assert [context.task.name for context in contexts] == ["train-0", "train-1", "train-2"]
    assert all(context.extensions == {} for context in contexts)


@after("06-gangs-and-statements-45-stopped")
def save_and_recover_3(again, late):
    states = [late.status(f"train-{number}") for number in range(3)]
    assert states == ["Allocated", "Pending", "Pending"]
    assert [operation.task.name for operation in again.operations] == ["train-0"]


@after("06-gangs-and-statements-46-run")
def what_a_task_remembers(discarded):
    zero, one_more = discarded.loc["train-0"].tolist(), discarded.loc["train-1"].tolist()
    assert zero == ["Pending", "Pipelined, node-0", True, "node-0"]
    assert one_more == ["Pending", "", False, ""]


@after("06-gangs-and-statements-46-run")
def what_a_task_remembers_2(committed):
    assert committed["now"].tolist() == ["Pipelined"] * 2
    assert committed["last transaction"].tolist() == [""] * 2


@after("06-gangs-and-statements-46-lost")
def what_a_task_remembers_3(Rehearsal, half, saved):
    lost = Rehearsal(half)
    plan = lost.statement().evict("web-1")
    plan.statement.pipeline(lost.task("train-0"), "node-0", True)
    plan.discard()
    assert lost.task("train-0").last_transaction.eviction_occurred is True
    assert saved[1].task.eviction_occurred is False


@after("source-tree-1")
def shares_of_the_guide(levels):
    shares = levels["share"].round(2).to_dict()
    assert [shares[name] for name in ("dev", "prod", "training", "inference")] == [1.33, 0.8, 1, 1]


@after("source-conf-1")
def the_defaults_of_volcano(arguments):
    found = {row["argument"].strip("`"): row["default value"].strip("`") for row in arguments()}
    assert found["overcommit-factor"] == "1.2" and found["tainttoleration.weight"] == "3"
    assert len(found) > 40


@after("a028")
def a_podgroup_without_a_minimum(
        admission_cluster, answers, elastic, phases, trace_of, unlimited, without_min_resources):
    asked = answers(trace_of(without_min_resources(admission_cluster(second=12), "second")),
                    "job_enqueueable")
    assert phases["default/second"] == "Inqueue" and "job second" not in asked["about"].tolist()
    assert elastic == 6 and "20 > limit 14" in unlimited.why("default/second")[0]


@after("a074")
def where_to_stop_in_admission(stopped):
    assert stopped == ["default/second", "team", ["cpu"]]


@after("proportion-67b")
def is_the_queue_open(closed):
    assert closed["answer"].tolist() == [False, True, False]


@after("cell-69")
def many_nodes(enough):
    assert [enough(n) for n in (100, 200, 1000, 10000)] == [100, 100, 420, 500]


@after("cell-71")
def pods_that_ask_for_nothing(with_backfill, without):
    from volcano_lab.plugins.kube.resources import DEFAULTS
    assert without == [] and [step[1] for step in with_backfill] == ["default/new-0"]
    assert [float(amount) for amount in DEFAULTS.values()] == [0.1, 200 * 2**20]


@after("cell-79")
def the_predicate_cache(cached, plain):
    assert plain.committed == [["allocate", "default/w-1", "gpu-1"]] and cached.committed == []


@after("11-binding-faults-and-healing-47")
def what_a_snapshot_leaves_out(snapshot):
    assert list(snapshot.jobs) == ["default/web"] and list(snapshot.nodes) == ["n1"]


@after("11-binding-faults-and-healing-63")
def what_is_written_when_a_session_closes(how_often, seen):
    assert seen.count((1.0, "PodGroup")) == 1 and seen[-1][0] == 1.0
    assert how_often(seen)[0]["written, times"] == 1


@after("11-binding-faults-and-healing-63")
def the_transition_id_is_that_of_an_earlier_session(sim):
    condition = sim.server.get("PodGroup", "default/train-1").status.conditions[-1]
    assert condition.transition_id == "session-2" and sim.ssn.uid == "session-11"


@after("11-binding-faults-and-healing-68")
def a_configuration_that_changes(saved_files):
    saved = saved_files("enqueue, alocate", "enqueue, allocate, backfill")
    assert [row["in force"] for row in saved] == [
        "enqueue, allocate", "enqueue, allocate, backfill"]
    assert "alocate" in saved[0]["problem"] and saved[1]["problem"] == "none"


@after("11-binding-faults-and-healing-86")
def what_you_can_look_at_2(values):
    never = [row["name"] for row in catalogue() if "never set" in row["source"]]
    shown = next(Path("notebooks").glob("18-*.ipynb")).read_text()
    assert ", ".join(f"`{name}`" for name in never) + " | nothing: declared, and" in shown
    assert list(values.values()) == [7, 0, None, 6, 6000]


@after("11-binding-faults-and-healing-92")
def what_you_can_look_at_3(decided, sim):
    assert decided == sim.ssn.committed == [["allocate", "default/train-1-0", "n1"]]
