"""Lesson 04: one queue that two jobs want to enter, and the sums that enqueue compares."""

from typing import Any

from volcano_lab.api.objects import PodGroup
from volcano_lab.api.resource import CPU, MEMORY
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import Table, table
from volcano_lab.course.kit.scenery import nodes
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.messages import Message, gettext
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import PARTS as SIDES, admissions
from volcano_lab.widgets import facts, pictures
from volcano_lab.widgets.cluster_lab import ClusterLab, Decided, lab
from volcano_lab.widgets.controls import slider
from volcano_lab.widgets.facts import plain

CPUS = 10
PARTS = ["allocated − elastic", "in queue", "minimum"]
"""The parts of the sum, in order."""

SCALES = {CPU: (1, "CPUs"), MEMORY: (2**30, "Gi")}


def admission_cluster(capability: int = 12, kept: int = 6, runs: int = 6, needs: int = 4,
                      first: int = 4, second: int = 5, memory: int = 1) -> Cluster:
    """Two nodes of 10 CPUs and 20Gi; queue team with a job that runs and two that want to come in,
    and an idle queue.

    `kept` is the guarantee of the idle queue *other*; `runs` the pods of job old, of which it
    `needs` some; `first` and `second` the pods of the jobs of these names; `memory` the Gi of each
    pod of second. All other pods have 1Gi, all have 1 CPU.

    >>> cycle = admission_cluster().run()
    >>> [(row["job"], row["phase"]) for row in cycle.jobs()]
    [('default/first', 'Inqueue'), ('default/old', 'Running'), ('default/second', 'Pending')]
    """
    cluster = nodes(range(2), cpu=CPUS, memory="20Gi")
    cluster.queue("team", capability=capability).queue("other", guarantee=kept or None)
    if runs:
        on_first = min(runs, CPUS)
        running = {"node-0": on_first} | ({"node-1": runs - on_first} if runs > on_first else {})
        cluster.job("old", queue="team", pods=runs, cpu=1, memory="1Gi", min_member=min(
            needs, runs), running=running)
    if first:
        cluster.job("first", queue="team", pods=first, cpu=1, memory="1Gi")
    return cluster.job("second", queue="team", pods=second, cpu=1,
                       memory=f"{memory}Gi" if memory else None)


def conf_with(factor: float = 1.2, actions: str = "enqueue, allocate, backfill") -> str:
    """Volcano's default configuration with an overcommit-factor, and with other actions.

    >>> [line.strip() for line in conf_with(1.5).splitlines() if "overcommit" in line]
    ['- name: overcommit', 'overcommit-factor: 1.5']
    """
    name = "  - name: overcommit\n"
    said = f"{name}    arguments:\n      overcommit-factor: {factor}\n"
    return DEFAULT_CONF.replace(name, said).replace("enqueue, allocate, backfill", actions)


def without_min_resources(cluster: Cluster, job: str) -> Cluster:
    """The same cluster, in which the PodGroup of a job says nothing of its minimum's resources.

    >>> cluster = without_min_resources(admission_cluster(), "second")
    >>> [row["phase"] for row in cluster.run().jobs() if row["job"] == "default/second"]
    ['Inqueue']
    """
    return Cluster(obj.changed(spec={"min_resources": None})
                   if isinstance(obj, PodGroup) and obj.name == job else obj
                   for obj in cluster.objects())


def sums(cycle: Cycle) -> list[dict[str, Any]]:
    """What enqueue compared, in order: a row for each job, plugin and resource that the job asks
    for.

    Amounts are CPUs and Gi; `elastic` is taken off already. overcommit compares the cluster, where
    what is used counts on the side of the limit.

    >>> rows = sums(admission_cluster(memory=0).run())
    >>> [(row["job"], row["level"], row["sum"], row["limit"]) for row in rows][-2:]
    [('second', 'cluster', 9, 18), ('second', 'team', 13, 12)]
    """
    rows = []
    asked = {record["job"]: record["min_resources"]
             for record in cycle.trace.iter("enqueue_comparison")}
    for name, (scale, _) in SCALES.items():
        for row in admissions(cycle.trace, resource=name):
            if asked[row["job"]].get(name):
                numbers = {word: plain(row[word] / scale) for word in SIDES}
                rows.append({"job": row["job"].removeprefix("default/"), "plugin": row["plugin"],
                             "level": row["level"], "resource": name,
                             "parts": [plain((row["allocated"] - row["elastic"]) / scale),
                                       numbers["inqueue"], numbers["minimum"]],
                             "sum": numbers["sum"], "limit": numbers["may_hold"],
                             "over": name in row["short_of"], "number": row["number"]})
    return sorted(rows, key=lambda row: row["number"])


