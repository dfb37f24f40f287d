"""Checks of lesson 07: dominant resource fairness, flat and hierarchical."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_07.lab import CPUS, HIERARCHICAL, placed, tree_cluster


@check(takes=int)
def weight_of_eng(answer: int) -> Mistakes:
    """Everybody wants 12 pods. sci should have 4 CPUs and eng 8. Which weight must eng have?"""
    yield answer < 1, "weight_from_one"
    sci = placed(tree_cluster(eng_weight=answer).run(HIERARCHICAL))["sci-work"]
    yield sci != 4, try_again("sci_has", answer=answer, sci=sci, x=CPUS - 4)
    return well_done("one_to_two")


@check(takes=callable, wanted="a function of what a job holds and the total")
def dominant_share(answer) -> Mistakes:
    """Write share(held, total): the dominant share of a job, from two dicts of amounts."""
    cases = entries("07")["dominant_share"]["cases"]
    for held, total, wanted, why in cases:
        try:
            got = answer(dict(held), dict(total))
        except KeyError as missing:
            return try_again("share_stopped", held=str(held), total=str(total), missing=missing)
        except ValueError:
            return try_again("share_of_nothing", held=str(held), total=str(total), why=why)
        if got is None and held is cases[0][0]:
            return None
        yield not isinstance(got, int | float) or abs(got - wanted) > 1e-9, try_again(
            "share_otherwise", held=str(held), total=str(total), got=str(got), wanted=wanted,
            why=why)
    return well_done("dominant_share")
