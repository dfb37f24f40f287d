"""Claims of a pod that gets a node are bound: to the volume that was chosen, or to a new one."""

import pytest
from kube_scene import node
from storage import claim, claims, csi_node, klass, volume

from volcano_lab.api.storage import SELECTED_NODE, Storage
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.cache.volume_controller import bind_claims

DISK = "disk"


def bound(pod, *objects, on="n1", assumed=()):
    """The server after the pod got the node `on`, with what the scheduler had assumed."""
    server, storage = ApiServer(), Storage()
    for obj in objects:
        created = server.create(obj)
        if created.kind != "Node":
            storage.add(created)
    for obj in assumed:
        storage.assume(obj)
    bind_claims(server, storage, pod, server.find("Node", on))
    return server


def reached_from(server, name="pvc-uid-data"):
    """The labels of the nodes from which a volume can be reached."""
    required = server.find("PersistentVolume", name).spec.node_affinity.required
    return None if required is None else {
        each.key: each.values for each in required.node_selector_terms[0].match_expressions}


CHOSEN = claim(notes={SELECTED_NODE: "n1"})
NODE = node("n1", zone="a", rack="r1")


@pytest.mark.parametrize(("sentence", "drivers", "reached"), [
    ("its driver names zones", {DISK: 2}, {"zone": ["a"]}),
    ("only another driver names zones", {"other": 2}, None),
    ("no drivers are given", None, None),
])
def test_a_volume_is_created_where_its_driver_can_reach_it(sentence, drivers, reached):
    there = [] if drivers is None else [csi_node("n1", **drivers)]
    server = bound(claims("data"), NODE, klass(provisioner=DISK), claim(), *there, assumed=[CHOSEN])
    made = server.find("PersistentVolume", "pvc-uid-data")
    assert (made.status.phase, made.spec.csi.driver, made.spec.capacity) == (
        "Bound", DISK, {"storage": "5Gi"})
    assert server.find("PersistentVolumeClaim", "default/data").spec.volume_name == made.name
    assert reached_from(server) == reached, sentence


def test_a_volume_created_for_a_node_without_the_label_of_its_driver_is_reached_from_everywhere():
    server = bound(claims("data"), node("n1"), klass(provisioner=DISK), claim(),
                   csi_node("n1", **{DISK: 2}), assumed=[CHOSEN])
    assert server.find("PersistentVolume", "pvc-uid-data") and reached_from(server) is None


def test_a_volume_that_was_chosen_is_bound_and_no_other():
    there = [volume("free"), volume("kept")]
    kept = there[1].changed(spec={"claim_ref": claim().reference()})
    server = bound(claims("data"), NODE, klass(), claim(), *there, assumed=[kept])
    assert server.find("PersistentVolume", "kept").status.phase == "Bound"
    assert server.find("PersistentVolume", "free").status.phase == "Available"
    assert server.find("PersistentVolumeClaim", "default/data").spec.volume_name == "kept"


def test_the_volume_of_a_claim_and_what_claims_it_refer_to_each_other():
    kept = volume("kept").changed(spec={"claim_ref": claim().reference()})
    server = bound(claims("data"), NODE, klass(), claim(), volume("kept"), assumed=[kept])
    assert server.find("PersistentVolume", "kept").spec.claim_ref == claim().reference()


@pytest.mark.parametrize("first", [[], [claim("first", volume="mine"), volume("mine")]])
def test_a_claim_that_is_gone_or_bound_keeps_no_other_from_being_bound(first):
    server = bound(claims("first", "data"), NODE, klass(provisioner=DISK), claim(), *first,
                   assumed=[CHOSEN])
    assert server.find("PersistentVolumeClaim", "default/data").is_bound


def test_a_claim_stays_as_it_is_where_nothing_was_assumed_or_it_is_bound():
    server = bound(claims("data"), NODE, klass(provisioner=DISK), claim())
    assert not server.list("PersistentVolume")
    assert not server.find("PersistentVolumeClaim", "default/data").is_bound
    mine = claim(volume="mine")
    server = bound(claims("data"), NODE, klass(provisioner=DISK), mine, volume("mine"),
                   assumed=[CHOSEN])
    assert [each.name for each in server.list("PersistentVolume")] == ["mine"]
    assert server.find("PersistentVolumeClaim", "default/data").spec.volume_name == "mine"
