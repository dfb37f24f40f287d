"""The number of pods of an owner that runs: pods that are there stay, others are created or
deleted beside them.
"""

from itertools import chain

import pytest

from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.changes import change
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError, loads
from volcano_lab.manifests.writer import dump

APIS = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1",
        "Job": "batch.volcano.sh/v1alpha1", "RayCluster": "ray.io/v1"}
TEMPLATE = "template: {spec: {schedulerName: volcano, containers: [{name: c}]}}"
NODE = ("{apiVersion: v1, kind: Node, metadata: {name: n1}, "
        "status: {allocatable: {cpu: 8, pods: 20}}}")


def owner(kind, name, spec, above=""):
    return (f"{{apiVersion: {APIS[kind]}, kind: {kind}, metadata: {{name: {name}, uid: {name}-1"
            f"{above and f', ownerReferences: [{ref(*above)}]'}}}, spec: {{{spec}}}}}")


def ref(kind, name):
    return (f"{{apiVersion: {APIS[kind]}, kind: {kind}, name: {name}, uid: {name}-1, "
            "controller: true}")


def group(name, of, spec):
    return (f"{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {name}"
            f", ownerReferences: [{ref(*of)}]}}, spec: {{{spec}}}, status: {{phase: Running}}}}")


def pod(name, of, group, labels="", node="n1"):
    return (f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{{labels}}}, "
            f"annotations: {{scheduling.k8s.io/group-name: {group}}}, ownerReferences: "
            f"[{ref(*of)}]}}, spec: {{schedulerName: volcano, nodeName: {node!r}, "
            "containers: [{name: c}]}, status: {phase: Running}}")


def world(*documents):
    return loads("\n---\n".join((NODE, *documents)))


WEB = world(owner("Deployment", "web", f"replicas: 2, {TEMPLATE}"),
            owner("ReplicaSet", "web-7f", f"replicas: 2, {TEMPLATE}", ("Deployment", "web")),
            group("web-group", ("ReplicaSet", "web-7f"), "minMember: 1"),
            *(pod(f"web-7f-{end}", ("ReplicaSet", "web-7f"), "web-group", node=node)
              for end, node in (("a", ""), ("b", "n1"))))
STATEFUL = world(owner("StatefulSet", "db", f"replicas: 2, {TEMPLATE}"),
                 group("db-group", ("StatefulSet", "db"), "minMember: 1"),
                 *(pod(f"db-{n}", ("StatefulSet", "db"), "db-group",
                       f"statefulset.kubernetes.io/pod-name: db-{n}") for n in range(2)))
TASKS = (f"minAvailable: 2, tasks: [{{name: ps, replicas: 1, {TEMPLATE}}}, "
         f"{{name: w, replicas: 2, minAvailable: 1, {TEMPLATE}}}]")
TRAIN = world(owner("Job", "train", TASKS),
              group("train-train-1", ("Job", "train"), "minMember: 2"),
              *(pod(f"train-{name}", ("Job", "train"), "train-train-1",
                    f"volcano.sh/task-spec: {name[:-2]}, volcano.sh/task-index: '{name[-1]}'")
                for name in ("ps-0", "w-0", "w-1")))
RAY = world("{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray, uid: ray-1, labels: "
            f"{{ray.io/scheduler-name: volcano}}}}, spec: {{headGroupSpec: {{{TEMPLATE}}}, "
            f"workerGroupSpecs: [{{groupName: g, replicas: 2, {TEMPLATE}}}]}}}}",
            group("ray-ray-pg", ("RayCluster", "ray"), "minMember: 3"),
            *(pod(f"ray-{end}", ("RayCluster", "ray"), "ray-ray-pg",
                  f"ray.io/cluster: ray, ray.io/group: {group}")
              for end, group in (("x", "g"), ("head", "headgroup"), ("y", "g"))))


def pods_of(objects):
    return {obj.name: obj for obj in objects if isinstance(obj, Pod)}


