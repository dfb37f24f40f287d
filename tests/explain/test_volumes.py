"""What is said of pods whose claims have no volume."""

import json

import pytest
from kube_scene import node, pod
from storage import claim, claims, csi_node, klass, volume

from volcano_lab import Cluster, loads
from volcano_lab.api.objects import Container, ResourceRequirements
from volcano_lab.explain import Explainer
from volcano_lab.explain.lint import contradictions, ignored_fields
from volcano_lab.manifests.loader import from_dict
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import speaking

LOCAL = "kubernetes.io/no-provisioner"
NODES = [node("n1", zone="a"), node("n2", zone="b"), csi_node("n1", **{LOCAL: None}),
         csi_node("n2", **{LOCAL: None})]
POD = claims("data", name="web", scheduler_name="volcano")


def unbound(volume):
    """A claim that names a volume and is not bound to it yet."""
    named = claim(volume=volume)
    return named.changed(metadata={"annotations": {}}, status={"phase": "Pending"})


def asked(*objects):
    return Explainer(Cluster([*NODES, *objects, POD]).objects()).why("web")


UNREACHED = ("a volume of the pod cannot be reached from there (node(s) didn't match "
             "PersistentVolume's node affinity). PersistentVolume disk requires nodes with zone In "
             "c. No node has these labels: a new one with them reaches it.")
MISSING = "its PersistentVolumeClaim default/data does not exist"
GIVEN = {
    MISSING: ["both: create PersistentVolumeClaim default/data; create PersistentVolume data (web "
              "is placed on n1; after the first change alone it waits for a volume for its claim)"],
    "no volume for a claim of the pod": ["create PersistentVolume data (web is placed on n1)"],
    UNREACHED: ["1 more node like n1, with the label zone=c (web is placed on 1 new node)"]}


@pytest.mark.long
@pytest.mark.parametrize(("objects", "code", "said"), [
    ([klass()], "claim_missing", MISSING),
    ([claim(), klass(mode="Immediate")], "claim_unbound",
     "StorageClass wait binds at once (Immediate), before Volcano places the pod"),
    ([claim()], "claim_unbound", "there is no StorageClass wait"),
    ([unbound("disk"), klass()], "claim_unbound", "names the volume disk"),
    ([claim(), klass()], "volume_unbound", "no volume for a claim of the pod"),
    ([claim(deletionTimestamp="2026-01-01T00:00:00Z", volume="disk"), volume()], "claim_refused",
     'persistentvolumeclaim "data" is being deleted'),
    ([claim(volume="disk"), volume(zone="c")], "volume_node", UNREACHED),
    ([claim(volume="disk")], "volume_missing", "a volume of the pod does not exist"),
    ([claim(), klass(provisioner="rancher.io/local-path", mode="Immediate")], "claim_unbound",
     "has no volume: rancher.io/local-path of StorageClass wait, which binds at once (Immediate), "
     "has created none"),
])
def test_a_claim_without_a_volume_is_named_with_what_it_lacks(objects, code, said):
    found = asked(*objects)
    assert code in found.codes and said in found.text
    assert [str(each) for each in found.remedies] == GIVEN.get(said, [])
    on_a_node = Explainer(Cluster([*NODES, *objects, POD]).objects()).why_not("n1", "web")
    assert said in on_a_node.text


@pytest.mark.long
def test_a_class_that_is_there_is_offered_for_one_that_is_not():
    found = asked(claim(klass="wiat"), klass())
    assert "there is no StorageClass wiat (near: wait)." in found.head
    assert [remedy.change for remedy in asked(claim(klass="wiat"), klass("wait"), volume()).remedies
            ] == ["PersistentVolumeClaim default/data: create it again with StorageClass wait "
                  "instead of wiat"]


