"""The kit of the lessons: questions that own what they reveal, checks, results, progress."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cells import code_cells
from volcano_lab.course.kit import (
    ask,
    bars,
    finding,
    lesson,
    progress,
    table,
    try_again,
    ways,
    well_done,
)
from volcano_lab.course.kit.checking import CHECKS, Check, answer_table, check as checked
from volcano_lab.course.kit.field import Field, ran
from volcano_lab.course.kit.lessons import LESSONS
from volcano_lab.course.kit.live import ANSWERS_SHOWN, VIEW, views
from volcano_lab.course.kit.question import Asked, Prediction
from volcano_lab.course.kit.questions import entries, opened
from volcano_lab.course.kit.recapping import recap_of
from volcano_lab.course.kit.results import Printed
from volcano_lab.course.kit.thread import Standing
from volcano_lab.course.kit.values import as_text, read_number, same
from volcano_lab.course.kit.verdict import RIGHT, SHOWN, TO_DO, TRY_AGAIN, WELL_DONE, WRONG
from volcano_lab.messages import Misuse, NoSuch, attempt

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

# -- values
# ------------------------------------------------------------------------------------------

NUMBERS = [
    ("28", 28), (" 28.5 ", 28.5), ("0,5", 0.5), ("1/2", 0.5), ("50 %", 0.5), ("50%", 0.5),
    ("1,000", 1000), ("10 000", 10_000), ("1,234,567.5", 1_234_567.5), ("−3", -3), ("1e3", 1000),
    ("12 CPUs", 12), ("4Gi", 4), (".5", 0.5), ("3 / 4", 0.75), (7, 7), (0.5, 0.5),
]
NO_NUMBERS = ["thirty", "", "1/0", "1/2/3", "3 apples and 2", "500m", "--1", "1..2", "%", True]


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_numbers_are_read_as_people_write_them(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        read_number(text)


SAME = [
    ("0.33", 1 / 3, True), ("1/3", 0.33333, True), ("0.3", 1 / 3, False), ("0,333", 1 / 3, True),
    ("40 %", 40, True), ("40 %", 0.4, True), ("28", 28.0, True), ("28", 28.4, False),
    ("yes", "Yes ", True), (42, "42", True), ("a", "b", False), ("2/3", 0.5, False),
]


@pytest.mark.parametrize(("given", "truth", "equal"), SAME)
def test_an_answer_is_the_truth_also_rounded(given, truth, equal):
    assert same(given, truth) is equal


@pytest.mark.parametrize(("value", "text"), [
    (6.0, "6"), (True, "yes"), (False, "no"), (None, "–"), (float("nan"), "–"),
    ("default/train-0", "train-0"), (1 / 3, "0.3333"), (12_000.0, "12,000"), ([1.0, 2.5], "1, 2.5"),
    ({"a": 4}, "a 4"), ({3, 1}, "1, 3"),
])
def test_values_are_written_as_people_say_them(value, text):
    assert as_text(value) == text


# -- checks
# ------------------------------------------------------------------------------------------


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
    ("a fraction", float, "24/2", WELL_DONE, "Three"),
    ("a whole number given with a point", int, 12.0, WELL_DONE, "Three"),
    ("half a number where whole ones are wanted", int, 12.5, TRY_AGAIN, "whole number"),
    ("a word where a number is wanted", float, "a dozen", TRY_AGAIN, "'a dozen'"),
    ("a truth value is no number", float, True, TRY_AGAIN, "wanted is a number"),
    ("a wrong number", float, 11, TRY_AGAIN, "Count again"),
]


@pytest.mark.parametrize(("sentence", "takes", "answer", "state", "words"), READ,
                         ids=[row[0] for row in READ])
def test_answers_are_read_kindly(sentence, takes, answer, state, words):
    verdict = Check("99.twelve", twelve, takes)(answer)
    assert verdict.state == state and words in verdict.text


def test_a_function_that_is_not_written_yet_is_to_do():
    def dots():
        """With a docstring."""
        return ...

    def nothing_yet():
        pass

    check = Check("99.build", build, callable)
    assert [check(stub).state for stub in (dots, nothing_yet, lambda: None)] == [TO_DO] * 3
    assert check(lambda: 3).state == WELL_DONE


def test_a_function_without_return_is_reported():
    def forgets():
        3 * 4  # noqa: B018

    def says_none(number=1):
        if number:
            return None

    for function in (forgets, says_none):
        verdict = Check("99.build", build, callable)(function)
        assert verdict.state == TO_DO or "`return`" in verdict.text
    assert "`return`" in Check("99.build", build, callable)(says_none).text


def test_what_an_answer_raises_is_a_sentence():
    verdict = Check("99.build", build, callable)(lambda: 1 / 0)
    assert (verdict.state,
            verdict.text) == (TRY_AGAIN, "That stopped with ZeroDivisionError: division by zero")


def of_lesson_99(function):
    function.__module__ = "volcano_lab.course.lesson_99.checks"
    return function


def test_a_check_is_registered_by_lesson_and_name():
    def probe(answer):
        """A task."""

    made = checked(takes=int)(of_lesson_99(probe))
    try:
        assert CHECKS["99.probe"] is made
    finally:
        del CHECKS["99.probe"]


PHASE = answer_table("99.phase", "When is the status written?",
                     {"open: first": "That copies.", "close: last": "right: All is done then."})
REST = answer_table("99.rest", "What is left?", {0.5: "right: Half of it.", 2: "That is double."},
                    "Divide.", "float")
ORDER = answer_table("99.order", "In which order are they undone?",
                     {("b", "a"): "right: Last first.", ("a", "b"): "As done."}, "Both.", "list")
CHOICES = [
    (PHASE, "close", WELL_DONE, "All is done"), (PHASE, "Open: first", TRY_AGAIN, "copies"),
    (PHASE, "clo", WELL_DONE, "All is done"), (PHASE, "x", TRY_AGAIN, "Choose one of: open: first"),
    (PHASE, "c", TRY_AGAIN, "Choose one of"),
    (REST, "1/2", WELL_DONE, "Half"), (REST, "50 %", WELL_DONE, "Half"),
    (REST, 2, TRY_AGAIN, "double"), (REST, 7, TRY_AGAIN, "Divide"),
    (REST, "much", TRY_AGAIN, "wanted is a number"),
    (ORDER, ["B", "a"], WELL_DONE, "Last"), (ORDER, ["a", "b"], TRY_AGAIN, "As done"),
    (ORDER, ["a"], TRY_AGAIN, "Both"),
]


@pytest.mark.parametrize(("graded", "answer", "state", "words"), CHOICES)
def test_an_answer_table_grades(graded, answer, state, words):
    verdict = graded(answer)
    assert verdict.state == state and words in verdict.text


def test_an_answer_tables_answers_are_the_options():
    assert Asked(PHASE).options == ["open: first", "close: last"] and Asked(REST).options == []
    assert Asked(PHASE).question == "When is the status written?"


# -- questions
# ------------------------------------------------------------------------------------------


def guarantee(**changes):
    """A prediction with an explanation for each answer."""
    given = {"answer": 46, "because": {42: "That is without it.", 46: "It is lifted first."},
             "show": "a pays"} | changes
    return Prediction("What does **b** deserve now?", [40, 42, 46], **given)


SAID = [
    ("the right option", 46, RIGHT, "Right: **46**. It is lifted first."),
    ("a wrong one", "42", WRONG,
     "You said **42**. That is without it. → **46**: It is lifted first."),
    ("a wrong one without a reason", 40, WRONG,
     "You said **40**. → **46**: It is lifted first."),
    ("nothing", "", TRY_AGAIN, "Choose one first."),
]


@pytest.mark.parametrize(("sentence", "value", "state", "text"), SAID, ids=[row[0] for row in SAID])
def test_a_prediction_says_what_was_said_what_it_is_and_why(sentence, value, state, text):
    verdict = guarantee().say(value)
    assert (verdict.state, verdict.text) == (state, text)


def test_several_words_are_quoted():
    verdict = Prediction("What happens?", ["it takes one room", "it waits"], answer="it waits",
                      because="No room is large enough.").say("it takes one room")
    assert verdict.text == ("You said **“it takes one room”**. → **“it waits”**: "
                            "No room is large enough.")


def test_a_number_is_wanted_where_the_truth_is_one():
    share = Prediction("Which share?", answer=0.5)
    assert share.say("a half").text.startswith("Wanted is a number")
    assert not share.settled and share.say("50 %").state == RIGHT and share.settled


def test_an_answer_that_is_no_option_is_the_authors_mistake():
    with pytest.raises(ValueError, match="none of the options"):
        guarantee(answer=47)


def test_the_result_is_shown_after_the_answer():
    question = guarantee(show="the chart")
    assert "the chart" not in str(question._state()) and question._state()["fold"]
    question.say(42)
    assert question._state()["result"] == [{"html": "<p>the chart</p>"}]
    assert [mark for *_, mark in question._state()["options"]] == ["", "wrong", "right"]


def test_giving_up_shows_the_solution_and_counts_no_error():
    question = guarantee()
    question._received({"show": True})
    assert question.verdict.state == SHOWN and question.settled
    assert question.verdict.text == "It is **46**. It is lifted first."


def test_a_graded_question_shows_its_result_only_when_it_is_right():
    asked = Asked("What is 3 * 4?", Check("99.twelve", twelve, float), show="a picture")
    asked._received({"answer": "11"})
    assert "Count again" in asked._state()["says"] and not asked._state()["result"]
    asked._received({"answer": "12"})
    assert asked.verdict.state == WELL_DONE and asked._state()["result"]


def test_an_answer_sends_one_message():
    question = guarantee()
    question._repr_mimebundle_()
    sent = []
    question._live.send_state = lambda key: sent.append(key)
    question._received({"answer": "42"})
    assert len(sent) == 1


# -- the questions of a lesson
# ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_lesson_asks_what_stands_in_its_file():
    opened.number = "03"
    chosen, typed = ask("nervous_guarantee", "a table"), ask("late_before_early")
    assert isinstance(chosen, Prediction) and chosen.options == [40, 42, 46] and chosen.truth == 46
    assert chosen.result[0] == "a table" and "head start" in chosen.result[-1]
    assert typed.options == [] and typed.say(0).text.startswith("You said **0**. Age counts")
    graded, computed = ask("second_offer", "a table"), ask("overbooked")
    assert graded.question.startswith("How many CPUs does round 2 offer to queue b")
    assert graded.say(6).state == TRY_AGAIN and graded.say(12).state == WELL_DONE
    assert "**28, 42 and 30**" in graded.result[-1] and computed.say(60).state == TRY_AGAIN


def test_a_question_that_no_lesson_asks_is_one_sentence():
    opened.number = "03"
    with pytest.raises(NoSuch, match=r'Lesson 03 has no question "first_offer"; it has .*take'):
        ask("first_offer")
    del opened.number
    with pytest.raises(NoSuch, match="run the cell lesson"):
        ask("second_offer")


@pytest.mark.parametrize("number", [each for each in LESSONS if entries(each)])
def test_each_table_of_answers_has_one_right_answer(number):
    for name, entry in entries(number).items():
        right = {said for said in entry.get("answers", {}).values() if said.startswith("right: ")}
        assert len(right) == ("answers" in entry), name


@pytest.mark.parametrize("number", LESSONS)
def test_a_lesson_asks_each_of_its_questions_once(number):
    sources = code_cells(NOTEBOOKS / LESSONS[number].file).values()
    asked = [name for source in sources
             for name in re.findall(
                 r'(?:(?:ask|broken_cluster)\(\s*"|checks\.)(\w+)(?:"|\()', source)]
    assert len(asked) == len(set(asked))
    assert {*entries(number)} <= {*asked}


def test_an_entry_with_a_word_that_is_not_known_is_refused(tmp_path, monkeypatch):
    (tmp_path / "lesson_98").mkdir()
    (tmp_path / "lesson_98" / "questions.yaml").write_text("who: {asked: Who is it}")
    monkeypatch.setattr("volcano_lab.course.kit.questions.COURSE", tmp_path)
    with pytest.raises(ValueError, match=r"lesson_98/questions\.yaml: who has asked; allowed are"):
        entries("98")


# -- what a page shows
# ------------------------------------------------------------------------------------------

SECRETS = ("46.", "lifted first", "without it", "a pays")


def test_nothing_of_the_answer_is_in_what_is_stored(monkeypatch):
    question = guarantee()
    stored = question._repr_html_() + repr(question) + str(question._state())
    assert not [secret for secret in SECRETS if secret in stored]
    question.say(42)
    assert not [secret for secret in SECRETS if secret in question._repr_html_()], "answered or not"
    monkeypatch.setenv(ANSWERS_SHOWN, "shown")
    filled = question._repr_html_()
    assert "<details" in filled and all(word in filled for word in ("46", "lifted first", "a pays"))


def test_results_are_whatever_shows():
    import ipywidgets
    import pandas as pd

    kinds = {
        "text": "It is **b**.", "table": pd.DataFrame({"a": [1]}), "finding": finding("So."),
        "widget": ipywidgets.HTML("x"), "plain": 5 * [1] and {"a": 1},
        "printed": Printed("a  1\nb  2"),
    }
    found = {name: views(thing) for name, thing in kinds.items()}
    assert "<b>b</b>" in found["text"][0]["html"] and "<table" in found["table"][0]["html"]
    assert found["widget"][0]["model"].startswith("IPY_MODEL_")
    assert "<pre>{&#x27;a&#x27;: 1}</pre>" in found["plain"][0]["html"]
    assert ">a  1\nb  2</pre>" in found["printed"][0]["html"], "line for line"
    assert len(views(["one", [finding("two"), None]])) == 2


def test_what_a_value_raises_while_it_is_shown_is_reported():
    source = ("print('first')\nclass Row:\n    def _repr_html_(self):\n        return self.nome\n"
              "\nRow()")
    said, output = (view["html"] for view in ran(source, {"__name__": "__main__"}))
    assert "first" in said
    assert all(each in output for each in ("AttributeError: ", "nome", "(line 4)"))


@pytest.mark.parametrize(("code", "output"), [
    ("exit()", "the code has called exit() (line 1)"),
    ("quit()", "the code has called exit()"),
    ("\nraise SystemExit", "the code has called exit() (line 2)"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1)"),
    ("int('x')", "ValueError: invalid literal"),
    ("a = (", "(line 1)"),
    ("while True: pass", "the code has not returned after 0.1 seconds (line 1)"),
    ("class A:\n    def __repr__(self):\n        while 1: pass\nA()", "0.1 seconds (line 3)"),
    ("import sys; sys.stdout.close(); print('still there')", "still there"),
    ("import sys; print('said', file=sys.stderr)", "said"),
    ("import sys, threading as t\na = t.Thread(target=sys.stderr.write, args=['from a thread'])\n"
     "a.start(); a.join()", "from a thread"),
    ("print('x' * 20_005)", "<p>6 more characters are not shown; allowed are 20,000.</p>"),
    ("[type('A', (), {'__repr__': lambda self: 'x' * 600_000})()] * 2", "The value is not shown"),
])
def test_a_field_shows_what_its_code_does(code, output, monkeypatch):
    monkeypatch.setattr(attempt, "MOST_SECONDS", 0.1 if "while" in code else 60)
    ended = []
    field = Field(code, {"exit": lambda: ended.append("kernel"), "quit": None})
    field._received({"run": code})
    shown = "".join(view["html"] for view in field.result)
    assert output in shown and not ended and len(shown) < 25_000


def test_a_message_that_breaks_a_question_is_a_sentence_until_the_next():
    live = Prediction("Which?", ["a", "b"], answer="b")
    live._repr_mimebundle_()
    live._live._received_from_page(None)
    assert live._live.state["trouble"].startswith("This does not work: ")
    live._live._received_from_page({"answer": "b"})
    assert not live._live.state.get("trouble")


def test_a_table_is_for_people():
    import pandas as pd

    frame = pd.DataFrame({"queue": ["a", "b"], "deserved": [28.0, 42.5], "overused": [True, False]})
    shown = table(frame.set_index("queue"), caption="What they deserve")
    assert repr(shown) == ("What they deserve\nqueue  deserved  overused\n"
                           "a            28  yes\nb          42.5  no")
    html = shown._repr_html_()
    assert "text-align: left" in html and "text-align: right" in html and "28.0" not in html
    assert repr(table([{"job": "default/x", "n": None}], {"job": "Job"})) == "Job\nx"


def test_bars_say_their_numbers():
    shown = bars({"a": 24.0, "b": 46}, was={"a": 28, "b": 46}, unit="CPUs", title="Deserved")
    assert shown.alt == "Deserved. a: 24 now, 28 was (CPUs). b: 46 now (CPUs)."
    assert bars({"a": 3}, unit="calls").alt == "a: 3 calls."


SHOWN_THINGS = [
    Prediction("Is `a < b`?", ["yes", "no"], answer="yes"),
    well_done("Because `a < b`."),
    Standing(LESSONS["03"]),
    ways(),
    recap_of(["One."], files={"pkg/scheduler/scheduler.go": "the loop"},
          commands={"kubectl get queue": "queues"}),
]


@pytest.mark.parametrize("shown", SHOWN_THINGS, ids=lambda shown: type(shown).__name__)
def test_everything_reads_without_a_kernel(shown):
    html = shown._repr_html_()
    assert "<script" not in html and "<style" not in html, "a page that isn't trusted drops these"
    assert "a < b" not in html, "escaped"
    assert "`" not in repr(shown) and "<" not in repr(shown).replace("a < b", "")


def test_a_recap_links_to_the_version_and_names_what_it_knows():
    html = SHOWN_THINGS[-1]._repr_html_()
    assert ('href="https://github.com/volcano-sh/volcano/blob/v1.14.0/'
            'pkg/scheduler/scheduler.go"') in html
    with pytest.raises(Misuse, match="found file"):
        recap_of([], file={})


@pytest.mark.long
def test_the_kit_needs_no_widgets():
    script = """
