"""What lesson 14, "Time", says is so."""

from course.proofs import after
from volcano_lab import Cluster
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.lesson_14 import scene
from volcano_lab.course.lesson_14.scene import CPUS, HOUR, NODES, admitted
from volcano_lab.simulation import JobTemplate, poisson


def _rows(sim, table):
    """The rows of a table of a day."""
    return sim.history.frame(table).to_dict("records")


def most_idle(sim, hour=6):
    """The most CPUs that were idle at one moment after an hour of the day."""
    return max(NODES * CPUS - row["used_cpu"] for row in _rows(sim, "cluster")
               if row["time"] > hour * HOUR)


def started(sim, job="large"):
    """The hour of the day at which a job started; None where it did not."""
    run = next(run for run in sim.side.jobs.values() if run.name == job)
    return None if run.started is None else round(run.started / HOUR, 1)


def wait_of_each_gang(sim):
    """Minutes from arrival to start, by gang of research; None where it did not start."""
    return [None if run.started is None else round((run.started - run.arrived) / 60)
            for run in sim.side.jobs.values() if run.queue == "research"]


def by_queue(rows, field):
    return {row["queue"]: row[field] for row in rows}


def two_minutes(conf, weight=1, factor=1.2):
    """Monday with a cycle every two minutes."""
    return scene.simulated(scene.queues(weight), [scene.web(), scene.research()], conf(factor),
                           period=120)


@after("time-03")
def a_gang_that_is_not_admitted_counts_in_its_queues_request():
    jobs = [scene.research(), scene.large(14)]
    sim = scene.simulated(scene.queues(), jobs, scene.conf(), until=7)
    row = [row for row in _rows(sim, "queues") if row["queue"] == "research"][-1]
    assert row["request_cpu"] == 24 + 56 and (row["running"], row["pending"]) == (1, 1)


@after("time-03")
def what_the_configuration_has(conf, monday):
    ssn = Cluster().run(conf()).session
    assert [*ssn.conf.actions] == ["enqueue", "allocate", "backfill"]
    assert sorted(ssn.plugins) == sorted(["priority", "gang", "overcommit", "drf", "predicates",
                                          "proportion", "nodeorder"])
    assert "overcommit-factor: 1.2" in conf()


@after("time-04")
def how_long_they_wait(monday, waits):
    assert by_queue(waits(monday), "mean wait, minutes") == {"web": 40, "research": 55}
    assert by_queue(waits(monday), "started") == {"web": 195, "research": 12}


@after("time-04")
def a_gang_starts_a_cycle_after_the_one_before_it_ends(day, monday):
    assert wait_of_each_gang(monday) == list(range(0, 120, 10))
    assert sum(wait_of_each_gang(day(per_hour=1))) == 10  # without web there would be no line


@after("time-06")
def research_gets_less_than_it_deserves(held, monday):
    web, research = held(monday)
    assert web["CPU-hours held"] == web["CPU-hours deserved"]
    assert research["CPU-hours held"] < research["CPU-hours deserved"]
    assert web["CPU-hours held"] > research["CPU-hours held"]


@after("time-06")
def eight_cpus_stay_idle_while_a_second_gang_waits(monday):
    rows = [row for row in _rows(monday, "queues") if row["queue"] == "research"]
    less = {row["time"] for row in rows if row["deserved_cpu"] > row["allocated_cpu"]}
    assert {row["allocated_cpu"] for row in rows} == {24}
    assert sum(row["deserved_cpu"] == 32 for row in rows) > 0.9 * len(less)
    used = [row["used_cpu"] for row in _rows(monday, "cluster") if row["time"] in less]
    assert sum(cpus == 56 for cpus in used) > 0.7 * len(used)


