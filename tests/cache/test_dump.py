"""A cache as a file: whatever state it is in, the cycle after loading is the cycle that would have
come.
"""

import json
import os
from random import Random

import pytest
from driving import run_events
from dumped import run_dump

from manifests.hostile import places
from volcano_lab.api.node_usage import NodeUsage
from volcano_lab.cache import Cache, dump
from volcano_lab.cache.dump import DumpError
from volcano_lab.cli.replay import CycleRecord
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Simulation, poisson

NOW = 1767225700.0


def decisions(cache, conf=None):
    record = CycleRecord()
    Scheduler(cache, conf).run_once(record, now=NOW)
    return record.decisions


def crowded(seed):
    """A cluster at work."""
    random, cluster = Random(seed), Cluster().queue("a", weight=2).queue("b", weight=1)
    for number in range(4):
        cluster.node(f"n{number}", cpu=8, memory="16Gi")
    for number in range(8):
        cluster.job(f"job-{number}", queue=random.choice("ab"), pods=random.randint(1, 5),
                    cpu=random.randint(1, 3), min_member=1)
    return cluster


@pytest.mark.parametrize("seed", range(5))
def test_a_dump_loads_again_and_gives_the_same_cycle(tmp_path, seed):
    cache = crowded(seed).cache()
    path = dump.write(tmp_path / "dump.json", dump.dump(cache, now=NOW))
    record = CycleRecord()
    run_dump(path, record)
    assert record.decisions == decisions(cache)
    assert record.decisions["steps"][1]["committed"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_so_it_does_after_a_cycle_while_tasks_are_binding(seed):
    cache = crowded(seed).cache()
    decisions(cache)
    for task in list(cache.jobs["default/job-0"].tasks.values())[:1]:
        if task.node_name:
            cache.evict(task, "test")
    data = json.loads(json.dumps(dump.dump(cache)))
    assert {found["status"] for found in data["tasks"].values()} >= {"Binding"}
    loaded = dump.load(data)
    assert dump.dump(loaded) == data
    expected = decisions(cache)
    assert decisions(loaded) == expected and "Binding" in {
        status for status, _ in expected["open"]["tasks"].values()
    }


@pytest.mark.long
def test_so_it_does_at_any_moment_of_a_run_in_which_everything_goes_wrong():
    templates = (JobTemplate("a", "a", pods=3, cpu=2,
                             run_time=10), JobTemplate("b", "b", pods=2, cpu=3, run_time=15))
    sim = Simulation(crowded(1), seed=3, workload=[poisson(0.4, *templates)],
                     faults=Faults.all(0.1), latencies=Latencies(bind=("uniform", 0.1, 3)))
    seen = set()
    for _ in range(25):
        run_events(sim, 25)
        data = json.loads(json.dumps(dump.dump(sim.cache)))
        seen |= {found["status"] for found in data["tasks"].values()} | set(data["goneNodes"])
        loaded = dump.load(data)
        assert dump.dump(loaded) == data
        expected = decisions(dump.load(data))
        sim.cache.pipeline, pipeline = None, sim.cache.pipeline
        try:
            assert decisions(loaded) == expected
        finally:
            sim.cache.pipeline = pipeline
    assert "Binding" in seen and any(name.startswith("n") for name in seen)


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = dump.write(tmp_path / "dump.json", {"a": 1})
    with pytest.raises(TypeError):
        dump.write(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1} and [file.name for file in tmp_path.iterdir()
                                                         ] == ["dump.json"]


def test_a_dump_that_cannot_be_encoded_leaves_no_file(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        dump.write(tmp_path / "dump.json", {"a": "\ud800"})
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("fails", "error"), [
    (json.dumps, OSError), (os.replace, OSError), (os.replace, KeyboardInterrupt)])
def test_a_dump_that_fails_leaves_no_file(tmp_path, monkeypatch, fails, error):
    def refuse(*_, **__):
        raise error("no")

    path = dump.write(tmp_path / "dump.json", {"a": 1})
    monkeypatch.setattr(f"{fails.__module__}.{fails.__name__}".replace("posix", "os"), refuse)
    with pytest.raises(error, match="no"):
        dump.write(path, {"a": 2}, replace=False)
    assert [*tmp_path.iterdir()] == [path] and dump.read(path) == {"a": 1}


def test_each_kind_of_object_is_in_a_dump():
    kinds = {
        "scheduling.k8s.io/v1 PriorityClass": {"value": 5}, "v1 Namespace": {},
        "v1 ResourceQuota": {"spec": {"hard": {"cpu": "1"}}},
        "policy/v1 PodDisruptionBudget": {"spec": {"minAvailable": 1}},
        "storage.k8s.io/v1 StorageClass": {"provisioner": "disk"},
        "v1 PersistentVolume": {"spec": {"capacity": {"storage": "1Gi"}}},
        "v1 PersistentVolumeClaim": {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
        "storage.k8s.io/v1 CSINode": {"spec": {"drivers": []}},
        "topology.volcano.sh/v1alpha1 HyperNode": {"spec": {"tier": 1, "members": [
            {"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}]}}}
    others = [{"apiVersion": name.split()[0], "kind": name.split()[1], "metadata": {"name": "x"}}
              | fields for name, fields in kinds.items()]
    cluster = crowded(1).add(json.dumps(others))
    data = dump.dump(cluster.cache())
    assert {each["kind"] for each in data["objects"]} == {
        *(name.split()[1] for name in kinds), "Node", "Pod", "PodGroup", "Queue"}
    assert dump.dump(dump.load(data)) == data


def test_an_object_that_cannot_be_read_is_named_with_its_field():
    data = json.loads(json.dumps(dump.dump(crowded(1).cache())))
    node = next(each for each in data["objects"] if each["kind"] == "Node")
    node["status"]["allocatable"]["cpu"] = "lots"
    with pytest.raises(ManifestError, match=r"n0.*status.allocatable.*cpu.*lots"):
        dump.load(data)


@pytest.mark.parametrize(("text", "sentence"), [
    ("{}", "the dump has form None; allowed is"),
    ("[]", "the dump has form 'list'; allowed is"),
    ("{", "is not JSON"),
    ("[" * 30_000, "nested too deeply"),
    ("1" * 5000, "is not JSON"),
    ('{"form": "volcano-lab cache 1"}',
     "the dump is damaged: conf is missing; allowed is the text"),
    ('{"form": "volcano-lab cache 1", "conf": 5}', "conf is 5; allowed is the text of a conf"),
    (None, "there is no such file or directory"),
])
def test_what_is_no_dump_is_reported_in_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "dump.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DumpError, match=sentence):
        run_dump(path)


def test_usage_and_memory_are_in_a_dump():
    cache = Cluster().node("n1", cpu=4).cache()
    cache.nodes["n1"].resource_usage = NodeUsage.of(85.0, 40.0)
    loaded = dump.load(json.loads(json.dumps(dump.dump(cache, memory={"tdm": 5.0}))))
    assert loaded.nodes["n1"].resource_usage == cache.nodes["n1"].resource_usage
    assert dump.dump(Cache())["memory"] == {}


def test_a_resource_that_a_job_only_requested_once_is_in_a_dump():
    cache = Cluster().node("n1", cpu=4).job("a", cpu=1).job("a-gpu", cpu=1, gpu=1).cache()
    job = cache.jobs["default/a-gpu"]
    for task in list(job.tasks.values()):
        cache.delete(task.pod)
    assert job.total_request.get("nvidia.com/gpu") == 0 and not job.tasks
    loaded = dump.load(dump.dump(cache)).jobs["default/a-gpu"]
    assert (loaded.total_request.scalars, loaded.allocated.scalars) == (
        job.total_request.scalars, job.allocated.scalars)


@pytest.mark.long
def test_a_damaged_dump_runs_or_is_one_sentence(tmp_path):
    cache = crowded(1).cache()
    decisions(cache)
    good = json.dumps(dump.dump(cache, now=NOW, memory={"tdm": 5.0}))
    random, refused = Random(5), 0
    for number in range(150):
        data = json.loads(good)
        for _ in range(random.choice((1, 2))):
            *way, last = random.choice(list(places(data)))
            inner = data
            for key in way:
                inner = inner[key]
            inner[last] = random.choice([None, 5, -1, "x", [], {}, {"a": 1}, 1e300, True])
        path = dump.write(tmp_path / f"{number}.json", data)
        try:
            dump.load(dump.read(path))
        except (DumpError, ManifestError) as error:
            refused += 1
            for sentence in getattr(error, "problems", [str(error)]):
                assert len(sentence) <= 500 and sentence.isprintable()
    assert 20 < refused < 150


def test_a_dump_is_its_owners_and_follows_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "dump.json").symlink_to(victim)
    path = dump.write(tmp_path / "dump.json", {"a": 1})
    assert victim.read_text() == "mine" and path.stat().st_mode & 0o777 == 0o600
    second = dump.write(path, {"a": 2}, replace=False)
    third = dump.write(path, {"a": 3}, replace=False)
    assert [found.name for found in (second, third)] == ["dump-1.json", "dump-2.json"]
    assert [dump.read(found)["a"] for found in (path, second, third)] == [1, 2, 3]


def test_a_dump_is_read_from_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(DumpError, match="is no regular file"):
        dump.read(tmp_path / "fifo")
