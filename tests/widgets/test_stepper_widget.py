"""The stepper's frames and its widget: each place shows the session's numbers, a move is one
message, few rows are sent.
"""

from __future__ import annotations

import json

import pytest
from recorded_cases import HERE, rows

from volcano_lab import widgets
from volcano_lab.api.formatting import in_units
from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_06.scene import RECLAIM, full_cluster
from volcano_lab.debug.frames import DETAILS, SLOTS, StepView
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.messages import speak
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.trace import Trace
from volcano_lab.trace.kinds import sentence
from volcano_lab.trace.stepper import Stepper


@pytest.fixture(scope="module")
def cases():
    return rows(HERE / "dev-cases.jsonl.gz")


@pytest.fixture
def steps():
    return widgets.stepper(full_cluster(), RECLAIM)


@pytest.mark.long
def test_the_last_frame_is_the_session_and_the_first_the_snapshot(cases):
    for case in cases[::29]:
        trace = Trace()
        ssn = Scheduler(load_cache(case), case["conf"]).run_once(trace)
        view = StepView(Stepper(trace), "every record")
        before, frame = view.frame, view.to_place(len(view.places)).frame
        for row in frame["nodes"]:
            node = ssn.nodes[row["name"]]
            assert row["idle"] == in_units("cpu", node.idle.milli_cpu), case["name"]
            assert row["used"] == in_units("cpu", node.used.milli_cpu), case["name"]
        jobs = {job.uid.removeprefix("default/"): job for job in ssn.jobs.values()}
        for row in frame["jobs"]:
            job = jobs[row["name"]]
            assert (row["pods"], row["placed"], row["min_available"]) == (len(
                job.tasks), job.ready_task_num(), job.min_available)
            assert row["phase"] == job.pod_group.status.phase
        assert view.to_place(0).frame == before, case["name"]


def test_a_frame_counts_the_pods_that_have_a_place():
    gang = Cluster().node("n1", cpu=4).job("a", pods=3, min_member=2, cpu=2)
    view = StepView(Stepper(traced(gang.objects())[0]), "every record")
    counted = [view.to_place(place).frame["jobs"][0] for place in range(len(view.places) + 1)]
    assert {row["pods"] for row in counted} == {3}
    assert list(dict.fromkeys(row["placed"] for row in counted)) == [0, 1, 2]


def test_among_decisions_no_single_answer_is_reported():
    trace, _ = traced(Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).objects())
    view = StepView(Stepper(trace), "decisions")
    stops = {trace.records[place].kind for place in view.places
             if place not in trace.log}
    assert {"asked", "call"} <= {record.kind for record in trace.records}
    assert "job" in stops and not {"asked", "call"} & stops


@pytest.mark.long
@pytest.mark.parametrize("detail", DETAILS)
def test_back_shows_what_forward_showed(cases, detail):
    case = max(cases[::7], key=lambda case: (case["family"] == "reclaim", len(case["objects"])))
    trace = Trace()
    Scheduler(load_cache(case), case["conf"]).run_once(trace)
    view = StepView(Stepper(trace), detail)
    frames = [view.to_place(place).frame for place in range(min(len(view.places), 400) + 1)]
    assert [frame["place"] for frame in frames] == list(range(len(frames)))
    assert len({json.dumps(frame)
                for frame in frames}) == len(frames) > 10, "each place has a frame of its own"
    for frame in reversed(frames):
        again = view.to_place(frame["place"]).frame
        assert {**again, **window(frame)} == frame


def window(frame):
    """Which part of a long list is shown depends on the way one came."""
    long = any(count > SLOTS[what] for what, (_, count) in frame["of"].items())
    return {what: frame[what] for what in ("of", *SLOTS)} if long else {}


def test_a_move_is_one_message(steps):
    sent = []
    steps.send_state = lambda key=None: sent.append(key)
    moves = [
        steps.forward, steps.back, lambda: steps.goto(7), lambda: steps.stop_at("evict"),
        lambda: steps.show("No victims"), lambda: steps.jump(outcome="commit"),
        lambda: steps.detail("decisions"), lambda: steps.resource("pods")
    ]
    for number, move in enumerate(moves):
        before = steps.frame
        move()
        assert sent == ["shown"] * (number + 1) and steps.frame is not before


def test_the_page_asks_and_the_frame_answers(steps):
    steps.ask = {"count": 1, "goto": [3]}
    assert (steps.frame["place"], steps.frame["answers"]) == (3, 1)
    steps.ask = {"count": 2, "jump": ["default/train", "", "pipeline", "", False]}
    assert steps.frame["text"] == "pipeline train-0 on node-0" and steps.frame["answers"] == 2
    steps.ask = {"count": 3, "stop_at": ["stop at evict", True]}
    assert steps.frame["text"].startswith("evict") and not steps.frame["said"]
    for count, (asked, begins) in enumerate(MISTAKES, 4):
        before = steps.frame["place"]
        steps.set_state({"ask": {"count": count, **asked}})  # as the page sends it
        assert begins in steps.frame["said"] and steps.frame["place"] == before, asked


