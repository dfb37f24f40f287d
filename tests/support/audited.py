"""A simulation of which more is checked than a user's `check=True` does: what happens within each
cycle, what is under way between cycles, and that each cycle decides the same node by node, on a
copy of the cache.

Two more things go wrong in it, as often as binds are refused: evictions are refused, and pods of
another scheduler take the resources that a session has just chosen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import attrs
import yaml
from meddling import Users
from policy_audit import PolicyAudit
from session_audit import SessionAudit
from twins import USELESS, in_its_words, twin

from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.api.status import PENDING, PIPELINED, RELEASING
from volcano_lab.api.task import TaskInfo
from volcano_lab.cache import dump
from volcano_lab.cache.api_server import ADDED, DELETED, UNAVAILABLE, ApiError, WatchEvent
from volcano_lab.framework.observer import Observer, joined
from volcano_lab.framework.session import Session
from volcano_lab.manifests import ManifestError
from volcano_lab.manifests.owners import submitted_again
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import InvariantBroken, JobTemplate, Simulation
from volcano_lab.simulation.calendar import Entry
from volcano_lab.simulation.cluster_side import job_of
from volcano_lab.simulation.faults import Disturbance


class Disturbed(Simulation):
    """A `Simulation` in which users meddle, evictions are refused, and others are quicker."""

    def __init__(self, *given: Any, observer: Observer | None = None, users: bool = False,
                 **named: Any) -> None:
        self.mischief, self.rival = Random(f"{named.get('seed', 0)} mischief"), Rival(self)
        super().__init__(*given, observer=joined(observer, self.rival), **named)
        self.users = Users(self, self.seed) if users else None

    def strikes(self) -> bool:
        """Whether something goes wrong of which a user's simulation has no fault."""
        chance = self.faults.chance.get("bind_refused", 0.0)
        return chance > 0 and self.mischief.random() < chance

    def _connect(self, *given: Any) -> None:
        super()._connect(*given)
        evict = self.pipeline._evict

        def refused_at_times(task: TaskInfo, reason: str) -> None:
            if self.strikes():
                raise ApiError(UNAVAILABLE, "the server is currently unable to handle the request")
            evict(task, reason)

        self.pipeline._evict = refused_at_times

    def _arrival(self, stream: int) -> None:
        try:
            super()._arrival(stream)
        except ManifestError:  # a user has deleted the priority class that the job names
            self._next_arrival(stream)

    def _decide(self, disturbance: Disturbance) -> Session:
        self.rival.comes = self.strikes()
        return super()._decide(disturbance)


class Audited(Disturbed):
    """A `Disturbed` one with an audit of each session."""

    def __init__(self, *given: Any, observer: Observer | None = None, **named: Any) -> None:
        self.audit = SessionAudit()
        self.copied: dict[str, Any] = {}  # the cache, and what was decided on a copy of it
        self.again: dict[str, Any] = {}
        audits = self.audit, PolicyAudit(self.audit.problems)
        super().__init__(*given, observer=joined(*audits, observer), **{"check": True} | named)
        self.books = JobBooks(self)
        # the configuration as another reader of YAML reads it
        self.plain_conf = self.conf and json.dumps(yaml.safe_load(self.conf))

    def _happened(self, entry: Entry) -> None:
        super()._happened(entry)
        found = [*self.audit.problems, *under_way_problems(self), *self.books.problems()]
        self.audit.problems.clear()
        if self.check and found:
            raise InvariantBroken(f"seed {self.seed}, {entry.kind}: {'; '.join(found[:5])}")

    def _decide(self, disturbance: Disturbance) -> Session:
        again = self._decided_again()
        ssn = super()._decide(disturbance)
        disturbed = disturbance.needed or self.rival.came
        if not disturbed and again != (once := in_its_words(decided(ssn))):
            self.audit.problems.append(
                f"{ssn.uid} decides {once}, node by node on a copy of the cache {again}")
        return ssn

    def _decided_again(self) -> dict[str, Any]:
        """Return what the coming cycle decides, node by node, on a twin of the cache from its dump;
        where this has not changed, and no plugin reads the time, what the last one has decided.
        """
        dumped = dump.dump(self.cache)
        if self.copied != dumped or self.reads_time:
            audit, scheduler = SessionAudit(), Scheduler(dump.load(twin(dumped)), self.plain_conf)
            scheduler.memory = deepcopy(self.scheduler.memory)
            audits = joined(audit, PolicyAudit(audit.problems))
            ssn = scheduler.run_once(audits, arrays=False, now=self.server.clock())
            self.audit.problems += audit.problems
            self.copied, self.again = dumped, decided(ssn)
            unseen = self._decided_unobserved(dumped)
            if unseen != (seen := in_its_words({key: self.again[key] for key in unseen})):
                self.audit.problems.append(
                    f"{ssn.uid} decides {unseen} unobserved, and {seen} observed")
        return self.again


    def _decided_unobserved(self, dumped: dict[str, Any]) -> dict[str, Any]:
        """Return what the coming cycle decides where nothing watches it, so that it skips all that
        it may.
        """
        scheduler = Scheduler(dump.load(dumped), self.conf)
        scheduler.memory = deepcopy(self.scheduler.memory)
        found = in_its_words(decided(scheduler.run_once(now=self.server.clock())))
        return {key: found[key] for key in ("committed", "promised")}


