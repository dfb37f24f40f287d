"""Volumes decide where a pod may be: claims that are bound, or wait, or wait for their pod."""

from collections import Counter
from random import Random

import pytest
from attrs import evolve
from kube_scene import Scene, node
from storage import claim, claims, klass, volume

from volcano_lab.api.objects import LabelSelector, OwnerReference
from volcano_lab.api.status import ALLOCATED, PIPELINED
from volcano_lab.api.storage import class_of
from volcano_lab.api.task import TaskInfo
from volcano_lab.framework.plugin import Event
from volcano_lab.plugins.kube import volume_binding

NODES = [node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c")]
FAILED = "plugin VolumeBinding pre-predicates failed "
CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NO_MATCH = "node(s) didn't find available persistent volumes to bind"
DISK = "csi.example.com"


def scene(*objects, **arguments):
    return Scene(NODES, storage=objects, arguments=arguments)


@pytest.mark.parametrize(("uid", "reserved"), [
    ("", True), ("uid-data", True), ("uid-of-an-earlier-claim", False)])
def test_a_volume_that_an_earlier_claim_of_the_name_had_is_not_reserved(uid, reserved):
    kept = volume(kept_for="data", zone="b")
    kept = kept.changed(spec={"claim_ref": evolve(kept.spec.claim_ref, uid=uid)})
    there = scene(claim(), klass(provisioner=""), kept)
    assert there.fits(claims("data")) == (["n2"] if reserved else [])


@pytest.mark.parametrize(("noted", "named", "found"), [
    (None, "new", "new"), ("old", None, "old"), ("old", "new", "old"), ("", "new", ""),
    (None, None, ""), (None, "", "")])
@pytest.mark.parametrize("make", [claim, volume])
def test_the_annotation_of_a_class_goes_before_the_field(make, noted, named, found):
    notes = {} if noted is None else {"volume.beta.kubernetes.io/storage-class": noted}
    assert class_of(make(klass=named).changed(metadata={"annotations": notes})) == found


@pytest.mark.parametrize(("sentence", "objects", "reason"), [
    ("there is no such claim", [klass()], 'persistentvolumeclaim "data" not found'),
    ("it waits for Kubernetes, for its class binds at once", [claim(), klass(mode="Immediate")],
     "pod has unbound immediate PersistentVolumeClaims"),
    ("it waits, for it has no class", [claim(klass="")],
     "pod has unbound immediate PersistentVolumeClaims"),
    ("it waits, for its class is not there", [claim()],
     "pod has unbound immediate PersistentVolumeClaims"),
    ("it names its volume, and is not bound to it yet",
     [evolve(claim(volume="disk"), metadata=claim().metadata), klass(), volume()],
     "pod has unbound immediate PersistentVolumeClaims"),
    ("its class does not say when it binds", [claim(), klass(mode=None)],
     'VolumeBindingMode not set for StorageClass "wait"'),
    ("it is being deleted", [claim(deletionTimestamp="2026-01-01T00:00:00Z"), klass()],
     'persistentvolumeclaim "data" is being deleted'),
    ("it has lost its volume",
     [claim(volume="disk").changed(status={"phase": "Lost"})],
     'persistentvolumeclaim "data" bound to non-existent persistentvolume "disk"'),
])
def test_a_claim_that_keeps_its_pod_off_every_node(sentence, objects, reason):
    found = scene(*objects).predicates.pre_predicate(TaskInfo(claims("data")))
    assert found == FAILED + reason, sentence


@pytest.mark.parametrize(("sentence", "objects", "fits"), [
    ("a bound volume that can be reached from everywhere", [claim(volume="disk"), volume()],
     ["n1", "n2", "n3"]),
    ("a bound volume is in its zone", [claim(volume="disk"), volume(zone="b")], ["n2"]),
    ("a bound volume that is gone", [claim(volume="disk")], []),
    ("a free volume of its class is in its zone", [claim(), klass(), volume(zone="b,c")],
     ["n2", "n3"]),
    ("two zones, two volumes",
     [claim(), klass(), volume("d1", zone="a"), volume("d2", zone="c")], ["n1", "n3"]),
    ("a free volume of just the size", [claim(size="10Gi"), klass(), volume()],
     ["n1", "n2", "n3"]),
    ("a free volume that is too small", [claim(size="11Gi"), klass(), volume()], []),
    ("a free volume of another class", [claim(), klass(), volume(klass="fast")], []),
    ("a volume that is not free yet", [claim(), klass(), volume(phase="Released")], []),
    ("a volume that can't be shared so", [claim(modes="ReadWriteMany"), klass(), volume()], []),
    ("a volume that is kept for another claim", [claim(), klass(), volume(kept_for="x")], []),
    ("a volume that is kept for this claim goes before a smaller one",
     [claim(), klass(), volume("small", "5Gi"), volume(kept_for="data", zone="b")], ["n2"]),
    ("a volume of another class, though it is kept for this claim",
     [claim(), klass(), volume(klass="fast", kept_for="data")], []),
    ("a volume that is made anywhere", [claim(), klass(provisioner=DISK)], ["n1", "n2", "n3"]),
    ("a volume that is made in some zones", [claim(), klass(provisioner=DISK, zone="a,b")],
     ["n1", "n2"]),
    ("a volume that is being made for a node",
     [claim(notes={"volume.kubernetes.io/selected-node": "n2"}), klass(provisioner=DISK)], ["n2"]),
])
def test_nodes_where_a_claim_has_its_volume(sentence, objects, fits):
    assert scene(*objects).fits(claims("data")) == fits, sentence


def test_of_two_classes_without_a_mode_that_of_the_pods_first_claim_is_named():
    there = [claim("large", "9Gi", klass="one"), claim("small", "1Gi", klass="two"),
             klass("one", mode=None), klass("two", mode=None)]
    found = scene(*there).predicates.pre_predicate(TaskInfo(claims("large", "small")))
    assert found == f'{FAILED}VolumeBindingMode not set for StorageClass "one"'


def test_a_claim_may_choose_volumes_by_their_labels():
    chosen = claim().changed(spec={"selector": LabelSelector({"tier": "gold"})})
    there = [klass(), volume("d1", zone="a"), volume("d2", zone="b", labels={"tier": "gold"})]
    assert scene(chosen, *there).fits(claims("data")) == ["n2"]


@pytest.mark.long
def test_a_claim_gets_the_volumes_by_the_definition():
    """One that is reserved for it, or else any that is free and has all that it asks for."""
    outcomes = Counter()
    for seed in range(120):
        chance, reach, kept = Random(seed), [], []
        volumes = []
        for number in range(3):
            zone, size = chance.choice("abc"), chance.choice(["5Gi", "5Gi", "8Gi", "4Gi"])
            given = {"klass": chance.choice(["wait", "wait", "wait", "other"]), "size": size,
                     "phase": chance.choice(["Available"] * 4 + ["Released"]),
                     "modes": chance.choice(["ReadWriteOnce"] * 4 + ["ReadOnlyMany"]),
                     "labels": chance.choice([{"tier": "fast"}] * 3 + [{}]),
                     "kept_for": "data" if not number and seed % 4 == 0 else chance.choice(
                         [""] * 4 + ["another"])}
            leaves, block = (not chance.randrange(5) for _ in range(2))
            each = volume(f"disk-{number}", zone=zone, **given)
            volumes.append(each.changed(
                metadata={"deletion_timestamp": 1.0 if leaves else None},
                spec={"volume_mode": "Block" if block else None}))
            suits = (given["klass"] == "wait" and size != "4Gi" and not leaves and not block
                     and given["kept_for"] != "another")
            if suits and given["kept_for"]:
                kept.append(zone)
            elif suits and (given["phase"], given["modes"]) == ("Available", "ReadWriteOnce"):
                reach += zone * bool(given["labels"])
        wanted = claim().changed(spec={"selector": LabelSelector({"tier": "fast"})})
        fits = scene(klass(), wanted, *volumes).fits(claims("data"))
        assert fits == [f"n{'abc'.index(zone) + 1}" for zone in sorted({*(kept or reach)})], seed
        outcomes[bool(kept), len(fits)] += 1
    assert {(True, 1), (False, 0), (False, 1), (False, 2)} <= outcomes.keys()


def test_reasons_name_the_volume_that_is_missing():
    found = scene(claim(volume="gone"), volume(zone="a")).reasons(claims("data"))
    assert set(map(tuple, found.values())) == {
        ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",)}
    taken = volume("d1", zone="b", kept_for="a")
    found = scene(claim("a", volume="d1"), taken, claim("b"), klass()).reasons(
        claims("a", "b"))
    assert found["n1"] == [f"{CONFLICT}, {NO_MATCH}"] and found["n2"] == [NO_MATCH]


def test_two_claims_of_a_pod_need_two_volumes_and_the_larger_one_is_not_wasted():
    objects = [claim("large", "9Gi"), claim("small", "1Gi"), klass(), volume("d1", "2Gi", zone="a"),
               volume("d2", zone="a"), volume("d3", zone="b")]
    assert scene(*objects).fits(claims("large", "small")) == ["n1"]


def test_the_claim_of_an_ephemeral_volume_must_be_its_pods():
    mine = claims()
    mine.spec.volumes.append({"name": "tmp", "ephemeral": {}})
    said = scene(klass()).predicates.pre_predicate(TaskInfo(mine))
    assert said == (FAILED + 'waiting for ephemeral volume controller to create the '
                    'persistentvolumeclaim "p-tmp"')
    theirs = claim("p-tmp", volume="disk")
    said = scene(theirs, volume()).predicates.pre_predicate(TaskInfo(mine))
    assert said == FAILED + ("PVC default/p-tmp was not created for pod default/p "
                             "(pod is not owner)")
    for uid, controls in (("another", True), (mine.metadata.uid, False)):
        owner = OwnerReference("v1", "Pod", "p", uid, controls)
        other = theirs.changed(metadata={"owner_references": [owner]})
        assert scene(other, volume()).predicates.pre_predicate(TaskInfo(mine)) == said
    owner = OwnerReference("v1", "Pod", "p", mine.metadata.uid, True)
    owned = theirs.changed(metadata={"owner_references": [owner]})
    assert scene(owned, volume(zone="c")).fits(mine) == ["n3"]


def test_without_an_object_about_volumes_or_with_the_switch_off_claims_do_not_matter():
    assert scene().fits(claims("data")) == ["n1", "n2", "n3"]
    off = {"predicate.VolumeBindingEnable": False, "predicate.VolumeZoneEnable": False,
           "predicate.NodeVolumeLimitsEnable": False}
    assert scene(klass(), **off).fits(claims("data")) == ["n1", "n2", "n3"]


def placed(there, one, name, status=ALLOCATED):
    """Look for a node and take one, as a statement would."""
    there.reasons(one)
    task = TaskInfo(one)
    task.node_name, task.status = name, status
    there.predicates.on_allocate(Event(task))
    return task


def test_a_volume_is_taken_when_its_pod_is_placed_and_free_again_when_that_is_taken_back():
    there = scene(claim("a"), claim("b"), klass(), volume(zone="b"))
    first, second = claims("a", name="first"), claims("b", name="second")
    task = placed(there, first, "n2")
    assert there.fits(second) == []
    there.predicates.on_deallocate(Event(task))
    assert there.fits(second) == ["n2"]


@pytest.mark.parametrize(("objects", "assumed"), [
    ([claim("a"), klass(), volume(zone="b")], {"disk"}),
    ([claim("a"), klass(provisioner=DISK)], {"a"}),
    ([claim("a"), claim("b", klass="made"), klass(), klass("made", DISK), volume(zone="b")],
     {"disk", "b"}),
    ([claim("a", volume="disk"), klass(), volume(kept_for="a", zone="b")], set())])
def test_what_is_assumed_of_volumes_and_claims_is_gone_when_a_placement_is_taken_back(objects,
                                                                                      assumed):
    there = scene(*objects)
    storage = there.snapshot.storage
    before = {(obj.kind, obj.key): obj for obj in storage}
    wanted = claims(*(obj.name for obj in objects if obj.kind == "PersistentVolumeClaim"))
    task = placed(there, wanted, "n2")
    assert {obj.name for obj in storage if obj is not before[obj.kind, obj.key]} == assumed
    there.predicates.on_deallocate(Event(task))
    assert {(obj.kind, obj.key): obj for obj in storage} == before
    assert all(obj is before[obj.kind, obj.key] for obj in storage)


def test_pods_of_one_claim_are_placed_together():
    there = scene(claim("a"), klass(provisioner=DISK))
    placed(there, claims("a", name="first"), "n3")
    assert there.fits(claims("a", name="second")) == ["n3"]


def test_a_pipelined_pod_takes_no_volume():
    there = scene(claim("a"), claim("b"), klass(), volume(zone="b"))
    placed(there, claims("a", name="first"), "n2", PIPELINED)
    assert there.fits(claims("b", name="second")) == ["n2"]


def test_a_placement_that_is_repeated_reserves_no_volume():
    there = scene(claim("a"), claim("b"), klass(), volume(zone="b"))
    task = placed(there, claims("a", name="first"), "n2")
    there.predicates.on_deallocate(Event(task))
    there.predicates.on_allocate(Event(task))
    assert there.fits(claims("b", name="second")) == ["n2"]


def test_volumes_are_compared_once_with_claims_that_are_alike(monkeypatch):
    suits, asked = volume_binding.stored.suits, []

    def counted(disk, wanted):
        asked.append(disk.name)
        return suits(disk, wanted)

    monkeypatch.setattr(volume_binding.stored, "suits", counted)
    there = scene(claim("a"), claim("b"), klass(), volume("d1", zone="a"), volume("d2", zone="b"))
    assert there.fits(claims("a")) == there.fits(claims("b", name="q")) == ["n1", "n2"]
    assert asked == ["d1", "d2"]
