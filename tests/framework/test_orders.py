"""Queues of a session pop as its comparisons order them, victims the least important first."""

from itertools import pairwise, permutations
from random import Random

import pytest
from small_cluster import conf, group, names, node, open_session, pod, queue, task

from volcano_lab.framework.config.conf import load_conf


def session():
    return open_session(node("n1", cpu="99"), queue(), *(
        obj for job in "abc" for obj in (group(job), *(
            pod(f"{job}-{number}", job, "n1",) for number in range(4)))),
        plugins="priority")


@pytest.mark.parametrize("seed", range(10))
def test_tasks_and_jobs_pop_as_they_compare(seed):
    """By priority, index, age and uid, whichever of them are equal."""
    random, ssn = Random(seed), session()
    tasks = [each for job in ssn.jobs.values() for each in job.tasks.values()]
    jobs = list(ssn.jobs.values())
    for each in (*tasks, *jobs):
        each.priority, each.creation_timestamp = random.choice((1, 2)), random.choice((1.0, 2.0))
    for each in tasks:
        each.order_index = random.choice((0, 1, 2))
    random.shuffle(tasks)
    for popped, items, less in ((ssn.task_queue(tasks).drain(), tasks, ssn.task_order),
                                (ssn.job_queue(jobs).drain(), jobs, ssn.job_order)):
        assert sorted(map(id, popped)) == sorted(map(id, items))
        assert all(less(one, other) for one, other in pairwise(popped))


@pytest.mark.parametrize("gone", [("b",), ("a", "b"), ("c",)])
def test_victims_of_no_job_leave_first_then_those_of_the_last_job(gone):
    """Job a is served before b, b before c; its tasks by their index."""
    ssn = session()
    some = [task(ssn, f"{job}-{number}") for job in "abc" for number in (0, 1)]
    for job, older in zip("abc", (1.0, 2.0, 3.0), strict=True):
        ssn.jobs[f"default/{job}"].creation_timestamp = older
    for each in some:
        each.order_index, each.creation_timestamp = int(each.name[-1]), float(ord(each.name[0]))
    claimant = task(ssn, "c-3")
    for job in gone:
        del ssn.jobs[f"default/{job}"]
    kept = sorted(set("abc") - {*gone}, reverse=True)
    wanted = [name for number in (1, 0) for name in sorted(
        (f"{job}-{number}" for job in gone), reverse=True)] + [
        f"{job}-{number}" for job in kept for number in (1, 0)]
    for order in list(permutations(some))[::37]:
        assert names(ssn.victims_queue(list(order), claimant).drain()) == wanted


@pytest.mark.parametrize(("first", "second", "enabled"), [
    ("true", "false", True), ("false", "true", False), ("", "true", False), ("", "", False)])
def test_the_first_entry_of_a_plugin_enables_the_hierarchy(first, second, enabled):
    ssn, entry = session(), "{{name: capacity{}}}"
    ssn.conf = load_conf(conf("gang", *(entry.format(
        f", enableHierarchy: {value}" if value else "") for value in (first, second))))
    assert ssn.hierarchy_enabled("capacity") is enabled
    assert not ssn.hierarchy_enabled("gang") and not ssn.hierarchy_enabled("drf")
