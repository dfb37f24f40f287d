"""Until when a job waits: until others end, until what does not end by itself is gone, or for ever.
Each is tried in a cycle without these jobs.

Volcano: none
"""

from collections.abc import Iterator, Sequence
from math import inf

from volcano_lab.api import JobInfo
from volcano_lab.changes import Change
from volcano_lab.explain import outcome, owners
from volcano_lab.explain.evidence import Evidence, counts, of_daemon, unplaced
from volcano_lab.explain.explanation import TABLES, Cause
from volcano_lab.explain.options import smallest
from volcano_lab.explain.tries import ADMITTED, PLACED, Tries
from volcano_lab.messages import Message

TRIED = 8
"""The most jobs that are tried one after the other."""


def until(seen: Evidence, job: JobInfo, causes: list[Cause]) -> Iterator[Message]:
    """Yield until when a job waits that gets no places by itself; nothing in a large cluster, where
    that takes too long, or where something else than other jobs may end.
    """
    if seen.objects and len(seen.ssn.nodes) < outcome.LARGE and not any(
            cause.code in TABLES["until"]["codes"] or "deadlock" in cause.numbers
            for cause in causes):
        yield from Until(seen, job, "", inf).said()


class Until(Tries):
    """What a job gets once others have ended."""

    def said(self) -> Iterator[Message]:
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
        waits = [uid for uid in others if len(unplaced(jobs[uid])) == len(jobs[uid].tasks) and not (
            owners.runs_on(jobs[uid]) or owners.stays(jobs[uid]))]
        for code, uids in (("ends", runs), ("first", [*runs, *waits]), ("stays", others)):
            if few := self._fewest(uids):
                named = [self.seen.called(uid) for uid in few if uid not in before]
                yield Message(f"until.{code}", what=what, n=len(named), jobs=named,
                              others=Message("until.others") if runs else None)
                yield from self._overtaken(few) if uids == runs else ()
                return
            before = uids
        if not self._gives(others, self._strangers()):
            yield Message("until.never", what=what)

    def _by_itself(self) -> bool:
        """Whether later cycles give the job what it lacks: where it has or is promised some places,
        all of them.
        """
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

    def _fewest(self, uids: list[str]) -> list[str]:
        """The fewest jobs that are enough: the smallest one, or those of the fewest nodes; nothing
        where all are not.
        """
        if not uids or not self._gives(uids):
            return []
        jobs = self.before.jobs
        small = sorted(uids, key=lambda uid: len(jobs[uid].tasks))
        if one := next((uid for uid in small[:TRIED] if self._gives([uid])), None):
            return [one]
        near = sorted(uids, key=lambda uid: max(
            (task.node_name for task in jobs[uid].tasks.values()), default=""))
        few = near[:smallest(lambda n: self._gives(near[:n]), len(near))]
        for uid in few[:TRIED]:
            rest = [each for each in few if each != uid]
            few = rest if self._gives(rest) else few
        return few

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
