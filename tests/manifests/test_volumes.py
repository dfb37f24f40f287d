"""Objects about volumes: read, completed, written again, and bound when their pod is."""

import pytest
from storage import claim, claims, csi_node, klass, volume

from volcano_lab.api.objects import Node, NodeStatus, ObjectMeta, PodGroup, PodGroupSpec
from volcano_lab.api.storage import claims_of
from volcano_lab.cache import Cache
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.cache.informer import Informer
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.export import anonymised
from volcano_lab.manifests.loader import Loaded, ManifestError, loads
from volcano_lab.manifests.writer import dump
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import Simulation

DISK = "csi.example.com"
CONF = f"{DEFAULT_CONF}ignored-provisioners: kubernetes.io/no-provisioner\n"


@pytest.mark.parametrize(("text", "error"), [
    ("kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteTwice]}",
     'spec.accessModes[0] is "ReadWriteTwice"; allowed is ReadWriteOnce, ReadOnlyMany, '
     "ReadWriteMany or ReadWriteOncePod"),
    ("kind: PersistentVolumeClaim, spec: {resources: {requests: {storage: 5 Gi}}}",
     'spec.resources.requests.storage is "5 Gi"; allowed is a number with one of the suffixes'),
    ("kind: PersistentVolume, spec: {capacity: {storage: -1}}",
     "spec.capacity.storage is -1; allowed is a quantity from 0"),
    ("kind: PersistentVolume, spec: {nodeAffinity: {required: [a]}}",
     "spec.nodeAffinity.required is a list; allowed is a mapping with nodeSelectorTerms"),
])
def test_a_bad_object_is_one_sentence(text, error):
    with pytest.raises(ManifestError) as caught:
        loads("{apiVersion: v1, metadata: {name: x}, " + text + "}")
    assert error in str(caught.value) and len(caught.value.problems) == 1


def test_a_class_binds_at_once_unless_it_says_something_else():
    text = """
    {apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p, volumeBindingMode: Later,
     metadata: {name: x}}"""
    with pytest.raises(ManifestError, match="allowed is Immediate or WaitForFirstConsumer"):
        loads(text)
    assert with_defaults(loads(text.replace("Later", "")))[2].volume_binding_mode == "Immediate"


def test_claims_and_volumes_as_people_write_them_are_completed():
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    normal, *older = (klass(name).changed(metadata={"annotations": default,
                                                    "creation_timestamp": made})
                      for name, made in [("normal", 30.0), ("a", 10.0), ("zz", 20.0), ("b", None)])
    new = claim("new", klass=None).changed(status={"phase": ""})
    bound = claim("bound").changed(status={"phase": ""}, spec={"volume_name": "disk"})
    written = [*older, normal, new, bound, volume(phase=""), volume("mine", phase="", kept_for="x")]
    done = {obj.name: obj for obj in with_defaults(written)}
    assert done["new"].spec.storage_class_name == "normal"
    assert done["new"].status.phase == "Pending" and done["bound"].status.phase == "Bound"
    assert done["disk"].status.phase == "Available" and done["mine"].status.phase == "Bound"


@pytest.mark.parametrize(("phase", "mode", "provisioner", "volumes"), [
    ("", "Immediate", DISK, ["pvc-uid-data"]), ("Pending", "Immediate", DISK, []),
    ("", "WaitForFirstConsumer", DISK, []), ("", "Immediate", "kubernetes.io/no-provisioner", [])])
def test_a_new_claim_of_a_class_that_binds_at_once_gets_its_volume(
        phase, mode, provisioner, volumes):
    made = with_defaults([claim().changed(status={"phase": phase}), klass(
        mode=mode, provisioner=provisioner, zone="a")])
    found = [obj for obj in made if obj.kind == "PersistentVolume"]
    assert [each.name for each in found] == volumes
    assert next(obj for obj in made if obj.name == "data").is_bound is bool(volumes)
    for each in found:  # of the topology that its class allows
        (term,) = each.spec.node_affinity.required.node_selector_terms
        assert [(key.key, key.values) for key in term.match_expressions] == [("zone", ["a"])]


