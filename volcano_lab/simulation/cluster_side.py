"""The cluster around a scheduler: controllers create pods, kubelets run them, nodes fail and
return.

Represents the job controller, the kubelets, the node and the pod garbage collector, as far as they
affect a scheduler. A deleted pod of an unfinished job is recreated, with another uid, unless it is
a bare pod; one that succeeded by the job controller only. Pods of a lost node are deleted after a
while, unless the node returns before. Jobs that exist at the start run for ever. The pods of a
Volcano Job are created once its PodGroup is admitted, an operator's follow-up pods when the first
ones run, all others with their PodGroup.

Volcano: pkg/controllers/job/job_controller_actions.go (syncJob)
"""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import define, field

from volcano_lab.api.objects import Node, Pod, PodGroup
from volcano_lab.cache.api_server import DELETED, ApiServer, WatchEvent
from volcano_lab.manifests.disruptions import counted
from volcano_lab.manifests.owners import JOB, job_of, owners_of, submitted_again
from volcano_lab.messages import friendly_errors
from volcano_lab.simulation.calendar import Calendar
from volcano_lab.simulation.history import History
from volcano_lab.simulation.workload import JobTemplate, Spread, spread
from volcano_lab.trace.plain import grouped


@friendly_errors
@define(slots=True)
class Latencies:
    """Durations, in seconds: a number, or a `Spread`.

    `bind` and `evict`: a request to the API server; `start`: from bound to running; `end`: from
    deletion to removal; `recreate`: until a lost pod, or one of an admitted job, is created;
    `collect`: until the pods of a lost node are deleted; `remove`: until a finished job is.
    """

    bind: Spread = field(default=Spread(a=0.01), converter=spread)
    evict: Spread = field(default=Spread(a=0.01), converter=spread)
    start: Spread = field(default=Spread(a=1.0), converter=spread)
    end: Spread = field(default=Spread(a=2.0), converter=spread)
    recreate: Spread = field(default=Spread(a=0.5), converter=spread)
    collect: Spread = field(default=Spread(a=20.0), converter=spread)
    remove: Spread = field(default=Spread(a=5.0), converter=spread)


@define(slots=True)
class JobRun:
    """The run of one job; times are seconds since the start, None for events that have not
    happened. A job that exists at the start has no template, and no end.
    """

    name: str
    queue: str
    pods: int
    min_member: int
    run_time: float | None
    arrived: float
    template: JobTemplate | None
    members: list[str]
    admitted: float | None = None
    started: float | None = None
    finished: float | None = None
    lost: int = 0
    evicted: int = 0
    broken: int = 0
    whole: bool = False

    @property
    def waiting(self) -> float | None:
        """Seconds from its arrival until its minimum ran."""
        return None if self.started is None else round(self.started - self.arrived, 6)


