"""Changes by name: a field set, an object taken away with what it has made, and what is refused."""

from random import Random

import pytest

from volcano_lab.api import Resource
from volcano_lab.api.objects import ObjectMeta, OwnerReference, Pod, PodGroup, Queue, VolcanoJob
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.changes import Change, change, change_conf
from volcano_lab.changes.change import value_before
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.objects import key_of
from volcano_lab.changes.words import described
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import ConfError, load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.field_defaults import uid_of_job
from volcano_lab.manifests.loader import Loaded, ManifestError, loads

JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  minAvailable: 2
  tasks:
  - {name: w, replicas: 2, template: {spec: {containers: [{name: c}]}}}
"""


def cluster():
    made = Cluster().node("n1.example", cpu=4, gpu=1).node("n2", cpu=4).queue("a").queue("a.b")
    return made.job("train", namespace="ml", queue="a", pods=2, cpu=1).job("other", cpu=1).objects()


def read(objects, kind, name, *path):
    found = next(obj for obj in objects if (obj.kind, obj.name) == (kind, name))
    for step in path:
        found = getattr(found, step)
    return found


@pytest.mark.parametrize(("setting", "path", "value"), [
    ("queue/a.weight=5", ("Queue", "a", "spec", "weight"), 5),
    ("queues/a.b.weight=5", ("Queue", "a.b", "spec", "weight"), 5),
    ("q/a.spec.reclaimable=false", ("Queue", "a", "spec", "reclaimable"), False),
    ("queue/a.capability.cpu=500m", ("Queue", "a", "spec", "capability"), {"cpu": "500m"}),
    ("queue/a.capability[nvidia.com/gpu]=2", ("Queue", "a", "spec", "capability"),
     {"nvidia.com/gpu": "2"}),
    ("queue/a.capability={cpu: 1}", ("Queue", "a", "spec", "capability"), {"cpu": "1"}),
    ("queue/a.state=Closed", ("Queue", "a", "status", "state"), "Closed"),
    ("node/n2.metadata.labels.zone=z1", ("Node", "n2", "metadata", "labels", "__len__"), 2),
    ("job/ml/train.minMember=1", ("PodGroup", "train", "spec", "min_member"), 1),
    ("pg/train.queue=a.b", ("PodGroup", "train", "spec", "queue"), "a.b"),
])
def test_a_field_is_set_and_nothing_else(setting, path, value):
    before = cluster()
    after = change(before, [setting])
    found = read(after, *path)
    assert (found() if callable(found) else found) == value
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("seed", range(30))
def test_a_job_that_is_changed_is_as_one_submitted_so(seed):
    chance = Random(seed)
    pods, least, number = chance.randint(2, 5), chance.randint(1, 2), chance.randint(1, 4)
    given = {"pods": pods, "min_member": least, "cpu": 2} | chance.choice([
        {}, {"memory": "1Gi"}, {"gpu": 3}])
    word, value, field = chance.choice([
        ("cpu", number, "requests.cpu"), ("memory", "3Gi", "requests.memory"),
        ("gpu", number, "requests[nvidia.com/gpu]"), ("min_member", number, "minAvailable"),
        ("min_member", number, "minMember"), ("queue", "b", "queue"),
        ("priority", number, "priority")])
    after, wanted = (list(part) for part in (
        change(Cluster().queue("b").job("a", **given).objects(), [f"job/a.{field}={value}"]),
        Cluster().queue("b").job("a", **given | {word: value}).objects()))
    sums = [Resource.from_list(read(part, "PodGroup", "a", "spec", "min_resources"))
            for part in (after, wanted)]
    assert sums[0] == sums[1], (given, field, value)
    groups = [read(part, "PodGroup", "a", "spec").evolve(min_resources=None, priority_class_name="")
              for part in (after, wanted)]
    assert groups[0] == groups[1]
    specs = [[obj.spec for obj in part if obj.kind == "Pod"] for part in (after, wanted)]
    assert specs[0] == specs[1] and len(specs[0]) == pods


@pytest.mark.parametrize(("value", "text"), [
    ("true", "true"), ("false", "false"), ("5", "5"), ("10m", "10m"), ("null", None)])
def test_an_annotation_is_text_as_volcano_reads_it(value, text):
    word = "volcano.sh/preemptable"
    after = change(change(cluster(), [f"job/train.annotations[{word}]=before"]), [
        f"job/train.annotations[{word}]={value}"])
    assert {obj.metadata.annotations.get(word) for obj in after if obj.name.startswith("train")
            } == {text}


def test_a_field_of_a_jobs_pods_is_set_where_kubernetes_job_has_created_them():
    export = loads("""
{apiVersion: batch/v1, kind: Job, metadata: {name: sim, uid: u}, spec: {template: {spec: {}}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: podgroup-u,
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: sim, uid: u, controller: true}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {scheduling.k8s.io/group-name:
  podgroup-u}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: sim, uid: u}]},
  spec: {schedulerName: volcano, containers: [{name: c}]}}