@pytest.mark.long
def test_a_node_that_is_bought_takes_volumes_as_its_like_does():
    driver = {"csi.example.com": 1}
    full = [claim("old", volume="disk"), volume(driver="csi.example.com"), claim(), klass(
        provisioner="csi.example.com"), csi_node("n1", **driver), node("n1"),
        claims("old", name="old", scheduler_name="volcano", node_name="n1")]
    found = Explainer(Cluster([*full, POD]).objects()).why("web")
    assert [remedy.change for remedy in found.remedies][:1] == ["1 more node like n1"]


def test_what_a_node_has_attached_at_most_is_said_of_volumes():
    driver, some = {"csi.example.com": 1}, {"scheduler_name": "volcano"}
    full = [claim("old", volume="disk"), volume(driver="csi.example.com"), claim(), node("n1"),
            klass(provisioner="csi.example.com"), csi_node("n1", **driver),
            claims("old", name="old", node_name="n1", **some)]
    found = Explainer(Cluster([*full, POD]).objects()).why("web").text
    assert ("attachable-volumes-csi-csi.example.com counts volumes of driver csi.example.com: a "
            "node has at most 1 attached, whatever else it has left (its CSINode)." in found)


def test_the_volumes_of_a_full_node_are_counted_by_driver():
    drivers = [csi_node(name, **{"csi.example.com": 1, "other": 9}) for name in ("n1", "n2")]
    found = Explainer(Cluster([
        claim("old", volume="disk"), volume(driver="csi.example.com"), claim(),
        klass(provisioner="csi.example.com"), *drivers, node("n1"), node("n2").changed(
            spec={"unschedulable": True}), POD,
        claims("old", name="old", node_name="n1")]).objects()).why("web")
    assert ("Node n1 has 1 of at most 1 volumes of driver csi.example.com (default/old)."
            in found.text)
    assert "driver other" not in found.text


def test_a_volume_that_two_pods_share_is_one_of_a_full_node():
    drivers = [csi_node(name, **{"csi.example.com": 1}) for name in ("n1", "n2")]
    pods = [claims("old", name=name, node_name="n1") for name in ("one", "two")]
    found = Explainer(Cluster([
        claim("old", volume="disk"), volume(driver="csi.example.com"), claim(),
        klass(provisioner="csi.example.com"), *drivers, node("n1"), node("n2").changed(
            spec={"unschedulable": True}), POD, *pods]).objects()).why("web")
    assert ("Node n1 has 1 of at most 1 volumes of driver csi.example.com (default/one, "
            "default/two)." in found.text)


def test_the_nodes_for_which_a_class_creates_volumes_are_named():
    drivers = [csi_node(name, **{"csi.example.com": 9}) for name in ("n1", "n2")]
    found = Explainer(Cluster([*NODES[:2], *drivers, claim(), POD, klass(
        provisioner="csi.example.com", zone="c,d"), klass("any", provisioner="csi.example.com")]
        ).objects()).why("web")
    assert ("StorageClass wait of PersistentVolumeClaim default/data creates volumes only for "
            "nodes with zone c/d (allowedTopologies). No node has such a label (zone a/b), so "
            "default/data waits for ever.") in found.text
    assert [each.change for each in found.remedies] == [
        "PersistentVolumeClaim default/data: create it again with StorageClass any instead of wait",
        "both: create StorageClass wait-a; PersistentVolumeClaim default/data: create it again "
        "with StorageClass wait-a instead of wait",
        "1 more node like n1, with the label zone=c"]


def test_a_pod_that_has_its_volume_waits_for_nothing():
    assert not asked(claim(volume="disk"), volume(zone="b")).causes


def test_lint_says_that_volcano_does_not_keep_a_volume_for_one_pod():
    alone = claim(volume="disk", modes="ReadWriteOncePod")
    both = [POD, claims("data", name="api", scheduler_name="volcano")]
    session = Explainer(Cluster([*NODES, alone, volume(), *both]).objects()).session
    assert [*map(str, ignored_fields(session))] == [
        "PersistentVolumeClaim default/data: it is ReadWriteOncePod and named by 2 pods; Volcano "
        "does not look at that, and places them all."]
    assert len([job for job in session.jobs.values() if job.ready_task_num()]) == 2


