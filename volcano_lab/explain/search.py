"""The search for changes that turn the answer: options alone, two at once, one after another.

Volcano: none
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any

from attrs import evolve

from volcano_lab.changes import Change
from volcano_lab.explain import configuration, why_job
from volcano_lab.explain.candidates import candidates, steadying
from volcano_lab.explain.evidence import Evidence, counts, unbound
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.head import first_gap
from volcano_lab.explain.options import Option, Rank, World, smallest
from volcano_lab.explain.outcome import Deadline, TooLate, run
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.tries import ADMITTED, FIRST, NOTHING, PLACED, PROMISED, Tries, by_sums
from volcano_lab.explain.values import cuts_more
from volcano_lab.framework import joined
from volcano_lab.manifests import ManifestError
from volcano_lab.messages import Message
from volcano_lab.trace import CauseTrace, grouped

SETS, FIRSTS, ALIKE, LONGEST = 2, 6, 24, 6
"""Sets that are offered, changes that begin one, alternatives of a kind, changes of a `chain`."""
LARGER, ABOUT = 8, 12
"""The most nodes for all pods of a job; in a `LARGE` cluster nodes are counted to 1/`ABOUT`."""
ALTERNATIVES = ("uncordon", "repair", "label", "queue", "group", "topology", "slots", "class")
"""Options of a kind of which any one does; each of the other kinds is shown alone."""
ALONE = ("cut", "queue", "minimum", "guard")
"""Kinds that are no part of a set: they make it another job, or break gangs for no job's sake."""
LESS = re.compile(r"\.min(Available|Member|TaskMember\.[^=]*)=")
"""A setting that places a job with fewer of its pods."""
SPARING, ANY = frozenset({*range(Rank.OTHERS), Rank.LESS}), frozenset(range(Rank.WAIT))
EVERY = ANY - {Rank.REQUEST}
"""Ranks in sets before nodes are bought, last of all, and before requests are cut by much."""


def _sum(options: Iterable[Option]) -> Change:
    return sum((option.most for option in options), Change())


def _first(causes: Sequence[Cause]) -> str:
    """What is said of the cause that comes first and is no context."""
    return next((cause.text for cause in causes if not cause.context), "")