""")
    after = change(export, ["job/sim.tolerations+=[{key: gpu, operator: Exists}]"])
    assert [each.key for each in read(after, "Pod", "p", "spec", "tolerations")
            if "/" not in each.key] == ["gpu"]
    further = change(after, ["job/sim.tolerations+=[{key: late, operator: Exists}]"])
    assert [each.key for each in read(further, "Pod", "p", "spec", "tolerations")
            if "/" not in each.key] == ["gpu", "late"]


def test_a_further_node_runs_the_pods_of_daemon_sets_and_has_the_drivers_of_its_like():
    export = loads("""
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [
  {name: d, nodeID: n1, topologyKeys: [], allocatable: {count: 3}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: agent, ownerReferences: [{apiVersion: apps/v1,
  kind: DaemonSet, name: agent, uid: u}]}, spec: {nodeName: n1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {nodeName: n1,
  containers: [{name: c}]}}
""")
    after = change(export, ["node/n1.more=1"])
    assert {(obj.kind, obj.name) for obj in after if "more" in obj.name} == {
        ("Node", "n1-more-0"), ("CSINode", "n1-more-0"), ("Pod", "agent-n1-more-0")}
    assert read(after, "Pod", "agent-n1-more-0", "spec", "node_name") == "n1-more-0"
    assert read(after, "Node", "n1-more-0", "metadata", "labels") == {
        "kubernetes.io/hostname": "n1-more-0"}


@pytest.mark.parametrize(("value", "names", "amounts"), [
    ("1", ["n1-more-1"], {"cpu": "4"}),
    ("3", ["n1-more-1", "n1-more-2", "n1-more-3"], {"cpu": "4"}),
    ("{count: 1, cpu: 8, nvidia.com/gpu: 2}", ["n1-more-1"], {"cpu": "8", "nvidia.com/gpu": "2"})])
def test_further_nodes_have_names_of_their_own_and_stand_beside_their_like(value, names, amounts):
    member = "{type: Node, selector: {exactMatch: {name: %s}}}"
    tree = """{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: %s},
 spec: {tier: 1, members: [%s]}}"""
    node = "{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: 4}}}"
    export = loads("\n---\n".join([
        node % "n1", node % "n2", node % "n1-more-0",
        tree % ("s0", f"{member % 'n0'}, {member % 'n1'}"), tree % ("s1", member % "n2")]))
    after = change(export, [f"node/n1.more={value}"])
    assert [each.name for each in after if each.kind == "Node"][3:] == names
    for name in names:
        assert read(after, "Node", name, "status", "allocatable") == amounts
    members = {tree: [each.selector.exact_match.name
                      for each in read(after, "HyperNode", tree, "spec", "members")]
               for tree in ("s0", "s1")}
    assert members == {"s0": ["n0", "n1", *names], "s1": ["n2"]}


OWNED = """\
{{apiVersion: {api}, kind: {kind}, metadata: {{name: o, namespace: a, uid: u}},
  status: {{state: {{phase: {phase}}}}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: a, uid: old, ownerReferences: [{{
    apiVersion: {api}, kind: {kind}, name: {owner}, uid: u, controller: true}}]}},
  spec: {{nodeName: n1, containers: [{{name: c}}]}}, status: {{phase: Failed}}}}
"""


@pytest.mark.parametrize(("api", "kind", "phase", "owner", "again"), [
    ("batch.volcano.sh/v1alpha1", "Job", "Running", "o", True),
    ("batch.volcano.sh/v1alpha1", "Job", "Failed", "o", False),
    ("batch.volcano.sh/v1alpha1", "Job", "Running", "gone", False),
    ("apps/v1", "StatefulSet", "Running", "o", True)])
def test_a_pod_that_is_removed_is_created_again_by_its_controller(api, kind, phase, owner, again):
    given = loads(OWNED.format(api=api, kind=kind, phase=phase, owner=owner))
    pods = [obj for obj in change(given, [], ["pod/a/p"]) if obj.kind == "Pod" and obj.name == "p"]
    assert [(pod.spec.node_name, pod.status.phase, pod.metadata.uid) for pod in pods] == [
        ("", "Pending", "old-again")] * again
    both = change(given, [], ["pod/a/p", f"{kind.lower()}/a/o"])
    assert again is False or not [obj for obj in both if obj.kind == "Pod"]


@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize(("api", "kind"), [
    ("batch.volcano.sh/v1alpha1", "Job"), ("batch/v1", "Job"), ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet")])
def test_of_a_pods_owners_its_controller_creates_it_again(api, kind, controls):
    text = OWNED.format(api=api, kind=kind, phase="Running", owner="o").replace(
        "controller: true", f"controller: {controls}")
    after = change(loads(text), [], ["pod/a/p"])
    assert ("old-again" in {obj.metadata.uid for obj in after}) is controls



def test_further_nodes_may_have_labels_of_their_own():
    after = change(cluster(), ["node/n2.more={count: 1, labels: {pool: b, tier: 3}}"])
    labels = read(after, "Node", "n2-more-0", "metadata", "labels")
    assert labels["pool"] == "b" and labels["tier"] == "3" and read(
        after, "Node", "n2-more-0", "status", "allocatable") == read(
            after, "Node", "n2", "status", "allocatable")
    with pytest.raises(ManifestError, match="the labels are 5; allowed is a mapping"):
        change(cluster(), ["node/n2.more={count: 1, labels: 5}"])


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", "10001", "{cpu: 8}", "many",
                                   "{count: {a: 1}}"])
def test_no_other_number_of_nodes_is_taken(value):
    with pytest.raises(ManifestError, match="allowed is a whole number from 1 to 10,000"):
        change(cluster(), [f"node/n2.more={value}"])


@pytest.mark.parametrize(("settings", "tiers"), [
    (["plugin/drf.tier=1"], [["drf", "gang", "priority"], ["nodeorder"]]),
    (["plugin/drf.tier=2"], [["gang", "priority"], ["drf", "nodeorder"]]),
    (["plugin/priority.tier=1"], [["priority", "gang"], ["drf", "nodeorder"]]),
    (["plugin/priority.tier=2"], [["gang"], ["priority", "drf", "nodeorder"]]),
    (["plugin/binpack.tier=2"], [["gang", "priority"], ["binpack", "drf", "nodeorder"]]),
    (["plugin/nodeorder.tier=null"], [["gang", "priority"], ["drf"]])])
def test_a_plugin_moves_to_the_head_of_a_tier_with_its_arguments(settings, tiers):
    conf = load_conf("""{actions: allocate, tiers: [{plugins: [{name: gang}, {name: priority,
 arguments: {a: 1}}]}, {plugins: [{name: drf, enableJobOrder: false}, {name: nodeorder}]}]}""")
    options = [tier.plugins for tier in change_conf(conf, settings).tiers]
    assert [[option.name for option in tier] for tier in options] == tiers
    found = {option.name: option for tier in options for option in tier}
    assert found["priority"].arguments == {"a": 1} and not found["drf"].enables("enableJobOrder")


@pytest.mark.parametrize(("setting", "sentence"), [
    ("plugin/gang.tier=0", "tier is 0; allowed is a whole number from 1 to 1"),
    ("plugin/gang.tier=2", "tier is 2; allowed is a whole number from 1 to 1"),
    ("plugin/gang.tier=true", "tier is true; allowed"),
    ("plugin/gang.tier={a: 1}", "tier is a mapping; allowed"),
    ("plugin/gong.tier=1", '"gong" is no plugin; did you mean gang?'),
    ("plugin/gang", "plugins of the configuration are gang; allowed is plugin/NAME.ARGUMENT=VALUE"),
    ("conf/tiers=1", "of the configuration, allowed are conf/actions=NAME,NAME")])
def test_a_change_of_a_configuration_that_does_not_fit_is_one_sentence(setting, sentence):
    conf = load_conf("actions: allocate\ntiers: [{plugins: [{name: gang}]}]")
    with pytest.raises(ManifestError) as error:
        change_conf(conf, [setting])
    assert sentence in str(error.value)


def test_an_argument_that_is_null_is_taken_out_of_its_plugin():
    conf = load_conf("{actions: allocate, tiers: [{plugins: [{name: binpack, arguments: {a: 1, "
                     "b: 2}}, {name: sla, arguments: {a: 3}}]}]}")
    assert [option.arguments for option in change_conf(
        conf, ["plugin/binpack.a=null"]).tiers[0].plugins] == [{"b": 2}, {"a": 3}]


@pytest.mark.parametrize(("value", "requests"), [
    ("5", ["1", "2", "5"]), ("2", ["1", "2", "2"]), ("1500m", ["1", "1500m", "1500m"]),
    ("null", [None, None, None])])
def test_a_request_is_set_where_it_is_the_largest_or_above_the_value(value, requests):
    pods = loads("""
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: train}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w, annotations: {scheduling.k8s.io/group-name: train}},
  spec: {schedulerName: volcano, containers: [
    {name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 2}}},
    {name: c, resources: {requests: {cpu: 3}}}]}}
