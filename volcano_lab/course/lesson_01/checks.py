"""Checks of lesson 01: one scheduling cycle."""

from volcano_lab.course.kit.checking import Mistakes, check, choice
from volcano_lab.course.kit.tracing import trace_of
from volcano_lab.course.kit.verdict import Verdict, try_again, well_done
from volcano_lab.course.lesson_01.lab import conf_with, small_cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.manifests.loader import ManifestError

not_in_the_copy = choice("01.not_in_the_copy")
writes_status = choice("01.writes_status")
phase_written = choice("01.phase_written")


@check(takes=str)
def missing_queue(answer: str) -> Verdict:
    """Name the queue that must be added, so that lost gets a node in the next cycle."""
    try:
        cycle = small_cluster().queue(answer).run()
    except ManifestError as error:
        return try_again(f"{error}. The table of section 1 says which queue lost names.")
    if any(row[1].startswith("default/lost") for row in cycle.committed):
        return well_done("Now lost is in the copy, and its pod has a node.")
    hints = {"team": "team is there already, and three jobs use it. Which one does lost name?",
             "lost": "That is the job. Which queue does it name?"}
    return try_again(hints.get(answer,
                               f"Now there is a queue {answer}, and lost is still left out. The "
                               "table of section 1 says which queue it names."))


@check(takes=str)
def own_actions(answer: str) -> Mistakes:
    """Write a list of actions, such as "enqueue, backfill", with which train starts and wide stays
    Pending.
    """
    try:
        cycle = small_cluster().run(conf_with(answer))
    except ConfError as error:
        words = ("," not in answer and " " in answer.strip()) or ":" in answer
        return try_again("Only the names, with commas between them." if words else str(error))
    jobs = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    yield not jobs["train"]["placed"], (
        "Now train has no pod. allocate must be there, and see train after it was admitted.")
    yield jobs["wide"]["phase"] != "Pending", (
        "train starts, but wide is no longer Pending: nobody asked whether to admit it.")
    return well_done("enqueue comes before allocate: it admits train and refuses wide, and "
                     "allocate places what was admitted.")


@check(takes=str)
def stop_at_the_refusal(answer: str) -> Mistakes:
    """Write a breakpoint, such as "stop at overused where answer", that stops where wide is
    refused, and not before.
    """
    try:
        here = Breakpoint(answer)
    except BreakpointError as error:
        return try_again(str(error))
    found = next((record for record in trace_of(small_cluster()).records if here(record)), None)
    yield found is None and "job_enqueueable" in answer, (
        "The question is right, but it stops nowhere. The trace has the job's whole name, "
        "default/wide, and the answers are numbers: 1 means yes, -1 means no.")
    yield found is None, ("In this cycle it stops nowhere. The question whether a job is admitted "
                          "is job_enqueueable.")
    facts = found.facts
    if facts.get("job") != "default/wide":
        about = str(facts.get("job", facts.get("queue", "something else"))).removeprefix("default/")
        where = (f"It stops first in {found.action}, at {facts.get('point', found.kind)} "
                 f"about {about}")
        return try_again(
            f"{where}. wide is not refused there: say more after `where`, such as `answer < 0`.")
    yield found.kind == "job", ("There it is wide's turn, but there is no answer yet. Stop at the "
                                "question job_enqueueable.")
    return well_done(f"Record {found.number}: overcommit says no about wide. In a debugger you "
                     "would stop in its function.")
