"""Checks of lesson 01: one scheduling cycle."""

from __future__ import annotations

from volcano_lab.framework.conf import ConfError
from volcano_lab.lessons.checking import check
from volcano_lab.lessons.verdict import Verdict, try_again, well_done
from volcano_lab.widgets.lesson_01 import conf_with, small_cluster


@check(takes=str, right=["lost", "default/lost"], wrong=[("wide", "is in the copy"), ("nobody", "name of a queue")])
def not_in_the_copy(answer: str) -> Verdict:
    """Which job is not in the session's copy of the cluster?"""
    name = answer.removeprefix("default/")
    if name == "lost":
        return well_done("Its queue, nobody, doesn't exist, so the snapshot leaves the job out and no action ever sees it.")
    if name == "nobody":
        return try_again("That is the name of a queue that is missing. Which job wants it?")
    return try_again(f"If there is a job {name}, it is in the copy. Look for `left out` in the column *open*.")


@check(takes=str, right=["close"], wrong=[("allocate", "in memory"), ("open", "copy")])
def writes_status(answer: str) -> Verdict:
    """In which phase does the scheduler write the new phase of a PodGroup: open, allocate or close?"""
    if answer == "close":
        return well_done("Closing compares every job with what it was at the opening, and writes what has changed.")
    if answer == "open":
        return try_again("Opening makes the copy. Nothing has been decided then.")
    return try_again("Actions change the job in memory. The status is written once, when they are all done.")


@check(takes=str, right=["enqueue, allocate", "enqueue, allocate, backfill, reclaim"],
       wrong=[("allocate", "wide"), ("allocate, enqueue", "train has no pod"), ("enqueue, allocat", "allocat")])  # fmt: skip
def own_actions(answer: str) -> Verdict:
    """Write a list of actions, such as "enqueue, backfill", with which train starts and wide stays Pending."""
    try:
        cycle = small_cluster().run(conf_with(answer))
    except ConfError as error:
        return try_again(str(error))
    jobs = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    if not jobs["train"]["placed"]:
        return try_again("Now train has no pod. allocate must be there, and see train after it was let in.")
    if jobs["wide"]["phase"] != "Pending":
        return try_again("train starts, but wide is no longer Pending: nobody asked whether it may come in.")
    return well_done("enqueue comes before allocate: it lets train in and refuses wide, and allocate places what was let in.")
