"""The checks of lesson 05: capacity and the queue tree, and the bug of v1.11.0."""

from typing import Any

from attrs import evolve

from volcano_lab.api.resource import Resource
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_05.lab import START, tree_cluster, tree_conf
from volcano_lab.course.lesson_05.own_admission import JobEnqueueable, run_with, worked_example
from volcano_lab.messages import gettext
from volcano_lab.plugins.queue_tree import QueueAttr
from volcano_lab.trace.views.queues import levels, way_to

LETTERS = {"A": "test-sub-1 came to 2 of 2: for this queue alone that is right.",
           "D": "Look at what was placed. The action allocate has always asked every level, and "
                "places one pod only.",
           "E":
           "test-sub-1 may hold 2 CPUs: it has that from test-root. So the limit did come down."}
"""Letters that are wrong -> why."""


@check(takes=lambda answer: isinstance(answer, str | set | list | tuple),
       wanted="the letters, such as AE")
def what_went_wrong(answer: Any) -> Mistakes:
    """Which of the statements A to E are true? Give their letters, such as AE."""
    letters = {letter for letter in "".join(answer).upper() if letter.isalpha()}
    yield not letters or letters - set("ABCDE"), "Give letters from A to E."
    for letter, hint in LETTERS.items():
        yield letter in letters, hint
    yield letters != {"B", "C"}, ("That is true, but there is a second one. Think of what happens "
                                  "when only this one is fixed.")
    return well_done("Both are needed: had test-root been asked, it would have answered “2 of 2, "
                     "room”, because nobody had told it of job-1.")


# -- the fix
# ----------------------------------------------------------------------------------------------


def _line(*room: float, memory: float = 64.0) -> list[QueueAttr]:
    """A line from a queue to the root, with so many CPUs of room on each level."""
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
    """Write `job_enqueueable(minimum, line)`: True if every level has room, and then the minimum is
    reserved on every level; else False, and nothing is reserved on any."""
    said, reserved = _tried(answer, _line(4, 4, 4), 2)
    if said is None or said is ...:
        return None
    yield not isinstance(said, bool), gettext("The function answers {said}; wanted is True or "
                                              "False.", said=repr(said))
    yield not said, ("Three levels with room for 4 CPUs, a minimum of 2: every level has room, and "
                     "the function refuses.")
    yield from _refuses(answer)
    yield reserved != [2, 2, 2], (
        gettext("A job with a minimum of 2 CPUs was admitted, and after that the three levels, "
                "from the queue up, have {list} CPUs in queue. It must be added on each, or the "
                "next job does not see it.", list=_list(reserved)))
    cycle = run_with(answer, worked_example(), tree_conf())
    phases = {row["job"].removeprefix("default/"): row["phase"] for row in cycle.jobs()}
    told = ", ".join(f"{job} {phase}" for job, phase in phases.items())
    yield phases != {"job-1": "Inqueue", "job-2": "Pending"}, (
        gettext("On single lines it is right, but in the report's cluster: {told}.", told=told))
    return well_done(
        "Every level is asked before anything is reserved, and then it is reserved on every level. "
        "In the report's cluster job-1 is admitted and job-2 stays Pending, as in Volcano v1.14.0.")


def _refuses(function: JobEnqueueable) -> Mistakes:
    """What may be wrong where one level has no room."""
    cases = [(0, "the queue itself has no room"),
             (1, "the queue has room, but its parent has none"), (2, "only the root has no room")]
    for place, situation in cases:
        room = [4.0, 4.0, 4.0]
        room[place] = 1
        said, reserved = _tried(function, _line(*room), 2)
        yield said, gettext("Tried with three levels, where {situation}: the function admits the "
                            "job.", situation=gettext(situation))
        yield any(reserved), (gettext("Tried with three levels, where {situation}: the job is "
                                      "refused, and yet a reservation stays behind: {list} CPUs "
                                      "in queue, from the queue up. All or none.",
                                      situation=gettext(situation), list=_list(reserved)))
    yield _tried(function, _line(9, 9, 9, memory=2.0), 1, memory=4.0)[0], (
        "The job's memory has no room, and the function admits it. `short_of` names every resource "
        "that is short.")


