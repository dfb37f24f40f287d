"""Runs in simulated time: the same run again, and what their histories say."""

from random import Random

import pytest
from audited import Audited

from volcano_lab.cluster import Cluster
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.simulation import (
    Faults,
    JobTemplate,
    Latencies,
    Simulation,
    WorkloadError,
    every,
    poisson,
    trace,
)
from volcano_lab.simulation.workload import spread

TEMPLATES = (JobTemplate("train", "prod", pods=4, cpu=2, memory="4Gi", run_time=("uniform", 5, 20)),
             JobTemplate("scan", "batch", pods=6, min_member=2, cpu=1,
                         run_time=("exponential", 15)))

TEN_SECONDS = JobTemplate("a", run_time=10, at_once=True)


def cluster(nodes=4):
    built = Cluster().queue("prod", weight=3).queue("batch", weight=1)
    for number in range(nodes):
        built.node(f"n{number}", cpu=8, memory="32Gi")
    return built


def simulation(seed=1, **given):
    given = {
        "workload": [poisson(0.2, *TEMPLATES)], "node_failures":
        (("exponential", 40),
         ("uniform", 5, 15)), "latencies": Latencies(bind=("uniform", 0.01, 1.5))
    } | given
    return Simulation(cluster(), seed=seed, **given)


@pytest.mark.long
def test_two_runs_of_a_seed_are_equal_to_the_byte():
    first, second = (simulation(faults=Faults.all(0.05)).run(until=120).rows for _ in range(2))
    assert first == second
    assert first != simulation(seed=2, faults=Faults.all(0.05)).run(until=120).rows


@pytest.mark.long
def test_a_run_in_two_halves_is_the_same_run():
    halves = simulation()
    halves.run(until=33.3)
    assert halves.run(until=80).rows == simulation().run(until=80).rows


@pytest.mark.long
def test_the_history_shows_when_a_job_came_and_ran():
    sim = Simulation(cluster(1),
                     workload=[every(5, JobTemplate("a", pods=2, cpu=4, run_time=8),
                                     count=2)], latencies=Latencies(start=1.0, bind=0.0))
    history = sim.run(until=40)
    first, second = (dict(zip(history.columns["jobs"], row, strict=True))
                     for row in history.rows["jobs"])
    assert (first["arrived"], first["started"], first["finished"]) == (5.0, 7.02, 15.02)
    assert (second["arrived"], second["started"]) == (
        10.0, 18.02)  # admitted once the first has finished
    assert second["waiting"] == pytest.approx(8.02)
    used = {row[0]: row[2] for row in history.rows["cluster"]}
    assert [used[5.0], used[6.0], used[16.0], used[17.0]] == [0, 8, 0, 8]


@pytest.mark.long
def test_a_job_waits_again_where_all_its_pods_were_lost():
    sim = Simulation(cluster(1),
                     workload=[every(2, JobTemplate("a", pods=2, cpu=2,
                                                    run_time=50), count=1)], latencies=Latencies(
                                                        start=1.0, bind=0.0, collect=1.0))
    sim.run(until=10)
    sim.side.node_fails("n0", back_after=5.0)
    sim.run(until=90)
    frame = sim.history.frame("cluster").set_index("time")
    states = frame[["jobs_waiting", "jobs_running", "jobs_finished"]]
    shown = {moment: tuple(states.loc[moment]) for moment in (1.0, 3.0, 5.0, 12.0, 18.0, 89.0)}
    assert shown == {
        1.0: (0, 0, 0), 3.0: (1, 0, 0), 5.0: (0, 1, 0), 12.0: (1, 0, 0), 18.0: (0, 1, 0), 89.0:
        (0, 0, 1)
    }


