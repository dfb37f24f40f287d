"""Files that no one would write: each ends in objects or in one short sentence, and soon."""

import gzip
import json
import os
import socket
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from manifests.hostile import soon
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import MOST_BYTES
from volcano_lab.manifests.loader import ManifestError, load, loads

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n1}}"
META = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def node(more: str) -> str:
    return f"apiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\n{more}"


def queue(spec: str) -> str:
    return ("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
            f"spec: {spec}")


def job(tasks: str) -> str:
    return f"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: j}}\nspec: {tasks}"


def laughs(levels: int, each: int, shape: str) -> str:
    """Anchors that repeat the one before them."""
    lines = [f"l0: &a0 {shape.format('x: 1') if shape[0] == '{' else '[lol, lol]'}"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * each)
        lines.append(f"l{level}: &a{level} " + (f"{{<<: [{inner}]}}" if shape[0] == "{" else
                                                f"[{inner}]"))
    return "\n".join(lines)


REFUSED = [
    # what reliability found first (F1 to F19), then what is like it: (name, text, words)
    ("F1 a volume that is a number", META + "spec: {volumes: [5]}", "spec.volumes[0] is 5"),
    ("F1 an integer of 5,000 digits", node(f"metadata: {{name: n1, generation: {'9' * 5000}}}")
     .replace("metadata: {name: n1}\n", ""), "metadata.generation is "),
    ("F1 a quantity of 5,000 digits", node(f"status: {{allocatable: {{cpu: '{'9' * 5000}'}}}}"),
     "(5,000 characters)"),
    ("F1 a fraction of 5,000 digits", node(f"status: {{allocatable: {{cpu: 0.{'1' * 5000}}}}}"),
     "status.allocatable.cpu is "),
    ("F1 an endless exponent", node("status: {allocatable: {cpu: 1e999}}"), "cpu is "),
    ("F1 half a character", '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "\\ud800"}}',
     "metadata.name is "),
    ("F1 the year 10000", node("status: {}").replace(
        "name: n1", "name: n1, creationTimestamp: 9999-12-31T23:59:59-23:59"), "creationTimestamp"),
    ("F1 a year before all", node("status: {}").replace(
        "name: n1", "name: n1, creationTimestamp: 0001-01-01T00:00:00+23:59"), "creationTimestamp"),
    ("F1 an anchor in itself", "a: &x {b: *x}", 'the anchor "x" contains itself'),
    ("F1 an anchor merged into itself", "&a {<<: *a}", 'the anchor "a" contains itself'),
    ("F2 30 kB of brackets", "[" * 30_000, "nested too deeply"),
    ("F2 the same, closed", "[" * 30_000 + "]" * 30_000, "nested"),
    ("F2 braces", "{a: " * 30_000, "nested more than 200 deep"),
    ("F2 dashes", "- " * 30_000 + "a", "nested more than 200 deep"),
    ("F2 JSON", '{"a":' * 30_000 + "1" + "}" * 30_000, "nested too deeply"),
    ("F2 lists in lists", "[" * 100 + NODE + "]" * 100, "allowed is one list"),
    ("F3 billion laughs", laughs(9, 9, "["), "more than 2,000,000 values"),
    ("F3 in merges", laughs(26, 2, "{{{}}}"), "more than 2,000,000 values"),
    ("F4 10^300 replicas", job("{tasks: [{replicas: 1e300}]}"), "spec.tasks[0].replicas is 1e+300"),
    ("F4 2^63 replicas", job(f"{{tasks: [{{replicas: {2**63}}}]}}"), "from 0 to 2147483647"),
    ("F4 a tier below all", "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
     "metadata: {name: h}\nspec: {tier: -2147483648}", "spec.tier is -2147483648"),
    ("F10 a negative request", META + "spec: {containers: [{resources: {requests: {cpu: -1}}}]}",
     "requests.cpu is -1; allowed is a quantity from 0"),
    ("F10 a negative node", node("status: {allocatable: {cpu: -4}}"), "cpu is -4"),
    ("F10 a resource without a name", queue("{capability: {'': 1}}"), 'names the resource ""'),
    ("F10 a resource with a space", queue("{capability: {'a b/c': 1}}"), '"a b/c"'),
    ("F10 CPU in capitals", META + "spec: {containers: [{resources: {limits: {CPU: 1}}}]}",
     'names the resource "CPU"; allowed is cpu, memory'),
    ("F10 half a GPU", META + "spec: {containers: [{resources: {limits: {nvidia.com/gpu: 0.5}}}]}",
     "allowed is a whole number of pieces"),
    ("F10 a negative weight", queue("{weight: -3}"),
     "spec.weight is -3; allowed is a whole number"),
    ("F10 a huge weight", queue(f"{{weight: {10**20}}}"), "spec.weight is 1e+20"),
    ("F10 negative replicas", job("{tasks: [{replicas: -2}]}"), "replicas is -2"),
    ("F10 a negative minimum", job("{minAvailable: -5}"), "minAvailable is -5"),
    ("F10 a port above all", META + "spec: {containers: [{ports: [{hostPort: 99999}]}]}",
     "hostPort is 99999; allowed is a whole number from 0 to 65535"),
    ("F10 two pods of one uid", "\n---\n".join(META.replace("name: p", f"name: p{n}, uid: u")
                                               for n in (1, 2)), "allowed is a uid of its own"),
    ("F10 200 %", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\n"
     "spec: {minAvailable: 200%}", 'spec.minAvailable is "200%"'),
    *[(f"F10 the name {name!r}", json.dumps({"apiVersion": "v1", "kind": "Node",
                                             "metadata": {"name": name}}), "metadata.name is ")
      for name in ("a b", "a\nb", "\x1b[31mred", "\u202eabc", "../x", "a" * 254, "*", "Upper", "-a",
                   "a..b", "[/]", "[red]x[/red]")],
    ("F10 a label that is none", node("").replace("n1}", "n1, labels: {a b: c}}"),
     'a key of metadata.labels is "a b"'),
    ("F10 a label's value", node("").replace("n1}", "n1, labels: {a: b c}}"),
     'metadata.labels.a is "b c"'),
    ("F10 a key given twice", "apiVersion: v1\nkind: Node\nkind: Pod\nmetadata: {name: a}",
     'line 3: not valid YAML (the key "kind" is given twice)'),
    ("F10 the same in JSON", '{"kind": "Node", "kind": "Pod"}', 'the key "kind" is given twice'),
    ("F10 nothing", "", "there is no object"),
    ("F10 a comment", "# nothing\n---\n", "there is no object"),
    ("F10 an empty list", "[]", "there is no object"),
    ("F10 a List of nothing", "{kind: List, apiVersion: v1, items: null}", "there is no object"),
    ("F19 NUL", "a: \0", "not valid YAML"),
    ("F19 a value of 1 MB", node(f"spec: {{unschedulable: {'x' * 1_000_000}}}"),
     "(1,000,000 characters); allowed is true or false"),
    ("F19 a priority class of two lines", META + 'spec: {priorityClassName: "a\\nb"}',
     'spec.priorityClassName is "a\\nb"'),
    ("F19 a Helm template", "metadata:\n  name: {{ .Release.Name }}", "looks like a Helm template"),
    ("F19 another", "{{- if .Values.on }}\nkind: Pod\n{{- end }}", "looks like a Helm template"),
    ("a million keys, one of them twice", "{" + ",".join(f'"k{n}":1' for n in range(200_000)) +
     ',"k0":2}', 'the key "k0" is given twice'),
    ("an alias of nothing", "a: *b", 'the anchor "b" is not defined'),
    ("a tag that would run code", "!!python/object/apply:os.system [echo]", "is a list of"),
    ("a key that is a list", "? [a]\n: b", "a key that is not text"),
    ("100,001 documents", "---\n" * 100_001 + "a", "more than 100,000 documents"),
    ("too many values", "- a\n" * 2_000_100, "more than 2,000,000 values; JSON may hold more"),
    ("too many in JSON", "[" + "1," * 8_000_100 + "1]", "holds more than 8,000,000 values"),
    ("depth by anchors", "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]"
                                                     for n in range(1, 300))]), "nested more than"),
    ("a volume without bottom", META + "spec: {volumes: [" + "{a: " * 150 + "1" + "}" * 150 + "]}",
     None),
    ("NaN", '{"apiVersion": NaN}', None),
]


