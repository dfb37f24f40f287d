"""The limit of a driver's volumes per node, and the volumes' zones."""

import pytest
from kube_scene import Scene, node, spread
from storage import claim, claims, csi_node, klass, volume

from volcano_lab.plugins.kube.volume_limits import OTHER_ZONE, TOO_MANY

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
DRIVER = "disk"
OBJECTS = [claim("a", volume="va"), claim("b", volume="vb"), claim("c"),
           volume("va", driver=DRIVER), volume("vb", driver=DRIVER), klass(provisioner=DRIVER)]
LIMITS_ONLY = {"predicate.VolumeBindingEnable": False, "predicate.VolumeZoneEnable": False}


@pytest.mark.parametrize(("sentence", "limit", "running", "wanted", "refused"), [
    ("one more fits", 2, ["a"], ["b"], False),
    ("no one more fits", 1, ["a"], ["b"], True),
    ("one that is there already is not counted again", 1, ["a"], ["a"], False),
    ("one of two is there already", 2, ["a"], ["a", "b"], False),
    ("one that will be made counts, too", 1, ["a"], ["c"], True),
    ("one that is being made counts", 1, ["c"], ["b"], True),
    ("two at once", 1, [], ["a", "b"], True),
    ("no volume of that driver may be there", 0, [], ["a"], True),
    ("beyond its limit, one that is there already", 1, ["a", "b"], ["a"], False),
    ("beyond its limit, one more", 1, ["a", "b"], ["c"], True),
    ("a driver without a limit", None, ["a", "b"], ["c"], False),
])
def test_a_node_has_at_most_so_many_volumes(sentence, limit, running, wanted, refused):
    there = Scene([node("n1")], {"n1": [claims(name, name=f"old-{name}") for name in running]},
                  storage=[*OBJECTS, csi_node("n1", **{DRIVER: limit})])
    assert there.reasons(claims(*wanted)) == ({"n1": [TOO_MANY]} if refused else {}), sentence


def test_claims_of_one_name_in_two_namespaces_are_two_volumes():
    other = claim("c").changed(metadata={"namespace": "team"})
    running = claims("c", name="old").changed(metadata={"namespace": "team"})
    there = Scene([node("n1")], {"n1": [running]},
                  storage=[*OBJECTS, other, csi_node("n1", **{DRIVER: 1})])
    assert there.reasons(claims("c")) == {"n1": [TOO_MANY]}


def test_of_two_rules_that_refuse_a_node_the_first_by_name_is_first():
    spreads = claims("a", topology_spread_constraints=spread("zone"))
    there = Scene([node("n1")], storage=[*OBJECTS, csi_node("n1", **{DRIVER: 0})])
    (reasons,) = there.reasons(spreads).values()
    assert reasons[0] == TOO_MANY and "topology spread" in reasons[1]


def test_nodes_without_a_csi_node_and_other_drivers_have_no_limit():
    assert Scene([node("n1")], storage=OBJECTS).fits(claims("a")) == ["n1"]
    other = Scene([node("n1")], storage=[*OBJECTS, csi_node("n1", other=0)])
    assert other.fits(claims("a")) == ["n1"]


def test_the_arguments_disable_each_rule():
    full = [*OBJECTS, csi_node("n1", **{DRIVER: 0})]
    off = {"predicate.NodeVolumeLimitsEnable": False}
    assert Scene([node("n1")], storage=full, arguments=off).fits(claims("a")) == ["n1"]
    far = [claim("a", volume="va"), volume("va", labels={ZONE: "x"})]
    nodes = [node("n1", **{ZONE: "y"})]
    assert Scene(nodes, storage=far).reasons(claims("a")) == {"n1": [OTHER_ZONE]}
    off = {"predicate.VolumeZoneEnable": False}
    assert Scene(nodes, storage=far, arguments=off).fits(claims("a")) == ["n1"]


def test_without_volume_binding_the_limits_look_for_the_claim():
    there = Scene([node("n1")], storage=OBJECTS, arguments=LIMITS_ONLY)
    assert there.reasons(claims("gone")) == {
        "n1": ['looking up PVC default/gone: persistentvolumeclaim "gone" not found']}


@pytest.mark.parametrize(("sentence", "volumes", "nodes", "fits"), [
    ("the zone of its volume", {ZONE: "a"}, {ZONE: "a"}, True),
    ("another zone", {ZONE: "a"}, {ZONE: "b"}, False),
    ("one of the zones of its volume", {ZONE: "a__b"}, {ZONE: "b"}, True),
    ("an old label of a volume, a new one of the node", {OLD_ZONE: "a"}, {ZONE: "a"}, True),
    ("a node that says nothing of zones", {ZONE: "a"}, {}, True),
    ("a node that only says its region", {ZONE: "a"}, {"topology.kubernetes.io/region": "r"},
     False),
    ("a label that can't be read is no label", {ZONE: "a__"}, {ZONE: "b"}, True),
])
def test_a_volume_is_in_its_zones(sentence, volumes, nodes, fits):
    there = Scene([node("n1", **nodes)],
                  storage=[claim("a", volume="va"), volume("va", labels=volumes)])
    assert bool(there.fits(claims("a"))) == fits, sentence


@pytest.mark.parametrize(("objects", "reason"), [
    ([klass()], 'persistentvolumeclaim "a" not found'),
    ([claim("a", volume="va")], 'persistentvolume "va" not found'),
    ([claim("a", klass="")], "PersistentVolumeClaim had no pv name and storageClass name"),
    ([claim("a")], 'storageclass.storage.k8s.io "wait" not found'),
    ([claim("a"), klass(mode="Immediate")], "PersistentVolume had no name"),
    ([claim("a"), klass(mode=None)], 'VolumeBindingMode not set for StorageClass "wait"'),
])
def test_zones_that_cannot_be_determined(objects, reason):
    only = {"predicate.VolumeBindingEnable": False, "predicate.NodeVolumeLimitsEnable": False}
    there = Scene([node("n1")], storage=objects, arguments=only)
    assert there.reasons(claims("a")) == {"n1": [reason]}