@pytest.mark.long
def test_a_driver_that_no_node_has_is_named_with_the_flag_that_helps():
    objects = [*NODES[:2], claim(), klass(provisioner="ebs.csi.aws.com"), POD]
    found = Explainer(Cluster(objects).objects()).why("web")
    assert found.codes == ["driver_nowhere"]
    assert ("PersistentVolumeClaim default/data counts as a volume of the driver ebs.csi.aws.com, "
            "and no node has a CSINode that offers any") in found.text
    assert "web waits for a volume: no node offers the driver ebs.csi.aws.com." in found.head
    assert "There is no CSINode among the objects" in found.text
    elsewhere = Explainer(Cluster([*objects, csi_node("n1", other=3)]).objects()).why("web")
    assert "There is no CSINode" not in elsewhere.text
    assert "#4579" in elsewhere.text and "#4579" not in found.text  # their export may be missing
    assert [str(each) for each in found.remedies] == [
        "the scheduler's flag --ignored-provisioners=ebs.csi.aws.com (bound only once "
        "ebs.csi.aws.com creates the volume of default/data; web is placed on n1)"]
    shown = contradictions(Explainer(Cluster(objects).objects()).session)
    assert [rule for rule, _ in shown] == ["driver-nowhere"]
    assert "--ignored-provisioners=ebs.csi.aws.com" in str(shown[0][1])


@pytest.mark.long
@pytest.mark.parametrize(("listed", "said"), [
    ("ebs.csi.aws.com", "CSIDriver ebs.csi.aws.com is there, so it is one"),
    ("other", "The CSIDrivers are other: ebs.csi.aws.com is not installed, or is none."), ("", "")])
@pytest.mark.parametrize("waits", [True, False])
def test_a_flag_that_counts_no_volume_provides_none(listed, said, waits):
    """What the claim's Events and the CSIDrivers show; another class is offered before the flag."""
    event = """
apiVersion: v1
kind: Event
metadata: {name: e, namespace: default}
type: Normal
reason: ExternalProvisioning
message: Waiting for a volume to be created by the external provisioner
involvedObject: {kind: PersistentVolumeClaim, name: data, namespace: default}
"""
    driver = f"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {{name: {listed}}}\n"
    objects = [*NODES[:2], claim(), klass(provisioner="ebs.csi.aws.com"), klass(
        "local", provisioner="other"), csi_node("n1", other=3), POD]
    found = Cluster(loads("---\n".join([*(f"{json.dumps(to_dict(each))}\n" for each in objects), *[
        event] * waits, *[driver] * bool(listed)]))).why("web")
    assert said in found.text and ("Event ExternalProvisioning of it" in found.text) is waits
    sure = "a node is chosen, but no pod is bound: no volume comes for default/data without "
    other, flag = map(str, found.remedies)
    assert "ignored-provisioners" in flag and (sure in flag) is bool(waits or listed)
    assert other.endswith("again with StorageClass local instead of wait (web is placed on n1)")


@pytest.mark.parametrize("version, more, lacking", [
    ("7", [], True), ("", [], False), ("7", [csi_node("n1", other=3)], False)])
def test_an_export_without_csi_nodes_is_read_as_if_nodes_offer_all_drivers(version, more, lacking):
    """Each node of a cluster has one: what an export leaves out is not absent there."""
    nodes = [each.changed(metadata={"resource_version": version}) for each in NODES[:2]]
    loaded = Cluster([*nodes, claim(), klass(provisioner="ebs.csi.aws.com"), POD, *more]).objects()
    assert ([str(each) for each in loaded.warnings if "CSINode" in str(each)] == [
        "There is no CSINode among the objects: each node is taken to offer ebs.csi.aws.com, "
        "without a limit of volumes. Add the output of kubectl get csinodes -o yaml."]) is lacking
    assert ("driver_nowhere" in Explainer(loaded).why("web").codes) is not lacking