import sys
sys.modules["anywidget"] = sys.modules["ipywidgets"] = None
from volcano_lab.course.kit.question import Prediction
first = Prediction("Who?", ["a"], answer="a")
assert set(first._repr_mimebundle_()[0]) == {"text/plain", "text/html"}
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr


def test_a_question_is_a_widget_with_a_view():
    assert VIEW in SHOWN_THINGS[0]._repr_mimebundle_()[0]


# -- progress
# ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(progress.ELSEWHERE, raising=False)
    monkeypatch.setattr(progress, "_follower", None)
    monkeypatch.setattr(progress, "_unwritten", set())
    return tmp_path


def test_progress_is_kept_beside_the_notebook_once_a_lesson_is_open(folder):
    check = Check("03.twelve", twelve, float)
    check(12)
    assert not list(folder.iterdir()), "no lesson is open"
    standing = lesson("03")
    assert repr(standing) == "03 Proportion: 7 checks · about 65 minutes"
    check(11)
    assert standing.done == 0
    check(12)
    check(12)
    assert standing.done == 1 and progress.done() == {"03.twelve"}
    assert standing._state()["says"] == "1 of 7 checks · about 55 minutes left"
    assert progress.done("04") == set() and "1 of 7" in ways()._repr_html_()
    standing._received({"forget": True})
    assert standing.done == 0


