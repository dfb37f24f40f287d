"""What lesson 11, "Binding, faults and healing", says is so."""

from course.proofs import after, answer
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.lesson_11.scene import look, train


@after("11-binding-faults-and-healing-6")
def a_small_cluster_with_a_clock(look, sim, way):
    first = look(sim)
    assert first["in the cache"].tolist() == ["Binding"] * 3
    assert first["node there"].tolist() == ["–"] * 3
    cached, bound, run = (lane["points"] for lane in way.data["lanes"])
    assert (cached[-1], bound[-1], run[-1]) == ([1.0, 3], [1.42, 3], [2.42, 3])


@after("11-binding-faults-and-healing-18")
def what_is_legal():
    from volcano_lab.api.status import TRANSITIONS

    legal = {f"{old} → {new}": new in TRANSITIONS[old] for old in TRANSITIONS
             for new in TRANSITIONS}
    options = entries("11")["illegal_step"]["answers"]
    assert [step for step in options if not legal[step]] == [answer("11", "illegal_step")]
    assert not {"Pending → Running", answer("11", "illegal_step")} & steps_of_a_restart(4)
    assert "Pending → Bound" in options and "Pending → Bound" in steps_of_a_restart(1.2)


def steps_of_a_restart(second):
    sim, steps, known = train(), set(), {}
    sim.calendar.after(second, lambda: (sim.restart(), known.clear()))
    for hundredth in range(100, 600):
        sim.run(until=hundredth / 100)
        now = dict(look(sim)["in the cache"])
        steps |= {f"{known[pod]} → {now[pod]}" for pod in now if pod in known}
        known.update(now)
    return steps


@after("11-binding-faults-and-healing-14")
def what_if_the_api_server_is_slow(slow, story):
    rows = slow.history.frame("cluster").set_index("time").loc[1:5]
    assert rows["used_cpu"].tolist() == [6] * 5
    assert rows["pods_binding"].tolist() == [3] * 4 + [0]
    assert story(slow)["what"].tolist().count("pod bound") == 3


@after("11-binding-faults-and-healing-24")
def a_bind_fails(sim, way, story, events):
    assert story(sim).index.tolist() == [1.42, 1.42, 1.42, 2.42, 3.42]
    cached, bound, run = (lane["points"][-1] for lane in way.data["lanes"])
    assert [cached, bound, run] == [[2.0, 3], [2.42, 3], [3.42, 3]]
    assert events(sim, "train-1-0")["times"].tolist() == [1, 1]


@after("11-binding-faults-and-healing-32")
def the_back_off_is_for_reading(waits):
    waits, queue = waits["seconds"], WorkQueue()
    at_once = [queue.retry(f"pod {number}", 0.0) for number in range(1, 1101)]
    assert waits.max() == waits[20] == 1000 and waits[18] < 1000
    assert (at_once[0], at_once[999], at_once[-1]) == (0.005, 0.005, 1.0)


@after("11-binding-faults-and-healing-37")
def pre_bind_fails(sim, events):
    phase = sim.server.get("PodGroup", "default/train-1").status.phase
    assert phase == "Inqueue"
    assert events(sim, "train-1-0")["reason"].tolist() == ["FailedScheduling"]
    assert events(sim, "train-1-0")["times"].tolist() == [1] and sim.cycles == 7 + 1  # and one at 0


@after("11-binding-faults-and-healing-42")
def everything_that_can_go_wrong_once(faults):
    runs = {kind: sim.side.jobs["default/train-1"] for kind, sim in faults.items()}
    assert max(runs, key=lambda kind: runs[kind].started) == "node_lost"
    assert runs["event_twice"].started == 2.42


@after("11-binding-faults-and-healing-46")
def everything_that_can_go_wrong_once_2(sim, story):
    assert sim.crashes == 1 and story(sim)["what"].tolist().count("pod bound") == 3


@after("11-binding-faults-and-healing-82")
def answers_of_the_lab(lab):
    def facts(**sliders):
        return lab.reset().set(**{"rate": 10} | sliders).facts["facts"]

    fast, slow = facts(fail=0, period=2), facts(fail=0, period=6)
    fast_half, slow_half = facts(fail=50, period=2), facts(fail=50, period=6)
    assert (fast["mean wait, s"], slow["mean wait, s"]) == (2.1, 4.3)
    assert (fast_half["mean wait, s"], slow_half["mean wait, s"]) == (4.8, 9.0)
    assert slow["longest wait, s"] == 6.9
    nearly_all = facts(fail=90, rate=20)
    assert nearly_all["binds refused"] == 67 and nearly_all["pods that came"] == 12
    lab.reset()


@after("11-binding-faults-and-healing-57")
def evictions_go_the_same_way(sim, look):
    states = look(sim)["in the cache"]
    assert sorted(states) == ["Pending", "Releasing", "Running"]
    assert states["train-1-0"] == "Pending"


@after("11-binding-faults-and-healing-59b")
def evictions_go_the_same_way_2(sim, story):
    assert story(sim).query("about == 'train-1-0'").index.tolist() == [9.42]