""")
    after = change(pods, [f"job/train.requests.cpu={value}"])
    assert [each.resources.requests.get("cpu")
            for each in read(after, "Pod", "w", "spec", "containers")] == requests


@pytest.mark.parametrize(("first", "second", "both"), [
    ("queue/a.weight=2", "queue/a.weight=3", ["queue/a.weight=3"]),
    ("queue/a.weight=2", "queue/b.weight=3", ["queue/a.weight=2", "queue/b.weight=3"]),
    ("job/x.tolerations=[]", "job/x.tolerations+=[{}]",
     ["job/x.tolerations=[]", "job/x.tolerations+=[{}]"]),
    ("job/x.tolerations+=[{}]", "job/x.tolerations=[]", ["job/x.tolerations=[]"])])
def test_of_two_changes_the_second_replaces_what_it_sets_and_keeps_what_it_adds_to(
        first, second, both):
    assert [*(Change((first,)) + Change((second,))).settings] == both


def test_an_entry_is_added_behind_a_list_and_no_further():
    before = change(cluster(), ["node/n2.spec.taints=[{key: a, effect: NoSchedule}]"])
    after = change(before, ["node/n2.spec.taints.1={key: b, effect: NoSchedule}"])
    assert [taint.key for taint in read(after, "Node", "n2", "spec", "taints")] == ["a", "b"]
    with pytest.raises(ManifestError, match=r'spec.taints is a list of 2; "3" is not in it; '
                       r"allowed is a number from 0 to 2"):
        change(after, ["node/n2.spec.taints.3={key: c, effect: NoSchedule}"])


def test_a_mapping_of_an_object_that_controllers_create_is_no_new_object():
    job = loads("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train}, spec: "
                "{tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: c}]}}}]}}")
    after = change(job, ["queue/default.capability={cpu: 2}",
                         "pod/train-w-0.nodeSelector={zone: a}"])
    assert read(after, "Queue", "default", "spec", "capability") == {"cpu": "2"}
    assert read(after, "Pod", "train-w-0", "spec", "node_selector") == {"zone": "a"}


def test_amounts_of_a_node():
    after = change(cluster(), ["node/n1.example.allocatable.cpu=9"])
    assert read(after, "Node", "n1.example", "status", "allocatable")["cpu"] == "9"


@pytest.mark.parametrize(("setting", "sentence"), [
    ("queue/a.weight", '"queue/a.weight" sets nothing; allowed is KIND/NAME.FIELD=VALUE'),
    ("weight=1", "such as queue/a.weight=5 or queue/a.capability[cpu]=8"),
    ("queue/a.capability=8", "a mapping of resource names to quantities, such as {cpu: 8}"),
    ("quewe/a.weight=1", '"quewe" is no kind; did you mean queue?'),
    ("queue/aa.weight=1", 'there is no queue "aa"; there are '),
    ("queue/a.wieght=1", "spec.wieght is not known and has no effect; did you mean weight?"),
    ("node/n2.label[x]=y", "metadata.label is not known and has no effect; did you mean labels?"),
    ("queue/a.weight=five", 'spec.weight is "five"; allowed is a whole number'),
    ("queue/a=5", "names no field"),
    ("queue/a=none", "names no field; allowed is KIND/NAME.FIELD=VALUE, or --remove queue/a"),
    ("queue/a.weight-=1", '"queue/a.weight-=1": nothing is subtracted; allowed is ='),
    ("queue/a..weight=5", "names no field"),
    ("queue/a.weight]=5", "names no field"),
    ("queue/a...=5", "names no field"),
    ("job/train.requests.cpu=abc", 'requests.cpu is "abc"; allowed is a number with one of'),
    ("job/train.requests.cpu=-1", "requests.cpu is -1; allowed is a quantity from 0"),
    ("queue/b={wieght: 2}", "Queue b: spec.wieght is not known and has no effect"),
    ("queue/default.capability.cpu={a: 1}", "spec.capability.cpu is a mapping; allowed is"),
    ("queue/a.weight.x=5", "spec.weight has no fields"),
    ("queue/a.weight=[", '"queue/a.weight=["'),
])
def test_what_does_not_fit_is_one_sentence(setting, sentence):
    with pytest.raises(ManifestError) as error:
        change(cluster(), [setting])
    assert sentence in str(error.value) and len(error.value.problems) == 1


GROUP = """{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,
 metadata: {name: a, namespace: %s}, spec: {minMember: 2, minResources: {cpu: 2}}}"""
POD = """{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s,
 annotations: {scheduling.k8s.io/group-name: a}}, spec: {%s schedulerName: volcano,
 containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"""
HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}"
LIKE = HIGH.replace("high", "alike")


def one_of_three_runs():
    """A job with two pods that wait and one on a node, and one of its name in another namespace."""
    return with_defaults(loads("\n---\n".join([
        GROUP % "default", GROUP % "two", HIGH, LIKE, POD % ("a-0", "default", ""),
        POD % ("a-1", "default", ""), POD % ("a-2", "default", "nodeName: n1,"),
        POD % ("b-0", "two", "")])))


@pytest.mark.parametrize(("setting", "waiting", "group"), [
    ("pods=4", 3, {}), ("pods=3", 2, {}), ("pods=1", 0, {}),
    ("minMember=4", 2, {"min_member": 4, "min_resources": {"cpu": "4"}}),
    ("minAvailable=1", 2, {"min_member": 1, "min_resources": {"cpu": "1"}}),
    ("requests.cpu=3", 2, {"min_resources": {"cpu": "6"}}),
    ("requests.memory=1Gi", 2, {"min_resources": {"cpu": "2", "memory": "2147483648"}}),
    ("requests.cpu=null", 2, {"min_resources": None}),
    ("priorityClassName=high", 2, {"priority_class_name": "high"}),
    ("priorityClassName=alike", 2, {"priority_class_name": "alike"}),
    ("priority=9", 2, {"priority_class_name": "high"}),
    ("priority=5", 2, {"priority_class_name": "priority-5"}),
    ("queue=q", 2, {"queue": "q"}),
    ("nodeSelector.zone=b", 2, {})])
def test_a_field_of_a_job_is_set_in_its_podgroup_and_its_pods_that_wait(setting, waiting, group):
    before, field = one_of_three_runs(), setting.partition("=")[0]
    after = change(before, [f"job/default/a.{setting}"])
    for obj in before:
        if obj.namespace == "two" or obj.name == "a-2":
            assert obj in after
    (was,), (now,) = ([each.spec for each in objects if each.key == "default/a"]
                      for objects in (before, after))
    assert now == was.evolve(**group)
    pods = [obj for obj in after if obj.kind == "Pod" and obj.namespace == "default"
            and not obj.spec.node_name]
    assert len({pod.name for pod in pods}) == len({pod.metadata.uid for pod in pods}) == waiting
    value = {"priority": lambda spec: spec.priority, "priorityClassName": lambda spec:
             spec.priority, "nodeSelector.zone": lambda spec: spec.node_selector.get("zone"),
             "requests.cpu": lambda spec: spec.containers[0].resources.requests.get("cpu")}
    text = {"high": 9, "alike": 9, "9": 9, "5": 5, "null": None}.get(setting.partition("=")[2],
                                                        setting.partition("=")[2])
    assert {value[field](pod.spec) for pod in pods if field in value} <= {text}


def test_the_request_before_a_change_is_the_largest_of_all_containers():
    job = loads(f"{GROUP % 'default'}\n---\n{POD % ('a-0', 'default', '')}".replace(
        "containers: [", "containers: [{name: d, resources: {requests: {cpu: 10}}}, "
                         "{name: e, resources: {requests: {cpu: 9}}}, "))
    assert value_before(Draft(job), load_conf("actions: allocate"),
                        "job/default/a.requests.cpu=1") == "10"


def test_a_minimum_of_none_is_raised_and_the_last_pods_that_wait_are_removed():
    before = change(one_of_three_runs(), ["job/default/a.minMember=0"])
    (group,) = (obj for obj in change(before, ["job/default/a.minMember=2"])
                if obj.key == "default/a")
    assert group.spec.min_member == 2
    after = change(one_of_three_runs(), ["job/default/a.pods=2"])
    assert [obj.name for obj in after if obj.kind == "Pod" and obj.namespace == "default"] == [
        "a-0", "a-2"]


def test_pods_to_come_of_a_job_are_those_of_its_own_namespace():
    job = """{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, uid: u,
 namespace: %s}, spec: {tasks: [{name: w, replicas: 2, template: {spec: {containers: [
  {name: c, resources: {requests: {cpu: 1}}}]}}}]}}"""
    jobs = [each for space in ("one", "two") for each in loads(job % space)]
    groups = [obj.changed(status={"phase": "Pending"}) for obj in with_defaults(jobs)
              if obj.kind == "PodGroup"]
    before = with_defaults([*jobs, *groups])
    assert {key: len(pods) for key, pods in before.later.items()} == {"one/j": 2, "two/j": 2}
    for space in ("one", "two"):
        after, _ = Change((f"job/{space}/j.requests.cpu=3",)).applied(before, load_conf())
        assert {key: {pod.spec.containers[0].resources.requests["cpu"] for pod in pods}
                for key, pods in after.later.items()} == {
            "one/j": {"1"}, "two/j": {"1"}, f"{space}/j": {"3"}}


def test_a_request_of_nothing_is_raised_as_one_that_is_absent_is():
    before = change(one_of_three_runs(), ["job/default/a.requests.cpu=0"])
    assert read(before, "PodGroup", "a", "spec", "min_resources") == {"cpu": "0"}
    after = change(before, ["job/default/a.requests.cpu=3"])
    assert read(after, "PodGroup", "a", "spec", "min_resources") == {"cpu": "6"}


@pytest.mark.parametrize(("setting", "sentence"), [
    ("pods=many", 'pods is "many"; 1 of them run, allowed is a whole number from 1 to 50000'),
    ("pods={a: 1}", "pods is a mapping; 1 of them run, allowed is a whole number"),
    ("pods=null", "pods is null; 1 of them run, allowed is a whole number"),
    ("pods=0", "pods is 0; 1 of them run, allowed is a whole number from 1 to 50000"),
    ("pods=99999999", "pods is 99999999; 1 of them run, allowed is a whole number from 1 to 5000"),
    ("priority=high", 'priority is "high"; allowed is a whole number'),
    ("priority=2147483648", "priority is 2147483648; allowed is a whole number from -2147483648"),
    ("requests=1", "names no resource; allowed is job/NAME.requests.RESOURCE")])
def test_what_a_job_cannot_have_is_one_sentence(setting, sentence):
    with pytest.raises(ManifestError) as error:
        change(one_of_three_runs(), [f"job/default/a.{setting}"])
    assert sentence in str(error.value)


def test_what_is_removed_takes_along_what_it_has_created():
    job = with_defaults(loads(JOB))
    assert {obj.kind for obj in job} == {"Queue", "PodGroup", "Pod"}
    assert {obj.kind for obj in change(job, [], ["job/ml/train"])} <= {"Queue", "PodGroup"}
    of_the_job = {"Job", "PodGroup", "Pod"}
    assert not of_the_job & {obj.kind for obj in change([*loads(JOB), *job], [], ["job/ml/train"])}
    left = change(cluster(), [], ["job/ml/train", "node/n2"])
    assert sorted(obj.key for obj in left) == sorted(
        ["root", "default", "a", "a.b", "n1.example", "default/other", "default/other-0"])
    assert {obj.kind for obj in change(loads(JOB), [], ["job/train"])} == {"Queue"}


def test_arguments_of_plugins_are_set_in_a_copy():
    conf = load_conf("actions: allocate\ntiers: [{plugins: [{name: binpack}]}]")
    changed = change_conf(conf, ["plugin/binpack.binpack.weight=7"])
    assert changed.tiers[0].plugins[0].arguments == {"binpack.weight": 7}
    assert conf.tiers[0].plugins[0].arguments == {}
    with pytest.raises(ManifestError, match="plugins of the configuration are binpack"):
        change_conf(conf, ["plugin/gang.x=1"])


@pytest.mark.parametrize(("setting", "text"), [
    ('job/train.queue="2024-q"', "job ml/train: in queue 2024-q"),
    ('plugin/gang.note="a: b"', "plugin gang: note unset -> a: b"),
    ("queue/a.weight=5", "queue a: weight 1 -> 5")])
def test_a_value_in_quotes_is_shown_without_them(setting, text):
    conf = load_conf("actions: allocate\ntiers: [{plugins: [{name: gang}]}]")
    assert str(described(Change((setting,)), cluster(), conf)) == text


def test_a_value_with_mappings_is_shown_as_it_is_written():
    conf = load_conf("{actions: allocate, tiers: [{plugins: [{name: nodegroup, arguments: "
                     "{strict: [{a: {b: 1}}]}}]}]}")
    assert str(described(Change(("plugin/nodegroup.strict=false",)), cluster(), conf)) == (
        'plugin nodegroup: strict [{"a": {"b": 1}}] -> false')


@pytest.mark.parametrize(("settings", "text"), [
    (("requests.cpu=null", "requests.memory=2Gi"), "job default/a: memory 2Gi instead of cpu"),
    (("requests.cpu=null", "requests.memory=null"),
     "job default/a: request per pod without cpu 1, without memory 0"),
    (("requests.cpu=2", "requests.memory=2Gi"),
     "job default/a: request per pod cpu 1 -> 2, memory 0 -> 2Gi")])
def test_several_requests_are_one_change(settings, text):
    change = Change(tuple(f"job/default/a.{each}" for each in settings))
    assert str(described(change, one_of_three_runs(), load_conf())) == text


def test_switches_and_actions_are_set_in_a_copy():
    conf = load_conf("actions: allocate\ntiers: [{plugins: [{name: drf}]}]")
    changed = change_conf(conf, ["plugin/drf.enableJobOrder=false",
                                  "conf/actions=allocate,reclaim"])
    assert changed.tiers[0].plugins[0].switches == {"enableJobOrder": False}
    assert changed.actions == ["allocate", "reclaim"] and conf.actions == ["allocate"]
    assert conf.tiers[0].plugins[0].enables("enableJobOrder")
    with pytest.raises(ManifestError, match="enableJobOrder is a switch; allowed are true and"):
        change_conf(conf, ["plugin/drf.enableJobOrder=7"])
    with pytest.raises(ConfError, match='actions names "alocate"'):
        change_conf(conf, ["conf/actions=alocate"])


RAY = """{apiVersion: ray.io/v1, kind: RayCluster,
 metadata: {name: r, namespace: ml, uid: u, labels: {volcano.sh/queue-name: default}},
 spec: {headGroupSpec: {template: TEMPLATE},
        workerGroupSpecs: [{groupName: w, replicas: 2, template: TEMPLATE}]}}"""
MPI = """{apiVersion: kubeflow.org/v2beta1, kind: MPIJob,
 metadata: {name: m, namespace: ml, uid: u},
 spec: {mpiReplicaSpecs: {Launcher: {template: TEMPLATE}, Worker: {replicas: 2,
        template: TEMPLATE}}}}"""
TORCH = """{apiVersion: kubeflow.org/v1, kind: PyTorchJob,
 metadata: {name: t, namespace: ml, uid: u},
 spec: {pytorchReplicaSpecs: {Master: {template: TEMPLATE}, Worker: {replicas: 2,
        template: TEMPLATE}}}}"""
TEMPLATE = """{spec: {schedulerName: volcano, containers: [{name: c, image: i,
              resources: {requests: {cpu: 1}}}]}}"""
OF_OPERATORS = [(RAY, "raycluster/r.workerGroupSpecs[0].replicas"),
                (MPI, "mpijob/ml/m.mpiReplicaSpecs.Worker.replicas"),
                (TORCH, "pytorchjob/t.pytorchReplicaSpecs.Worker.replicas")]


def workers(objects):
    later = [pod for pods in objects.later.values() for pod in pods]
    return sum(obj.kind == "Pod" and "worker" in obj.name for obj in [*objects, *later])


@pytest.mark.parametrize(("text", "path"), OF_OPERATORS)
@pytest.mark.parametrize("exported", [False, True])
def test_a_field_of_an_operators_object_reaches_its_pods(text, path, exported):
    objects = loads(text.replace("TEMPLATE", TEMPLATE))
    if exported:
        objects += [obj for obj in with_defaults(objects) if obj.kind in ("PodGroup", "Pod")]
    after = change(objects, [f"{path}=4"])
    assert workers(after) == 4
    groups = [obj for obj in after if obj.kind == "PodGroup"]
    assert len(groups) == 1 and groups[0].spec.min_member == 5


@pytest.mark.parametrize(("setting", "sentence"), [
    ("raycluster/r.workerGroupSpecs[0].replicsa=4", "has no effect: with it, RayCluster ml/r has "
     "the same pods"),
    ("raycluster/r.workerGroupSpecs[0].replicas=-1", "spec.workerGroupSpecs[0].replicas is -1"),
    ("raycluster/x.replicas=1", 'there is no raycluster "x"; there is ml/r')])
def test_a_field_of_an_operators_object_without_effect_is_refused(setting, sentence):
    with pytest.raises(ManifestError) as error:
        change(loads(RAY.replace("TEMPLATE", TEMPLATE)), [setting])
    assert sentence in str(error.value)


JOB_OF_KUBERNETES = """\
apiVersion: batch/v1
kind: Job
metadata: {name: nightly, namespace: a, uid: u}
spec: {template: {spec: {containers: []}}}
---
apiVersion: v1
kind: Pod
metadata: {name: nightly-x, namespace: a, ownerReferences: [{apiVersion: batch/v1, kind: Job,
  name: nightly, uid: u}]}
