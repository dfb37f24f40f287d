"""What lesson 11b, "Watching a scheduler", says is so."""

from course.proofs import after, answer
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.lesson_11.scene import day_summary
from volcano_lab.server.prometheus import catalogue


@after("11-binding-faults-and-healing-57")
def evictions_go_the_same_way(states):
    assert states == ["Releasing", "Running"]


@after("11-binding-faults-and-healing-59b")
def evictions_go_the_same_way_2(sim, story, waiting):
    assert waiting == "Pending"
    assert story(sim).query("about == 'train-1-0'").index.tolist() == [9.42]


@after("11-binding-faults-and-healing-47")
def what_a_snapshot_leaves_out(snapshot):
    assert list(snapshot.jobs) == ["default/web"] and list(snapshot.nodes) == ["n1"]


@after("11-binding-faults-and-healing-63")
def what_is_written_when_a_session_closes(how_often, seen):
    assert seen.count((1.0, "PodGroup")) == 1 and seen[-1][0] == 1.0
    assert how_often(seen)[0]["written, times"] == 1 == answer("11b", "how_often_written")


@after("11-binding-faults-and-healing-65")
def what_is_written_when_a_session_closes_2(condition, sim):
    assert condition.transition_id == "session-2" and sim.ssn.uid == "session-11"


@after("11-binding-faults-and-healing-68")
def a_configuration_that_changes(saved_files):
    saved = saved_files("enqueue, alocate", "enqueue, allocate, backfill")
    assert [row["in force"] for row in saved] == [
        "enqueue, allocate", "enqueue, allocate, backfill"]
    assert "alocate" in saved[0]["problem"] and saved[1]["problem"] == "none"


@after("11-binding-faults-and-healing-73")
def a_day(moments):
    assert moments["allocated_cpu"].tolist() == [23, 0, 6, 16]


@after("11-binding-faults-and-healing-77")
def a_day_2(bad, good):
    good, bad = day_summary(good), day_summary(bad)
    assert good["pods lost"] == 0 < bad["pods lost"]
    assert good["prod waits, minutes (median)"] > good["lab waits, minutes (median)"]


@after("11-binding-faults-and-healing-88")
def what_you_can_look_at_2(values):
    never = [row["name"] for row in catalogue() if "never set" in row["source"]]
    (told,) = entries("11b")["metric_of_refused_binds"]["then"]
    assert told.endswith(", ".join(f"`{name}`" for name in never) + ".")
    assert list(values.values()) == [7, 0, None, 6, 6000]


@after("11-binding-faults-and-healing-92")
def what_you_can_look_at_3(decided, sim):
    assert decided == sim.ssn.committed == [["allocate", "default/train-1-0", "n1"]]
