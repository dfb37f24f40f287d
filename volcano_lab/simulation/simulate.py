"""The jobs of a cluster over time: when they arrive, how long they run, what fails.

Jobs with placed pods exist at the start; pending ones arrive. The result is a `History`, whose
measures include each job's waiting time. Differs on purpose: cycles without any change before them
are not run, unless a plugin reads the time; over long times a cycle runs less often than every
second.

Volcano: none
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from attrs import define, field

from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, PriorityClass
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests.described import world_of
from volcano_lab.manifests.field_defaults import FIRST_TIME
from volcano_lab.manifests.loader import Loaded
from volcano_lab.manifests.owners import JOB, owners_of
from volcano_lab.messages import Message, friendly_errors, mark, misused
from volcano_lab.simulation import cluster_side, history, workload
from volcano_lab.simulation.simulation import Simulation
from volcano_lab.simulation.workload import Spread, WorkloadError

RUN_TIME = "volcano-lab/run-time"
"""The annotation of a Job, a PodGroup or a pod with its run time in seconds."""
MOST_SECONDS = 10 * 366 * 86400.0
CYCLES = 4000
"""The least number of cycles between the first arrival and the last, if not one per second."""
IN_VAIN, CLOCK = 1000, 100
"""Cycles in which no job arrives or ends before a run without an end is stopped; times `CLOCK`
where a plugin reads the time: each of its cycles may differ.
"""
MOST_JOBS = 1_000_000
REPAIRED = 600.0
_RATE = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)/(s|m|h|d)")
Times = float | str | Spread | Sequence[Any]
Coming = str | Path | float | workload.Arrivals | Sequence[Any] | None


@define(slots=True)
class GivenJob(workload.JobTemplate):
    """A job of the manifests: its PodGroup, its pods, and those created once these run. All pods of
    a Volcano Job are created once it is admitted.

    >>> GivenJob("a", run_time=None, group=PodGroup()).build("b")[0].name
    'b'
    """

    run_time: Spread | None = field(default=None)
    group: PodGroup = field(factory=PodGroup)
    members: list[Pod] = field(factory=list)
    later: list[Pod] = field(factory=list)

    def build(self, name: str, classes: Iterable[PriorityClass] = ()) -> workload.Built:
        """Return the PodGroup and the pods, under their own names or, for a copy, others."""
        same = name == self.name
        group = self.group.changed(metadata={"uid": "", "creation_timestamp": None,
                                             "name": self.group.name if same else name})
        pods = [pod.changed(metadata={
            "uid": "", "creation_timestamp": None,
            "name": pod.name if same else f"{name}-{number}",
            "annotations": pod.metadata.annotations | {GROUP_NAME: group.name}})
            for number, pod in enumerate([*self.members, *self.later])]
        first = 0 if JOB in owners_of(group) else len(self.members)
        return group, pods[:first], pods[first:]


@friendly_errors
def simulate(objects: Iterable[KubernetesObject],
             conf: SchedulerConfiguration | str | None = None, *,
             until: float | str | None = None, arrivals: Coming = None,
             duration: Times | None = None, failures: Times | None = None,
             period: float | str | None = None, seed: int = 0, **more: Any) -> history.History:
    """Run the jobs of a cluster over time, and return the history.

    Args:
        objects: A cluster's objects. Pending jobs arrive; the others exist at the start.
        conf: The configuration, or its text.
        until: Seconds, or "10m"; None: until every job that ends has ended, or nothing changes any
            more.
        arrivals: None: each job arrives at its `creationTimestamp`, at once without one. A number,
            or "30/h": jobs like these arrive at this mean rate per second. A file (CSV, JSON
            lines, SWF) or rows of jobs, or streams of them: these arrive, too.
        duration: The run time of a job without the annotation `volcano-lab/run-time`: seconds,
            "10m", ("exponential", 600) or "exponential:10m". None: for ever.
        failures: Mean time between two failures of a node; and until it is back: "24h,10m".
        period: Time between two cycles. None: one second, or more for long times.
        seed: Of the random numbers.
        more: Further arguments of `Simulation`.

    Raises:
        WorkloadError: A workload that cannot be simulated.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).job("a", cpu=4).job("b", cpu=4)
    >>> history = simulate(cluster.objects(), duration="1m")
    >>> [(row["job"], row["waiting"]) for row in history.measures("jobs")]
    [('default/a', 1.03), ('default/b', 63.03)]
    """
    _check(more)
    complete = world_of(objects)
    end, pace, coming, length, broken = lengths(
        {"until": until, "period": period, "arrivals": arrivals, "duration": duration,
         "failures": failures}).values()
    waiting, there = _split(complete, length)
    streams = _streams(coming, waiting)
    if end is None and any(stream.endless for stream in streams):
        raise WorkloadError("simulation.endless")
    if isinstance(coming, float) and end is not None and coming * end > MOST_JOBS:
        raise WorkloadError("simulation.arrivals", count=coming * end, most=MOST_JOBS)
    last = max((stream.times[-1] for stream in streams if stream.times), default=0.0)
    often = pace or max(1.0, round((last if end is None else end) / CYCLES))
    sim = Simulation(there, conf, seed=seed, workload=streams, skip_idle=True, period=often,
                     node_failures=broken, **more)
    _run_on(sim, length, Random(f"{seed} run times"))
    sim.history.copied = [next((ref.name for ref in job.group.metadata.owner_references), job.name)
                          for _, job in waiting if isinstance(coming, float)]
    if end is not None:
        return sim.run(end)
    _run_to_rest(sim)
    sim.history.until = sim.history.rows["cluster"][-1][0]  # the last cycle that was not idle
    return sim.history


def _check(more: Mapping[str, Any]) -> None:
    """Refuse arguments that neither a simulation nor `simulate` has. Raises `Misuse`."""
    allowed = dict.fromkeys([*[*signature(simulate).parameters][1:-1],
                             *[*signature(Simulation).parameters][1:]])
    for name in more.keys() - allowed:
        raise misused("simulate", str(Message("simulation.argument", name=name)),
                      [name], [*allowed])


def _run_to_rest(sim: Simulation) -> None:
    """Run until nothing changes any more; or, where pods are evicted again and again, or nodes fail
    for ever, until no job has arrived or ended in a number of cycles.
    """
    jobs, since = (0, 0), 0
    while not sim.at_rest and sim.calendar.now < MOST_SECONDS:
        sim.run(sim.calendar.now + 100 * sim.period)
        if (found := (len(sim.side.jobs), len(sim.side.unfinished))) != jobs:
            jobs, since = found, sim.cycles
        elif sim.cycles - since > IN_VAIN * (CLOCK if sim.reads_time else 1):
            sim.history.in_vain = sim.cycles - since
            return


def lengths(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of a simulation with times and rates that are text as numbers. Raises
    `WorkloadError`.

    >>> lengths({"until": "10m", "arrivals": "30/m", "seed": 1})
    {'until': 600.0, 'arrivals': 0.5, 'seed': 1}
    """
    read = dict(given)
    for name in READERS.keys() & {name for name, value in given.items() if value is not None}:
        try:
            read[name] = READERS[name](given[name])
        except WorkloadError as error:
            raise WorkloadError(f"{name}{mark(': ')}{error}") from None
    return read