def test_a_driver_that_a_node_has_is_no_matter_of_lint():
    objects = [*NODES, claim(), klass(), volume(), POD]
    assert not contradictions(Explainer(Cluster(objects).objects()).session)


@pytest.mark.parametrize("name, namespace, near", [
    ("data", "team", "team/data"), ("dataa", "default", "default/dataa"), ("other", "team", "")])
def test_the_claims_that_may_be_meant_by_a_missing_one_are_named(name, namespace, near):
    there = claim(name).changed(metadata={"namespace": namespace})
    text = asked(there, klass()).text
    assert (f"There is {near}." in text) is bool(near)
    assert ("only claims of its own namespace, default" in text) is (near == "team/data")


CREATED = "create PersistentVolumeClaim default/data"


@pytest.mark.long
@pytest.mark.parametrize("namespace, said, changes", [
    ("team", "create claim default/data on the same storage", [CREATED]),
    ("default", "", ["job default/web: claim dataa instead of data", CREATED])])
def test_a_claim_with_a_similar_name_is_tried_and_one_elsewhere_named(namespace, said, changes):
    there = claim("data" if said else "dataa", volume="disk").changed(
        metadata={"namespace": namespace})
    found = asked(there, klass(), volume())
    assert said in found.text and [each.change for each in found.remedies] == changes


MOUNTS = "containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"


@pytest.mark.long
def test_a_field_of_pods_that_are_given_is_changed_in_these_not_in_their_template():
    """A Job's template creates no other pods beside those that are there."""
    job = f"""apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: web}}
spec: {{minAvailable: 1, tasks: [{{name: w, replicas: 1, template: {{spec: {{{MOUNTS}}}}}}}]}}"""
    there = [*NODES, klass(), volume(), claim("dataa", volume="disk")]
    cluster = Cluster(there).add(job)
    for given in (cluster, Cluster(cluster.objects())):
        found = given.why("web")
        assert "job default/web: claim dataa instead of data" in [
            each.change for each in found.remedies]
        assert "CSINode" not in found.text


IMMEDIATE = ("its PersistentVolumeClaim default/{} has no volume; StorageClass wait binds at once "
             "(Immediate), before Volcano places the pod")


@pytest.mark.parametrize("objects, code, said, classes", [
    ([klass()], "claim_missing", "its PersistentVolumeClaim default/data does not exist",
     ["wait"]),
    ([claim(klass=None)], "claim_unbound",
     "its PersistentVolumeClaim default/data has no volume, and names no StorageClass", []),
    ([claim(klass=""), klass()], "claim_unbound",
     "its PersistentVolumeClaim default/data has no volume, and names no StorageClass", ["wait"]),
    ([claim(), klass(mode="Immediate"), claim("more")], "claim_unbound", IMMEDIATE.format("data"),
     []),
    ([claim(volume="disk"), volume(zone="a"), klass(mode="Immediate"), claim("more")],
     "claim_unbound", IMMEDIATE.format("more"), []),
    ([claim(), claim("more", klass="gone"), klass(), volume(zone="a")], "claim_unbound",
     "its PersistentVolumeClaim default/more has no volume, and there is no StorageClass gone "
     "(known: wait)", ["wait"])])
def test_the_first_claim_that_keeps_a_pod_waiting(objects, code, said, classes):
    pods = claims("data", "more", name="web", scheduler_name="volcano")
    (cause,) = Explainer(Cluster([*NODES, *objects, pods]).objects()).why("web").causes
    assert cause.code == code and cause.text.startswith(f"Pod default/web fits no node: {said}.")
    assert cause.numbers["classes"] == classes
    assert cause.numbers["claim"] == f"default/{'more' if 'more' in said else 'data'}"


