"""Jobs over time: who waits how long, held against sums by hand; arrivals, run times, failures."""

import json
import re

import pytest
import yaml

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import loads
from volcano_lab.messages import Misuse, NoSuch
from volcano_lab.simulation import (
    JobTemplate,
    Simulation,
    WorkloadError,
    every,
    poisson,
    simulate,
    trace,
)
from volcano_lab.simulation.measures import average, quantile
from volcano_lab.simulation.simulate import lengths
from volcano_lab.simulation.sweep.metrics import measure

NODE = ("{apiVersion: v1, kind: Node, metadata: {name: n1}, "
        "status: {allocatable: {cpu: 4, pods: 9}}}")


def job(name: str, cpu: int, *, created: str = "", pods: int = 1, notes: dict | None = None) -> str:
    metadata = {"name": name, "annotations": notes or {}}
    if created:
        metadata["creationTimestamp"] = created
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    return yaml.safe_dump({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata,
        "spec": {"tasks": [{"name": "w", "replicas": pods, "template": template}]}})


def cluster(*documents: str):
    return loads("\n---\n".join((NODE, *documents)))


def test_a_job_that_never_starts_waits_from_its_arrival_to_the_end():
    rows = [{"time": 10, "name": "large", "cpu": 9, "run_time": 100}]
    history = simulate(Cluster().node("n1", cpu=4), arrivals=rows, until=60)
    (row,) = history.measures("jobs")
    assert (row["state"], row["waiting"]) == ("waiting", history.until - 10)
    with pytest.raises(NoSuch, match='no table "pods"; allowed are queues, jobs, cluster'):
        history.measures("pods")


@pytest.mark.long
def test_three_jobs_by_hand():
    """On 4 CPUs, cycles at whole seconds; a request to bind takes 0.01 s, a start 1 s, and the
    worker that binds looks every 0.02 s: a job placed at t runs from t + 1.03.

    a comes at 0 and runs from 1.03 to 101.03. b comes at 10 and needs all CPUs: it is placed at
    102, when a has ended, and runs from 103.03 to 203.03. c comes at 20 and comes after b.
    """
    rows = [{"time": 0, "name": "a", "cpu": 3, "run_time": 100, "at_once": True},
            {"time": 10, "name": "b", "cpu": 4, "run_time": 100, "at_once": True},
            {"time": 20, "name": "c", "cpu": 4, "run_time": 50, "at_once": True}]
    history = simulate(Cluster().node("n1", cpu=4), arrivals=rows)
    found = {row["job"]: (row["waiting"], row["slowdown"]) for row in history.measures("jobs")}
    assert found == {"default/a": (1.03, 1.0103), "default/b": (93.03, 1.9303),
                     "default/c": (185.03, 4.7006)}
    (whole,) = history.measures("cluster")
    assert whole["waiting_median"] == 93.03
    assert whole["waiting_p95"] == pytest.approx(93.03 + 0.9 * (185.03 - 93.03))
    assert whole["slowdown_median"] == 1.9303 and whole["evicted"] == whole["broken"] == 0
    assert whole["finished"] == whole["jobs"] == 3 and whole["still_waiting"] == 0
    # a cycle's amounts stand until the next: a from 0 to 102, b to 204, c to 256, then nothing
    end = whole["seconds"]
    used = 3 * 102 + 4 * (204 - 102) + 4 * (256 - 204)
    assert whole["used_cpu"] == pytest.approx(used / (4 * end), abs=0.01)
    (queue,) = history.measures("queues")
    deserved = 3 * 10 + 4 * (256 - 10)  # what it asks for, and at most the cluster
    assert queue["used_cpu"] == whole["used_cpu"]
    assert queue["of_deserved_cpu"] == pytest.approx(used / deserved, abs=1e-6)
    assert measure("waiting_median", history) == measure("job/b.waiting", history) == 93.03
    assert measure("queue/default.finished", history) == 3
    with pytest.raises(NoSuch, match="allowed are cycles, seconds"):
        measure("nothing", history)


@pytest.mark.long
def test_idle_cycles_make_no_difference():
    rows = [{"time": 7 * n, "name": f"j{n}", "cpu": 1 + n % 4, "pods": 1 + n % 2, "min_member": 1,
             "run_time": 20 + n} for n in range(20)]
    world = Cluster().node("n1", cpu=4).node("n2", cpu=4)
    every_cycle = Simulation(world, workload=[trace(rows)]).run(900)
    skipping = simulate(world, arrivals=rows)
    assert skipping.rows["jobs"] == every_cycle.rows["jobs"]
    assert skipping.rows["events"] == every_cycle.rows["events"]
    assert len(skipping.rows["cluster"]) < len(every_cycle.rows["cluster"]) / 2