spec: {containers: []}
"""


def test_the_pods_of_a_job_of_kubernetes_are_removed_with_it():
    given = loads(JOB_OF_KUBERNETES)
    assert [obj.name for obj in change(given) if obj.kind == "Pod"] == ["nightly-x"]
    assert not [obj for obj in change(given, [], ["job/a/nightly"]) if obj.kind == "Pod"]


# -- an object by its name -------------------------------------------------------------------------


def meta(name, space="", **fields):
    return ObjectMeta(name, space, **fields)


def draft():
    """Two Jobs of one name, a PodGroup with its Job's name, one of its own and one of default."""
    job = OwnerReference(VolcanoJob.api_versions[0], "Job", "train", "u", True)
    group = [PodGroup(meta("train-u", "ml", owner_references=[job])), PodGroup(meta("alone", "ml")),
             PodGroup(meta("here"))]
    pods = [Pod(meta(name, space, annotations={GROUP_NAME: of}))
            for name, space, of in (("p0", "ml", "alone"), ("p1", "", "alone"), ("p2", "", "here"),
                                    ("p3", "default", "here"), ("p4", "ml", "train-u"))]
    owned = Pod(meta("p5", "ml", owner_references=[OwnerReference("v1", "PodGroup", "alone")]))
    return Draft([*map(VolcanoJob, (meta("twice", "a"), meta("twice", "b"))), *group, *pods, owned,
                  *map(Queue, map(ObjectMeta, ("q1", "q2", "q3", "other", "more", "last", "end")))])


