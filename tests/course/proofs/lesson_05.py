"""What lesson 05, "Capacity and the queue tree", says is so."""

from course.proofs import after


@after("05-capacity-and-the-queue-tree-10")
def limits_come_down_the_tree(limits):
    assert limits["real capability"]["train"] == 8


@after("05-capacity-and-the-queue-tree-12")
def limits_come_down_the_tree_2(limits):
    held = limits["allocated"]
    assert held["research"] == held["train"] + held["eval"] == 5 + 1
    assert limits["real capability"]["default"] == 20 - 4 + 0


@after("05-capacity-and-the-queue-tree-20")
def whose_turn_it_is(cycle):
    assert cycle.queue_order == ["web", "batch", "eval", "train"]
    assert (round(4 / 12, 3), 6 / 8) == (0.333, 0.75)


@after("05-capacity-and-the-queue-tree-24")
def same_words_other_meanings(CONF, cluster, cycle, tables):
    weighted = cluster.copy().queue("research", weight=50).run(CONF)
    assert weighted.committed == cycle.committed and weighted.queue_order == cycle.queue_order
    PROPORTION = CONF.replace("name: capacity\n    enableHierarchy: true", "name: proportion")
    flat = cluster.run(PROPORTION)
    deserving = cluster.copy().queue("eval", deserved=20).run(PROPORTION)
    assert tables.queues(flat)["deserved"].equals(tables.queues(deserving)["deserved"])


@after("05-capacity-and-the-queue-tree-34")
def let_in_is_not_placed(ends):
    assert ends["statement"].tolist() == ["commit", "discard", "none", "commit"]


@after("05-capacity-and-the-queue-tree-36")
def let_in_is_not_placed_2(steps):
    assert steps["operation"].tolist() == ["allocate"] * 2 + ["undo allocate"] * 2


@after("05-capacity-and-the-queue-tree-42")
def the_bug_of_v1_11_0(old):
    assert [row["phase"] for row in old.jobs()] == ["Inqueue", "Inqueue"]


@after("05-capacity-and-the-queue-tree-54")
def mend_it(same):
    assert [row["phase"] for row in same.jobs()] == ["Inqueue", "Inqueue"]


@after("05-capacity-and-the-queue-tree-60")
def mend_it_2(today):
    assert [row["phase"] for row in today.jobs()] == ["Inqueue", "Pending"]


@after("05-capacity-and-the-queue-tree-61-count")
def mend_it_3(counted, work):
    assert set(counted["pods placed"]) == set(counted["questions"]) == {10}
    assert counted["levels compared"].tolist() == [20, 30, 50, 90, 90]
    assert work.count(point="pre_predicate", plugin="capacity") == 10  # the copies, see below


@after("05-capacity-and-the-queue-tree-64")
def the_lab_edit_the_tree_yourself(lab):
    wider = lab.queue("research", capability=10).state["gangs"]
    assert [row["gang"] for row in wider if row["statement"] == "none"] == ["train-gang"]
    assert [row["statement"] for row in wider].count("commit") == 3
    lab.reset()


@after("05-capacity-and-the-queue-tree-64")
def answers_of_the_lab(lab):
    def gang(name, state):
        row = next(row for row in state["gangs"] if row["gang"] == name)
        return row["phase"], row["statement"]

    assert gang("train-gang", lab.state) == ("Pending", "none")
    lab.set(plugin="capacity, letting in as v1.11.0 did")
    assert gang("train-gang", lab.state) == ("Inqueue", "discard")
    sums = lab.reset().queue("batch", parent="research").state["admission"]
    refused = [(row["gang"], row["level"]) for row in sums if row["verdict"] == "refused"]
    assert refused == [("train-gang", "research"), ("batch-gang", "research")]
    lab.reset().queue("web", capability=5)
    assert gang("web-gang", lab.state) == ("Inqueue", "discard")
    tried = next(row["operations"] for row in lab.state["gangs"] if row["gang"] == "web-gang")
    assert tried == "allocate 0 on node-2, undo allocate 0 on node-2"
    lab.reset().remove_queue("prod").state["sentences"]
    lab.reset().queue("fresh", parent="train").state["sentences"]
    lab.reset()


@after("05-capacity-and-the-queue-tree-74")
def a_question_that_people_have(stuck):
    assert stuck.committed == []


@after("05-capacity-and-the-queue-tree-77")
def a_question_that_people_have_2(free):
    assert [row[0] for row in free.committed].count("evict") == 2
