"""A cluster in simulated time: jobs arrive, cycles run, pods are bound, run and end, nodes fail,
and other faults occur.

The scheduler is the lab's own, cycle for cycle, behind the same cache, informer and binding
pipeline as elsewhere; around it are a simulated API server and cluster. The real clock is never
read: two runs with the same seed are equal.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, count
from math import inf, isfinite
from random import Random
from typing import Any

from volcano_lab.api.objects import KubernetesObject, PriorityClass
from volcano_lab.cache import Cache
from volcano_lab.cache.api_server import TIMEOUT, UNAVAILABLE, ApiError, ApiServer
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.cache.informer import Informer
from volcano_lab.framework import BindContext, Observer, SchedulerConfiguration, Session, joined
from volcano_lab.manifests import described, field_defaults
from volcano_lab.messages import Message, friendly_errors, gettext, log
from volcano_lab.plugins.sla import Sla
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation.calendar import TICKS, Calendar, Entry
from volcano_lab.simulation.cluster_side import ClusterSide, Latencies
from volcano_lab.simulation.faults import CycleCrash, Disturbance, Faults
from volcano_lab.simulation.history import History
from volcano_lab.simulation.invariants import InvariantBroken, problems_of
from volcano_lab.simulation.wire import Wire
from volcano_lab.simulation.workload import Arrivals, Spread, WorkloadError, spread

STREAMS = ("arrivals", "cluster", "faults", "nodes")
CLOCKS = frozenset(("tdm", "cdp", "usage", "rescheduling"))
"""Plugins whose decisions depend on the time, beside sla."""
BIND_WORKER_PERIOD = 0.02
"""Volcano reads its channel of tasks to bind every 20 ms."""


@friendly_errors
class Simulation:
    """A cluster (or its objects) and its events over time.

    `workload` are the streams of jobs; `period` the seconds between two cycles; `latencies` the
    durations; `node_failures` (seconds between two, seconds until that node is back), each a number
    or a `Spread`; `start` the time of the first cycle; `observer` observes each cycle; with
    `check`, invariants are checked after every event (`InvariantBroken`). Raises `WorkloadError`,
    `ConfError` or `ManifestError` for what can't be simulated.

    >>> from volcano_lab.simulation import JobTemplate, every
    >>> jobs = every(5, JobTemplate("a", cpu=1, run_time=8), count=3)
    >>> from volcano_lab.cluster import Cluster
    >>> sim = Simulation(Cluster().node("n1", cpu=4), workload=[jobs])
    >>> history = sim.run(until=40)
    >>> [(row[0], row[5], row[8], row[9]) for row in history.rows["jobs"]]
    [('default/a-1', 5.0, 15.03, 2.03), ('default/a-2', 10.0, 20.03, 2.03),
     ('default/a-3', 15.0, 25.03, 2.03)]
    """

    def __init__(self, cluster: Iterable[KubernetesObject] = (),
                 conf: SchedulerConfiguration | str | None = None,
                 *, seed: int = 0, workload: Sequence[Arrivals] = (), period: float = 1.0,
                 latencies: Latencies | None = None,
                 node_failures: Sequence[float | Spread] | None = None,
                 faults: Faults | None = None, observer: Observer | None = None,
                 check: bool = False, skip_idle: bool = False, start: float | None = None):
        self.conf, self.seed, self.period, self.check = conf, seed, period, check
        self.workload, self.faults, self.observer = list(workload), faults or Faults(), observer
        _check_number("period", period, "a number of seconds above 0", 1 / TICKS)
        self.failing, self.repaired = map(spread, node_failures or (0, 0))
        if node_failures is not None and not self.failing.passes:
            raise WorkloadError("simulation.node_failures")
        self.random = {name: Random(f"{seed} {name}") for name in STREAMS}
        self.calendar = Calendar(self._happened)
        self.history = History()
        start = field_defaults.FIRST_TIME if start is None else start
        self.server = ApiServer(lambda: start + self.calendar.now)
        self.side = ClusterSide(self.server, self.calendar, self.history, latencies or Latencies(),
                                self.random["cluster"])
        self.wire = Wire(self)
        self.created = [0] * len(self.workload)
        self.orphan_binds: dict[int, list[BindContext]] = {}
        self.surprises: set[str] = set()
        self.ssn: Session | None = None
        self.checked: Session | None = None
        self.cycles = self.crashes = 0
        self.skip_idle, self._seen = skip_idle, -1
        self._connect(Cache())
        self._begin(cluster)

    def _begin(self, cluster: Iterable[KubernetesObject]) -> None:
        objects = described.world_of(cluster)
        classes = [obj for obj in objects if isinstance(obj, PriorityClass)]
        for template in chain.from_iterable(stream.templates for stream in self.workload):
            template.build(template.name, classes)
        for obj in objects:
            self.server.create(obj)
        self.side.take_in(objects.later.values())
        for stream in range(len(self.workload)):
            self._next_arrival(stream)
        if self.failing.passes:
            self.calendar.after(self.failing.draw(self.random["nodes"]), self._node_failure)
        self.calendar.after(0.0, self._cycle)

    def _connect(self, cache: Cache) -> None:
        """Start a scheduler process with this cache."""
        self.cache, self.informer = cache, Informer(cache)
        self.pipeline = BindingPipeline(self.informer, self.server)
        self.pipeline.bind, self.pipeline.read = self._bind_request, self._read_request
        self.scheduler = Scheduler(cache, self.conf)

    # -- running ---------------------------------------------------------------------------------

    def run(self, until: float) -> History:
        """Run until some seconds after the start; the history grows with each call."""
        _check_number("until", until, "a number of seconds from 0")
        with log.quiet():
            self.calendar.run(until)
        self.history.until = self.calendar.now
        self.history.set_jobs(self.side.jobs)
        return self.history

    def _happened(self, entry: Entry) -> None:
        """Plan what follows from an event, and check the invariants."""
        self._plan_retries()
        if self.check and (problems := problems_of(self)):
            event = f"{entry.kind} {entry.facts}" if entry.facts else entry.kind
            raise InvariantBroken(str(Message("simulation.broken", event=event, seed=self.seed,
                                              time=self.calendar.now, problems=problems[:5])))

    # -- the scheduler's side ----------------------------------------------------------------------

    def _cycle(self) -> None:
        if self._idle():
            self.calendar.after(self.period, self._cycle)
            return
        self._seen = self.wire.changes
        self.side.count_disruptions()
        disturbance = Disturbance(self)
        try:
            self.ssn = self._decide(disturbance)
        except CycleCrash as crash:
            if self.observer is not None:
                self.observer.died()
            self.restart(str(crash))
        else:
            self.cycles += 1
            self.history.sample(self.calendar.now, self.ssn, self.side.unfinished,
                                len(self.side.jobs) - len(self.side.unfinished))
        if self.pipeline.channel:
            self.calendar.after(BIND_WORKER_PERIOD, self._bind_worker)
        if self.pipeline.evictions:
            self.side.after("evict", self._process_evictions)
        self.calendar.after(self.period, self._cycle)

    def _idle(self) -> bool:
        """Return whether a cycle would repeat the last decision: nothing has changed since, no
        plugin reads the time, and no deadline of sla has passed.
        """
        return (self.skip_idle and self._seen == self.wire.changes and self.ssn is not None
                and CLOCKS.isdisjoint(self.ssn.plugins)
                and min(self._deadlines(), default=inf) > self.server.clock())

    def _deadlines(self) -> list[float]:
        """Return the deadlines of jobs that sla has not yet seen pass."""
        if self.ssn is None or not isinstance(sla := self.ssn.plugins.get("sla"), Sla):
            return []
        found = map(sla.deadline, self.ssn.jobs.values())
        return [each for each in found if each is not None and each > self.ssn.now]

    @property
    def reads_time(self) -> bool:
        """Whether a plugin's decisions depend on the time; those of sla until the last deadline."""
        return self.ssn is not None and (
            not CLOCKS.isdisjoint(self.ssn.plugins) or bool(self._deadlines()))

    @property
    def at_rest(self) -> bool:
        """Return whether all future cycles are idle, or all jobs have arrived and ended."""
        planned = {entry.kind for entry in self.calendar.entries.values()}
        ended = self.ssn is not None and not self.side.unfinished and "arrival" not in planned
        return ended or (self._idle() and not self.reads_time and planned <= {"cycle"})

    def _decide(self, disturbance: Disturbance) -> Session:
        watching = joined(disturbance if disturbance.needed else None, self.observer)
        return self.scheduler.run_once(watching, now=self.server.clock())

    def restart(self, why: str = "") -> None:
        """Crash and restart the scheduler process: it lists everything; requests already sent still
        arrive.
        """
        self.history.note(self.calendar.now, "scheduler died", "", why)
        self.crashes += 1
        self.orphan_binds |= self.pipeline.in_flight
        self.wire.cut()
        old, cycles = self.pipeline, self.scheduler.cycles
        self._connect(Cache())
        self.pipeline.batch, self.pipeline.on_bind = old.batch, old.on_bind
        self.pipeline.batches, self.pipeline.status = old.batches, old.status
        self.scheduler.cycles = cycles
        self.informer.list(self.server)

    def _bind_worker(self) -> None:
        for number in self.pipeline.collect():
            latency = self.side.latencies.bind.draw(self.random["cluster"])
            self.calendar.after(latency, self._bind, number=number)
            if self.faults.strike("pod_deleted", self.calendar.now, self.random["faults"]):
                task = self.pipeline.in_flight[number][0].task
                self.calendar.after(latency / 2, self._pod_deleted, pod=task.key)

    def _bind(self, number: int) -> None:
        for context in self.orphan_binds.pop(number, ()):
            task = context.task
            try:
                self.server.bind(task.key, task.uid, task.node_name)
                self.surprises.add(task.uid)
            except ApiError as error:
                self.history.note(self.calendar.now, "bind refused", task.key, str(error))
        if number in self.pipeline.in_flight:
            self.pipeline.finish(number)

    def _plan_retries(self) -> None:
        if (due := self.pipeline.next_due()) is None:
            return
        wait = due - self.server.clock()
        planned = [entry.time for entry in self.calendar.entries.values() if entry.kind == "retry"]
        if not planned or min(planned) > self.calendar.env.now + round(max(wait, 0) * 1e6) + 1:
            self.calendar.after(max(wait, 0.0) + 1e-6, self._retry)

    def _retry(self) -> None:
        self.pipeline.retry()

    def _process_evictions(self) -> None:
        self.pipeline.process_evictions()

    # -- requests that may fail --------------------------------------------------------------------

    def _bind_request(self, key: str, uid: str, node: str) -> None:
        now, random = self.calendar.now, self.random["faults"]
        if struck := self.faults.strike("bind_refused", now, random):
            self.history.note(now, "bind refused", key, struck)
            raise ApiError(UNAVAILABLE, "the server is currently unable to handle the request")
        if self.faults.strike("bind_timeout", now, random):
            took_effect = random.random() < 0.5
            self.history.note(now, "bind timed out", key,
                              "it took effect" if took_effect else "it took no effect")
            if took_effect:
                self.server.bind(key, uid, node)
            raise ApiError(TIMEOUT,
                           "the server was unable to return a response in the time allotted")
        self.server.bind(key, uid, node)

    def _read_request(self, kind: str, key: str) -> Any:
        if self.faults.strike("read_refused", self.calendar.now, self.random["faults"]):
            raise ApiError(UNAVAILABLE, "the server is currently unable to handle the request")
        return self.server.get(kind, key)

    # -- arrivals and failures ---------------------------------------------------------------------

    def _arrival(self, stream: int) -> None:
        arrivals, created = self.workload[stream], self.created[stream]
        template = arrivals.template(created, self.random["arrivals"])
        self.created[stream] += 1
        name, taken = template.name, {run.name for run in self.side.jobs.values()}
        if arrivals.times is None:  # another stream may use that name
            names = (f"{template.name}-{number}" for number in count(self.created[stream]))
            name = next(name for name in names if name not in taken)
        self.side.submit(name, template)
        self._next_arrival(stream)

    def _next_arrival(self, stream: int) -> None:
        gap = self.workload[stream].next_gap(self.created[stream], self.random["arrivals"])
        if gap is not None:
            self.calendar.after(gap, self._arrival, stream=stream)

    def _node_failure(self) -> None:
        if names := [node.name for node in self.server.list("Node")]:
            self.side.node_fails(self.random["nodes"].choice(names),
                                 self.repaired.draw(self.random["nodes"]))
        self.calendar.after(self.failing.draw(self.random["nodes"]), self._node_failure)

    def _pod_deleted(self, pod: str) -> None:
        if self.server.find("Pod", pod) is not None:
            self.history.note(self.calendar.now, "pod deleted", pod)
            self.server.delete("Pod", pod)


def _check_number(name: str, value: Any, allowed: str, least: float = 0.0) -> None:
    if not isinstance(value, int | float) or not isfinite(value) or value < least:
        raise WorkloadError("simulation.value", name=name,
                            value=repr(value), allowed=gettext(allowed))