def test_the_first_line_says_what_the_nodes_in_reach_of_a_volume_lack():
    asks = Container("c", resources=ResourceRequirements(requests={"cpu": "2"}))
    large = POD.changed(spec={"containers": [asks]})
    objects = [node("n1", zone="a"), *(node(name, zone="b") for name in ("n2", "n3")),
               claim(volume="disk"), volume(zone="a"), klass(), large]
    found = Cluster(objects).job("full", cpu=3, running={"n1": 1}).why("web")
    assert found.head.startswith("web waits for resources: n1, the only node in reach of its "
                                 "volume, lacks cpu 1.")


def test_the_pods_of_a_gang_that_wait_for_one_claim_are_one_cause():
    group = {"annotations": {"scheduling.k8s.io/group-name": "web"}}
    pods = [claims(name, name=f"web-{number}", scheduler_name="volcano").changed(metadata=group)
            for number, name in enumerate(("data", "data"))]
    cluster = Cluster([*NODES, klass(), *pods]).add(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: web}, spec: "
        "{minMember: 1}, status: {phase: Inqueue}}")
    causes = cluster.why("web").causes
    assert [(cause.code, cause.numbers["claim"]) for cause in causes] == [
        ("claim_missing", "default/data")]
    assert "Pod default/web-0 fits no node" in causes[0].text


@pytest.mark.parametrize("where, said", [
    ({"zone": "c", "disk": "ssd"}, "requires nodes with zone In c, disk In ssd. No node has"),
    ({"zone": "a,c"}, ""), ({}, "")])
def test_the_nodes_that_reach_a_volume(where, said):
    text = asked(claim(volume="disk"), volume(**where), klass(zone="z")).text
    assert ("PersistentVolume disk requires" in text) is bool(said) and said in text
    assert "allowedTopologies" not in text


@pytest.mark.parametrize(("zone", "mode"), [
    ("b", "Immediate"), ("b", "WaitForFirstConsumer"), ("a,b", "Immediate"), ("c", "Immediate")])
def test_two_claims_whose_volumes_no_node_reaches_are_named_with_their_zones(zone, mode):
    pod = claims("data", "logs", name="web", scheduler_name="volcano")
    found = Explainer(Cluster([
        *NODES, claim(volume="disk"), volume(zone="a"), claim("logs", volume="other"),
        volume("other", zone=zone), klass(mode=mode), pod]).objects()).why("web")
    apart = zone == "b"
    assert ("a node that fits: no node can have zone In a (default/data) and zone In b "
            "(default/logs)" in found.head) is apart
    assert ("delete the pod and default/logs (its data is lost)" in found.text) is apart
    assert ("StorageClass wait binds at once" in found.text) is (apart and mode == "Immediate")


def test_a_volume_that_another_node_reaches_names_none_that_is_gone():
    there = claims("data", name="web", scheduler_name="volcano", node_selector={"zone": "b"})
    text = Explainer(Cluster([*NODES, claim(volume="disk"), volume(zone="a"), there]).objects()
                     ).why("web").text
    assert "PersistentVolume disk requires nodes with zone In a." in text
    assert "does not exist" not in text


JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mix}
spec:
  schedulerName: volcano
  minAvailable: LEAST
  tasks:
  - name: a
    replicas: 1
    minAvailable: 0
    template: {spec: {priorityClassName: CLASS, volumes: [
      {name: v, persistentVolumeClaim: {claimName: data}}], containers: [
      {name: c, resources: {requests: {cpu: 1}}}]}}
  - {name: b, replicas: 2, minAvailable: 1,
     template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: CLASS}, value: VALUE}
"""


def mixed(least=1, value=0):
    """A job of which one task's claim does not exist; its priority is a value."""
    text = JOB.replace("LEAST", str(least)).replace("CLASS", "own").replace("VALUE", str(value))
    return Cluster([*NODES, klass()]).add(text)


