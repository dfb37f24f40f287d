"""What is wrong or without effect, in Chinese: whole sentences with the numbers of the English
ones, and nothing of them in English but names, quoted values and Volcano's own messages.
"""

import re

import pytest

from volcano_lab.cli import main
from volcano_lab.cluster import Cluster
from volcano_lab.messages import ENGLISH, speak

QUOTED = re.compile(r'"[^"]*"|“[^”]*”|\'[^\']*\'|`[^`]*`|（validate.*|YAML（.*|'
                    r"volcano-lab( [a-z-]+)* --help|(对象|[A-Z]\w+) [\w./-]+(（.*?）)?：")
"""Values, Volcano's and the YAML parser's own messages, commands, and labels of objects."""
ENGLISH_WORD = re.compile(
    r"(?<![-\w./\[=])(the|is|are|of|not|and|or|has|have|no|allowed|with|there|it|an?|by|from|to|in|"
    r"for|which|that|as|one|was|given|known|used)(?![-\w./=])")

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
MANIFESTS = {
    "no YAML": "a: [1",
    "a tab": "kind:\n\tPod",
    "a key twice": "kind: Pod\nkind: Job",
    "an anchor": "a: *b",
    "a text": "hello",
    "kubectl's table": "NAME   READY\np 1/1",
    "no kind": "metadata: {name: a}",
    "another kind": POD.replace("Pod", "pod"),
    "a kind that is not read": POD.replace("Pod", "Secret"),
    "a kind that is not modelled": "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
                                   "metadata: {name: a}",
    "kinds that are not read": "\n---\n".join(
        POD.replace("Pod", kind) for kind in ("Secret", "Service", "Endpoints", "Event")),
    "no name": "apiVersion: v1\nkind: Node",
    "a wrong name": POD.replace("{name: p}", "{name: P_1}"),
    "a wrong label": POD.replace("{name: p}", "{name: p, labels: {a b: c}}"),
    "an unknown field": QUEUE + "spec: {wieght: 3}",
    "a wrong type": QUEUE + "spec: {weight: many, reclaimable: 3, capability: 5}",
    "a wrong quantity": QUEUE + "spec: {capability: {cpu: 12 cores, memory: -1}}",
    "a long text": QUEUE + f"spec: {{weight: {'x' * 200}}}",
    "a list in lists": "[[[[[[]]]]]]",
    "items": "kind: List\nitems: 5",
    "a part of a list": "kind: List\nmetadata: {continue: abc}\nitems:\n"
                        "- {apiVersion: v1, kind: Node, metadata: {name: n1}}",
    "twice": POD + "---\n" + POD,
    "many alike": "\n---\n".join(POD.replace("name: p", f"name: P{n}") for n in range(12)),
    "a wrong time": POD.replace("name: p", "name: p, creationTimestamp: today"),
    "resource claims": POD + "spec: {resourceClaims: [{name: gpu}], containers: [{name: c}]}",
    "an unknown priority class": POD + "spec: {priorityClassName: high, containers: [{name: c}]}",
    "a job that admission refuses": "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
                                    "metadata: {name: j}\nspec: {minAvailable: 9, tasks: [{name: t,"
                                    " replicas: 1, template: {spec: {containers: [{name: c}]}}}]}",
    "a group of an unknown queue": "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
                                   "metadata: {name: g}\nspec: {queue: nowhere}",
    "an operator": "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n"
                   "  workerGroupSpecs: [{replicas: -1}]",
}
CONFS = {
    "an unknown action": "actions: alocate",
    "no actions": "tiers: []",
    "a wrong shape": "actions: allocate\ntiers: {}",
    "an unknown key": "actions: allocate\ntier: []",
    "an unknown plugin": "actions: allocate\ntiers: [{plugins: [{name: gnag}]}]",
    "a plugin that is not modelled": "actions: allocate\ntiers: [{plugins: [{name: deviceshare}]}]",
    "two rules": "actions: allocate\ntiers: [{plugins: [{name: drf, enableHierarchy: true}, "
                 "{name: proportion}]}]",
    "a wrong argument": "actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: "
                        "{binpack.weight: much, binpack.cpu: -3, binpack.disk: 3}}]}]",
    "a factor": "actions: enqueue\ntiers: [{plugins: [{name: overcommit, arguments: "
                "{overcommit-factor: 0.5}}]}]",
    "thresholds": "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: "
                  "{cpu: 150, disk: 3}}}]}]",
    "a configuration of nothing": "actions: allocate\nconfigurations: [{name: alocate}]",
    "a key twice": "actions: allocate\nactions: enqueue",
}
LINES = [
    ["run", "no-such-file.yaml"], ["run", "--bogus"], ["boo"], ["run", "-o", "xml", "GOOD"],
    ["run", "--cycles", "0", "GOOD"], ["run", ""], ["run", "-A", "-n", "team", "GOOD"],
    ["run", "-n", "nowhere", "GOOD"], ["run", "--now", "noon", "GOOD"],
    ["run", "-v", "9", "GOOD"], ["run", "--conf", "", "GOOD"], ["run", "GOOD", "--context", "x"],
    ["why", "GOOD"], ["why", "GOOD", "trian"], ["why", "GOOD", "waits", "--node", "n7"],
    ["why", "GOOD", "waits", "--node", "n1", "--before", "fits"],
    ["why", "GOOD", "waits", "--seconds", "nan"], ["why", "GOOD", "waits", "-n", "team"],
    ["why", "GOOD", "waits", "--life", "GOOD", "--now", "13:30"],
    *(["what-if", "GOOD", "--set", setting] for setting in (
        "queue", "queue/team", "queue/taem.weight=5", "boo/a.b=5", "queue/team.wieght=5",
        "queue/team.weight=much", "job/waits.pods=x", "job/waits.priority=high",
        "node/n1.more=0", "conf/boo=1", "conf/actions=alocate", "plugin/gang.tier=9",
        "plugin/gnag.tier=1", "plugin/gnag.x=1", "plugin/gang.enableJobOrder=5",
        "queue/team.weight+=1", "job/waits.requests=1")),
    ["what-if", "GOOD", "--remove", "job/nothing"],
    ["what-if", "GOOD", "--set", "queue/team.weight=2", "--expect", "happy"],
    ["what-if", "GOOD", "--set", "queue/team.weight=2", "--expect", "waits=placed"],
    ["sweep", "GOOD"], ["sweep", "GOOD", "--grid", "x"], ["sweep", "GOOD", "--grid", "x=9..1"],
    ["sweep", "GOOD", "--grid", "queue/team.weight=1", "--metric", "happiness"],
    ["simulate", "GOOD", "--until", "soon"], ["simulate", "GOOD", "--duration", "uniform:5m..1m"],
    ["simulate", "GOOD", "--arrivals", "no-such-trace.csv"],
    ["simulate", "GOOD", "--arrivals", "30/h"], ["serve", "no-such-folder"], ["serve"],
    ["replay"], ["replay", "GOOD"], ["site", "no-such-folder"], ["export", "GOOD", "-o", "xml"],
]


