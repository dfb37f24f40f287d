"""What keeps for a job what others leave, where jobs that wait as well take it: each way is tried
with the end of one job alone, and of all that have to end.

Volcano: none
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from math import inf

from attrs import evolve

from volcano_lab.api import JobInfo, total
from volcano_lab.changes import Change
from volcano_lab.explain import outcome, owners, sizes
from volcano_lab.explain.candidates import Candidates
from volcano_lab.explain.evidence import Evidence, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, in_quantity, part
from volcano_lab.explain.options import Rank, setting, text_of
from volcano_lab.explain.origin import SHARES
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.requests import still_needed
from volcano_lab.explain.tries import Tries
from volcano_lab.manifests import ManifestError
from volcano_lab.messages import Message, Said
from volcano_lab.plugins.sla import WAITING_TIME
from volcano_lab.trace import amounts

TAKERS = ("until.first", "until.overtaken")
"""Sentences that name jobs which take what others leave."""
UNTRIED = ("held_by.sla", "overtaken.sla")
"""Sentences of what keeps places in general."""
DEFAULT = "default"
"""The queue that Volcano's webhook does not let be closed."""
SIZES = ("cpu", "memory")
"""Resources of which a capability of 0 is no limit."""
Way = tuple[Message, Change]
MOST, TRIED, OFFERED = 24, 4, 2
"""The most jobs that have to end of which this is tried, of which each may be left out, and the
ways that are offered.
"""


def kept_free(seen: Evidence, job: JobInfo, causes: list[Cause], said: Sequence[Said]
              ) -> Iterator[Cause]:
    """Yield what keeps for a job what others leave, and what does not, where it is `said` that jobs
    which wait as well take it.
    """
    uids = {seen.called(uid): uid for uid in seen.ssn.jobs}
    names = [name for each in said if isinstance(each, Message) and each.code in TAKERS
             for name in each.facts["jobs"]]
    first = any(getattr(each, "code", "") == TAKERS[0] for each in said)
    found = [*_Overtaking(seen, job, "", inf).tried(causes, [uids[name] for name in names], first)
             ] if names and job.tasks else []
    for cause in causes if found else ():  # what is tried, not what may help
        cause.said = [each for each in cause.sentences
                      if getattr(each, "code", "") not in UNTRIED]
    yield from found


def held_back(tries: Tries, causes: list[Cause]) -> Iterator[Remedy]:
    """Yield the end of those that come before a job, too, and what was tried and keeps for it what
    others leave, each with the end of these.
    """
    for numbers in [cause.numbers for cause in causes if cause.code == "kept_free"]:
        both = Change(removals=numbers["first"])
        plain = tries.judged(both, Rank.WAIT) if numbers["first"] else None
        yield from [evolve(plain, deleted=frozenset())] if plain else ()
        ends = Change(removals=tuple(numbers["ends"]))
        found = (tries.judged(way + ends, Rank.WAIT) for way in numbers["ways"])
        for remedy in islice(filter(None, found), OFFERED):
            until = Message("gains.until", name=tries.seen.called(tries.job.uid).rpartition("/")[2])
            yield evolve(remedy, brings=(*remedy.brings, until))