@pytest.mark.long
@pytest.mark.parametrize(("text", "words"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])
def test_what_is_refused_is_refused_soon_in_one_short_sentence(text, words):
    try:
        with soon():
            with_defaults(loads(text, "x.yaml"))
        assert words is None, "it was accepted"
    except ManifestError as refused:
        assert len(refused.problems) <= 2 or words == "is a list of"
        for problem in refused.problems:
            assert len(problem) <= 500 and problem.isprintable()
        assert words in (None, "is a list of") or words in refused.problems[0]


@pytest.mark.long
def test_many_alike_are_counted():
    with pytest.raises(ManifestError) as refused:
        loads("---\n".join("{a: 1}\n" for _ in range(20_000)))
    assert len(refused.value.problems) == 6
    assert refused.value.problems[-1] == (
        "19995 more like it: kind is missing; allowed is text, such as Pod")
    many = "---\n".join(f"{{apiVersion: a.io/v1, kind: Kind{'x' * n}, metadata: {{name: a}}, "
                        "spec: {schedulerName: volcano}}\n" for n in range(300))
    assert len(loads(many).warnings) == 101


def test_replicas_beyond_count_are_refused_before_they_are_created():
    for replicas in ([2**31 - 1], [40_000, 40_000]):
        tasks = ", ".join(f"{{name: t{n}, replicas: {count}}}" for n, count in enumerate(replicas))
        with pytest.raises(
                ManifestError,
                match=r"^Job j \(text, document 1\): it asks for .* at most 50,000 that"):
            with_defaults(loads(job(f"{{tasks: [{tasks}]}}")))