def test_fairness_is_that_of_the_queues_that_take_jobs():
    """Department dept holds 6 of 8, its teams 4 of 4 and 2 of 4: of 1 and 0.5 the index is 0.9."""
    tree = Cluster().node("n0", cpu=20).queue("dept", deserved=8)
    tree.queue("a", parent="dept", deserved=4).queue("b", parent="dept", deserved=4)
    tree.job("a-work", queue="a", pods=4, cpu=1, running={"n0": 4})
    tree.job("b-work", queue="b", pods=2, cpu=1, running={"n0": 2})
    conf = ('actions: "allocate"\ntiers:\n- plugins:\n  - name: capacity\n'
            "    enableHierarchy: true\n")
    history = Simulation(tree, conf).run(until=2)
    assert history.frame("queues").set_index("queue")["share"].loc["dept"].tolist()[-1] == 0.75
    assert history.frame("cluster")["fairness"].tolist()[-1] == pytest.approx(1.5**2 / (2 * 1.25))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_no_pod_stays_on_a_node_that_is_lost_for_good(seed):
    """Neither one that ran nor one that was starting."""
    sim = simulation(seed, node_failures=None,
                     latencies=Latencies(start=("uniform", 0, 15), collect=5))
    for number in range(3):
        sim.calendar.after(10 + 7 * number, sim.side.node_fails, node=f"n{number}")
    phases = set()
    for time in range(11, 26):
        sim.run(until=time)
        phases |= {pod.status.phase for pod in sim.server.list("Pod")
                   if pod.spec.node_name in sim.side.lost_nodes}
    sim.run(until=32)
    assert {"Pending", "Running"} <= phases and {
        pod.spec.node_name for pod in sim.server.list("Pod")
        if pod.status.phase != "Succeeded"} <= {"", "n3"}


@pytest.mark.long
def test_the_history_as_tables():
    history = simulation().run(until=30)
    queues, all_, jobs, events = map(history.frame, ("queues", "cluster", "jobs", "events"))
    assert set(queues["queue"]) == {"root", "default", "prod", "batch"
                                    } and len(queues) == 4 * len(all_)
    assert all_["fairness"].dropna().between(0, 1).all() and all_["part_cpu"].max() <= 1
    assert (jobs["started"].dropna() >= jobs["arrived"].loc[jobs["started"].dropna().index]).all()
    assert "job arrived" in set(events["what"])


@pytest.mark.long
def test_jobs_from_a_trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("time,name,queue,pods,cpu,run_time\n3,b,prod,2,1,5\n1.5,a,batch,1,500m,4\n")
    history = Simulation(cluster(1), workload=[trace(path)]).run(until=20)
    expected = [["default/a", "batch", 1, 1, 4.0, 1.5], ["default/b", "prod", 2, 2, 5.0, 3.0]]
    assert [row[:6] for row in history.rows["jobs"]] == expected
    assert all(row[8] is not None for row in history.rows["jobs"])


