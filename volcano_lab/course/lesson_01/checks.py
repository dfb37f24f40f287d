"""Checks of lesson 01: one scheduling cycle."""

from __future__ import annotations

from volcano_lab.course.kit.checking import check
from volcano_lab.course.kit.tracing import trace_of
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_01.lab import conf_with, small_cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError
from volcano_lab.framework.config.conf import ConfError


@check(takes=str)
def not_in_the_copy(answer: str) -> Verdict:
    """Which job is not in the session's copy of the cluster?"""
    name = answer.removeprefix("default/")
    if name == "lost":
        return well_done(
            "Its queue, nobody, doesn't exist, so the snapshot leaves the job out and no action ever sees it."
        )
    if name == "nobody":
        return try_again("That is the name of a queue that is missing. Which job wants it?")
    if name == "stray":
        return try_again("stray is a pod, and the job made for it is in the copy. Which job was left out, and why?")
    return try_again(
        f"If there is a job {name}, it is in the copy. Look for `left out` in the column **open**.")


@check(takes=str)
def writes_status(answer: str) -> Verdict:
    """In which phase does the scheduler write the new phase of a PodGroup: open, allocate or close?
    """
    if answer == "close":
        return well_done(
            "Closing compares every job with what it was at the opening, and writes what has changed."
        )
    if answer == "open":
        return try_again("Opening makes the copy. Nothing has been decided then.")
    return try_again(
        "Actions change the job in memory. The status is written once, when they are all done.")


@check(takes=str)
def own_actions(answer: str) -> Verdict:
    """Write a list of actions, such as "enqueue, backfill", with which train starts and wide stays
    Pending.
    """
    try:
        cycle = small_cluster().run(conf_with(answer))
    except ConfError as error:
        return try_again("Only the names, with commas between them." if ":" in
                         answer else str(error))
    jobs = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    if not jobs["train"]["placed"]:
        return try_again(
            "Now train has no pod. allocate must be there, and see train after it was let in.")
    if jobs["wide"]["phase"] != "Pending":
        return try_again(
            "train starts, but wide is no longer Pending: nobody asked whether it may come in.")
    return well_done(
        "enqueue comes before allocate: it lets train in and refuses wide, and allocate places what was let in."
    )


PHASES = ["Pending", "Inqueue", "Running", "Completed"]


@check(takes=str)
def phase_written(answer: str) -> Verdict:
    """A PodGroup was let in and needs 3 pods. One is Running, one Bound, one Binding. Which phase
    does closing write?
    """
    name = answer.capitalize()
    if name == "Inqueue":
        return well_done(
            "Bound and Running count, Binding does not: two of the three that it needs. So the phase stays."
        )
    if name == "Running":
        return try_again(
            "For Running it needs three pods that are bound, running or done. One of the three is not yet bound."
        )
    if name == "Pending":
        return try_again(
            "It was let in before. A PodGroup that is Inqueue does not go back to Pending.")
    if name == "Completed":
        return try_again("Completed is for PodGroups whose pods have all ended.")
    return try_again(f"Choose one of {', '.join(PHASES)}.")


@check(takes=str)
def stop_at_the_refusal(answer: str) -> Verdict:
    """Write a breakpoint, such as "stop at overused where answer", that stops where wide is
    refused, and not before.
    """
    try:
        here = Breakpoint(answer)
    except BreakpointError as error:
        return try_again(str(error))
    found = next((record for record in trace_of(small_cluster()).records if here(record)), None)
    if found is None and "job_enqueueable" in answer:
        return try_again(
            "The question is right, but it stops nowhere. The trace has the job's whole name, default/wide, and the "
            "answers are numbers: 1 means yes, -1 means no.")
    if found is None:
        return try_again(
            "In this cycle it stops nowhere. The question whether a job may come in is job_enqueueable."
        )
    facts = found.facts
    if facts.get("job") != "default/wide":
        about = str(facts.get("job", facts.get("queue", "something else"))).removeprefix("default/")
        where = f"It stops first in {found.action}, at {facts.get('point', found.kind)} about {about}"
        return try_again(
            f"{where}. wide is not let in: say more after `where`, such as `answer < 0`.")
    if found.kind == "job":
        return try_again(
            "There it is wide's turn, but there is no answer yet. Stop at the question job_enqueueable."
        )
    return well_done(
        f"Record {found.number}: overcommit says no about wide. In a debugger you would stop in its function."
    )


SIGNALS = ["SIGUSR1", "SIGUSR2", "SIGHUP"]


@check(takes=str)
def dump_to_a_file(answer: str) -> Verdict:
    """Which signal makes the scheduler write its cache to a JSON file?"""
    name = answer.upper().removeprefix("SIG")
    if name == "USR1":
        return well_done(
            "It writes snapshot-<seconds>.json into the folder of `--cache-dump-dir`, which is /tmp by default."
        )
    if name == "USR2":
        return try_again("SIGUSR2 writes to the log. Some texts have it the other way round.")
    if name == "HUP":
        return try_again(
            "Other programs read their configuration again at that signal. Volcano watches the file."
        )
    return try_again(f"Choose one of {', '.join(SIGNALS)}.")
