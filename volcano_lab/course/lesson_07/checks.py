"""Checks of lesson 07: dominant resource fairness, flat and hierarchical."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_07.lab import CPUS, HIERARCHICAL, placed, tree_cluster
from volcano_lab.messages import gettext


@check(takes=int)
def weight_of_eng(answer: int) -> Mistakes:
    """Everybody wants 12 pods. sci should have 4 CPUs and eng 8. Which weight must eng have?"""
    yield answer < 1, "A weight is a whole number from 1."
    sci = placed(tree_cluster(eng_weight=answer).run(HIERARCHICAL))["sci-work"]
    yield sci != 4, (gettext("With weight {answer} of eng, {sci} pods of sci are placed. eng "
                             "should have {x} CPUs and sci 4: how many times as much? The weight "
                             "of sci is 1.", answer=answer, sci=sci, x=CPUS - 4))
    return well_done("sci has 4 CPUs and eng has 8: 1 to 2, as their weights.")


TOTAL = {"cpu": 8, "memory": 16}
CASES = [({"cpu": 2, "memory": 8}, TOTAL, 0.5, "The larger of 2/8 and 8/16."),
         ({"cpu": 6, "memory": 8}, TOTAL, 0.75, "The larger of 6/8 and 8/16."),
         ({"memory": 4}, TOTAL, 0.25, "What the job does not hold counts as zero."),
         ({}, TOTAL, 0, "A job that holds nothing has share 0."),
         ({"cpu": 8, "memory": 4, "gpu": 1}, TOTAL | {"gpu": 2}, 1,
          "Every resource of the cluster is looked at.")]


@check(takes=callable, wanted="a function of what a job holds and the total")
def dominant_share(answer) -> Mistakes:
    """Write share(held, total): the dominant share of a job, from two dicts of amounts."""
    for held, total, wanted, why in CASES:
        try:
            got = answer(dict(held), dict(total))
        except KeyError as missing:
            return try_again(gettext("`share({held}, {total})` stopped at {missing}. What `held` "
                                     "has not is zero: `held.get(name, 0)`.", held=str(held),
                                     total=str(total), missing=missing))
        except ValueError:
            return try_again(gettext("`share({held}, {total})` stopped: there is nothing to "
                                     "compare. {why}", held=str(held), total=str(total),
                                     why=gettext(why)))
        if got is None and held is CASES[0][0]:
            return None
        yield not isinstance(got, int | float) or abs(got - wanted) > 1e-9, (
            gettext("`share({held}, {total})` is {got}; wanted is {wanted}. {why}", held=str(held),
                    total=str(total), got=str(got), wanted=wanted, why=gettext(why)))
    return well_done("This is the number by which drf orders jobs, and by which it names victims.")
