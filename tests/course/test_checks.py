"""Every check of every lesson, with empty answers, right ones, and wrong ones that people give."""

import re
from importlib import import_module
from inspect import isclass
from pathlib import Path

import pytest

from cells import code_cells
from course.answers import all_answers
from volcano_lab.course.kit.checking import Check, checks_of
from volcano_lab.course.kit.verdict import TO_DO, TRY_AGAIN, WELL_DONE

COURSE = Path(__file__).parents[2] / "volcano_lab" / "course"
CHECKS = {check.key: check for path in sorted(COURSE.glob("lesson_*"))
          for check in checks_of(path.name.removeprefix("lesson_")).values()}
ANSWERS = all_answers()
EMPTY = (..., None, "", [], {})
WANTED = 5
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def test_every_check_is_tried_with_five_wrong_answers():
    assert CHECKS.keys() == ANSWERS.keys()
    fewer = {key: len(tried.wrong) for key, tried in ANSWERS.items() if len(tried.wrong) < WANTED}
    assert fewer == {}


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_checks_are_counted_in_the_order_of_the_page(path):
    number = path.name.partition("-")[0]
    counted = [key.partition(".")[2] for key in CHECKS if key.startswith(f"{number}.")]
    page = "\n".join(code_cells(path).values())
    used = {name: re.search(rf'checks\.{name}\b|(ask|broken_cluster)\(\s*"{name}"', page)
            for name in counted}
    assert sorted(counted, key=lambda name: used[name].start()) == counted


@pytest.mark.long
@pytest.mark.parametrize("number", sorted({key.partition(".")[0] for key, tried in ANSWERS.items()
                                           if callable(tried.right[0])}))
def test_nothing_that_a_lesson_has_for_import_solves_its_tasks(number):
    names = {name: thing for path in sorted((COURSE / f"lesson_{number}").glob("*.py"))
             for name, thing in vars(import_module(module_of(path))).items()
             if callable(thing) and not name.startswith("_") and not isinstance(thing, Check)}
    solved = {(key, name) for key, tried in ANSWERS.items()
              if key.startswith(f"{number}.") and callable(tried.right[0])
              for name, thing in names.items()
              if isclass(thing) == isclass(tried.right[0]) and says_well_done(CHECKS[key], thing)}
    assert solved == set()


def module_of(path):
    return ".".join(path.relative_to(COURSE.parents[1]).with_suffix("").parts).removesuffix(
        ".__init__")


def says_well_done(check, thing):
    try:
        return check(thing).state == WELL_DONE
    except Exception:  # whatever was not made to be an answer
        return False


@pytest.mark.parametrize("key", CHECKS)
def test_an_empty_answer_is_to_do_and_says_what(key):
    check = CHECKS[key]
    assert len(check.task) > 10
    for nothing in EMPTY:
        verdict = check(nothing)
        assert (verdict.state, verdict.text) == (TO_DO, check.task)


@pytest.mark.long
@pytest.mark.parametrize("key", CHECKS)
def test_a_wrong_answer_gets_its_hint(key):
    for answer, hint in ANSWERS[key].wrong:
        verdict = CHECKS[key](answer)
        assert verdict.state == TRY_AGAIN and hint in verdict.text, (answer, verdict)


@pytest.mark.long
@pytest.mark.parametrize("key", CHECKS)
def test_a_right_answer_is_well_done_and_says_why(key):
    assert ANSWERS[key].right
    for answer in ANSWERS[key].right:
        verdict = CHECKS[key](answer)
        assert verdict.state == WELL_DONE and len(verdict.text) > 20, (answer, verdict)
