"""What the page "In Volcano's source" says is so."""

from course.proofs import after, answer


@after("source-02")
def jobs_in_the_copy(cluster):
    assert len(cluster.run().session.jobs) == 3


@after("c020")
def open_3(asked):
    assert {"job_enqueueable", "overused", "predicate", "job_ready"} <= {
        row["point"] for row in asked}


@after("c051")
def the_log_the_metrics_the_dump(known):
    names = ["e2e", "action", "plugin", "task"]
    assert all(f"volcano_{name}_scheduling_latency_milliseconds" in known for name in names)
    assert known["volcano_schedule_attempts_total"].source == ""


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
    assert ('one of b' if fair else "nobody's") == answer("18", "whose_pod")


@after("proportion-64q")
def the_share_is_that_of_the_question(both):
    assert float(both.loc['a', 'share']) == answer("18", "share_of_both")


@after("06-gangs-and-statements-29")
def taking_it_back_3(before, trap):
    assert (before, trap.status("web-1")) == ("Bound", "Running")


@after("06-gangs-and-statements-42-contexts")
def from_commit_to_a_running_pod(contexts):
    assert [context.task.name for context in contexts] == ["train-0", "train-1", "train-2"]
    assert all(context.extensions == {} for context in contexts)


@after("06-gangs-and-statements-45-stopped")
def save_and_recover_3(again, late, train):
    assert [late.status(pod) for pod in train] == ["Allocated", "Pending", "Pending"]
    assert [operation.task.name for operation in again.operations] == ["train-0"]


@after("06-gangs-and-statements-46-run")
def what_a_task_remembers(discarded):
    zero, one_more = discarded.loc["train-0"].tolist(), discarded.loc["train-1"].tolist()
    assert zero == ["Pending", "Pipelined on node-0", True, "node-0"]
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
    found = {row["argument"].strip("`"): row["default"].strip("`") for row in arguments()}
    assert found["overcommit-factor"] == "1.2" and found["tainttoleration.weight"] == "3"
    assert len(found) > 40