OBJECTS = [
    *(Node(ObjectMeta(f"n{number}", labels={"zone": zone}),
           status=NodeStatus({}, {"cpu": "4", "memory": "8Gi", "pods": "9"}))
      for number, zone in enumerate("abb", 1)),
    klass(), klass("made", DISK, zone="b"), csi_node("n2", **{DISK: 2}),
    claim(), claim("new", klass="made"), volume(zone="a"),
    claims("data", name="first", scheduler_name="volcano"),
    claims("new", name="second", scheduler_name="volcano")]


@pytest.mark.long
def test_a_cluster_written_out_with_other_names_decides_the_same():
    def nodes(objects):
        cache = Cluster(objects).cache()
        Scheduler(cache, CONF).run_once()
        names = sorted(cache.nodes)
        return sorted(names.index(context.task.node_name) for context in cache.bind_contexts)

    assert nodes(Loaded(OBJECTS)) == nodes(loads(dump(OBJECTS))) == [0, 1]
    hidden = anonymised(OBJECTS)
    assert nodes(hidden) == [0, 1] and "claimName: data" not in dump(hidden)


def test_no_name_of_a_node_or_class_stays_in_a_claim_or_a_volume():
    notes = {"volume.kubernetes.io/selected-node": "secret-1",
             "volume.beta.kubernetes.io/storage-class": "secret-2"}
    hidden = dump(anonymised([claim("secret-3", klass="secret-4", notes=notes),
                              csi_node("secret-5", disk=1), klass("secret-6"),
                              volume("secret-7", driver="disk", kept_for="secret-3")]))
    assert "secret" not in hidden.replace("uid-secret", "")


def test_binding_a_pod_binds_its_claims():
    server, cache = ApiServer(), Cache()
    informer = Informer(cache)
    server.watchers.append(informer.handle)
    pipeline = BindingPipeline(informer, server)
    for obj in with_defaults(OBJECTS):
        server.create(obj)
    Scheduler(cache, CONF).run_once()
    pipeline.drain()
    found = {name: server.get("PersistentVolumeClaim", f"default/{name}") for name in (
        "data", "new")}
    assert {one.status.phase for one in found.values()} == {"Bound"}
    assert found["data"].spec.volume_name == "disk"
    made = server.get("PersistentVolume", found["new"].spec.volume_name)
    assert made.spec.node_affinity.required.node_selector_terms[0].match_expressions[0].values == [
        "b"]
    third = claims("new", name="third", scheduler_name="volcano",
                   annotations={"scheduling.k8s.io/group-name": "third"})
    group = PodGroup(ObjectMeta("third", "default"), PodGroupSpec(1, queue="default"))
    server.create(group.changed(status={"phase": "Pending"}))
    server.create(third.changed(status={"phase": "Pending"}))
    Scheduler(cache).run_once()
    pipeline.drain()
    assert server.get("Pod", "default/third").spec.node_name in ("n2", "n3")


def test_the_pods_of_a_job_name_its_claims_each_once():
    job = loads("""
    apiVersion: batch.volcano.sh/v1alpha1
    kind: Job
    metadata: {name: train}
    spec:
      volumes: [{mountPath: /a, volumeClaimName: data}, {mountPath: /b, volumeClaimName: data}]
      tasks: [{name: t, replicas: 2, template: {spec: {containers: [{name: c}]}}}]""")
    pods = [obj for obj in with_defaults(job) if obj.kind == "Pod"]
    assert [[each.name for each in claims_of(pod)] for pod in pods] == [["data"], ["data"]]


@pytest.mark.long
def test_in_simulated_time_the_pods_of_one_claim_follow_its_volume():
    there = [*OBJECTS[:3], klass("made", DISK), csi_node("n1", **{DISK: 3}),
             csi_node("n2", **{DISK: 3}), claim("new", klass="made"),
             *(claims("new", name=f"p{number}", scheduler_name="volcano") for number in range(3))]
    sim = Simulation(there)
    sim.run(30)
    nodes = {pod.spec.node_name for pod in sim.server.list("Pod")}
    assert sim.server.get("PersistentVolumeClaim", "default/new").status.phase == "Bound"
    assert nodes in ({"n1"}, {"n2", "n3"}, {"n2"}, {"n3"})
    assert len(sim.server.list("PersistentVolume")) == 1
