"""Until when a job waits: until others end, until what does not end by itself is gone, or for ever.
Each is tried in a cycle without these jobs.

Volcano: none
"""

from collections.abc import Container, Iterator, Sequence
from itertools import chain
from math import inf

from volcano_lab.api import JobInfo
from volcano_lab.changes import Change
from volcano_lab.explain import outcome, owners, sizes
from volcano_lab.explain.candidates import Candidates
from volcano_lab.explain.evidence import Evidence, counts, of_daemon, unplaced
from volcano_lab.explain.explanation import TABLES, Cause
from volcano_lab.explain.tries import ADMITTED, PLACED, Tries
from volcano_lab.messages import Message
from volcano_lab.trace import POINTS

TRIED = 4
"""The most jobs without which the others are tried."""


def until(seen: Evidence, job: JobInfo, causes: list[Cause]) -> Iterator[Message]:
    """Yield until when a job waits that gets no places by itself; nothing in a large cluster, where
    that takes too long, or where something else than other jobs may end.
    """
    if seen.objects and len(seen.ssn.nodes) < outcome.LARGE and not any(
            cause.code in TABLES["until"]["codes"] or "deadlock" in cause.numbers
            for cause in causes):
        yield from Until(seen, job, "", inf).said(causes)


class Until(Tries):
    """What a job gets once others have ended."""

    def said(self, causes: list[Cause]) -> Iterator[Message]:
        """The end of which jobs is enough: of those that run and end, of those that wait and come
        first, too, or of those that do not end.
        """
        jobs, before = self.before.jobs, list[str]()
        what = Message("until.pod" if self.job.is_ready() else "until.job")
        if self._by_itself():
            yield Message("until.later", what=what)
            return
        others = [uid for uid, each in jobs.items()
                  if each is not self.job and uid in self.world.groups]
        runs = [uid for uid in others if owners.ends(jobs[uid])]
        waits = [uid for uid in others if self._only_waits(jobs[uid])]
        for code, uids in (("ends", runs), ("first", [*runs, *waits]), ("stays", others)):
            few = self._few(uids, causes) if uids == runs else self._besides(uids, before)
            if few is not None:
                yield Message(f"until.{code}" if few else "until.ends.some", what=what, n=len(few),
                              jobs=[*map(self.seen.called, few)],
                              ends=self._then(runs, few, causes) if code == "first" else None,
                              others=Message("until.others") if runs else None)
                yield from self._overtaken(few) if uids == runs else ()
                return
            before = uids
        if not self._gives(others, self._strangers()):
            yield Message("until.never", what=what)

    def _only_waits(self, job: JobInfo) -> bool:
        """Whether no pod of a job that may end has a node."""
        return len(unplaced(job)) == len(job.tasks) and not (
            owners.runs_on(job) or owners.stays(job))

    def _by_itself(self) -> bool:
        """Whether later cycles give the job what it lacks, by evictions or once its pods are there:
        where it has or is promised some places, all of them.
        """
        if self.job.tasks and not POINTS.keys() & self.before.enabled_actions:
            return False
        uid, some = self.job.uid, self.job.is_ready() or counts(self.job)[1]
        return self.base.runs(uid) and self.base.placed(uid) >= (
            len(self.job.tasks) if some else 1)

    def _strangers(self) -> list[str]:
        """The pods of other schedulers that may end."""
        return [task.key for node in self.before.nodes.values() for task in node.tasks.values()
                if task.job not in self.before.jobs and not of_daemon(task)]

    def _gives(self, uids: Sequence[str], pods: Sequence[str] = ()) -> bool:
        """Whether the job is placed, or admitted where it has no pods, without others."""
        found = self.at(Change(removals=(*(self.world.owner(uid, False) for uid in uids),
                                         *(f"pod/{key}" for key in pods))))
        return found >= (PLACED if self.job.tasks else ADMITTED)

    def _then(self, runs: list[str], few: list[str], causes: list[Cause]) -> Message | None:
        """Those of the jobs that run which have to end before a `few` others; None if too many."""
        names = sizes.resources(causes)
        large = sorted(runs, key=lambda uid: [
            -self.before.jobs[uid].allocated.get(name) for name in names])
        ends = next((large[:count] for count in (0, 1, TRIED) if self._gives(
            [*large[:count], *few])), [])
        return Message("until.then", jobs=[*map(
            self.seen.called, [uid for uid in self._pruned([*ends, *few], few) if uid in ends]
            )]) if ends else None

    def _besides(self, uids: list[str], before: Sequence[str]) -> list[str] | None:
        """Jobs beside those before that are needed for its places, None where all do not do."""
        if not self._gives(uids):
            return None
        return [uid for uid in self._pruned(uids, before) if uid not in before]

    def _few(self, uids: list[str], causes: list[Cause]) -> list[str] | None:
        """The jobs of one node, or of as many as pods wait, that are enough; where nodes have
        enough left, the smallest, or the largest ones; nothing where more have to end, None where
        all are not enough. The fewest are tried first, as that takes the shortest time.
        """
        if not uids:
            return None
        names, jobs = sizes.resources(causes), self.before.jobs
        small, *large = sorted(uids, key=lambda uid: [
            jobs[uid].allocated.get(name) for name in names])
        groups = Candidates(self.world, self.before, self.job).by_node(uids, causes) or [
            [small], *([uid] for uid in large[::-1])]
        for count in dict.fromkeys([1, 2, max(len(unplaced(self.job)), 2)]):
            few = [*dict.fromkeys(chain(*groups[:count]))]
            if self._gives(few):
                return self._pruned(few, [])
            if not self._gives(uids):
                return None
        return []

    def _pruned(self, uids: list[str], kept: Container[str]) -> list[str]:
        """Jobs without the first ones that are not needed, but for those that are `kept`."""
        for uid in [each for each in uids if each not in kept][:TRIED] * bool(uids[1:]):
            rest = [each for each in uids if each != uid]
            uids = rest if self._gives(rest) else uids
        return uids

    def _overtaken(self, few: list[str]) -> Iterator[Message]:
        """Yield the jobs that take what is free once the first of several has ended; of admitted
        ones only where the job is, too: before, what these have reserved counts as in use.
        """
        if not few[1:]:
            return
        change, before = Change(removals=(self.world.owner(few[0], False),)), self.before.jobs
        after = outcome.run(*self.world.applied(change), self.before.now).jobs
        taking = [self.seen.called(uid) for uid, each in after.items() if uid in before
                  and (before[uid].is_pending() or not self.job.is_pending())
                  and each.is_ready() and len(unplaced(each)) < len(unplaced(before[uid]))]
        if taking:
            yield Message("until.overtaken", n=len(taking), jobs=taking,
                          first=self.seen.called(few[0]))
