"""Lesson 12: what an action of one's own is put together from, and the cluster in which it helps.
"""

from volcano_lab.api import PENDING, JobInfo, QueueInfo
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.framework.placement.array_chooser import node_chooser
from volcano_lab.framework.session import Session


def held(ssn: Session, queue: QueueInfo) -> int:
    """How many pods of a queue have a node."""
    return sum(job.ready_task_num() for job in ssn.jobs.values() if job.queue == queue.name)


def waiting(ssn: Session, queue: QueueInfo) -> list[JobInfo]:
    """The jobs of a queue that have been admitted and have pods that wait, the first one first."""
    jobs = [job for job in ssn.jobs.values() if job.queue == queue.name]
    ready = [job for job in jobs if not job.is_pending() and ssn.job_valid(job) is None
             and job.has_pending_tasks()]
    return list(ssn.job_queue(ready).drain())


def place(ssn: Session, job: JobInfo) -> bool:
    """Give a job's waiting pods nodes: what its gang needs, or none. Whether that was possible."""
    statement, chooser = ssn.statement(), node_chooser(ssn)
    for _, task in sorted(job.in_status(PENDING).items()):
        objection = ssn.pre_predicate(task)  # here plugins prepare for the task, too
        node = None if objection else chooser.choose(task, ssn.node_list)[0]
        if node is None or not node.has_room(task.init_resreq):
            break
        statement.allocate(task, node)
    if ssn.job_ready(job):
        statement.commit()
        return True
    statement.discard()
    return False


def crowded() -> Cluster:
    """Eight CPUs and three queues, of which the oldest wants all of them. For a configuration that
    shares nothing out.

    >>> from volcano_lab.course.lesson_12.scene import conf_with
    >>> sorted({pod[:-2] for _, pod, _ in crowded().run(conf_with(without="proportion")).committed})
    ['default/big-1', 'default/big-2', 'default/big-3', 'default/big-4']
    """
    return cluster_of("12", "crowded")