def _rate(arrivals: Coming) -> Coming:
    """Return a rate that is given as text in jobs per second."""
    if isinstance(arrivals, str) and (found := _RATE.fullmatch(arrivals)):
        return float(found[1]) / workload.UNITS[found[2]]
    return None if arrivals == "created" else arrivals


def _failures(given: Times) -> tuple[Spread, Spread]:
    both = given.split(",") if isinstance(given, str) else given
    both = list(both) if isinstance(both, list | tuple) else [both]
    if len(both) not in (1, 2):
        raise WorkloadError("simulation.failures", count=len(both))
    mean, repaired = map(workload.spread, [*both, REPAIRED][:2])
    if mean.kind == "constant" and not isinstance(both[0], Spread):
        mean = Spread("exponential", mean.a)
    return mean, repaired


READERS: dict[str, Callable[[Any], Any]] = {
    "until": workload.seconds, "period": workload.seconds, "duration": workload.spread,
    "failures": _failures, "arrivals": _rate}
"""Argument -> how its times and rates are read."""


def _split(complete: Loaded, duration: Spread | None
           ) -> tuple[list[tuple[float, GivenJob]], list[KubernetesObject]]:
    """Return the arriving jobs, each with its time, and all objects that exist at the start."""
    coming = [*_coming(complete, duration)]
    first = min((time for time, _ in coming if time is not None), default=0.0)
    jobs = [(0.0 if time is None else time - first, job) for time, job in coming]
    arriving = {id(obj) for _, job in coming for obj in (job.group, *job.members)}
    return (sorted(jobs, key=lambda pair: pair[0]),
            [obj for obj in complete if id(obj) not in arriving])


