"""Manifests are read as written, and what does not fit is reported in one sentence."""

import gzip
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from objects import objects

from volcano_lab.api.objects import ConfigMap, ObjectMeta, Pod
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.manifests.loader import APPLIED, ManifestError, from_dict, load, loads
from volcano_lab.manifests.misfits import Misfits
from volcano_lab.manifests.schema import structure
from volcano_lab.manifests.writer import dump, to_dict

CONFORMANCE = Path(__file__).parents[3] / "shared" / "conformance"

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: team
spec:
  containers:
  - name: main
    image: busybox
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
"""


def changed(old: str, new: str) -> str:
    """The pod's manifest with one small change."""
    assert old in POD
    return POD.replace(old, new)


def problems(text: str) -> list[str]:
    with pytest.raises(ManifestError) as refused:
        loads(text, "pods.yaml")
    assert str(refused.value) == "\n".join(refused.value.problems)
    return refused.value.problems


AT_POD = "Pod team/web (pods.yaml, document 1): "
QUANTITY = "; allowed is a number with one of the suffixes"
MISFITS = [
    (changed("500m",
             "2 cores"), 'spec.containers[0].resources.requests.cpu is "2 cores"' + QUANTITY),
    (changed("500m", "true"), "spec.containers[0].resources.requests.cpu is true" + QUANTITY),
    (changed("500m", ""), "spec.containers[0].resources.requests.cpu is null" + QUANTITY),
    (changed("cpu: 500m",
             "cpu: [1]"), "spec.containers[0].resources.requests.cpu is a list" + QUANTITY),
    (changed("name: main",
             "name: 7"), "spec.containers[0].name is 7; allowed is text (in quotes)"),
    (
        changed("  name: web", "  name: web\n  labels: {app: on}"),
        "metadata.labels.app is true; allowed is text (in quotes)",
    ),
    (changed("  name: web",
             "  name: web\n  labels: [a]"), "metadata.labels is a list; allowed is a mapping"),
    (changed("spec:",
             "spec:\n  priority: high"), 'spec.priority is "high"; allowed is a whole number'),
    (changed("spec:", "spec:\n  priority: 1.5"), "spec.priority is 1.5; allowed is a whole number"),
    (changed("spec:",
             "spec:\n  priority: true"), "spec.priority is true; allowed is a whole number"),
    (changed("spec:",
             "spec:\n  hostNetwork: 1"), "spec.hostNetwork is 1; allowed is true or false"),
    (changed("spec:",
             "spec:\n  tolerations: {}"), "spec.tolerations is a mapping; allowed is a list"),
    (
        changed("spec:", "spec:\n  tolerations: [{key: a, effect: NoSchedul}]"),
        'spec.tolerations[0].effect is "NoSchedul"; '
        "allowed is NoSchedule, PreferNoSchedule or NoExecute",
    ),
    (
        changed("spec:", "spec:\n  preemptionPolicy: 3"),
        "spec.preemptionPolicy is 3; allowed is Never or PreemptLowerPriority",
    ),
    (
        changed("  name: web", "  name: web\n  creationTimestamp: yesterday"),
        'metadata.creationTimestamp is "yesterday"; '
        'allowed is a time such as "2026-01-31T12:00:00Z"',
    ),
    (
        changed("  name: web", "  name: web\n  creationTimestamp: '2026-02-30T00:00:00Z'"),
        'metadata.creationTimestamp is "2026-02-30T00:00:00Z"; allowed is a time',
    ),
    (
        changed("  - name: main", "  - 7\n  - name: main"),
        "spec.containers[0] is 7; allowed is a mapping with name, ports, resources",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), MISFITS)
def test_a_misfit_is_one_sentence_with_object_field_value_and_what_is_allowed(text, sentence):
    (found,) = problems(text)
    assert found.startswith(AT_POD + sentence)


