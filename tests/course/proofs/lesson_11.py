"""What lesson 11, "Binding, faults and healing", says is so."""

from course.proofs import after


@after("11-binding-faults-and-healing-7")
def a_tiny_cluster_with_a_clock(first):
    assert first["in the cache"].tolist() == ["Binding"] * 3
    assert first["node there"].tolist() == ["–"] * 3


@after("11-binding-faults-and-healing-9")
def a_tiny_cluster_with_a_clock_2(way):
    states = way["in the cache"].tolist()
    assert states == ["Binding", "Binding", "Bound", "Running", "Succeeded"]


@after("11-binding-faults-and-healing-13")
def what_if_the_api_server_is_slow(rows, slow, story):
    assert rows["used_cpu"].tolist() == [6] * 5
    assert rows["pods_binding"].tolist() == [3] * 4 + [0]
    assert story(slow)["what"].tolist().count("pod bound") == 3


@after("11-binding-faults-and-healing-24")
def a_bind_fails(seen):
    assert seen.index.tolist() == [1.42, 1.42, 1.42, 2.42, 3.42]


@after("11-binding-faults-and-healing-27")
def a_bind_fails_2(sim, told):
    assert told(sim, "train-1-0")["times"].tolist() == [1, 1]


@after("11-binding-faults-and-healing-32")
def the_back_off_is_for_reading(waits):
    assert waits.max() == waits[20] == 1000 and waits[18] < 1000


@after("11-binding-faults-and-healing-34")
def the_back_off_is_for_reading_2(waits):
    assert (waits[0], waits[999], waits[-1]) == (0.005, 0.005, 1.0)


@after("11-binding-faults-and-healing-37")
def pre_bind_and_a_question_that_people_have(phase, sim, told):
    assert phase == "Inqueue"
    assert told(sim, "train-1-0")["reason"].tolist() == ["FailedScheduling"]


@after("11-binding-faults-and-healing-42")
def everything_that_can_go_wrong_once(faults):
    assert faults["all run at"].idxmax() == "node_lost"
    assert faults.loc["event_twice", "all run at"] == 2.42


@after("11-binding-faults-and-healing-45")
def everything_that_can_go_wrong_once_2(sim, story):
    assert sim.crashes == 1 and story(sim)["what"].tolist().count("pod bound") == 3


@after("11-binding-faults-and-healing-47")
def what_a_snapshot_leaves_out(snapshot):
    assert list(snapshot.jobs) == ["default/web"] and list(snapshot.nodes) == ["n1"]


@after("11-binding-faults-and-healing-57")
def evictions_go_the_same_way(states):
    assert states == ["Releasing", "Running"]


@after("11-binding-faults-and-healing-59")
def evictions_go_the_same_way_2(sim, story):
    assert story(sim, "train-1-0").index.tolist() == [9.42]


@after("11-binding-faults-and-healing-62")
def what_is_written_when_a_session_closes(seen):
    assert seen.count((1.0, "PodGroup")) == 1 and seen[-1][0] == 1.0


@after("11-binding-faults-and-healing-65")
def what_is_written_when_a_session_closes_2(condition, sim):
    assert condition.transition_id == "session-2" and sim.ssn.uid == "session-11"


@after("11-binding-faults-and-healing-73")
def a_day(moments):
    assert moments["allocated_cpu"].tolist() == [23, 0, 6, 16]


@after("11-binding-faults-and-healing-77")
def a_day_2(both):
    assert both["good day"]["pods lost"] == 0 < both["bad day"]["pods lost"]


@after("11-binding-faults-and-healing-82")
def answers_of_the_lab(lab):
    def facts(**sliders):
        return lab.reset().set(**sliders).state["facts"]

    fast, slow = facts(fail=0, period=2), facts(fail=0, period=6)
    fast_half, slow_half = facts(fail=50, period=2), facts(fail=50, period=6)
    assert (fast["mean_wait"], slow["mean_wait"]) == (2.1, 5.9)
    assert (fast_half["mean_wait"], slow_half["mean_wait"]) == (4.7, 12.7)
    assert facts(fail=90)["binds_refused"] == 67 and facts(fail=90)["pods_that_came"] == 12
    lab.reset()


@after("11-binding-faults-and-healing-86")
def what_you_can_look_at(values):
    assert list(values.values()) == [7, 0, None, 6, 6000]


@after("11-binding-faults-and-healing-88")
def what_you_can_look_at_2(never):
    assert "volcano_schedule_attempts_total" in never


@after("11-binding-faults-and-healing-92")
def what_you_can_look_at_3(data, decided, sim):
    assert data["tasks"] == {}
    assert decided == sim.ssn.committed == [["allocate", "default/train-1-0", "n1"]]
