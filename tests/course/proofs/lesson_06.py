"""What lesson 06, "Gangs and statements", says is so."""

from course.proofs import after
from volcano_lab.debug.frames import frames_of


@after("06-gangs-and-statements-4")
def two_clusters_that_look_alike(fits, CONF, tables, two):
    assert two.session.jobs["default/train"].ready_task_num() == 0
    assert len(fits.run(CONF).committed) == 3
    steps = tables.operations(two, "default/train")
    assert steps["operation"].tolist() == ["allocate"] * 2 + ["undo allocate"] * 2


@after("06-gangs-and-statements-14")
def the_three_operations(by_hand):
    now = frames_of(by_hand.trace)[-1]
    assert list(now["nodes"][0].values()) == ["node-0", 4, 0, 4, 2, 0, 2]
    assert {row["queue"]: row["allocated"] for row in now["queues"]} == {"a": 2, "b": 0}
    assert [row["share"] for row in now["queues"]] == [0.5, 0]


@after("06-gangs-and-statements-21")
def the_three_operations_3(by_hand):
    nodes = frames_of(by_hand.trace)[-1]["nodes"]
    assert {row["node"]: row["future_idle"] for row in nodes} == {"node-0": 0, "node-1": 2}


@after("06-gangs-and-statements-25")
def taking_it_back(by_hand, in_between):
    shown = frames_of(by_hand.trace)
    assert [shown[0][what] for what in ("pods", "nodes", "queues")] == \
        [shown[-1][what] for what in ("pods", "nodes", "queues")]
    assert in_between == -2


@after("06-gangs-and-statements-32")
def commit(again):
    assert {pod: again.status(pod) for pod in ("web-1", "train-0", "train-1")} == \
        {"web-1": "Releasing", "train-0": "Pipelined", "train-1": "Binding"}


@after("06-gangs-and-statements-32")
def commit_2(later):
    assert [(word, pod) for word, pod, _ in later.committed] == \
        [("allocate", "default/train-0"), ("allocate", "default/train-1")]


@after("06-gangs-and-statements-43")
def save_and_recover(known):
    assert known == [{"what": "the task", "state": "Pending", "node": None},
                     {"what": "the copy", "state": "Allocated", "node": "node-1"}]


@after("06-gangs-and-statements-43")
def save_and_recover_2(dry):
    assert [row[1] for row in dry.session.committed] == ["default/train-0", "default/train-1"]


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
    lab.show("a promise: evict, pipeline, commit")
    assert [node_0(END, word) for word in ("idle", "releasing", "pipelined")] == [0, 4, 4]
    lab.show("half a gang: evict, pipeline, discard")
    assert [allocated(step, "a") for step in (0, 1, END)] == [8, 6, 8]
    lab.show("two plans: save, discard, recover")
    assert lab.goto(9)["text"] == "undo: allocate train-1 on node-1"
    lab.show("a commit that the cache refuses in part")
    assert allocated(END, "b") == 2
    lab.show(next(iter(lab.scenes)))