OTHERS = [
    ("metadata: {name: a}",
     "object a (pods.yaml, document 1): kind is missing; allowed is text, such as Pod"),
    ("kind: Pod",
     "Pod (pods.yaml, document 1): apiVersion is missing; allowed is text, such as v1"),
    ("just text", 'object (pods.yaml, document 1): is "just text"; allowed is a mapping'),
    ("{apiVersion: v1, kind: Node}", "Node (pods.yaml, document 1): metadata.name is missing"),
    (
        "{apiVersion: v1, kind: node, metadata: {name: a}}",
        'node a (pods.yaml, document 1): kind is "node"; allowed is Node',
    ),
    (POD + "---\n" + POD,
     "Pod team/web (pods.yaml, document 2): is already given in pods.yaml, document 1"),
]


@pytest.mark.parametrize(("text", "sentence"), OTHERS)
def test_what_is_no_object_is_refused(text, sentence):
    (found,) = problems(text)
    assert found.startswith(sentence)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a: [", r"pods.yaml: line \d: not valid YAML \(.+\)"),
        ('{"a": ', r"pods.yaml: line \d: not valid YAML \(.+\)"),
        ("a: 1\n\tb: 2", r"pods.yaml: line 2: not valid YAML \(.+\)"),
        ("? [a]\n: b", r"pods.yaml: line 1: not valid YAML \(a key that is not text\)"),
        ("&a [*a]", r'pods.yaml: line 1: not valid YAML \(the anchor "a" contains itself\)'),
        ("[" * 10000, r"pods.yaml: .+"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text, pattern):
    (found,) = problems(text)
    assert re.fullmatch(pattern, found)


def test_all_problems_are_reported_at_once_and_nothing_is_loaded():
    text = changed("500m", "x") + "---\n" + changed("1Gi", "y").replace("name: web", "name: db")
    first, second = problems(text)
    assert "requests.cpu" in first and "document 2" in second and "requests.memory" in second


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            changed("resources:", "resurces:"),
            "spec.containers[0].resurces is not known and has no effect; did you mean resources?",
        ),
        (changed("spec:", "spec:\n  zzz: 1"), "spec.zzz is not known and has no effect"),
        (POD + "extra: 1\n", "extra is not known and has no effect"),
        (changed("spec:", "spec:\n  affinity: {nodeAffinity: {zzz: 1}}"),  # of two fields
         "spec.affinity.nodeAffinity.zzz is not known and has no effect"),
    ],
)
def test_an_unknown_field_is_a_warning_that_names_it(text, warning):
    loaded = loads(text, "pods.yaml")
    assert [*map(str, loaded.warnings)] == [AT_POD + warning] and len(loaded) == 1


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("{apiVersion: v1, kind: Service, metadata: {name: a}}",
         "kind Service is not read and has no effect"),
        ("{apiVersion: a.io/v1, kind: Train, metadata: {name: a}, spec: {schedulerName: volcano}}",
         "kind Train is not read and has no effect; if its operator creates pods, give these"),
        ("{apiVersion: batch/v2, kind: Job, metadata: {name: a}}",
         "apiVersion is batch/v2; read is "),
        ("{apiVersion: v2, kind: Pod, metadata: {name: a}}",
         "apiVersion is v2; read is v1, so it has no effect"),
        (
            "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: a}}",
            "CSIDriver is not modelled by the lab (volumes) and has no effect",
        ),
        (
            "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}}",
            "ResourceClaim is not modelled by the lab (dynamic resource allocation) "
            "and has no effect",
        ),
        (
            "{apiVersion: shard.volcano.sh/v1alpha1, kind: NodeShard, metadata: {name: a}}",
            "NodeShard is not modelled by the lab (the sharding of nodes among schedulers) "
            "and has no effect",
        ),
    ],
)
def test_a_kind_that_is_not_read_is_a_warning(text, warning):
    loaded = loads(text)
    assert warning in str(loaded.warnings[0]) and not loaded


