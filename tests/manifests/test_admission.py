"""Each rule of Volcano's webhooks: a small change of good objects, the rule, what users read."""

import copy
from pathlib import Path

import pytest
import yaml

from volcano_lab.manifests.admission import RULES, admit, verdicts
from volcano_lab.manifests.loader import ManifestError, load, loads

EXAMPLES = Path(__file__).parents[3] / "go" / "example"

GOOD = {
    "job": """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  queue: team
  minAvailable: 2
  plugins: {ssh: [], svc: []}
  policies: [{event: PodEvicted, action: RestartJob}]
  volumes: [{mountPath: /data, volumeClaimName: data}]
  tasks:
  - name: master
    replicas: 1
    template: &pod
      spec: {containers: [{name: c, resources: {requests: {cpu: 1}, limits: {cpu: 1}}}]}
  - {name: worker, replicas: 4, minAvailable: 2, template: *pod}
""",
    "queue": """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec: {weight: 1, capability: {cpu: 8}, deserved: {cpu: 6}, guarantee: {resource: {cpu: 2}}}
""",
    "group": """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang}
spec:
  queue: team
  networkTopology: {mode: hard, highestTierAllowed: 1}
  subGroupPolicy: [{name: s}]
""",
    "hypernode": """
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
""",
    "pod": """
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {volcano.sh/jdb-min-available: "2"}}
spec: {schedulerName: volcano, containers: [{name: c}]}
""",
}
CHILD = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
         "metadata": {"name": "child"},
         "spec": {"weight": 1, "parent": "team", "capability": {"cpu": 4}}}


def budget(text: str) -> dict:
    return {"metadata.annotations": {"volcano.sh/jdb-min-available": text}}


PARTITION = {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 1}
TASK = "spec.tasks.1"


def change(document, path, value):
    """The document with something else in one place; None takes it out."""
    *way, last = (int(key) if key.isdigit() else key for key in path.split("."))
    inner = document
    for key in way:
        inner = inner[key] if isinstance(inner, list) else inner.setdefault(key, {})
    if value is None:
        inner.pop(last)
    else:
        inner[last] = value


def changed(kind, changes, more=()):
    """All good objects, one of them changed, and others."""
    documents = {name: yaml.safe_load(text) for name, text in GOOD.items()}
    documents = copy.deepcopy(documents)
    for path, value in changes.items():
        change(documents[kind], path, value)
    return loads(yaml.safe_dump_all([*documents.values(), *more]), "all.yaml")


@pytest.mark.parametrize("total, size, least", [(2, 2, 1), (4, 1, 2), (1, 4, None)])
def test_partitions_that_make_up_a_task(total, size, least):
    """Four replicas, of which two are needed."""
    policy = {"totalPartitions": total, "partitionSize": size, "minPartitions": least}
    changes = {f"{TASK}.partitionPolicy": policy} | ({} if least else {
        f"{TASK}.partitionPolicy": policy | {"minPartitions": 1}, f"{TASK}.minAvailable": 4})
    assert verdicts(changed("job", changes)) == []


@pytest.mark.parametrize("changes, broken", [
    ({"spec.minAvailable": 5}, []), ({"spec.tasks.1.replicas": 2}, []),
    ({f"{TASK}.minAvailable": 4}, []), ({f"{TASK}.dependsOn": {"name": ["master"]}}, []),
    ({f"{TASK}.dependsOn": {"name": ["master", "gone"]}}, ["spec.tasks"]),
    ({f"{TASK}.dependsOn": {"name": ["worker"]}}, ["spec.tasks"]),
    ({f"{TASK}.dependsOn": {"name": ["master"]}, "spec.tasks.0.dependsOn": {"name": ["worker"]}},
     ["spec.tasks"]),
    ({"spec.plugins": {name: [] for name in ("zz", "mm", "aa")}},
     [f"spec.plugins.{name}" for name in ("aa", "mm", "zz")])])
def test_the_bounds_of_rules_and_the_order_of_fields(changes, broken):
    assert [each.field for each in verdicts(changed("job", changes))] == broken


