"""The search for changes that turn the answer: options tried in one cycle, judged by those that
follow.

Volcano: none
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial, reduce
from itertools import islice
from math import inf
from operator import add
from time import perf_counter
from typing import Any

from attrs import evolve

from volcano_lab.api import PIPELINED, RELEASING, JobInfo
from volcano_lab.api.objects import PodGroup, Queue
from volcano_lab.changes import Change
from volcano_lab.changes.words import any_of
from volcano_lab.explain.candidates import candidates, distinct
from volcano_lab.explain.evidence import Evidence, counts, fails_to_start, unbound
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import SWITCHED, Option, Rank, World, apart, in_order, switched
from volcano_lab.explain.outcome import BY_ITSELF, LARGE, Outcome, alone, outcome
from volcano_lab.explain.owners import ended_as
from volcano_lab.explain.price import costs, placed_before, price, surplus
from volcano_lab.explain.promises import promise_fails
from volcano_lab.explain.remedy import Remedy, by_owner, gains, spared
from volcano_lab.explain.trial import Deadline, TooLate, Trial, run
from volcano_lab.explain.why_job import job_causes
from volcano_lab.framework import SchedulerConfiguration, Session
from volcano_lab.framework.observer import joined
from volcano_lab.manifests.admission import verdicts
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.manifests.owners import job_of
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS, CauseTrace, Names

LATE, NOTHING, ADMITTED, PROMISED, PLACED = range(-1, 4)
"""What a cycle gives a job; it is promised places only where no pod leaves these."""
SETS, FIRSTS, ALIKE, LONGEST = 2, 6, 24, 6
"""Sets of changes that are offered, changes that begin one, alternatives of one kind, and the
changes of a set where none of two helps.
"""
LARGER = 8
"""Steps of an option that are tried where the first one that is enough evicts pods."""
ABOUT = 12
"""In a `LARGE` cluster nodes are counted to 1/`ABOUT`."""
PATIENCE, LIFE = 4, 2
"""A try has 1/`PATIENCE` of the time, the cycles that follow it as much as `LIFE` tries; in a
`LARGE` cluster as much as one.
"""
ALTERNATIVES = ("uncordon", "repair", "label", "queue", "group")
"""Options of a kind of which any one does; each of the other kinds is shown alone."""
ALONE = ("cut", "queue", "minimum", "guard")
"""Kinds that are no part of a set: a job that is smaller, or elsewhere, is another job; and what
lets gangs be broken is for no job's sake.
"""
SPARING, EVERY = frozenset({*range(Rank.OTHERS), Rank.LESS}), frozenset(range(Rank.WAIT))
"""Ranks of what is part of a set before nodes are bought, and then."""
SUMS = re.compile(r"\.(more|overcommit-factor|unschedulable|taints|requests|capability|tolerations"
                  r"|minResources|nodeSelector|affinity|labels)\b")
"""Settings by which allocate alone may place a job: no pod has to be evicted for it."""
FIRST = re.compile(r"(job|queue)/.*\.priority=")
"""A setting by which a job is served before others: with another one, allocate may place it."""


def smallest(turns: Callable[[int], bool], steps: int, first: int = 1, near: int = 1) -> int | None:
    """The fewest steps that turn the answer, or at most `near` minus one more, where more steps
    never turn it back; None where none does. `first` is tried before all others; what the most do
    not help is given up at once.

    >>> smallest(lambda step: step >= 11, 100), smallest(lambda step: False, 100), smallest(
    ...     lambda step: step >= 7, 9, 7), smallest(lambda step: step >= 50, 500, 80, near=16)
    (11, None, 7, 64)
    """
    low, high = 0, first
    if not turns(first):
        if first == steps or not turns(steps):
            return None
        low, high = first, min(2 * first, steps)
        while not turns(high):
            low, high = high, min(2 * high, steps)
    middle = (low + high) // 2 if low else high - near  # what is enough by sums often just is
    while high - low > near:
        low, high = (low, middle) if turns(middle) else (middle, high)
        middle = (low + high) // 2
    return high


def _freed(ssn: Session, job: JobInfo) -> bool:
    """Whether pods leave a node to which a job's pods are pipelined."""
    nodes = {task.node_name for task in job.in_status(PIPELINED).values()}
    return any(task.status == RELEASING for node in nodes
               for task in ssn.nodes[node].tasks.values())