@pytest.mark.parametrize(("plugin", "notes", "every_cycle"), [
    ("name: sla, arguments: {sla-waiting-time: 5s}", {}, False), ("name: sla", {}, False),
    ("name: tdm", {}, True)])
def test_a_plugin_that_looks_at_the_time_gets_every_cycle(plugin, notes, every_cycle):
    conf = f"""actions: "enqueue, allocate"
tiers: [{{plugins: [{{{plugin}}}, {{name: overcommit}}]}}]"""
    history = simulate(cluster(job("a", 1, notes=notes)), conf, until=20)
    assert (len(history.rows["cluster"]) == 20) is every_cycle


@pytest.mark.long
@pytest.mark.parametrize(("conf", "notes", "admitted"), [
    (", arguments: {sla-waiting-time: 5s}", {}, 7.0), ("", {"sla-waiting-time": "7s"}, 9.0),
    ("", {}, None)])
def test_a_cycle_runs_when_a_deadline_of_sla_passes(conf, notes, admitted):
    """The node is in use for ever; a is created at second 2. Idle cycles make no difference."""
    text = f"""actions: "enqueue, allocate"
tiers:
- plugins: [{{name: sla{conf}}}]
- plugins: [{{name: overcommit, arguments: {{overcommit-factor: 1.0}}}}, {{name: predicates}}]"""
    world = Cluster().node("n0", cpu=1).job("fills", cpu=1, running={"n0": 1}).add(
        job("a", 1, notes=notes))
    short, whole = (Simulation(world, text, skip_idle=skip) for skip in (True, False))
    assert short.run(20).rows["jobs"] == whole.run(20).rows["jobs"]
    (run,) = (run for run in short.side.jobs.values() if run.name != "fills")
    assert run.admitted == admitted
    assert short.cycles < 8 and whole.cycles == 20 and short.at_rest


IDLE = """{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%s}, spec: {replicas: 0,
  selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {
    schedulerName: volcano, containers: [{name: c}]}}}}"""


@pytest.mark.long
@pytest.mark.parametrize("beside", [0, 20])
def test_jobs_come_when_they_were_created(beside):
    world = cluster(*(IDLE % number for number in range(beside)),
                    job("late", 1, created="2025-03-01T10:01:00Z"),
                    job("early", 1, created="2025-03-01T10:00:00Z"), job("undated", 1))
    history = simulate(world, duration=30)
    assert {row["job"].split("/")[1].split("-")[0]: row["arrived"]
            for row in history.measures("jobs")} == {"late": 60.0, "early": 0.0, "undated": 0.0}


@pytest.mark.long
@pytest.mark.parametrize("given", [{"duration": 1e308}, {"failures": 1e308}, {"arrivals": 1e-308},
                                   {"duration": "exponential:99999999999999999999999d"}])
def test_what_happens_in_a_time_that_no_run_reaches_never_happens(given):
    world = cluster(job("a", 1))
    usual, found = simulate(world, until=20), simulate(world, until=20, **given)
    assert found.rows["events"] == ([] if "arrivals" in given else usual.rows["events"])


@pytest.mark.parametrize("phase", ["", "Pending", "Inqueue", "Running", "Unknown"])
@pytest.mark.parametrize("placed", [0, 1, 2])
def test_a_job_comes_where_it_is_pending_and_has_no_pod_with_a_node(phase, placed):
    world = Cluster().node("n1", cpu=4).job(
        "a", pods=2, cpu=1, **({"running": {"n1": placed}} if placed else {})).objects()
    world[:] = [obj.changed(status={"phase": phase}) if obj.kind == "PodGroup" else obj
                for obj in world]
    history = simulate(world, until=5)
    came = [row[2] for row in history.rows["events"] if row[1] == "job arrived"]
    assert came == (["default/a"] if not placed and phase in ("", "Pending") else [])


@pytest.mark.long
def test_an_annotation_says_how_long_a_job_runs():
    world = cluster(job("short", 4, notes={"volcano-lab/run-time": "5"}), job("long", 4))
    finished = {row["job"].split("/")[1].split("-")[0]: row["state"]
                for row in simulate(world).measures("jobs")}
    assert finished == {"short": "finished", "long": "running"}
    with pytest.raises(WorkloadError, match="annotation volcano-lab/run-time is"):
        simulate(cluster(job("odd", 4, notes={"volcano-lab/run-time": "soon"})))


