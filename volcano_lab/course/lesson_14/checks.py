"""Checks of lesson 14: time."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_14.scene import CPUS, NODES, admitted, day, mean_wait


@check(takes=int)
def most_per_hour(answer: int) -> Mistakes:
    """How many small jobs may come an hour, at most, so that web waits less than half an hour on
    average? A whole number.
    """
    yield not 1 <= answer <= 12, "from_1_to_12"
    wait = mean_wait(day(per_hour=answer), "web")
    yield wait >= 30, try_again("waits_too_long", answer=answer, wait=wait)
    more = mean_wait(day(per_hour=answer + 1), "web")
    yield more < 30, try_again("one_more_possible", answer=answer, wait=wait)
    return well_done("near_the_limit", wait=wait, answer=answer, more=more, x=answer + 1)


@check(takes=float)
def factor(answer: float) -> Mistakes:
    """A gang comes that requests 24 CPUs, while all 64 are in use and none is reserved. From which
    factor on, from 1 to 3 and to one decimal, is it admitted?
    """
    yield not 1 <= answer <= 3, "from_1_to_3"
    limit = round(NODES * CPUS * (answer - 1), 1)
    yield not admitted(answer), try_again("not_admitted", answer=answer, limit=limit)
    yield admitted(answer - 0.1), try_again("less_is_enough", answer=answer, limit=limit)
    return well_done("admitted_from")
