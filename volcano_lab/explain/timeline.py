"""The history of jobs, cycle after cycle: phases, pods, causes, and which pods were evicted for
which jobs.

A timeline watches the cycles of a scheduler, also of a simulation or of a recorded life, and
explains each of the last ones as an `Explainer`; the functions below say what only several cycles
show: pods that are evicted again and again, and gangs of which some pods stay placed without the
rest. Volcano keeps nothing for a pipelined pod from one cycle to the next: resources that an
eviction frees may be given back to the job that lost them.

Volcano: none
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, partialmethod
from itertools import groupby, pairwise, takewhile
from typing import Any

from volcano_lab.api import JobInfo, objects as api
from volcano_lab.cache.dump import settled
from volcano_lab.explain import remedies, why_job
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explainer import Explainer
from volcano_lab.explain.explanation import Cause, Explanation
from volcano_lab.explain.outcome import Eviction
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.victims import victim_causes
from volcano_lab.framework import Observer, Session
from volcano_lab.manifests.loader import Loaded
from volcano_lab.messages import Message, Misuse, NoSuch, friendly_errors, paragraph
from volcano_lab.trace import Names, Part, Shown, Trace, grouped

COUNTS = {"pending": ("Pending", "Pipelined"), "bound": ("Allocated", "Binding", "Bound"),
          "running": ("Running",), "leaving": ("Releasing",), "ended": ("Succeeded",)}


@friendly_errors
class Timeline(Observer, Shown):
    """Watches cycles; hand it as observer to a `Simulation`, to `Life.decide` or to a scheduler.

    Args:
        keep: How many of the last cycles `at` and `why` explain.
        about: The one job or pod whose causes are recorded; unset, those of all.
        later: The pods that are created for jobs (by key) once they are admitted.

    Attributes:
        cycles: How many have ended.
        rows: By job, one row per cycle in which it was there.
        evictions: All of them, in order; `placed` has [cycle, pod, job, node] of all placements.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> cluster = Cluster().node("n1", cpu=4).job("a", pods=2, cpu=2).job("b", pods=1, cpu=2)
    >>> timeline = Timeline()
    >>> scheduler = Scheduler(cluster.cache(), "actions: allocate")
    >>> for cycle in range(3):
    ...     _ = scheduler.run_once(timeline)
    >>> timeline.why("a", cycle=1).rows
    [{'cycles': '1', 'phase': 'Inqueue', 'pending': 0, 'bound': 2, 'running': 0, 'leaving': 0,
      'ended': 0, 'what': ''}]

    Volcano: none
    """

    def __init__(self, keep: int = 20, about: str = "",
                 later: Mapping[str, list[api.Pod]] | None = None,
                 given: Iterable[api.KubernetesObject] = ()):
        if isinstance(keep, int) and keep < 0:
            raise Misuse("timeline.keep", keep=keep)
        self.about, self.cycles, self.later, self.given = about, 0, later or {}, given
        self.kept: deque[tuple[int, list[Any], Trace, Session]] = deque(maxlen=keep)
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.evictions: list[Eviction] = []
        self.placed: list[tuple[int, str, str, str]] = []
        self.names: dict[str, str] = {}
        self.first: tuple[Any, ...] = ()
        self._trace = Trace()

    # -- watching --------------------------------------------------------------------------------

    def died(self) -> None:
        """Forget the cycle in which the scheduler died."""
        self._trace = Trace()

    def opened(self, ssn: Session) -> None:
        """Keep the objects: changes of them are tried later."""
        self._trace.opened(ssn)
        cache: Any = ssn.cache
        self._objects = Loaded(settled(cache, ssn.now))
        for place, obj in enumerate(self._objects):  # an age shows nothing of simulated cycles
            if obj.kind in ("Pod", "PodGroup") and obj.metadata.resource_version:
                self._objects[place] = obj.changed(metadata={"resource_version": ""})
        self._objects.later = {key: pods for key, pods in self.later.items()
                               if pods and pods[0].key not in cache.pods}
        self.first = self.first or (self._objects, ssn.conf, ssn.now)

    def cycle_ended(self, ssn: Session, times: dict[str, float]) -> None:
        """Record a row for each job, and begin another trace."""
        trace, self._trace = self._trace, Trace()
        self.cycles += 1
        length, before, seen = len(trace.records), len(self.evictions), Evidence(ssn, trace)
        seen.brief, seen.names = True, Names(ssn, self.given)
        self.names |= seen.names.jobs
        for record in list(trace.iter("commit")):
            if record["operation"] == "evict":
                self.evictions.append(self._eviction(seen, record.action, record["task"],
                                                     record["node"]))
            elif record["operation"] == "allocate":
                self.placed.append((self.cycles, record["task"], record["job"], record["node"]))
        for uid, job in ssn.jobs.items():
            gone = [each for each in self.evictions[before:] if each.job == uid]
            self.rows.setdefault(uid, []).append(self._row(seen, job, gone))
        del trace.records[length:]  # calls of plugins by these explanations
        self.kept.append((self.cycles, self._objects, trace, ssn))

    def _eviction(self, seen: Evidence, action: str, pod: str, node: str) -> Eviction:
        numbers = [cause.numbers for cause in victim_causes(seen, pod) if cause.code == "victim"]
        last = numbers[-1] if numbers else {"winners": [""], "named_by": ()}
        return Eviction(self.cycles, pod, seen.trace.start["tasks"][pod]["job"], node, action,
                        last["winners"][0], tuple(last["named_by"]))

    def _row(self, seen: Evidence, job: JobInfo, gone: list[Eviction]) -> dict[str, Any]:
        evicted = [Message("row.evicted_for" if each.winner else "row.evicted", action=each.action,
                           pod=each.pod.partition("/")[2], job=self.names.get(
                               each.winner, "").partition("/")[2]) for each in gone]
        names = {name.rpartition("/")[2] for name in (
            job.uid, self.names[job.uid], *seen.names.above[job.uid], *(
            task.key for task in job.tasks.values()))} if self.about else {""}
        cause = next((cause for cause in why_job.job_causes(seen, job) if not cause.context), None
                     ) if self.about.rpartition("/")[2] in names else None
        pods = Counter(str(task.status) for task in job.tasks.values())
        counts = {name: sum(pods[each] for each in statuses) for name, statuses in COUNTS.items()}
        waits = cause is not None and (counts["pending"] or not job.tasks)
        return {"cycle": self.cycles, "phase": job.pod_group.status.phase, **counts,
                "promised": pods["Pipelined"], "least": job.min_available,
                "code": cause.code if cause and waits else "",
                "why": cause.sentences[0] if cause and waits else "",
                "evicted": evicted}

    # -- answers ---------------------------------------------------------------------------------

    def at(self, cycle: int | None = None) -> Explainer:
        """Return the `Explainer` of a cycle, counted from 1 (unset: the last one). Raises
        `LookupError` where it was not kept.
        """
        for number, objects, trace, ssn in self.kept:
            if number == (self.cycles if cycle is None else cycle):
                found = Explainer(objects, ssn.conf, ssn.now, (trace, ssn))
                found.names = found.evidence.names = Names(ssn, self.given)
                return found
        known = f"{self.kept[0][0]} to {self.cycles}" if self.kept else "none"
        raise NoSuch("timeline.cycle", cycle=cycle, known=known)

    def why(self, name: str, cycle: int | None = None) -> Explanation:
        """Return why a job, pod or queue is as it is at the end of a cycle, with the history of a
        job or pod until then. Raises `LookupError`.
        """
        explainer, last = self.at(cycle), self.cycles if cycle is None else cycle
        try:
            explanation = explainer.why(name)
            kind, key = explainer.names.find(name)
        except NoSuch:
            kind, key = "job", next((uid for uid, called in self.names.items() if name in (
                uid, called, called.partition("/")[2])), "")
            rows = [row for row in self.rows.get(key, ()) if row["cycle"] <= last]
            if not rows:
                raise
            explanation = Explanation(f"job {self.names[key]}", Message(
                "job_gone", job=self.names[key], first=rows[0]["cycle"], last=rows[-1]["cycle"],
                now=last))
        if kind == "queue":
            return explanation
        uid = key if kind == "job" else explainer.evidence.tasks[key].job
        loops, stranded = dict(loop_causes(self, uid, last)), stranded_cause(self, uid, last)
        explanation.causes = [*explanation.causes, *loops.values(), *filter(None, [stranded])]
        past = [row for row in self.rows.get(uid, ()) if row["cycle"] <= last]
        explanation.rows = stretches(past)
        if loops and (uid in loops or not explanation.find_remedies):
            explanation.find_remedies = partial(self._keep, next(iter(loops)), uid,
                                                [*loops.values()])
        return explanation

    def _keep(self, uid: str, asked: str, causes: list[Cause], seconds: float) -> Iterable[Remedy]:
        """The changes at the first cycle by which a job keeps its pods and the job that is asked
        about does not wait: pods that leave in a later cycle do not come back.
        """
        seen = Explainer(*self.first).evidence
        victim = seen.ssn.jobs.get(uid)
        found = remedies.remedies_for(seen, victim, causes, seconds, keep=True) if victim else ()
        return (each for each in found if asked not in each.price.waits)

    def _shown(self) -> Iterable[Part]:
        yield str(Message("timeline", cycles=self.cycles, jobs=len(self.rows),
                          evictions=len(self.evictions)))
        for uid in self.rows:
            for cause in filter(None, (loop_cause(self, uid, self.cycles),
                                       stranded_cause(self, uid, self.cycles))):
                yield paragraph([Message("timeline.job", job=self.names[uid]), *cause.sentences])
        yield [{"job": self.names[uid], **stretches(rows)[-1]} for uid, rows in self.rows.items()]


def _forward(self: Timeline, name: str, *args: Any, **facts: Any) -> Any:
    """Call a hook of the current cycle's trace."""
    return getattr(self._trace, name)(*args, **facts)