def _list(amounts: list[float]) -> str:
    return ", ".join(f"{amount:.4g}" for amount in amounts)


# -- modify, and make
# -------------------------------------------------------------------------------------


def _lesson() -> Cluster:
    return tree_cluster(START)


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().queue(...)")
def let_train_in(answer: Cluster) -> Mistakes:
    """Change one number of one queue, so that train-gang is admitted, and eval-gang still is."""
    before, after = _specs(_lesson()), _specs(answer)
    yield before["jobs"] != after["jobs"], (
        "Leave the same jobs with the same pods. One number of one queue is enough.")
    changed = [name for name in after["queues"]
               if after["queues"][name] != before["queues"].get(name)]
    yield not changed, ("In this cluster nothing has changed: give a queue another number, in "
                        "`cluster.copy().queue(…)`.")
    yield len(changed) > 1 or before["queues"].keys() != after["queues"].keys(), (
        gettext("Change one queue; changed are {join}.", join=", ".join(sorted(changed))))
    cycle = answer.run(tree_conf())
    phases = {row["job"]: row["phase"] for row in cycle.jobs()}
    for job in ("eval-gang", "train-gang"):
        if phases[f"default/{job}"] != "Inqueue":
            refused = next(row for row in levels(cycle.trace, f"default/{job}")
                           if row["verdict"] == "refused")
            return try_again(gettext("{job} is refused: on {level} the sum is {sum:.4g} of "
                                     "{may_hold:.4g}.", **refused | {"job": job}))
    return well_done(gettext("{changed} was the narrow place. But look at the gangs again: a "
                             "larger number admits a job; whether its pods fit is still "
                             "allocate's decision.", changed=changed[0]))


def _specs(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """What queues and jobs say. Below the root it is the same to name no parent; what the root says
    of reclaim is left out.
    """
    objects = cluster.objects()
    return {"queues": {obj.name: evolve(obj.spec, parent=obj.spec.parent or "root",
                                         reclaimable=obj.spec.reclaimable or obj.name == "root")
                       for obj in objects if obj.kind == "Queue"},
            "jobs": {obj.key: obj.spec for obj in objects if obj.kind in ("Pod", "PodGroup")}}


@check(takes=Cluster, wanted="a cluster")
def refused_by_the_grandparent(answer: Cluster) -> Mistakes:
    """Make a cluster of your own with a job that its queue and the parent have room for, and that
    the grandparent refuses; the grandparent is not the root."""
    cycle = answer.run(tree_conf())
    if cycle.session.warnings:
        return try_again(cycle.session.warnings[0])
    near: list[str] = []
    for row in levels(cycle.trace):
        queue = cycle.session.jobs[row["job"]].queue
        if row["verdict"] != "refused":
            continue
        line = way_to(cycle.trace.start["queues"], queue)[::-1]
        height = line.index(row["level"])
        job = row["job"].removeprefix("default/")
        if height == 2 and row["level"] != "root":
            return well_done(gettext("{row} refuses {job}: the sum is {row2}, and it may hold "
                                     "{row3}. {line} and {line5} have room.", row=row["level"],
                                     job=job, row2=f"{row['sum']:.4g}",
                                     row3=f"{row['may_hold']:.4g}", line=line[0], line5=line[1]))
        where = ("its queue itself",
                 "the parent of its queue")[height] if height < 2 else "too far up, or the root"
        near.append(gettext("{job} is refused by {level}, which is {where}", job=job,
                            level=row["level"], where=gettext(where)))
    yield near, gettext("{refusals:;}. Let another job hold or reserve room in a sibling branch, "
                        "below the grandparent.", refusals=near)
    return try_again("Here no job is refused by any level. The room of a grandparent is taken by "
                     "jobs in all queues below it.")
