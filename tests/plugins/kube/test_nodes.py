"""What a pod says about its node: selectors, affinity, taints, cordons, host ports, as sentences.
"""

from itertools import product

import pytest
from kube_scene import Scene, node, on_nodes, pod, rather_on_nodes

from volcano_lab.api.objects import (
    Affinity,
    ContainerPort,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement as Requirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    Taint,
    Toleration,
)
from volcano_lab.plugins.kube.node_ports import conflict
from volcano_lab.plugins.kube.pod_info import host_ports

SELECTOR = "node(s) didn't match Pod's node affinity/selector"
PORTS = "node(s) didn't have free ports for the requested pod ports"
GPU = Taint("gpu", "a100", "NoSchedule")


def terms(*any_of: NodeSelectorTerm) -> Affinity:
    return Affinity(node_affinity=NodeAffinity(NodeSelector(list(any_of))))


def fields(operator: str, *values: str) -> Affinity:
    return terms(NodeSelectorTerm([], [Requirement("metadata.name", operator, list(values))]))


@pytest.mark.parametrize(
    ("sentence", "spec", "allowed"),
    [
        ("a node selector asks for labels", {"node_selector": {"zone": "a"}}, "n1 n2"),
        ("all of them", {"node_selector": {"zone": "a", "disk": "ssd"}}, "n1"),
        ("In: one of these values", {"affinity": on_nodes("zone", "In", "b", "c")}, "n3"),
        ("In without values holds nowhere", {"affinity": on_nodes("zone", "In")}, ""),
        ("NotIn: nodes without the label too", {"affinity": on_nodes("zone", "NotIn", "a")
                                                }, "n3 n4"),
        ("Exists", {"affinity": on_nodes("disk", "Exists")}, "n1"),
        ("Exists with a value can't be read and holds nowhere",
         {"affinity": on_nodes("disk", "Exists", "ssd")}, ""),
        ("DoesNotExist", {"affinity": on_nodes("zone", "DoesNotExist")}, "n4"),
        ("Gt compares whole numbers, not text", {"affinity": on_nodes("cores", "Gt", "9")}, "n2"),
        ("Lt leaves out values that are no number", {"affinity": on_nodes("cores", "Lt", "9")
                                                     }, "n1"),
        ("Gt with a value that is no number holds nowhere",
         {"affinity": on_nodes("cores", "Gt", "few")}, ""),
        ("the node's name is a field", {"affinity": fields("In", "n3")}, "n3"),
        ("or is not", {"affinity": fields("NotIn", "n3")}, "n1 n2 n4"),
        ("a field takes one value only", {"affinity": fields("In", "n3", "n4")}, ""),
        ("no other operator is one of fields", {"affinity": fields("Exists", "n3")}, ""),
        ("one term of several suffices", {
            "affinity":
            terms(NodeSelectorTerm([Requirement("disk", "Exists")]),
                  NodeSelectorTerm([Requirement("zone", "In", ["b"])]))
        }, "n1 n3"),
        ("an empty term holds nowhere", {"affinity": terms(NodeSelectorTerm())}, ""),
        ("both must hold",
         {"node_selector": {"zone": "a"}, "affinity": on_nodes("disk", "DoesNotExist")}, "n2"),
    ],
)
def test_where_a_pod_may_be_placed(sentence, spec, allowed):
    nodes = [node("n1", zone="a", disk="ssd", cores="8"), node("n2", zone="a", cores="16"),
             node("n3", zone="b", cores="many"), node("n4")]
    refused = Scene(nodes).reasons(pod(**spec))
    assert [n.name for n in nodes if n.name not in refused] == allowed.split(), sentence
    assert all(reasons == [SELECTOR] for reasons in refused.values())


@pytest.mark.parametrize(
    ("sentence", "taint", "toleration", "fits"),
    [
        ("a taint keeps pods off", GPU, None, False),
        ("a toleration of the same key and value lets them on", GPU,
         Toleration("gpu", "Equal", "a100"), True),
        ("Equal is what an empty operator means", GPU, Toleration("gpu", "", "a100"), True),
        ("another value does not", GPU, Toleration("gpu", "Equal", "h100"), False),
        ("Exists takes any value", GPU, Toleration("gpu", "Exists"), True),
        ("another effect does not", GPU, Toleration("gpu", "Exists", "", "NoExecute"), False),
        ("Exists without a key tolerates all", GPU, Toleration("", "Exists"), True),
        ("PreferNoSchedule keeps no pod off", Taint("slow", "", "PreferNoSchedule"), None, True),
        ("NoExecute does", Taint("slow", "", "NoExecute"), None, False),
    ],
)
def test_taints(sentence, taint, toleration, fits):
    scene = Scene([node(taints=[taint])])
    reason = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    assert scene.reasons(
        pod(tolerations=[toleration] if toleration else [])) == ({} if fits else {"n1": [reason]
                                                                                  }), (sentence)


