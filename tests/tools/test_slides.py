"""Slides have what a projector needs, ask before they show, and need nothing from elsewhere."""

import re
from pathlib import Path

import pytest

import slides

LESSON = Path(__file__).parents[2] / "notebooks" / "00-fair-share.ipynb"


def deck_of(*parts):
    deck = slides.Deck()
    for part in parts:
        deck.text(part) if isinstance(part, str) else deck.question(*part)
    return [(cell.metadata["slideshow"]["slide_type"], cell.source or cell.outputs[0]["data"][
        "text/html"]) for cell in deck.cells]


def test_a_heading_takes_its_first_paragraph_and_the_list_that_it_announces():
    made = deck_of("## A\n\nTwo things:\n\n- one\n- two\n\nMore.", "| a |\n|---|\n| 1 |")
    assert made == [("slide", "## A"), ("-", "Two things:"), ("-", "- one\n- two"),
                    ("-", "| a |\n|---|\n| 1 |")]
    made = deck_of("## A\n\nFor each rack it\n\n1. places,\n2. saves.\n\nMore.")
    assert [text for _, text in made] == ["## A", "For each rack it", "1. places,\n2. saves."]
    made = deck_of("## A\n\nThree jobs wait.\n\n- **old** runs.\n- **new** waits.\n\nMore.\n\n- x")
    assert [text for _, text in made] == [
        "## A", "Three jobs wait.", "- **old** runs.\n- **new** waits."]
    made = deck_of("## A\n\nIt says:\n\n```\nx\n```\n\nMore.", "## B\n\nOne. Here it is:", "More.")
    assert [text for _, text in made] == ["## A", "It says:", "```\nx\n```", "## B", "One."]
    made = deck_of("## A\n\nLook again:", "More.")
    assert [text for _, text in made] == ["## A", "More."]


def test_what_a_text_announces_stays_with_it():
    made = deck_of("## A\n\nDicts, such as\n\n```\n{}\n```\n\nMore.")
    assert [text for _, text in made] == ["## A", "Dicts, such as", "```\n{}\n```"]
    made = deck_of("## A\n\nFirst.\n\nIt is the sum:\n\n> a + b\n\nMore.", ("How?", "", []))
    assert "It is the sum:\n\n> a + b\n\nMore." in [text for _, text in made]
    made = deck_of("## A\n\n*\"Why?\"* (#1) Here it is:", "More.")
    assert [text for _, text in made] == ["## A", "*\"Why?\"*"]


def test_what_is_shown_has_what_was_said_of_it_and_needs_no_heading_of_its_own_below_one():
    deck = slides.Deck()
    deck.text("## A `b`\n\nFirst.\n\n| a |\n|---|\n| 1 |\n\nOf this.\n\nThen:")
    deck.picture("<table>")
    assert [cell.source for cell in deck.cells][3:5] == [
        '<p class="where">A <code>b</code></p>', "Then:"]
    made = deck_of("## Recap\n\nMore is in 03b.")
    deck = slides.Deck()
    deck.text("## Recap\n\nMore is in 03b.")
    deck.picture("<ul><li>One.</li></ul>")
    assert len(deck.cells) == len(made) + 1


def test_a_check_without_a_stored_solution_is_solved_as_its_tests_solve_it():
    from volcano_lab.course.kit.checking import checks_of

    assert slides.solved(checks_of("10")["allocations_in_all"]).startswith("<p>It is <b>12</b>.")


def test_a_riddle_ends_with_its_causes_and_a_repair_that_was_tried():
    first, second, repair = slides.ended(11)
    assert first.startswith("**The actions do not include reclaim.** Between") and "gang" in second
    assert "podgroup/crunch.minMember=1" in repair
    assert "Then: counter: 4 of 4 pods get a node. crunch: 4 of 16 pods are evicted" in repair


@pytest.mark.long
def test_a_riddle_whose_last_hint_does_not_repair_it_stops_the_slides(monkeypatch):
    from volcano_lab.course.riddles import riddle

    monkeypatch.setattr(riddle(1), "hints", ["`queue/vision.weight=9`"])
    with pytest.raises(SystemExit, match="riddle 1: its last hint does not repair it: "):
        list(slides.ended(1))