@pytest.mark.parametrize(("objects", "setting", "gone", "created"), [
    (WEB, "deployment/web.replicas=5", [], 3),
    (WEB, "deployment/web.replicas=1", ["web-7f-a"], 0),  # has no node
    (WEB, "deployment/web.replicas=0", ["web-7f-a", "web-7f-b"], 0),
    (STATEFUL, "statefulset/db.replicas=4", [], ["db-2", "db-3"]),
    (STATEFUL, "statefulset/db.replicas=1", ["db-1"], 0),
    (TRAIN, "job/train.tasks[1].replicas=3", [], ["train-w-2"]),
    (TRAIN, "job/train.tasks[1].replicas=1", ["train-w-1"], 0),
    (TRAIN, "job/train.tasks[0].replicas=2", [], ["train-ps-1"]),
    (RAY, "raycluster/ray.workerGroupSpecs[0].replicas=4", [], 2),
    (RAY, "raycluster/ray.workerGroupSpecs[0].replicas=1", ["ray-y"], 0),
])
def test_pods_are_created_or_deleted_beside_those_that_run(objects, setting, gone, created):
    before, after = pods_of(objects), pods_of(change(objects, [setting]))
    assert sorted(before.keys() - after.keys()) == gone
    new = after.keys() - before.keys()
    assert created == (sorted(new) if isinstance(created, list) else len(new))
    assert all(after[name].spec.node_name == before[name].spec.node_name
               for name in before.keys() & after.keys())
    assert not any(after[name].spec.node_name for name in new)


@pytest.mark.parametrize(("objects", "setting"), [
    (WEB, "deployment/web.replicas=5"), (STATEFUL, "statefulset/db.replicas=4"),
    (TRAIN, "job/train.tasks[1].replicas=5"),
    (RAY, "raycluster/ray.workerGroupSpecs[0].replicas=4")])
def test_new_pods_are_of_the_group_that_is_there(objects, setting):
    after = change(objects, [setting])
    assert len([obj for obj in after if isinstance(obj, PodGroup)]) == 1
    names = {each.metadata.annotations["scheduling.k8s.io/group-name"]
             for each in pods_of(after).values()}
    assert len(names) == 1
    assert len({each.metadata.owner_references[0].name for each in pods_of(after).values()}) == 1


NO_SET = [obj.changed(metadata={"labels": {"pod-template-hash": "7f"}}) if isinstance(obj, Pod)
          else obj for obj in WEB if obj.kind != "ReplicaSet"]
"""A Deployment and its pods, as `kubectl get deployments,pods` prints them."""


@pytest.mark.parametrize("objects", [WEB, NO_SET])
@pytest.mark.parametrize(("settings", "removals", "pods", "groups"), [
    ([], [], 2, 1), (["deployment/web.replicas=4"], [], 4, 1),
    (["deployment/web.replicas=1"], [], 1, 1), (["deployment/web.replicas=0"], [], 0, 0),
    ([], ["deployment/web"], 0, 0)])
def test_a_deployment_is_known_by_its_pods(objects, settings, removals, pods, groups):
    after = change(objects, settings, removals)
    assert len(pods_of(after)) == pods
    assert sum(isinstance(obj, PodGroup) for obj in after) == groups
    assert not getattr(after, "not_created", {})


@pytest.mark.parametrize(("objects", "setting"), [
    (WEB, "deployment/web.replicas=2"), (STATEFUL, "statefulset/db.replicas=2"),
    (TRAIN, "job/train.tasks[1].replicas=2"),
    (RAY, "raycluster/ray.workerGroupSpecs[0].replicas=2")])
def test_the_number_that_is_there_changes_nothing(objects, setting):
    """A grid of a sweep has it among others."""
    before, after = (pods_of(change(objects, some)) for some in ([], [setting]))
    assert before == after


@pytest.mark.parametrize("objects", [WEB, NO_SET])
def test_a_pod_of_a_removed_node_is_created_again_for_its_deployment(objects):
    """One of two pods has a node: the other one stays as it is."""
    after = pods_of(change(objects, (), ["node/n1"]))
    assert {name: pod.spec.node_name for name, pod in after.items()} == {
        "web-7f-a": "", "web-7f-b": ""}


def test_a_podgroup_follows_as_its_operator_updates_it():
    after = change(RAY, ["raycluster/ray.workerGroupSpecs[0].replicas=4"])
    assert [obj.spec.min_member for obj in after if isinstance(obj, PodGroup)] == [5]


