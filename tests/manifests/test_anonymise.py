"""A cluster with other names: nothing of the old ones is left, and it decides the same."""

import json
import random
import re
import types
import typing

import attrs
import pytest
import yaml
from recorded_cases import HERE

from volcano_lab.api.objects import (
    KINDS,
    Node,
    ObjectMeta,
    Raw,
    ResourceList,
    Time,
    VolumeResourceList,
)
from volcano_lab.cache import Cache
from volcano_lab.cli.replay import read_cases, replay
from volcano_lab.framework.config.conf import DEFAULT_CONF, load_conf
from volcano_lab.manifests import meanings
from volcano_lab.manifests.anonymise import _TOKEN, Renaming, in_order
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.export import anonymised
from volcano_lab.manifests.loader import from_dict, loads
from volcano_lab.manifests.schema import json_name
from volcano_lab.manifests.writer import dump, to_dict
from volcano_lab.plugins import BUILT_IN, LAB_PLUGINS, NOT_MODELLED
from volcano_lab.scheduler import run_cycle

# -- nothing is left -------------------------------------------------------------------------------

MARKERS = ["hidden", "Hidden_Team", "hidden.corp/hidden-x", "a1-hidden.b", "{\"hidden\": 1}"]
KEYS = ["hidden", "hidden.corp/hidden", "node-role.kubernetes.io/hidden",
        "volcano.sh/cooldown-time", "scheduling.k8s.io/group-name", "kubernetes.io/hostname",
        "kubectl.kubernetes.io/last-applied-configuration", "volcano.sh/hierarchy",
        "hidden.storageclass.storage.k8s.io/requests.storage", "requests.hidden.corp/gpu"]


def full(cls, marker):
    """A document of a class in which each text is a marker."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {json_name(field): filled(hints[field.name], marker) for field in attrs.fields(cls)}


def filled(hint, marker):
    args = [arg for arg in typing.get_args(hint) if arg is not types.NoneType]
    if typing.get_origin(hint) is list:
        return [filled(args[0], marker)]
    if typing.get_origin(hint) is dict:
        return {key: filled(args[1], marker) for key in KEYS}
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return filled(str if str in args else args[0], marker)
    if attrs.has(hint):
        return full(hint, marker)
    if hint in (ResourceList, VolumeResourceList):
        return {**dict.fromkeys(KEYS, "1"), "attachable-volumes-csi-hidden.corp": "1"}
    raw = {"name": marker, "hidden": {"a": marker}, "secret": {"secretName": marker},
           "csi": {"driver": marker, "hidden": marker},
           "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {marker: marker}}}}}
    return {str: marker, int: 1, bool: True, Time: "2026-01-01T00:00:00Z", Raw: raw}[hint]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("kind", sorted(KINDS), ids=": ".join)
def test_no_text_of_any_field_is_left(kind, marker):
    document = full(KINDS[kind], marker) | {"kind": kind[1]}
    document["apiVersion"] = KINDS[kind].api_versions[0]
    if kind[1] == "ConfigMap":
        document["data"] = {"volcano-scheduler.conf": DEFAULT_CONF, "hidden.conf": marker}
    text = json.dumps(to_dict(anonymised([from_dict(document)])[0]))
    assert "hidden" not in text.lower()


def test_each_text_field_says_what_it_means():
    assert [f"{cls.__name__}.{name}" for cls in meanings.parts()
            for name, meaning in meanings.meanings(cls).items()
            if meaning == meanings.NOTHING and meanings.declared(cls, name) is None] == []
    known = {f"{cls.__name__}.{name}" for cls in meanings.parts()
             for name in meanings.meanings(cls)}
    bases = {base.__name__ for cls in meanings.parts() for base in cls.__mro__}
    stale = {field for field in meanings._MEANINGS if field not in known
             and field.partition(".")[0] not in bases}
    assert stale == set()


def test_a_text_field_without_a_meaning_is_left_out():
    from volcano_lab.api.objects.meta import Part

    class New(Part):
        said: str = ""
        listed: list[str] = attrs.Factory(list)

    assert meanings.meanings(New) == dict.fromkeys(("said", "listed"), meanings.NOTHING)
    other = Renaming([])._part(New("hidden", ["hidden"]))
    assert (other.said, other.listed) == ("", [])


CONF = """\
# of the hidden team
actions: "enqueue, allocate, preempt, reclaim, backfill"
configurations:
- {name: preempt, arguments: {enableTopologyAwarePreemption: true, hidden: hidden}}
tiers:
- plugins:
  - {name: priority}
  - {name: gang, enableJobOrder: false}
  - {name: conformance}
  - {name: tdm, arguments: {tdm.revocable-zone.hidden: "10:00-21:00", tdm.evict.period: 1m}}
  - {name: sla, arguments: {sla-waiting-time: 1h30m}}
  - {name: hidden-plugin}
