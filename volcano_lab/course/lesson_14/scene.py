"""Lesson 14: a cluster for a day: two queues, a node that is lost at noon, a gang that waits."""

from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from statistics import mean
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of, conf_text
from volcano_lab.course.lesson_11.scene import day_lanes
from volcano_lab.framework.observer import Observer
from volcano_lab.messages import gettext
from volcano_lab.simulation import Arrivals, JobTemplate, Latencies, Simulation, poisson, trace
from volcano_lab.simulation.measures import average, timed
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.plain import grouped
from volcano_lab.widgets import facts, pictures

HOUR, DAY = 3600, 24
NODES, CPUS = 4, 16
QUEUES = ("web", "research")
WEB = colors_of(QUEUES)["web"]
PLAYED = "Orange: web. Blue: research. Hatched: placed now. Empty: idle."


def conf(factor: float = 1.2, sla: int = 0) -> str:
    """The configuration, with an overcommit factor and the sla plugin, with its hours in `sla`."""
    return conf_text("enqueue, allocate, backfill", "priority, gang" + ", sla" * bool(sla),
                     "overcommit, drf, predicates, proportion, nodeorder",
                     arguments={"overcommit": {"overcommit-factor": factor},
                                "sla": {"sla-waiting-time": f"{sla}h"}})


def web(per_hour: int = 8) -> Arrivals:
    """Small jobs by chance: two pods of 2 CPUs for half an hour to an hour and a half."""
    return poisson(per_hour / HOUR, JobTemplate("web", "web", pods=2, cpu=2,
                                                run_time=("uniform", HOUR / 2, 1.5 * HOUR)))


def research(pods: int = 6, cpu: int = 4) -> Arrivals:
    """A gang every two hours, each for ten minutes more than that."""
    gang = {"queue": "research", "pods": pods, "cpu": cpu, "run_time": 130 * 60}
    return trace([{"time": hour * HOUR, "name": f"train-{hour}", **gang}
                  for hour in range(0, DAY, 2)])


def large(minimum: int, priority: int = 0) -> Arrivals:
    """One gang of 14 pods of 4 CPUs at six: seven eighths of the cluster, at once."""
    return trace([{"time": 6 * HOUR, "name": "large", "queue": "research", "pods": 14, "cpu": 4,
                   "min_member": minimum, "priority": priority, "run_time": HOUR}])


@cache
def day(weight: int = 1, per_hour: int = 8, noon: bool = False, gang: int = 0, priority: int = 0,
        text: str = "", until: float = DAY, observer: Observer | None = None,
        period: int = 10) -> Simulation:
    """A day on four nodes of 16 CPUs; the same jobs come at the same times whatever else is chosen.

    Args:
        weight: The weight of research; that of web is 1.
        per_hour: How many small jobs come an hour, on average.
        noon: Whether node n0 is lost at 12:00, for two hours.
        gang: The minimum of the large gang that comes at 6:00; without it, none comes.
        priority: The priority of that gang.
        text: The configuration.
        until: The hour at which it ends.
        observer: What watches the cycles.
        period: The seconds between two cycles.

    >>> day(until=1, period=600).cycles
    6
    """
    streams = [web(per_hour), research(), *([large(gang, priority)] if gang else [])]
    return simulated(queues(weight), streams, text or conf(), 2 * noon, until, observer, period)


def simulated(cluster: Cluster, jobs: list[Arrivals], text: str, away: int = 0, until: float = DAY,
              observer: Observer | None = None, period: int = 10) -> Simulation:
    """Run a cluster with some jobs; n0 is lost at 12:00 for `away` hours, 0 for never. A cycle
    before which nothing has changed is left out.
    """
    sim = Simulation(cluster, text, seed=3, period=period, workload=jobs, skip_idle=True,
                     latencies=Latencies(collect=600), observer=observer)
    if away:
        sim.calendar.after(12 * HOUR, sim.side.node_fails, node="n0", back_after=away * HOUR)
    sim.run(until=until * HOUR)
    return sim


def queues(weight: int = 1, nodes: int = NODES, cpus: int = CPUS) -> Cluster:
    """Some empty nodes, and the two queues; `weight` is that of research."""
    cluster = Cluster().queue("web").queue("research", weight=weight)
    for number in range(nodes):
        cluster.node(f"n{number}", cpu=cpus)
    return cluster


def admitted(factor: float) -> bool:
    """Whether a gang that requests 24 CPUs is admitted while all 64 are in use.

    >>> admitted(1.2)
    False
    """
    jobs = cluster_of("14", "full").run(conf(factor)).session.jobs
    return jobs["default/gang"].pod_group.status.phase == "Inqueue"


