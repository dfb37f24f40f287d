"""The lab of the first lesson without a browser: it shows what the scheduler decides, and its
tasks.
"""

import pytest

from volcano_lab.course.lesson_00.lab import GANG_MINIMUM, TASKS, fair_share_lab, weights_lab


@pytest.fixture
def lab():
    return fair_share_lab()


@pytest.mark.long
def test_it_begins_with_the_worked_example(lab):
    assert lab.facts.of("deserved") == {"a": 28, "b": 42, "c": 30}
    assert lab.facts.of("request") == {"a": 80, "b": 60, "c": 30}
    assert lab.facts.jobs["a-gang"]["fate"] == "placed"


SAID = [
    ("a weight moves what queues deserve", {"queue/a.weight": 5},
     "Queue a: weight 5 (was 2). a deserves 43.8 CPUs (was 28), b 26.3 CPUs (was 42). a-work is "
     "placed (was waiting): a holds 40 and deserves 43.8 (proportion)."),
    ("a gang one pod too large is discarded, which is said before what others get",
     {GANG_MINIMUM: 4}, "Job a-gang: minimum 4 pods (was 3). a-gang is discarded (was placed): a "
     "needs 32 CPUs (28 + 4 for one more pod) and deserves 28 (proportion). a-work is placed (was "
     "waiting): a holds 28 and deserves 28 (proportion)."),
    ("a guarantee costs what others may hold", {"queue/b.guarantee.resource.cpu": 20},
     "Queue b: guarantee 20 CPUs (was 0). No outcome changes. c may hold 70 CPUs (was "
     "90). b deserves 42 CPUs, requests 60 CPUs and holds 42 CPUs (proportion)."),
    ("what turns nothing is said, too", {"queue/c.weight": 6},
     "Queue c: weight 6 (was 5). No outcome changes. c deserves 30 CPUs, requests 30 CPUs and "
     "holds 30 CPUs (proportion)."),
]


@pytest.mark.long
@pytest.mark.parametrize(("sentence", "moves", "said"), SAID, ids=[row[0] for row in SAID])
def test_the_sentence(lab, sentence, moves, said):
    assert lab.set(**moves).said == said
    assert lab.reset().said == ("Queue a deserves 28: 20 in the first round, and its part of the "
                                "20 CPUs that c leaves.")


@pytest.mark.long
def test_the_lesson_s_tasks_tick_themselves_off(lab):
    assert not any(lab.done.values())
    lab.begin("weight")
    assert lab.values[GANG_MINIMUM] == 4
    assert lab.said.startswith("weight. The gang's minimum is 4")
    assert not lab.done["weight"], "the task begins where it is not done"
    assert not lab.set(**{"queue/b.weight": 1}).done["weight"], "another queue was moved, too"
    assert lab.begin("weight").set(**{"queue/a.weight": 3}).done["weight"]
    for number, task in enumerate(TASKS):
        fresh = fair_share_lab()
        fresh.ask = {"n": 1, "show": number}
        assert fresh.done[task.name], task.name
        assert fresh.values == fresh.start | task.start | task.show


@pytest.mark.long
def test_the_toy_moves_weights_alone():
    toy = weights_lab()
    assert list(toy.controls) == ["queue/a.weight", "queue/b.weight", "queue/c.weight"]
    assert toy.set(**{"queue/c.weight": 9}).said == (
        "Queue c: weight 9 (was 1). No queue deserves more or less. c deserves 30 CPUs, requests "
        "30 CPUs and holds 30 CPUs (proportion).")
    assert toy.begin("more weight for c").set(**{"queue/c.weight": 9}).done["more weight for c"]
    assert "c asks for 30 and deserves 30." in toy.said


@pytest.mark.long
def test_a_drag_beyond_the_first_solution_teaches_as_well(lab):
    lab.begin("a gang too large")
    for number, minimum in enumerate((4, 5, 6)):
        lab.ask = {"n": number + 1, "values": {GANG_MINIMUM: minimum}, "more": number > 0}
    assert "minimum 6 pods (was 3). NotEnoughTasks: " in lab.said