- plugins:
  - {name: overcommit}
  - {name: predicates, arguments: {predicate.PodAffinityEnable: true}}
  - {name: capacity}
  - {name: nodegroup, arguments: {strict: false}}
  - name: binpack
    arguments:
      binpack.weight: 3
      binpack.resources: nvidia.com/gpu, hidden.corp/fpga
      binpack.resources.hidden.corp/fpga: 5
  - name: resource-strategy-fit
    arguments:
      resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}, hidden.corp/*: {weight: 3}}
      proportional: {enable: true, resources: hidden.corp/fpga,
                     resourceProportion: {hidden.corp/fpga.cpu: 4}}
  - {name: usage, arguments: {thresholds: {cpu: 80, mem: 70}}}
metrics: {type: prometheus, address: "http://hidden:9090", interval: 30s}
"""


def test_a_configuration_keeps_what_decides():
    objects = loads("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: "
                    "{volcano.sh/revocable-zone: hidden}}, status: {allocatable: "
                    "{hidden.corp/fpga: 2}}}")
    renaming = Renaming([*objects, from_dict(config_map(CONF))])
    text = renaming.conf(CONF)
    assert "hidden" not in text and "9090" in text
    before, after = load_conf(CONF), load_conf(text)
    fpga, zone = renaming.resource("hidden.corp/fpga"), renaming.name("hidden")
    node = renaming.object(objects[0])
    assert node.metadata.labels == {"volcano.sh/revocable-zone": zone}
    assert node.status.allocatable == {fpga: "2"}
    assert after.actions == before.actions
    assert [option.switches for option in after.tiers[0].plugins] == [
        option.switches for option in before.tiers[0].plugins]
    given = {option.name: option.arguments for tier in after.tiers for option in tier.plugins}
    assert given["tdm"] == {f"tdm.revocable-zone.{zone}": "10:00-21:00", "tdm.evict.period": "1m"}
    assert given["sla"] == {"sla-waiting-time": "1h30m"}
    assert given["binpack"].get_resource_weights("binpack.") == {
        "nvidia.com/gpu": 1, fpga: 5, "cpu": 1, "memory": 1}
    fit = given["resource-strategy-fit"]
    assert fit["resources"] == {"nvidia.com/gpu": {"type": "MostAllocated", "weight": 2},
                                fpga.rpartition("/")[0] + "/*": {"weight": 3}}
    assert fit["proportional"]["resourceProportion"] == {f"{fpga}.cpu": 4}
    assert given["usage"] == {"thresholds": {"cpu": 80, "mem": 70}}


@pytest.mark.parametrize("left_out", ["proportion", "capacity"])
def test_every_argument_that_is_read_is_known_to_be_public(left_out):
    names = sorted({*BUILT_IN, *LAB_PLUGINS} - {left_out})
    conf = load_conf(yaml.safe_dump({
        "actions": "enqueue, allocate, preempt, reclaim, backfill",
        "tiers": [{"plugins": [{"name": name, "arguments": {"x": 1}} for name in names]}],
        "configurations": [{"name": "preempt", "arguments": {"x": 1}}]}))
    run_cycle(Cache(with_defaults([])), conf)
    given = [*(option.arguments for option in conf.tiers[0].plugins), *conf.configurations.values()]
    asked = set().union(*(arguments.asked for arguments in given))
    assert len(asked) > 30 and asked - {"x"} <= meanings.ARGUMENTS
    assert {*BUILT_IN, *NOT_MODELLED} <= meanings.PLUGIN_NAMES


def config_map(conf):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hidden-conf"},
            "data": {"hidden-scheduler.conf": conf, "other": "hidden"}}


def test_the_scheduler_s_configuration_stays():
    found = anonymised([from_dict(config_map(DEFAULT_CONF))])
    assert load_conf(scheduler_conf_of(found)).tiers == load_conf(DEFAULT_CONF).tiers
    assert scheduler_conf_of(loads(dump(found))) is not None and "hidden" not in dump(found)


# -- words -----------------------------------------------------------------------------------------


def test_names_keep_their_order_and_what_is_put_together_of_them():
    rng = random.Random(7)
    words = ["a", "ab", "aB", "default", "defaults", "defau", "kube", "root", "roots", "system",
             "x", "0", "1", "10", "2", "7d9", "7e", "71e", "system2", "kub", "volcano", "zz",
             "master"]
    names = {"-".join(rng.choices(words, k=rng.randint(1, 4))).replace("-x-", ".")
             for _ in range(400)}
    nodes = [from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
             for name in names]
    renaming = Renaming(nodes)
    assert sorted(names, key=renaming.name) == sorted(names)
    assert len({*map(renaming.name, names)}) == len(names)
    assert renaming.name("ab-roots-7d9") == "-".join(map(renaming.name, ("ab", "roots", "7d9")))
    for kept in ("default", "root", "kube-system", "volcano", "default0", "12", ""):
        assert renaming.name(kept) == kept


def test_words_have_place_between_those_that_are_kept():
    words = ["", "~", *(anchor + more for anchor in meanings.ANCHORS for more in ("a", "z", "-"))]
    found = in_order(words)
    assert sorted(found[word] for word in words) == [found[word] for word in sorted(words)]
    for word in words:
        for anchor in meanings.ANCHORS:
            assert (found[word] < anchor) == (word < anchor)
    assert all(re.fullmatch(r"[a-z]+\d+", code) for code in found.values())


def test_addresses_and_long_values_are_renamed_as_a_whole():
    hosts = ["ip-10-1-2-3.ec2.internal", "ip-10-1-2-30.ec2.internal", "ip-172-31-0-9"]
    letters = "-".join("abcdefghijklmnopqrstuvwxyzabcdef")
    nodes = [from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": name, "labels": {"owner": letters}}}) for name in hosts]
    renaming = Renaming(nodes)
    others = [renaming.name(name) for name in hosts]
    assert others == sorted(others) and "10-100-100-101" in others[1]
    assert renaming.object(nodes[0]).metadata.labels == {renaming.key("owner"): "value1"}
    assert loads(dump(map(renaming.object, nodes)))[0].name == others[0]


# -- decisions -------------------------------------------------------------------------------------


def back(renaming, value):
    """What was renamed, with the old names."""
    words = {code: word for word, code in (renaming.words | renaming.addresses).items()}

    def old(match):
        digits = "" if match[2] else re.match("[0-9]*", match[0])[0]
        rest = match[0][len(digits):]
        return digits + words.get(rest, rest)

    return json.loads(_TOKEN.sub(old, json.dumps(value)))


SOME = [case for number, case in enumerate(read_cases(HERE / "dev-cases.jsonl.gz"))
        if number % 40 == 7]


@pytest.mark.long
@pytest.mark.parametrize("case", SOME, ids=[case["name"] for case in SOME])
def test_a_recorded_case_decides_the_same(case):
    objects = [from_dict(document) for document in case["objects"]]
    renaming = Renaming(objects)
    others = [to_dict(renaming.object(obj)) for obj in objects]
    conf = case["conf"] and "confError" not in replay(case) and renaming.conf(case["conf"])
    before, after = replay(case), replay(case | {"objects": others, "conf": conf or case["conf"]})
    names = [document["metadata"]["name"] for document in case["objects"]]
    assert back(renaming, [each["metadata"]["name"] for each in others]) == names
    if "confError" not in before:
        assert back(renaming, [after["steps"], after["close"]]) == json.loads(json.dumps(
            [before["steps"], before["close"]]))


HIERARCHY = DEFAULT_CONF.replace("name: drf", "name: drf\n    enableHierarchy: true").replace(
    "  - name: proportion\n", "")
RICH = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: sla}, {name: pdb},
            {name: tdm, arguments: {tdm.revocable-zone.spare: "00:00-23:59"}}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: capacity},
            {name: nodeorder}, {name: nodegroup}, {name: network-topology-aware},
            {name: task-topology}, {name: resource-strategy-fit, arguments: {
             resources: {acme.corp/*: {type: MostAllocated, weight: 5}}}},
            {name: binpack, arguments: {binpack.resources: acme.corp/fpga}}]
"""
PROPORTION = RICH.replace("capacity", "proportion")
TEAMS, APPS, ZONES = ["acme", "default", "zeta-1", "ml-team"], ["web", "db", "a1b"], ["z-a", "z-b"]


def random_cluster(rng):
    """Documents of a cluster in which much is said by names: every kind of reference to one."""
    maybe = lambda *parts: rng.choice([None, *parts])  # noqa: E731
    metadata = iter(range(10_000))

    def document(version, kind, name, spec=None, namespace="", **more):
        meta = more.pop("metadata", {})
        stamp = f"2026-01-01T00:00:{next(metadata) // 3 % 60:02d}Z"  # some are of one age
        return {"apiVersion": version, "kind": kind, **more, "metadata": {
            "name": name, "creationTimestamp": stamp, **meta,
            **({"namespace": namespace} if namespace else {})}, **({"spec": spec} if spec else {})}

    hosts = rng.sample(["gpu-9", "gpu-10", "ip-10-0-0-7", "ip-10-0-1-12", "rack-a", "default-x",
                        "node1", "zoo", "system2"], 6)
    found = [document(
        "v1", "Node", host, {"taints": [{"key": "acme.corp/own", "value": rng.choice(TEAMS),
                                         "effect": "NoSchedule"}] * (rng.random() < 0.2)},
        metadata={"labels": {
            "kubernetes.io/hostname": host, "topology.kubernetes.io/zone": rng.choice(ZONES),
            "acme.corp/rank": str(rng.randint(1, 20)),
            "volcano.sh/nodegroup-name": rng.choice(APPS),
            **({"volcano.sh/revocable-zone": "spare"} if rng.random() < 0.2 else {})}},
        status={"allocatable": {"cpu": rng.choice("48"), "memory": "16Gi", "pods": "20",
                                "acme.corp/fpga": rng.choice("024")}}) for host in hosts]
    queues = ["acme", "zoo-q", "b-2", "research"]
    for queue in queues:
        group = {"nodeGroupAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            rng.choice(APPS)], "requiredDuringSchedulingIgnoredDuringExecution": APPS[:2]}}
        found.append(document(
            "scheduling.volcano.sh/v1beta1", "Queue", queue,
            {"weight": rng.randint(1, 3), "affinity": maybe(group),
             "deserved": {"cpu": str(rng.randint(1, 8))}, "reclaimable": True},
            metadata={"annotations": {"volcano.sh/hierarchy": f"root/{queue[0]}x/{queue}",
                                      "volcano.sh/hierarchy-weights": "1/2/3"}},
            status={"state": "Open"}))
    found += [document("v1", "Namespace", team, metadata={"labels": {"tier": rng.choice(APPS)}})
              for team in TEAMS]
    found += [document("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
              for name, value in (("p-high", 100), ("low", 1), ("a-mid", 10))]
    found += [document("topology.volcano.sh/v1alpha1", "HyperNode", name, {
        "tier": tier, "tierName": tier_name, "members": [{"type": kind, "selector": selector}]})
        for name, tier, tier_name, kind, selector in (
            ("s-gpu", 1, "leaf", "Node", {"regexMatch": {"pattern": "^(gpu|rack)"}}),
            ("s-else", 1, "leaf", "Node", {"regexMatch": {"pattern": "^(ip-|n|z|d|s)"}}),
            ("spine", 2, "top", "HyperNode", {"regexMatch": {"pattern": "^s-"}}))]

    def selector():
        return {"matchLabels": {"app": rng.choice(APPS)}} if rng.random() < 0.6 else {
            "matchExpressions": [{"key": "app", "operator": rng.choice(["In", "NotIn"]),
                                  "values": rng.sample(APPS, 2)}]}

    def term():
        return {"labelSelector": selector(), "topologyKey": rng.choice(
            ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]),
            "namespaces": maybe([rng.choice(TEAMS)]),
            "namespaceSelector": maybe({"matchLabels": {"tier": rng.choice(APPS)}}),
            rng.choice(["matchLabelKeys", "mismatchLabelKeys"]): maybe(["app"])}

    def pod_spec(role):
        need = {"matchExpressions": [rng.choice([
            {"key": "acme.corp/rank", "operator": "Gt", "values": ["5"]},
            {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [hosts[0]]}])]}
        affinity = {
            "podAntiAffinity": maybe({"requiredDuringSchedulingIgnoredDuringExecution": [term()]}),
            "podAffinity": maybe({"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 9, "podAffinityTerm": term()}]}),
            "nodeAffinity": maybe({"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [need]}})}
        asked = {"cpu": rng.choice("12"), **({"acme.corp/fpga": "1"} if rng.random() < 0.3 else {})}
        return {"schedulerName": rng.choice(["volcano"] * 9 + ["acme-scheduler"]),
                "containers": [{"name": role, "resources": {"requests": asked}, "ports": maybe(
                    [{"containerPort": 80, "hostPort": 80, "hostIP": rng.choice(
                        ["10.0.0.7", "10.0.0.9"])}])}],
                "affinity": affinity,
                "priorityClassName": rng.choice(["p-high", "low", "a-mid", ""]),
                "tolerations": maybe([{"key": "acme.corp/own", "value": rng.choice(TEAMS)}]),
                "topologySpreadConstraints": maybe([{
                    "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector(),
                    "matchLabelKeys": ["app"]}])}

    for number, name in enumerate(rng.sample([
            "train-2", "train-10", "default", "alpha", "z9", "job", "mid-a", "root"], 5)):
        roles = rng.sample(["worker", "ps", "launcher"], 2)
        notes = {"volcano.sh/task-topology-affinity": ",".join(roles)} if number == 1 else {}
        topology = maybe({"mode": "hard", "highestTierName": "leaf"}, {
            "mode": "soft", "highestTierAllowed": 1})
        tasks = [{"name": role, "replicas": rng.randint(1, 3), "template": {
            "metadata": {"labels": {"app": rng.choice(APPS)}}, "spec": pod_spec(role)}}
            for role in roles]
        tasks[0]["dependsOn"] = {"name": [roles[1]]} if rng.random() < 0.2 else None
        tasks[1]["minAvailable"] = 1
        if rng.random() < 0.3:
            tasks[1] |= {"replicas": 4, "minAvailable": 2, "partitionPolicy": {
                "totalPartitions": 2, "partitionSize": 2, "minPartitions": 1}}
        found.append(document(
            "batch.volcano.sh/v1alpha1", "Job", name, {
                "queue": rng.choice([*queues, "default"]), "tasks": tasks, "minAvailable": 2,
                "networkTopology": topology, "plugins": maybe({"svc": []}),
                "schedulerName": "volcano"},
            rng.choice(TEAMS), metadata={"annotations": notes}))
    for number in range(4):
        team, name = rng.choice(TEAMS), rng.choice(["g", "h"]) + f"-{number}"
        found.append(document(
            "scheduling.volcano.sh/v1beta1", "PodGroup", name, {
                "minMember": 1, "queue": rng.choice(queues), "minTaskMember": {"ps": 1},
                "subGroupPolicy": maybe([{
                    "name": "sub", "subGroupSize": 1, "matchLabelKeys": ["acme.corp/part"],
                    "labelSelector": {"matchLabels": {"app": "web"}}}])}, team,
            status={"phase": rng.choice(["Running", "Pending"])}))
        found += [document("v1", "Pod", f"{name}-ps-{at}", pod_spec("ps") | {
            "schedulerName": "volcano", "nodeName": rng.choice([*hosts, "", ""])}, team, metadata={
                "labels": {"app": rng.choice(["web", "db"]), "acme.corp/part": str(at)},
                "annotations": {"scheduling.k8s.io/group-name": name,
                                "volcano.sh/preemptable": "true", "volcano.sh/task-spec": "ps",
                                "volcano.sh/revocable-zone": "*"}},
            status={"phase": "Running"}) for at in range(3)]
    for pod in found:
        if pod["kind"] == "Pod" and not pod["spec"]["nodeName"]:
            pod["status"] = {"phase": "Pending"}
    return json.loads(json.dumps(found), object_hook=lambda data: {
        key: value for key, value in data.items() if value is not None})


def decisions(documents, conf):
    row = replay({"name": "case", "family": "export", "conf": conf, "objects": [
        to_dict(obj) for obj in with_defaults(loads(json.dumps(documents)))]})
    return [row["steps"], row["close"]]


@pytest.mark.parametrize("seed", [
    pytest.param(seed, marks=pytest.mark.long) if seed >= 2 else seed for seed in range(12)])
@pytest.mark.parametrize("conf", [RICH, PROPORTION, HIERARCHY], ids=["rich", "proportion", "hdrf"])
def test_a_cluster_full_of_names_decides_the_same(seed, conf):
    documents = random_cluster(random.Random(seed))
    objects = loads(json.dumps(documents))
    renaming = Renaming([*objects, from_dict(config_map(conf))])
    others = [to_dict(renaming.object(obj)) for obj in objects]
    text = json.dumps(others) + renaming.conf(conf)
    assert not re.search("acme|mid-|gpu-|research|spare|launcher|leaf|p-high|zeta", text)
    before, after = decisions(documents, conf), decisions(others, renaming.conf(conf))
    assert back(renaming, after) == json.loads(json.dumps(before))


@pytest.mark.parametrize(("words", "kept"), [(4, True), (25, True), (32, False)])
def test_a_value_keeps_its_words_unless_it_becomes_longer_than_a_value_may_be(words, kept):
    """`team` has a shorter name, `a` a longer one: only the latter may exceed the limit."""
    text = "-".join(["team" if kept else "a"] * words)
    renaming = Renaming([Node(ObjectMeta("n1", labels={"pool": text}))])
    other = renaming.label_value("pool", text)
    assert (other.count("-") == words - 1) is kept
    assert len(other) <= max(len(text), 63)
