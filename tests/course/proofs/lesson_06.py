"""What lesson 06, "Gangs and statements", says is so."""

from course.proofs import after


@after("06-gangs-and-statements-5")
def two_clusters_that_look_alike(one, placed, steps):
    assert placed["default/train"] == 0 and len(one.committed) == 3
    assert steps["operation"].tolist() == ["allocate"] * 2 + ["undo allocate"] * 2


@after("06-gangs-and-statements-15")
def the_three_operations(now):
    assert now.loc["node-0"].tolist() == [4, 0, 4, 2, 0, 2]


@after("06-gangs-and-statements-17")
def the_three_operations_2(by_hand, show):
    assert show(by_hand, "queues")["allocated"].to_dict() == {"a": 2, "b": 0}


@after("06-gangs-and-statements-22")
def the_three_operations_3(by_hand, show):
    assert show(by_hand)["future_idle"].to_dict() == {"node-0": 0, "node-1": 2}
    assert by_hand.task("train-1").pod.spec.node_name == ""  # see below


@after("06-gangs-and-statements-25")
def taking_it_back(shown):
    assert [shown[0][what] for what in ("pods", "nodes", "queues")] == \
        [shown[-1][what] for what in ("pods", "nodes", "queues")]


@after("06-gangs-and-statements-27")
def taking_it_back_2(in_between):
    assert in_between == -2


@after("06-gangs-and-statements-29")
def taking_it_back_3(before, trap):
    assert (before, trap.status("web-1")) == ("Bound", "Running")


@after("06-gangs-and-statements-33")
def commit(again):
    assert {pod: again.status(pod) for pod in ("web-1", "train-0", "train-1")} == \
        {"web-1": "Releasing", "train-0": "Pipelined", "train-1": "Binding"}


@after("06-gangs-and-statements-35")
def commit_2(later):
    assert [(word, pod) for word, pod, _ in later.committed] == \
        [("allocate", "default/train-0"), ("allocate", "default/train-1")]


@after("06-gangs-and-statements-42-contexts")
def from_commit_to_a_running_pod(contexts):
    assert [context.task.name for context in contexts] == ["train-0", "train-1", "train-2"]
    assert all(context.extensions == {} for context in contexts)


@after("06-gangs-and-statements-43")
def save_and_recover(copy, task):
    assert (str(task.status), task.node_name) == ("Pending", "")
    assert (str(copy.status), copy.node_name) == ("Allocated", "node-1")


@after("06-gangs-and-statements-45")
def save_and_recover_2(dry):
    assert [row[1] for row in dry.session.committed] == ["default/train-0", "default/train-1"]


@after("06-gangs-and-statements-45-stopped")
def save_and_recover_3(again, late, train):
    assert [late.status(pod) for pod in train] == ["Allocated", "Pending", "Pending"]
    assert [operation.task.name for operation in again.operations] == ["train-0"]


@after("06-gangs-and-statements-46-table")
def what_a_task_remembers(discarded):
    zero, one_more = discarded.loc["train-0"].tolist(), discarded.loc["train-1"].tolist()
    assert zero == ["Pending", "Pipelined on node-0", True, "node-0"]
    assert one_more == ["Pending", "", False, ""]


@after("06-gangs-and-statements-46-committed")
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


@after("06-gangs-and-statements-51")
def answers_of_the_lab(lab):
    def node_0(step, word):
        return next(row[word] for row in lab.goto(step)["nodes"] if row["node"] == "node-0")

    def allocated(step, queue):
        shown = lab.goto(step)["queues"]
        return next(row["allocated"] for row in shown if row["queue"] == queue)

    END = 99  # the stepper stops at the last step
    lab.show("a gang that does not fit: discard")
    assert [node_0(step, "used") for step in range(5)] == [1, 3, 3, 3, 1]
    lab.show("room is made: evict, pipeline, commit")
    assert [node_0(END, word) for word in ("idle", "releasing", "pipelined")] == [0, 4, 4]
    lab.show("room for half a gang: evict, pipeline, discard")
    assert [allocated(step, "a") for step in (0, 1, END)] == [8, 6, 8]
    lab.show("two plans: save, discard, recover")
    assert lab.goto(9)["text"] == "undo: allocate train-1 on node-1"
    lab.show("a commit that the cache refuses in part")
    assert allocated(END, "b") == 2
    lab.show(lab.scenes[0])
