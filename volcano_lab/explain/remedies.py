"""What would change the answer: the smallest changes, found by running the cycle again, judged by
the cycles that follow, and told with what they cost others.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from math import inf
from time import perf_counter
from typing import Any

from attrs import Factory, define, evolve, field

from volcano_lab.api import PENDING, PIPELINED, RELEASING, JobInfo
from volcano_lab.api.objects import PodGroup, Queue
from volcano_lab.changes import Change
from volcano_lab.changes.words import kubectl
from volcano_lab.explain.candidates import (
    SWITCHED,
    candidates,
    in_order,
    keeping,
    switched,
    with_plugin,
    without_action,
)
from volcano_lab.explain.evidence import CauseTrace, Evidence, counts
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Option, Rank, World, once
from volcano_lab.explain.outcome import Outcome, Price, outcome, price, ready
from volcano_lab.explain.trial import Deadline, TooLate, Trial, run
from volcano_lab.explain.why_job import job_causes
from volcano_lab.framework import SchedulerConfiguration, Session
from volcano_lab.framework.observer import joined
from volcano_lab.manifests.admission import verdicts
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import listed
from volcano_lab.trace.names import Names

LATE, NOTHING, ADMITTED, PLACED = range(-1, 3)
MOST, SETS, FIRSTS, NODES_MORE, ALIKE = 5, 2, 6, 256, 24
"""Remedies that are offered; sets of changes among them, and changes that begin one; where nothing
else helps so many nodes are tried; so many alternatives of one kind.
"""
LARGE, PATIENCE, LIFE = 200, 4, 2
"""In a cluster of so many nodes sets are tried last; a try has one part of so many of the time, the
cycles that follow it as much as so many tries.
"""
ALTERNATIVES = ("uncordon", "repair", "label", "queue", "group")
"""Options of a kind of which any one does; each of the other kinds is told alone."""
ALONE = ("cut", "queue")
"""Kinds that are no part of a set: a job that is smaller, or elsewhere, is another job."""
FAR = 16
"""So many steps are not tried before twice as many as first: a large change takes long to try."""


@define(slots=True, frozen=True)
class Remedy:
    """A change that turns the answer: in words (`change`), with what it brings about, for others
    too (`effect`), how much it changes (`rank`) and takes from others (`price`).

    `made` is the change, `alike` are others of its kind that do the same. `args` are those of
    `what-if` for it, with which so many pods of the `job` are `placed` once the cluster is at rest.
    """

    change: str
    effect: str
    made: Change
    rank: int
    world: World = field(repr=False, eq=False)
    job: str = ""
    placed: int = 0
    price: Price = Factory(Price)
    alike: tuple[Change, ...] = ()

    def __str__(self) -> str:
        return f"{self.change} ({self.effect})"

    @property
    def args(self) -> list[str]:
        return self.made.args

    @property
    def kubectl(self) -> list[str]:
        """The commands that carry it out; none where it takes more than these."""
        return kubectl(self.made, self.world.objects)

    def as_dict(self) -> dict[str, Any]:
        """The change as plain data, jobs by their names: pods that are evicted, gangs that break
        (so many pods left, of a minimum), jobs that wait instead.
        """
        called, cost = self.world.called, self.price
        return {"change": self.change, "effect": self.effect, "text": str(self),
                "args": self.args, "kubectl": self.kubectl, "job": self.job, "placed": self.placed,
                "evicts": {called(uid): count for uid, count in cost.evicts.items()},
                "breaks": {called(uid): list(pair) for uid, pair in cost.breaks.items()},
                "waits": [called(uid) for uid in cost.waits],
                "alike": [each.args for each in self.alike]}

    @property
    def objects(self) -> Any:
        """What the scheduler hears of with the change."""
        return self.world.applied(self.made)[0]

    @property
    def conf(self) -> SchedulerConfiguration:
        """The configuration with the change."""
        return self.world.applied(self.made)[1]


def smallest(turns: Callable[[int], bool], steps: int, first: int = 1) -> int | None:
    """The fewest steps that turn the answer, where more steps never turn it back; None where none
    does. `first` is tried before all others; what the most do not help is given up at once.

    >>> smallest(lambda step: step >= 11, 100), smallest(lambda step: False, 100), smallest(
    ...     lambda step: step >= 7, 9, 7)
    (11, None, 7)
    """
    if steps < 1:
        return None
    first = min(max(first, 1), steps)
    if turns(first):
        low, high = 0, first
        if first > 1 and not turns(first - 1):
            return first
    else:
        low, high = first, min(first * 2, steps)
        if low == steps or not ((steps > FAR and turns(high)) or turns(steps)):
            return None
        while high < steps and not turns(high):
            low, high = high, min(high * 2, steps)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns(middle) else (middle, high)
    return high


def remedies_for(seen: Evidence, job: JobInfo, causes: list[Cause], seconds: float | None = None,
                 pod: str = "") -> Iterator[Remedy]:
    """Changes with which a job that waits runs, at most five: first those that hurt nobody beyond
    the job's size, each as soon as it is found, those that change least before others; then those
    that break a gang, and last what costs others more than the job is. None after so many
    `seconds`.
    """
    end = inf if seconds is None else perf_counter() + seconds
    search = _Search(seen, job, pod, end, inf if seconds is None else seconds / PATIENCE)
    held: list[Remedy] = []
    told = 0
    for remedy in search.found(causes):
        if remedy.price.dear:
            held.append(remedy)
            continue
        told += 1
        yield remedy
        if told == MOST:
            break
    yield from islice(sorted(held, key=lambda each: (each.price.dear, each.rank)), MOST - told)


def remedies_that_spare(seen: Evidence, key: str, causes: list[Cause],
                        seconds: float | None = None) -> Iterator[Remedy]:
    """Changes of the configuration with which a job loses fewer pods than this one and others."""
    end = inf if seconds is None else perf_counter() + seconds
    world = World(seen.objects, seen.ssn.conf, seen.called)
    uid = seen.trace.start["tasks"][key]["job"]
    lost, name = len(seen.ssn.jobs[uid].in_status(RELEASING)), _short(seen, uid)
    queue, action = seen.ssn.jobs[uid].queue, causes[0].records[-1]["action"]
    unasked = ["priority"] if action == "preempt" else [
        plugin for cause in causes for plugin in cause.numbers.get("later", ())]
    reclaimable = queue in world.queues and world.queues[queue].spec.reclaimable is not False
    for option in chain(
            *(with_plugin(world, plugin) for plugin in unasked),
            [once(f"queue/{queue}.reclaimable=false", rank=Rank.SWITCH)] if (
                action == "reclaim" and reclaimable) else [],
            switched(world, "gang", "enableJobStarving", True), keeping(world, action),
            without_action(world, action)):
        try:
            ssn = run(*world.applied(option.most), seen.ssn.now, Deadline.at(end))
        except TooLate:
            return
        fewer = len(ssn.jobs[uid].in_status(RELEASING))
        if fewer < lost:
            before, after = Outcome(), Outcome()
            before.add(seen.ssn)
            after.add(ssn)
            costs = _costs(seen, price(before, after, {}, uid))
            told = "; ".join((f"{name} loses {fewer or 'no'} pod{'s' * (fewer != 1)}"
                              + f" instead of {lost}" * bool(fewer), *costs))
            yield Remedy(world.told(option.most), told,
                         option.most, option.rank, world, seen.called(uid), ready(ssn.jobs[uid]))


class _Search:
    """Tries options and looks what becomes of one job."""

    def __init__(self, seen: Evidence, job: JobInfo, pod: str, end: float, patience: float = inf):
        self.seen, self.job, self.pod, self.before = seen, job, pod, seen.ssn
        self.end, self.patience = end, patience
        self.large = len(seen.ssn.nodes) >= LARGE
        self.world = World(seen.objects, seen.ssn.conf, seen.called)
        self.trial = Trial(seen.objects, job.uid, seen.ssn.now)
        self.places = sum(counts(job)[:2])
        self.lost = bool(job.tasks) and not counts(job)[2] and not pod
        self._known: dict[Change, int] = {}
        self._loops = False  # whether the change that was judged last evicts again and again

    @cached_property
    def base(self) -> Outcome:
        """What becomes of the cluster without a change."""
        found = Outcome()
        found.add(self.before)
        leaving = any(job.in_status(RELEASING) for job in self.before.jobs.values())
        if self.large:  # promised places count as places, and cycles take long
            found.again = self.seen.future.again if self.seen.future else set()
            return found
        return outcome(self.seen.objects, self.before.conf, self.job.uid, self.before.now,
                       self.end) if leaving else found

    @cached_property
    def start(self) -> dict[str, int]:
        """How many pods of each job had a place when the cycle began."""
        return {uid: sum(bool(task.pod.spec.node_name) for task in job.tasks.values())
                for uid, job in self.before.jobs.items()}

    # -- the search -------------------------------------------------------------------------------

    def found(self, causes: list[Cause]) -> Iterator[Remedy]:
        """The remedies in the order of their rank, then sets of changes, more nodes, the end of
        those that hold what it takes.
        """
        options = candidates(self.world, self.before, self.job, causes)
        own = [option for option in options if option.rank < Rank.REQUEST]
        late = [option for option in options if option.rank == Rank.NODES]
        cuts = [option for option in options if option.rank == Rank.REQUEST]
        waits = [option for option in options if option.rank == Rank.WAIT]
        told: set[Change] = set()
        alone = 0
        parts = [self.singles(own, told), self.sets(own, told, Rank.JOB),
                 self.singles(late, told)]
        if self.large:
            parts = [self.singles([*own, *late, *waits], told), self.sets(own, told, Rank.JOB)]
        for remedy in chain(*parts):
            alone += 1
            yield remedy
        if not alone:
            more = [evolve(option, steps=max(NODES_MORE, option.steps)) for option in late]
            yield from islice(self.singles(more, told), 1)
            yield from self.sets([*own, *late], told, Rank.NODES)
        yield from self.singles(waits, told)
        if all(not change.settings or ".more=" in change.settings[0] for change in told):
            yield from self.singles(cuts, told)  # nothing but more nodes, or waiting, helps

    def singles(self, options: Sequence[Option], told: set[Change]) -> Iterator[Remedy]:
        """The remedies of one option each; alternatives of one kind together."""
        alike: set[Change] = set()
        for number, option in enumerate(options):
            if perf_counter() > self.end:
                return
            change = None if option.most in alike else self.fewest(option)
            if change is None or change in told:
                continue
            others = self._others(option, options[number + 1:], lambda other: other.most)
            alike |= {*others}
            remedy = self.judged(change, option.rank, others)
            if remedy is None and self._loops:
                remedy = self._steadied(change, option.rank)
            if remedy is not None:
                told.add(remedy.made)
                yield remedy

    def _others(self, option: Option, options: Sequence[Option],
                made: Callable[[Option], Change]) -> tuple[Change, ...]:
        """Alternatives of an option that do the same."""
        same = [made(each) for each in options if option.kind in ALTERNATIVES
                and each.kind == option.kind and each.steps == 1]
        return tuple(change for change in same[:ALIKE] if perf_counter() < self.end
                     and self.at(change) == PLACED)

    def _steadied(self, change: Change, rank: int) -> Remedy | None:
        """A change for which pods are evicted again and again, with what ends that: allocate before
        what evicts, or that drf, where a tier above lets nobody go, lets nobody go either.
        """
        for other in chain(in_order(self.world), *(switched(self.world, "drf", switch, False)
                                                   for switch in sorted(SWITCHED.values()))):
            both = other.most + change
            if perf_counter() < self.end and not other.most.targets & change.targets:
                remedy = self.judged(both, max(other.rank, rank))
                if remedy is not None:
                    return remedy
        return None

    def fewest(self, option: Option) -> Change | None:
        """The smallest change of an option with which the job has a place; where one only admits
        it, that one: later cycles may give it a place.
        """
        steps = smallest(lambda step: self.at(option.at(step)) == PLACED, option.steps,
                         option.first)
        if steps is not None:
            return option.at(steps)
        if self.best(option) < ADMITTED or option.rank == Rank.WAIT:
            return None
        admits = smallest(lambda step: self.at(option.at(step)) >= ADMITTED, option.steps,
                          option.first)
        return None if admits is None else option.at(admits)

    def sets(self, options: Sequence[Option], told: set[Change], rank: int) -> Iterator[Remedy]:
        """Two changes where none does alone: a first one in full, and what the job then lacks (of
        this rank at most); each as small as the other allows. Those that change least come first.
        """
        firsts = [option for option in options if NOTHING <= self.best(option) < PLACED and (
            option.kind not in ALONE or rank == Rank.NODES)]
        found: list[Remedy] = []
        tried = set(told)
        for first in sorted(firsts, key=lambda option: -self.best(option))[:FIRSTS]:
            for change, most, alike in self._after(first, rank):
                if any(change.has(each) for each in tried):
                    continue
                tried |= {change, *alike}
                remedy = self.judged(change, most, alike)
                if remedy is not None:
                    told.add(change)
                    found.append(remedy)
            if perf_counter() > self.end or len(found) >= FIRSTS:
                break
        yield from sorted(found, key=lambda remedy: remedy.rank)[:SETS]

    def _after(self, first: Option, rank: int) -> Iterator[tuple[Change, int, tuple[Change, ...]]]:
        """The sets that begin with an option, how much they change, and their alternatives."""
        trace = CauseTrace()
        try:
            objects, conf = self.world.applied(first.most)
            ssn = run(objects, conf, self.before.now, joined(Deadline.at(self._until()), trace))
        except (ManifestError, TooLate):
            return
        job = ssn.jobs.get(self.job.uid)
        if job is None or not counts(job)[2]:
            return
        world = World(objects, conf, self.seen.called)
        causes = job_causes(Evidence(ssn, trace), job)
        seconds = [option for option in candidates(world, ssn, job, causes)
                   if (option.rank <= rank or option.rank == Rank.WAIT)
                   and (option.kind not in ALONE or rank == Rank.NODES)]
        alike: set[Change] = set()
        for number, second in enumerate(seconds):
            if perf_counter() > self.end:
                return
            if second.most in alike or second.most == first.most or (
                    not second.most.targets & first.most.targets
                    and self.at(second.most) == PLACED):  # it does alone
                continue
            if self.at(first.most + second.most) != PLACED:
                continue
            steps = smallest(lambda step, second=second: self.at(
                first.most + second.at(step)) == PLACED, second.steps, second.first)
            done = second.at(steps or second.steps)
            least = smallest(lambda step, done=done: self.at(first.at(step) + done) == PLACED,
                             first.steps, first.first)
            made = first.at(least or first.steps)
            others = self._others(second, seconds[number + 1:],
                                  lambda other, made=made: made + other.most)
            alike |= {each.most for each in seconds[number + 1:] if each.kind == second.kind
                      and made + each.most in others}
            yield made + done, max(first.rank, second.rank), others

    # -- one change -------------------------------------------------------------------------------

    def best(self, option: Option) -> int:
        """The best outcome of an option that was seen."""
        return max((self._known[change] for step in {1, option.first, option.steps}
                    if (change := option.at(step)) in self._known), default=NOTHING)

    def at(self, change: Change) -> int:
        """What a cycle with the change gives the job."""
        if change not in self._known:
            if perf_counter() > self.end:
                return LATE
            try:
                self._known[change] = self._run(*self.world.applied(change))
            except ManifestError:
                self._known[change] = NOTHING
            except TooLate:
                self._known[change] = LATE
        return self._known[change]

    def _run(self, objects: Any, conf: SchedulerConfiguration) -> int:
        """One cycle; where the job has its promise already, those that follow."""
        if self.lost:
            after = outcome(objects, conf, self.job.uid, self.before.now, self._until())
            return PLACED if after.runs(self.job.uid) and not after.again else NOTHING
        return self.gives(self.trial.run(objects, conf, lambda ssn: self.gives(ssn) == PLACED,
                                         self._until()))

    def _until(self, tries: int = 1) -> float:
        """Until when a try may take, or what takes as long as so many."""
        return min(self.end, perf_counter() + tries * self.patience)

    def gives(self, ssn: Session | None) -> int:
        """Whether the job has its places (or more than it had), or was admitted at least."""
        job = None if ssn is None else ssn.jobs.get(self.job.uid)
        if job is None:
            return NOTHING
        if len(job.in_status(RELEASING)) > len(self.job.in_status(RELEASING)) and not self.pod:
            return NOTHING  # it would lose pods of its own
        starts = bool(job.tasks) and (job.is_ready() or ssn.job_pipelined(job))
        if starts and (sum(counts(job)[:2]) > self.places or self._has_pod(job)):
            return PLACED
        return ADMITTED if self.job.is_pending() and not job.is_pending() else NOTHING

    def _has_pod(self, job: JobInfo) -> bool:
        return any(task.key == self.pod and task.node_name for task in job.tasks.values())

    def _inadmissible(self, objects: Any) -> bool:
        """Whether Volcano's webhooks would refuse the change: what they say of it, and not before.
        """
        there = {id(obj) for obj in self.seen.objects}
        changed = [obj for obj in objects if id(obj) not in there and isinstance(obj,
                                                                                 Queue | PodGroup)]
        keys = {(obj.kind, obj.key) for obj in changed}
        before, after = ({(verdict.label, verdict.rule) for verdict in verdicts(
            [obj for obj in some if isinstance(obj, Queue) or (obj.kind, obj.key) in keys])}
            for some in (self.seen.objects, objects))
        return bool(changed and after - before)

    def judged(self, change: Change, rank: int, alike: tuple[Change, ...] = ()) -> Remedy | None:
        """The remedy that a change is, by the cycles that follow it from the manifests on; None
        where the job does not run in the end, or somebody is evicted again and again.
        """
        uid = self.job.uid
        try:
            world = self.world.applied(change)
            if self._inadmissible(world[0]):
                return None
            if not self.large:  # in a large one what controllers do besides takes too long
                world = change.given(self.seen.given, self.before.conf)
            had = self.base.placed(uid)
            after = outcome(*world, uid, self.before.now, self._until(LIFE))
        except (ManifestError, TooLate):
            return None
        self._loops = bool(after.again)
        job = after.last.jobs.get(uid) if after.last is not None else None
        if job is None or after.rest is None or after.again - self.base.again or not (
                after.runs(uid) and (after.placed(uid) > had or not job.tasks
                                     or self._has_pod(job))):
            return None
        cost = price(self.base, after, {} if rank == Rank.WAIT else self.start, uid)
        text = _any_of([self.world.told(each, rank == Rank.WAIT) for each in (change, *alike)])
        effect = "; ".join([*effects(self.seen, self.before, after, uid),
                            *_costs(self.seen, cost)])
        names = Names(after.rest.session)
        rest = next(row for row in after.rest.jobs() if row["job"] == uid)
        return Remedy(text, effect, change, rank, self.world, names.called(uid), rest["placed"],
                      cost, alike)


def _any_of(texts: list[str]) -> str:
    """Alternatives in one text: what differs is named once, with what is the same around it.

    >>> _any_of(["uncordon n1; delete a", "uncordon n2; delete a"])
    'uncordon any of 2: n1, n2; delete a'
    """
    words = [text.split() for text in texts]
    first = words[0]
    places = [at for at in range(len(first)) if len({each[at] for each in words}) > 1
              ] if len({*map(len, words)}) == 1 else []
    if len(places) != 1:
        return texts[0]
    at, names = places[0], [each[places[0]].rstrip(";,:") for each in words]
    choice = f"any of {len(texts)}: {listed(names, 4)}{first[at][len(names[0]):]}"
    return " ".join([*first[:at], choice, *first[at + 1:]])


def effects(seen: Evidence, before: Session, after: Outcome, uid: str, name: str = ""
            ) -> Iterator[str]:
    """What a change brings about for a job (which may not have been there)."""
    assert after.rest is not None and after.last is not None
    name = name.rpartition("/")[2] or _short(seen, uid)
    waited = before.jobs.get(uid)
    lost = waited is not None and not waited.in_status(PENDING)  # its promise is not kept
    had = {task.key for task in waited.tasks.values() if task.node_name and not (
        lost and task.status == PIPELINED)} if waited is not None else set()
    for ssn, late in ((after.rest.session, ""), (after.last, f" after {after.cycles} cycles")):
        job = ssn.jobs[uid]
        new = [task for task in job.tasks.values() if task.node_name and task.key not in had]
        waits = any(not task.node_name for task in job.tasks.values())
        for promised, words in ((False, "placed"), (True, "promised a place")):
            tasks = [task for task in new if (task.status == PIPELINED) == promised]
            if tasks:
                whole = len(tasks) == len(new) and not waits and not had
                who = f"{name} is" if whole else f"{tasks[0].name} is" if len(tasks) == 1 else (
                    f"{len(tasks)} pods of {name} are")
                yield f"{who} {words} on {_nodes(before, tasks)}{late}"
        if new:
            return
    yield f"{name} is admitted"


def _nodes(before: Session, tasks: Iterable[Any]) -> str:
    nodes = dict.fromkeys(task.node_name for task in tasks)
    there = [name for name in nodes if name in before.nodes]
    added = len(nodes) - len(there)
    return listed([*there, *[f"{added} new node{'s' if added > 1 else ''}"] * bool(added)], 3)


def _costs(seen: Evidence, cost: Price) -> Iterator[str]:
    """Whom it takes something from, in words."""
    for uid, (left, least) in islice(cost.breaks.items(), 3):
        yield (f"breaks {seen.called(uid)}: it keeps {left} of {left + cost.evicts[uid]} pods, its "
               f"minimum is {least}")
    evicted = cost.evicts
    if cost.ends:
        yield "ends " + ", ".join(f"{count} pod{'s' * (count > 1)} of {_short(seen, uid)}"
                                  for uid, count in cost.ends.items())
    if len(evicted) > 3:
        yield f"evicts {sum(evicted.values())} pods of {len(evicted)} jobs"
    elif evicted:
        yield "evicts " + ", ".join(f"{count} pod{'s' if count > 1 else ''} of {_short(seen, uid)}"
                                    for uid, count in evicted.items())
    if cost.waits:
        names = [_short(seen, uid) for uid in cost.waits]
        yield f"{listed(names, 3)} wait{'s' if len(names) == 1 else ''}"
    if cost.fewer:
        names = [_short(seen, uid) for uid in cost.fewer]
        yield f"{listed(names, 3)} {'has' if len(names) == 1 else 'have'} fewer places"
    if cost.dear > 1:
        yield "this costs others more than the job is"


def _short(seen: Evidence, uid: str) -> str:
    return seen.called(uid).partition("/")[2]