def sums_picture(cycle: Cycle, title: str = "") -> pictures.Picture:
    """Draw the parts of each sum as a part of its own limit.

    >>> [row["text"] for row in sums_picture(admission_cluster().run()).data][-2:]
    ['13 of 12: refused', '13 of 40: fits']
    """
    return pictures.sums(title, _bars(sums(cycle)), parts=PARTS, most=1.3)


def _bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    labels = [gettext("{job}: {level}, {unit}", job=row["job"], level=gettext(
        "cluster") if row["level"] == "cluster" else row["level"],
        unit=gettext(SCALES[row["resource"]][1])) for row in rows]
    return [{"name": name, "label": name, "link": row["job"], "parts": row["parts"],
             "limit": row["limit"], "over": row["over"],
             "text": str(Message("sum.refused" if row["over"] else "sum.fits", asked=row["sum"],
                                 limit=row["limit"]))}
            for name, row in zip(labels, rows, strict=True)]


def pods_of_old(cycle: Cycle) -> pictures.Picture:
    """Draw what job old needs of what it holds, and what of it is elastic.

    >>> pods_of_old(admission_cluster().run()).data[0]["text"]
    '4 + 2 elastic'
    """
    team = next(row for row in cycle.queues() if row["queue"] == "team")
    job = cycle.session.jobs["default/old"]
    held, needed = plain(job.allocated.milli_cpu / 1000), job.min_available
    old = {"name": "old", "parts": [needed, held - needed],
           "limit": team["real_capability"]["cpu"], "text": gettext(
               "{needed} + {elastic} elastic", needed=needed, elastic=held - needed)}
    return pictures.sums("What old holds, in CPUs", [old], parts=["needed", "elastic"], most=1.8,
                         limit="may hold")


NEEDS, MEMORY = "job/default/old.minAvailable", "job/default/second.requests.memory"
FACTOR, LIMIT = "plugin/overcommit.overcommit-factor", "queue/team.capability.cpu"
KEPT = "queue/other.guarantee.resource.cpu"
CONTROLS = {NEEDS: slider(4, 1, 6, "old needs", unit="pods", about="min_member"),
            MEMORY: slider(1, 0, 8, "second's memory", unit="Gi", about="of each pod"),
            FACTOR: slider(1.2, 1.0, 1.8, "overcommit-factor", step=0.1)}


def _compared(facts: Decided) -> list[dict[str, Any]]:
    """The sums in the resource of the picture; where only another resource is short, in that."""
    rows = [row for row in sums(facts.cycle) if row["over"] or row["resource"] == facts.resource]
    shown = {row["number"]: row for row in sorted(
        rows, key=lambda row: (row["over"], row["resource"] == facts.resource))}
    return _bars([shown[number] for number in sorted(shown)])


def admission_lab() -> ClusterLab:
    """Open the lab: limits, jobs, the factor; the sums, and what becomes of each job.

    >>> admission_lab().set(**{NEEDS: 1}).facts.jobs["second"]["fate"]
    'discarded'
    """
    panel = pictures.sums("What enqueue compares, one sum after the other", _compared, rows=4,
                          parts=PARTS, most=1.3, wide=True)
    return lab(admission_cluster(), conf=conf_with(), controls=CONTROLS, panels=[panel],
               title="Admission: 20 CPUs, 40 Gi, two queues, three jobs", tasks=tasks("04"),
               without=("nodes",))


def patient(cycle: Cycle) -> Table:
    """What can be read of a cluster in which team-work waits.

    >>> from volcano_lab.course.kit.scenery import cluster_of
    >>> print(str(patient(cluster_of("04", "one").run())).splitlines()[0])
    team-work is Pending.
    """
    words = ("guarantee", "real_capability", "deserved", "allocated", "elastic")
    specs = {name: info.queue.spec for name, info in cycle.session.queues.items()}
    rows = [{"queue": name, "capability": int((specs[name].capability or {}).get("cpu", 0)) or None}
            | {word.replace("_", " "): facts.amount(row[word], "cpu") for word in words}
            for row in cycle.queues() for name in [row["queue"]]]
    (job,) = (row for row in cycle.jobs() if row["job"] == "default/team-work")
    return table(rows, caption=gettext("team-work is {job}.", job=job["phase"]))
