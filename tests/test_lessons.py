"""The kit of the lessons, and every check of every lesson with an empty, a wrong and a right answer."""

import subprocess
import sys

import pytest

from volcano_lab.lessons import all_checks, ask, predict, recap, try_again, well_done
from volcano_lab.lessons.checking import CHECKS, Check
from volcano_lab.lessons.checking import check as checked
from volcano_lab.lessons.live import Live
from volcano_lab.lessons.verdict import TO_DO, TRY_AGAIN, WELL_DONE

ALL = all_checks()
EMPTY = (..., None, "", [], {})


@pytest.mark.parametrize("key", ALL)
def test_an_empty_answer_is_to_do_and_says_what(key):
    check = ALL[key]
    assert len(check.task) > 10
    for nothing in EMPTY:
        verdict = check(nothing)
        assert (verdict.state, verdict.text) == (TO_DO, check.task)


@pytest.mark.parametrize("key", ALL)
def test_a_wrong_answer_gets_its_hint(key):
    check = ALL[key]
    assert check.wrong, "a check has at least one wrong answer with the hint that it gets"
    for answer, hint in check.wrong:
        verdict = check(answer)
        assert verdict.state == TRY_AGAIN and hint in verdict.text, (answer, verdict)


@pytest.mark.parametrize("key", ALL)
def test_a_right_answer_is_well_done_and_says_why(key):
    check = ALL[key]
    assert check.right, "a check has at least one right answer"
    for answer in check.right:
        verdict = check(answer)
        assert verdict.state == WELL_DONE and len(verdict.text) > 20, (answer, verdict)


# -- the kit ------------------------------------------------------------------------------------------


def twelve(answer):
    """What is 3 * 4?"""
    return well_done("Three times four.") if answer == 12 else try_again("Count again.")


def build(answer):
    """Write a function."""
    result = answer()
    return None if result is None else well_done(f"It gives {result}.")


READ = [
    ("a number as a number", float, 12, WELL_DONE, "Three"),
    ("a number as text", float, "12", WELL_DONE, "Three"),
    ("a whole number given with a point", int, 12.0, WELL_DONE, "Three"),
    ("half a number where whole ones are wanted", int, 12.5, TRY_AGAIN, "whole number"),
    ("a word where a number is wanted", float, "a dozen", TRY_AGAIN, "'a dozen'"),
    ("a truth value is no number", float, True, TRY_AGAIN, "wanted is a number"),
    ("a wrong number", float, 11, TRY_AGAIN, "Count again"),
]


@pytest.mark.parametrize(("sentence", "takes", "answer", "state", "words"), READ, ids=[row[0] for row in READ])
def test_answers_are_read_kindly(sentence, takes, answer, state, words):
    verdict = Check("99.twelve", twelve, takes)(answer)
    assert verdict.state == state and words in verdict.text


def test_a_function_that_is_not_written_yet_is_to_do():
    check = Check("99.build", build, callable)
    assert check(lambda: None).state == TO_DO
    assert check(lambda: 3).state == WELL_DONE


def test_what_an_answer_raises_is_a_sentence():
    verdict = Check("99.build", build, callable)(lambda: 1 / 0)
    assert (verdict.state, verdict.text) == (TRY_AGAIN, "That stopped with ZeroDivisionError: division by zero")


def test_a_check_is_registered_by_lesson_and_name():
    def probe(answer):
        """A task."""

    probe.__module__ = "volcano_lab.lessons.checks_99"
    made = checked(takes=int, right=[1], wrong=[(2, "x")])(probe)
    try:
        assert CHECKS["99.probe"] is made
    finally:
        del CHECKS["99.probe"]


def test_a_prediction_is_kept_and_compared_also_when_it_changes_later():
    first = predict("Who is **first**?", ["a", "b"])
    outcome = first.compare("b", "It is `emptier`.")
    assert repr(outcome) == "No prediction yet. It is b. It is emptier."
    first._repr_mimebundle_()
    outcome._repr_mimebundle_()
    first._live.value = "a"  # as the page does it
    assert first.value == "a" and "You predicted <b>a</b>. It is <b>b</b>." in outcome._live.said
    first._live.value = "b"
    assert repr(outcome) == "You predicted b, and so it is. It is emptier."


def test_an_option_keeps_its_type():
    many = predict("How many?", [1, 2])
    many._repr_mimebundle_()
    many._live.value = "2"
    assert many.value == 2


def test_a_question_is_graded_on_the_page():
    asked = ask("What is 3 * 4?", Check("99.twelve", twelve, float))
    asked._repr_mimebundle_()
    assert asked._live.said == "", "nothing is said before there is an answer"
    asked._live.value = "11"
    assert "Count again" in asked._live.said and asked._live.state == TRY_AGAIN
    asked._live.value = "12"
    assert asked._live.state == WELL_DONE


def test_an_answer_sends_one_message():
    asked = ask("What is 3 * 4?", Check("99.twelve", twelve, float))
    asked._repr_mimebundle_()
    sent = []
    asked._live.send_state = lambda names: sent.append(set(names))
    asked.value = "12"
    assert sent == [{"value", "said", "state"}]


SHOWN = [
    predict("Is `a < b`?", ["yes", "no"]),
    predict("How many?").compare(3, "Because."),
    well_done("Because `a < b`."),
    recap(["One."], files={"pkg/scheduler/scheduler.go": "the loop"}, commands={"kubectl get queue": "queues"}),
]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: type(shown).__name__)
def test_everything_reads_without_a_kernel(shown):
    html = shown._repr_html_()
    assert "<script" not in html and "<style" not in html, "a page that isn't trusted drops these"
    assert 'role="' in html or 'scope="' in html
    assert "a < b" not in html, "escaped"
    assert "`" not in repr(shown) and "<" not in repr(shown).replace("a < b", "")


def test_a_recap_links_to_the_version_and_names_what_it_knows():
    html = SHOWN[-1]._repr_html_()
    assert 'href="https://github.com/volcano-sh/volcano/blob/v1.14.0/pkg/scheduler/scheduler.go"' in html
    with pytest.raises(TypeError, match="found file"):
        recap([], file={})


def test_the_kit_needs_no_widgets():
    script = """
import sys
sys.modules["anywidget"] = sys.modules["ipywidgets"] = None
from volcano_lab.lessons import predict
first = predict("Who?", ["a"])
assert set(first._repr_mimebundle_()[0]) == {"text/plain", "text/html"}
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_live_is_a_widget_with_a_view():
    assert "application/vnd.jupyter.widget-view+json" in SHOWN[0]._repr_mimebundle_()[0]
    assert 'role: "status", "aria-live": "polite"' in str(Live._esm)
