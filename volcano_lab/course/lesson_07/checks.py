"""Checks of lesson 07: dominant resource fairness, flat and hierarchical."""

from volcano_lab.course.kit.checking import Mistakes, check
from volcano_lab.course.kit.questions import entries
from volcano_lab.course.kit.verdict import try_again, well_done
from volcano_lab.course.lesson_07.scene import HIERARCHICAL, placed, tree_cluster


@check(takes=int)
def weight_of_eng(answer: int) -> Mistakes:
    """In the lab's tree sci should have 2 of the 12 CPUs and eng 10. Which weight must eng have at
    least?
    """
    yield answer < 1, "weight_from_one"
    sci, with_less = (placed(tree_cluster(eng_weight=weight, dev_pods=2).run(HIERARCHICAL))[
        "sci"] for weight in (answer, answer - 1))
    yield sci != 2, try_again("sci_has", answer=answer, sci=sci)
    yield with_less == 2, "a_smaller_weight"
    return well_done("one_to_five")


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
