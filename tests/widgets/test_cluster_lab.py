"""The one lab without a browser: any cluster, any mark of it, and what is copied."""

import json
import random

import pytest

from volcano_lab import Cluster, lab
from volcano_lab.course.kit.boss import cluster_of
from volcano_lab.course.lesson_03.lab import two_resource_cluster
from volcano_lab.course.lesson_05.lab import queue_tree_lab
from volcano_lab.course.lesson_13.scene import CONF, export
from volcano_lab.framework import load_conf
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import speak
from volcano_lab.widgets.channels import channels, job_rows
from volcano_lab.widgets.cluster_lab import SHOWN
from volcano_lab.widgets.controls import slider
from volcano_lab.widgets.reasons import short_reason

TREE = """
actions: "enqueue, allocate"
tiers: [{plugins: [{name: gang}, {name: capacity, enableHierarchy: true}]}]
"""


def two_queues():
    cluster = Cluster().node("n1", cpu=6).node("n2", cpu=3).queue("a").queue("b")
    for queue in ("a", "b"):
        cluster.job(f"{queue}-gang", queue=queue, pods=6, cpu=1)
    return cluster


def departments():
    cluster = Cluster().node("n1", cpu=10).queue("research", deserved=4, capability=4)
    cluster.queue("train", parent="research", deserved=4).queue("prod", deserved=6)
    cluster.queue("web", parent="prod", deserved=6)
    return cluster.job("train-gang", queue="train", pods=5, cpu=1)


def ask(shown, **asked):
    shown.set_state({"ask": {"n": shown.ask.get("n", 0) + 1, **asked}})  # as the page sends it
    return shown


@pytest.mark.long
def test_every_control_is_a_path_of_the_language_of_change():
    shown = two_queues().lab()
    chance = random.Random(3)
    for _ in range(12):
        values = {name: chance.choice(control.choices())
                  for name, control in shown.controls.items() if "/" in name}
        shown.set(**values)
        cycle = two_queues().changed(*shown.changes()).run()
        assert shown.facts.cycle.queues() == cycle.queues()
        assert shown.facts.cycle.committed == cycle.committed
        assert {each.partition("=")[0] for each in shown.changes()} == {
            name for name, value in values.items() if value != shown.start[name]}


@pytest.mark.long
@pytest.mark.parametrize("conf", [CONF, load_conf(CONF)], ids=["text", "object"])
def test_what_is_copied_builds_what_is_shown(conf):
    controls = {"plugin/overcommit.overcommit-factor": slider(1.2, 1, 2, "factor", step=0.1)}
    shown = lab(two_queues(), conf=conf, controls=controls).set(
        **{"queue/a.weight": 2, "plugin/overcommit.overcommit-factor": 1.5})
    names = {}
    exec(shown.python(), names)
    assert names["cycle"].committed == shown.facts.cycle.committed
    again = Cluster().add(shown.yaml()).run(shown.facts.cycle.session.conf)
    assert again.queues() == shown.facts.cycle.queues()
    assert shown.sets() == ("--set 'queue/a.weight=2' "
                            "--set 'plugin/overcommit.overcommit-factor=1.5'")
    for form in ("python", "yaml", "sets"):
        assert ask(shown, copy=form).shown["copied"]["text"] == getattr(shown, form)()


def test_without_a_plugin_that_shares_a_placed_job_is_explained_by_what_its_queue_holds():
    shown = lab(Cluster(conf="actions: allocate").node("n1", cpu=4).job("a", pods=2, cpu=1))
    assert shown.facts.state(shown.facts.jobs["a"]) == "**a** is **placed**: default holds 2."


@pytest.mark.long
def test_what_podless_podgroups_reserve_and_no_limit_are_shown():
    shown = lab(export())
    rows = {row["queue"]: row for row in shown.board["channels"]["queues"]}
    [ghosts] = [job for job in rows["batch"]["jobs"] if job["fate"] != "running"]
    assert (ghosts["name"], ghosts["reason"]) == (
        "batch/spark-00, …", "9 PodGroups without pods reserve 1008 CPUs")
    assert shown.said.startswith("0 of 3 jobs are placed in this cycle.")
    assert "cordoned" in shown.facts.why({"node": "m03"})
    limit = "queue/web.capability.cpu"
    assert shown.set(**{limit: shown.controls[limit].most}).said.startswith(
        "Queue web: capability no limit (was 260).")