def test_a_table_of_which_nothing_is_said_stands_below_the_one_before_or_above_what_follows():
    deck = slides.Deck()
    deck.text("## A\n\nFirst.\n\n| a |\n|---|\n| 1 |")
    deck.picture("<table><tr><tr>")
    assert [cell.metadata["slideshow"]["slide_type"] for cell in deck.cells] == ["slide", *"---"]
    deck.picture("<table>" + "<tr>" * slides.ROWS)
    assert deck.cells[-2].source == '<p class="where">A</p>'
    made = deck_of("## A\n\nFirst.", ("How?", "", ["It is so."]), "| a |\n|---|\n| 1 |\n\nThat.")
    assert [text for _, text in made[-2:]] == ["| a |\n|---|\n| 1 |", "That."]


def test_a_lab_has_its_tables_on_the_slide_after_its_picture():
    deck = slides.Deck()
    deck.text("## A\n\nFirst.")
    deck.picture("<p>x</p><img src=''><table><tr></table>")
    assert [cell.metadata["slideshow"]["slide_type"] for cell in deck.cells[-3:]] == [
        "-", "slide", "-"]


def test_rows_of_an_answer_that_one_slide_cannot_hold_stand_on_two():
    ten = f"<table>{'<tr>' * 10}</table>"
    assert slides.apart(["It.", ten, ten]) == [f"It.{ten}", ten]
    assert slides.apart(["<img>", "<svg>"]) == ["<img>", "<svg>"]


def test_above_a_question_nothing_is_announced():
    made = deck_of("## A\n\nFirst.\n\nOf this it speaks:", ("How many?", "", []))
    assert made[2][1] == "Of this it speaks."


def test_a_question_has_its_text_above_it_and_its_answer_on_the_next_slide():
    long = f"{'First. ' * slides.FEW}\n\nOf this it speaks."
    made = deck_of(f"## A\n\n{long}", ("How many?", "", ["<p>It is 2.</p>", "<img>", "<img>"]))
    where, asked = ("slide", '<p class="where">A</p>'), '<p class="asked">How many?</p>'
    assert made[2:] == [
        where, ("-", "Of this it speaks."), ("-", '<p class="question">How many?</p>'),
        where, ("-", f"{asked}<p>It is 2.</p><img>"), where, ("-", f"{asked}<img>")]


def test_a_question_shares_the_slide_of_a_heading_that_has_little_text():
    question = ("-", '<p class="question">How many?</p>')
    assert deck_of("## A", ("How many?", "", [])) == [("slide", "## A"), question]
    made = deck_of("## A\n\nFirst.\n\nOf this it speaks.", ("How many?", "", []))
    assert made == [("slide", "## A"), ("-", "First."), ("-", "Of this it speaks."), question]


def test_the_arrow_to_the_right_comes_to_every_slide():
    question = ("How many?", "", ["<p>It is 2.</p>", "<img>"])
    made = deck_of("## A\n\nFirst.", question, "| a |\n|---|")
    assert {kind for kind, _ in made} == {"slide", "-"}


def test_a_lab_shows_on_slides_what_a_page_folds():
    lab = '<details class="vp-at-rest"><summary>x</summary><img src="lab"></details>'
    assert slides.FOLD.sub("", f"<details><img></details>{lab}") == lab


@pytest.mark.long
def test_the_slides_of_a_lesson_need_nothing_else():
    questions = slides.asked(LESSON)
    page = slides.page(LESSON, questions)
    assert not re.findall(r"""(?:src|href)=["']?(?!data:|#)[^"'> ]+|url\((?!["']?data:)""", re.sub(
        r"<a [^>]*>|<script>.*?</script>", "", page, flags=re.DOTALL))
    assert "<script src" not in page and "Reveal.initialize" in page
    assert len(questions) == page.count('class="question"') == 9 <= page.count('class="asked"')
    assert page.index("only b</li>") < page.index("c never used its large weight")
    assert page.count("<section") > 20 and "moves in the lab" not in page