@pytest.mark.long
@pytest.mark.parametrize(("of_pods", "of_group", "state"), [
    ("5", "", "finished"), ("500", "", "running"), ("500", "5", "finished"),
    ("5", "500", "running")])
def test_an_annotation_of_pods_does_too_and_that_of_their_group_comes_first(of_pods, of_group,
                                                                            state):
    world = Cluster().node("n1", cpu=4).job("a", cpu=1).objects()
    texts = {"Pod": of_pods, "PodGroup": of_group}
    world[:] = [obj.changed(metadata={"annotations": {
        **obj.metadata.annotations, "volcano-lab/run-time": texts[obj.kind]}})
        if texts.get(obj.kind) else obj for obj in world]
    (row,) = simulate(world, until=100).measures("jobs")
    assert row["state"] == state
    for obj in world:  # so does that of a job which runs from the start
        if obj.kind == "Pod":
            obj.spec.node_name, obj.status.phase = "n1", "Running"
        elif obj.kind == "PodGroup":
            obj.status.phase = "Running"
    (row,) = simulate(world, until=100, duration="1s" if state == "running" else None
                      ).measures("jobs")
    assert row["state"] == state


@pytest.mark.long
def test_the_rows_of_a_trace_may_come_in_any_order():
    rows = [{"time": time, "name": name, "cpu": 1} for name, time in (("b", 30), ("a", 5))]
    history = simulate(Cluster().node("n1", cpu=4), arrivals=rows, duration=5)
    assert {row["job"].split("/")[1]: row["arrived"] for row in history.measures("jobs")} == {
        "a": 5.0, "b": 30.0}


@pytest.mark.long
def test_a_rate_makes_jobs_like_those_that_wait():
    history = simulate(cluster(job("a", 1, pods=2)), arrivals=0.1, duration=5, until=200, seed=4)
    rows = history.measures("jobs")
    assert 10 < len(rows) < 32 and {row["pods"] for row in rows} == {2}
    assert rows == simulate(cluster(job("a", 1, pods=2)), arrivals=0.1, duration=5, until=200,
                            seed=4).measures("jobs")


@pytest.mark.long
def test_executors_come_when_the_driver_runs():
    spark = yaml.safe_dump({
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "metadata": {"name": "pi"}, "spec": {
            "mode": "cluster", "batchScheduler": "volcano", "driver": {"memory": "10m"},
            "executor": {"instances": 2, "memory": "10m"}}})
    node = NODE.replace("cpu: 4", "cpu: 4, memory: 64Gi")
    history = simulate(loads(f"{node}\n---\n{spark}"), duration=20)
    bound = [(row[0], row[2]) for row in history.rows["events"] if row[1] == "pod bound"]
    assert [name for _, name in bound] == [f"default/pi-{which}"
                                           for which in ("driver", "exec-1", "exec-2")]
    assert bound[0][0] < 1 < bound[1][0]
    (row,) = history.measures("jobs")
    assert (row["state"], row["pods"]) == ("finished", 3)


@pytest.mark.long
def test_a_node_that_fails_breaks_a_gang():
    world = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("gang", pods=2, cpu=3, min_member=2)
    history = simulate(world, duration=3000, failures=(1000, 60), until=4000, seed=2)
    (row,) = history.measures("jobs")
    lost = sum(event[1] == "node lost" for event in history.rows["events"])
    assert lost and 0 < row["broken"] <= lost


SWF = """; a comment
1 100 5 60 2 -1 -1 2 60 1024 1 3 1 -1 1 -1 -1 -1
2 110 0 -1 4 -1 -1 4 60 -1 0 3 1 -1 1 -1 -1 -1
3 130 0 30 1 -1 -1 -1 60 -1 1 3 1 -1 1 -1 -1 -1
4 140 0 30 1 -1 0 3 60 0 1 3 1 -1 1 -1 -1 -1
"""
LINES = """{"time": 5, "name": "a", "cpu": 1}

{"time": 7, "name": "b", "cpu": 2}
"""


@pytest.mark.parametrize(("name", "text", "jobs"), [
    ("t.swf", SWF, [(0.0, "job-1", 2, 1, "1024Ki", None, 60.0),
                    (30.0, "job-3", 1, 1, None, None, 30.0),
                    (40.0, "job-4", 3, 1, None, None, 30.0)]),
    ("l.jsonl", LINES, [(5.0, "a", 1, 1, None, None, 60.0), (7.0, "b", 1, 2, None, None, 60.0)])])
