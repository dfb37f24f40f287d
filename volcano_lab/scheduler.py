"""The scheduler: one cycle after the other over a cache.

Volcano: pkg/scheduler/scheduler.go
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from time import perf_counter
from typing import Any

from volcano_lab import actions, plugins
from volcano_lab.api import RELEASING
from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.cache import Cache
from volcano_lab.cache.dump import settled
from volcano_lab.framework import Action, Observer, SchedulerConfiguration, Session, load_conf
from volcano_lab.framework.action import ACTIONS
from volcano_lab.framework.collector import collector_paused
from volcano_lab.framework.observer import NO_OBSERVER, joined
from volcano_lab.manifests.disruptions import counted
from volcano_lab.manifests.loader import Loaded
from volcano_lab.manifests.owners import created_again, has_controller, job_of
from volcano_lab.messages import friendly_errors
from volcano_lab.messages.guard import call_plugin
from volcano_lab.trace import Outline, Trace
from volcano_lab.trace.views.cycle import Cycle

__all__ = ["Scheduler", "actions", "at_rest", "conf_of", "life", "plugins", "run_cycle", "traced"]
MOST_CYCLES = 10
"""The most cycles that are run until a cluster is at rest."""


@friendly_errors
class Scheduler:
    """Runs cycles. `conf` may be replaced between two cycles; a running one keeps the configuration
    it started with.

    `times` has the seconds of the last cycle's "open", of each action, of "close", and of the whole
    "cycle". `memory` is the plugins' state between cycles; a new scheduler starts without.
    `actions` are created when they first run and keep their arguments; schedulers with the same
    dict act as one process of Volcano.
    """

    def __init__(self, cache: Cache, conf: SchedulerConfiguration | str | None = None,
                 actions: dict[str, Action] | None = None):
        self.cache = cache
        self.conf = conf if isinstance(conf, SchedulerConfiguration) else load_conf(conf)
        self.cycles = 0
        self.times: dict[str, float] = {}
        self.memory: dict[str, Any] = {}
        self.actions: dict[str, Action] = {} if actions is None else actions

    @collector_paused()
    def run_once(self, observer: Observer | None = None, arrays: bool = True,
                 now: float | None = None) -> Session:
        """Run one cycle; return its session, closed and still readable. `arrays` and `now`: see
        `Session`.
        """
        return deque(self.steps(observer, arrays, now), maxlen=1)[0][1]

    def cycle(self, observer: Observer | None = None, now: float | None = None,
              trace: Outline | None = None) -> Cycle:
        """Run one cycle, recorded in outline or by `trace`, and return rows of its decisions."""
        trace = Outline() if trace is None else trace
        return Cycle(self.run_once(joined(observer, trace), now=now), trace, self.times)

    def steps(self, observer: Observer | None = None, arrays: bool = True,
              now: float | None = None) -> Iterator[tuple[str, Session]]:
        """Yield what has run ("open", each action, "close") and the session; stop iterating to
        abandon the cycle.
        """
        conf, times = self.conf.copy(), {}
        observer = observer or NO_OBSERVER
        self.cycles += 1
        self.cache.ignore_provisioners(conf.ignored_provisioners)
        start = mark = perf_counter()
        ssn = Session(self.cache, conf, observer, f"session-{self.cycles}", arrays, now,
                      self.memory)
        times["open"] = perf_counter() - mark
        yield "open", ssn
        for name in conf.actions:
            mark = perf_counter()
            observer.action_started(ssn, name)
            if name not in self.actions:
                self.actions[name] = ACTIONS.get(name)()
            call_plugin(self.actions[name], f'action "{name}"', self.actions[name].execute, ssn)
            observer.action_ended(ssn, name)
            times[name] = times.get(name, 0.0) + perf_counter() - mark
            yield name, ssn
        mark = perf_counter()
        ssn.close()
        times["close"] = perf_counter() - mark
        times["cycle"] = perf_counter() - start
        self.times = times
        observer.cycle_ended(ssn, times)
        yield "close", ssn


@friendly_errors
def run_cycle(cache: Cache, conf: SchedulerConfiguration | str | None = None,
              now: float | None = None, trace: Outline | None = None) -> Cycle:
    """Run one cycle over a cache with a configuration (its text, or Volcano's default), now or at a
    time in seconds, recorded in outline or by `trace`. Raises `ConfError`.

    >>> run_cycle(Cache()).committed
    []
    """
    return Scheduler(cache, conf_of(conf)).cycle(now=now, trace=trace)


@friendly_errors
def at_rest(objects: Sequence[KubernetesObject],
            conf: SchedulerConfiguration | Mapping[str, Any] | str | None = None,
            now: float | None = None, most: int = MOST_CYCLES,
            trace: Callable[[], Outline] = Outline) -> Cycle:
    """Run cycles until no pods are left to be created for admitted jobs, at most `most`; return the
    last one. Raises `ConfError`.

    Each cycle is recorded by its own `trace`; its `world` has the objects before it.

    >>> at_rest([]).committed, at_rest([]).rests
    ([], True)
    """
    cycles = life(objects, conf, now, most, trace)
    cycle = first = next(cycles)
    for following in cycles if not cycle.rests else ():
        following.first, following.earlier, cycle = first, cycle.committed, following
        if cycle.rests:
            break
    return cycle


def life(objects: Sequence[KubernetesObject],
         conf: SchedulerConfiguration | Mapping[str, Any] | str | None = None,
         now: float | None = None, most: int = MOST_CYCLES,
         trace: Callable[[], Outline] = Outline, at_once: bool = True,
         observer: Observer | None = None, ran: Session | None = None) -> Iterator[Cycle]:
    """Yield cycle after cycle, at most `most`, until one changes nothing; `ran` is the session of
    the first one where it has run already, whose cache is then changed. Raises `ConfError`.

    Between two cycles kubelets start bound pods and terminate evicted ones (half of them, unless
    all `at_once`: pods do not terminate at the same time), controllers create those again, and the
    job controller creates the pods of a Job whose PodGroup was admitted (`later` of the objects); a
    cycle `rests` where none are left to be created, and no job was admitted after allocate had run.
    Left out: time, faults, and jobs that end.

    >>> from volcano_lab.api.objects import Queue
    >>> [cycle.rests for cycle in life([Queue()], "actions: allocate")]
    [True, True]
    """
    cache = Cache(objects) if ran is None else ran.cache
    assert isinstance(cache, Cache)
    scheduler = Scheduler(cache, conf_of(conf))
    world = objects if isinstance(objects, Loaded) else Loaded(objects)
    before: dict[str, str] | None = None
    leaving = {obj.key: False for obj in world if isinstance(obj, Pod)
               and obj.metadata.deletion_timestamp is not None}
    for number in range(most):
        if number or ran is None:
            cycle = scheduler.cycle(observer, None if now is None else now + number, trace())
        else:
            cycle, scheduler.memory = Cycle(ran, trace(), {}), ran.memory
        created = _to_create(cycle, world)
        phases = phases_of(cycle.session)
        late = phases != before and _enqueues_late(scheduler.conf.actions)
        cycle.rests, cycle.world = not (created or late), world
        yield cycle
        if cycle.rests and phases == before and not leaving and all(
                done[0] == "pipeline" for done in cycle.committed):
            return
        before = phases
        _carry_out(scheduler.cache, cycle.session, leaving, at_once)
        if created:
            world = _with_pods_of(created, world, scheduler.cache, cycle.session.now)


def _with_pods_of(jobs: Iterable[str], world: Loaded, cache: Cache, now: float) -> Loaded:
    """Return the objects before the next cycle, with pods newly created by the job controller, of
    which the cache is notified.
    """
    later = dict(world.later)
    for pod in chain.from_iterable(map(later.pop, jobs)):
        cache.add(pod)
    after = Loaded(settled(cache, now), world)
    after.later, after.given = later, world.given
    return after


def phases_of(ssn: Session) -> dict[str, str]:
    """Return the phase of each job's PodGroup."""
    return {uid: job.pod_group.status.phase for uid, job in ssn.jobs.items()}


def _enqueues_late(actions: Sequence[str]) -> bool:
    """Return whether jobs are admitted after allocate, which places them in the next cycle only."""
    order = [action for action in actions if action in ("allocate", "enqueue")]
    return "allocate" in order and order[-1] == "enqueue"


def _to_create(cycle: Cycle, world: Loaded) -> list[str]:
    """Return the jobs whose pods the job controller creates after a cycle."""
    return [key for key, pods in world.later.items() if pods and _admitted(cycle, pods[0])]


def _admitted(cycle: Cycle, pod: Pod) -> bool:
    """Return whether the job of a pod is admitted, and its minimum placed where it has other pods:
    an operator's driver or leader runs before the pods that follow it.
    """
    job = cycle.session.jobs.get(job_of(pod))
    return job is not None and not job.is_pending() and (not job.tasks or job.is_ready())


def _carry_out(cache: Cache, ssn: Session, leaving: dict[str, bool], at_once: bool) -> None:
    """Start bound pods, terminate evicted ones, all or half of them, create those again, and count
    what disruption budgets allow then.
    """
    keys = {task.key for job in ssn.jobs.values() for task in job.in_status(RELEASING).values()}
    bare = {task.key for job in ssn.jobs.values() for task in job.in_status(RELEASING).values()
            if not has_controller(job.pod_group)}
    for operation, key, node, *_ in ssn.committed:
        if operation == "evict":
            leaving[key] = key not in bare
        elif operation == "allocate":
            cache.update(cache.pods[key].changed(spec={"node_name": node},
                                                 status={"phase": "Running"}))
    ends = [key for key in leaving if key in keys and key in cache.pods]
    for key in ends if at_once else ends[:(len(ends) + 1) // 2]:
        pod = cache.pods[key]
        cache.delete(pod)
        if leaving.pop(key):
            cache.add(created_again(pod))
    for budget in [*cache.pod_disruption_budgets.values()]:
        cache.update(counted(budget, cache.pods.values()))


@friendly_errors
def traced(objects: Iterable[KubernetesObject], conf: SchedulerConfiguration | str | None = None,
           every_call: bool = False, now: float | None = None,
           trace: Trace | None = None) -> tuple[Trace, Session]:
    """Return the trace of one cycle over some objects (`trace`, if given), and its session, closed
    and still readable. Raises `ConfError`.

    >>> from volcano_lab.cluster import Cluster
    >>> trace, ssn = traced(Cluster().node("n1", cpu=4).job("a", cpu=1).objects())
    >>> [(record.action, record["job"]) for record in trace.of("job")]
    [('enqueue', 'default/a'), ('allocate', 'default/a')]
    """
    trace = Trace(every_call) if trace is None else trace
    return trace, Scheduler(Cache(objects), conf).run_once(trace, now=now)


def conf_of(conf: SchedulerConfiguration | Mapping[str, Any] | str | None
            ) -> SchedulerConfiguration:
    """Return a configuration given as itself, a mapping, a text, or None for Volcano's default.
    Raises `ConfError`.

    >>> conf_of({"actions": "allocate"}).actions
    ['allocate']
    """
    if isinstance(conf, SchedulerConfiguration):
        return conf
    return load_conf(conf) if isinstance(conf, Mapping) else _read(conf)


@lru_cache(maxsize=16)
def _read(conf: str | None) -> SchedulerConfiguration:
    """Return the configuration of a text, cached: a slider repeats the same one."""
    return load_conf(conf)
