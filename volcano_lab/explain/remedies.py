"""What would change the answer: the smallest turn of one thing, found by running the cycle again,
verified by it, and told with what it costs others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from math import inf
from time import perf_counter

import attrs
from attrs import Factory, define, field

from volcano_lab.api import PIPELINED, RELEASING, JobInfo
from volcano_lab.api.objects import PodGroup, Queue
from volcano_lab.api.status import READY_STATUSES
from volcano_lab.explain.candidates import candidates, keeping
from volcano_lab.explain.evidence import CauseTrace, Evidence, counts
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.knob import Objects, Rank
from volcano_lab.explain.knobs import Knob, Knobs
from volcano_lab.explain.nodes import STATIC
from volcano_lab.explain.pasted import arguments, outcome
from volcano_lab.explain.trial import Trial, run
from volcano_lab.explain.why_job import job_causes
from volcano_lab.framework import SchedulerConfiguration, Session
from volcano_lab.manifests.admission import verdicts
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import listed
from volcano_lab.scheduler import traced

NOTHING, ADMITTED, PLACED = range(3)
MOST, PAIRS, FIRSTS, NODES_MORE = 8, 2, 4, 256
"""Remedies that are sought, the first ones change least; pairs of changes among them, and changes
that begin one; where nothing else helps twice as many begin one, and so many nodes are tried.
"""
FAR = 16
"""So many steps are not tried before twice as many as first: a large change takes long to try."""
LARGE, FEW = 200, 3
"""In a cluster of so many nodes, in which a try takes long, so few remedies are sought."""


@define(slots=True, frozen=True)
class Remedy:
    """One change that turns the answer: of `what`, in which `field`, from `before` to `after`.

    `change` tells it in words, `effect` what it brings about, for others too. `objects` and `conf`
    are those with which the cycle ran; with one step less (`steps` - 1) the answer stayed. `rank`
    says how much it changes. `args` are those of `what-if` for it, with which so many pods of the
    `job` are `placed`; none where there are no words for it.
    """

    what: str
    field: str
    before: str
    after: str
    change: str
    effect: str
    steps: int
    rank: int
    objects: Objects = field(repr=False, eq=False)
    conf: SchedulerConfiguration = field(repr=False, eq=False)
    args: list[str] = Factory(list)
    job: str = ""
    placed: int | None = None

    @classmethod
    def of(cls, knob: Knob, steps: int, effect: str) -> Remedy:
        """A knob that was turned so far."""
        after, objects, conf = knob.turn(steps)
        return cls(knob.what, knob.field, knob.before, after, knob.text(after), effect, steps,
                   knob.rank, objects, conf)

    def __str__(self) -> str:
        return f"{self.change} ({self.effect})"

    def tried(self, seen: Evidence, uid: str) -> Remedy:
        """The same as `what-if` takes it, with what `what-if` says of the job."""
        args = arguments(seen.objects, self.objects, seen.ssn.conf, self.conf)
        try:
            job, placed = outcome(seen.given, args, seen.ssn.conf, uid, seen.ssn.now)
        except (ManifestError, LookupError):
            return self
        return attrs.evolve(self, args=args, job=job, placed=placed) if args else self


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
    """Verified changes for a job that waits, those that change least first, each as soon as it is
    found: those that give its gang (else more of its pods, or the one that is asked about) a place,
    then some of those that admit it, and for whom it may wait. None after so many `seconds`.
    """
    end = inf if seconds is None else perf_counter() + seconds
    knobs = Knobs(seen.objects, seen.ssn.conf, seen.called)
    known = candidates(knobs, seen.ssn, job, causes)
    waits = [known.pop() for knob in known[-1:] if knob.rank == Rank.WAIT]
    own = [knob for knob in known if knob.rank < Rank.REQUEST]
    never = any(cause.context and cause.code in ("pod_too_large", *STATIC) for cause in causes)
    most = MOST if len(seen.ssn.nodes) < LARGE else FEW
    search, found, admitting = _Search(seen, job, pod), 0, []
    for knob in chain(own, ("pairs",), known[len(own):]):
        if found >= most or perf_counter() > end:
            break
        if knob == "pairs":
            switches = [each for each in own if each.rank == Rank.SWITCH and each.steps == 1]
            pairs = () if found else search.pairs(knobs, own, switches, Rank.QUEUE, end)
            for remedy in islice(pairs, PAIRS):
                found += 1
                yield remedy
            continue
        remedy = search.fewest(knob, PLACED)
        if remedy is not None:
            found += 1
            yield remedy
        elif search.best(knob) == ADMITTED and not never:
            admitting.append(knob)
    if not found and perf_counter() < end:
        more = (search.fewest(attrs.evolve(knob, steps=max(NODES_MORE, knob.steps)), PLACED)
                for knob in known if knob.rank == Rank.NODES)
        firsts = [knob for knob in known if knob.rank not in (Rank.OTHERS, Rank.REQUEST)]
        last = chain(islice(filter(None, more), 1),
                     islice(search.pairs(knobs, known, firsts, Rank.NODES, end), PAIRS))
        yield from sorted(last, key=lambda remedy: remedy.rank)
    for knob in admitting[:2 if found else most] + waits * (most == MOST or not found):
        goal = PLACED if knob in waits and job.tasks else ADMITTED
        remedy = search.fewest(knob, goal) if perf_counter() < end else None
        yield from [remedy] if remedy else ()


def remedies_that_spare(seen: Evidence, key: str, causes: list[Cause],
                        seconds: float | None = None) -> Iterator[Remedy]:
    """Verified changes of the configuration with which a job loses fewer pods than this one and
    others.
    """
    end = inf if seconds is None else perf_counter() + seconds
    knobs = Knobs(seen.objects, seen.ssn.conf, seen.called)
    uid = seen.trace.start["tasks"][key]["job"]
    lost, name = len(seen.ssn.jobs[uid].in_status(RELEASING)), _short(seen, uid)
    queue, action = seen.ssn.jobs[uid].queue, causes[0].records[-1]["action"]
    unasked = ["priority"] if action == "preempt" else [
        plugin for cause in causes for plugin in cause.numbers.get("later", ())]
    for knob in (*(knob for plugin in unasked for knob in knobs.with_plugin(plugin)),
                 *(knobs.reclaimable(queue, False) if action == "reclaim" else ()),
                 *knobs.switch("gang", "enableJobStarving", True), *keeping(knobs, action),
                 *knobs.without_action(action)):
        if perf_counter() > end:
            return
        ssn = run(*knob.turn(1)[1:], seen.ssn.now)
        fewer = len(ssn.jobs[uid].in_status(RELEASING))
        if fewer < lost:
            told = "; ".join((f"{name} loses {fewer or 'no'} pod{'s' * (fewer != 1)}"
                              + f" instead of {lost}" * bool(fewer),
                              *_costs(seen, seen.ssn, ssn, uid)))
            yield Remedy.of(knob, 1, told).tried(seen, uid)


class _Search:
    """Turns knobs and looks what becomes of one job."""

    def __init__(self, seen: Evidence, job: JobInfo, pod: str):
        self.seen, self.job, self.pod, self.before = seen, job, pod, seen.ssn
        self.trial = Trial(seen.objects, job.uid, seen.ssn.now)
        self.places = sum(counts(job)[:2])
        self._known: dict[tuple[Knob, int], int] = {}
        self._turned: tuple = (), None, ()  # the last change that did something, and its cycle

    def outcome(self, ssn: Session | None) -> int:
        """Whether the job has its places (or more than it had), or was admitted at least."""
        job = None if ssn is None else ssn.jobs.get(self.job.uid)
        if job is None:
            return NOTHING
        places = sum(counts(job)[:2])
        if len(job.in_status(RELEASING)) > len(self.job.in_status(RELEASING)) and not self.pod:
            return NOTHING  # it would lose pods of its own
        starts = bool(job.tasks) and (job.is_ready() or ssn.job_pipelined(job))
        if starts and (places > self.places or any(
                task.key == self.pod and task.node_name for task in job.tasks.values())):
            return PLACED
        return ADMITTED if self.job.is_pending() and not job.is_pending() else NOTHING

    def best(self, knob: Knob) -> int:
        """The best outcome of a knob that was seen."""
        return max((found for (known, _), found in self._known.items() if known == knob),
                   default=NOTHING)

    def pairs(self, knobs: Knobs, tried: list[Knob], firsts: list[Knob], rank: int,
              end: float) -> Iterator[Remedy]:
        """Two changes where none does alone: a first one in full, and what the cycle then lacks (of
        this rank at most); each as small as the other allows.
        """
        told: set[str | frozenset[str]] = set()
        known = {knob.text("") for knob in tried}
        count = FIRSTS if rank < Rank.NODES else 2 * FIRSTS
        for first in sorted(firsts, key=lambda knob: -self.best(knob))[:count]:
            _, objects, conf = first.turn(first.steps)
            trace, ssn = traced(objects, conf, now=self.before.now, trace=CauseTrace())
            job = ssn.jobs.get(self.job.uid)
            causes = job_causes(Evidence(ssn, trace), job) if job is not None else []
            if job is None or not counts(job)[2]:
                continue

            def after(step: int, first=first, ssn=ssn, job=job, causes=causes) -> dict[str, Knob]:
                done, objects, conf = first.turn(step)
                found = candidates(Knobs(objects, conf, self.seen.called), ssn, job, causes)
                return {knob.text(""): first.then(done, knob) for knob in found
                        if knob.rank <= rank}

            alone = {knob.text(""): knob for knob in candidates(knobs, ssn, job, causes)}
            for text, pair in after(first.steps).items():
                if perf_counter() > end:
                    return
                both = frozenset((first.text(""), text))
                if both & told or both in told or len(both) == 1:
                    continue
                told.add(text if rank < Rank.NODES else both)
                remedy = None if text in known or text not in alone else self.fewest(
                    alone[text], PLACED)
                remedy = remedy or self._both(first, pair, lambda step, text=text, after=after:
                                              after(step).get(text))
                if remedy is not None:
                    told |= both if rank < Rank.NODES else {first.text("")}
                    yield remedy

    def _both(self, first: Knob, pair: Knob, at: Callable[[int], Knob | None]) -> Remedy | None:
        """The fewest steps of the second change, and those of the first that they need."""
        second = smallest(lambda step: self._at(pair, step) == PLACED, pair.steps, pair.first)
        if second is None:
            return None
        steps = smallest(lambda step: (knob := at(step)) is not None
                         and self._at(knob, second) == PLACED, first.steps, first.first)
        knob = at(steps or first.steps)
        return knob and self.fewest(attrs.evolve(knob, first=second), PLACED)

    def _at(self, knob: Knob, step: int) -> int:
        key = knob, step
        if key not in self._known:
            _, objects, conf = knob.turn(step)
            ssn = self.trial.run(objects, conf, lambda ssn: self.outcome(ssn) == PLACED)
            self._known[key] = self.outcome(ssn)
            if self._known[key] > NOTHING:
                self._turned = key, ssn, self.trial.rest
        return self._known[key]

    def _inadmissible(self, objects: Objects) -> bool:
        """Whether Volcano's webhooks would refuse the change: what they say of it, and not before.
        """
        there = {id(obj) for obj in self.trial.objects}
        changed = [obj for obj in objects if id(obj) not in there and isinstance(obj,
                                                                                 Queue | PodGroup)]
        keys = {(obj.kind, obj.key) for obj in changed}
        before, after = ({(verdict.label, verdict.rule) for verdict in verdicts(
            [obj for obj in some if isinstance(obj, Queue) or (obj.kind, obj.key) in keys])}
            for some in (self.trial.objects, objects))
        return bool(changed and after - before)

    def fewest(self, knob: Knob, goal: int) -> Remedy | None:
        steps = smallest(lambda step: self._at(knob, step) >= goal, knob.steps, knob.first)
        if steps is None:
            return None
        _, objects, conf = knob.turn(steps)
        key, ssn, rest = self._turned
        if key == (knob, steps):
            self.trial.finish(rest)  # for its cost to others
        else:
            ssn = self.trial.run(objects, conf)
        if ssn is None or self.outcome(ssn) < goal or self._inadmissible(objects):
            return None
        remedy = Remedy.of(knob, steps, effect(self.seen, self.before, ssn, self.job.uid))
        remedy = remedy.tried(self.seen, self.job.uid)
        least = sum(len(ssn.jobs[self.job.uid].in_status(each)) for each in READY_STATUSES)
        return None if remedy.placed is not None and remedy.placed < least else remedy


def effect(seen: Evidence, before: Session, after: Session, uid: str, name: str = "") -> str:
    """What a change brings about, for a job (which may not have been there) and for the others."""
    job, name = after.jobs[uid], name.rpartition("/")[2] or _short(seen, uid)
    had = {task.key for task in before.jobs[uid].tasks.values() if task.node_name
           } if uid in before.jobs else set()
    new = [task for task in job.tasks.values() if task.node_name and task.key not in had]
    waits = any(not task.node_name for task in job.tasks.values())
    parts = []
    for promised, words in ((False, "placed"), (True, "promised a place")):
        tasks = [task for task in new if (task.status == PIPELINED) == promised]
        there = dict.fromkeys(task.node_name for task in tasks if task.node_name in before.nodes)
        added = len({task.node_name for task in tasks} - there.keys())
        nodes = listed([*there, *[f"{added} new node{'s' if added > 1 else ''}"] * bool(added)], 3)
        whole = len(tasks) == len(new) and not waits and not had
        who = f"{name} is" if whole else f"{tasks[0].name} is" if len(tasks) == 1 else (
            f"{len(tasks)} pods of {name} are")
        parts += [f"{who} {words} on {nodes}"] if tasks else []
    if not new:
        parts.append(f"{name} is admitted" + ", its pods wait for room" * bool(job.tasks))
    return "; ".join([*parts, *_costs(seen, before, after, uid)])


def _costs(seen: Evidence, before: Session, after: Session, uid: str) -> Iterator[str]:
    """Whom it takes something from."""
    evicted: dict[str, int] = {}
    less: list[str] = []
    none: list[str] = []
    for other, job in before.jobs.items():
        now = after.jobs.get(other)
        if now is None:
            continue
        more = len(now.in_status(RELEASING)) - len(job.in_status(RELEASING))
        if more > 0:
            evicted[_short(seen, other)] = more
        elif other != uid and (left := sum(counts(now)[:2])) < sum(counts(job)[:2]):
            (less if left else none).append(_short(seen, other))
    if len(evicted) > 3:
        yield f"evicts {sum(evicted.values())} pods of {len(evicted)} jobs"
    elif evicted:
        yield "evicts " + ", ".join(f"{count} pod{'s' if count > 1 else ''} of {name}"
                                    for name, count in evicted.items())
    if none:
        yield f"{listed(none, 3)} wait{'s' if len(none) == 1 else ''}"
    if less:
        yield f"{listed(less, 3)} {'has' if len(less) == 1 else 'have'} fewer places"


def _short(seen: Evidence, uid: str) -> str:
    return seen.called(uid).partition("/")[2]
