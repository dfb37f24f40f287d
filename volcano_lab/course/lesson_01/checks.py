"""Checks of lesson 01: one scheduling cycle."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.tracing import trace_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_01.lab import small_cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError
from volcano_lab.framework.config.conf import DEFAULT_CONF, ConfError
from volcano_lab.messages import gettext


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().queue(…)")
def missing_queue(answer: Cluster) -> Mistakes:
    """Add the queue that is missing, so that lost gets a node in the next cycle."""
    before, now = (names_of(each) for each in (small_cluster(), answer))
    if now == before and answer.to_yaml() == small_cluster().to_yaml():
        return None
    yield not before <= now, "Something is missing in the cluster; nothing may be taken away."
    cycle = answer.run()
    added = [name for kind, name in now - before if kind == "Queue"]
    placed = any(row[1].startswith("default/lost") for row in cycle.committed)
    yield not added and placed, (
        "lost has its node, but it names another queue now. Add the queue that it named.")
    yield not added, "There is no new queue yet: `cluster.copy().queue(…)` adds one."
    yield not placed, (
        gettext("Now there is a queue {join}, and lost is still left out. The table of section 1 "
                "says which queue it names.", join=", ".join(added)))
    return well_done("Now lost is in the copy, and its pod has a node.")


def names_of(cluster: Cluster) -> set[tuple[str, str]]:
    """Kind and name of each object of a cluster."""
    return {(obj.kind, obj.name) for obj in cluster.objects()}


@check(takes=str, wanted="a configuration, such as DEFAULT_CONF with other actions")
def own_actions(answer: str) -> Mistakes:
    """Write a configuration with other actions, with which train starts and wide stays Pending."""
    yield "tiers:" not in answer, (
        "That is not a whole configuration: the tiers of plugins are missing. Replace the actions "
        "in DEFAULT_CONF.")
    yield answer.strip() == DEFAULT_CONF.strip(), (
        "That is Volcano's default, unchanged. Which of its actions do train and wide not need?")
    try:
        cycle = small_cluster().run(answer)
    except ConfError as error:
        return try_again(str(error))
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
        about = facts.get("job", facts.get("queue", gettext("something else")))
        return try_again(gettext(
            "It stops first in {action}, at {place} about {about}. wide is not refused there: say "
            "more after `where`, such as `answer < 0`.", action=found.action,
            about=str(about).removeprefix("default/"),
            place=facts.get("point", found.kind)))
    yield found.kind == "job", ("There it is wide's turn, but there is no answer yet. Stop at the "
                                "question job_enqueueable.")
    return well_done(gettext("Record {number}: overcommit says no about wide. In a debugger you "
                             "would stop in its function.", number=found.number))