def test_many_kinds_that_are_not_read_are_one_warning():
    text = "\n---\n".join(f"{{apiVersion: v1, kind: {kind}, metadata: {{name: {name}}}}}" for
                          name, kind in enumerate(("Secret", "Pet", "Lease", "Pet", "Role"), 1)
                          ).replace("name: ", "name: n")
    assert [*map(str, loads(text).warnings)] == [
        "objects of 4 kinds: they are not read and have no effect: Secret 1, Pet 2, Lease 1, "
        "Role 1"]
    few = [*map(str, loads(text.rpartition("\n---\n")[0]).warnings)]
    assert few[1] == ("Pet n2 (text, document 2) and 1 more: kind Pet is not read and has no "
                      "effect")



def test_what_a_pod_asks_for_in_vain_is_a_warning():
    text = (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [], "
        "resourceClaims: [{name: gpu}], volumes: "
        "[{name: data, persistentVolumeClaim: {claimName: d}}, {name: scratch, emptyDir: {}}]}}"
    )
    assert [*map(str, loads(text).warnings)] == [
        "Pod a (text, document 1): spec.resourceClaims names gpu; dynamic resource allocation is "
        "not modelled by the lab, and the pod is placed as if it had none.",
        "Pod a (text, document 1): its claims to volumes do not decide, for among the objects is "
        "no PersistentVolumeClaim, PersistentVolume, StorageClass or CSINode",
    ]



def test_fields_without_a_part_in_scheduling_do_not_warn():
    text = changed("    image: busybox",
                   "    image: busybox\n    livenessProbe: {}\n    command: [sh]")
    text = text.replace("  name: web", "  name: web\n  managedFields: []\n  finalizers: [a]")
    assert loads(text + "status: {podIP: 10.0.0.1, qosClass: Burstable}\n").warnings == []


def test_numbers_in_resource_lists_are_kept_as_text():
    pod = loads(changed("500m", "0.5").replace("1Gi", "1073741824"))[0]
    assert pod.spec.containers[0].resources.requests == {"cpu": "0.5", "memory": "1073741824"}


def test_unset_and_empty_differ_where_volcano_distinguishes_them():
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata":
        {"name": "a"}
    }
    assert from_dict({**group, "spec": {}}).spec.min_resources is None
    assert from_dict({**group, "spec": {"minResources": None}}).spec.min_resources is None
    empty = from_dict({**group, "spec": {"minResources": {}}})
    assert empty.spec.min_resources == {} and to_dict(empty)["spec"] == {"minResources": {}}


def test_yaml_words_are_read_as_kubernetes_reads_them():
    assert loads(changed("spec:", "spec:\n  hostNetwork: yes"))[0].spec.host_network is True
    assert (
        loads(changed("  name: web", "  name: web\n  creationTimestamp: 2026-01-01T00:00:00Z"))[0]
        .metadata.creation_timestamp
        == 1767225600
    )


def test_lists_documents_and_notations_give_the_same_objects(tmp_path):
    pods = [
        loads(POD.replace("name: web", f"name: web-{number}"))[0] for number in range(3)
    ]
    texts = {
        "a.yaml":
        dump(pods),
        "b.json":
        dump(pods, "json"),
        "c.yml":
        "---\n# nothing here\n---\n" + dump(pods),
        "d.json":
        json.dumps([to_dict(pod) for pod in pods]),
        "e.json":
        json.dumps({"apiVersion": "v1", "kind": "PodList", "items":
                    [to_dict(pod) for pod in pods]}),
        "f.yaml":
        "apiVersion: v1\nkind: List\nitems:\n" + "".join("- " + json.dumps(to_dict(pod)) + "\n"
                                                         for pod in pods),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name) == pods, name
        assert load(io.StringIO(text)) == pods, name


