"""`what-if`, `diff` and `lint`: a change, two exports side by side, and what cannot work."""

import json

import pytest

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.explain.findings import of_cycle, of_objects
from volcano_lab.explain.lint import contradictions
from volcano_lab.manifests.loader import loads
from volcano_lab.messages import Message


def two_queues():
    cluster = Cluster().node("n1", cpu=8).queue("a").queue("b")
    return cluster.job("one", queue="a", pods=8, min_member=1, cpu=1).job(
        "two", queue="b", pods=8, min_member=1, cpu=1)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(two_queues().to_yaml())
    return str(path)


def shown(capsys, *arguments):
    code = main([*arguments])
    return code, capsys.readouterr().out


@pytest.mark.long
def test_another_weight_moves_pods_from_one_queue_to_the_other(file, capsys):
    code, text = shown(capsys, "what-if", file, "--set", "queue/a.weight=3", "-o", "json")
    found = json.loads(text)
    assert code == 0
    assert {row["job"]: row["placed"] for row in found["jobs"]} == {
        "default/one": [4, 6], "default/two": [4, 2]}
    assert [row["deserved"] for row in found["queues"]] == [["4", "6"], ["4", "2"]]
    assert sorted(row["change"] for row in found["placements"]) == ["less"] * 2 + ["more"] * 2
    code, text = shown(capsys, "what-if", file, "--set", "queue/a.weight=3")
    assert " ".join(text.split()).startswith(
        "Fewer pods of default/one wait. More pods of default/two wait.")
    assert "4 -> 6" in text and max(map(len, text.splitlines())) <= 80


@pytest.mark.long
def test_line_ends_of_windows_and_a_byte_order_mark_mean_nothing(file, tmp_path, capsys):
    conf = ("actions: 'enqueue, allocate'\ntiers:\n- plugins:\n"
            "  - name: gang\n  - name: proportion\n")
    (tmp_path / "unix.conf").write_bytes(conf.encode())
    (tmp_path / "dos.conf").write_bytes(b"\xef\xbb\xbf" + conf.replace("\n", "\r\n").encode())
    text = (tmp_path / "cluster.yaml").read_bytes()
    (tmp_path / "dos.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    found = [shown(capsys, "run", str(tmp_path / name),
                  "--conf", str(tmp_path / known), "-o", "json")
             for name, known in (("cluster.yaml", "unix.conf"), ("dos.yaml", "dos.conf"))]
    assert found[0] == found[1] and json.loads(found[0][1])["placements"]


@pytest.mark.long
def test_a_job_that_is_gone_is_not_counted_as_better_off(file, capsys):
    for change in (["--remove", "queue/b"], ["--remove", "podgroup/two"]):
        text = " ".join(shown(capsys, "what-if", file, *change)[1].split())
        assert text.startswith("Fewer pods of default/one wait. Not in the cycle any more: "
                               "default/two. ")
        assert ("Left out of the cycle: job default/two: its queue b doesn't exist." in text) == (
            change[1] == "queue/b")


@pytest.mark.long
def test_a_job_that_is_added_and_left_out_is_reported(file, tmp_path, capsys):
    (tmp_path / "more.yaml").write_text(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: lost}, "
        "spec: {minMember: 1, queue: typo}}")
    code, text = shown(capsys, "what-if", file, "--add", str(tmp_path / "more.yaml"))
    assert code == 0 and "Left out of the cycle: job default/lost: its queue typo" in text
    assert shown(capsys, "diff", file, file)[1] == "Nothing differs.\n"


@pytest.mark.long
def test_what_admission_would_refuse_anyway_is_no_matter_of_the_change(file, tmp_path, capsys):
    (tmp_path / "more.yaml").write_text(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: shut}, "
        "spec: {weight: 1}, status: {state: Closed}}\n---\n"
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: late}, "
        "spec: {minMember: 1, queue: shut}, status: {phase: Pending}}")
    for change, refused in ((["--set", "queue/a.weight=3"], False),
                            (["--remove", "queue/shut"], True)):
        assert main(["what-if", file, str(tmp_path / "more.yaml"), *change]) == 0
        assert ("would refuse" in capsys.readouterr().err) == refused