def test_traces_of_real_clusters(tmp_path, name, text, jobs):
    path = tmp_path / name
    path.write_text(text)
    found = trace(path)
    assert [(time, each.name, each.pods, each.cpu, each.memory, each.gpu, each.run_time.a)
            for time, each in zip(found.times, found.templates, strict=True)] == jobs


@pytest.mark.parametrize(("given", "words"), [
    ({"arrivals": 0.5}, "until is not given"),
    ({"arrivals": [poisson(1.0, JobTemplate())]}, "until is not given"),
    ({"failures": (1, 2, 3)}, "failures: there are 3 lengths of time"),
    ({"failures": []}, "failures: there are 0 lengths of time"),
    ({"arrivals": "1.2.3/s"}, "1.2.3/s: cannot be read"),
    ({"duration": "long"}, "duration: a length of time is 'long'"),
    ({"until": 0}, "until: a length of time is 0; allowed is a number of seconds above 0"),
    ({"period": "0s"}, "period: a length of time is .0s"),
    ({"arrivals": "999999999/s", "until": "1s"}, "999,999,999 jobs would arrive"),
    ({"until": "uniform:1m..5m"}, "until: a length of time is 'uniform:1m..5m'"),
    ({"until": -1}, "until: a length of time is -1")])
def test_what_cannot_be_simulated_is_refused(given, words):
    with pytest.raises(WorkloadError, match=words):
        simulate(cluster(job("a", 1)), **given)
    with pytest.raises(WorkloadError, match="arrivals is a rate, and no job waits"):
        simulate(cluster(), arrivals=1.0, until=5)
    with pytest.raises(WorkloadError, match="cannot be read"):
        trace("no-such.swf")


@pytest.mark.parametrize("line", ["3 0 1", "1 0 1 60 two -1 -1 2 60 1024", "a trace",
                                  "1 0 1 60 nan -1 -1 -1 60 -1", "1 0 1 60 inf -1 -1 -1 60 -1"])
def test_a_line_that_is_no_job_of_the_standard_format_is_named(tmp_path, line):
    path = tmp_path / "jobs.swf"
    path.write_text(f"; Version: 2\n{line}\n")
    with pytest.raises(WorkloadError) as refused:
        trace(path)
    assert str(refused.value) == (f"{path}: cannot be read (line 2 is {line!r}; allowed are the 18 "
                                  "numbers of a job)")


def test_quantiles_are_between_neighbours():
    assert quantile(list(range(101)), 0.95) == 95.0 and quantile([1.0, 2.0], 0.25) == 1.25


@pytest.mark.parametrize(("missing", "mean"), [(None, 2.0), (0.0, 0.5), (6.0, 5.0)])
def test_a_mean_over_time_leaves_out_what_is_not_known_or_takes_it_as_given(missing, mean):
    rows = [(1.0, {"share": 2.0}), (3.0, {"share": None})]
    assert average(rows, "share", missing) == mean
    assert average([], "share", missing) is None is average([(0.0, {"share": 2.0})], "share")


@pytest.mark.long
def test_waiting_and_slowdown_each_have_their_own_tail():
    """On one place the second of two jobs of 100 s waits about 100 s, twice its run time in all."""
    rows = [{"time": 0, "name": name, "cpu": 4, "run_time": 100} for name in "ab"]
    (whole,) = simulate(Cluster().node("n1", cpu=4), arrivals=rows).measures("cluster")
    assert 1 < whole["slowdown_median"] < whole["slowdown_p95"] < 2.5 < whole["waiting_p95"] < 105


def test_a_queue_with_jobs_is_measured_though_it_holds_nothing_and_one_without_either_is_not():
    world = Cluster().node("n1", cpu=4).queue("a").queue("b").queue("idle")
    world.job("old", queue="b", cpu=2, running={"n1": 1})
    rows = [{"time": 0, "name": "large", "queue": "a", "cpu": 9, "run_time": 100}]
    found = {row["queue"]: row for row in simulate(world, arrivals=rows, until=60).measures(
        "queues")}
    assert list(found) == ["a", "b"]
    assert (found["a"]["used_cpu"], found["a"]["still_waiting"]) == (0, 1)
    assert found["b"]["used_cpu"] > 0.4 and "used_gpu" not in found["b"]


