"""What kubectl prints of a cluster at work holds a Job beside its PodGroup and pods: nothing twice.
"""

import json
import random

import pytest
from kubectl import exported, listed

from volcano_lab import Cluster
from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.cache import Cache
from volcano_lab.cache.api_server import ApiServer
from volcano_lab.framework import load_conf
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError, from_dict, loads
from volcano_lab.manifests.writer import dump
from volcano_lab.scheduler import run_cycle
from volcano_lab.server.folder import Folder


def names(objects, kind=Pod):
    return sorted(obj.name for obj in objects if isinstance(obj, kind))


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("seed", range(4))
def test_an_export_in_any_order_is_the_cluster_and_no_more(form, seed):
    documents = exported()
    random.Random(seed).shuffle(documents)
    loaded = with_defaults(loads(listed(documents, form)))
    assert loaded.warnings == []
    assert len(names(loaded)) == 9 and len(names(loaded, PodGroup)) == 2
    assert run_cycle(Cache(loaded)).committed == []  # beta: 5 pods of 2 CPUs on 8 free CPUs


CHANGES = [
    # (kinds left out of the export) -> pods and PodGroups there are in the end
    ("as exported", (), 9, 2),
    ("Jobs alone are expanded", ("PodGroup", "Pod"), 9, 2),
    ("pods without their PodGroups get them", ("PodGroup",), 9, 2),
    ("beside a PodGroup no pods are made", ("Pod",), 0, 2),
]


@pytest.mark.parametrize(("left_out", "pods", "groups"), [case[1:] for case in CHANGES],
                         ids=[case[0] for case in CHANGES])
def test_what_a_job_has_is_not_created_again(left_out, pods, groups):
    documents = [found for found in exported() if found["kind"] not in left_out]
    loaded = with_defaults(loads(listed(documents)))
    assert (len(names(loaded)), len(names(loaded, PodGroup))) == (pods, groups)
    assert len({(obj.kind, obj.key) for obj in loaded}) == len(loaded)
    shown = [text for text in map(str, loaded.warnings) if "are not among the objects" in text]
    assert len(shown) == (1 if left_out == ("Pod",) else 0)  # the other waits: it has none yet
    assert {*loaded.later} == ({"team/beta"} if left_out == ("Pod",) else set())


@pytest.mark.parametrize(("change", "made"), [
    ({"namespace": "other"}, True),
    ({"name": "gamma"}, True),
    ({}, False),
])
def test_children_are_those_of_this_very_job(change, made):
    documents = exported()
    job = next(found for found in documents if found["metadata"]["name"] == "alpha")
    job["metadata"] |= change
    pods = [found for found in documents if found["kind"] in ("Pod", "PodGroup")]
    found = with_defaults(map(from_dict, [job, *pods]))
    assert len(names(found)) == (13 if made else 9)


def test_a_job_written_by_hand_knows_its_children_by_its_name():
    documents = exported()
    for found in documents:
        if found["kind"] == "Job":
            del found["metadata"]["uid"]
    assert len(names(with_defaults(map(from_dict, documents)))) == 9


def test_pods_of_a_job_of_that_name_that_was_deleted_stay_and_none_is_created_beside_them():
    documents = exported()
    job = next(found for found in documents if found["metadata"]["name"] == "alpha")
    job["metadata"]["uid"] = "another"
    found = with_defaults(map(from_dict, [job, *(other for other in documents if other["kind"] in (
        "Pod", "PodGroup"))]))
    assert len(names(found)) == 9
    assert any("Job team/alpha: 4 of its 4 pods are not created, for there are pods of these names "
               "with another owner" in text for text in map(str, found.warnings))


def test_a_created_pod_that_is_given_by_another_hand_stays():
    job = exported()[0]
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"alpha-worker-{number}",
                                                             "namespace": "team"}}
            for number in range(3)]
    found = with_defaults(map(from_dict, [job, *pods]))
    assert len(names(found)) == 4 and "Job team/alpha: 3 of its 4 pods are not created" in "".join(
        [*map(str, found.warnings)])


def test_objects_in_two_files_are_one_sentence():
    documents = exported()
    with pytest.raises(ManifestError) as refused:
        loads(listed(documents + documents), "all.json")
    (problem,) = refused.value.problems
    assert problem.startswith("Job team/alpha (all.json, document 1, item 18): is already given in "
                              "all.json, document 1, item 1; allowed is one Job of a name")
    assert problem.endswith("(as are 16 more objects)")


@pytest.mark.long
@pytest.mark.parametrize("first", ["a", "z"])
def test_a_served_folder_holds_job_and_pods_in_two_files(tmp_path, first):
    documents = exported()
    jobs = [found for found in documents if found["kind"] == "Job"]
    others = [found for found in documents if found["kind"] != "Job"]
    (tmp_path / f"{first}-jobs.json").write_text(listed(jobs))
    (tmp_path / "m-pods.yaml").write_text(listed(others, "yaml"))
    server = ApiServer()
    folder = Folder(tmp_path, server)
    folder.read()
    assert folder.problems == {} and len(server.list("Pod")) == 9
    assert sum(pod.spec.node_name == "n1" for pod in server.list("Pod")) == 4
    (tmp_path / "m-pods.yaml").unlink()
    folder.read()
    assert len(server.list("Pod")) == 9 and len(server.list("PodGroup")) == 2


def test_a_job_that_is_not_in_any_export_is_expanded_as_before():
    text = dump([obj for obj in map(from_dict, exported()) if obj.kind in ("Job", "Node")])
    assert len(run_cycle(Cache(with_defaults(loads(text)))).committed) == 4


def test_a_configuration_that_is_no_text_is_exported_too():
    conf = load_conf("""
actions: "enqueue, allocate, reclaim"
tiers: [{plugins: [{name: gang, enableJobOrder: false}]},
        {plugins: [{name: capacity, enableHierarchy: true, arguments: {key: [1, a]}}]}]
configurations: [{name: enqueue, arguments: {overCommitFactor: 1.5}}]
metrics: {type: prometheus}
ignored-provisioners: "a,b"
""")
    assert load_conf(json.loads(Cluster(conf=conf).export("case"))["conf"]) == conf