@pytest.mark.parametrize(("name", "found"), [
    ("pod/p0", "ml/p0"), ("po/ml/p0", "ml/p0"), ("pod/default/p1", "/p1"), ("pod/p1", "/p1"),
    ("job/train", "ml/train-u"), ("job/ml/train", "ml/train-u"), ("job/alone", "ml/alone"),
    ("pg/train-u", "ml/train-u"), ("job/default/here", "/here"), ("vcjob/b/twice", "b/twice"),
    ("queue/q2", "q2"), ("queue/new", "new")])
def test_an_object_is_found_by_its_name_and_that_of_its_job_with_or_without_namespace(name, found):
    world = draft()
    world.add(Queue(ObjectMeta("new")))
    obj = world[world.find(name, name)]
    assert (f"{obj.namespace}/{obj.name}" if obj.namespaced else obj.name) == found
    assert world.has(name, name)


@pytest.mark.parametrize(("name", "sentence"), [
    ("job/twice", "a/twice, b/twice have this name; allowed is NAMESPACE/NAME"),
    ("job/b/twice2", 'there is no job "b/twice2"; there are b/twice, a/twice'),
    ("queue/q9", 'there is no queue "q9"; there are q3, q2, q1, other, more'),
    ("queue/zzz", 'there is no queue "zzz"; there are q1, q2, q3, other, more'),
    ("node/n1", 'there is no node "n1"; there are none'),
    ("queue/last", "")])
