"""`volcano-lab why`, and `run`, where a queue above is full: causes, records, what is near.
"""

import json
import sys

import pytest
from commands import volcano_lab_command

from explain.test_exports import NODE, QUOTA, exported
from volcano_lab.cli import main
from volcano_lab.cli.why import COLUMN, _beside
from volcano_lab.cluster import Cluster

TREE = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: capacity
    enableHierarchy: true
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Queue dev is below its limit; queue team above it is full."""
    folder = tmp_path_factory.mktemp("why")
    cluster = (Cluster().node("n1", cpu=16).queue(
        "team", capability=4).queue("dev", parent="team").queue("prod", parent="team").job(
            "old", queue="prod", pods=3, cpu=1, running={"n1": 3}).job(
                "train", queue="dev", pods=2, min_member=1, cpu=1))
    (folder / "cluster.yaml").write_text(cluster.to_yaml())
    (folder / "tree.conf").write_text(TREE)
    return folder


@pytest.mark.long
def test_why_shows_the_cause_the_records_and_what_would_change_it(tree):
    result = volcano_lab_command("why", tree / "cluster.yaml", "--conf", tree / "tree.conf",
                                 "train")
    assert (result.returncode, result.stderr) == (0, "")
    shown = " ".join(result.stdout.split())
    assert shown.startswith("train waits for quota: queue team is cpu 1 short. ")
    assert ("Queue team, above queue dev, refuses pod default/train-1: cpu 4 allocated + 1 "
            "requested = 5, limit 4 (its capability).") in shown
    assert "Decided by" not in shown
    assert "queue team: capability cpu 4 -> 5 placed on n1" in shown
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.long
def test_why_as_json(tree):
    result = volcano_lab_command("why", "--output", "json", "--conf", tree / "tree.conf",
                                 tree / "cluster.yaml", "default/train")
    shown = json.loads(result.stdout)
    assert shown["about"] == "job default/train" and shown["causes"][0][
        "code"] == "ancestor_over_capability"
    assert shown["causes"][0]["facts"]["asked"] == {
        "cpu": "5"
    } and shown["chain"][0]["facts"]["level"] == "team"
    assert {"change": "queue team: capability cpu 4 -> 5",
            "effect": "train-1 is placed on n1",
            "text": "queue team: capability cpu 4 -> 5 (train-1 is placed on n1)",
            "args": ["--set", "queue/team.capability.cpu=5"],
            "kubectl": ["kubectl patch queue team --type merge -p "
                        """'{"spec": {"capability": {"cpu": "5"}}}'"""],
            "again": [], "fields": [], "job": "default/train", "placed": 2, "evicts": {},
            "ends": {}, "breaks": {}, "waits": [], "fewer": {}, "alike": []} in shown["remedies"]


WHYS = [
    (["team"], "Queue team: cpu 5 requested"),
    (["old-0"], "Pod default/old-0 is Running on node n1."),
    (["train-1", "--node", "n1"], "No node was searched for pod default/train-1"),
    (["train-0", "--node", "n1"], "Pod default/train-0 is Binding on node n1."),
]


@pytest.mark.parametrize(("arguments", "begins"), WHYS, ids=[" ".join(row[0]) for row in WHYS])
def test_why_of_queues_pods_and_nodes(arguments, begins, tree, capsys):
    assert main(["why", "--conf",
                 str(tree / "tree.conf"),
                 str(tree / "cluster.yaml"), *arguments]) == 0
    assert capsys.readouterr().out.startswith(begins)


UNKNOWN = [
    (["trian"],
     'no job, pod or queue is called "trian"; near it are default/train, default/train-0, '
     'default/train-1.'),
    (["zzz"], 'no job, pod or queue is called "zzz"; there are default/old, default/train, '),
    (["n1"], '"n1" is a node; name a pod and `--node n1`.'),
    (["train-0", "--node", "n2"], 'no node is called "n2"; near it is n1.'),
    (["team", "--node",
      "n1"], 'no pod is called "team"; there are default/old-0'),
    ([], "allowed are files, and then the name of a job, pod or queue"),
]


@pytest.mark.parametrize(("arguments", "sentence"), UNKNOWN, ids=[row[1][:40] for row in UNKNOWN])
def test_why_names_what_is_near(arguments, sentence, tree, capsys):
    assert main(["why", str(tree / "cluster.yaml"), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and sentence in shown.err and shown.err.count("\n") == 1


def test_run_names_the_queue_above_that_is_full(tree, capsys):
    assert main(["run", str(tree / "cluster.yaml"), "--conf", str(tree / "tree.conf")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "queue team refuses pod train-1: cpu 5 > limit 4" in shown


def test_why_answers_about_what_admission_would_refuse_now(tmp_path, capsys):
    vip = ("---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: vip}\n"
           "spec: {weight: 1, guarantee: {resource: {cpu: 6}}}\n")
    cluster = Cluster().node("n1", cpu=8).job("train", cpu=4)
    (tmp_path / "cluster.yaml").write_text(cluster.to_yaml() + vip)
    assert main(["run", str(tmp_path / "cluster.yaml")]) == 2  # as an object that is not there yet
    assert "allowed is at most what is deserved" in capsys.readouterr().err
    assert main(["why", str(tmp_path / "cluster.yaml"), "train", "--no-remedies"]) == 0
    shown = capsys.readouterr()
    assert "8 in the cluster - 6 guaranteed to vip" in shown.out.replace("\n    ", " ")
    assert "Queue vip" in shown.err and "admission would refuse it now" in shown.err


@pytest.mark.parametrize("arguments", [["train"], ["train", "--no-remedies"], ["--all"],
                                       ["train", "--cycle", "2"]], ids=" ".join)
def test_which_configuration_is_taken_stands_below_the_answer(
        arguments, tmp_path, capsys, monkeypatch):
    (tmp_path / "cluster.yaml").write_text(
        Cluster().node("n1", cpu=4).job("train", cpu=6).to_yaml())
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    assert main(["why", str(tmp_path / "cluster.yaml"), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "train" in lines[0] and lines[-1].startswith("warning: without --conf the cycle runs")


@pytest.mark.long
def test_why_of_all_that_wait(tree, capsys):
    arguments = [str(tree / "cluster.yaml"), "--conf", str(tree / "tree.conf"), "--all"]
    assert main(["why", *arguments]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("1 job: default/train\n  Queue team, above")
    assert "-> default/train: queue team: capability cpu 4 -> 5" in shown
    assert main(["why", *arguments, "--lang", "zh"]) == 0
    assert "-> default/train：队列 team：capability cpu 4 -> 5" in capsys.readouterr().out
    assert main(["why", *arguments, "--no-remedies", "--lang", "en"]) == 0
    assert "->" not in capsys.readouterr().out
    assert main(["why", *arguments, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["waiting"][0]["jobs"] == ["default/train"]


@pytest.mark.long
@pytest.mark.parametrize(("cpu", "also"), [(2, ""), (4, ". 1 more of these jobs starts."),
                                           (8, ". 3 more of these jobs start.")])
def test_how_many_jobs_of_a_group_a_change_starts(tmp_path, capsys, cpu, also):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=cpu).job("old", cpu=4, running={"n1": 1})
    for number in range(5):
        cluster.job(f"new-{number}", cpu=2)
    text = cluster.changed("node/n2.unschedulable=true").to_yaml()
    (tmp_path / "cluster.yaml").write_text(text)
    assert main(["why", str(tmp_path / "cluster.yaml"), "--all", "--lang", "en"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"-> default/new-0: uncordon n2 (new-0 is placed on n2){also}" in shown
    assert shown.count("more of these jobs") == bool(also)


@pytest.mark.long
def test_a_change_that_takes_nothing_from_others_is_said_of_a_group(tmp_path, capsys):
    cluster = Cluster().node("n1", cpu=4).job("a", cpu=4).job("b", cpu=4).job("c", cpu=4)
    (tmp_path / "cluster.yaml").write_text(cluster.to_yaml())
    assert main(["why", str(tmp_path / "cluster.yaml"), "b", "--lang", "en"]) == 0
    assert "PriorityClass above 0" in capsys.readouterr().out
    assert main(["why", str(tmp_path / "cluster.yaml"), "--all", "--lang", "en"]) == 0
    assert "-> default/b: 1 more node like n1 (b is placed on 1 new node)" in (
        capsys.readouterr().out)


@pytest.mark.long
def test_what_the_cluster_repeats_by_itself(tmp_path, capsys):
    """Queue a is first without its pod, and holds too much with it: one and new take turns."""
    cluster = Cluster().node("n1", cpu=5).queue("a", deserved=3).queue("b", deserved=5).job(
        "one", queue="a", cpu=4, running={"n1": 1}).job(
        "small", queue="b", cpu=1, running={"n1": 1}).job("new", queue="b", cpu=4)
    (tmp_path / "cluster.yaml").write_text(cluster.to_yaml())
    (tmp_path / "conf").write_text(
        "actions: 'allocate, reclaim'\ntiers: [{plugins: [{name: gang, enableReclaimable: false}, "
        "{name: predicates}, {name: capacity}]}]")
    given = [str(tmp_path / "cluster.yaml"), "--conf", str(tmp_path / "conf")]
    loop = "reclaim evicts pods of one for new (capacity allows it), and allocate returns the place"
    for asked in (["--all"], ["new", "-o", "wide"]):
        assert main(["why", *given, *asked]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert shown.count(loop) == 1 and "(no pod is evicted again and again)" in shown
    assert main(["why", *given, "--all", "-o", "json"]) == 0
    assert loop in json.loads(capsys.readouterr().out)["loops"]
    assert main(["why", *given, "--all", "--no-remedies"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert loop in shown and "->" not in shown


LANGUAGES = [({"VOLCANO_LAB_LANG": "zh"}, "zh"), ({"LANG": "zh_CN.UTF-8"}, "zh"),
             ({"LANG": "C.UTF-8"}, "en"), ({"LANG": "zh_CN.UTF-8", "VOLCANO_LAB_LANG": "en"}, "en")]


@pytest.mark.parametrize(("environment", "language"), LANGUAGES)
def test_the_environment_says_in_which_language_it_answers(environment, language, tree,
                                                           monkeypatch, capsys):
    monkeypatch.delenv("VOLCANO_LAB_LANG", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["why", str(tree / "cluster.yaml"), "train", "--no-remedies"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("train 没有在等待" if language == "zh" else "train does not wait")


@pytest.mark.parametrize(("most", "beside"), [(2 * COLUMN, False), (2 * COLUMN + 1, True)])
def test_an_effect_stands_beside_its_change_where_both_have_a_column(most, beside):
    first, *_ = _beside("uncordon n1", "train is placed on n1 and n2, " * 2, most).splitlines()
    assert ("placed" in first) == beside and len(first) <= most


@pytest.mark.long
def test_a_cause_that_jobs_of_two_namespaces_share_is_shown_for_each(tmp_path, capsys):
    cluster = Cluster().node("n1", cpu=2)
    for name, space in (("a", "team"), ("b", "other")):
        cluster.job(name, cpu=9, namespace=space)
    file = tmp_path / "two.yaml"
    file.write_text(cluster.to_yaml())
    for space, count in (("team", 1), ("other", 1), ("none", 0)):
        assert main(["why", str(file), "--all", "-n", space, "-o", "json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["waiting"]) == count


def test_why_does_not_warn_of_what_its_answer_says(tmp_path):
    (tmp_path / "all.yaml").write_text(NODE + exported("odd", 1, 2) + exported("big", 1, 3) + QUOTA)
    result = volcano_lab_command("why", "--no-remedies", tmp_path / "all.yaml", "odd")
    assert "(4 used + 2 requested > 5)" in " ".join(result.stdout.split())
    assert "(4 used + 3 requested > 5)" in result.stderr
    assert "(4 used + 2 requested > 5)" not in result.stderr