@pytest.mark.long
def test_nothing_differs_where_nothing_is_changed(file, capsys):
    assert shown(capsys, "what-if", file) == (0, "Nothing differs.\n")
    assert shown(capsys, "diff", file, file) == (0, "Nothing differs.\n")


@pytest.mark.long
def test_a_change_that_admission_would_refuse_is_reported(file, capsys):
    assert main(["what-if", file, "--set", "queue/a.capability.cpu=1", "--set",
                 "queue/a.deserved.cpu=2"]) == 0
    said = capsys.readouterr().err
    assert f"admission would refuse the change: Queue a ({file}, document " in said
    assert "): spec.deserved" in said


@pytest.mark.long
def test_what_admission_refuses_does_not_run(tmp_path, capsys):
    job = ("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j%s}\nspec:\n"
           "  minAvailable: 3\n  tasks:\n  - {name: w, replicas: 1, template: {spec: {containers: "
           "[{name: c}]}}}\n")
    (tmp_path / "new.yaml").write_text(job % "")
    assert main(["run", str(tmp_path / "new.yaml")]) == 2
    *problems, way = capsys.readouterr().err.splitlines()
    assert "spec.minAvailable is 3; allowed is at most 1" in problems[0]
    assert way.endswith("volcano-lab why and volcano-lab lint take the files as they are")
    assert main(["why", str(tmp_path / "new.yaml"), "j"]) == 0
    capsys.readouterr()
    (tmp_path / "old.yaml").write_text(job % ", uid: 1-2")
    assert main(["run", str(tmp_path / "old.yaml")]) == 0
    assert "warning: Job default/j" in capsys.readouterr().err


@pytest.mark.long
def test_objects_and_a_configuration_can_be_tried(file, tmp_path, capsys):
    more = tmp_path / "more.yaml"
    more.write_text(Cluster().node("n2", cpu=8).to_yaml().split("---")[-1])
    _, text = shown(capsys, "what-if", file, "--add", str(more), "--remove", "job/two",
                    "-o", "json")
    found = {row["job"]: row["placed"] for row in json.loads(text)["jobs"]}
    assert found == {"default/one": [4, 8], "default/two": [4, None]}
    conf = tmp_path / "no.conf"
    conf.write_text("actions: enqueue")
    _, text = shown(capsys, "what-if", file, "--conf", str(conf), "-o", "json")
    assert {row["change"] for row in json.loads(text)["placements"]} == {"less"}
    _, text = shown(capsys, "what-if", file, "--conf", str(conf), "--set", "queue/a.weight=2",
                   "-o", "json")
    assert not json.loads(text)["placements"], "beside a change it is that of the cluster"


def test_diff_says_1_where_two_exports_differ(file, tmp_path, capsys):
    other = tmp_path / "other.yaml"
    other.write_text(two_queues().queue("a", weight=3).to_yaml())
    code, text = shown(capsys, "diff", file, str(other), "-o", "name")
    assert (code, text) == (1, "job/default/one\njob/default/two\n")


def test_a_name_that_is_not_there_is_a_sentence(file, capsys):
    assert main(["what-if", file, "--set", "queue/c.weight=3"]) == 2
    assert capsys.readouterr().err.startswith(
        'volcano-lab: "queue/c.weight": there is no queue "c"')


def base():
    return Cluster().node("n1", cpu=4).node("n2", cpu=4).queue("a")


CONF = "actions: '{}'\ntiers:\n- plugins: [{{name: gang}}, {{name: predicates}}, {}]\n"
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j}
spec:
  minAvailable: 1
  tasks:
  - {name: t, replicas: 1, template: {spec: {nodeSelector: {zone: z}, containers: [{name: c}]}}}
