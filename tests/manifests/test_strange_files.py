"""Files of all kinds of strangeness: each is refused in one sentence that says what it is, or taken
for a reason; as `run`, `lint` and a cycle take it.
"""

import json

import pytest

from manifests.hostile import soon
from manifests.test_hostile_files import META, NODE, job, laughs, node, queue
from volcano_lab.cache import Cache
from volcano_lab.manifests.admission import admit
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.files import Reader, Unreadable
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.scheduler import run_cycle

CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: sla}]
- plugins:
  - {name: overcommit}
  - {name: drf, enableHierarchy: true}
  - {name: predicates}
  - {name: capacity, enableHierarchy: true}
  - {name: nodeorder}
  - {name: network-topology-aware}
  - {name: task-topology}
"""
POD = META + ("spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: "
              "{cpu: 1}}}]MORE}")
TASK = "{name: t, replicas: 1, template: {spec: {containers: [{name: c}]}}}"
SELECT = ("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: TERMS}}}")


def pod(more: str) -> str:
    return POD.replace("MORE", more and f", {more}")


def named(meta: str) -> str:
    return f"apiVersion: v1\nkind: Node\nmetadata: {meta}"


def group(spec: str) -> str:
    return ("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
            f"spec: {{{spec}}}")


def hyper(name: str, member: str, tier: int = 1) -> str:
    return ("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: "
            f"{{name: {name}}}\nspec: {{tier: {tier}, members: [{{{member}}}]}}")


def several(*texts: str) -> str:
    return "\n---\n".join(texts)


def cpu(amount: str) -> str:
    return node(f"status: {{allocatable: {{cpu: {amount}}}}}")


def born(at: str) -> str:
    return META.replace("name: p", f"name: p, creationTimestamp: {at}")


REFUSED = {
    "1e400": (cpu("1e400"), 'cpu is "1e400"; allowed is a number with'),
    "1e400 in JSON": ('{"kind":"Node","apiVersion":"v1","metadata":{"generation":1e400}}',
                      "metadata.generation is inf"),
    "Infinity": ('{"kind":"Node","apiVersion":"v1","metadata":{"generation":Infinity}}',
                 'metadata.generation is "Infinity"'),
    ".inf": (queue("{weight: .inf}"), "spec.weight is inf"),
    ".nan": (cpu(".nan"), "cpu is nan"),
    "1EiEi": (cpu("1EiEi"), 'cpu is "1EiEi"'),
    "an Arabic digit": (cpu("'٣'"), 'cpu is "٣"'),
    "a tiny amount": (cpu("'1e-400'"), 'cpu is "1e-400"'),
    "true as an amount": (cpu("true"), "cpu is true"),
    "yes as a number": (job(f"{{tasks: [{TASK.replace('1', 'yes', 1)}]}}"), "replicas is true"),
    "1 as a switch": (node("spec: {unschedulable: 1}"), "unschedulable is 1; allowed is true or"),
    "a name of a million": (named("{name: " + "x" * 10**6 + "}"), 'x"; allowed are lower case'),
    "no as a name": (named("{name: no}"), "metadata.name is false; allowed is text (in quotes)"),
    "a name on two lines": (named("\n  name: |\n    n1\n"), 'metadata.name is "n1\\n"'),
    "an emoji": (named("{name: 🚀}"), 'metadata.name is "🚀"'),
    "yesterday": (born("yesterday"), 'creationTimestamp is "yesterday"; allowed is a time such as'),
    "seconds": (born("1700000000"), "creationTimestamp is 1700000000"),
    "month 13": (born("'2026-13-99T99:99:99Z'"), "creationTimestamp is"),
    "no zone": (born("'2026-01-01T00:00:00'"), "creationTimestamp is"),
    "merges in a circle": ("a: &a {x: {<<: *a}}", 'the anchor "a" contains itself'),
    "a chain of merges": ("\n".join(["x0: &x0 {a: b}", *(
        f"x{n}: &x{n} {{<<: *x{n - 1}}}" for n in range(1, 999))]), "nested more than 200 deep"),
    "aliases of aliases": (laughs(7, 12, "["), "more than 2,000,000 values"),
    "a tab": ("apiVersion: v1\nkind: Node\nmetadata:\n\tname: a",
              "a tab is one: indent with spaces)"),
    "JSON cut": ('{"apiVersion":"v1","kind":"Node","meta', "not valid YAML ("),
    "a list of mappings": ("{apiVersion: v1, kind: List, items: {a: b}}",
                           "items is a mapping; allowed is a list"),
    "items of text": ("{apiVersion: v1, kind: List, items: [a]}", 'is "a"; allowed is a mapping'),
    "kind in lower case": ("{apiVersion: v1, kind: node, metadata: {name: a}}",
                           'kind is "node"; allowed is Node'),
    "a group that is a number": ("{apiVersion: 1, kind: Node}", "apiVersion is 1; allowed is text"),
    "10^9 replicas": (job(f"{{tasks: [{TASK.replace('1', '1000000000')}]}}"), "1,000,000,000 pods"),
    "10^9 minAvailable": (job(f"{{minAvailable: 1000000000, tasks: [{TASK}]}}"),
                          "minAvailable is 1000000000; allowed is at most 1"),
    "a queue below itself": (queue("{parent: q}"), 'parent is "q"; allowed is another queue'),
    "a parent that is not": (queue("{parent: ghost}"), 'spec.parent is "ghost"; allowed is'),
    "labels in a list": (named("{name: a1, labels: [a]}"), "metadata.labels is a list; allowed is"),
    "a label that is null": (named("{name: a1, labels: {a: }}"), "metadata.labels.a is null"),
    "null containers": (META + "spec: {containers: [null]}", "spec.containers[0] is null; allowed"),
    "a null term": (pod(SELECT.replace("TERMS", "[null]")), "nodeSelectorTerms[0] is null"),
    "an operator": (pod(SELECT.replace("TERMS", "[{matchFields: [{key: a, operator: Like}]}]")),
                    'operator is "Like"; allowed is In, NotIn, Exists, DoesNotExist, Gt or Lt'),
    "a port of 70000": (pod("").replace("name: c,", "name: c, ports: [{hostPort: 70000}],"),
                        "hostPort is 70000; allowed is a whole number from 0 to 65535"),
    "a port by name": (pod("").replace("name: c,", "name: c, ports: [{hostPort: http}],"),
                       'hostPort is "http"'),
    "no skew": (pod("topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: "
                    "DoNotSchedule}]"), "maxSkew is 0; allowed is a whole number from 1"),
    "a phase": (group("minMember: 1") + "\nstatus: {phase: Dancing}", 'status.phase is "Dancing"'),
    "a tier below 0": (group("networkTopology: {mode: hard, highestTierAllowed: -5}"),
                       "highestTierAllowed is -5"),
    "looking behind": (hyper("h", "type: Node, selector: {regexMatch: {pattern: '(?<=a)b'}}"),
                       'pattern is "(?<=a)b"; allowed is a regular expression of Go'),
    "repeated thrice": (hyper("h", "type: Node, selector: {regexMatch: {pattern: "
                              "'((n{900}){900}){900}'}}"), "allowed is a regular expression of Go"),
    "a configuration": ("actions: allocate\ntiers: []", "is the scheduler's configuration; allowed "
                        "is a manifest (--conf reads a configuration"),
    "a saved run": ('{"form": "volcano-lab simulation 1"}', "kind is missing"),
    "a case of replay": ('{"name": "a", "conf": null, "objects": []}',
                         "is a recorded case; allowed is a manifest (volcano-lab replay reads"),
    "what kubectl says": ("Error from server (NotFound): nodes not found", "kind is missing"),
    "kubectl's table": ("NAME  STATUS\nn1    Ready\n", 'is "NAME  STATUS n1    Ready"; allowed is'),
    "HTML": ("<!doctype html>", 'is "<!doctype html>"; allowed is a mapping with apiVersion'),
    "escapes in a label": (named('{name: a1, labels: {a: "\\e[31m"}}'), 'labels.a is "\\x1b[31m"'),
    "nothing but markers": ("---\n---\n...\n--- \n", "there is no object"),
    "two of a name": (several(NODE, NODE), "is already given in"),
    "a quota of lots": ("{apiVersion: v1, kind: ResourceQuota, metadata: {name: a}, spec: {hard: "
                        "{cpu: lots}}}", 'spec.hard.cpu is "lots"'),
    "tasks in a circle": (job(f"{{tasks: [{TASK[:-1]}, dependsOn: {{name: [t]}}}}]}}"),
                          "not in a circle"),
    "UTF-16": (NODE.encode("utf-16"), "not UTF-8 text"),
    "UTF-16 without a mark": (NODE.encode("utf-16-le"), "not valid YAML (unacceptable character"),
    "Latin-1": ("a: é".encode("latin-1"), "not UTF-8 text"),
    "a zip": (b"PK\x03\x04" + bytes(99), "is an archive; unpack it, and name its folder"),
    "gzip of nothing": (b"\x1f\x8b\x08\x08" + b"x" * 99, "cannot be read (Compressed file ended"),
}
TAKEN = {
    # why it is right: so does kubectl, or Volcano has them all the same
    "a mark before the text": ("\ufeff" + NODE, 1), "CRLF": (node("").replace("\n", "\r\n"), 1),
    "JSON, then YAML": (several('{"apiVersion":"v1","kind":"Node","metadata":{"name":"a1"}}', NODE),
                        2),
    "a List in a List": (json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "List", "items": []}]}) + "\n" + json.dumps(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a1"}}), 1),
    "spaces around an amount": (cpu("' 1'"), 1), "1_000 of YAML 1.1": (cpu("1_000"), 1),
    "100 nodes of 8Ei": (several(*(cpu(f"1, memory: 8Ei}}}}\n# {number}").replace(
        "n1", f"m{number}").partition("\n#")[0] for number in range(100))), 100),
    "queues in a circle": (several(queue("{parent: r}"), queue("{parent: q}").replace(
        "name: q", "name: r"), group("queue: q, minMember: 1"), NODE), 4),
    "HyperNodes in a circle": (several(NODE, *(hyper(f"h{a}", "type: HyperNode, selector: "
        f"{{exactMatch: {{name: h{b}}}}}", a) for a, b in ((1, 2), (2, 1), (3, 3)))), 4),
    "1,000 HyperNodes above another": (several(NODE, *(hyper(
        f"h{n}", f"type: HyperNode, selector: {{exactMatch: {{name: h{n - 1}}}}}", n)
        for n in range(1, 1000))), 1000),
    "10^9 minMember": (several(NODE, group("minMember: 1000000000")), 2),
    "empty terms": (pod(SELECT.replace("TERMS", "[{}]")), 1),
    "Gt of a word": (pod(SELECT.replace(
        "TERMS", "[{matchExpressions: [{key: a, operator: Gt, values: [abc]}]}]")), 1),
    "a node that is not": (pod("nodeName: ghost"), 1),
    "annotations of nonsense": (META.replace("name: p", "name: p, annotations: "
        "{volcano.sh/preemptable: maybe, volcano.sh/cooldown-time: soon, "
        "volcano.sh/revocable-zone: '**', sla-waiting-time: x}") + "spec: {schedulerName: volcano, "
        "containers: [{name: c}]}", 1),
    "another version": ("{apiVersion: v2, kind: Node, metadata: {name: a1}}", 0),
    "a kind with an escape": ('{apiVersion: v1, kind: "\\e[31mX", metadata: {name: a1}}', 0),
}


def read(given: str | bytes, place) -> str:
    path = place / "x.yaml"
    path.write_bytes(given if isinstance(given, bytes) else given.encode())
    ((_, text),) = Reader().texts(path)
    if isinstance(text, Unreadable):
        raise ManifestError([text.said])
    return text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_strange_is_refused_in_a_sentence_that_names_it(name, tmp_path):
    given, words = REFUSED[name]
    with soon(), pytest.raises(ManifestError) as refused:
        loaded = loads(read(given, tmp_path))
        admit(loaded)
        with_defaults(loaded)
    assert any(words in problem for problem in refused.value.problems), refused.value.problems
    assert all(len(each) <= 500 and each.isprintable() for each in refused.value.problems)


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_is_taken_by_a_cycle_too(name, tmp_path):
    given, count = TAKEN[name]
    loaded = loads(read(given, tmp_path))
    assert len(loaded) == count and (loaded.warnings == []) == (count > 0)
    assert all(warning.isprintable() for warning in map(str, loaded.warnings))
    with soon():
        run_cycle(Cache(with_defaults(loaded)), CONF)