def test_a_capability_of_no_gpus_is_a_limit():
    cluster = Cluster().node("n1", cpu=4, gpu=2).queue(
        "a", capability={"cpu": 0, "nvidia.com/gpu": 0}).job("job", queue="a", cpu=1)
    rows = {name: next(row for row in channels(cluster.run(), name)["queues"]
                       if row["queue"] == "a") for name in ("cpu", "nvidia.com/gpu")}
    assert [row["capability"] for row in rows.values()] == [4, 0]


ASKED = [
    ("a queue", {"queue": "a"}, "**a** deserves 4.5 CPUs, requests 6 CPUs and holds 0 CPUs "
     "(proportion). By weight: round 1 offers 9 × 1/2 = 4.5, and it takes 4.5. After 1 round"),
    ("a job", {"job": "default/a-gang"}, "a-gang"),
    ("a pod", {"pod": "default/a-gang-0", "node": "n1"}, "a-gang-0"),
    ("a node", {"node": "n2"}, "Node n2 has cpu 3 idle"),
    ("a handle of a queue", {"control": "queue/b.weight"}, "**b** deserves"),
    ("a handle of a job", {"control": "job/default/b-gang.pods"}, "b-gang"),
]


@pytest.mark.parametrize(("name", "about", "names"), ASKED, ids=[row[0] for row in ASKED])
def test_any_mark_answers_why_it_is_so(name, about, names):
    shown = two_queues().lab()
    board = shown.board
    assert names in ask(shown, why=about).shown["why"]
    assert shown.board == board and "why" not in ask(shown, undo=1).shown


@pytest.mark.long
def test_a_queue_moves_to_another_parent_and_what_breaks_the_tree_is_a_sentence():
    shown = departments().lab(conf=TREE)
    assert shown.facts.jobs["train-gang"]["fate"] == "not admitted"
    said = shown.set(**{"queue/train.parent": "prod"}).said
    assert said.startswith(
        "Queue train: parent prod (was research). train may hold 10 CPUs (was 4). train-gang is "
        "placed (was not admitted): train needs 5 ≤ 10 CPUs, before 5 > 4 (capacity).")
    assert ask(shown, values={"queue/prod.parent": "train"}).shown["error"]
    assert not shown.undo().shown["error"]


@pytest.mark.long
def test_a_lab_of_files_shows_forty_nodes_in_each_resource():
    shown = lab(export("lab-test"))
    assert len(shown.board["channels"]["nodes"]) == 40
    assert len(json.dumps(shown.shown)) < 100_000, "rows only"
    gpus = shown.set(show="nvidia.com/gpu").board["channels"]
    assert gpus["unit"] == "GPUs" and gpus["total"] == 48 and len(gpus["nodes"]) == 6
    said = shown.set(**{"job/ci/nightly-4412.minAvailable": 20}).said
    assert ("ci/nightly-4412 is placed (was not admitted): 1104 reserved + requested ≤ 1110.4 "
            "CPUs, before 1144 > 1110.4 (overcommit)") in said


def test_what_is_no_cluster_is_one_sentence():
    with pytest.raises(ValueError, match="a lab shows one cluster"):
        lab(Cluster(), Cluster())
    with pytest.raises(ManifestError, match="pods is -1"):
        two_queues().changed("job/a-gang.pods=-1")


def test_fates_are_distinguished():
    cluster = Cluster().node("n1", cpu=8).queue("a").queue("b", capability=4)
    cluster.job("runs", queue="a", pods=2, cpu=1, running={"n1": 2})
    cluster.job("grows", queue="a", pods=5, cpu=3, min_member=1, running={"n1": 1})
    cluster.job("late", queue="b", pods=2, cpu=1).job("large", queue="b", pods=1, cpu=5)
    cluster.job("short", queue="b", pods=1, cpu=1, min_member=2)
    fates = {job["name"]: job["fate"] for row in channels(cluster.run())["queues"]
             for job in row["jobs"]}
    assert fates == {"runs": "running", "grows": "waiting", "late": "placed", "short": "not tried",
                     "large": "not admitted"}
    fates = {job["name"]: job["fate"] for row in channels(two_queues().run())["queues"]
             for job in row["jobs"]}
    assert fates == {"a-gang": "discarded", "b-gang": "not admitted"}