def test_a_name_that_no_object_or_several_have_is_refused_with_the_nearest(name, sentence):
    world = draft()
    if not sentence:
        world.put(world.find(name, name), None)
        assert not world.has(name, name)
        sentence = 'there is no queue "last"'
    with pytest.raises(ManifestError, match=sentence):
        world.find(name, name)


@pytest.mark.parametrize(("settings", "removals", "sentence"), [
    (["deployment/wex.replicas=3"], [], 'there is no deployment "wex"; there is default/web$'),
    (["deployment/web.replicas=3"], ["deployment/web"], 'no deployment "web"; there are none$'),
    (["queue/zzz.weight=3"], [], 'there is no queue "zzz"; there are root, default$'),
    (["job/zzz.minMember=3"], [], 'there is no job "zzz"; there are none$'),
    ([], ["deployment/zzz"], 'there is no deployment "zzz"; there is default/web$')])
def test_the_names_that_are_there_are_those_of_the_manifests(settings, removals, sentence):
    web = loads("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1,"
                "template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}}")
    with pytest.raises(ManifestError, match=sentence):
        change(web, settings, removals)


@pytest.mark.parametrize(("group", "pods"), [
    ("ml/alone", ["p0"]), ("default/here", ["p2", "p3"]), ("ml/train-u", ["p4", "p6"])])
