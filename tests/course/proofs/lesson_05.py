"""What lesson 05, "Capacity and the queue tree", says is so."""

from course.proofs import after, answer
from volcano_lab.trace.views.queues import levels
from volcano_lab.widgets.plots import tree_rows


@after("the-tree")
def the_tree_before_the_cycle(untouched):
    assert untouched.committed == [] and untouched.session.total_resource.milli_cpu == 20_000


@after("05-capacity-and-the-queue-tree-9")
def limits_come_down_the_tree(unlimited, tables):
    limits = tables.levels(unlimited)
    held = limits["allocated"]
    assert held["research"] == held["train"] + held["eval"] == 5 + 1
    may_hold = limits["real capability"]
    assert may_hold["train"] == may_hold["research"] == may_hold["default"] == 20 - 4 + 0
    assert (may_hold["eval"], may_hold["prod"]) == (6, 20)


@after("05-capacity-and-the-queue-tree-16")
def a_guarantee_for_a_team_limits_its_sister(kept):
    (warning,) = kept.trace.of("queue_tree_warning")
    assert "research" in warning["message"]


@after("05-capacity-and-the-queue-tree-18")
def whose_turn_it_is(cycle, tables):
    assert cycle.queue_order == ["web", "batch", "eval", "train"]
    assert (round(4 / 12, 3), 6 / 8) == (0.333, 0.75)
    (on_research,) = [row for row in levels(cycle.trace, "default/eval-gang")
                      if row["level"] == "research"]
    assert on_research["sum"] == 4 + 6 + 0 - 4 == 6
    turns = tables.turns(cycle)
    assert turns["queue"].tolist().index("batch") < turns["queue"].tolist().index("eval")
    assert turns["pods"].sum() == 5, "batch stays before eval after web and batch have got pods"


@after("05-capacity-and-the-queue-tree-18")
def same_words_other_meanings(CONF, cluster, cycle, tables):
    weighted = cluster.copy().queue("research", weight=50).run(CONF)
    assert weighted.committed == cycle.committed and weighted.queue_order == cycle.queue_order
    PROPORTION = CONF.replace("name: capacity\n    enableHierarchy: true", "name: proportion")
    flat = cluster.run(PROPORTION)
    deserving = cluster.copy().queue("eval", deserved=20).run(PROPORTION)
    assert tables.queues(flat)["deserved"].equals(tables.queues(deserving)["deserved"])


@after("05-capacity-and-the-queue-tree-34")
def admitted_is_not_placed(cycle, tables):
    ends = {row["job"]: row["outcome"] for row in cycle.statements()}
    assert [ends.get(f"default/{name}-gang") for name in ("batch", "eval", "train", "web")] == [
        "commit", "discard", None, "commit"]
    steps = tables.operations(cycle, "default/eval-gang")
    assert steps["operation"].tolist() == ["allocate"] * 2 + ["undo allocate"] * 2


@after("05-capacity-and-the-queue-tree-46")
def the_bug_of_v1_11_0(old, only_enqueue, tables):
    assert [row["phase"] for row in old.jobs()] == ["Inqueue", "Inqueue"]
    assert len(old.committed) == 1, "allocate has always asked every level"
    inqueue = tables.levels(only_enqueue)["inqueue"]
    drawn = {row["queue"]: row["inqueue"] for row in tree_rows(only_enqueue)["queues"]}
    assert drawn == {name: inqueue[name] for name in drawn} == {
        "root": 0, "test-root": 0, "test-sub-0": 2, "test-sub-1": 2}


@after("05-capacity-and-the-queue-tree-54")
def the_same_bug_by_hand(same):
    assert [row["phase"] for row in same.jobs()] == ["Inqueue", "Inqueue"]


@after("05-capacity-and-the-queue-tree-60")
def the_fix(today):
    assert [row["phase"] for row in today.jobs()] == ["Inqueue", "Pending"]


@after("05-capacity-and-the-queue-tree-64")
def answers_of_the_lab(lab):
    def fate(name, **moves):
        return lab.reset().set(**moves).facts.jobs[name]["fate"]

    assert fate("train-gang") == "not admitted"
    assert fate("train-gang", conf="capacity, admitting as v1.11.0 did") == "discarded"
    lab.reset().set(**{"queue/batch.parent": "research"})
    refused = [(row["job"], row["level"]) for row in levels(lab.facts.cycle.trace)
               if row["verdict"] == "refused"]
    assert refused == [("default/train-gang", "research"), ("default/batch-gang", "research")]
    assert fate("web-gang", **{"queue/web.capability.cpu": 5}) == "discarded"
    assert [row["operation"] for row in lab.facts.cycle.operations("default/web-gang")] == [
        "allocate", "undo allocate"]
    broken = lab.reset().set(**{"queue/web.parent": "train"})
    assert broken.said.startswith("This does not work: ")
    lab.reset()


@after("05-capacity-and-the-queue-tree-74")
def a_full_cluster_stands_still(stuck):
    assert stuck.committed == []


@after("05-capacity-and-the-queue-tree-77")
def elastic_jobs_make_it_move(free):
    assert [row[0] for row in free.committed].count("evict") == 2


@after("queue-tree-b-02")
def the_cost_of_depth(CONF, counted, effort_of, line_of, work):
    assert {row["pods placed"] for row in counted} == {10}
    assert [row["levels compared"] for row in counted] == [20, 30, 50, 90]
    assert work.count(point="pre_predicate", plugin="capacity") == 10, "the copies, one per pod"
    beside = line_of(8)
    for number in range(100):
        beside.queue(f"sister-{number}", parent="level-7")
        beside.job(f"run-{number}", queue=f"sister-{number}", cpu=1, running={"big": 1})
    assert effort_of(beside, CONF).notes["allocatable_level"] == 90


@after("queue-tree-b-03")
def the_levels_of_the_question(counted):
    assert counted[3]['levels compared'] == answer("05", "levels_compared")