def waits(sim: Simulation) -> list[dict[str, Any]]:
    """By queue, and of the large gang: how many jobs came and started, and how long they waited, in
    minutes; who still waits has waited until now.
    """
    rows = []
    by_queue = grouped(("large" if run.name == "large" else run.queue, run)
                       for run in sim.side.jobs.values())
    for queue in sorted(by_queue, reverse=True):
        runs = by_queue[queue]
        waited = [((run.started or sim.calendar.now) - run.arrived) / 60 for run in runs]
        rows.append({"queue": queue, "jobs that came": len(runs),
                     "started": sum(run.started is not None for run in runs),
                     "mean wait, minutes": round(mean(waited)),
                     "longest, minutes": round(max(waited))})
    return rows


def mean_wait(sim: Simulation, queue: str) -> int:
    """The mean wait of the jobs of a queue, in minutes."""
    return next(row["mean wait, minutes"] for row in waits(sim) if row["queue"] == queue)


def picture(sim: Simulation, title: str) -> pictures.Picture:
    """Draw what each queue held over the day, in hours; dashed what it deserved."""
    return pictures.timeline(title, day_lanes(sim.history, QUEUES), until=DAY, unit="h", lanes=2,
                             most=dict.fromkeys(QUEUES, NODES * CPUS), legend="Dashed: deserved.")


def played(sim: Simulation, title: str, hours: Iterable[int]) -> pictures.Picture:
    """Run a day on, and play what is on its nodes at each of these hours.

    >>> morning = simulated(queues(), [web()], conf(), until=0)
    >>> played(morning, "Monday", range(1, 3)).spec["moments"]
    ['1:00', '2:00']
    """
    colors, moments = colors_of(QUEUES), {}
    for hour in hours:
        sim.run(until=hour * HOUR)
        assert sim.ssn is not None
        owners = {job.name: colors[job.queue] for job in sim.ssn.jobs.values()}
        nodes = [{"name": node.name, "size": CPUS,
                  "pods": facts.pods(node.tasks.values(), owners)} for node in sim.ssn.node_list]
        moments[f"{hour}:00"] = pictures.cluster(title, {"nodes": nodes}, unit="CPUs", cell=4,
                                                 legend=PLAYED)
    return pictures.film(moments)


def line_up(sim: Simulation, title: str) -> pictures.Picture:
    """Draw how many jobs of each queue wait, over the day."""
    return pictures.timeline(title, {"lanes": waiting(sim)}, until=DAY, unit="h", lanes=2,
                             most={"web": 18, "research": 3})


def waiting(sim: Simulation) -> list[dict[str, Any]]:
    """The lanes of `pictures.timeline` for the jobs that wait, by queue."""
    lanes = day_lanes(sim.history, QUEUES)["lanes"]
    for lane in lanes:
        runs = [run for run in sim.side.jobs.values() if run.queue == lane["name"]]
        changes = sorted([(run.arrived, 1) for run in runs] + [
            (run.started, -1) for run in runs if run.started is not None])
        counts = accumulate(step for _, step in changes)
        lane |= {"label": gettext("{queue}: jobs that wait", queue=lane["name"]), "line": [],
                 "points": [[0.0, 0], *([round(time / HOUR, 3), count]
                                        for (time, _), count in zip(changes, counts, strict=True))]}
    return lanes


def held(sim: Simulation) -> list[dict[str, Any]]:
    """By queue: CPU-hours held, and deserved, over the day."""
    rows = grouped((row["queue"], (length, row)) for length, row in timed(sim.history, "queues"))
    return [{"queue": queue, **{f"CPU-hours {word}": round(DAY * (average(
        rows[queue], column, 0.0) or 0.0)) for word, column in (
            ("held", "allocated_cpu"), ("deserved", "deserved_cpu"))}} for queue in QUEUES]


def by_factor(days: dict[str, Simulation]) -> list[dict[str, Any]]:
    """By factor of overcommit: how long gangs wait, until admission and on the whole, in minutes,
    and the price: how many pods are Pending, on average.
    """
    rows = []
    for factor, sim in days.items():
        pending = average(timed(sim.history, "cluster"), "pods_pending") or 0.0
        admission = [(sim.calendar.now if run.admitted is None else run.admitted) - run.arrived
                     for run in sim.side.jobs.values() if run.queue == "research"]
        rows.append({"factor": factor, "mean wait of research, minutes": mean_wait(sim, "research"),
                     "of these until admission": round(mean(admission) / 60),
                     "mean wait of web, minutes": mean_wait(sim, "web"),
                     "pods Pending, on average": round(pending, 1)})
    return rows
