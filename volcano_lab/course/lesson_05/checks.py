"""The checks of lesson 05: capacity and the queue tree, and the bug of v1.11.0."""

from collections.abc import Iterator
from typing import Any

from attrs import asdict

from volcano_lab.api.objects import Pod, PodGroup, Queue
from volcano_lab.api.resource import Resource
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistake, Mistakes, check
from volcano_lab.course.kit.scenery import cluster_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_05.lab import tree_cluster, tree_conf
from volcano_lab.course.lesson_05.own_admission import JobEnqueueable, run_with
from volcano_lab.messages import gettext
from volcano_lab.plugins.queue_tree import QueueAttr
from volcano_lab.trace.views.queues import levels, way_to

# -- the fix
# ----------------------------------------------------------------------------------------------


def _line(*room: float, memory: float = 64.0) -> list[QueueAttr]:
    """A line from a queue to the root, with that number of idle CPUs on each level."""
    names = [f"level-{number}" for number in range(len(room) - 1)] + ["root"]
    return [QueueAttr(name, name, allocated=Resource(1000.0),
                      real_capability=Resource(1000.0 + 1000.0 * cpus, memory))
            for name, cpus in zip(names, room, strict=True)]


def _tried(function: JobEnqueueable, line: list[QueueAttr], cpus: float,
           memory: float = 1.0) -> tuple[Any, list[float]]:
    """What the function answers, and how many CPUs it has reserved on each level."""
    answer = function(Resource(1000.0 * cpus, memory), line)
    return answer, [level.inqueue.milli_cpu / 1000 for level in line]


@check(takes=callable, wanted="a function")
def job_enqueueable(answer: JobEnqueueable) -> Mistakes:
    """Write `job_enqueueable(minimum, line)`: True if every level has enough left, and then the
    minimum is reserved on every level; else False, and nothing is reserved on any."""
    said, reserved = _tried(answer, _line(4, 4, 4), 2)
    if said is None or said is ...:
        return None
    yield not isinstance(said, bool), try_again("no_bool", said=repr(said))
    yield not said, "refuses_with_room"
    yield from _refuses(answer)
    yield reserved != [2, 2, 2], try_again("not_reserved_on_each", list=reserved)
    cycle = run_with(answer, cluster_of("05", "report"), tree_conf())
    phases = {row["job"].removeprefix("default/"): row["phase"] for row in cycle.jobs()}
    yield phases != {"job-1": "Inqueue", "job-2": "Pending"}, try_again(
        "wrong_in_the_report", jobs=[f"{job} {phase}" for job, phase in phases.items()])
    return well_done("asked_before_reserved")


def _refuses(function: JobEnqueueable) -> Iterator[Mistake]:
    """What may be wrong where one level has no room."""
    for room, situation in (((1, 4, 4), "the queue itself is full"),
                            ((4, 1, 4), "the queue has enough left, but its parent is full"),
                            ((4, 4, 1), "only the root is full")):
        said, reserved = _tried(function, _line(*room), 2)
        yield said, try_again("admits_without_room", situation=situation)
        yield any(reserved), try_again(
            "reserves_though_refused", situation=situation, list=reserved)
    yield _tried(function, _line(9, 9, 9, memory=2.0), 1, memory=4.0)[0], "memory_has_no_room"


# -- modify, and make
# -------------------------------------------------------------------------------------


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().queue(...)")
def let_train_in(answer: Cluster) -> Mistakes:
    """Change one number of one queue, so that train-gang is admitted, and eval-gang still is."""
    (was, jobs), (now, jobs_now) = _specs(tree_cluster()), _specs(answer)
    yield jobs != jobs_now, "same_jobs"
    changed = [key for key in was | now if was.get(key) != now.get(key)]
    yield not changed, "nothing_changed"
    yield len(changed) > 1, try_again("one_number_only", changed=[*map(".".join, changed)])
    cycle = answer.run(tree_conf())
    rows = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    gangs = {name: row for name, row in rows.items() if name in ("eval-gang", "train-gang")}
    for job, row in gangs.items():
        if row["phase"] != "Inqueue":
            refused = next(row for row in levels(cycle.trace, f"default/{job}")
                           if row["verdict"] == "refused")
            return try_again("level_refuses", **refused | {"job": job})
    return well_done("narrow_place", changed=changed[0][0], placed=[
        gettext("{job} {n} of {pods} pods", job=job, n=row["placed"], pods=row["pods"])
        for job, row in gangs.items()])


def _specs(cluster: Cluster) -> tuple[dict[tuple[str, str], Any], dict[str, Any]]:
    """What queues, field by field, and jobs say. Below the root it is the same to name no parent;
    what the root says of reclaim is left out.
    """
    objects = cluster.objects()
    specs: dict[str, Any] = {obj.name: obj.spec.evolve(
        parent=obj.spec.parent or "root", reclaimable=obj.spec.reclaimable or obj.name == "root")
        for obj in objects if isinstance(obj, Queue)}
    return ({(name, field): value for name, spec in specs.items()
             for field, value in asdict(spec, recurse=False).items()},
            {obj.key: obj.spec for obj in objects if isinstance(obj, Pod | PodGroup)})


@check(takes=Cluster, wanted="a cluster")
def refused_by_the_grandparent(answer: Cluster) -> Mistakes:
    """Build a cluster of your own with a job that its queue and the parent may hold, and that the
    grandparent refuses; the grandparent is not the root."""
    cycle = answer.run(tree_conf())
    if cycle.session.warnings:
        return try_again(str(cycle.session.warnings[0]))
    near: list[str] = []
    for row in levels(cycle.trace):
        if row["verdict"] != "refused":
            continue
        line = way_to(cycle.trace.start["queues"], cycle.session.jobs[row["job"]].queue)[::-1]
        height = line.index(row["level"])
        job = row["job"].removeprefix("default/")
        if height == 2 and row["level"] != "root":
            return well_done(
                "grandparent_refuses", row=row["level"], job=job, row2=f"{row['sum']:.4g}",
                row3=f"{row['may_hold']:.4g}", line=line[0], line5=line[1])
        where = ("its queue itself",
                 "the parent of its queue")[height] if height < 2 else "too far up, or the root"
        near.append(gettext("{job} is refused by {level}, which is {where}", job=job,
                            level=row["level"], where=gettext(where)))
    yield near, try_again("near_the_grandparent", refusals=near)
    return try_again("no_refusal")
