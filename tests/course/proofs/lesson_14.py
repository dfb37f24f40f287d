"""What lesson 14, "Time", says is so."""

from collections import Counter

from course.proofs import after
from volcano_lab import Cluster
from volcano_lab.course.lesson_14 import scene
from volcano_lab.course.lesson_14.scene import CPUS, HOUR, NODES, admitted
from volcano_lab.simulation.measures import timed


def _rows(sim, table):
    """The rows of a table of a day."""
    return sim.history.frame(table).to_dict("records")


def most_idle(sim, hour=6):
    """The most CPUs that were idle at one moment after an hour of the day."""
    return max(NODES * CPUS - row["used_cpu"] for row in _rows(sim, "cluster")
               if row["time"] > hour * HOUR)


def started(sim, job="large"):
    """The time of day at which a job started; None where it did not."""
    run = next(run for run in sim.side.jobs.values() if run.name == job)
    hour, seconds = divmod(run.started or 0, HOUR)
    return None if run.started is None else f"{hour:.0f}:{seconds // 60:02.0f}"


def wait_of_each_gang(sim):
    """Minutes from arrival to start, by gang of research; None where it did not start."""
    return [None if run.started is None else round((run.started - run.arrived) / 60)
            for run in sim.side.jobs.values() if run.queue == "research"]


def by_queue(rows, field):
    return {row["queue"]: row[field] for row in rows}


def means(run):
    """The mean waits of web and research, in minutes."""
    return [scene.mean_wait(run, queue) for queue in scene.QUEUES]


def idle_below_deserved(run):
    """How many hours research held less than it deserved, and the CPUs that were idle then, by
    hours.
    """
    used = {row["time"]: row["used_cpu"] for row in _rows(run, "cluster")}
    hours = Counter()
    for seconds, row in timed(run.history, "queues"):
        if row["queue"] == "research" and row["deserved_cpu"] > row["allocated_cpu"]:
            hours[NODES * CPUS - used[row["time"]]] += seconds / HOUR
    return hours


@after("time-03")
def pods_of_a_gang_are_created_once_it_is_admitted():
    jobs = [scene.research(), scene.large(14)]
    sim = scene.simulated(scene.queues(), jobs, scene.conf(), until=7)
    (waits,) = (run for run in sim.side.jobs.values() if run.name == "large")
    assert waits.admitted is None and not waits.members
    row = [row for row in _rows(sim, "queues") if row["queue"] == "research"][-1]
    assert row["request_cpu"] < 56 and row["pending"] >= 1


@after("time-03")
def what_the_configuration_has(conf, monday):
    ssn = Cluster().run(conf()).session
    assert [*ssn.conf.actions] == ["enqueue", "allocate", "backfill"]
    assert sorted(ssn.plugins) == sorted(["priority", "gang", "overcommit", "drf", "predicates",
                                          "proportion", "nodeorder"])
    assert "overcommit-factor: 1.2" in conf()


@after("time-03")
def longer_cycles_give_longer_waits(day, monday):
    assert means(day(period=600)) == [53, 123] and monday.period == 10
    assert means(day(period=1))[1] == 68


@after("time-04")
def how_long_they_wait(monday, waits):
    assert means(monday) == [16, 67]
    assert by_queue(waits(monday), "started") == {"web": 201, "research": 12}
    assert (wait_of_each_gang(monday)[0], wait_of_each_gang(monday)[-1]) == (0, 115)


@after("time-06")
def research_gets_less_than_it_deserves(held, monday):
    web, research = held(monday)
    assert web["CPU-hours held"] == web["CPU-hours deserved"]
    assert (research["CPU-hours held"], research["CPU-hours deserved"]) == (575, 692)
    assert web["CPU-hours held"] > research["CPU-hours held"]


@after("time-06")
def cpus_stay_idle_while_a_second_gang_waits(monday):
    idle = idle_below_deserved(monday)
    assert 8.5 < sum(idle.values()) < 9 and sum(
        hours for cpus, hours in idle.items() if cpus >= 12) == sum(idle.values())
    due = [row for row in _rows(monday, "queues") if row["queue"] == "research"
           and row["deserved_cpu"] > row["allocated_cpu"] > 0]
    assert {row["allocated_cpu"] for row in due} == {24}
    assert min(row["deserved_cpu"] for row in due) == 36


