"""`Explainer` runs one cycle with a trace, and explains its jobs, pods and queues.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import inf
from time import perf_counter, time
from typing import Any

from volcano_lab.api import RELEASING, JobInfo, TaskInfo, objects as api
from volcano_lab.changes.draft import CLASSES
from volcano_lab.explain import beyond, candidates, outcome, pods, releases, remedies, taken
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import TABLES, Cause, Explanation, Group, Waiting, each_said
from volcano_lab.explain.head import gap_of, head_of, said_already
from volcano_lab.explain.holdings import why_node, why_queue
from volcano_lab.explain.left_out import absent, labelled, left_out, no_queue
from volcano_lab.explain.promises import held
from volcano_lab.explain.questions import why_before
from volcano_lab.explain.shuffles import shuffled
from volcano_lab.explain.until import until
from volcano_lab.explain.victims import cluster_loops, evicted_for, victim_causes, who_evicts
from volcano_lab.explain.why_job import job_causes, not_created_yet
from volcano_lab.framework import SchedulerConfiguration, Session, load_conf
from volcano_lab.framework.collector import collector_paused, enable_past_young
from volcano_lab.manifests import Loaded, with_defaults
from volcano_lab.messages import Message, NoSuch, friendly_errors, near
from volcano_lab.scheduler import traced
from volcano_lab.trace import CauseTrace, Part, Shown, TraceReader, grouped, names

REFUSED = (*candidates.CAPABILITY, *candidates.SHARE, "overcommit_refuses", "resource_quota")
"""Causes by which enqueue does not admit a job, or its queue refuses its pods."""

@friendly_errors
class Explainer(Shown):
    """Explanations of one cycle over some objects with a configuration (its text, or Volcano's
    default).

    `now` is the time of the cycle in seconds since 1970 (unset: the clock's); `ran` the trace and
    the session of a cycle over these objects that has run already (unset: one is run, whose trace
    has what explanations read; of searches for victims those for the job that it is `about`, by its
    name; None: for none, as `waiting` reads few).

    Raises `ConfError`. Jobs, pods and queues have the names of their manifests (see `Names`). An
    unknown name raises `LookupError` with a sentence.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("train", pods=1, cpu=6)
    >>> explain = Explainer(cluster.objects())
    >>> explanation = explain.why("default/train")
    >>> explanation.codes
    ['larger_than_any_node']
    >>> print(explanation.causes[0].text)
    Pod default/train-0 requests cpu 6; no node is that large, even empty: the largest has 4.
    >>> print(explanation.remedies[0])
    job default/train: request per pod cpu 6 -> 4 (train is placed on n1)
    """

    @collector_paused(enable_past_young)
    def __init__(self, objects: Iterable[api.KubernetesObject],
                 conf: SchedulerConfiguration | str | None = None, now: float | None = None,
                 ran: tuple[TraceReader, Session] | None = None, about: str | None = ""):
        self.objects = objects if isinstance(objects, Loaded) else Loaded(objects)
        self.now = time() if now is None else now
        self.conf = conf if isinstance(conf, SchedulerConfiguration) else load_conf(conf)
        self.trace, self.session = ran or traced(self.objects, self.conf, now=self.now,
                                                 trace=CauseTrace(about))
        self.evidence = Evidence(self.session, self.trace, self.objects)
        self.evidence.fresh = ran is None
        self.first: Any = None  # of the cycles up to this one, where it is not this
        self._before: Explainer | None = None  # what explains that one
        self._later, self.names = getattr(objects, "later", {}), self.evidence.names

    def _shown(self) -> Iterable[Part]:
        return self.waiting()._shown()

    @collector_paused(enable_past_young)
    def why(self, what: str) -> Explanation:
        """Return the explanation of a job, a pod, a queue or a node (`node/NAME`)."""
        try:
            kind, key = self.names.find(what)
        except LookupError:
            word, _, rest = what.partition("/")
            name = rest if any(kind in CLASSES for kind in names.kinds_meant(word)) else what
            found = left_out(self.evidence, what, self.why_job, self._why_with) or left_out(
                self.evidence, name, self.why_job, self._why_with) or no_queue(
                self.evidence, name, self._why_with)
            by_label = [] if found else labelled(self.evidence, what)
            if len(by_label) == 1:
                return self.why_job(by_label[0])
            if found is None:
                raise
            return found
        return {"job": self.why_job, "pod": self.why_task, "queue": self.why_queue,
                "node": self.why_node}[kind](key)

    def _why_with(self, objects: Sequence[api.KubernetesObject], uid: str) -> Explanation:
        """Why a job waits among other objects."""
        return Explainer(objects, self.conf, self.now).why_job(uid)

    def _with(self, about: str | None) -> Explainer:
        """The same cycle with the searches for a job, by its uid ("": for all): this one, where its
        trace has them.
        """
        has = getattr(self.trace, "about", "") in ("", about)
        return self if has else Explainer(
            self.objects, self.conf, self.now, about=about and self.names.called(about))

    def why_job(self, uid: str) -> Explanation:
        """Return why pods of a job wait, and the changes that place them."""
        uid = self.names.find(uid, "job")[1]
        if (first := self._overtaken(uid)) is not None:
            return first.why_job(uid)
        if (full := self._with(uid)) is not self:
            return full.why_job(uid)
        job = self.session.jobs[uid]
        later = self._later.get(self.names.called(uid))
        if later and not job.tasks:
            completed = with_defaults([*self.objects, *later])
            completed.given = [*self.evidence.given]
            completed.not_created = self.evidence.not_created
            found = self._why_with(completed, self.names.called(uid))
            if "pods_later" not in [cause.code for cause in found.causes]:  # no Job is given
                found.causes.append(Cause.of("pods_later", context=True, pods=len(later)))
            return found
        for objects, cause in beyond.without_unplaceable(self.evidence, job):
            found = self._why_with(objects, self.names.called(uid))
            found.causes.append(cause)
            return found
        return self._why_here(uid, job)

    def _why_here(self, uid: str, job: JobInfo) -> Explanation:
        """Why pods of a job wait by this cycle."""
        causes = job_causes(self.evidence, job)
        codes = {cause.code for cause in causes}
        if codes & {*remedies.VOLUMES, *REFUSED}:
            causes += remedies.behind(self.evidence, job, codes)
        causes += [*self._reserving(causes), *releases.defect_causes(self.evidence, job, causes)]
        loops = self.loops() if len(self.session.nodes) < outcome.LARGE else None
        if not_created_yet(self.evidence, job):
            causes.append(Cause.of("pods_later", context=True, pods=len(job.tasks)))
        causes += loops.causes if loops is not None else []
        said = head_of(self.evidence, job, causes)
        if not loops and remedies.lacks(job, {cause.code for cause in causes}, causes):
            said += until(self.evidence, job, causes)
        shown = [cause for cause in causes if cause.said and not said_already(cause, causes)]
        found = Explanation(f"job {self.names.called(uid)}", said, shown,
                            remedies.finder(self.evidence, job, causes))
        return self._taken(found, job.tasks.values())

    def _taken(self, found: Explanation, tasks: Iterable[TaskInfo]) -> Explanation:
        return pods.with_evicted(self.evidence, found, [*tasks], partial(Explainer, now=self.now))

    def _overtaken(self, uid: str) -> Explainer | None:
        """The first of the cycles up to this one, where it refused a job and then admitted others:
        these are not in the sum by which it did.
        """
        read = (self.first.trace if self.first else self.evidence).of
        refused = read("asked", point="job_enqueueable", job=uid, answer=False)
        late = refused and any(each.number > refused[0].number for each in read("enqueued"))
        if late and self.first and self._before is None:
            self._before = Explainer(self.first.world, self.conf, self.first.session.now)
        return self._before if late else None

    def _reserving(self, causes: list[Cause]) -> Iterator[Cause]:
        """Yield what the job that has reserved most of what is missing waits for itself."""
        never = any(cause.code == "never_starts" for cause in causes)
        first: list[str] = next((cause.numbers["holders"][:1] for cause in causes
                      if "ghosts" in cause.numbers and not never), [])
        for job in map(self.session.jobs.__getitem__, first):
            idle = job.has_pending_tasks() and not job.ready_task_num()
            if idle and (cause := self.foremost(job.uid)) and (gap := gap_of(cause)):
                yield Cause.of("reserving", context=True, job=self.names.called(job.uid), gap=gap)

    @collector_paused()
    def loops(self, seconds: float = inf) -> Explanation | None:
        """Return what the cluster evicts again and again without a change, and what ends it; None
        where it does not, where `seconds` show none in a large one, or the cycle is one of a
        history.

        >>> from volcano_lab.cluster import Cluster
        >>> Cluster().node("n1", cpu=4).job("a", cpu=1).explainer().loops() is None
        True
        """
        seen, leaves = self.evidence, any(
            job.in_status(RELEASING) for job in self.session.jobs.values())
        if not leaves or not (seen.fresh or seen.alone or seen.future) or not self.objects:
            return None
        large = len(self.session.nodes) >= outcome.LARGE
        found = outcome.alone(seen, perf_counter() + seconds if large else inf)
        cause = cluster_loops(self._with("").evidence if found.loops and not large else seen, found)
        return None if cause is None else Explanation("cluster", [], [cause], partial(
            remedies.ends_of, seen, cause))

    @collector_paused()
    def waiting(self) -> Waiting:
        """Return all jobs that wait, by the foremost of their causes; the largest group first, last
        the jobs whose pods their nodes do not start or keep running.

        >>> from volcano_lab.cluster import Cluster
        >>> cluster = Cluster().node("n1", cpu=4).job("a", cpu=6).job("b", pods=9, cpu=1)
        >>> [(group.code, group.jobs) for group in Explainer(cluster.objects()).waiting()]
        [('overcommit_refuses', ['default/a', 'default/b'])]
        """
        least = None if "allocate" in self.session.enabled_actions else ""
        if (full := self._with(least)) is not self:
            return full.waiting()
        rows, waits = list[tuple[tuple, Explanation]](), beyond.waiting(self.evidence)
        for uid, job in self.session.jobs.items():
            pending, name = uid in waits, self.names.called(uid)
            seen = ((pending and self._overtaken(uid)) or self).evidence
            seen.brief, job = True, seen.ssn.jobs[uid]
            causes = job_causes(seen, job) if pending else pods.not_running(seen, job)
            if not causes or causes[0].numbers.get("phase") == "Completed":
                continue
            first = _foremost(causes)
            if first.context and first.code != "bound" and least is None:
                first = _foremost(self.why(name).causes)
            queue = job.queue if first.code in candidates.SHARE else first.numbers.get("level")
            key = first.code, queue, tuple(
                first.numbers.get("short_of") or first.numbers.get("why", ()))
            rows.append((key, Explanation(name, head_of(seen, job, causes), [first])))
        for each in filter(None, (self, self._before)):
            each.evidence.brief = False
        gone = [((code,), Explanation(
            said.facts["name"], Message("left_out.head", why=[said]), [Cause(code, said)]))
            for code, said in self._not_there()]
        groups = [Group(key[0], partial(self.why, found[0].about), found)
                  for key, found in grouped([*rows, *gone]).items()]
        return Waiting(sorted(groups, key=lambda group: (
            group.code == "bound", -len(group.answers))), len(self.session.jobs) + len(gone))

    def _not_there(self) -> Iterator[tuple[str, Message]]:
        """Yield why objects without a job are not in the session, as (code, message)."""
        jobs = {*self.names.jobs.values()}
        yield from (("left_out", said) for said in absent(self.evidence).values())
        for name, each in self.evidence.not_created.items():
            for why in each if name not in jobs else ():
                if isinstance(why, Message) and (
                        why.code in TABLES["never"]["codes"] or why.facts.get("quota")):
                    yield "pods_not_made", Message("not_created", name=name, what=why)

    def foremost(self, uid: str) -> Cause | None:
        """Return the first cause for which a job waits; None where no pod of it waits."""
        self.evidence.brief = True
        causes = job_causes(self.evidence, self.session.jobs[uid])
        self.evidence.brief = False
        return _foremost(causes) if causes else None

    def why_task(self, key: str) -> Explanation:
        """Return why a pod is on its node, or waits."""
        task = self.evidence.tasks[self.names.find(key, "pod")[1]]
        if self.evidence.of("commit", task=task.key, operation="evict"):
            return pods.why_evicted(self._with("").evidence, task)
        if said := taken.taken(self.evidence, [task]):
            return self._taken(Explanation(f"pod {task.key}", Message(
                "pod.evicted", pod=task.key), [Cause("pods_leave", said)]), [task])
        if task.node_name and task not in held(self.session.jobs[task.job]):
            return pods.why_placed(self.evidence, task)
        return pods.why_waits(self.evidence, task, self.why_job(task.job))

    def why_queue(self, name: str) -> Explanation:
        """Return what a queue deserves, holds and may hold, and what its first job waits for."""
        found = why_queue(self.evidence, self.names.find(name, "queue")[1])
        for cause in [each for each in found.causes if each.code == "jobs_wait"]:
            job = self.why_job(cause.numbers["jobs"][0])
            found.find_remedies, text = job.find_remedies, each_said(job.said)[0]
            cause.said = [*cause.sentences, Message("jobs_wait.first", text=text)]
        return found

    def why_node(self, name: str) -> Explanation:
        """Return what a node has left, whose pods are on it, and what keeps those that wait off it.

        >>> from volcano_lab.cluster import Cluster
        >>> cluster = Cluster().node("n1", cpu=4).node("n2", cpu=2).job("a", cpu=6)
        >>> print(cluster.explainer().why_node("n2").causes[0].text)
        Pod default/a-0 requests cpu 6; node n2 had 2 left.
        """
        return why_node(self.evidence, self.names.find(name, "node")[1])

    def why_not(self, node: str, pod: str) -> Explanation:
        """Return why a pod, or the first of a job that waits, is not on a node. Raises
        `LookupError`.
        """
        if node not in self.session.nodes:
            raise NoSuch("names.no_such.node", name=node, near=near(node, self.session.nodes))
        task = self.evidence.tasks[self._pod(pod)]
        if task.node_name == node:
            return self.why_task(task.key)
        return pods.why_not(self.evidence, task, node, self.why_job)

    def _pod(self, name: str) -> str:
        """The key of a pod, or of the first pod of a job that waits."""
        try:
            job = self.session.jobs[self.names.find(name, "job")[1]]
        except LookupError:
            return self.names.find(name, "pod")[1]
        if not job.tasks:
            raise NoSuch("why.no_pods", name=name)
        return min(job.tasks.values(), key=lambda task: bool(task.node_name)).key

    def why_before(self, first: str, second: str) -> Explanation:
        """Return why one of two jobs is served before the other, and the place of the first in its
        queue.

        >>> from volcano_lab.cluster import Cluster
        >>> cluster = Cluster().node("n1", cpu=2).job("a", cpu=2).job("b", cpu=2)
        >>> print(cluster.explainer().why_before("b", "a").head)
        enqueue serves default/a before default/b.
        """
        pair = [self.session.jobs[self.names.find(name, "job")[1]] for name in (first, second)]
        found = why_before(self.evidence, pair[0], pair[1], self.why_job)
        for cause in [] if found.find_remedies else found.causes[:1]:
            if cause.records and cause.numbers.get("first") not in (
                    None, pair[0].uid, pair[0].queue):
                pair.sort(key=lambda job: cause.numbers["first"] not in (job.uid, job.queue))
                found.find_remedies = partial(
                    remedies.sooner, self.evidence, cause, pair, self.why_job)
        return found

    def who_evicts(self, name: str) -> Explanation:
        """Return which actions may evict pods of a job, for which jobs now, and when.

        >>> from volcano_lab.cluster import Cluster
        >>> cluster = Cluster().node("n1", cpu=2).job("a", cpu=2, running={"n1": 1})
        >>> print(cluster.explainer().who_evicts("a").head)
        No action of the configuration evicts pods of default/a for others (preempt, reclaim).
        """
        job = self.session.jobs[self.names.find(name, "job")[1]]
        found = who_evicts(self.evidence, job, self.why_job)
        gone = [pod for each in (*evicted_for(self.evidence, job).values(), shuffled(
            self.evidence, job).get("shuffle", ())) for pod in each]
        later = max([0, *(cause.numbers.get("at", 0) for cause in found.causes)])
        victims = [*victim_causes(self.evidence, gone[0])] if gone else []
        found.find_remedies = remedies.sparing(self.evidence, job, victims)
        if later and not gone:  # a zone closes: the changes are those of that moment
            found.find_remedies = lambda seconds: Explainer(
                self.objects, self.conf, later + 1).who_evicts(name).remedies_within(seconds)
        found.said = [*taken.taken(self.evidence, job.tasks.values()), *each_said(found.said)]
        return self._taken(found, job.tasks.values())


def _foremost(causes: list[Cause]) -> Cause:
    """The first cause that is no context."""
    return next((cause for cause in causes if not cause.context), causes[0])