def test_the_pods_of_a_podgroup_are_those_of_its_namespace_that_name_it(group, pods):
    world = draft()
    world.add(Pod(meta("p6", "ml", annotations={GROUP_NAME: "train-u"})))
    found = world.pods_of(world[world.find(f"pg/{group}", group)])
    assert [world[place].name for place in found] == pods


def test_what_is_known_of_a_world_stays_with_its_changed_objects():
    world = Loaded([Queue(ObjectMeta("a"))])
    world.warnings, world.later = ["a warning"], {"x": []}
    world.not_created, world.given = {"y": []}, Loaded()
    now = Draft(world)
    now.put(0, None)
    found = now.loaded()
    assert (found.later, found.not_created, found.warnings) == ({"x": []}, {"y": []}, ["a warning"])
    assert found.given is world.given and not found
    with pytest.raises(IndexError):
        now[0]


@pytest.mark.parametrize(("setting", "pods"), [
    ("pods=4", 4), ("pods=2", 2), ("pods=1", 1), ("requests.cpu=2", 2), ("priority=5", 2),
    ("annotations.x=y", 2), ("minAvailable=1", 2), ("nodeSelector.a=b", 2)])
@pytest.mark.parametrize("admitted", [False, True])
def test_each_pod_of_a_job_is_there_once_whether_it_is_created_now_or_later(
        admitted, setting, pods):
    objects = loads(JOB)
    if not admitted:  # its PodGroup is there, and its pods come once that is admitted
        objects += [obj for obj in with_defaults(objects) if isinstance(obj, PodGroup)]
    world, conf = with_defaults(objects), load_conf()
    applied = Change((f"job/ml/train.{setting}",))
    after, _ = applied.applied(world, conf)
    for found, count in ((world, 2), (after, pods)):
        now = [obj.key for obj in found if isinstance(obj, Pod)]
        later = [pod.key for each in found.later.values() for pod in each]
        assert len({*now, *later}) == len(now) + len(later) == count
        assert not (now if later else later) and bool(later) != admitted


CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "value": ""}


@pytest.mark.parametrize(("settings", "cordoned", "taints"), [
    (["node/n2.unschedulable=true"], True, ["own", CORDON["key"]]),
    (["node/n2.unschedulable=true"] * 2, True, ["own", CORDON["key"]]),
    (["node/n2.unschedulable=true", "node/n2.unschedulable=false"], False, ["own"]),
    (["node/n2.unschedulable=true", "node/n2.labels.a=b"], True, ["own", CORDON["key"]]),
    (["node/n2.labels.a=b"], False, ["own"]),
    (["node/n2.unschedulable=true", "node/n2.taints=[]"], True, [])])
def test_a_cordon_comes_and_goes_with_its_taint_beside_others(settings, cordoned, taints):
    after = change(cluster(), ["node/n2.taints=[{key: own, effect: NoExecute}]"])
    for setting in settings:
        after = change(after, [setting])
    spec = read(after, "Node", "n2", "spec")
    assert (spec.unschedulable, [each.key for each in spec.taints]) == (cordoned, taints)
    assert all(each.effect == CORDON["effect"] for each in spec.taints if each.key != "own")


PARTS = [("queue/z={weight: 2}", "z", {}, 2), ("queue/z={spec: {weight: 2}}", "z", {}, 2),
         ("queue/z={metadata: {labels: {a: b}}, spec: {weight: 2}}", "z", {"a": "b"}, 2),
         ("queue/z={metadata: {labels: {a: b}, name: x}, spec: {weight: 2}, status: {}}", "z",
          {"a": "b"}, 2), ("queue/z={metadata: {labels: {a: b}}}", "z", {"a": "b"}, 1)]


@pytest.mark.parametrize(("setting", "name", "labels", "weight"), PARTS)
def test_an_object_is_created_from_its_spec_or_from_its_parts(setting, name, labels, weight):
    made = read(change(cluster(), [setting]), "Queue", name)
    assert (made.metadata.labels, made.spec.weight) == (labels, weight)


@pytest.mark.parametrize(("name", "parts", "namespace"), [
    ("ml/new", "", "ml"), ("new", "", "default"), ("new", "metadata: {namespace: ml}, ", "ml"),
    ("b/new", "metadata: {namespace: ml}, ", "b")])
def test_an_object_is_created_in_its_namespace(name, parts, namespace):
    value = f"{{{parts}spec: {{containers: [{{name: c}}]}}}}"
    made = read(change(cluster(), [f"pod/{name}={value}"]), "Pod", "new")
    assert made.namespace == namespace


CREATED = [f"podgroup/train-{uid_of_job('ml', 'train')}", "pod/train-w-0"]


@pytest.mark.parametrize("target", CREATED)
def test_a_mapping_is_a_field_of_what_a_controller_creates(target):
    """Its name has no dot, and the setting has one: of an object with dots there is none."""
    field = "minResources={cpu: 7}" if target.startswith("podgroup") else "overhead={cpu: 7}"
    given = loads(JOB)
    after = change(given, [f"{target}.{field}"])
    assert len(after) == len(with_defaults(given))
    kind, _, name = target.partition("/")
    spec = next(obj.spec for obj in after if (obj.kind.lower(), obj.name) == (kind, name))
    assert {"cpu": "7"} in (getattr(spec, "min_resources", None), getattr(spec, "overhead", None))
    dotted = change(given, ["queue/a.b={weight: 2}"])
    assert read(dotted, "Queue", "a.b", "spec", "weight") == 2


