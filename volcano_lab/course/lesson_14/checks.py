"""Checks of lesson 14: time."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_14.scene import conf, day, mean_wait, waits


@check(takes=int)
def most_per_hour(answer: int) -> Mistakes:
    """How many small jobs may come an hour, at most, so that web waits less than half an hour on
    average?
    """
    yield not 1 <= answer <= 24, "from_1_to_24"
    wait = mean_wait(day(per_hour=answer), "web")
    yield wait >= 30, try_again("waits_too_long", answer=answer, wait=wait)
    more = mean_wait(day(per_hour=answer + 1), "web")
    yield more < 30, try_again("one_more_possible", answer=answer, wait=wait)
    return well_done("near_the_limit", wait=wait, answer=answer, more=more, x=answer + 1)


@check(takes=float)
def factor(answer: float) -> Mistakes:
    """With the factor 1.0 not all gangs start. Name a factor, not above 1.5, with which
    all twelve do.
    """
    yield not 1 <= answer <= 1.5, "from_1_to_1_5"
    count = next(row["started"] for row in waits(day(text=conf(answer)))
                 if row["queue"] == "research")
    yield count < 12, try_again("some_start", answer=answer, count=count)
    return well_done("all_start", answer=answer)