@pytest.mark.long
def test_a_pod_whose_claim_is_refused_keeps_allocate_from_the_others_which_is_a_known_defect():
    found = mixed().why("mix").text
    assert ("After it, allocate tries no other pod of the job: 2 pods, such as default/mix-b-0, "
            "are not tried.") in found
    assert "This is volcano-sh/volcano#5527: " in found and "v1.14.4 decides otherwise." in found
    assert "#5527" not in mixed(least=3).why("mix").text  # without it the gang has too few
    assert mixed().run().placements() == []
    assert [row["pod"] for row in mixed(value=-1).run().placements()] == [
        "default/mix-b-0", "default/mix-b-1"]


@pytest.mark.parametrize(("objects", "said"), [
    ([claim(), klass()], "default/data has no volume: StorageClass wait waits for a scheduler"),
    ([claim(notes={"volume.kubernetes.io/selected-node": "n1"}), klass(provisioner="csi.x")],
     "default/data has no volume: csi.x of StorageClass wait has created none"),
    ([claim(), klass(mode="Immediate", provisioner="csi.x")], "csi.x of StorageClass wait"),
    ([claim()], "there is no StorageClass wait"), ([claim(klass="")], "names no StorageClass"),
    ([claim(volume="disk"), volume(), klass()], None)])