class JobBooks:
    """What the history says of each job, counted again from the API server's news alone."""

    def __init__(self, sim: Simulation):
        self.sim = sim
        self.admitted: set[str] = set()
        self.finished: set[str] = set()
        self.gangs: dict[str, bool] = {}  # whether a job that has had its minimum has it now
        self.lost: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.leaving: dict[str, set[str]] = {}
        sim.server.watchers.insert(0, self.hear)
        for obj in [*sim.server.list("PodGroup"), *sim.server.list("Pod")]:
            self.hear(WatchEvent(ADDED, obj))

    def hear(self, event: WatchEvent) -> None:
        obj = event.object
        if isinstance(obj, PodGroup) and obj.status.phase in ("Inqueue", "Running"):
            self.admitted.add(obj.key)
        job = job_of(obj) if isinstance(obj, Pod) else ""
        run = self.sim.side.jobs.get(job)
        if run is None or job in self.finished:
            return
        phases = Counter(pod.status.phase for pod in self.sim.server.list("Pod")
                         if pod.key in run.members)
        count = phases["Running"] + phases["Succeeded"]
        whole = 0 < count >= run.min_member
        if event.type == DELETED:
            if obj.key in run.members:
                self.lost[job] += 1
                self.broken[job] += self.gangs.get(job, False) and not whole
                self.gangs |= {job: whole} if job in self.gangs else {}
        elif obj.metadata.deletion_timestamp is not None:
            self.leaving.setdefault(job, set()).add(obj.metadata.uid)
        elif whole:
            self.gangs[job] = True
        if phases["Succeeded"] == run.pods:
            self.finished.add(job)

    def problems(self) -> Iterator[str]:
        for job, run in self.sim.side.jobs.items():
            mine = (job in self.admitted, job in self.gangs, job in self.finished,
                    self.lost[job], self.broken[job], len(self.leaving.get(job, ())))
            said = (run.admitted is not None, run.started is not None, run.finished is not None,
                    run.lost, run.broken, run.evicted)
            if mine != said:
                yield (f"job {job}: admitted, started, finished, lost, broken, evicted are {said}, "
                       f"and should be {mine}")


def decided(ssn: Session) -> dict[str, Any]:
    """Return what a cycle has committed, which tasks it leaves with a promise, and why nodes do not
    take others: of all nodes but those that only a twin has.
    """
    promised = {task.key: task.node_name for job in ssn.jobs.values()
                for task in job.in_status(PIPELINED).values()}
    refused = {job.tasks[uid].key: {name: list(error.reasons) for name, error in sorted(
        errors.nodes.items()) if name not in USELESS} for job in ssn.jobs.values()
        for uid, errors in job.nodes_fit_errors.items() if uid in job.tasks}
    return {"committed": ssn.committed, "promised": dict(sorted(promised.items())),
            "refused": dict(sorted(refused.items()))}