class Search(Tries):
    """Finds the remedies of one job among the options for its causes."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self.offered: set[Change] = set()
        self._refused: set[Change] = set()  # by the cycles that follow
        self._now = ""  # what it waits for without a change
        self._none_ends = False  # of those that hold what it lacks
        self._enough: tuple[int, ...] = PLACED, PROMISED, ADMITTED  # what an option is to give

    def found(self, causes: list[Cause]) -> Iterator[Remedy]:
        """The remedies by their rank, then sets of changes, more nodes, the end of those that hold
        what it takes; in a large cluster first what takes short tries.
        """
        options = candidates(self.world, self.before, self.job, causes, self.keep)
        self._now = str(first_gap(causes))
        self._none_ends = any("deadlock" in cause.numbers for cause in causes)
        if self.keep:
            yield from self.singles(options)
            return
        own, late, less, waits, requests = (
            [option for option in options if option.rank in ranks]
            for ranks in (range(Rank.REQUEST), (Rank.NODES, Rank.LESS), (Rank.LESS,), (Rank.WAIT,),
                          (Rank.REQUEST,)))
        several, waits = [*own, *less], waits[:1 if self.large else 2]
        yield from self._large(several, [*waits, *late], requests) if self.large else (
            self.singles(own))
        yield from self.sets(several, SPARING)
        if not self.large:
            yield from self.singles(late)
        if self._leaves_less():
            yield from islice(self.singles(self._sized(late)), 1)
            yield from self.sets([*own, *late], EVERY)
        if self._leaves_less():
            yield from self.chain()
        yield from sorted(self.singles(waits), key=lambda each: len(each.tried.removals))[:1]
        if all(not change.settings or ".more=" in change.settings[0] for change in self.offered):
            yield from self.singles(requests)
        if not self.offered:
            yield from self.sets(several, ANY)

    def _leaves_less(self) -> bool:
        """Whether what is offered so far but waiting, if anything, places the job with a lower
        minimum only.
        """
        return all(LESS.search(text) for change in self.offered for text in change.settings)

    def _large(self, several: Sequence[Option], late: Sequence[Option], requests: Sequence[Option]
               ) -> Iterator[Remedy]:
        """First what needs no evictions, alone and in sets with what has the job served first: each
        try is short.
        """
        quick = [each for each in (*several, *late)
                 if each.rank != Rank.LESS and by_sums(each.most)]
        firsts = [each for each in several if all(map(FIRST.match, each.most.settings or [""]))]
        sized = self._sized(late)
        yield from self.singles([*(each for each in quick if each.rank != Rank.NODES), *firsts])
        yield from self.sets(firsts, EVERY, quick)
        yield from self.sets([] if self.offered else firsts, EVERY, sized)
        yield from self.singles(sized)
        yield from self.singles(requests if self.offered else ())
        for self._enough in ((PLACED, PROMISED), (PLACED, PROMISED, ADMITTED)):
            yield from self.singles([each for each in several if each not in (*quick, *firsts)])

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
            if change is None or change in self._refused or any(
                    change.has(each) or cuts_more(change, each) for each in self.offered):
                continue
            others = self._others(option, options[number + 1:], Change())
            alike |= {*others}
            remedy = self.judged(change, option.rank, others)
            if option.kind == "queue" and remedy is not None and remedy.price.evicts:
                continue  # another queue is for what is free there
            if remedy is None:
                self._refused.add(change)
                remedy = self._steadied(change, option.rank) or self._by_sums(option)
                if remedy is None and option.rank == Rank.WAIT and not self.large:  # or deleted
                    remedy = self.judged(change, Rank.OTHERS)
            if remedy is not None:
                wide = self.large and option.rank == Rank.NODES
                remedy = (self._fewer if wide else self._larger)(option, remedy)
                self.offered |= {remedy.tried, *remedy.alike}
                yield remedy

    def _by_sums(self, option: Option) -> Remedy | None:
        """What is enough by sums, where less turns one cycle by evictions and does not hold."""
        enough = option.at(option.first)
        turns = enough not in self._refused and self.at(enough) == PLACED
        return self.judged(enough, option.rank) if turns else None

    def _fewer(self, option: Option, remedy: Remedy) -> Remedy:
        """As many nodes as the job takes of those that were found in wide steps."""
        taken = sum(new.facts["n"] for said in remedy.brings
                    for new in said.facts.get("nodes", ()) if isinstance(new, Message))
        fewer = option.at(taken or 1)
        low = any(self._known.get(option.at(step), PLACED) < PLACED  # no fewer turn the answer
                  for step in range(taken, option.steps))
        turns = fewer != remedy.tried and not low and self.at(fewer) == PLACED
        return self.judged(fewer, option.rank) or remedy if turns else remedy

    def _larger(self, option: Option, remedy: Remedy) -> Remedy:
        """The smallest change of a queue that evicts no pod, where `remedy` evicts some; and that
        of nodes, or a little smaller requests, for all pods of the job, where it places some.
        """
        nodes, pods = option.rank == Rank.NODES, len(self.job.tasks)
        spares = bool(remedy.price.evicts) and option.rank == Rank.QUEUE and by_sums(remedy.tried)
        fills = (nodes or (option.kind, option.rank) == ("cut", Rank.JOB)) and not (
            self.large or remedy.placed >= pods)
        least = next((step for step in range(1, option.steps + 1) if spares or fills
                      if option.at(step) == remedy.tried), 0)
        found = dict.fromkeys(range(least + 1), remedy)

        def enough(step: int) -> bool:
            if step not in found:
                found[step] = self.judged(option.at(step), option.rank) or remedy
            return not found[step].price.evicts if spares else found[step].placed >= pods

        if not least:
            return remedy
        most = max(option.steps, min(counts(self.job)[2], LARGER) if nodes else 0)
        return found[smallest(enough, most, least) or least]

    def _others(self, option: Option, options: Sequence[Option], beside: Change
                ) -> tuple[Change, ...]:
        """Alternatives of an option that do the same, with another change `beside` them."""
        same = [beside + each.most for each in options if option.kind in ALTERNATIVES
                and each.kind == option.kind and each.steps == 1]
        return tuple(change for change in same[:ALIKE] if self.at(change) == PLACED)

    def _steadied(self, change: Change, rank: int) -> Remedy | None:
        """A change that helps for one cycle, with one that keeps what it gives."""
        for other in steadying(self.world, self.before, self.job, change, self._loops,
                               rank >= Rank.JOB and by_sums(change)):
            if perf_counter() < self.end and not other.targets & change.targets and (
                    remedy := self.judged(other + change, max(Rank.SWITCH, rank))):
                return remedy
        return None

    def fewest(self, option: Option) -> Change | None:
        """The smallest change of an option with which the job is placed; where one only promises
        it places, or admits it, that one: later cycles may give it a place.
        """
        sums, first = self.large and by_sums(option.most), option.at(option.first)
        if sums and self.at(first) == PLACED:  # sums say how much; the cycles that follow, whether
            return first
        near = option.steps // ABOUT if sums and option.rank == Rank.NODES else 0
        for wanted in self._enough:
            def enough(step: int, least: int = wanted) -> bool:
                return self.at(option.at(step)) >= least

            begin = (option.steps + 1) // 2 if near else option.first
            steps = smallest(enough, option.steps, begin, near or 1)
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
        kinds = () if Rank.NODES in ranks else ALONE
        firsts = [option for option in options if option.kind not in kinds
                  and option.most not in self.offered
                  and self.at(option.most) < PLACED and NOTHING <= self.best(option) < PLACED]
        found: list[Remedy] = []
        tried = set(self.offered)
        for first in sorted(firsts, key=lambda option: -self.best(option))[:FIRSTS]:
            then, options = self._next(first.most) if seconds is None else ([], seconds)
            alone = self._alone(then)
            some = [each for each in options if seconds or (
                each.rank in {*ranks, Rank.WAIT} and each.kind not in kinds)]
            for change, most, alike in self._after(first, some):
                if not any(map(change.has, tried)):
                    tried |= {change, *alike}
                    each = self.judged(change, most, alike)
                    found += [evolve(each, brings=(*each.brings, *alone)) if alone else each
                              ] if each else []
            if perf_counter() > self.end or len(found) >= FIRSTS:
                break
        yield from self._sets_of(found)

    def _alone(self, then: list[Cause]) -> list[Message]:
        """What the second change is for: why the job waits after the first one alone."""
        gap = first_gap(then)
        return [Message("gains.alone", gap=gap)] if gap and str(gap) != self._now else []

    def _sets_of(self, found: list[Remedy]) -> list[Remedy]:
        """The first sets, and none that differs from another one in the jobs that end alone."""
        self.offered |= {each for remedy in found for each in (remedy.tried, *remedy.alike)}
        sets = grouped((remedy.tried.settings, remedy) for remedy in sorted(
            found, key=lambda remedy: remedy.rank))
        return [first for first, *_ in sets.values()][:SETS]

    def _after(self, first: Option, seconds: Sequence[Option]
               ) -> Iterator[tuple[Change, int, tuple[Change, ...]]]:
        """The sets that begin with an option, how much they change, and their alternatives."""
        alike: set[Change] = set()
        for number, second in enumerate(seconds):
            both = first.most + second.most
            other = configuration.apart(self.world, first.most, second.most)
            if both in alike or second.most == first.most or other in self.offered or (
                    self.at(other) == PLACED or self.at(both) != PLACED):
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
        causes = why_job.job_causes(Evidence(ssn, trace, given), job)
        return causes, [option for option in candidates(world, ssn, job, causes)
                        if not (self._none_ends and option.rank == Rank.WAIT) and not any(
                            text.startswith(brought) for text in option.most.settings)]

    def _step(self, change: Change, causes: list[Cause], options: list[Option]
              ) -> tuple[Option, list[Cause], list[Option]] | None:
        """The first option that turns the first cause, with what the job waits for then; or else
        the first one after which others may help that could not before.
        """
        known, opening = {option.most for option in options}, None
        for option in options:
            if option.kind not in ALONE or (option.kind, option.rank) == ("cut", Rank.JOB):
                turned, following = self._next(change + option.most)
                step = option, turned, following
                if self.at(change + option.most) == PLACED or _first(turned) != _first(causes):
                    return step
                if any(each.most not in known and each.kind not in ALONE
                       and each.rank < Rank.NODES for each in following):
                    opening = opening or step
        return opening

    def chain(self) -> Iterator[Remedy]:
        """One set of several changes: what turns the first cause, then what turns the cause that is
        first after it; each as small as the others allow.
        """
        done: list[Option] = []
        causes, options = self._next(Change())
        while causes and len(done) < LONGEST and self.at(_sum(done)) != PLACED and (
                step := self._step(_sum(done), causes, options)):
            done, causes, options = [*done, step[0]], *step[1:]
        if not done or self.at(_sum(done)) != PLACED:
            return
        for option in [*done]:
            rest = [each for each in done if each is not option]
            done = rest if self.at(_sum(rest)) == PLACED else done
        change = Change()
        for place, option in enumerate(done):
            change += self._least(option, change, _sum(done[place + 1:]))
        if change not in self.offered:
            self.offered.add(change)
            yield from filter(None, [self.judged(change, max(option.rank for option in done))])