def test_progress_lasts_in_memory_where_nothing_can_be_written(folder):
    (folder / progress.FILE).mkdir()
    lesson("03")
    Check("03.twelve", twelve, float)(12)
    assert progress.done("03") == {"03.twelve"}


@pytest.mark.parametrize("text", ["", "{", "5", '{"03.take": true}', "\x00"])
def test_a_damaged_file_is_no_progress(folder, text):
    (folder / progress.FILE).write_text(text)
    assert progress.done() == set()
    lesson("03")
    Check("03.twelve", twelve, float)(12)
    assert progress.done() == {"03.twelve"}


def test_the_plugins_that_are_asked_are_drawn_in_their_tiers():
    """wide is refused by overcommit, so that proportion is not asked; both stand in tier 2."""
    from volcano_lab.course.kit import asked
    from volcano_lab.course.lesson_01.lab import small_cluster

    (tier,), rows = (asked("", small_cluster(), "job_enqueueable").data[name] for name in
                     ("tiers", "rows"))
    assert (tier["name"], tier["plugins"]) == ("tier 2", ["overcommit", "proportion"])
    assert {row["name"]: [*row["votes"]] for row in rows} == {
        "train": ["overcommit", "proportion"], "wide": ["overcommit"],
        "helper": ["overcommit", "proportion"]}
