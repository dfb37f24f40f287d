"""backfill: place tasks without resource requests on any node that passes the predicates.

Such a task takes no resources from others, so the session allocates it without a statement.

Volcano: pkg/scheduler/actions/backfill
"""

from volcano_lab.actions.evictions import admitted_jobs
from volcano_lab.api import PENDING, PIPELINED, FitErrors, JobInfo, QueueInfo, TaskInfo
from volcano_lab.framework import Action, PriorityQueue, Session, StatementError, unplace
from volcano_lab.framework.placement.chooser import PredicateHelper, best_node


class Backfill(Action):
    """Place best-effort tasks of admitted jobs, queue by queue, job by job, task by task."""

    name = "backfill"

    def execute(self, ssn: Session) -> None:
        self.read_error_cache(ssn)
        for task in self._pick_up_pending_tasks(ssn):
            job = ssn.jobs[task.job]
            objection = ssn.pre_predicate(task)
            if objection is not None:
                errors = job.nodes_fit_errors[task.uid] = FitErrors()
                for name in ssn.nodes:
                    errors.set_node_error(name, objection)
                continue
            helper = PredicateHelper(self.use_error_cache)
            fitting, errors = helper.predicate_nodes(task, ssn.node_list,
                                                     ssn.predicate_for_allocate)
            node = best_node(ssn, task, fitting)
            ssn.observer.chose(task, ssn.node_list, node, errors)
            if node is None:
                job.nodes_fit_errors[task.uid] = errors
                continue
            try:
                ssn.allocate_directly(task, node)
            except StatementError as error:
                ssn.log.error("%s", error)
                errors = job.nodes_fit_errors[task.uid] = FitErrors()
                errors.set_node_error(node.name, str(error))

    def _pick_up_pending_tasks(self, ssn: Session) -> list[TaskInfo]:
        """Return pending best-effort tasks, with pipelined ones, whose placement is undone."""
        queues: PriorityQueue[QueueInfo] = PriorityQueue(ssn.queue_order)
        jobs: dict[str, PriorityQueue[JobInfo]] = {}
        tasks: dict[str, PriorityQueue[TaskInfo]] = {}
        for job in admitted_jobs(ssn):
            waiting = [t for _, t in sorted(job.in_status(PENDING).items())
                       if t.best_effort and not t.sch_gated]
            for _, task in sorted(job.in_status(PIPELINED).items()):
                if task.best_effort:
                    unplace(ssn, task)
                    ssn.observer.changed("unplaced", task)
                    waiting.append(task)
            if not waiting:
                continue
            tasks[job.uid] = PriorityQueue(ssn.task_order, waiting)
            if job.queue not in jobs:
                queues.push(ssn.queues[job.queue])
                jobs[job.queue] = PriorityQueue(ssn.job_order)
            jobs[job.queue].push(job)
        return [task for queue in queues.drain() for job in jobs[queue.uid].drain()
                for task in tasks[job.uid].drain()]