def test_a_directory_is_read_by_name_and_other_files_are_left_alone(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.yaml").write_text(POD.replace("name: web", f"name: {name}"))
    (tmp_path / "notes.txt").write_text("not a manifest")
    assert [pod.name for pod in load(tmp_path)] == ["a", "b"]


def test_a_missing_file_and_an_empty_directory_are_refused(tmp_path):
    with pytest.raises(ManifestError, match=r"there is no file that ends in \.yaml, \.yml, \.json"):
        load(tmp_path)
    with pytest.raises(ManifestError, match="there is no such file or directory"):
        load(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ManifestError, match="cannot be read \\(not UTF-8 text\\)"):
        load(tmp_path / "binary.yaml")


def test_from_dict_takes_words_as_they_are_unless_strict():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "status": {"phase": "Odd"}}
    assert from_dict(pod).status.phase == "Odd"
    with pytest.raises(ManifestError, match='phase is "Odd"'):
        from_dict(pod, strict=True)


@pytest.mark.long
@settings(max_examples=300,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(objects())
def test_every_object_survives_being_written_and_read(obj):
    assert from_dict(json.loads(json.dumps(to_dict(obj))), strict=True) == obj


@pytest.mark.long
@settings(max_examples=100,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(objects(), min_size=1, max_size=3), st.sampled_from(["yaml", "json"]))
def test_text_holds_the_objects_in_their_order(several, form):
    for number, obj in enumerate(several):
        obj.metadata = ObjectMeta(
            f"n{number}", labels={"app": "a"}, annotations={APPLIED: "secret"})
        if isinstance(obj, ConfigMap):
            obj.data = {"volcano-scheduler.conf": "actions: allocate"}
    text = dump(several, form)
    for obj in several:
        del obj.metadata.annotations[APPLIED]
    assert loads(text) == several


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False),
              st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from([
                "metadata", "name", "labels", "spec", "containers", "resources", "requests", "cpu",
                "status", "priority"
            ]), inner, max_size=4)),
    max_leaves=12,
)


@pytest.mark.long
@given(json_values)
def test_no_data_whatever_makes_the_reader_fail(data):
    findings = Misfits()
    structure(Pod, data, findings)
    assert all("\n" not in str(error) for error in findings.errors if "\\n" not in repr(data))


@pytest.mark.long
@pytest.mark.parametrize("table", ["dev", "table"])
def test_every_recorded_object_loads_without_a_warning(table):
    file = CONFORMANCE / f"{table}-cases.jsonl.gz"
    if not file.exists():
        pytest.skip("the recorded cases are not here")
    cases = 0
    with gzip.open(file) as lines:
        for case in map(json.loads, lines):
            cases += 1
            for document in case["objects"]:
                findings = Misfits()
                obj = from_dict(document, strict=True)
                structure(type(obj),
                          {key: document[key] for key in document.keys() - {"apiVersion", "kind"}},
                          findings)
                assert findings.warnings == [] and obj.name == document["metadata"]["name"]
                assert from_dict(to_dict(obj)) == obj
            assert all("enabledQueueOrder is not known" in warning
                       for warning in map(str, load_conf(case["conf"]).warnings))
    assert cases > 100



@pytest.mark.parametrize(("value", "read"), [("0", True), ("70000", True), ("x", False),
                                             ("1e30", False)])
def test_a_stored_value_that_is_no_longer_allowed_is_read_with_a_warning(value, read):
    text = ("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a, uid: u}, "
            f"spec: {{weight: {value}}}}}")
    with pytest.raises(ManifestError, match=r"spec\.weight is"):
        loads(text.replace(", uid: u", ""))
    if not read:
        with pytest.raises(ManifestError, match=r"spec\.weight is"):
            loads(text)
        return
    assert [*map(str, loads(text).warnings)] == [
        f"Queue a (text, document 1): spec.weight is {value}; allowed is a whole number from 1 to "
        "65535; admission would refuse it now"]
    world = Cluster(loads(text)).node("n1", cpu=4).job("j", queue="a", cpu=1)
    assert ("overused" in world.why("j").codes) == (value == "0")
