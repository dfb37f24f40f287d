"""What can be read of the three clusters at the end of lesson 03."""

from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.lesson_03.checks import patients
from volcano_lab.messages import gettext
from volcano_lab.widgets import facts


def patient(name: str) -> Table:
    """What can be read of one of the clusters in which team-work waits.

    >>> print(patient("two"))
    team-work, in queue team: Pending, 0 pods placed, 2 pending
    ...
    """
    cycle, units = patients()[name].run(), {"cpu": "CPUs", "memory": "Gi", "pods": "pods"}
    rows = [{"queue": row["queue"], "resource": unit,
             "deserved": facts.amount(row["deserved"], resource),
             "held": facts.amount(row["allocated"], resource)}
            for row in reversed(cycle.queues()) for resource, unit in units.items()]
    (job,) = (row for row in cycle.jobs() if row["job"] == "default/team-work")
    return table([row for row in rows if row["deserved"]], caption=(
        gettext("team-work, in queue team: {job}, {job1} pods placed, {job2} pending",
                job=job["phase"], job1=job["placed"], job2=job["pending"])))