def test_a_pod_on_its_node_without_a_volume_says_what_has_not_created_it(objects, said):
    starts = from_dict({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"nodeName": "n1", "schedulerName": "volcano", "containers": [{"name": "c"}],
                 "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
        "status": {"phase": "Pending", "containerStatuses": [
            {"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}]}})
    found = Explainer(Cluster([*NODES, *objects, starts]).objects()).why("web")
    assert "has not started there: ContainerCreating" in found.text
    assert ("has no volume" in found.text) == (said is not None)
    assert said is None or said in found.text


def test_a_claim_that_no_object_decides_is_named_with_what_to_add():
    found = Explainer(Cluster([NODES[0], NODES[1], POD]).objects()).why("web")
    assert found.codes == ["claims_unknown"] and "does not wait" in found.head
    assert "Add those of kubectl get pvc,pv,storageclasses,csinodes" in found.text
    with speaking("zh"):
        assert "Pod default/web 的存储卷声明 data" in Explainer(
            Cluster([NODES[0], NODES[1], POD]).objects()).why("web").text


CREATED = "PersistentVolumeClaim default/data: create it again with {}"


@pytest.mark.long
@pytest.mark.parametrize(("asks", "more", "said", "changes"), [
    (("50Gi", "ReadWriteOnce"), [volume(zone="a")], "requests storage 50Gi, and StorageClass wait "
     "provisions none: its free PersistentVolumes have less (disk: 10Gi, ReadWriteOnce).",
     [CREATED.format("storage 10Gi instead of 50Gi")]),
    (("5Gi", "ReadWriteMany"), [volume(zone="a")], "has accessModes ReadWriteMany, which no free "
     "PersistentVolume of StorageClass wait has (disk: 10Gi, ReadWriteOnce).",
     [CREATED.format("accessModes ReadWriteOnce instead of ReadWriteMany")]),
    (("50Gi", "ReadWriteOnce"), [], "requests storage 50Gi, and StorageClass wait provisions none "
     "and has no free PersistentVolume.", ["create PersistentVolume data"]),
    (("50Gi", "ReadWriteOnce"), [klass("cloud", provisioner="csi.io"), node(
        "n3"), csi_node("n3", **{"csi.io": None})], "none and has no free PersistentVolume.",
     [CREATED.format("StorageClass cloud instead of wait"), "create PersistentVolume data"]),
    (("5Gi", "ReadWriteOnce"), [volume(zone="z")], "PersistentVolume disk requires nodes with zone "
     "In z. No node has these labels: a new one with them reaches it.", [])])
def test_the_field_of_a_claim_that_no_free_volume_fits_is_named(asks, more, said, changes):
    found = asked(claim("data", *asks[:1], modes=asks[1]), klass(), *more)
    assert said in found.text
    assert [remedy.change for remedy in found.remedies] == changes


AT_ONCE = klass(mode="Immediate")


@pytest.mark.parametrize(("bare", "objects", "said", "change"), [
    (False, [claim(size="50Gi"), AT_ONCE, volume()], "its free PersistentVolumes have less (disk",
     "storage 10Gi instead of 50Gi"),
    (True, [claim(size="50Gi"), AT_ONCE, volume()], "its free PersistentVolumes have less (disk",
     "storage 10Gi instead of 50Gi"),
    (False, [claim(modes="ReadWriteMany"), volume()], "there is no StorageClass wait, so only a "
     "free PersistentVolume of that class can be bound to it. PersistentVolumeClaim default/data "
     "has accessModes ReadWriteMany", "accessModes ReadWriteOnce instead of ReadWriteMany"),
    (True, [claim(), AT_ONCE, volume()], "PersistentVolume disk is free and fits default/data:",
     None),
    (False, [claim(), AT_ONCE, volume(phase="Released", kept_for="old")],
     "are Released (disk: 10Gi, ReadWriteOnce). Without its spec.claimRef one is free again", None),
    (False, [claim(klass=""), klass(), volume()], "names no StorageClass.",
     "StorageClass wait instead of unset")])
def test_a_claim_that_is_bound_at_once_says_which_field_no_free_volume_fits(
        bare, objects, said, change):
    """Also where no node counts the volumes of its class, which are none once it is bound."""
    nodes = [node("n1"), *[csi_node("n1", **{LOCAL: None})] * (not bare)]
    found = Explainer(Cluster([*nodes, *objects, POD]).objects()).why("web")
    assert found.codes == ["claim_unbound"] and said in found.text
    assert [remedy.change for remedy in found.remedies][:1] == [
        f"PersistentVolumeClaim default/data: create it again with {change}"] * bool(change)


def test_the_end_of_a_pod_with_volumes_of_a_full_driver_is_waited_for():
    full = [claim("old", volume="disk"), volume(driver="csi.example.com"), claim(), node("n1"),
            klass(provisioner="csi.example.com"), csi_node("n1", **{"csi.example.com": 1})]
    there = [claims("old", name="old", node_name="n1", scheduler_name="volcano"),
             pod("free", node_name="n1", scheduler_name="volcano")]
    found = Explainer(Cluster([*full, POD, *(each.changed(
        status={"phase": "Running"}) for each in there)]).objects(),
        'actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]').why("web")
    assert "volume_limit" in found.codes
    assert "wait for the end of default/old (web is placed on n1)" in map(str, found.remedies)


NOWHERE = ("It names a node that does not exist: the node is deleted, or its labels have changed. "
           "If no such node comes back, the data is lost: delete default/data and the pod")


@pytest.mark.long
@pytest.mark.parametrize("host, said", [
    ("kubernetes.io/hostname", NOWHERE), ("topology.topolvm.io/node", NOWHERE),
    ("", "its PersistentVolumeClaim default/data is Lost, as its volume disk does not exist.")])
def test_a_claim_of_a_volume_that_is_gone_is_created_again(host, said):
    """Also where its class binds at once: its new volume is created by the provisioner then."""
    there = [claim(volume="disk"), volume(**{host: "n9"})] if host else [
        claim(volume="disk").changed(status={"phase": "Lost"})]
    mode = "WaitForFirstConsumer" if host else "Immediate"
    found = asked(*there, klass(provisioner="rancher.io/local-path", mode=mode))
    assert said in found.text
    assert [str(each) for each in found.remedies] == [
        "PersistentVolumeClaim default/data: create it again, without volume disk and its data "
        "(web is placed on n1)"]