OTHERS = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: ml}}
"""


@pytest.mark.parametrize(("setting", "path", "value"), [
    ("pc/high.value=5", ("PriorityClass", "high", "value"), 5),
    ("quota/ml/q.hard.cpu=5", ("ResourceQuota", "q", "status", "hard"), {"cpu": "5"}),
    ("quota/ml/q.used={cpu: 1}", ("ResourceQuota", "q", "status", "used"), {"cpu": "1"}),
    ("quota/ml/q.spec.hard.cpu=5", ("ResourceQuota", "q", "spec", "hard"), {"cpu": "5"}),
    ("quota/ml/q.labels.a=b", ("ResourceQuota", "q", "metadata", "labels"), {"a": "b"}),
    ("job/train.status.phase=Inqueue", ("PodGroup", "train", "status", "phase"), "Inqueue"),
    ("pg/train.metadata.labels.a=b", ("PodGroup", "train", "metadata", "labels"), {"a": "b"}),
    ("pg/train.minMember=1", ("PodGroup", "train", "spec", "min_resources", "cpu"), "2"),
    ("job/train.minMember=1", ("PodGroup", "train", "spec", "min_resources", "cpu"), "1")])
def test_a_field_is_found_where_its_kind_has_it(setting, path, value):
    """A Job's minimum takes minResources along; that of its PodGroup alone does not."""
    found = change([*cluster(), *loads(OTHERS)], [setting])
    *path, last = path
    there = read(found, *path)
    assert (there[last] if isinstance(there, dict) else getattr(there, last)) == value


@pytest.mark.parametrize(("settings", "removals", "sentence"), [
    ([], ["queue/zz"], '"remove queue/zz": there is no queue "zz"'),
    (["queue/a.weight=2"], ["queue/zz"], '"remove queue/zz": there is no queue "zz"'),
    (["queue/zz.weight=2"], ["queue/a"], 'there is no queue "zz"'),
    (["node/n2.labels+=[1]"], [], "+= adds a list to a list; allowed is ="),
    (["node/n2.taints+=5"], [], "+= adds a list to a list; allowed is ="),
    (["job/train.spec=5"], [], "spec is 5; allowed is"),
    (["job/train.metadata=5"], [], "metadata is 5; allowed is"),
    (["queue/A_B={weight: 1}"], [], 'there is no queue "A_B", and none can be created: '),
    (["queue/a.more=2"], [], "spec.more is not known"),
    (["job/train.tasks=[]"], [], "PodGroup ml/train (job/train.tasks=[]): spec.tasks is not")])
def test_no_other_setting_and_no_other_removal_is_taken(settings, removals, sentence):
    with pytest.raises(ManifestError) as error:
        change(cluster(), settings, removals)
    assert sentence in str(error.value)


@pytest.mark.parametrize(("field", "refused"), [
    ("tasks=[]", "spec.tasks is not known"),
    ("status.phase=Running", ""), ("minMember=1", "")])
def test_a_setting_of_a_podgroup_that_a_controller_creates(field, refused):
    web = loads("{apiVersion: v1, kind: Pod, metadata: {name: web}, "
                "spec: {schedulerName: volcano, containers: [{name: c}]}}")
    try:
        found = change(web, [f"job/podgroup-pod-default-web.{field}"])
    except ManifestError as error:
        assert refused and refused in str(error)
    else:
        (group,) = (obj for obj in found if isinstance(obj, PodGroup))
        assert not refused and group.status.phase == (
            "Running" if "status" in field else "Pending")


SIM = """
{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: ml}, spec: {parallelism: 2,
 template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}}
"""


OF_PODS = ["tolerations=[{key: a, operator: Exists}]", "requests.cpu=2", "priority=5",
           "annotations[a]=b", "nodeSelector.zone=z"]


@pytest.mark.parametrize(("manifest", "field"), [
    *[(JOB, field) for field in ("queue=q", "minAvailable=1", *OF_PODS)],
    *[(SIM, field) for field in OF_PODS]])
def test_a_setting_of_a_job_does_the_same_before_and_after_its_pods_are_created(manifest, field):
    given, made = loads(manifest), with_defaults(loads(manifest))
    found = [[(obj.key, obj.spec) for obj in change(objects, [f"job/ml/train.{field}"])
              if isinstance(obj, Pod | PodGroup)] for objects in (given, [*given, *made])]
    assert found[0] == found[1] and len(found[0]) == 3


@pytest.mark.parametrize(("manifest", "setting", "pods"), [
    (JOB, "vcjob/ml/train.tasks.0.replicas=3", 3), (JOB, "vcjob/ml/train.maxRetry=1", 2),
    (SIM, "job/ml/train.parallelism=3", 3)])
def test_an_owner_has_as_many_pods_as_it_asks_for_then(manifest, setting, pods):
    after = change([*loads(manifest), *with_defaults(loads(manifest))], [setting])
    assert sum(isinstance(obj, Pod) for obj in after) == pods


def test_a_job_that_runs_is_not_submitted_again():
    given = [*loads(JOB), *with_defaults(loads(JOB))]
    for obj in given:
        if isinstance(obj, Pod):
            obj.spec = obj.spec.evolve(node_name="n1")
    with pytest.raises(ManifestError, match=r"pods of Job ml/train have a node \(2\); of such"):
        change(given, ["vcjob/train.maxRetry=1"])


@pytest.mark.parametrize(("kind", "name", "key"), [
    ("PodGroup", "train", "job/ml/train"), ("Pod", "train-0", "pod/ml/train-0"),
    ("Queue", "a", "queue/a"), ("Node", "n2", "node/n2")])
def test_an_object_has_one_name_in_changes(kind, name, key):
    assert key_of(read(cluster(), kind, name)) == key


def test_a_podgroup_has_the_name_of_its_job_in_changes():
    (group,) = (obj for obj in with_defaults(loads(JOB)) if isinstance(obj, PodGroup))
    assert key_of(group) == "job/ml/train"


def test_what_is_given_is_no_list_and_stays_as_it_is():
    given = tuple(cluster())
    assert read(change(given, ["queue/a.weight=5"], ["queue/a.b"]), "Queue", "a").spec.weight == 5
    assert [*given] == [*cluster()]