@after("time-09")
def a_heavier_queue(heavy, mean_wait):
    assert (mean_wait(heavy, "research"), mean_wait(heavy, "web")) == (50, 76)
    found = [row for row in _rows(heavy, "queues") if row["time"] == 37_200]
    assert {row["queue"]: (row["deserved_cpu"], row["pending"], row["inqueue"]) for row in found
            if row["queue"] in ("web", "research")} == {"research": (48, 1, 0), "web": (16, 0, 8)}
    assert wait_of_each_gang(heavy)[4] == 30 and wait_of_each_gang(heavy)[5] == 40


@after("time-09")
def a_heavier_queue_with_shorter_cycles(conf, mean_wait):
    found = [[mean_wait(two_minutes(conf, weight), queue) for queue in ("research", "web")]
             for weight in (1, 3)]
    assert found == [[11, 14], [10, 14]]


@after("time-11")
def one_more_job_an_hour(day, mean_wait):
    found = {count: mean_wait(day(per_hour=count), "web") for count in (4, 6, 7, 8, 10)}
    assert (found[6], found[8]) == (12, 40) and found[10] > 120 and found[7] < 30


@after("time-15")
def noon_costs_more_than_half(mean_wait, noon):
    assert mean_wait(noon, "research") == 93
    assert wait_of_each_gang(noon)[6:] == [150, 160, 170, 180, 190, None]
    assert [what for _, what, *_ in noon.history.rows["events"] if what.startswith("node")] == [
        "node lost", "node back"]


@after("time-18")
def a_gang_starves(starving):
    assert started(starving) is None and most_idle(starving) == 8
    late = [row for row in _rows(starving, "queues") if row["time"] > 6 * HOUR]
    assert {(row["queue"], row["allocated_cpu"]) for row in late
            if row["queue"] in ("web", "research")} == {
        ("web", 32), ("research", 24)}
    assert "more than 8 CPUs" in entries("14")["large_gang"]["answers"]["not today"]


@after("time-19")
def each_was_tried(conf, day, mean_wait, starving):
    assert started(day(gang=7)) == 8.7 and mean_wait(starving, "web") == 76
    heavy, late = day(gang=14, weight=8), day(gang=14, text=conf(sla=4))
    assert started(heavy) is None and mean_wait(heavy, "web") == 369
    assert not any(run.admitted for run in heavy.side.jobs.values() if run.name == "large")
    assert started(late) is None and (mean_wait(late, "web"), most_idle(late)) == (146, 48)
    assert started(day(gang=14, priority=1000)) is None
    half = day(gang=14, per_hour=4)
    assert started(half) is None and most_idle(half) == 36


@after("time-21")
def the_timeline_names_the_gang(timeline):
    answer = timeline.why("large")
    assert "large" in answer.head and answer.rows[0]["what"].partition(" (")[0] in answer.text


@after("time-24")
def what_the_factor_does(admitted_and_waiting, exact, monday, waits, wide):
    assert [waits(run)[1]["started"] for run in (exact, monday, wide)] == [6, 12, 12]
    assert [admitted_and_waiting(run) for run in (exact, monday, wide)] == [3.2, 2.0, 3.7]


@after("time-24")
def all_jobs_are_counted(admitted_and_waiting, exact, monday, wide):
    for run in (exact, monday, wide):
        moments = range(30, 24 * HOUR, 600)
        counts = [sum(each.admitted is not None and each.admitted <= time
                      and (each.started is None or each.started > time)
                      for each in run.side.jobs.values()) for time in moments]
        assert abs(sum(counts) / len(counts) - admitted_and_waiting(run)) < 0.1


@after("time-24")
def web_holds_its_half_while_its_admitted_jobs_wait(exact):
    rows = {row["time"]: row for row in _rows(exact, "queues") if row["queue"] == "web"}
    cycles = [rows[time] for run in exact.side.jobs.values() if run.queue == "web"
              and run.admitted is not None for time in rows
              if run.admitted <= time and (run.started is None or run.started > time + 30)]
    half = [row for row in cycles if row["allocated_cpu"] >= row["deserved_cpu"] == 32]
    assert len(half) > 0.9 * len(cycles)


