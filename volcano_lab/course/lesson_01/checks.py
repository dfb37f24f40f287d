"""Checks of lesson 01: one scheduling cycle."""

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.tracing import trace_of
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_01.lab import small_cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.config.yaml import ConfError


@check(takes=Cluster, wanted="a cluster, such as cluster.copy().queue(…)")
def missing_queue(answer: Cluster) -> Mistakes:
    """Add the queue that is missing, so that lost gets a node in the next cycle."""
    before, now = ({(obj.kind, obj.name) for obj in each.objects()}
                   for each in (small_cluster(), answer))
    yield not before <= now, "something_missing"
    cycle = answer.run()
    added = [name for kind, name in now - before if kind == "Queue"]
    placed = any(row[1].startswith("default/lost") for row in cycle.committed)
    yield not added and placed, "another_queue_named"
    yield not added, "no_new_queue_yet"
    yield not placed, try_again("still_left_out", queues=[*added])
    return well_done("now_in_the_copy")


@check(takes=str, wanted="a configuration, such as DEFAULT_CONF with other actions")
def own_actions(answer: str) -> Mistakes:
    """Write a configuration with other actions, with which train starts and wide stays Pending."""
    yield "tiers:" not in answer, "tiers_missing"
    yield answer.strip() == DEFAULT_CONF.strip(), "unchanged_default"
    try:
        cycle = small_cluster().run(answer)
    except ConfError as error:
        return try_again(str(error))
    jobs = {row["job"].removeprefix("default/"): row for row in cycle.jobs()}
    yield not jobs["train"]["placed"], "train_has_no_pod"
    yield jobs["wide"]["phase"] != "Pending", "wide_not_asked"
    return well_done("enqueue_before_allocate")


@check(takes=str)
def stop_at_the_refusal(answer: str) -> Mistakes:
    """Write a breakpoint, such as "stop at overused where answer", that stops where wide is
    refused, and not before.
    """
    try:
        here = Breakpoint(answer)
    except BreakpointError as error:
        return try_again(str(error))
    trace = trace_of(small_cluster())
    found = next(filter(here, trace.records), None)
    if found is None:
        why = here.nowhere(trace)
        return try_again("stops_nowhere_because" if why else "stops_nowhere", why=why)
    facts = found.facts
    if facts.get("job") != "default/wide":
        about = facts.get("job", facts.get("queue", ""))
        return try_again(
            "stops_elsewhere", action=found.action, about=str(about).removeprefix("default/"),
            place=facts.get("point", found.kind))
    yield found.kind == "job", "no_answer_yet"
    return well_done("overcommit_says_no", number=found.number)