def test_a_quota_limits_the_new_pods():
    quota = ("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: '4'}},"
             " status: {hard: {pods: '4'}, used: {pods: '2'}}}")
    after = change([*WEB, *loads(quota)], ["deployment/web.replicas=9"])
    assert len(pods_of(after)) == 4


SPARK = loads("""
{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s, uid: s-1},
 spec: {type: Scala, mode: cluster, batchScheduler: volcano, driver: {cores: 1, memory: 1g},
        executor: {instances: 2, cores: 1, memory: 1g}}}""")
JOBSET = loads("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: j, uid: j-1},"
               "spec: {replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: 2, "
               f"completions: 2, {TEMPLATE}}}}}}}]}}}}")


def running(manifests):
    """An export of an owner whose pods run, without the objects between it and its pods."""
    made = with_defaults(manifests)
    pods = [obj.changed(spec={"node_name": "n1"}, status={"phase": "Running"})
            for obj in (*made, *chain(*made.later.values())) if isinstance(obj, Pod)]
    return [*manifests, *(obj for obj in made if isinstance(obj, PodGroup)), *pods]


def test_a_label_names_the_owner_where_an_object_between_is_missing():
    after = pods_of(change(running(JOBSET), ["jobset/j.replicatedJobs[0].replicas=3"]))
    assert len(after) == 6
    assert not pods_of(change(running(JOBSET), (), ["jobset/j"]))


def test_executors_that_run_are_created_by_their_driver():
    with pytest.raises(ManifestError, match=r"have a node \(3\)"):
        change(running(SPARK), ["sparkapplication/s.executor.instances=4"])


def test_owners_beside_it_keep_their_pods():
    both = [*WEB, *TRAIN[1:], *RAY[1:]]
    after = pods_of(change(both, ["deployment/web.replicas=3"]))
    assert len(after) == len(pods_of(both)) + 1


@pytest.mark.parametrize(("objects", "setting", "allowed"), [
    (WEB, "deployment/web.template.spec.nodeSelector={a: b}", "job/default/web-7f."),
    (WEB, "deployment/web.template.spec.schedulerName=other", "job/default/web-7f."),
    (TRAIN, "job/train.tasks[1].template.spec.nodeSelector={a: b}", "job/default/train."),
    (RAY, "raycluster/ray.headGroupSpec.template.spec.nodeSelector={a: b}", "job/default/ray."),
])
def test_a_template_of_pods_that_run_is_refused(objects, setting, allowed):
    with pytest.raises(ManifestError, match="have a node") as error:
        change(objects, [setting])
    assert allowed in str(error.value)


def test_pods_of_a_removed_node_are_created_again_by_their_controllers():
    bare = loads("{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {nodeName: n1, "
                 "schedulerName: volcano, containers: [{name: c}]}, status: {phase: Running}}")
    before = [*WEB, *STATEFUL[1:], *bare]
    after = pods_of(change(before, (), ["node/n1"]))
    assert sorted(after) == sorted(pods_of(before).keys() - {"bare"})
    assert not any(pod.spec.node_name for pod in after.values())


def test_a_gang_that_a_node_leaves_is_placed_elsewhere_or_falls_below_its_minimum():
    """A PodGroup is Pending in the cycle that places pods which replace those of a lost node."""
    lost = [Cluster(objects).what_if(remove=["node/n1"])
            for objects in ([*TRAIN, *loads(NODE.replace("n1", "n2"))], TRAIN)]
    assert [found.breaks for found in lost] == [[], ["default/train"]]
    assert [found.holds("train") for found in lost] == [True, False]


QUOTA = """{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default},
 spec: {hard: {pods: '%s'}}, status: {hard: {pods: '%s'}, used: {pods: '%s'}}}"""


@pytest.mark.parametrize(("hard", "pods"), [(2, 3), (3, 3), (4, 4), (9, 5)])
def test_a_changed_quota_lets_controllers_create_the_pods_that_lack(hard, pods):
    """Of five pods that the Job asks for three are there, as the quota counts no more."""
    asks = loads(dump(TRAIN).replace("replicas: 2", "replicas: 4"))
    found = pods_of(change([*asks, *loads(QUOTA % (3, 3, 3))], [f"quota/q.hard.pods={hard}"]))
    assert len(found) == pods
    assert {each.spec.node_name for name, each in found.items() if name > "train-w-1"} <= {""}