MISTAKES = [
    ({"stop_at": ["tea time", False]}, 'the breakpoint stops at "tea time"; allowed are'),
    ({"stop_at": ["evict where", False]}, "the breakpoint stops at"),
    ({"stop_at": ["node_order", False]}, 'this cycle records nothing at "node_order"; traced with'),
    ({"stop_at": ["evict where not task", False]}, "nothing after this place stops at that."),
    ({"jump": ["default/nobody", "", "", "",
               False]}, "nothing of default/nobody comes after this place."),
    ({"show": ["A queue never gets anything",
               ""]}, 'the symptom "A queue never gets anything" is one of a queue; name it.'),
    ({"show": ["The moon is full", ""]}, 'there is no symptom "The moon is full"'),
    ({"detail":
      ["nothing"]}, 'the detail is "nothing"; allowed are operations, decisions, every record.'),
    ({"resource": ["gold"]}, 'the resource is "gold"; the nodes have'),
    ({"goto": [None]}, "This does not work: TypeError: "),
    ({"jump": 7}, "This does not work: TypeError: "),
]


def test_a_symptom_opens_the_place_that_decides():
    cluster = Cluster().node("n1", cpu=1).job("big", pods=2, cpu=1).job("fits", cpu=1)
    steps = widgets.stepper(cluster)
    found = steps.show("Both sides of an admission", "default/fits")
    assert found["text"].startswith("overcommit on fits: cpu 1 ≤ limit 1.2")
    assert steps.frame["between"], "a comparison changes nothing, so it lies between two steps"
    assert steps.back()["text"] == "overcommit on big: cpu 2 (2 requested) > limit 1.2: refused"
    assert steps.back()["text"] == "action enqueue begins"


def test_a_refusal_is_a_step_though_it_changes_nothing():
    cluster = Cluster().node("n1", cpu=1).node("n2", cpu=1).job("big", pods=2, cpu=2)
    without_enqueue = DEFAULT_CONF.replace("enqueue, ", "")
    for conf, refusal in ((None, "overcommit on big: cpu 4 (4 requested) > limit 2.4: refused"),
                          (without_enqueue, "no node for big-0: ")):
        steps = widgets.stepper(cluster, conf)
        texts = [steps.goto(place)["text"] for place in range(1, steps.frame["last"] + 1)]
        assert any(text.startswith(refusal) for text in texts), texts


def test_the_parts_of_a_stepper():
    cluster = full_cluster()
    trace, _ = traced(cluster.objects(), RECLAIM)
    made = [widgets.stepper(trace), widgets.stepper(cluster, RECLAIM),
            widgets.stepper(Cluster(cluster, RECLAIM))]
    assert len({json.dumps(steps.frame) for steps in made}) == 1
    with pytest.raises(TypeError, match="a stepper shows a cycle, not a int"):
        widgets.stepper(3)


@pytest.mark.long
def test_ten_thousand_steps_stay_in_the_kernel():
    large = Cluster()
    for number in range(40):
        large.node(f"n{number:02}", cpu=128, memory="512Gi", pods=200)
    for number in range(100):
        large.queue(f"q{number % 12:02}").job(f"j{number:03}", queue=f"q{number % 12:02}", pods=50,
                                              cpu=1, memory="1Gi")
    trace, _ = traced(
        large.objects(),
        'actions: "enqueue, allocate"\ntiers:\n- plugins: [{name: gang}, {name: proportion}]\n')
    steps = widgets.stepper(trace)
    assert steps.frame["last"] >= 10_000
    assert len(json.dumps(steps.get_state("shown"), default=str)) < 8_000 and len(
        json.dumps(steps.fixed)) < 20_000
    for place in (1, 5000, 9999):
        frame = steps.goto(place)
        record = trace.records[frame["number"]]
        assert frame["text"] == sentence(record) and len(json.dumps(frame)) < 8_000
        assert {what: len(frame[what]) for what in SLOTS} == SLOTS
        for what, fact in (("nodes", "node"), ("queues", "queue")):
            if record.get(fact):
                assert record[fact] in [row["name"] for row in frame[what] if row["about"]]


def test_what_the_page_sends_back_is_the_same_in_every_language(steps):
    sent = steps.trait_metadata("shown", "to_json"), steps.trait_metadata("fixed", "to_json")
    english = [steps.fixed, dict(steps.shown)]
    speak("zh")
    shown, fixed = (to_json(data, steps) for to_json, data in zip(sent, reversed(english),
                                                                  strict=True))
    assert fixed["names"] == english[0]["names"] and fixed["details"] != english[0]["details"]
    for part in ("details", "symptoms"):
        assert [each["key"] for each in fixed[part]] == [each["key"] for each in english[0][part]]
    assert [shown[key] for key in ("detail", "resource")] == [
        english[1][key] for key in ("detail", "resource")]
