"""The stepper through statements without a browser, rehearsals, and a reader's own dry run."""

import pytest

from volcano_lab.api.status import BOUND
from volcano_lab.course.kit.verdict import TO_DO
from volcano_lab.course.lesson_06 import checks
from volcano_lab.course.lesson_06.lab import nodes_of, statement_stepper
from volcano_lab.course.lesson_06.scene import SCENES, full_cluster, gang_that_fits, half_full
from volcano_lab.debug.frames import frames_of
from volcano_lab.debug.sandbox import Rehearsal
from volcano_lab.trace.stepper import Stepper

ENDS = {  # scene -> how many steps, and the states of train's pods and of web's at the end
    "a gang that fits: commit": (6, ["Binding"] * 3, ["Running"]),
    "a gang that does not fit: discard": (4, ["Pending"] * 3, ["Running"] * 2),
    "a promise: evict, pipeline, commit": (
        8, ["Pipelined"] * 2, ["Releasing"] * 2 + ["Running"] * 2),
    "half a gang: evict, pipeline, discard": (4, ["Pending"] * 2, ["Running"] * 4),
    "two plans: save, discard, recover": (16, ["Binding"] * 2, ["Running"] * 2),
    "a commit that the cache refuses in part": (6, ["Binding", "Pending", "Pending"], ["Running"]),
}
STATE = ("pods", "nodes", "queues")


@pytest.mark.long
def test_pods_on_nodes_have_the_colours_of_their_queues():
    by_hand = Rehearsal(half_full())
    by_hand.statement().evict("web-1").pipeline("train-0", "node-0").allocate("train-1", "node-1")
    drawn = nodes_of(by_hand.trace, "T", step=-1).data["nodes"]
    shown = statement_stepper()
    colors = shown.fixed["scenes"][shown.scene]["colors"]
    assert {pod["name"]: pod["color"] for node in drawn for pod in node["pods"]} == {
        "web-0": colors["a"], "web-1": colors["a"], "train-0": colors["b"], "train-1": colors["b"]}


@pytest.fixture
def lab():
    return statement_stepper()


def states(frame, job):
    return [pod["status"] for pod in frame["pods"] if pod["job"] == job]


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES)
def test_scenes_to_the_end_and_back(lab, scene):
    steps, train, web = ENDS[scene]
    lab.show(scene)
    seen = [lab.frame]
    while lab.at < len(lab.frames) - 1:
        seen.append(lab.forward())
    assert len(seen) == steps + 1 and lab.forward() == seen[-1], "at the end it stays"
    assert (states(lab.frame, "train"), states(lab.frame, "web")) == (train, web)
    for frame in reversed(seen[:-1]):
        assert lab.back() == frame
    assert lab.at == 0 and lab.back() == seen[0]


@pytest.mark.parametrize("scene", SCENES)
def test_frames_are_the_steppers_states(scene):
    trace = SCENES[scene]()
    stepper = Stepper(trace).goto(len(trace.records))
    last = frames_of(trace)[-1]
    assert {pod["pod"]: (pod["status"], pod["node"]) for pod in last["pods"]} == {
                name.removeprefix("default/"): (task["status"], task["node"])
                for name, task in stepper.state["tasks"].items()
            }
    for frame in frames_of(trace):
        for node in frame["nodes"]:
            assert node["idle"] + node["used"] == node["allocatable"]
            assert node["future_idle"] == node["idle"] + node["releasing"] - node["pipelined"] >= 0


@pytest.mark.parametrize("scene", [name for name in SCENES if name.endswith("discard")])
def test_after_a_discard_everything_is_as_before(scene):
    shown = frames_of(SCENES[scene]())
    assert [shown[0][what] for what in STATE] == [shown[-1][what] for what in STATE]


@pytest.mark.long
def test_a_step_is_one_message(lab):
    sent = []
    lab.send_state = lambda key=None: sent.append(key)
    lab.forward()
    assert sent == ["at"]


@pytest.mark.long
def test_a_scene_is_chosen_on_the_page_or_in_code(lab):
    lab.forward()
    lab.scene = "a promise: evict, pipeline, commit"
    assert (lab.at, len(lab.frames), lab.frame["text"]) == (0, 9, "the session is open")
    assert lab.fixed["scenes"][lab.scene]["frames"] == lab.frames
    assert set(lab.fixed["scenes"][lab.scene]["colors"]) == {"a", "b"}
    with pytest.raises(KeyError, match="there is no scene nowhere"):
        lab.show("nowhere")


def test_a_trace_of_ones_own_is_a_scene():
    by_hand = Rehearsal(half_full())
    by_hand.statement().allocate("train-0", "node-1").discard()
    lab = statement_stepper({"mine": by_hand.trace})
    assert [frame["kind"] for frame in lab.frames] == ["start", "do", "undo"]


# -- rehearsals
# ---------------------------------------------------------------------------------------


def test_an_unknown_pod_or_node_is_named():
    by_hand = Rehearsal(half_full())
    with pytest.raises(KeyError, match="no pod train-9"):
        by_hand.statement().allocate("train-9", "node-1")
    with pytest.raises(KeyError, match="no node node-9; there are node-0, node-1"):
        by_hand.statement().pipeline("train-0", "node-9")


def test_a_pipelined_pod_stays_so_when_it_is_committed():
    by_hand = Rehearsal(half_full())
    by_hand.statement().evict("web-1").pipeline("train-0", "node-0").commit()
    assert (by_hand.status("web-1"), by_hand.status("train-0")) == ("Releasing", "Pipelined")
    assert [row[:2] for row in by_hand.session.committed] == [["evict", "default/web-1"],
                                                              ["pipeline", "default/train-0"]]
    assert not by_hand.cache.bind_contexts


def test_an_eviction_taken_back_is_running_whatever_it_was():
    by_hand = Rehearsal(full_cluster())
    by_hand.session.set_status(by_hand.task("web-1"), BOUND)
    by_hand.statement().evict("web-1").discard()
    assert by_hand.status("web-1") == "Running"


def test_copies_keep_their_node_and_the_task_does_not():
    by_hand = Rehearsal(half_full())
    plan = by_hand.statement().allocate("train-0", "node-1")
    saved = plan.save()
    plan.discard()
    assert (plan.operations[0].task.node_name, saved[0].task.node_name) == ("", "node-1")
    again = by_hand.statement().recover(saved)
    assert by_hand.status("train-0") == "Allocated" and len(again.operations) == 1


def test_what_the_cache_refuses_is_not_written_to_the_log(capfd):
    by_hand = Rehearsal(gang_that_fits())
    statement = by_hand.statement().play([("allocate", "train-0", "node-0"),
                                          ("allocate", "train-1", "node-1")])
    by_hand.lose_node("node-1")
    statement.commit()
    assert [frame["kind"]
            for frame in frames_of(by_hand.trace)] == ["start", "do", "do", "commit", "refused"]
    assert capfd.readouterr().err == ""


def test_a_dry_run_without_a_body_is_to_do():
    def empty(by_hand, plans):
        ...

    assert checks.keep_the_cheapest(empty).state == TO_DO


def test_pods_that_run_keep_their_place_when_others_are_placed():
    by_hand = Rehearsal(half_full())
    by_hand.statement().evict("web-1").pipeline("train-0", "node-0")
    for step in (0, -1):
        pods = nodes_of(by_hand.trace, "", step).data["nodes"][0]["pods"]
        assert [pod["name"] for pod in pods][:2] == ["web-0", "web-1"]
    assert pods[2]["name"] == "train-0"