@pytest.mark.long
def test_a_row_of_a_trace_need_not_fill_its_columns(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("time,name,queue,pods,cpu,gpu,run_time\n1,a,batch,,2,,4\n2,b,batch\n")
    history = Simulation(cluster(1), workload=[trace(path)]).run(until=20)
    assert [row[:6] for row in history.rows["jobs"]] == [
        ["default/a", "batch", 1, 1, 4.0, 1.0], ["default/b", "batch", 1, 1, 60.0, 2.0]]


def test_a_trace_of_json_lines_may_have_empty_ones(tmp_path):
    path = tmp_path / "jobs.jsonl"
    path.write_text('\n{"time": 3, "name": "b", "cpu": 1}\n \n{"time": 1.5, "name": "a"}\n\n')
    history = Simulation(cluster(1), workload=[trace(path)]).run(until=5)
    assert [(row[0], row[5]) for row in history.rows["jobs"]] == [("default/a", 1.5),
                                                                  ("default/b", 3.0)]


URGENT = ("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\n"
          "value: 100\n")
PREEMPT = """\
actions: "allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


@pytest.mark.long
@pytest.mark.parametrize(("priority_class", "evicted"), [("urgent", True), (None, False)])
def test_a_job_of_a_higher_class_preempts(priority_class, evicted):
    full = Cluster().node("n1", cpu=2).add(URGENT)
    jobs = trace(
        [{"time": 0, "name": "old", "pods": 2, "min_member": 1, "cpu": 1, "run_time": 1000},
         {"time": 10, "name": "new", "cpu": 1, "run_time": 10, "priority_class": priority_class}])
    history = Simulation(full, PREEMPT, workload=[jobs], seed=1).run(until=60)
    finished = [
        row for row in history.rows["jobs"] if row[0].endswith("new") and row[8] is not None
    ]
    assert bool(finished) == evicted


def test_a_class_that_is_not_there_is_reported_in_a_sentence():
    with pytest.raises(ManifestError, match=r'spec\.priorityClassName is "urgent"; allowed'):
        Simulation(cluster(), workload=[every(5, JobTemplate(priority_class="urgent"), count=1)])


@pytest.mark.long
def test_a_planned_fault_is_not_called_chance():
    sim = simulation(faults=Faults(plan=[[0.0, "bind_refused"]]))
    notes = [row for row in sim.run(until=30).rows["events"] if "bind refused" in row]
    assert len(notes) == 1 and "by plan" in notes[0]


@pytest.mark.parametrize(("row", "sentence"), [
    ({"time": 1, "cpus": 2
      }, "trace, row 1: JobTemplate: got an unexpected keyword argument 'cpus' (cpu?); allowed"),
    ({"time": "soon"}, "trace, row 1: time is 'soon'; allowed is a number"),
    ({"name": "a"}, "trace, row 1: time is None; allowed is a number of seconds from 0"),
    ({"time": -1}, "trace, row 1: time is -1; allowed is a number of seconds from 0"),
])
def test_a_trace_that_does_not_fit_is_reported_in_a_sentence(row, sentence):
    with pytest.raises(WorkloadError) as error:
        trace([row])
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: JobTemplate(run_time=-1),
     "a length of time is -1.0; allowed is a number of seconds from 0"),
    (lambda: JobTemplate(run_time=("uniform", 5, 2)),
     r"is \('uniform', 5, 2\); allowed is a number of seconds from 0, 90s, 10m"),
    (lambda: JobTemplate(run_time=("exponential", 0)),
     r"is \('exponential', 0, 0.0\); allowed is a number of seconds from 0"),
    (lambda: JobTemplate(run_time=("normal", 5)),
     r"is \('normal', 5, 0.0\); allowed is a number of seconds from 0, 90s, 10m"),
    (lambda: JobTemplate(run_time="5x"),
     "a length of time is '5x'; allowed is a number of seconds from 0, 90s, 10m, 2h, "
     "exponential:10m or uniform:1m..5m"),
    (lambda: Latencies(bind=float("inf")), "is inf; allowed is a number of seconds from 0"),
    (lambda: every(0, JobTemplate()), "no time between two of them; allowed are seconds above 0"),
    (lambda: poisson(0, JobTemplate()),
     "the rate of a stream of jobs is 0; allowed is a number of jobs per second above 0"),
    (lambda: trace([{"time": float("nan")}]),
     "row 1: time is nan; allowed is a number of seconds from 0"),
    (lambda: trace([5]), "trace, row 1: is 5; allowed are fields with a time"),
    (lambda: trace([{"time": 1, "run_time": -1}]),
     "trace, row 1: a length of time is -1.0"),
    (lambda: Simulation(period=0), "period is 0; allowed is a number of seconds above 0"),
    (lambda: Simulation(period=float("inf")), "period is inf; allowed is a number of seconds"),
    (lambda: Simulation(period="1"), "period is '1'; allowed is a number of seconds above 0"),
    (lambda: Simulation().run(until=float("inf")), "until is inf; allowed is a number of seconds"),
    (lambda: Simulation(node_failures=(0, 5)),
     "node_failures has no time between two failures; allowed are seconds above 0"),
])
def test_what_cannot_be_simulated_is_reported_in_a_sentence(make, sentence):
    with pytest.raises(WorkloadError, match=sentence):
        make()


def test_a_trace_has_one_job_of_a_name():
    with pytest.raises(WorkloadError,
                       match='row 3: name is "a", as in row 1; allowed is one job of a name'):
        trace([{"time": 1, "name": "a"}, {"time": 1}, {"time": 2, "name": "a"}])


@pytest.mark.long
def test_streams_with_the_same_jobs_do_not_get_in_each_other_s_way():
    sim = Simulation(cluster(1), workload=[every(1, JobTemplate("a", run_time=1), count=3)] * 2)
    sim.run(until=10)
    assert len(sim.side.jobs) == 6 and all(job.finished for job in sim.side.jobs.values())


@pytest.mark.long
def test_a_lost_node_s_pods_run_elsewhere():
    jobs = every(1, JobTemplate("a", pods=2, cpu=8, run_time=30), count=1)
    sim = Audited(cluster(2), workload=[jobs], latencies=Latencies(collect=5.0))
    sim.run(until=10)
    node = sim.server.list("Pod")[0].spec.node_name
    sim.side.node_fails(node, back_after=12.0)
    sim.run(until=100)
    (job,) = sim.side.jobs.values()
    assert job.finished is not None and job.lost == 1
    assert [row[1]
            for row in sim.history.rows["events"]
            if row[2] == node] == ["node lost", "node back"]


@pytest.mark.long
def test_a_node_that_is_back_in_time_keeps_its_pods():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate("a", cpu=8, run_time=20), count=1)])
    sim.run(until=10)
    sim.side.node_fails("n0", back_after=5.0)
    sim.run(until=12)
    left_out = sim.cache.snapshot().left_out
    assert [*map(str, left_out)] == ["node n0: it was deleted, but 1 of its pods was not"]
    sim.run(until=16)
    assert sim.cache.nodes["n0"].used.milli_cpu == 8000
    sim.run(until=60)
    assert next(iter(sim.side.jobs.values())).lost == 0


@pytest.mark.long
def test_a_pod_whose_node_fails_before_it_has_started_starts_when_the_node_is_back():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate("a", run_time=20), count=1)],
                  latencies=Latencies(start=4.0))
    sim.run(until=4)
    sim.side.node_fails("n0", back_after=5.0)  # at 9; the pod would have started before
    sim.run(until=60)
    (job,) = sim.side.jobs.values()
    assert (job.lost, job.started, job.finished) == (0, 13.0, 33.0)


@pytest.mark.long
def test_a_pod_that_is_created_again_runs_for_its_whole_time():
    sim = Audited(cluster(1), workload=[every(1, TEN_SECONDS, count=1)],
                  latencies=Latencies(end=1.0, recreate=1.0))
    sim.run(until=5)  # it has run since 2.03
    sim.server.delete("Pod", "default/a-1-0")
    sim.run(until=20)
    (job,) = sim.side.jobs.values()
    assert (job.started, job.lost, job.finished) == (2.03, 1, 18.03)


@pytest.mark.long
def test_news_of_a_pod_that_leaves_does_not_count_again():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate("a"), count=1)],
                  latencies=Latencies(end=5.0))
    sim.run(until=5)
    for _ in range(2):  # the second time it is deleted already
        sim.server.delete("Pod", "default/a-1-0")
        sim.server.update(sim.server.get("Pod", "default/a-1-0").changed(status={"start_time": 3}))
    sim.run(until=20)
    (job,) = sim.side.jobs.values()
    assert (job.evicted, job.lost) == (1, 1)


@pytest.mark.long
@pytest.mark.parametrize("start, fails, started, finished", [
    (0.0, 5, 1.03, 17.0),   # runs from 1.03; the end at 11.03 is that of its first run
    (20.0, 9, 31.0, 41.0),  # would have started at 21.03
])
def test_a_pod_on_a_node_that_is_back_starts_over(start, fails, started, finished):
    """Back before the pod's planned start or end: neither happens at that time."""
    sim = Audited(cluster(1), workload=[every(1, TEN_SECONDS, count=1)],
                  latencies=Latencies(start=start))
    sim.run(until=fails)
    sim.side.node_fails("n0", back_after=2.0)
    sim.run(until=60)
    (job,) = sim.side.jobs.values()
    assert (job.lost, job.started, job.finished) == (0, started, finished)


@pytest.mark.long
def test_a_node_that_is_lost_twice_keeps_its_pods_for_the_whole_time_again():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate("a", run_time=50), count=1)],
                  latencies=Latencies(collect=20.0))
    sim.run(until=5)
    sim.side.node_fails("n0", back_after=10.0)
    sim.run(until=20)
    sim.side.node_fails("n0", back_after=10.0)  # at 25 the pods of the first loss would be deleted
    sim.run(until=100)
    (job,) = sim.side.jobs.values()
    assert (job.lost, job.finished) == (0, 80.0)