@after("time-24")
def all_gangs_start_with_shorter_cycles(conf, waits):
    assert waits(two_minutes(conf, factor=1.0))[1]["started"] == 12


@after("time-25")
def what_is_admitted_while_all_cpus_are_in_use(monday):
    assert admitted(1.375) and not admitted(1.374) and admitted(1.4) and not admitted(1.3)
    early = [run.name for run in monday.side.jobs.values() if run.queue == "research"
             and run.started - run.admitted >= 600]
    assert early == ["train-14"]  # the others are admitted once the one before it has ended


@after("time-27")
def what_to_see_in_the_lab():
    from volcano_lab.course.lesson_14.lab import day_state

    assert day_state(1, 2, False)["mean"] == {"web": 48, "research": 53}
    assert day_state(1, 3, False)["mean"]["web"] == 184
    *_, idle = day_state(1, 3, False)["lanes"]
    assert {cpus for hour, cpus in idle["points"] if hour > 14} == {12}
    kept_out = day_state(1, 3, False)["sums"]
    assert kept_out["gate"] and not day_state(1, 2, False)["sums"]["gate"]
    assert (kept_out["reserved"], kept_out["limit"], kept_out["used"]) == ("24", "16.8", "12")
    assert day_state(4, 2, False)["mean"] == {"web": 53, "research": 42}
    assert day_state(4, 3, False)["mean"]["web"] == 263
    web = poisson(3 / HOUR, JobTemplate("web", "web", cpu=2, run_time=2 * HOUR))
    often = scene.simulated(scene.queues(1, 3, 8), [web, scene.research(4, 2)], scene.conf(),
                            period=300)
    assert scene.waits(often)[1]["started"] == 12
    assert [day_state(1, jobs, False)["sums"]["percent"] for jobs in (2, 3)] == [76, 90]
    assert day_state(1, 2, False)["table"][0]["jobs that came"] == 62


@after("11-binding-faults-and-healing-77")
def what_the_queues_hold_on_the_good_day(good):
    rows = good.frame("queues").set_index(["time", "queue"])
    found = {(time, queue): (row["deserved_cpu"], row["allocated_cpu"]) for time in (33_900, 60_000)
             for queue in ("lab", "prod") for row in (rows.loc[time, queue],)}
    assert found == {(33_900, "lab"): (8, 23), (33_900, "prod"): (16, 0),
                     (60_000, "lab"): (6, 6), (60_000, "prod"): (18, 16)}


@after("11-binding-faults-and-healing-78")
def what_the_bad_day_costs(bad, good, scene):
    good, bad = scene.day_summary(good), scene.day_summary(bad)
    lost = 1 - bad["CPU-hours of all nodes"] / good["CPU-hours of all nodes"]
    assert (round(100 * lost), good["pods lost"], bad["pods lost"]) == (12, 0, 42)
    assert (good["jobs finished"], bad["jobs finished"]) == (55, 33)
    assert round(33 / 55, 1) == 0.6
    waits = "prod waits, minutes (median)"
    assert (good[waits], bad[waits]) == (163, 257) and good[waits] > good[
        "lab waits, minutes (median)"]


@after("time-25s")
def full_nodes_leave_empty_ones(beside):
    waits = {(row["scores"], row["queue"]): row["mean wait, minutes"] for row in beside}
    assert waits["binpack", "research"] <= waits["nodeorder", "research"] / 2
    assert waits["binpack", "web"] <= waits["nodeorder", "web"]


@after("time-25s")
def where_all_pods_are_of_one_size_both_wait_alike(conf, jobs):
    alike = jobs.copy().job("train", cpu=4)
    waits = [[round(row["waiting_mean"] / 60) for row in alike.simulate(
        conf=conf().replace("nodeorder", name), arrivals=1 / 900, seed=1, period=300, until=86400,
        durations=("exponential", 3600)).measures("queues")] for name in ("nodeorder", "binpack")]
    assert waits[0] == waits[1]