def test_a_cordoned_node_takes_only_pods_that_tolerate_it():
    scene = Scene([node(unschedulable=True)])
    assert scene.reasons(pod()) == {"n1": ["node(s) were unschedulable"]}
    toleration = Toleration("node.kubernetes.io/unschedulable", "Exists", effect="NoSchedule")
    assert scene.fits(pod("q", tolerations=[toleration])) == ["n1"]


def test_two_pods_on_a_node_cannot_have_one_host_port():
    scene = Scene([node("n1"), node("n2")], {"n1": [pod("old", host_port=80)]})
    assert scene.reasons(pod(host_port=80)) == {"n1": [PORTS]}
    assert scene.fits(pod("other", host_port=81)) == ["n1", "n2"]
    task = scene.place(pod("new", host_port=80), "n2")
    assert scene.fits(pod("late", host_port=80)) == []
    scene.take_away(task)
    assert scene.fits(pod("later", host_port=80)) == ["n2"]


def test_each_of_a_pods_host_ports_must_be_free():
    scene, two = Scene([node("n1"), node("n2")], {"n1": [pod("old", host_port=80)]}), pod("two")
    two.spec.containers = [*pod("a", host_port=79).spec.containers,
                           *pod("b", host_port=80).spec.containers]
    assert scene.fits(two) == ["n2"]


def test_a_port_that_two_pods_use_is_free_when_the_first_of_them_is_removed():
    scene = Scene([node("n1")], {"n1": [pod("old", host_port=80)]})
    task = scene.place(pod("twin", host_port=80), "n1")
    scene.take_away(task)
    assert scene.fits(pod("new", host_port=80)) == ["n1"]


@pytest.mark.parametrize(
    ("sentence", "wanted", "used", "taken"),
    [
        ("addresses differ", ("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        ("protocols differ", ("0.0.0.0", "UDP", 80), ("0.0.0.0", "TCP", 80), False),
        ("all addresses are wanted", ("0.0.0.0", "TCP", 80), ("10.0.0.2", "TCP", 80), True),
        ("all addresses are taken", ("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
    ],
)
def test_conflicts_of_host_ports(sentence, wanted, used, taken):
    assert conflict([wanted], {used}) is taken, sentence


def test_ports_conflict_as_by_the_definition():
    """One protocol and number, and one address, or all of them on either side."""
    ports = [*product(("0.0.0.0", "10.0.0.1", "10.0.0.2"), ("TCP", "UDP"), (80, 81))]
    for wanted, one, other in product(ports, repeat=3):
        alike = [each for each in (one, other) if each[1:] == wanted[1:] and (
            each[0] == wanted[0] or "0.0.0.0" in (each[0], wanted[0]))]
        assert conflict([wanted], {one, other}) is bool(alike)


def test_host_ports_are_those_that_containers_name():
    ports = [ContainerPort(container_port=80, host_port=8080), ContainerPort(container_port=80),
             ContainerPort(host_port=53, protocol="UDP"),
             ContainerPort(host_port=53, host_ip="10.0.0.1")]
    found = {(port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
             for port in ports if port.host_port}
    one = pod()
    one.spec.containers[0].ports = ports
    assert {*host_ports(one)} == found and len(found) == 3


def test_host_ports_of_sidecars_count_and_those_of_other_init_containers_do_not():
    one, other = pod("a"), pod("b")
    for p, policy in ((one, "Always"), (other, None)):
        p.spec.init_containers.append(p.spec.containers[0].__class__(
            "init", ports=[ContainerPort(host_port=80)], restart_policy=policy))
    scene = Scene([node()], {"n1": [pod("old", host_port=80)]})
    assert scene.fits(other) == ["n1"] and scene.fits(one) == []


def test_preferred_nodes_score_the_sum_of_weights_of_the_wishes_granted():
    scene = Scene([node("n1", zone="a"), node("n2", zone="b")], arguments={
        "leastrequested.weight": 0, "balancedresource.weight": 0, "nodeaffinity.weight": 3})
    assert scene.scores(pod(affinity=rather_on_nodes(40, "zone", "b"))) == {"n1": 0, "n2": 120}


def test_an_empty_wish_is_granted_nowhere():
    scene = Scene([node("n1", zone="a"), node("n2", zone="b")], arguments={
        "leastrequested.weight": 0, "balancedresource.weight": 0, "nodeaffinity.weight": 1})
    wishes = rather_on_nodes(40, "zone", "b")
    wishes.node_affinity.preferred_during_scheduling_ignored_during_execution.append(
        PreferredSchedulingTerm(7, NodeSelectorTerm()))
    assert scene.scores(pod(affinity=wishes)) == {"n1": 0, "n2": 40}
