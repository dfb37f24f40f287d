"""What lesson 01, "One scheduling cycle: open, act, close", says is so."""

from course.proofs import after, answer
from volcano_lab.course.lesson_01.lab import small_cluster


@after("c005")
def a_tiny_cluster(cluster, cycle):
    assert cluster.objects() == small_cluster().objects()
    assert [row[1].removeprefix("default/") for row in cycle.committed] == [
        "train-0", "train-1", "helper-0"]


@after("c011")
def before_the_configuration(conf_with, refusal, three, with_gnag):
    assert "alocate" in refusal and len(with_gnag.committed) == answer("01", "misspelt") == 2
    assert len(three.run(conf_with("allocate")).committed) == 0


@after("c016")
def open_2(copy):
    assert len(copy.left_out) == 2 and sorted(copy.nodes) == ["n1", "n2", "n3"]
    assert "default/lost" not in copy.jobs
    assert any("stray" in name for name in copy.jobs)


@after("c020")
def open_3(points):
    assert {"job_enqueueable", "overused", "predicate", "job_ready"} <= {
        row["point"] for row in points}


@after("c022")
def close(over_time):
    written = [name.split()[-1] for name in over_time.spec["moments"]]
    assert written == ["Inqueue", "Running", "Running"]


@after("c028")
def explain_it_from_the_trace(reason, cycle):
    assert "overcommit: cpu 16 > limit 9.6" in reason
    assert "in queue 4 + this job 12 is 16 of 9.6: refused" in cycle.plot.sums("wide").alt
    assert (2 * 2 + 3 * 4, round(1.2 * 8, 6)) == (16, 9.6)


@after("c034q")
def the_order_of_the_actions(cluster, conf_with):
    wrong_order, without = (cluster.run(conf_with(actions))
                            for actions in ("allocate, enqueue", "allocate, backfill"))
    assert wrong_order.committed == [] and len(without.committed) == 3
    assert {row["job"]: row["phase"] for row in without.jobs()}["default/wide"] == "Inqueue"


@after("c037")
def explore(lab):
    for first, second, third in (("allocate", "enqueue", "–"), ("enqueue", "allocate", "–"),
                                 ("backfill", "–", "–"), ("backfill", "enqueue", "allocate")):
        lab.set(first=first, second=second, third=third)
        rows = {row["job"]: row for row in lab.board["phases"]}
        assert "✓ 1 pod" not in rows["helper"].values()
    lab.reset()


@after("c048-stepper")
def step_by_step(steps):
    steps.goto(0)
    commit = steps.jump(outcome="commit")
    sides = steps.show("Both sides of an admission", "default/wide")
    steps.goto(0)
    assert commit["statement"]["operations"] == ["allocate train-1 on n2"]
    assert "cpu 16 (12 requested) > limit 9.6" in sides["text"]