def _coming(complete: Loaded, duration: Spread | None) -> Iterator[tuple[float | None, GivenJob]]:
    """Yield the pending jobs, each with its creation time if one was given."""
    pods = cluster_side.by_job(obj for obj in complete if isinstance(obj, Pod))
    follow = cluster_side.by_job(chain.from_iterable(complete.later.values()))
    count = len(complete) + len(complete.given)  # with objects that others replace
    generated = range(int(FIRST_TIME), int(FIRST_TIME) + count + 1)
    for group in (obj for obj in complete if isinstance(obj, PodGroup)):
        own, more = pods.get(group.key, []), follow.get(group.key, [])
        waits = own + more and not any(pod.spec.node_name for pod in own)
        if waits and group.status.phase in ("", "Pending"):
            time = group.metadata.creation_timestamp or 0.0
            yield None if time in generated else time, GivenJob(
                group.name, queue=group.spec.queue, pods=len(own) + len(more), group=group,
                members=own, later=more, run_time=_run_time(group, own + more, duration))


def _run_time(group: PodGroup, pods: Sequence[Pod], duration: Spread | None) -> Spread | None:
    """Return a job's run time, from its annotation, or else the common one."""
    for obj in (group, *pods[:1]):
        if text := obj.metadata.annotations.get(RUN_TIME):
            try:
                return workload.spread(float(text))
            except ValueError:
                raise WorkloadError("simulation.run_time", key=group.key, name=RUN_TIME,
                                    text=text) from None
    return duration


def _streams(arrivals: Coming, waiting: list[tuple[float, GivenJob]]) -> list[workload.Arrivals]:
    given = workload.Arrivals([job for _, job in waiting], times=[time for time, _ in waiting])
    if arrivals is None:
        return [given]
    if isinstance(arrivals, int | float):
        if not waiting:
            raise WorkloadError("simulation.rate")
        return [workload.poisson(arrivals, *given.templates)]
    if isinstance(arrivals, workload.Arrivals):
        return [given, arrivals]
    if isinstance(arrivals, list | tuple) and all(
            isinstance(one, workload.Arrivals) for one in arrivals):
        return [given, *arrivals]
    return [given, workload.trace(arrivals)]


def _run_on(sim: Simulation, duration: Spread | None, random: Random) -> None:
    """Schedule the end of the jobs that exist at the start, too."""
    for group in sim.server.list("PodGroup"):
        run, pods = sim.side.jobs[group.key], sim.side.pods_of(group.key)
        length = _run_time(group, pods, duration)
        run.run_time = None if length is None else length.draw(random)
        for pod in pods:
            if pod.status.phase == "Running":
                sim.side.finishes_after(pod)