@pytest.mark.long
def test_a_pod_that_has_succeeded_stays_though_its_node_is_lost():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate("a", pods=2), count=1)],
                  latencies=Latencies(collect=1.0), check=False)
    sim.run(until=5)
    done = sim.server.get("Pod", "default/a-1-0")
    sim.server.update(done.changed(status={"phase": "Succeeded"}))
    sim.side.node_fails("n0")
    sim.run(until=10)
    uids = {pod.key: pod.metadata.uid for pod in sim.server.list("Pod")}
    assert uids[done.key] == done.metadata.uid


@pytest.mark.long
def test_a_pod_on_a_node_that_is_back_finishes_and_the_end_of_an_earlier_one_does_not_end_it():
    sim = Audited(cluster(1), workload=[every(1, TEN_SECONDS, count=1)],
                  latencies=Latencies(collect=60.0))
    sim.run(until=5)
    sim.side.node_fails("n0", back_after=20.0)  # after the pod would have finished
    sim.run(until=30)
    pod = sim.server.get("Pod", "default/a-1-0")
    sim.side.pod_ends(pod.key, "another uid")
    sim.run(until=60)
    (job,) = sim.side.jobs.values()
    assert (job.lost, job.finished) == (0, 35.0)


@pytest.mark.long
def test_a_pod_that_waits_may_be_lost_and_one_of_a_finished_job_does_not_come_again():
    sim = Audited(cluster(1), workload=[every(1, JobTemplate(
        "a", run_time=9, cpu=9, at_once=True), count=1)])
    sim.run(until=5)
    lost = sim.server.get("Pod", "default/a-1-0")
    sim.server.delete("Pod", lost.key)
    sim.run(until=20)
    (job,) = sim.side.jobs.values()
    assert job.lost == 1 and sim.server.find("Pod", lost.key) is not None
    job.finished = 20.0
    sim.side.job_removed("default/a-1")
    sim.side.pod_recreated("default/a-1", lost)
    assert sim.server.find("Pod", lost.key) is None


def test_a_run_ends_at_a_time_that_is_finer_than_the_calendar():
    sim = Simulation(cluster(1))
    sim.run(until=0.1 + 0.2)  # a hair above 0.3
    assert sim.calendar.now == 0.3


@pytest.mark.slow
def test_a_thousand_cycles_of_ten_nodes():
    sim = Simulation(cluster(10), workload=[poisson(0.2, *TEMPLATES)], seed=1)
    sim.run(until=1000)
    assert sim.cycles == 1000 and len(sim.side.jobs) > 150


@pytest.mark.parametrize("slow", ["bind", "start"])
def test_pods_under_way_to_a_node_are_counted_apart(slow):
    cluster = Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).job("b", cpu=9)
    sim = Simulation(cluster, latencies=Latencies(**{slow: 30.0}))
    last = sim.run(until=2.5).frame("cluster").iloc[-1]
    assert (last["pods_pending"], last["pods_binding"], last["pods_running"]) == (1, 2, 0)


@pytest.mark.parametrize("given", [("uniform", 0, 5), ("uniform", 3, 3), ("constant", 0), 0])
def test_lengths_of_time_may_begin_at_nothing(given):
    length = spread(given)
    assert length.a <= length.draw(Random(1)) <= max(length.a, length.b)