@after("time-09")
def a_heavier_queue(heavy):
    assert means(heavy) == [14, 36] and 2 < sum(idle_below_deserved(heavy).values()) < 2.5
    rows = {(row["time"], row["queue"]): row for row in _rows(heavy, "queues")}
    due = [time for (time, queue), row in rows.items() if queue == "research"
           and row["deserved_cpu"] > row["allocated_cpu"] > 0]
    assert {rows[time, "research"]["deserved_cpu"] for time in due} == {48}
    assert all(rows[time, "web"]["allocated_cpu"] >= rows[time, "web"]["deserved_cpu"]
               for time in due)


@after("time-11")
def one_more_job_an_hour(day, mean_wait):
    found = {count: mean_wait(day(per_hour=count), "web") for count in (4, 6, 8, 9, 10)}
    assert (found[6], found[8], found[10]) == (4, 16, 44) and found[9] < 30


@after("time-11")
def what_is_requested_on_average(load):
    assert [row["requested, % of the CPUs"] for row in load] == [66, 78, 91, 103]
    (small,), (gang, *_) = scene.web().templates, scene.research().templates
    assert (small.pods, small.run_time.a + small.run_time.b) == (2, 2 * HOUR)
    assert (gang.pods, gang.run_time.a, len(scene.research().times)) == (6, 130 * 60, 12)


@after("time-11")
def where_gangs_wait_for_admission_a_weight_changes_nothing(by_factor, day):
    full = day(per_hour=10)
    assert means(full) == means(day(per_hour=10, weight=3)) == [44, 136]
    (row,) = by_factor({"1.2": full})
    assert row["of these until admission"] > 0.8 * row["mean wait of research, minutes"]


@after("time-15")
def noon_costs_more_than_a_third(monday, noon):
    assert means(noon) == [36, 95] and 95 / 67 > 4 / 3
    ends = [next(run for run in sim.side.jobs.values() if run.name == "train-10")
            for sim in (monday, noon)]
    assert [(run.lost, round(run.finished / 60)) for run in ends] == [
        (0, 13 * 60 + 8), (1, 14 * 60 + 21)]
    later = [after - before for before, after in zip(
        wait_of_each_gang(monday)[6:], wait_of_each_gang(noon)[6:-1], strict=False)]
    assert all(50 < minutes < 75 for minutes in later)
    assert [what for _, what, *_ in noon.history.rows["events"] if what.startswith("node")] == [
        "node lost", "node back"]


@after("time-18")
def a_gang_starves(with_gang):
    assert started(with_gang) is None and most_idle(with_gang) == 28


@after("time-19")
def each_was_tried(conf, day, mean_wait, with_gang):
    assert started(day(gang=7)) == "7:11" and mean_wait(with_gang, "web") == 16
    late = day(gang=14, text=conf(sla=4))
    assert started(late) == "11:30" and mean_wait(late, "web") == 79
    for given in ({"weight": 8}, {"priority": 1000}, {"per_hour": 4}):
        tried = day(gang=14, **given)
        (run,) = (run for run in tried.side.jobs.values() if run.name == "large")
        assert run.started is run.admitted is None
    assert most_idle(tried) == 36


@after("time-21")
def the_timeline_names_the_gang(timeline):
    answer = timeline.why("large")
    assert "large" in answer.head and answer.rows[-1]["what"].partition(" (")[0] in answer.text
    assert timeline.cycles == int(answer.rows[-1]["cycles"].split("-")[-1])


@after("time-24")
def what_the_factor_does(by_factor, days):
    rows = by_factor(days)
    columns = ["mean wait of research, minutes", "of these until admission",
               "mean wait of web, minutes", "pods Pending, on average"]
    assert [[row[name] for name in columns] for row in rows] == [
        [45, 43, 15, 0.1], [67, 23, 16, 3.9], [54, 0, 16, 6.4]]


@after("time-24")
def what_is_reserved_beside_a_full_cluster(days):
    for factor, run in days.items():
        most = max(row["pods_pending"] for row in _rows(run, "cluster")
                   if row["used_cpu"] == NODES * CPUS)
        assert most <= {"1.0": 0, "1.2": 6}.get(factor, 99)
    admitted_first = [run for run in days["1.2"].side.jobs.values() if run.queue == "research"
                      and run.started - run.admitted > 60]
    assert len(admitted_first) >= 8


