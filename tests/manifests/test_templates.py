"""What the template of a pod's owner names and the pod has not."""

import pytest

from volcano_lab.manifests.loader import from_dict
from volcano_lab.manifests.templates import differences, renewed, template_of, templates

OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "o", "uid": "u",
         "controller": True}
WARM = {"key": "warm", "operator": "Exists"}


def spec(requests=(), limits=(), name="c", **more):
    return {"containers": [{"name": name, "resources": {
        "requests": dict(requests), "limits": dict(limits)}}], **more}


def both(pod, template):
    """A pod and the StatefulSet that controls it."""
    return from_dict({"apiVersion": "v1", "kind": "Pod", "spec": pod, "metadata": {
        "name": "o-0", "namespace": "a", "ownerReferences": [OWNER]}}), from_dict({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {
                "name": "o", "namespace": "a"}, "spec": {"template": {"spec": template}}})


@pytest.mark.parametrize(("pod", "template", "found"), [
    (spec({"cpu": 1}), spec({"cpu": 1}), []),
    (spec({"cpu": 1}), spec({"cpu": "1000m"}), []),
    (spec({"cpu": 1}), spec({"cpu": 2}), [("request", "cpu", "1", "2")]),
    (spec({"cpu": 2}), spec({"cpu": 1}), [("request", "cpu", "2", "1")]),
    (spec(), spec({"cpu": 1, "memory": "1Gi"}), [("request", "cpu", "0", "1"),
                                                 ("request", "memory", "0", "1Gi")]),
    (spec({"cpu": 1, "memory": "1Gi"}), spec({"cpu": 1}), []),  # what others added
    (spec(), spec(limits={"cpu": 1}), [("request", "cpu", "0", "1")]),
    (spec(limits={"cpu": 1}), spec({"cpu": 1}), []),
    (spec({"cpu": 1}, {"cpu": 4}), spec({"cpu": 2}, {"cpu": 4}), [("request", "cpu", "1", "2")]),
    (spec({"cpu": 1}, {"cpu": 2}), spec({"cpu": 1}, {"cpu": 4}), []),
    (spec({"cpu": 1}), spec({"cpu": 2}, name="d"), []),
    (spec(nodeSelector={"zone": "a"}), spec(nodeSelector={"zone": "a"}), []),
    (spec(nodeSelector={"zone": "a"}), spec(), []),
    (spec(nodeSelector={"zone": "a"}), spec(nodeSelector={"zone": "b"}), [
        ("selector", "zone", "a", "b")]),
    (spec(), spec(nodeSelector={"zone": "b"}), [("selector", "zone", None, "b")]),
    (spec(tolerations=[WARM]), spec(tolerations=[WARM]), []),
    (spec(tolerations=[WARM]), spec(), []),
    (spec(), spec(tolerations=[WARM]), [("toleration", "warm", None)]),
])
def test_what_a_template_names_and_its_pod_has_not(pod, template, found):
    """A pod that is created again has it."""
    old, owner = both(pod, template)
    known = template_of(old, templates([owner], "a"))
    differ = [(what, name, before and str(before)) + (str(after), ) * (what != "toleration")
              for what, name, before, after in differences(old, *known)]
    assert differ == found
    assert not [*differences(renewed(old, [owner]), *known)]


@pytest.mark.parametrize(("given", "asked", "found"), [
    ("", "default", True), ("", "", True), ("default", "", True), ("a", "", False),
    ("", "a", False)])
def test_an_owner_without_a_namespace_is_in_that_of_its_pods(given, asked, found):
    owner = both(spec(), spec({"cpu": 1}))[1].changed(metadata={"namespace": given})
    assert bool(templates([owner], asked)) is found