def test_pods_of_a_job_come_and_go():
    cluster = Cluster().node("n1", cpu=9).job("a", pods=4, cpu=1, min_member=1,
                                              running={"n1": 2})
    for count, placed in ((2, 0), (3, 1), (7, 5)):
        assert len(cluster.changed(f"job/a.pods={count}").run().committed) == placed
    with pytest.raises(ManifestError, match="2 of them run"):
        cluster.changed("job/a.pods=1")


@pytest.mark.long
def test_another_resource_has_no_ghost_of_the_one_before():
    cluster = Cluster().node("n1", cpu=8, memory="8Gi").queue("a")
    moved = lab(cluster.job("train", queue="a", pods=2, cpu=1, memory="2Gi"))
    assert moved.set(**{"queue/a.weight": 2}).shown["ghost"] == "last"
    assert moved.set(**{SHOWN: "memory"}).shown["ghost"] == "none"
    assert moved.set(**{"queue/a.weight": 3}).shown["ghost"] == "last"


def test_a_queue_holds_its_pods_where_the_plugin_refuses_the_tree():
    broken = cluster_of("05c", "all_started")
    queues = {row["queue"]: row for row in channels(broken.run(broken.conf), "cpu")["queues"]}
    assert queues["web"]["allocated"] == queues["web"]["held"] == 10


@pytest.mark.long
def test_the_sentence_names_the_gang_whose_outcome_turned():
    shown = queue_tree_lab()
    shown._move({"queue/batch.parent": "research"})
    assert "batch-gang is not admitted" in shown.said and "train-gang" not in shown.said


def test_a_pod_that_backfill_places_is_drawn():
    cluster = Cluster().node("n1", cpu=4).job("train", pods=2, cpu=1).job("helper")
    opened = lab(cluster)
    assert opened.said == "2 of 2 jobs are placed in this cycle."
    assert opened.facts.jobs["helper"]["fate"] == "placed"


NIGHTLY = "job/ci/nightly-4412."
MOVED = [
    ("a job", {"job/vision/segment.minAvailable": 7},
     "No outcome changes. vision/segment is discarded: Pod vision/segment-worker-0 requests "
     "nvidia.com/gpu 1; all 6 nodes with nvidia.com/gpu together have 0 left."),
    ("a queue whose job waits", {"queue/web.weight": 9},
     "No outcome changes. web/reindex is discarded: 3 of 3 nodes with disk=ssd (m03, m06, m09) "
     "cannot take pod web/reindex-worker-0: cordoned (node(s) were unschedulable)."),
    ("a queue that has all it requests", {"queue/batch.weight": 9}, "No outcome changes. batch "
     "deserves 192 CPUs, requests 192 CPUs and holds 192 CPUs (proportion)."),
    ("what turns is the job that was moved, and one that pays", {NIGHTLY + "minAvailable": 21},
     "ci/nightly-4412 is placed (was not admitted): 1108 reserved + requested ≤ 1110.4 CPUs, "
     "before 1144 > 1110.4 (overcommit). web/reindex is not admitted (was discarded): 1124 "
     "reserved + requested, limit 1110.4 CPUs."),
    ("what decided is said first, and as a sum", {"queue/web.capability.cpu": 240},
     "web deserves 240 CPUs (was 256). web/reindex is not tried (was discarded): web needs 244 "
     "CPUs (240 + 4 for one more pod) and deserves 240 (proportion)."),
    ("a weight that the deciding limit does not read", {"queue/ci.weight": 5},
     "No outcome changes. ci/nightly-4412 is not admitted: 1144 reserved + requested, limit 1110.4 "
     "CPUs (overcommit). This limit is of the whole cluster: no weight and no amount of a queue "
     "changes it."),
    ("a guarantee that turns nothing", {"queue/vision.guarantee.resource.cpu": 100},
     "No outcome changes. vision deserves 100 CPUs (was 16). vision/segment is discarded: Pod "
     "vision/segment-worker-0 requests nvidia.com/gpu 1; all 6 nodes with nvidia.com/gpu together "
     "have 0 left."),
    ("another resource", {SHOWN: "nvidia.com/gpu"}, "It is the same cycle, measured in GPUs.")]


@pytest.mark.long
@pytest.mark.parametrize(("name", "move", "said"), MOVED, ids=[row[0] for row in MOVED])
def test_the_cause_is_about_what_was_moved(name, move, said):
    moved = lab(export()).set(**move).said
    assert moved.partition("). ")[2] == said