class Rival(Observer):
    """Others who are quicker than a session: where one `comes`, another scheduler takes all CPUs
    that are left on the first node which the session chooses, or a user replaces the pod.
    """

    watching = watches_attempts = False

    def __init__(self, sim: Simulation):
        self.sim, self.number, self.comes, self.came = sim, 0, False, False

    def opened(self, ssn: Session) -> None:
        self.came = False

    def chose(self, task: TaskInfo, nodes: Any, node: Any, errors: Any) -> None:
        if self.comes and node is not None and self.sim.mischief.random() < 0.3:
            self._replaces(task)
            return
        known = self.sim.cache.nodes.get(node.name) if self.comes and node is not None else None
        cpus = int(known.idle.milli_cpu // 1000) if known is not None and known.ready else 0
        if cpus <= 0 or self.sim.server.find("Node", node.name) is None:
            return
        self.number, self.comes, self.came = self.number + 1, False, True
        pod = JobTemplate("rival", cpu=cpus, at_once=True).build(f"rival-{self.number}")[1][0]
        pod = self.sim.server.create(attrs.evolve(
            pod, spec=attrs.evolve(pod.spec, node_name=node.name, scheduler_name="rival")))
        self.sim.informer.handle(WatchEvent(ADDED, pod))
        self.sim.calendar.after(10.0, self.sim._pod_deleted, pod=pod.key)

    def _replaces(self, task: TaskInfo) -> None:
        """A user replaces the pod that the session has just given a node by one of its name."""
        pod = self.sim.server.find("Pod", task.key)
        if pod is not None and pod.metadata.uid == task.uid and not pod.spec.node_name:
            self.comes, self.came = False, True
            self.sim.server.remove("Pod", task.key)
            self.sim.server.create(submitted_again(pod))


def under_way_problems(sim: Simulation) -> Iterator[str]:
    """What is on its way is not forgotten meanwhile, and what is gone has an end."""
    pipeline, jobs = sim.pipeline, sim.cache.jobs
    pods = {pod.metadata.uid: pod for pod in sim.server.list("Pod")}
    bound_for = {context.task.uid: context.task.node_name for context in pipeline.bound_for()}
    for uid, job in jobs.items():
        if not job.tasks and job.pod_group is None and uid not in pipeline.deleted_jobs:
            yield f"nothing is left of job {uid}, and it stays"
        for task in job.tasks.values():
            pod = pods.get(task.uid)
            node = bound_for.get(task.uid) or (pod is not None and pod.spec.node_name)
            if task.status == PENDING and node and task.uid not in sim.surprises:
                yield f"task {task.key} is Pending, and on its way to node {node}"
            if (task.status == RELEASING and pod is not None
                    and pod.metadata.deletion_timestamp is None
                    and f"{task.job}/{task.uid}" not in pipeline.errors
                    and not any(task.uid == evicted.uid for evicted, _ in pipeline.evictions)):
                yield f"task {task.key} is Releasing without an eviction or a deletion"
    for retried in (pipeline.errors, pipeline.deleted_jobs):
        yield from (f"{key} has failed, and is not tried again"
                    for key in retried.failures if key not in retried)
    coming = {(entry.kind, entry.facts.get("uid", entry.facts.get("node")))
              for entry in sim.calendar.entries.values()}
    for uid, pod in pods.items():
        node, phase = pod.spec.node_name, pod.status.phase
        there = sim.server.find("Node", node) is not None
        if (node and phase in ("Pending", "Running") and not there
                and ("pods_collected", node) not in coming):
            yield f"pod {pod.key} stays on node {node}, which is gone"
        if pod.metadata.deletion_timestamp is not None:
            if ("pod_ends", uid) not in coming:
                yield f"pod {pod.key} is to be deleted, and never ends"
        elif there and phase == "Pending" and ("pod_starts", uid) not in coming:
            yield f"pod {pod.key} is bound to node {node}, and never starts"