def two_queues() -> Cluster:
    world = Cluster().node("n1", cpu=8).queue("a").queue("b")
    for number in range(6):
        for name in ("a", "b"):
            world = world.job(f"{name}{number}", queue=name, pods=2, cpu=2)
    return world


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_two_weights_side_by_side(workers):
    found = two_queues().sweep(
        {"queue/a.weight": [1, 3]}, ["queue/a.waiting_median", "queue/b.waiting_median",
                                     "waiting_p95"], over={"duration": 60}, workers=workers)
    even, odd = found.rows
    assert even["queue/a.waiting_median"] == pytest.approx(even["queue/b.waiting_median"], abs=70)
    assert odd["queue/a.waiting_median"] < odd["queue/b.waiting_median"]
    assert even == two_queues().sweep(
        {"queue/a.weight": [1]}, list(found.metrics), over={"duration": 60}).rows[0]


@pytest.mark.long
def test_a_stream_comes_beside_the_jobs_that_wait():
    world = Cluster().node("n1", cpu=8).job("own", cpu=1)
    history = simulate(world, duration=10, arrivals=every(5, JobTemplate("b", cpu=1, run_time=3),
                                                           count=2))
    assert [row["job"] for row in history.measures("jobs")] == ["default/own", "default/b-1",
                                                                "default/b-2"]
    shown = history._repr_mimebundle_()["text/plain"]
    assert "3 jobs in" in shown and "3 finished, 0 still waiting." in shown
    assert json.dumps(history.measures("queues"))


def test_times_and_rates_are_numbers_or_the_texts_of_the_command():
    known = {"until": ("90s", 90.0), "period": ("1m", 60), "arrivals": ("30/m", 0.5),
             "duration": ("uniform:30s..2m", ("uniform", 30, 120)),
             "failures": ("24h,10m", [86400, 600])}
    words, numbers = ({name: each[at] for name, each in known.items()} for at in (0, 1))
    assert lengths(words) == lengths(numbers)
    assert lengths({"arrivals": "created", "until": None}) == {"arrivals": None, "until": None}


def test_a_history_without_a_cycle_has_measures():
    assert Simulation(cluster(job("a", 1))).run(0).measures("cluster")[0]["seconds"] == 0


@pytest.mark.parametrize("given", [
    pytest.param({"objects": Cluster.read("docs/loop.yaml")}, marks=pytest.mark.slow),
    pytest.param({"objects": Cluster.read("docs/loop.yaml"), "duration": "1h"},
                 marks=pytest.mark.long),
    {"objects": Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1), "failures": "1m,1s"}])
def test_a_run_without_an_end_is_stopped_once_no_job_arrives_or_ends(given, monkeypatch):
    monkeypatch.setitem(lengths.__globals__, "IN_VAIN", 100)
    arguments = {name: value for name, value in given.items() if name != "objects"}
    history = given["objects"].simulate(**arguments)
    assert 100 < history.in_vain <= 300
    assert "in which no job arrived or ended" in history._repr_mimebundle_()["text/plain"]
    assert not given["objects"].simulate(until="20s", **arguments).in_vain


@pytest.mark.long
def test_a_run_ends_with_its_last_job_though_a_plugin_reads_the_time():
    conf = {"actions": "enqueue, allocate", "tiers": [{"plugins": [
        {"name": "gang"}, {"name": "sla", "arguments": {"sla-waiting-time": "10m"}},
        {"name": "predicates"}, {"name": "proportion"}]}]}
    world = Cluster().node("n1", cpu=4).job("a", cpu=4).job("b", cpu=4)
    history = world.simulate(conf=conf, duration="1m")
    assert not history.in_vain and 120 < history.rows["cluster"][-1][0] < 230


def test_a_table_has_percents_and_no_underscores():
    text = str(Cluster().node("n1", cpu=4).job("a", cpu=1).simulate())
    assert "25%" in text and "still waiting" in text
    assert "None" not in text and "_" not in text


@pytest.mark.long
def test_a_rate_names_the_jobs_of_which_copies_arrive():
    world = Cluster().node("n1", cpu=4).job("old", cpu=1, running={"n1": 1}).job("new", cpu=1)
    said = "copies of those that waited: new."
    assert said in str(world.simulate("10s", arrivals="1/s", duration="1s"))
    assert said not in str(world.simulate("10s", duration="1s"))


@pytest.mark.parametrize(("name", "near"), [("durations", " (duration?)"), ("zzz", "")])
def test_an_argument_that_neither_has_is_refused_with_those_that_there_are(name, near):
    with pytest.raises(Misuse, match=rf"'{name}'{re.escape(near)}; allowed are conf, until, arr"):
        Cluster().node("n1", cpu=1).simulate(**{name: 1})