for _name in vars(Observer).keys() - vars(Timeline).keys():
    if _name[0] != "_" and callable(getattr(Observer, _name)):
        setattr(Timeline, _name, partialmethod(_forward, _name))


def stretches(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each stretch of cycles in which a job did not change, with its evicted pods,
    or else why it waits at its end, unless that is the same as before.
    """
    found: list[dict[str, Any]] = []
    said = ""
    alike = ("phase", *COUNTS, "code", "evicted")
    for _, same in groupby(rows, lambda row: [row[name] for name in alike]):
        first, *more = same
        what = str(Message("clauses", parts=first["evicted"])) if first["evicted"] else str(
            (more or [first])[-1]["why"]).rstrip(".。").replace("default/", "")
        last = f"-{more[-1]['cycle']}" if more else ""
        found.append({"cycles": f"{first['cycle']}{last}",
                      **{name: first[name] for name in ("phase", *COUNTS)},
                      "what": "" if what == said else what})
        said = what
    return found


# -- what several cycles show ----------------------------------------------------------------------


def loop_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """Return that a pod of a job was evicted more than once, or that freed resources went back to
    the job, which then lost another pod: how often, for which jobs, by which plugins.
    """
    past = [each for each in timeline.evictions if each.cycle <= last]
    gone = [each for each in past if each.job == uid]
    cycles = grouped((each.pod, str(each.cycle)) for each in gone)
    took, losers = [], []
    for each, later in pairwise(gone):
        jobs = _takers(timeline, each, later.cycle)
        took += jobs
        losers += [each.winner] * bool(jobs)
    if uid not in took and max(map(len, cycles.values()), default=0) < 2:
        return None
    pods = [Message("evicted.pod", n=len(when), pod=pod.partition("/")[2], cycles=Message(
        "parts", parts=when)) for pod, when in cycles.items()]
    winners = [*dict.fromkeys(each.winner for each in gone)]
    turn = [each.job for each in past if each.job in winners and each.winner == uid]
    said = [Message("evicted_again", times=_times(gone), pods=pods, whom=_whom(timeline, gone)),
            Message("evicted.taken", times=_times(losers), jobs=_names(timeline, took),
                    winners=_names(timeline, losers)) if losers else None,
            Message("evicted.in_turn", times=_times(turn), jobs=_names(timeline, turn))
            if turn else None]
    return Cause("evicted_again", said, {
        "evicted": len(gone), "taken": len(losers), "losers": losers, "winners": winners,
        "actions": [*dict.fromkeys(each.action for each in gone)]})


def loop_causes(timeline: Timeline, uid: str, last: int) -> Iterator[tuple[str, Cause]]:
    """Yield the loops of a job, as (the job that loses pods, the cause for this one): its own, and
    those of jobs that lose pods for it.
    """
    own = loop_cause(timeline, uid, last)
    if own is not None:
        yield uid, own
    caused = [each for each in timeline.evictions if each.winner == uid and each.cycle <= last]
    for victim in dict.fromkeys(each.job for each in caused if each.job != uid):
        cause = loop_cause(timeline, victim, last)
        if cause is not None and uid in cause.numbers["losers"]:
            said = Message("room_taken", times=_times(caused), job=_names(timeline, [victim]))
            yield victim, Cause("room_taken", [said, *cause.sentences], cause.numbers)


def _times(some: list[Any]) -> Message:
    return Message("times", n=len(some))


def _names(timeline: Timeline, jobs: list[str]) -> Message:
    return Message("names.jobs", names=[timeline.names[job].partition("/")[2]
                                        for job in dict.fromkeys(jobs)])


def _whom(timeline: Timeline, gone: list[Eviction]) -> Message:
    """For which jobs pods were evicted, by which actions, and which plugins allowed it."""
    count = Counter(each.winner for each in gone)
    whom = [Message("evicted.for", times=Message("times", n=number), job=_names(timeline, [job])
                    if job else Message("names.none")) for job, number in count.most_common()]
    if len(count) == 1 and gone[0].winner:
        whom = [Message("evicted.each_time", n=len(gone), job=_names(timeline, [*count]))]
    return Message("evicted.whom", whom=whom, ways=[
        Message("evicted.by" if rules else "evicted.by_action", action=action, rules=[*rules])
        for action, rules in dict.fromkeys((each.action, each.rules) for each in gone)])


def _takers(timeline: Timeline, eviction: Eviction, before: int) -> list[str]:
    """The jobs that were placed on the node of an eviction, where its winner was not placed."""
    placed = [(job, node) for cycle, _, job, node in timeline.placed
              if eviction.cycle < cycle <= before]
    if not eviction.winner or any(job == eviction.winner for job, _ in placed):
        return []
    return [job for job, node in placed if node == eviction.node]


def stranded_cause(timeline: Timeline, uid: str, last: int) -> Cause | None:
    """Return that some pods of a gang stay placed while it is below its minimum: since which cycle,
    and the evictions and placements since then.
    """
    rows = [row for row in timeline.rows.get(uid, ()) if row["cycle"] <= last]
    start = _stranded_since(rows) if rows and rows[-1]["cycle"] == last else None
    if start is None:
        return None
    now, held = rows[-1], _held(rows[-1])
    lost = [each for each in timeline.evictions if each.job == uid and start <= each.cycle <= last]
    others = [job for cycle, _, job, _ in timeline.placed if start <= cycle <= last and job != uid]
    said = [Message("stranded", n=held, cycle=start, least=now["least"]),
            Message("stranded.evicted", whom=_whom(timeline, lost), pods=[
                each.pod.partition("/")[2] for each in lost]) if lost
            else Message("stranded.not_evicted"),
            Message("stranded.placed", jobs=_names(timeline, others)) if others else None]
    return Cause("stranded", said, {"since": start, "held": held, "min_available": now["least"]})


def _stranded_since(rows: list[dict[str, Any]]) -> int | None:
    """The cycle since which some pods are placed, fewer than the minimum; None where that is not
    so, or pipelined pods complete the gang.
    """
    short = list(takewhile(lambda row: 0 < _held(row) < row["least"] - row["ended"],
                           reversed(rows)))
    complete = _held(rows[-1]) + rows[-1]["ended"] + rows[-1]["promised"] >= rows[-1]["least"]
    return None if complete or not short else short[-1]["cycle"]


def _held(row: dict[str, Any]) -> int:
    return row["bound"] + row["running"]