class ClusterSide:
    """Acts on the API server's objects.

    `jobs` has every job ever submitted, by "namespace/name", `first_node` the node to which each
    pod (by uid) was bound first.
    """

    def __init__(self, server: ApiServer, calendar: Calendar, history: History,
                 latencies: Latencies, random: Any):
        self.server, self.calendar, self.history = server, calendar, history
        self.latencies, self.random = latencies, random
        self.jobs: dict[str, JobRun] = {}
        self.unfinished: dict[str, None] = {}
        self.lost_nodes: dict[str, Node] = {}
        self.seen: dict[str, str] = {}
        self.first_node: dict[str, str] = {}
        self.later: dict[str, list[Pod]] = {}
        server.watchers.append(self.watch)

    def after(self, what: str, handler: Callable[..., Any], **facts: Any) -> None:
        """Schedule an event after one of the latencies."""
        self.calendar.after(getattr(self.latencies, what).draw(self.random), handler, **facts)

    # -- jobs ------------------------------------------------------------------------------------

    def submit(self, name: str, template: JobTemplate) -> JobRun:
        """Submit a job: create its PodGroup, and its pods unless they are created later."""
        group, first, later = template.build(name, self.server.list("PriorityClass"))
        run_time = None if template.run_time is None else template.run_time.draw(self.random)
        run = JobRun(name, group.spec.queue, len(first or later), group.spec.min_member, run_time,
                     self.calendar.now, template, [pod.key for pod in first])
        self.jobs[group.key] = run
        self.unfinished[group.key] = None
        if later:
            self.later[group.key] = later
        self.server.create(group)
        for pod in first:
            self.server.create(pod)
        self.history.note(self.calendar.now, "job arrived", group.key,
                          f"{run.pods} pods in queue {run.queue}")
        return run

    def take_in(self, later: Iterable[list[Pod]] = ()) -> None:
        """Add the jobs that exist at the start, and the pods created once they are admitted."""
        self.later = {job_of(pods[0]): pods for pods in later if pods}
        pods = by_job(self.server.list("Pod"))
        for group in self.server.list("PodGroup"):
            members, least = pods.get(group.key, []), group.spec.min_member
            running = sum(pod.status.phase == "Running" for pod in members)
            self.unfinished[group.key] = None
            self.jobs[group.key] = JobRun(
                group.name, group.spec.queue, len(members), least, None, 0.0, None,
                [pod.key for pod in members],
                0.0 if group.status.phase in ("Inqueue", "Running") else None,
                0.0 if running and running >= least else None, whole=0 < running >= least)

    def pods_created(self, job: str) -> None:
        """Create the pods of an admitted job, or those that follow the first ones."""
        run = self.jobs[job]
        for pod in self.later.pop(job, ()):
            run.members.append(pod.key)
            run.pods = max(run.pods, len(run.members))
            self.server.create(pod)

    def pod_recreated(self, job: str, like: Pod) -> None:
        """Recreate a lost pod, `like` the previous one."""
        run, pod = self.jobs[job], like.key
        if run.finished is None and pod in run.members and self.server.find("Pod", pod) is None:
            self.server.create(like)

    def job_removed(self, job: str) -> None:
        """Delete a finished job's pods and PodGroup."""
        for pod in self.pods_of(job):
            self.server.delete("Pod", pod.key)
        if self.server.find("PodGroup", job) is not None:
            self.server.delete("PodGroup", job)

    def pods_of(self, job: str) -> list[Pod]:
        """Return a job's existing pods."""
        found = (self.server.find("Pod", key) for key in self.jobs[job].members)
        return [pod for pod in found if pod is not None]

    # -- pods ------------------------------------------------------------------------------------

    def watch(self, event: WatchEvent) -> None:
        """Handle every change when it happens."""
        if isinstance(event.object, Pod):
            self._pod_changed(event.type, event.object)
        elif isinstance(event.object, PodGroup):
            run = self.jobs.get(event.object.key)
            if run is not None and run.admitted is None and event.object.status.phase in (
                    "Inqueue", "Running"):
                run.admitted = self.calendar.now
                self.history.note(self.calendar.now, "job admitted", event.object.key)
                if event.object.key in self.later and not self.pods_of(event.object.key):
                    self.after("recreate", self.pods_created, job=event.object.key)

    def _pod_changed(self, type_: str, pod: Pod) -> None:
        uid, job = pod.metadata.uid, job_of(pod)
        if pod.spec.node_name:
            self.first_node.setdefault(uid, pod.spec.node_name)
        if type_ == DELETED:
            self.seen.pop(uid, None)
            self._pod_deleted(job, pod)
        elif pod.metadata.deletion_timestamp is not None and self.seen.get(uid) != "ending":
            run = self.jobs.get(job)
            if run is not None and run.finished is None:
                run.evicted += 1
            self.seen[uid] = "ending"
            self.after("end", self.pod_ends, pod=pod.key, uid=uid)
        elif pod.spec.node_name and pod.status.phase == "Pending" and uid not in self.seen:
            self.seen[uid] = "bound"
            self.history.note(self.calendar.now, "pod bound", pod.key, pod.spec.node_name)
            self._expect(pod)

    def count_disruptions(self) -> None:
        """Let the disruption controller write what budgets allow now."""
        budgets = self.server.list("PodDisruptionBudget")
        pods = self.server.list("Pod") if budgets else []
        for budget in budgets:
            if (counted_now := counted(budget, pods)) != budget:
                self.server.update(counted_now)

    def _pod_deleted(self, job: str, pod: Pod) -> None:
        """Recreate a pod of an unfinished job, if its controller does."""
        run = self.jobs.get(job)
        if run is None or pod.key not in run.members or run.finished is not None:
            return
        run.lost += 1
        if run.whole and self._running(job) < run.min_member:
            run.whole = False
            run.broken += 1
        self.history.note(self.calendar.now, "pod lost", pod.key, pod.spec.node_name)
        group = self.server.find("PodGroup", job)
        owners = owners_of(group) if group else {"Pod"}  # no controller recreates a bare pod
        if run.template is None and ("Pod" in owners or (
                pod.status.phase == "Succeeded" and JOB not in owners)):
            run.members.remove(pod.key)
        else:
            self.after("recreate", self.pod_recreated, job=job, like=submitted_again(pod))

    def finishes_after(self, pod: Pod) -> None:
        """Schedule the end of a running pod, unless its job runs for ever."""
        run = self.jobs.get(job_of(pod))
        if run is not None and run.run_time is not None:
            self.calendar.after(run.run_time, self.pod_finishes, pod=pod.key, uid=pod.metadata.uid)

    def _expect(self, pod: Pod) -> None:
        """Schedule the start of a bound pod or, without its node, its deletion."""
        if self.server.find("Node", pod.spec.node_name) is not None:
            self.after("start", self.pod_starts, pod=pod.key, uid=pod.metadata.uid)
        else:
            self.after("collect", self.pods_collected, node=pod.spec.node_name)

    def _living(self, pod: str, uid: str, phase: str) -> Pod | None:
        """Return a pod if it is still the same, in that phase, and on an existing node."""
        found = self.server.find("Pod", pod)
        lives = (found is not None and found.metadata.uid == uid and found.status.phase == phase
                 and found.metadata.deletion_timestamp is None
                 and self.server.find("Node", found.spec.node_name) is not None)
        return found if lives else None

    def pod_starts(self, pod: str, uid: str) -> None:
        found = self._living(pod, uid, "Pending")
        if found is None:
            return
        status = {"phase": "Running", "start_time": self.server.now()}
        self.server.update(found.changed(status=status))
        run = self.jobs.get(job_of(found))
        if run is None:
            return
        self.finishes_after(found)
        if not run.whole and self._running(job_of(found)) >= run.min_member:
            run.whole = True
            if job_of(found) in self.later:
                self.after("recreate", self.pods_created, job=job_of(found))
            if run.started is None:
                run.started = self.calendar.now
                self.history.note(self.calendar.now, "job started", job_of(found))

    def _running(self, job: str) -> int:
        return sum(pod.status.phase in ("Running", "Succeeded") for pod in self.pods_of(job))

    def pod_finishes(self, pod: str, uid: str) -> None:
        found = self._living(pod, uid, "Running")
        if found is None:
            return
        self.server.update(found.changed(status={"phase": "Succeeded"}))
        job = job_of(found)
        run = self.jobs[job]
        if sum(other.status.phase == "Succeeded" for other in self.pods_of(job)) == run.pods:
            run.finished = self.calendar.now
            self.unfinished.pop(job, None)
            self.history.note(self.calendar.now, "job finished", job)
            self.after("remove", self.job_removed, job=job)

    def pod_ends(self, pod: str, uid: str) -> None:
        found = self.server.find("Pod", pod)
        if found is not None and found.metadata.uid == uid:
            self.server.remove("Pod", pod)

    # -- nodes -----------------------------------------------------------------------------------

    def node_fails(self, node: str, back_after: float | None = None) -> None:
        """Lose a node, for some seconds or for good."""
        found = self.server.find("Node", node)
        if found is None:
            return
        self.lost_nodes[node] = found
        self.server.delete("Node", node)
        for pod in self._pods_on(node):
            self.calendar.cancel("pod_starts", "pod_finishes", uid=pod.metadata.uid)
        self.history.note(self.calendar.now, "node lost", node)
        self.after("collect", self.pods_collected, node=node)
        if back_after is not None:
            self.calendar.after(back_after, self.node_returns, node=node)

    def node_returns(self, node: str) -> None:
        """Return a node: its pods that were not deleted start over."""
        found = self.lost_nodes.pop(node, None)
        if found is None:
            return
        self.calendar.cancel("pods_collected", node=node)
        self.server.create(found.changed(metadata={"uid": "", "resource_version": ""}))
        self.history.note(self.calendar.now, "node back", node)
        for pod in self._pods_on(node):
            if pod.metadata.deletion_timestamp is None:
                (self._expect if pod.status.phase == "Pending" else self.finishes_after)(pod)

    def pods_collected(self, node: str) -> None:
        for pod in self._pods_on(node):
            self.server.remove("Pod", pod.key)

    def _pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node that have not ended."""
        return [pod for pod in self.server.list("Pod") if pod.spec.node_name == node
                and pod.status.phase in ("Pending", "Running")]


def by_job(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Return pods by their job."""
    return grouped((job_of(pod), pod) for pod in pods)
