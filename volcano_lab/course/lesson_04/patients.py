"""What can be read of the three clusters at the end of lesson 04."""

from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.lesson_04.checks import patients
from volcano_lab.course.lesson_04.lab import sums
from volcano_lab.messages import gettext
from volcano_lab.widgets import facts


def patient(name: str) -> Table:
    """What can be read of one of the clusters in which team-work waits.

    >>> print(str(patient("one")).splitlines()[0])
    team-work is Pending. Compared: cluster: 4 of 9; queue team: 7 of 6.
    """
    cycle = patients()[name].run()
    words = ("guarantee", "real_capability", "deserved", "allocated", "elastic")
    rows = []
    for row in cycle.queues():
        limit = cycle.session.queues[row["queue"]].queue.spec.capability or {}
        rows.append({"queue": row["queue"], "capability": limit.get("cpu")} | {
            word.replace("_", " "): facts.amount(row[word], "cpu") for word in words})
    compared = [gettext("{who}: {sum} of {limit}", who=gettext(row["who"]), sum=row["sum"],
                        limit=row["limit"]) for row in sums(cycle) if row["job"] == "team-work"]
    (job,) = (row for row in cycle.jobs() if row["job"] == "default/team-work")
    return table(rows, caption=gettext("team-work is {job}. Compared: {compared:;}.",
                                       job=job["phase"], compared=compared))