def shown(capsys, monkeypatch, language, words):
    """What the command writes to the error output in a language."""
    speak(ENGLISH)
    monkeypatch.setenv("VOLCANO_LAB_LANG", language)
    main(words)
    speak(ENGLISH)
    return capsys.readouterr().err


def assert_chinese(capsys, monkeypatch, words):
    english, chinese = (shown(capsys, monkeypatch, each, words) for each in (ENGLISH, "zh"))
    assert re.search("[\u4e00-\u9fff]", chinese), chinese
    rest = QUOTED.sub("", chinese.replace("volcano-lab: ", ""))
    assert not ENGLISH_WORD.search(rest), chinese
    assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", chinese)), chinese


@pytest.fixture
def good(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster = Cluster().node("n1", cpu=4).queue("team")
    cluster.job("fits", pods=2, cpu=1).job("waits", namespace="ml", queue="team", pods=9, cpu=1)
    (tmp_path / "good.yaml").write_text(cluster.to_yaml())
    (tmp_path / "bad.yaml").write_text("")
    return "good.yaml"


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest(name, good, capsys, monkeypatch, tmp_path):
    (tmp_path / "bad.yaml").write_text(MANIFESTS[name])
    assert_chinese(capsys, monkeypatch, ["run", good, "bad.yaml"])


@pytest.mark.parametrize("name", CONFS)
def test_a_configuration(name, good, capsys, monkeypatch, tmp_path):
    (tmp_path / "bad.conf").write_text(CONFS[name])
    assert_chinese(capsys, monkeypatch, ["run", good, "--conf", "bad.conf"])


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_command_line(line, good, capsys, monkeypatch):
    assert_chinese(capsys, monkeypatch, [good if word == "GOOD" else word for word in line])


def test_english_by_default_leaves_the_language_of_the_process(good, capsys):
    speak("zh")
    main(["run", "no-such-file.yaml"])
    assert capsys.readouterr().err == "volcano-lab: no-such-file.yaml：没有这个文件或目录\n"
    main(["run", "no-such-file.yaml", "--lang", "en"])
    assert capsys.readouterr().err.endswith(": there is no such file or directory\n")