@pytest.mark.long
def test_the_resource_of_a_share_is_named_where_it_is_not_the_shown_one():
    shown = lab(export())
    for resource, of in (("cpu", "gpu"), ("nvidia.com/gpu", "")):
        rows = {row["queue"]: row
                for row in shown.set(**{SHOWN: resource}).board["channels"]["queues"]}
        assert (rows["nlp"]["share"], rows["nlp"]["of"]) == (pytest.approx(1.2), of)


@pytest.mark.long
def test_a_handle_ends_at_its_cluster_and_a_capability_of_zero_is_no_step_of_it():
    shown = lab(export())
    memory, limit = (shown.controls[f"queue/ci.{field}.memory"]
                     for field in ("guarantee.resource", "capability"))
    assert memory.choices()[-1] == memory.check("guarantee", memory.most) == 11_200 <= memory.most
    assert 0 not in limit.choices() and limit.words(limit.choices()[-1]) == "no limit"
    assert 0 in shown.controls["queue/ci.capability[nvidia.com/gpu]"].choices()


@pytest.mark.long
def test_a_lane_has_the_short_reason_of_each_outcome():
    opened = lab(export())
    briefs = {job["name"]: job["brief"] for row in opened.board["channels"]["queues"]
              for job in row["jobs"] if "brief" in job}
    assert briefs == {
        "batch/spark-00, …": "9 PodGroups reserve 1008 CPUs",
        "ci/nightly-4412": "1144 reserved + requested, limit 1110.4 CPUs",
        "vision/segment": "waits for resources: the nodes lack nvidia.com/gpu 8 for its gang",
        "web/reindex": "waits for a node that fits: 3 of 3 with disk=ssd cordoned"}


def test_a_gang_that_is_not_valid_is_said_once():
    cause = Cluster().node("n1", cpu=8).job("a", pods=3, min_member=4, cpu=1).why("a").causes[0]
    assert short_reason(cause, "default", "gang") == (
        "The gang is not valid: 3 of 4 pods exist that may run",
        "waits for its gang: 3 of 4 pods exist that may run")


@pytest.mark.long
@pytest.mark.parametrize(("job", "said"), [
    ("ci/nightly-4412", "Reserved by 9 PodGroups without a single pod"),
    ("vision/segment", "nvidia.com/gpu: nlp/pretrain 48 (40 pods above its minimum of 8)."),
    ("batch/spark-00", "9 PodGroups without pods reserve 1008 CPUs. batch/spark-00 waits")])
def test_an_answer_names_who_holds_or_reserves_what_is_lacking(job, said):
    assert said in lab(export()).facts.why({"job": job})


@pytest.mark.long
def test_fewer_pods_than_the_minimum_are_named_beside_the_sum():
    moved = lab(export()).set(**{f"{NIGHTLY}pods": 21})
    assert moved.said == (
        "Job ci/nightly-4412: pods 21 (was 30). No outcome changes. ci deserves 244 CPUs (was "
        "280). ci/nightly-4412 is not admitted: 1144 reserved + requested, limit 1110.4 CPUs "
        "(overcommit); its minimum of 30 counts, and it has 21 pods.")


@pytest.mark.long
def test_an_answer_about_podgroups_without_pods_has_the_marks_of_its_language():
    opened = lab(export())
    speak("zh")
    try:
        assert "1008 个 CPU。batch/spark-00" in opened.facts.why({"job": "batch/spark-00"})
    finally:
        speak("en")


@pytest.mark.long
def test_the_fullest_resource_of_a_queue_is_named_in_the_language_of_the_page():
    speak("zh")
    try:
        queues = two_resource_cluster().lab().board["channels"]["queues"]
    finally:
        speak("en")
    assert [row["of"] for row in queues] == ["内存", "", ""]


def test_jobs_are_drawn_waiting_ones_first_those_without_pods_after_them_running_ones_last():
    cluster = Cluster().node("n1", cpu=4).job("a-runs", cpu=1, running={"n1": 1}).job(
        "c-waits", cpu=9).job("d-fits", cpu=1).add(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: b-empty, "
        "namespace: default}, spec: {minMember: 1}}")
    rows = job_rows(cluster.run())
    assert [row["name"] for row in rows] == ["c-waits", "d-fits", "b-empty", "a-runs"]