BROKEN = [
    # (kind, changes, rule, words of the sentence)
    ("job", {"spec.tasks": []}, "job-tasks", "No task specified in job spec"),
    ("job", {"spec.plugins.mpi": ["--master=boss"]}, "job-mpi", "mpi master task was not found"),
    ("job", {"spec.plugins.mpi": ["--worker", "hand"]}, "job-mpi", "mpi worker task was not found"),
    ("job", {"spec.networkTopology": {"highestTierAllowed": 1, "highestTierName": "a"}},
     "job-topology", "spec.networkTopology.highestTierName is \"a\"; "
     "allowed is highestTierAllowed or highestTierName"),
    ("job", {f"{TASK}.name": "master"}, "job-task-name", "duplicated task name master"),
    ("job", {f"{TASK}.minAvailable": 5}, "job-task-min-available",
     "spec.tasks[1].minAvailable is 5; allowed is at most its replicas, 4"),
    ("job", {f"{TASK}.name": "w" * 60}, "job-pod-name", "create pod with name train-www"),
    ("job", {f"{TASK}.name": "with_underscore"}, "job-task-name-form",
     'spec.task[1].metadata.name: Invalid value: "with_underscore": a lowercase RFC 1123 '),
    ("job", {f"{TASK}.topologyPolicy": "restricted",
             f"{TASK}.template.spec.containers.0.resources": {"requests": {"cpu": "500m"}}},
     "job-numa-cpus", "the cpu request isn't  an integer in spec.task[1] container[0]."),
    ("job", {f"{TASK}.partitionPolicy": PARTITION | {"partitionSize": 3}},
     "job-partitions-replicas",
     "spec.tasks[1].replicas is 4; allowed is totalPartitions times partitionSize, 6"),
    ("job", {f"{TASK}.partitionPolicy": PARTITION | {"minPartitions": 2}}, "job-partitions-least",
     "'MinAvailable' is not equal to MinPartitions*PartitionSize in task: worker, job: train"),
    ("job", {f"{TASK}.partitionPolicy": PARTITION | {"networkTopology": {
        "highestTierAllowed": 1, "highestTierName": "a"}}}, "job-topology",
     "spec.tasks[1].partitionPolicy.networkTopology.highestTierName"),
    ("job", {"spec.minAvailable": 6}, "job-min-available",
     "spec.minAvailable is 6; allowed is at most 5, the replicas of all tasks"),
    ("job", {"spec.policies": [{"event": "PodFailed", "exitCode": 3, "action": "AbortJob"}]},
     "job-policy-both", "must not specify event and exitCode simultaneously"),
    ("job", {"spec.policies": [{"action": "AbortJob"}]}, "job-policy-neither", "either event and"),
    ("job", {"spec.policies": [{"events": ["OutOfSync"], "action": "AbortJob"}]},
     "job-policy-event", 'Invalid value: "OutOfSync": invalid policy event'),
    ("job", {f"{TASK}.policies": [{"event": "PodFailed", "action": "SyncJob"}]},
     "job-policy-action", 'spec.tasks[1].policies[0].action is "SyncJob"'),
    ("job", {"spec.policies": [{"event": "PodFailed", "action": "AbortJob"}] * 2},
     "job-policy-event-twice", "duplicate event PodFailed  across different policy"),
    ("job", {"spec.policies": [{"exitCode": 0, "action": "AbortJob"}]}, "job-policy-code",
     "0 is not a"),
    ("job", {"spec.policies": [{"exitCode": 3, "action": "AbortJob"}] * 2}, "job-policy-code-twice",
     "duplicate exitCode 3"),
    ("job", {"spec.policies": [{"event": "*", "action": "AbortJob"},
                               {"event": "PodFailed", "action": "AbortJob"}]}, "job-policy-any",
     "if there's * here, no other policy should be here"),
    ("job", {"spec.plugins": {"shh": []}}, "job-plugin", "unable to find job plugin: shh"),
    ("job", {"spec.volumes": [{"volumeClaimName": "a"}]}, "job-volume-path",
     "mountPath is required"),
    ("job", {"spec.volumes": [{"mountPath": "/a", "volumeClaimName": "a"}] * 2},
     "job-volume-path-twice", "duplicated mountPath: /a"),
    ("job", {"spec.volumes": [{"mountPath": "/a"}]}, "job-volume-claim", "either VolumeClaim or"),
    ("job", {"spec.volumes": [{"mountPath": "/a", "volumeClaimName": "a",
                               "volumeClaim": {"a": 1}}]},
     "job-volume-claims", "conflict: If you want to use an existing PVC"),
    ("job", {"spec.volumes": [{"mountPath": "/a", "volumeClaimName": "A b"}]}, "job-volume-name",
     "invalid VolumeClaimName A b"),
    ("job", {"spec.queue": "none"}, "job-queue-missing",
     'spec.queue is "none"; allowed is default, team, or a Queue among the files '
     '(validatejob.volcano.sh: unable to find job queue: queue.scheduling.volcano.sh "none" '
     'not found)'),
    ("queue", {"status.state": "Closed"}, "job-queue-closed",
     "can only submit job to queue with state `Open`, queue `team` status is `Closed`"),
    ("job", {"spec.queue": "root"}, "job-queue-root", "can not submit job to root queue"),
    ("job", {f"{TASK}.dependsOn": {"name": ["worker"]}}, "job-dependencies",
     "doesn't form a directed acyclic graph(DAG)"),
    ("job", {f"{TASK}.dependsOn": {"name": ["nobody"]}}, "job-dependencies", "acyclic"),
    ("job", {f"{TASK}.template.spec.containers": []}, "pod-containers",
     "spec.tasks[1].template.spec.containers: Required value"),
    ("queue", {"status.state": "Closing"}, "queue-state", "queue state must be in [Open Closed]"),
    ("queue", {"spec.deserved": {"cpu": 9}}, "queue-deserved-capability",
     "spec.deserved is cpu 9; allowed is at most the capability, cpu 8 (validate"),
    ("queue", {"spec.deserved": {"cpu": 6, "nvidia.com/gpu": 1}}, "queue-deserved-capability",
     "gpu"),
    ("queue", {"spec.guarantee": {"resource": {"memory": "1Gi"}}}, "queue-guarantee-capability",
     "guarantee should less equal than capability"),
    ("queue", {"spec.guarantee": {"resource": {"cpu": 7}}}, "queue-guarantee-deserved",
     "guarantee should less equal than deserved"),
    ("queue", {"metadata.annotations": {"volcano.sh/hierarchy": "root/a",
                                        "volcano.sh/hierarchy-weights": "1"}},
     "queue-hierarchy-length", "must have the same length with volcano.sh/hierarchy-weights"),
    ("queue", {"metadata.annotations": {"volcano.sh/hierarchy": "root/a",
                                        "volcano.sh/hierarchy-weights": "1/x"}},
     "queue-hierarchy-number", "x in the 1/x is invalid number"),
    ("queue", {"metadata.annotations": {"volcano.sh/hierarchy": "root/a",
                                        "volcano.sh/hierarchy-weights": "1/-2"}},
     "queue-hierarchy-weight", "-2 in the 1/-2 must be larger than 0"),
    ("queue", {"metadata.annotations": {"volcano.sh/hierarchy": "root/a",
                                        "volcano.sh/hierarchy-weights": "1/ 2"}},
     "queue-hierarchy-number", 'parsing " 2": invalid syntax'),
    ("queue", {"spec.parent": "team"}, "queue-parent-itself", "cannot use itself as parent"),
    ("queue", {"spec.parent": "nobody"}, "queue-parent-missing",
     "failed to get parent queue of queue team"),
    ("group", {"spec.queue": "none"}, "podgroup-queue-missing", "unable to find queue: "),
    ("queue", {"status.state": "Closed"}, "podgroup-queue-closed",
     "can only submit PodGroup to queue"),
    ("group", {"spec.networkTopology.highestTierName": "a"}, "podgroup-topology",
     "simultaneously."),
    ("group", {"spec.subGroupPolicy.0.networkTopology": {
        "highestTierAllowed": 1, "highestTierName": "a"}},
     "podgroup-subgroup-topology", "in subGroupPolicy 's': must not specify"),
    ("hypernode", {"spec.members": []}, "hypernode-members",
     "member must have at least one member"),
    ("hypernode", {"spec.members.0.selector": {}}, "hypernode-selector", "must be specified"),
    ("hypernode", {"spec.members.0.selector.regexMatch": {"pattern": "a"}}, "hypernode-selectors",
     "Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"),
    ("hypernode", {"spec.members.0.selector.exactMatch.name": ""}, "hypernode-exact-match",
     'spec.members[0].selector.exactMatch.name is not set'),
    ("hypernode", {"spec.members.0.selector": {"regexMatch": {"pattern": "("}}},
     "hypernode-pattern", "member regexMatch pattern is invalid"),
    ("pod", budget("many"), "pod-budget-number", 'parsing "many": invalid syntax'),
    ("pod", budget("0"), "pod-budget-count", "it must be a positive integer"),
    ("pod", budget("100%"), "pod-budget-percentage", "which between 1% ~ 99%"),
    ("pod", {"metadata.annotations": {f"volcano.sh/jdb-{name}": "1" for name in (
        "min-available", "max-unavailable")}}, "pod-budgets", "same time"),
    ("pod", {"spec.containers": []}, "pod-containers", "spec.containers: Required value"),
    ("pod", budget("１"), "pod-budget-number", "invalid syntax"),
    ("pod", budget("2147483648"), "pod-budget-percentage", "which between 1% ~ 99%"),
    ("pod", {"spec.containers.0.name": None}, "pod-container-name-missing",
     "spec.containers[0].name: Required value"),
    ("job", {f"{TASK}.template.spec.containers.0.name": "a.b"}, "pod-container-name-form",
     'Invalid value: "a.b": a lowercase RFC 1123 label'),
    ("pod", {"spec.initContainers": [{"name": "c"}]}, "pod-container-name",
     'spec.initContainers[0].name: Duplicate value: "c"'),
    ("pod", {"spec.containers.0.resources": {"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}}},
     "pod-requests", "must be less than or equal to cpu limit of 1500m"),
]
FAMILY = [
    # (change of the parent, change of the child, rule, words)
    ({"spec.capability": {"cpu": 3}, "spec.deserved": None, "spec.guarantee": None}, {},
     "queue-capability-parent",
     "queue child capability (cpu 4000.00, memory 0.00) exceeds parent queue team capability"),
    ({}, {"spec.deserved": {"cpu": 4}, "spec.guarantee": {"resource": {"cpu": 3}}},
     "queue-guarantee-sum", "sum of children's guarantee (cpu 3000.00, memory 0.00) exceeds "
     "parent's guarantee limit (cpu 2000"),
    ({"spec.guarantee": None}, {"spec.capability": {"cpu": 8}, "spec.deserved": {"cpu": 7}},
     "queue-deserved-sum", "exceeds parent's deserved limit"),
    ({"spec.guarantee": None, "spec.deserved": None},
     {"spec.capability": {"cpu": 8}, "spec.deserved": {"cpu": 9}}, "queue-deserved-sum",
     "exceeds parent's capability"),
    ({"status": {"state": "Open", "allocated": {"pods": "3"}}}, {}, "queue-parent-has-pods",
     "because it has allocated Pods: 3"),
    ({"metadata.annotations": {"volcano.sh/hierarchy": "root/a",
                               "volcano.sh/hierarchy-weights": "1/1"}},
     {"metadata.annotations": {"volcano.sh/hierarchy": "root/a/b",
                               "volcano.sh/hierarchy-weights": "1/1/1"}},
     "queue-hierarchy-path",
     "root/a is not allowed to be in the sub path of root/a/b of queue child"),
    ({}, {}, "job-queue-leaf",
     "can only submit job to leaf queue, queue `team` has 1 child queues"),
]


@pytest.mark.parametrize("stored", [True, False])
def test_a_state_that_a_queue_got_later_is_not_held_against_stored_objects(stored):
    loaded = changed("queue", {"status.state": "Closing"})
    for obj in loaded:
        obj.metadata.resource_version = "7" if stored else ""
    rules = {verdict.rule for verdict in verdicts(loaded)}
    of_state = {"queue-state", "job-queue-closed", "podgroup-queue-closed"}
    assert rules & of_state == (set() if stored else of_state)


def test_good_objects_break_no_rule():
    loaded = changed("job", {})
    assert verdicts(loaded) == [] and admit(loaded) == []


@pytest.mark.parametrize(("kind", "changes", "rule", "words"), BROKEN,
                         ids=[f"{case[2]}-{number}" for number, case in enumerate(BROKEN)])
def test_a_broken_rule_is_named_with_object_field_value_and_volcanos_message(
        kind, changes, rule, words):
    loaded = changed(kind, changes)
    found = {verdict.rule: verdict for verdict in verdicts(loaded)}
    assert rule in found, list(found)
    text = found[rule].text
    assert words in text and "all.yaml, document" in text and "{" not in found[rule].field
    assert len(text) <= 500 and text.isprintable()
    others = found.keys() - {rule, "job-queue-closed", "podgroup-queue-closed", "job-min-available",
                             "queue-guarantee-deserved", "job-queue-leaf"}
    assert not others, "one change breaks one rule"


@pytest.mark.parametrize(("parent", "child", "rule", "words"), FAMILY,
                         ids=[case[2] for case in FAMILY])
def test_rules_of_parents_and_children_are_reported_once(parent, child, rule, words):
    document = copy.deepcopy(CHILD)
    for path, value in child.items():
        change(document, path, value)
    loaded = changed("queue", parent, [document])
    shown = verdicts(loaded)
    found = [verdict for verdict in shown if verdict.rule == rule]
    assert len(found) == 1 and words in found[0].text, [verdict.text for verdict in shown]


EXISTING = {"status": {"state": "Open"}}


@pytest.mark.parametrize(("parent", "child", "judged"), [
    ({}, {}, "child"), (EXISTING, {}, "child"), (EXISTING, EXISTING, "child"),
    ({}, EXISTING, "team")], ids=["both new", "new child", "both exist", "new parent"])
@pytest.mark.parametrize(("spec", "rules"), [
    ({"spec.capability": {"cpu": 9}}, {"queue-capability-parent", "queue-capability-child"}),
    ({"spec.deserved": {"cpu": 7}, "spec.capability": {"cpu": 8}}, {"queue-deserved-sum"})])
def test_the_new_one_of_parent_and_child_is_judged(parent, child, judged, spec, rules):
    document = copy.deepcopy(CHILD)
    for path, value in (child | spec).items():
        change(document, path, value)
    found = [verdict for verdict in verdicts(changed("queue", parent, [document]))
             if verdict.rule in rules]
    assert [str(verdict.label).split()[1] for verdict in found] == [judged]
    assert found[0].exists == (parent == child == EXISTING)
    if judged == "team":
        assert "queue team " in found[0].message and "parent queue" not in found[0].message


@pytest.mark.parametrize(("changes", "rule"), [
    ({"spec.parent": "root"}, ""), ({"spec.parent": "nobody"}, "queue-parent-missing"),
    ({"spec.parent": "team"}, "")])
def test_root_is_judged_as_other_queues_but_for_its_amounts(changes, rule):
    queue = {"apiVersion": CHILD["apiVersion"], "kind": "Queue", "metadata": {"name": "root"},
             "spec": {"capability": {"cpu": 99}, "parent": changes["spec.parent"]}}
    found = [verdict.rule for verdict in verdicts(changed("queue", {}, [queue]))
             if str(verdict.label).startswith("Queue root")]
    assert found == ([rule] if rule else [])


def test_weights_are_read_as_go_reads_them():
    assert verdicts(changed("queue", {"metadata.annotations": {
        "volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/NaN"}})) == []


def test_every_rule_is_broken_by_some_test():
    reading = {"job-partitions-total", "job-partitions-size", "job-name"}  # refused when read
    new_parent = {"queue-capability-child"}
    assert {case[2] for case in BROKEN + FAMILY} | reading | new_parent == set(RULES)


@pytest.mark.parametrize(("path", "value", "level"), [
    ("metadata.uid", "u1", "warning"), ("metadata.resourceVersion", "5", "warning"),
    ("status", {"state": {"phase": "Running"}}, "warning"),
    ("metadata.labels", {"a": "b"}, "error")])
def test_what_exists_already_is_only_warned_of(path, value, level):
    loaded = changed("job", {"spec.minAvailable": 6, path: value})
    (verdict,) = verdicts(loaded)
    assert verdict.level == level
    if level == "warning":
        assert [*map(str, admit(loaded))] == [verdict.text]
    else:
        with pytest.raises(ManifestError, match="job 'minAvailable' should not be greater"):
            admit(loaded)


def test_the_flags_of_plugin_mpi_have_defaults():
    assert verdicts(changed("job", {"spec.plugins.mpi": []})) == []
    (verdict,) = verdicts(changed("job", {"spec.plugins.mpi": [], "spec.tasks.0.name": "boss"}))
    assert verdict.rule == "job-mpi" and "mpi master task was not found" in verdict.text


def test_pods_of_other_schedulers_are_not_volcanos_business():
    assert verdicts(changed("pod", {"spec.schedulerName": "mine"} | budget("many"))) == []


def test_objects_that_break_one_rule_alike_are_counted():
    group = ("{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {}, "
             "uid: {}}}, spec: {{queue: {}}}}}\n---\n")
    found = admit(loads("".join(group.format(name, name, name[0]) for name in ("a1", "a2", "b1"))))
    assert [str(each.facts["place"]) for each in found] == [
        "PodGroup default/a1 (text, document 1) and 1 more",
        "PodGroup default/b1 (text, document 3)"]


@pytest.mark.skipif(not EXAMPLES.exists(), reason="Volcano's own tree is not here")
def test_volcanos_examples_are_admitted_and_its_invalid_jobs_are_not():
    for path in sorted(EXAMPLES.rglob("*.yaml")):
        try:
            loaded = load(path)
        except ManifestError as error:
            pytest.fail(f"{path}: {error}")
        rules = [verdict.rule for verdict in verdicts(loaded)
                 if verdict.rule != "job-queue-missing"]
        assert bool(rules) == (path.parent.name == "invalid_jobs"), (path, rules)