"""
RULES = [
    (base().job("j", pods=3, min_member=2, cpu=1), None, set()),
    (base().job("j", pods=9, cpu=1), None, {"gang-impossible"}),
    (base().queue("b", capability={"cpu": 4, "memory": "64"}).job("j", cpu=1), None,
     {"memory-in-bytes"}),
    (base().job("j", pods=1, min_member=2, cpu=1), None, {"gang-impossible"}),
    (base().job("j", pods=1, cpu=5), None, {"pod-too-large"}),
    (base().queue("a", capability={"cpu": 3}).job("j", queue="a", pods=2, cpu=2), None,
     {"gang-impossible"}),
    (base().queue("a", capability={"cpu": 3}).job("j", queue="a", pods=2, min_member=1, cpu=2),
     None, set()),
    (base().queue("a", capability={"cpu": 3}).queue("b", parent="a").job(
        "j", queue="b", pods=2, cpu=2), CONF.format(
            "enqueue, allocate", "{name: capacity, enableHierarchy: true}"), {"gang-impossible"}),
    (base().add(JOB), None, {"no-node-matches"}),
    (base().node("n3", cpu=4, labels={"zone": "z"}).add(JOB), None, set()),
    (Cluster().queue("a", guarantee=1).job("j", queue="a", cpu=1), None, {"no-nodes"}),
    (Cluster().queue("a"), None, set()),
    (base().queue("a", guarantee=9).job("j", cpu=1), None,
     {"guarantees-above-cluster", "queue-unusable"}),
    (base().queue("b", guarantee=8).job("j", queue="a", cpu=1), None, {"queue-unusable"}),
    (base().queue("b", parent="a").job("j", queue="a", cpu=1),
     CONF.format("enqueue, allocate", "{name: capacity, enableHierarchy: true}"),
     {"queue-not-leaf", "no-effect"}),
    (base().queue("b", parent="a").queue("a", parent="b").queue("c", parent="b").job(
        "j", queue="c", cpu=1), CONF.format(
            "enqueue, allocate", "{name: capacity, enableHierarchy: true}"), {"queue-circle"}),
    (base().job("j", gpu=1), None, {"gang-impossible"}),  # not the guarantees of others
    (base().queue("a", deserved=1).job("j", queue="a", cpu=1), None, {"no-effect"}),
    (base().job("j", cpu=1),
     CONF.format("enqueue, allocate", "{name: proportion}, {name: capacity}"), {"two-shares"}),
    (base().job("j", cpu=1), CONF.format(
        "enqueue, allocate", "{name: nodeorder, enableNodeOrder: false}"), {"all-switched-off"}),
    (base().job("j", cpu=1),
     "actions: 'allocate, reclaim'\ntiers: [{plugins: [{name: predicates}]}]", {"nobody-agrees"}),
    (base().queue("a", reclaimable=False).queue("default", reclaimable=False).job("j", cpu=1),
     CONF.format("enqueue, allocate, reclaim", "{name: proportion}"), {"nothing-reclaimable"}),
]


@pytest.mark.parametrize(("cluster", "conf", "rules"), RULES,
                         ids=[", ".join(sorted(row[2])) or "nothing" for row in RULES])
def test_each_rule_of_lint(cluster, conf, rules):
    found = list(of_cycle(cluster.run(conf).session))
    assert {finding.rule for finding in found} == rules
    assert all(finding.text and finding.place for finding in found)


@pytest.mark.parametrize(("classes", "rules"), [
    ((), {"priority-class-unknown": "error"}),
    (["{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}"],
     {})])
def test_pods_that_the_api_server_refuses_for_their_class_are_an_error(classes, rules):
    cluster = base().add(JOB.replace("nodeSelector: {zone: z}", "priorityClassName: high"))
    found = cluster.add(*classes).lint()
    assert {each.rule: each.level for each in found} == rules and found.errors == len(rules)


def test_files_without_a_node_say_so_once():
    cluster = Cluster().queue("a").job("j", queue="a", cpu=1)
    assert cluster.warnings(cluster.run()).count(Message("no_nodes")) == 1
    found = cluster.why("j")
    assert "waits for a node: there is none among the objects" in str(found)
    assert [cause.code for cause in found.causes].count("no_nodes") == 1


def test_a_queue_that_may_hold_nothing_is_reported_with_the_limit():
    conf = CONF.format("enqueue, allocate", "{name: capacity, enableHierarchy: true}")
    for queue in ("b", "a"):  # a limit of its own, and one of the queue above it
        cluster = Cluster().node("n1", cpu=4, gpu=2).queue("a").queue("b", parent="a").queue(
            queue, capability={"nvidia.com/gpu": 0}).job("j", queue="b", gpu=1)
        found = [finding for finding in of_cycle(cluster.run(conf).session)
                 if str(finding.place) == "Queue b"]
        assert [str(finding) for finding in found] == [
            "Queue b: no pod that requests nvidia.com/gpu may run in it: spec.capability of queue "
            f"{queue} is 0 for it (raise that capability)"]


def test_queues_in_a_circle_are_named_in_their_order():
    cluster = base().queue("a", parent="c").queue("b", parent="a").queue("c", parent="b")
    cluster.queue("d", parent="a").queue("x", parent="y").queue("y", parent="x")
    session = cluster.run(CONF.format(
        "enqueue, allocate", "{name: capacity, enableHierarchy: true}")).session
    shown = [str(text) for rule, text in contradictions(session) if rule == "queue-circle"]
    assert [text.partition("(")[2].partition(")")[0] for text in shown] == [
        "a -> c -> b -> a", "x -> y -> x"]


def test_what_admission_refuses_is_an_error(tmp_path, capsys):
    text = ("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec:\n"
            "  minAvailable: 3\n  tasks:\n  - {name: w, replicas: 1, template: {spec: {containers: "
            "[{name: c}]}}}\n")
    assert [finding.rule for finding in of_objects(loads(text))] == ["job-min-available"]
    path = tmp_path / "job.yaml"
    path.write_text(text)
    assert main(["lint", str(path), "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == "job-min-available"
    task = "  - {name: w, replicas: 1, template: {spec: {containers: [{name: c}]}}}\n"
    path.write_text(text + 2 * task)  # which creates no pods: it is said once
    assert main(["lint", str(path), "-o", "json"]) == 1
    assert [row["rule"] for row in json.loads(capsys.readouterr().out)["findings"]] == [
        "job-task-name"]


def test_a_single_error_is_enough_for_1(tmp_path, capsys):
    path = tmp_path / "guaranteed.yaml"
    path.write_text(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}\n"
        "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}, "
        "spec: {weight: 1, deserved: {cpu: 9}, guarantee: {resource: {cpu: 9}}}}\n")
    code, text = shown(capsys, "lint", str(path))
    assert code == 1 and text.splitlines()[-1].startswith("1 error, ")


def test_lint_of_a_good_cluster_is_0(file, capsys):
    assert shown(capsys, "lint", file) == (0, "0 errors, 0 warnings\n")


@pytest.mark.long
@pytest.mark.parametrize(("cpu", "expect", "code"), [
    (1, "placed", 0), (9, "placed", 1), (9, "pending", 0), (99, "admitted", 1),
    (1, "default/late=placed", 0), (9, "one=placed", 0), (1, "nobody=placed", 2),
    (1, "done", 2), (1, "=placed", 2)])
def test_would_it_run(file, tmp_path, capsys, cpu, expect, code):
    (tmp_path / "job.yaml").write_text(f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: late}}
spec:
  schedulerName: volcano
  tasks: [{{name: w, replicas: 1, template: {{spec: {{containers: [
    {{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}}}}}]
""")
    more = Cluster.read(file).node("n9", cpu=2)
    (tmp_path / "more.yaml").write_text(more.to_yaml())
    assert main(["what-if", str(tmp_path / "more.yaml"), "--add", str(tmp_path / "job.yaml"),
                 "--expect", expect]) == code
    said = capsys.readouterr().err
    assert ("was expected" in said) == (code == 1)
    assert ("late waits for a larger node" in said) == (code == 1 and cpu > 1)


@pytest.mark.long
def test_what_is_expected_needs_a_job(file, capsys):
    assert main(["what-if", file, "--set", "queue/a.weight=3", "--expect", "placed"]) == 2
    assert "no job is added" in capsys.readouterr().err


def test_a_gang_that_falls_below_its_minimum_is_named(file, tmp_path, capsys):
    cluster = Cluster().node("n1", cpu=4).queue("a").job("gang", queue="a", pods=4, cpu=1)
    found = cluster.what_if("queue/a.capability.cpu=2")
    assert found.breaks == ["default/gang"] and not found.holds("gang")
    assert cluster.what_if("queue/a.weight=2").breaks == []