@pytest.mark.parametrize(("names", "beside", "words"), [
    ("ww", "", ['spec.tasks[1].name is "w"; allowed is another name for each task']),
    ("uwvw", "", ['spec.tasks[3].name is "w"; allowed is another name for each task']),
    ("ww", "\n---\n" + NODE, ['spec.tasks[1].name is "w"'])])
def test_tasks_of_one_name_are_named_and_not_their_pods(names, beside, words):
    tasks = ", ".join(f"{{name: {name}, replicas: 1}}" for name in names)
    with pytest.raises(ManifestError) as refused:
        with_defaults(loads(job(f"{{tasks: [{tasks}]}}") + beside))
    assert len(refused.value.problems) == len(words)
    assert all(map(str.__contains__, refused.value.problems, words))


def test_what_is_given_twice_is_said_beside_tasks_of_one_name():
    twice = [*loads(NODE), *loads(NODE)]
    tasks = loads(job("{tasks: [{name: w, replicas: 1}, {name: w, replicas: 1}]}"))
    for objects, words in ((twice, ["Node n1: given twice"]), (
            [*tasks, *twice], ["another name for each task", "Node n1: given twice"])):
        with pytest.raises(ManifestError) as refused:
            with_defaults(objects)
        assert len(refused.value.problems) == len(words)
        assert all(map(str.__contains__, refused.value.problems, words))


@pytest.mark.long
def test_queues_may_not_be_deeper_than_anyone_can_follow():
    def chain(length):
        return "\n---\n".join(queue(f"{{parent: q{n - 1}}}" if n else "{}").replace(
            "name: q}", f"name: q{n}}}") for n in range(length))
    assert len(with_defaults(loads(chain(200)))) == 202
    with pytest.raises(ManifestError, match=r"Queue q1199: spec.parent: it is 1,200 queues deep"):
        with_defaults(loads(chain(1200)))