def test_a_changed_quota_leaves_an_owner_without_pods_to_its_controller():
    new = [each for each in loads(dump(TRAIN).replace("name: train", "name: new")
                                  .replace("replicas: 2", "replicas: 4")) if each.kind == "Job"]
    found = change([*TRAIN, *new, *loads(QUOTA % (4, 4, 3))], ["quota/q.hard.pods=9"])
    assert sum(name.startswith("new-") for name in pods_of(found)) == 5


def test_pods_that_no_quota_refuses_are_not_created_by_a_changed_one():
    """What an export leaves out for other reasons is not known."""
    asks = loads(dump(TRAIN).replace("replicas: 2", "replicas: 4"))
    assert len(pods_of(change([*asks, *loads(QUOTA % (30, 30, 3))], ["quota/q.hard.pods=40"]))) == 3


def test_a_job_that_is_removed_leaves_its_quota_to_others():
    asks = loads(dump(TRAIN).replace("replicas: 2", "replicas: 4"))
    world = [*asks, *WEB[1:], *loads(QUOTA % (5, 5, 5))]
    assert len(pods_of(change(world, (), ["deployment/web"]))) == 5


def rolling(replicas, old, new):
    """A Deployment whose pods of a new ReplicaSet wait, beside some of an old one."""
    return world(owner("Deployment", "web", f"replicas: {replicas}, {TEMPLATE}"), *(
        owner("ReplicaSet", f"web-{digest}", f"replicas: {count}, {TEMPLATE}", (
            "Deployment", "web")) for digest, count in (("old", old), ("new", new))), *(
        group(f"{digest}-group", ("ReplicaSet", f"web-{digest}"), "minMember: 1")
        for digest in ("old", "new")), *(
        pod(f"web-{digest}-{number}", ("ReplicaSet", f"web-{digest}"), f"{digest}-group",
            f"pod-template-hash: {digest}", node)
        for digest, count, node in (("old", old, "n1"), ("new", new, ""))
        for number in range(count)))


@pytest.mark.parametrize(("replicas", "old", "new", "strategy", "gone", "come"), [
    (2, 2, 1, "{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", 1, 0),
    (2, 1, 2, "{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", 0, 0),  # one has to be there
    (4, 4, 1, "{rollingUpdate: {maxUnavailable: 50%}}", 2, 2),  # five in all
    (3, 3, 1, "{rollingUpdate: {maxSurge: 1}}", 0, 0),  # 25%, rounded down
    (4, 4, 1, "{rollingUpdate: {maxSurge: 1}}", 1, 1),
    (4, 3, 2, "{rollingUpdate: {maxSurge: 100%}}", 0, 2),  # no more than replicas
    (4, 4, 1, "{rollingUpdate: {maxSurge: 26%}}", 1, 2),  # rounded up
    (3, 3, 1, "{type: Recreate}", 3, 2), (3, 3, 0, "{type: Recreate}", 0, 0)])
def test_a_changed_strategy_deletes_old_pods_and_creates_new_ones(
        replicas, old, new, strategy, gone, come):
    objects = rolling(replicas, old, new)
    after = change(objects, [f"deployment/web.strategy={strategy}"])
    left = [name for name in pods_of(after) if "old" in name]
    assert len(left) == old - gone and len(pods_of(after)) == old + new - gone + come


@pytest.mark.parametrize("name", ["web", "default/web", "web-7f", "web-group"])
def test_a_job_is_changed_by_the_name_of_what_has_created_its_pods(name):
    one, two = ([part for of in some for part in (
        group(f"web-{of}" if len(some) > 1 else "web-group", ("ReplicaSet", f"web-{of}"),
              "minMember: 1"),
        pod(f"web-{of}-a", ("ReplicaSet", f"web-{of}"), f"web-{of}" if len(some) > 1 else
            "web-group", f"pod-template-hash: {of}"))] for some in (["7f"], ["7f", "8f"]))
    found = {obj.name: obj for obj in change(world(*one), [f"job/{name}.queue=other"])}
    assert found["web-group"].spec.queue == "other"
    with pytest.raises(ManifestError, match=": default/web-7f, default/web-8f have this name"):
        change(world(*two), ["job/web.queue=other"])
