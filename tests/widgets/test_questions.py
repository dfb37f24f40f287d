"""What a page asks about a cluster is answered as the commands answer it."""

import json
import sys
from pathlib import Path

import pytest
from exports import EXPORTS

from volcano_lab import Cluster, dump
from volcano_lab.cli import main
from volcano_lab.widgets.ask import open as open_panel
from volcano_lab.widgets.questions import Questions

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
from forty_nodes import forty_gpu_nodes  # noqa: E402


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    file = tmp_path_factory.mktemp("export") / "cluster.yaml"
    file.write_text(forty_gpu_nodes(), encoding="utf-8")
    return str(file)


def ask(questions, **question):
    return json.loads(questions.answer(json.dumps(question)))


@pytest.fixture(scope="module")
def opened(export):
    questions = Questions()
    return questions, ask(questions, ask="open", files=[export])


def printed(capsys, *words):
    """What a command prints as JSON."""
    main([*words, "-o", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_each_waiting_job_has_the_causes_of_why(opened, export, capsys):
    questions, cluster = opened
    waiting = {row["job"] for row in cluster["waiting"]}
    jobs = {row["job"] for row in cluster["jobs"] if row["placed"] < row["pods"]}
    assert waiting == jobs and len(waiting) == 5
    for job in sorted(waiting):
        output = printed(capsys, "why", export, job, "--no-remedies")["causes"]
        assert ask(questions, ask="why", job=job)["causes"] == [
            {name: cause[name] for name in ("code", "text", "context")}
            for cause in output if cause["text"]]


@pytest.mark.long
def test_a_change_brings_what_what_if_says(opened, export, capsys):
    questions, _ = opened
    ask(questions, ask="why", job="vision/sweep-4")
    change = ask(questions, ask="next", job="vision/sweep-4")
    tried = ask(questions, ask="try", args=change["args"])
    before, after = ({row["job"]: row["placed"] for row in tried[when]["jobs"]}
                     for when in ("before", "after"))
    rows = printed(capsys, "what-if", export, *change["args"])["jobs"]
    assert {row["job"]: row["placed"] for row in rows} == {
        job: [before[job], after[job]] for job in {row["job"] for row in rows}}
    assert after["vision/sweep-4"] > before["vision/sweep-4"]


@pytest.mark.long
def test_a_move_of_the_lab_is_answered_as_why_with_that_change(opened, export):
    questions, _ = opened
    page = ask(questions, ask="lab")
    assert ask(questions, ask="after", job="vision/sweep-4")["sets"] == []
    moved = "queue/vision.capability[nvidia.com/gpu]"
    assert page["fixed"]["widget"] == "lab"
    assert moved in [control["name"] for control in page["fixed"]["controls"]]
    shown = ask(questions, ask="move", what={"n": 1, "values": {moved: 110}})
    assert shown["n"] == 1 and shown["values"][moved] == 110
    found = ask(questions, ask="after", job="vision/sweep-4")
    assert found["sets"] == [f"{moved}=110"]
    for when, sets in (("before", []), ("after", found["sets"])):
        output = Cluster.read(export).changed(*sets).why("vision/sweep-4").text
        assert " ".join(output.split()).startswith(found[when])
    assert found["before"] != found["after"]
    [said] = ask(questions, ask="move", what={"n": 2, "values": {"x": 1}})["said"]
    assert "no control" in said


@pytest.mark.long
def test_the_lab_has_the_jobs_that_wait_at_rest(tmp_path):
    file = tmp_path / "gpu.yaml"
    file.write_text(dump(EXPORTS["gpu"]()), encoding="utf-8")
    questions = Questions()
    waiting = [row["job"] for row in ask(questions, ask="open", files=[str(file)])["waiting"]]
    ask(questions, ask="lab")
    pending = [row["job"] for row in questions._lab.facts.cycle.jobs() if row["pending"]]
    assert len(pending) == len(waiting) == 3
    assert all(any(uid.startswith(job) for uid in pending) for job in waiting)


def test_nodes_and_queues_have_equal_sums(opened):
    _, cluster = opened
    place = cluster["resources"].index("nvidia.com/gpu")
    held = {}
    for node in cluster["nodes"]:
        assert node["idle"][place] + sum(
            each[place] for each in node["held"].values()) == node["allocatable"][place]
        for queue, amounts in node["held"].items():
            held[queue] = held.get(queue, 0) + amounts[place]
    for row in cluster["queues"]:
        if row["resource"] == "nvidia.com/gpu" and row["queue"] in held:
            assert row["allocated"] == held[row["queue"]]


@pytest.mark.parametrize(("question", "said"), [
    ({"ask": "open", "files": ["/none.yaml"]}, "no such file"),
    ({"ask": "why", "job": "nobody"}, "no job, pod or queue"),
    ({"ask": "try", "args": ["--set", "queue/none.weight=2"]}, "none")])
def test_what_cannot_be_answered_is_one_sentence(opened, question, said):
    assert said in ask(opened[0], **question)["error"]


@pytest.mark.long
def test_the_panel_of_a_notebook_answers_its_page(export):
    panel, sent = open_panel(export), []
    panel.send = sent.append
    for number, question in enumerate(({"ask": "open", "files": [export]}, {"ask": "lint"})):
        panel._handle_custom_msg({"id": number, "question": json.dumps(question)}, [])
    assert [message["id"] for message in sent] == [0, 1]
    assert len(json.loads(sent[0]["answer"])["nodes"]) == 40


def test_the_questions_of_the_page_are_not_translated():
    script = (ROOT / "volcano_lab/widgets/js/questions.js").read_text(encoding="utf-8")
    assert "ask: t(" not in script and script.count('ask: "') >= 7


def test_a_job_that_the_cycle_leaves_out_waits_and_does_not_count_as_running(tmp_path):
    cluster = Cluster().node("n1", cpu=4).job("runs", cpu=1).job("lost", queue="nowhere", cpu=1)
    (tmp_path / "c.yaml").write_text(cluster.to_yaml())
    found = ask(questions := Questions(), ask="open", files=[str(tmp_path / "c.yaml")])
    assert [row["job"] for row in found["waiting"]] == ["default/lost"] and found["runs"] == 1
    assert "nowhere" in ask(questions, ask="why", job="default/lost")["head"]