@after("time-25")
def what_is_admitted_while_all_cpus_are_in_use():
    assert admitted(1.375) and not admitted(1.374) and admitted(1.4) and not admitted(1.3)


@after("time-27")
def what_to_see_in_the_lab():
    from volcano_lab.course.lesson_14.lab import day_state

    two, three, heavy, noon = (day_state(*given) for given in (
        (1, 2, False), (1, 3, False), (4, 2, False), (1, 2, True)))
    assert two["mean"] == {"web": 7, "research": 17}
    assert three["mean"] == {"web": 33, "research": 73}
    assert heavy["mean"]["research"] == 16 and noon["mean"] == {"web": 12, "research": 66}
    assert [state["sums"]["percent"] for state in (two, three)] == [76, 90]
    assert [state["table"][0]["jobs that came"] for state in (two, three)] == [62, 82]
    lines = [{lane["name"]: dict(lane["points"]) for lane in state["lanes"]}
             for state in (two, noon)]
    waiting = [[max((hour, count) for hour, count in line["web"].items() if hour <= at)[1]
                for line in lines] for at in (19, 21)]
    assert waiting == [[0, 1], [0, 0]]
    gangs = [[max((hour, count) for hour, count in line["research"].items() if hour <= at)[1]
              for line in lines] for at in (16, 19.75, 20.25)]
    assert gangs[0][1] == 2 and gangs[1] == [0, 1] and gangs[2] == [0, 0]


@after("11-binding-faults-and-healing-77")
def what_the_queues_hold_on_the_good_day(good, scene):
    again, hours, rows = scene.day(), Counter(), {}
    for seconds, row in timed(good, "queues"):
        rows.setdefault(row["time"], {})[row["queue"]] = row | {"seconds": seconds}
    for time, queues in rows.items():
        prod, lab = queues.get("prod", {}), queues.get("lab", {})
        if (prod.get("deserved_cpu") or 0) >= 16 and prod["allocated_cpu"] == 8:
            again.run(until=time)
            idle = sorted(node.idle.milli_cpu / 1000 for node in again.ssn.node_list)
            assert sum(cpus // 2 for cpus in idle) < 4  # pods of 2 CPUs that fit
            more = lab["allocated_cpu"] > lab["deserved_cpu"]
            hours["more" if more else tuple(idle)] += prod["seconds"] / HOUR
    assert round(sum(hours.values())) == 11 and round(hours.pop("more")) == 7
    assert hours[2, 3, 3] > sum(hours.values()) / 2
    assert sum(length for idle, length in hours.items() if sum(idle) == 8) > 3.4


@after("11-binding-faults-and-healing-78")
def what_the_bad_day_costs(bad, good, scene):
    good, bad = scene.day_summary(good), scene.day_summary(bad)
    lost = 1 - bad["CPU-hours of all nodes"] / good["CPU-hours of all nodes"]
    assert (lost, good["pods lost"], bad["pods lost"]) == (1 / 8, 0, 46)
    assert (good["jobs finished"], bad["jobs finished"]) == (74, 58)
    assert round(58 / 74, 2) == 0.78 and good["prod waits, minutes"] > good["lab waits, minutes"]


@after("time-25s")
def full_nodes_leave_empty_ones(beside):
    waits = {(row["scores"], row["queue"]): row["mean wait, minutes"] for row in beside}
    assert waits["binpack", "research"] < waits["nodeorder", "research"] / 2
    assert waits["binpack", "web"] <= waits["nodeorder", "web"]


@after("time-25s")
def where_all_pods_are_of_one_size_none_waits(conf, jobs):
    alike = jobs.copy().job("train", cpu=4)
    waits = [[round(row["waiting_mean"] / 60) for row in alike.simulate(
        conf=conf().replace("nodeorder", name), arrivals=1 / 900, seed=1, period=10, until=86400,
        duration=("exponential", 3600)).measures("queues")] for name in ("nodeorder", "binpack")]
    assert waits == [[0, 0], [0, 0]]