class _Overtaking(Tries):
    def tried(self, causes: list[Cause], takers: list[str], first: bool) -> Iterator[Cause]:
        """Yield the ways that were tried, those that keep it with the jobs that have to end; those
        that have to end with the ones that come `first`.
        """
        jobs, ends = self.before.jobs, list[str]()
        keeps, fails = list[Way](), list[Way]()
        for way in self._ways(causes, [jobs[uid] for uid in takers]):
            ends = ends or self._enough(way[1], causes)
            (keeps if ends and self._stays(way[1], ends) else fails).append(way)
        several = 1 < len(ends) <= MOST  # else the search finds what is enough with one end
        before = tuple(self.world.owner(uid, False) for uid in takers)
        runs = self._enough(Change(removals=before), causes) if first else []
        yield Cause("kept_free", [
            Message(code, ways=[said for said, _ in some]) for code, some in (
                ("kept_free", keeps), ("kept_free.not", fails)) if several and some],
            {"ways": [way for _, way in keeps] * several,
             "lost": [way for _, way in fails if several and keeps],
             "ends": [self.world.owner(uid, False) for uid in ends],
             "first": (*(self.world.owner(uid, False) for uid in runs), *before) if runs else ()},
            [], True)

    def _enough(self, way: Change, causes: list[Cause]) -> list[str]:
        """Jobs whose end gives the job its places with a change."""
        return next((self._needed(way, some) for some in self._ends(causes)
                     if self.job.uid in self._placed(way, some)), [])

    def _ends(self, causes: list[Cause]) -> Iterator[list[str]]:
        """Jobs that run and may have to end: those of a node, of as many as pods wait, or all."""
        runs = [uid for uid, each in self.before.jobs.items() if each is not self.job
                and uid in self.world.groups and owners.ends(each)
                and any(task.pod.spec.node_name for task in each.tasks.values())]
        groups = Candidates(self.world, self.before, self.job).by_node(runs, causes)
        counts = dict.fromkeys([1, 2, max(len(unplaced(self.job)), 2)])
        some = [[*dict.fromkeys(chain(*groups[:count]))] for count in counts]
        yield from [each for number, each in enumerate([*some, runs])
                    if each and each not in [*some, runs][:number]]

    def _needed(self, way: Change, ends: list[str]) -> list[str]:
        """Some jobs without the first ones that need not end."""
        for uid in ends[:TRIED]:
            rest = [each for each in ends if each != uid]
            ends = rest if rest and self.job.uid in self._placed(way, rest) else ends
        return ends

    def _stays(self, way: Change, ends: list[str]) -> bool:
        """Whether the end of one job gives no other one places beside which the job does not have
        its own once all have ended.
        """
        placed = self._placed(way, ends)
        return self.job.uid in placed and self._placed(way, ends[:1]) <= placed

    def _placed(self, way: Change, ends: list[str]) -> set[str]:
        """The jobs that get places with a change once some jobs have ended."""
        change = way + Change(removals=tuple(self.world.owner(uid, False) for uid in ends))
        after = outcome.run(*self.world.applied(change), self.before.now).jobs
        return {uid for uid, each in after.items() if uid in self.before.jobs and each.is_ready()
                and len(unplaced(each)) < sum(
                    not task.pod.spec.node_name for task in each.tasks.values())}

    def _ways(self, causes: list[Cause], takers: list[JobInfo]) -> Iterator[Way]:
        """Changes by which the job comes before others, or they may take no more, those first that
        others notice least; none that Volcano's webhooks refuse.
        """
        for said, way in self._all(causes, takers):
            with suppress(ManifestError):
                raised = self._guaranteed(self.world.applied(way)[0])
                if way.settings and not self._inadmissible(self.world.applied(way + raised)[0]):
                    yield said, way + raised

    def _all(self, causes: list[Cause], takers: list[JobInfo]) -> Iterator[Way]:
        job, own = self.job, self.world.line(self.job.queue)
        queues = sorted({each.queue for each in takers} - {*own})
        options = Candidates(self.world, self.before, job)
        for option in [*options.before(takers)][:1]:
            yield self.world.described(option.most), option.most
        if queues and SHARES & self.before.plugins.keys():
            needs, whole = amounts(still_needed(job)), amounts(self.before.total_resource)
            names = [name for name in sizes.resources(causes) if name in needs]
            held, rest = (amounts(total(each.allocated for each in self.before.jobs.values()
                                        if inside == (each.queue == job.queue)
                                        and each.queue not in queues)) for inside in (True, False))
            mine = part(added(held, needs), names)
            left = {name: max(amount, 0.0) for name, amount in part(
                added(added(whole, mine, -1.0), rest, -1.0), names).items()}
            yield Message("way.guarantee", queue=job.queue, amount=mine), _amounts(
                [job.queue], "guarantee.resource", mine)
            if all(left[name] for name in names if name in SIZES):
                yield Message("way.capability", n=len(queues), queues=queues,
                              amount=left), _amounts(queues, "capability", left)
        closed = [queue for queue in queues if queue != DEFAULT]
        yield Message("way.closed", n=len(closed), queues=closed), Change(tuple(
            f"queue/{queue}.status.state=Closed" for queue in closed))
        yield Message("way.sla", name=WAITING_TIME), Change((
            "plugin/sla.tier=1", f"{options.name}.annotations[{WAITING_TIME}]=1m"))


def _amounts(queues: list[str], field: str, amounts: Amounts) -> Change:
    return Change(tuple(setting(f"queue/{queue}", *field.split("."), name, to=text_of(
        name, in_quantity(name, amount))) for queue in queues for name, amount in amounts.items()))
