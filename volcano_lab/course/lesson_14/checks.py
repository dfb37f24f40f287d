"""Checks of lesson 14: time."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import well_done
from volcano_lab.course.lesson_14.scene import conf, day, mean_wait, waits
from volcano_lab.messages import gettext


@check(takes=int)
def most_per_hour(answer: int) -> Mistakes:
    """How many small jobs may come an hour, at most, so that web waits less than half an hour on
    average?
    """
    yield not 1 <= answer <= 24, "A whole number from 1 to 24."
    wait = mean_wait(day(per_hour=answer), "web")
    yield wait >= 30, gettext("With {answer} an hour it waits {wait} minutes.", answer=answer,
                              wait=wait)
    more = mean_wait(day(per_hour=answer + 1), "web")
    yield more < 30, gettext("With {answer} it waits {wait} minutes. One more an hour is "
                             "possible.", answer=answer, wait=wait)
    return well_done(gettext("{wait} minutes with {answer}, {more} with {x}. Near the limit one "
                             "more job an hour doubles the wait.", wait=wait, answer=answer,
                             more=more, x=answer + 1))


@check(takes=float)
def factor(answer: float) -> Mistakes:
    """With the factor 1.0 not all gangs start. Name a factor, not above 1.5, with which
    all twelve do.
    """
    yield not 1 <= answer <= 1.5, "From 1.0 to 1.5. Below 1 Volcano takes its default, 1.2."
    count = next(row["started"] for row in waits(day(text=conf(answer)))
                 if row["queue"] == "research")
    yield count < 12, (gettext("With {answer} {count} of 12 start. A gang of 24 CPUs is admitted "
                               "when what is in use, what is reserved and its 24 stay below "
                               "factor × 64.", answer=answer, count=count))
    return well_done(gettext("With {answer} all 12 start: they are admitted while others still "
                             "run, and are there when these end.", answer=answer))