def _sum(options: Iterable[Option]) -> Change:
    return reduce(add, (option.most for option in options), Change())


def _first(causes: Sequence[Cause]) -> str:
    """What is said of the cause that comes first and is no context."""
    return next((cause.text for cause in causes if not cause.context), "")


def _by_sums(change: Change) -> bool:
    """Whether a change gives a job its places by what is free then, without evictions."""
    rest = [text for text in change.settings if not FIRST.match(text)]
    return all(map(SUMS.search, rest)) and bool(rest or change.removals)


class Search:
    """Tries options and judges by the cycles that follow whether one job gets its places; with
    `keep`, whether it keeps its pods.
    """

    def __init__(self, seen: Evidence, job: JobInfo, pod: str, end: float, patience: float = inf,
                 keep: bool = False):
        self.seen, self.job, self.pod, self.before = seen, job, pod, seen.ssn
        self.end, self.patience, self.keep = end, patience, keep
        self.watched = "" if keep else job.uid  # cycles go on though it has its places
        self.large = len(seen.ssn.nodes) >= LARGE
        self.world = World(seen.objects, seen.ssn.conf, seen.called)
        self.trial = Trial(seen.objects, job.uid, seen.ssn.now)
        placed, promised, waiting = counts(job)
        self.places = placed + (0 if promise_fails(seen, job) else promised)
        self.lost = bool(job.tasks) and not waiting and not pod
        self.elsewhere = job.uid in map(job_of, seen.elsewhere.values())
        self.offered: set[Change] = set()
        self._refused: set[Change] = set()  # by the cycles that follow
        self._known: dict[Change, int] = {}
        self._enough: tuple[int, ...] = PLACED, PROMISED, ADMITTED  # what an option is to give
        self._loops = False  # whether the change that was judged last evicts again and again

    @cached_property
    def _over(self) -> set[str]:
        """The jobs whose owner has ended, or whose pods do not keep running."""
        return {uid for uid, job in self.before.jobs.items()
                if ended_as(self.seen, job) or fails_to_start(job)}

    @cached_property
    def base(self) -> Outcome:
        """What becomes of the cluster without a change. In a large one promised places count as
        places, as cycles take long.
        """
        leaves = any(job.in_status(RELEASING) for job in self.before.jobs.values())
        if self.keep or (leaves and not self.large):
            return alone(self.seen, self.end)
        found = Outcome()
        found.add(self.before, self.seen.trace)
        return found

    def as_before(self, after: Outcome) -> bool:
        """Whether a change evicts pods again and again only of jobs that lose them so without it;
        in a large cluster, pods only of queues that do, by the same actions.
        """
        if not self.large:
            return after.again <= alone(self.seen, self.end).again
        return after.kinds <= self.base.kinds or after.kinds <= alone(
            self.seen, self._until(BY_ITSELF), lambda found: after.kinds <= found.kinds).kinds

    # -- the search -------------------------------------------------------------------------------

    def found(self, causes: list[Cause]) -> Iterator[Remedy]:
        """The remedies in the order of their rank, then sets of changes, more nodes, the end of
        those that hold what it takes.
        """
        options = candidates(self.world, self.before, self.job, causes, self.keep)
        if self.keep:
            yield from self.singles(options)
            return
        own = [option for option in options if option.rank < Rank.REQUEST]
        late = [option for option in options if option.rank in (Rank.NODES, Rank.LESS)]
        waits = [each for each in options if each.rank == Rank.WAIT][:1 if self.large else 2]
        requests = [option for option in options if option.rank == Rank.REQUEST]
        several = [*own, *(option for option in late if option.rank == Rank.LESS)]
        if self.large:
            yield from self._large(several, [*waits, *late], requests)
            yield from self.sets(several, SPARING)
        else:
            yield from self.singles(own)
            yield from self.sets(several, SPARING)
            yield from self.singles(late)
        if not self.offered:
            yield from islice(self.singles(self._sized(late)), 1)
            yield from self.sets([*own, *late], EVERY)
        if not self.offered:
            yield from self.chain()
        yield from sorted(self.singles(waits), key=lambda each: len(each.made.removals))[:1]
        if all(not change.settings or ".more=" in change.settings[0] for change in self.offered):
            yield from self.singles(requests)

    def _large(self, several: Sequence[Option], late: Sequence[Option], requests: Sequence[Option]
               ) -> Iterator[Remedy]:
        """First what needs no evictions, alone and in sets with what has the job served first: each
        try is short.
        """
        quick = [each for each in (*several, *late) if _by_sums(each.most)]
        firsts = [each for each in several if all(map(FIRST.match, each.most.settings))]
        rest = [each for each in several if each not in quick and each not in firsts]
        sized = self._sized(late)
        yield from self.singles([*(each for each in quick if each.rank != Rank.NODES), *firsts])
        yield from self.sets(firsts, EVERY, quick)
        yield from self.sets([] if self.offered else firsts, EVERY, sized)
        yield from self.singles(sized)
        yield from self.sets([] if self.offered else [
            each for each in rest if each.rank == Rank.LESS], EVERY, quick)
        yield from self.singles(requests if self.offered else ())
        for self._enough in ((PLACED, PROMISED), (PLACED, PROMISED, ADMITTED)):
            yield from self.singles(rest)

    def _sized(self, options: Sequence[Option]) -> list[Option]:
        """The options of more nodes, up to as many as there are: for the jobs too that are served
        before this one.
        """
        most = max(len(self.before.nodes), self.job.min_available)
        return [evolve(option, steps=max(2 * option.steps, most))
                for option in options if option.rank == Rank.NODES]

    def singles(self, options: Sequence[Option]) -> Iterator[Remedy]:
        """The remedies of one option each; alternatives of one kind together."""
        alike: set[Change] = set()
        for number, option in enumerate(options):
            if perf_counter() > self.end:
                return
            change = None if option.most in alike else self.fewest(option)
            if change is None or change in self.offered | self._refused:
                continue
            others = self._others(option, options[number + 1:], Change())
            alike |= {*others}
            remedy = self.judged(change, option.rank, others)
            if remedy is None:
                self._refused.add(change)
                remedy = self._steadied(change, option.rank) if self._loops else None
            if remedy is not None:
                remedy = self._without_evictions(option, remedy)
                self.offered.add(remedy.made)
                yield remedy

    def _without_evictions(self, option: Option, remedy: Remedy) -> Remedy:
        """The next larger change of an option that evicts no pod, where the smallest does."""
        if remedy.price.evicts and option.rank == Rank.QUEUE and _by_sums(remedy.made):
            changes = [option.at(step + 1) for step in range(min(option.steps, LARGER))]
            for change in changes[changes.index(remedy.made) + 1:] if (
                    remedy.made in changes) else ():
                other = self.judged(change, option.rank)
                if other is not None and not other.price.evicts:
                    return other
        return remedy

    def _others(self, option: Option, options: Sequence[Option], beside: Change
                ) -> tuple[Change, ...]:
        """Alternatives of an option that do the same, with another change `beside` them."""
        same = [beside + each.most for each in options if option.kind in ALTERNATIVES
                and each.kind == option.kind and each.steps == 1]
        return tuple(change for change in same[:ALIKE] if self.at(change) == PLACED)

    def _steadied(self, change: Change, rank: int) -> Remedy | None:
        """A change for which pods are evicted again and again, with what ends that: allocate before
        what evicts, or that drf names no victims where a tier above names none.
        """
        actions = self.world.applied(change)[1].actions
        ends = [in_order(self.world), *(switched("drf", switch, False)
                                        for name, switch in SWITCHED.items() if name in actions)]
        for other in distinct(self.world, ends):
            if perf_counter() < self.end and not other.most.targets & change.targets:
                remedy = self.judged(other.most + change, max(other.rank, rank))
                if remedy is not None:
                    return remedy
        return None

    def fewest(self, option: Option) -> Change | None:
        """The smallest change of an option with which the job is placed; where one only promises
        it places, or admits it, that one: later cycles may give it a place.
        """
        sums, first = self.large and _by_sums(option.most), option.at(option.first)
        if sums and self.at(first) == PLACED:  # sums say how much; the cycles that follow, whether
            return first
        near = option.steps // ABOUT if sums and option.rank == Rank.NODES else 0
        for wanted in self._enough:
            steps = smallest(partial(self._reaches, option, wanted),
                             option.steps, near * ABOUT // 2 or option.first, near or 1)
            if steps is not None:
                return option.at(steps)
            if sums or option.rank == Rank.WAIT or self.best(option) < ADMITTED:
                break
        return None

    def sets(self, options: Sequence[Option], ranks: frozenset[int],
             seconds: Sequence[Option] | None = None) -> Iterator[Remedy]:
        """Two changes where none does alone: a first one in full, and one of the `seconds`, or what
        the job then lacks (of these ranks); each as small as the other allows. Those that change
        least come first.
        """
        firsts = [option for option in options if (option.kind not in ALONE or Rank.NODES in ranks)
                  and option.most not in self.offered
                  and self.at(option.most) < PLACED and NOTHING <= self.best(option) < PLACED]
        found: list[Remedy] = []
        tried = set(self.offered)
        for first in sorted(firsts, key=lambda option: -self.best(option))[:FIRSTS]:
            for change, most, alike in self._after(
                    first, self._seconds(first, ranks) if seconds is None else seconds):
                if any(change.has(each) for each in tried):
                    continue
                tried |= {change, *alike}
                found += filter(None, [self.judged(change, most, alike)])
            if perf_counter() > self.end or len(found) >= FIRSTS:
                break
        self.offered |= {remedy.made for remedy in found}
        yield from sorted(found, key=lambda remedy: remedy.rank)[:SETS]

    def _after(self, first: Option, seconds: Sequence[Option]
               ) -> Iterator[tuple[Change, int, tuple[Change, ...]]]:
        """The sets that begin with an option, how much they change, and their alternatives."""
        alike: set[Change] = set()
        for number, second in enumerate(seconds):
            both = first.most + second.most
            other = apart(self.world, first.most, second.most)
            if both in alike or second.most == first.most or other in self.offered or (
                    self.at(other) == PLACED):
                continue
            if self.at(both) != PLACED:
                continue
            done = self._least(second, first.most, Change())
            least = self._least(first, Change(), done)
            others = self._others(second, seconds[number + 1:], least)
            alike |= {first.most + each.most for each in seconds if least + each.most in others}
            yield least + done, max(first.rank, second.rank), others

    def _least(self, option: Option, before: Change, after: Change) -> Change:
        """The least of an option with which a set places the job: between two other changes."""
        steps = smallest(lambda step: self.at(before + option.at(step) + after) == PLACED,
                         option.steps, option.first)
        return option.at(steps or option.steps)

    def _seconds(self, first: Option, ranks: frozenset[int]) -> list[Option]:
        """What may be changed besides an option: by what the job waits for after it."""
        return [option for option in self._next(first.most)[1]
                if (option.rank in ranks or option.rank == Rank.WAIT)
                and (option.kind not in ALONE or Rank.NODES in ranks)]

    def _next(self, change: Change) -> tuple[list[Cause], list[Option]]:
        """What the job waits for after a change, and what may turn that; nothing once it has all
        its places.
        """
        trace = CauseTrace(self.job.uid)
        try:
            objects, conf = self.world.applied(change)
            ssn = run(objects, conf, self.before.now, joined(Deadline(self._until()), trace))
        except (ManifestError, TooLate):
            return [], []
        job = ssn.jobs.get(self.job.uid)
        if job is None or not unbound(job):
            return [], []
        world = World(objects, conf, self.seen.called)
        brought = tuple(f"node/{name}." for name in world.nodes.keys() - self.world.nodes.keys())
        given = () if self.large and counts(job)[2] else objects  # what is read of them takes long
        causes = job_causes(Evidence(ssn, trace, given), job)
        return causes, [option for option in candidates(world, ssn, job, causes)
                        if not any(text.startswith(brought) for text in option.most.settings)]

    def chain(self) -> Iterator[Remedy]:
        """One set of several changes: what turns the first cause, then what turns the cause that is
        first after it; each as small as the others allow.
        """
        done: list[Option] = []
        causes, options = self._next(Change())
        while causes and len(done) < LONGEST and self.at(made := _sum(done)) != PLACED:
            for option in options:
                if option.kind not in ALONE or (option.kind, option.rank) == ("cut", Rank.JOB):
                    turned, following = self._next(made + option.most)
                    if self.at(made + option.most) == PLACED or _first(turned) != _first(causes):
                        break
            else:
                return
            done, causes, options = [*done, option], turned, following
        if not done or self.at(_sum(done)) != PLACED:
            return
        for option in [*done]:
            rest = [each for each in done if each is not option]
            done = rest if self.at(_sum(rest)) == PLACED else done
        made = Change()
        for place, option in enumerate(done):
            made += self._least(option, made, _sum(done[place + 1:]))
        remedy = self.judged(made, max(option.rank for option in done))
        yield from [remedy] if remedy is not None else ()

    # -- one change -------------------------------------------------------------------------------

    def best(self, option: Option) -> int:
        """The best outcome of an option that was seen."""
        changes = map(option.at, {1, option.first, option.steps})
        return max((self._known[change] for change in changes if change in self._known),
                   default=NOTHING)

    def at(self, change: Change) -> int:
        """What a cycle with the change gives the job."""
        if change not in self._known:
            if perf_counter() > self.end:
                return LATE
            try:
                self._known[change] = self._run(
                    *self.world.applied(change), self.large and _by_sums(change))
            except ManifestError:
                self._known[change] = NOTHING
            except TooLate:
                self._known[change] = LATE
        return self._known[change]

    def _run(self, objects: Any, conf: SchedulerConfiguration, by_sums: bool = False) -> int:
        """One cycle, without evictions where sums alone decide; where the job has its promise
        already or is evicted, those that follow.
        """
        if self.keep or self.lost:
            after = outcome(objects, conf, self.watched, self.before.now, self._until(),
                            None if self.keep else self.as_before)
            turns = self._keeps(after) if self.keep else (
                after.runs(self.job.uid) and not self._loops_beyond(after))
            return PLACED if turns else NOTHING
        return self.gives(self.trial.run(objects, conf, lambda ssn: self.gives(ssn) == PLACED,
                                         self._until(), POINTS if by_sums else ()))

    def _until(self, tries: int = 1) -> float:
        """Until when a try may take, or what takes as long as a number of `tries`."""
        return min(self.end, perf_counter() + tries * self.patience)

    def _reaches(self, option: Option, wanted: int, step: int) -> bool:
        return self.at(option.at(step)) >= wanted

    def gives(self, ssn: Session | None) -> int:
        """Whether the job has its places (or more than it had), or was admitted at least."""
        job = None if ssn is None else ssn.jobs.get(self.job.uid)
        if ssn is None or job is None:
            return NOTHING
        if len(job.in_status(RELEASING)) > len(self.job.in_status(RELEASING)) and not self.pod:
            return NOTHING  # it would lose pods of its own
        starts = bool(job.tasks) and (job.is_ready() or ssn.job_pipelined(job))
        if starts and (sum(counts(job)[:2]) > self.places or self._has_pod(job)):
            return PLACED if job.is_ready() or _freed(ssn, job) else PROMISED
        return ADMITTED if self.job.is_pending() and not job.is_pending() else NOTHING

    def _loops_beyond(self, after: Outcome) -> bool:
        return bool(after.loops) and (after.touches(self.watched) or not self.as_before(after))

    def _keeps(self, after: Outcome) -> bool:
        """Whether fewer pods of the job are evicted than without the change, and none for ever."""
        uid = self.job.uid
        return after.evicted[uid] < self.base.evicted[uid] and uid not in after.again

    def _has_pod(self, job: JobInfo) -> bool:
        return any(task.key == self.pod and task.node_name for task in job.tasks.values())

    def _inadmissible(self, objects: Any) -> bool:
        """Whether Volcano's webhooks would refuse the change by a rule that is not broken yet."""
        before, after = ({(verdict.label, verdict.rule) for verdict in verdicts(
            [obj for obj in some if isinstance(obj, Queue | PodGroup)])}
            for some in (self.seen.objects, objects))
        return bool(after - before)

    def judged(self, change: Change, rank: int, alike: tuple[Change, ...] = ()) -> Remedy | None:
        """The remedy that a change is, by the cycles that follow it from the manifests on; None
        where the job does not run in the end, or pods are evicted again and again.
        """
        uid = self.job.uid
        try:
            world = self.world.applied(change)
            if self._inadmissible(world[0]):
                return None
            if not self.large:  # in a large one what controllers do besides takes too long
                world = change.given(self.seen.given, self.before.conf)
            had = self.base.placed(uid)
            after = outcome(*world, self.watched, self.before.now,
                            self._until(1 if self.large else LIFE), self.as_before)
            self._loops = self._loops_beyond(after)
        except (ManifestError, TooLate):
            return None
        job = after.last.jobs.get(uid) if after.last is not None else None
        if job is None or after.rest is None or self._loops or (self.elsewhere and not job.tasks):
            return None
        if not (self._keeps(after) if self.keep else after.runs(uid) and (
                after.placed(uid) > had or not job.tasks or self._has_pod(job))):
            return None
        return self._remedy(change, rank, alike, after)

    def _remedy(self, change: Change, rank: int, alike: tuple[Change, ...], after: Outcome
                ) -> Remedy:
        """What a change gives and takes."""
        assert after.rest is not None and after.last is not None
        uid, jobs = self.job.uid, after.last.jobs
        late = after.loops or (after.gone if self.large and after.cycles > 1 else [])
        queues = sorted({jobs[each.job].queue for each in late if each.job in jobs})
        on = [Message("cost.goes_on", queues=queues)] if queues else []
        cost = price(self.base, after.begun(uid) if self.large else after,
                     {} if rank == Rank.WAIT else placed_before(self.before), uid, self._over)
        cost.surplus = surplus(self.before, after.last, uid)
        names = Names(after.rest.session)
        brings = spared(self.seen, self.base, after, uid) if self.keep else gains(
            self.seen, self.before, after, uid)
        return Remedy(any_of([self.world.described(each, rank == Rank.WAIT)
                              for each in (change, *alike)]),
                      (*by_owner(self.seen, self.job, change), *brings,
                       *costs(self.seen.called, cost), *on),
                      change, rank, self.world, names.called(uid),
                      counts(after.rest.session.jobs[uid])[0], cost, alike)