@pytest.mark.long
def test_a_hypernode_pattern_that_goes_back_for_ever_matches_soon():
    from volcano_lab.cache import Cache
    text = "\n---\n".join(
        [NODE.replace("n1", "a" * 60 + f"-{number}") for number in range(20)]
        + ["apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: h}\n"
           "spec: {tier: 1, members: [{type: Node, "
           f"selector: {{regexMatch: {{pattern: '{p}'}}}}}}]}}"
           .replace("name: h", f"name: h{n}")
           for n, p in enumerate(["(a+)+$", "(.*)*z", "(a|aa)+$", "((a*)*)*b"])])
    with soon():
        Cache(with_defaults(loads(text))).hyper_nodes.snapshot()


@pytest.fixture
def special(tmp_path) -> dict[str, Path]:
    """Files that are none."""
    os.mkfifo(tmp_path / "fifo.yaml")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "zeros.yaml.gz").write_bytes(gzip.compress(b"a" * (MOST_BYTES + 1)))
    (tmp_path / "cut.yaml.gz").write_bytes(gzip.compress(NODE.encode() * 100)[:50])
    (tmp_path / "not.yaml.gz").write_bytes(b"\x1f\x8bnot gzip")
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    (tmp_path / "utf16.yaml").write_bytes(NODE.encode("utf-16"))
    with tarfile.open(tmp_path / "must-gather.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "binary.yaml")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("node.yaml", NODE)
    found = {path.name: path for path in tmp_path.iterdir()}
    return found | {"zero": Path("/dev/zero"), "full": Path("/dev/full"),
                    "long": tmp_path / ("x" * 300),
                    "nul": Path("a\0b"), "none": tmp_path / "none.yaml"}


@pytest.mark.long
@pytest.mark.parametrize(("name", "words"), [
    ("fifo.yaml", "is no regular file; allowed is one, a folder of them, or - for the input"),
    ("s", "is no regular file"),
    ("zero", "is no regular file"),
    ("full", "is no regular file"),
    ("folder.yaml", "there is no file that ends in .yaml"),
    ("loop.yaml", "cannot be read (Too many levels of symbolic links)"),
    ("long", "cannot be read (File name too long)"),
    ("nul", "embedded null"),  # a byte or a character, as Python calls it
    ("none", "there is no such file or directory"),
    ("zeros.yaml.gz", "there are more than 134,217,728 bytes to read, which is the limit"),
    ("cut.yaml.gz", "cannot be read (Compressed file ended before the end-of-stream marker"),
    ("not.yaml.gz", "cannot be read ("),
    ("binary.yaml", "cannot be read (not UTF-8 text)"),
    ("utf16.yaml", "(UTF-16, as > of PowerShell writes it, and not UTF-8 text; save it as UTF-8"),
    ("must-gather.tar.gz", "is an archive; unpack it, and name its folder"),
    ("packed.zip", "is an archive; unpack it, and name its folder"),
])
@pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")
def test_what_is_no_text_is_one_sentence(special, name, words):
    with pytest.raises(ManifestError) as refused:
        load(special[name])
    (problem,) = refused.value.problems
    assert words in problem and len(problem) <= 500 and problem.isprintable()


@pytest.mark.long
def test_a_folder_with_such_files_names_each(special, tmp_path):
    with pytest.raises(ManifestError) as refused:
        load(tmp_path)
    assert len(refused.value.problems) >= 6


def test_the_limit_is_of_all_files_together_and_can_be_set(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(NODE.replace("n1", name) + " " * 100)
    assert len(load(tmp_path, most_bytes=1000)) == 3
    with pytest.raises(ManifestError, match=r"c.yaml: there are more than 400 bytes to read"):
        load(tmp_path, most_bytes=400)


@pytest.mark.long
def test_the_command_gives_one_line_and_exit_code_2(tmp_path):
    file = tmp_path / "deep.yaml"
    file.write_text("[" * 30_000)
    done = subprocess.run([sys.executable, "-m", "volcano_lab.cli", "run", str(file)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith("deep.yaml: is nested too deeply\n")
