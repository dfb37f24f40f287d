"""shuffle: evict running tasks that a plugin selects for rescheduling.

Each eviction is independent and takes effect at once, without a statement. Differs on purpose:
where a plugin (tdm) returns a node's copy of a task, the job's own task is evicted; Volcano would
subtract that copy from the releasing resources before it was ever added.

Volcano: pkg/scheduler/actions/shuffle/shuffle.go
"""

from volcano_lab.api.status import RUNNING
from volcano_lab.framework import Action, Session, StatementError


class Shuffle(Action):
    """Ask the plugins (`victim_tasks`) which running tasks to evict; jobs are sorted by name, their
    tasks by uid.
    """

    name = "shuffle"

    def execute(self, ssn: Session) -> None:
        running = [task for job in ssn.jobs.values()
                   for _, task in sorted(job.in_status(RUNNING).items())]
        named = {task.uid for task in ssn.victim_tasks(running)}
        victims = [task for task in running if task.uid in named]
        if ssn.observer.watching:
            ssn.observer.note("victims", action=self.name, candidates=[t.key for t in running],
                              chosen=[t.key for t in victims])
        for victim in victims:
            try:
                ssn.evict_directly(victim, self.name)
            except StatementError as error:
                ssn.log.error("%s", error)
