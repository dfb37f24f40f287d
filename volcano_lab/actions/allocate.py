"""allocate: place the tasks of admitted jobs on nodes, gang by gang.

Pop a queue, a job of it, and tasks of the job until its gang is ready; then commit the statement or
discard it. A job with hard network topology is tried in one HyperNode after the other
(`allocate_topology.py`).

Volcano: pkg/scheduler/actions/allocate
"""

from volcano_lab.actions.allocate_topology import TopologyAllocator
from volcano_lab.actions.job_plan import JobWorksheet, organize
from volcano_lab.api import FitErrors, JobInfo, NodeInfo, QueueInfo, SubJobInfo, TaskInfo
from volcano_lab.framework import CLUSTER_TOP, Action, PriorityQueue, Session, Statement
from volcano_lab.framework.placement.array_chooser import node_chooser
from volcano_lab.framework.statement import StatementError, unplace


class Allocate(Action):
    """Allocate idle resources to tasks, or pipeline tasks onto resources being released."""

    name = "allocate"

    def execute(self, ssn: Session) -> None:
        self.ssn = ssn
        self.read_error_cache(ssn)
        self.topology = TopologyAllocator(ssn, self.allocate_tasks)
        self._allocate_resources(*self._gather_work())

    def _gather_work(self) -> tuple[PriorityQueue[QueueInfo], dict[str, PriorityQueue[JobInfo]]]:
        """Return the queues and each queue's jobs; `worksheets` holds each job's tasks."""
        ssn, jobs = self.ssn, {}
        queues = PriorityQueue(ssn.queue_order)
        self.worksheets: dict[str, JobWorksheet] = {}
        for job in ssn.jobs.values():
            if self._wants_work(job) and (worksheet := organize(ssn, job)):
                if job.queue not in jobs:
                    jobs[job.queue] = ssn.job_queue()
                    queues.push(ssn.queues[job.queue])
                jobs[job.queue].push(job)
                self.worksheets[job.uid] = worksheet
        return queues, jobs

    def _wants_work(self, job: JobInfo) -> bool:
        ssn = self.ssn
        if job.is_pending():
            if "enqueue" in ssn.enabled_actions:
                return False
            job.pod_group.status.phase = "Inqueue"  # no enqueue action will admit it
            ssn.observer.changed("enqueued", job)
        if ssn.job_valid(job) is not None:
            return False
        return ssn.topology.ready or not job.contains_network_topology()

    def _allocate_resources(self, queues: PriorityQueue[QueueInfo],
                            jobs_by_queue: dict[str, PriorityQueue[JobInfo]]) -> None:
        ssn = self.ssn
        while queues:
            queue = queues.pop()
            ssn.observer.popped("queue", queue, queues)
            if ssn.overused(queue):
                ssn.observer.note("passed_over", queue=queue.uid, reason="overused")
                continue
            jobs = jobs_by_queue.get(queue.uid)
            if not jobs:
                continue
            job = jobs.pop()
            ssn.observer.popped("job", job, jobs)
            resolve_tier_names(ssn.topology.tier_by_name, job)
            if self._allocate_job(job, self.worksheets[job.uid]):
                jobs.push(job)
            queues.push(queue)  # its share changed: reorder it

    def _allocate_job(self, job: JobInfo, worksheet: JobWorksheet) -> bool:
        """Return whether the job was committed and has tasks left."""
        ssn = self.ssn
        if job.contains_hard_topology():
            statement = self.topology.allocate_for_job(job, worksheet)
            if statement is None or not ssn.job_ready(job):
                return False
            statement.commit()
            ssn.dirty_jobs.add(job.uid)
            self.topology.record_decision(job)
            return bool(worksheet)
        sub_job = job.sub_jobs.get(job.uid)
        tasks = worksheet.tasks.get(job.uid)
        if sub_job is None or tasks is None:
            ssn.log.error("job %s has no default sub-job with tasks", job.uid)
            return False
        statement = self.allocate_tasks(sub_job, tasks, CLUSTER_TOP)
        if statement is None or not ssn.job_ready(
                job):  # a job that is only pipelined is not committed
            return False
        statement.commit()
        return bool(tasks)

    def allocate_tasks(self, sub_job: SubJobInfo, tasks: PriorityQueue[TaskInfo],
                       hyper_node: str) -> Statement | None:
        """Place tasks within a HyperNode until the sub-job is ready.

        Return None, with all placements discarded, where it can be neither ready nor pipelined.
        """
        ssn = self.ssn
        job = ssn.jobs[sub_job.job]
        nodes = ssn.topology.nodes.get(hyper_node)
        if not nodes:
            return None
        statement, chooser = ssn.statement(), node_chooser(ssn, self.use_error_cache)
        queue, near = ssn.queues[job.queue], sub_job.with_network_topology()
        allocated_hyper_node = sub_job.allocated_hyper_node
        failed_roles = job.fit_failed_roles(sub_job.uid)
        while tasks:
            task = tasks.pop()
            if not ssn.allocatable(queue, task):
                continue
            if task.task_role and task.task_role in failed_roles:
                message = (f"Task {task.name} with role spec {task.task_role} "
                           "has already predicated failed, skip")
                job.nodes_fit_errors[task.uid] = FitErrors(message=message)
                continue
            objection = ssn.pre_predicate(task)
            if objection is not None:
                errors = job.nodes_fit_errors[task.uid] = FitErrors()
                for other in nodes:
                    errors.set_node_error(other.name, objection)
                break
            if near:
                task.job_allocated_hyper_node = allocated_hyper_node  # nodes near it score higher
            node, errors = chooser.choose(task, nodes)
            ssn.observer.chose(task, nodes, node, errors)
            if node is None:
                if hyper_node != CLUSTER_TOP:
                    errors.hyper_node = hyper_node
                job.nodes_fit_errors[task.uid] = errors
                failed_roles.add(task.task_role)
                if job.need_continue_allocating(sub_job.uid):
                    continue
                break
            if not self._place(statement, task, node):
                continue
            if near:
                lowest = ssn.topology.lowest.get(node.name, "")
                allocated_hyper_node = ssn.topology.around(lowest, allocated_hyper_node)
            if ssn.is_sub_job_ready(job, sub_job):
                break
        if ssn.is_sub_job_ready(job, sub_job):
            if sub_job.is_soft_topology_mode():
                sub_job.allocated_hyper_node = allocated_hyper_node
            return statement
        if ssn.is_sub_job_pipelined(job, sub_job):
            return statement
        statement.discard()
        return None

    def _place(self, statement: Statement, task: TaskInfo, node: NodeInfo) -> bool:
        fits_now = node.has_room(task.init_resreq)
        try:
            if fits_now:
                statement.allocate(task, node)
            else:
                statement.pipeline(task, node.name)
        except StatementError as error:
            self.ssn.log.error("%s", error)
            if fits_now:
                unplace(self.ssn, task)
            return False
        return True


def resolve_tier_names(tier_by_name: dict[str, int], job: JobInfo) -> None:
    """Replace the name of a topology's highest tier by the tier's number."""
    spec = job.pod_group.spec
    for topology in (spec.network_topology,
                     *(policy.network_topology for policy in spec.sub_group_policy)):
        if (topology is not None and topology.highest_tier_allowed is None
                and topology.highest_tier_name in tier_by_name):
            topology.highest_tier_allowed = tier_by_name[topology.highest_tier_name]
            topology.highest_tier_name = ""
