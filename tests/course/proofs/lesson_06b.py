"""What lesson 06b, "Statements in the source", says is so."""

from course.proofs import after


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
