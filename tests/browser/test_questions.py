"""Questions of a lesson in a real Chromium: nothing shows before an answer, each question keeps its
keys and its choices, and screen readers and dark pages are served.
"""

import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from browser.page import open_notebook, violations
from browser.servers import serve

pytestmark = pytest.mark.browser

LESSON = Path(__file__).parents[2] / "notebooks" / "03-proportion.ipynb"
ASKED = """
import ipywidgets

from volcano_lab.course.kit import bars, finding
from volcano_lab.course.kit.question import Asked, Prediction
from volcano_lab.course.kit.checking import checks_of

QUESTIONS = [
    Prediction("Which queue goes first?", ["a", "b", "c"], answer="b",
            because={"a": "Queue a is the fullest.", "b": "It is the emptiest."},
            show=[bars({"a": 9, "b": 3}, unit="CPUs"), finding("The emptiest goes first.")]),
    Prediction("How much of it is taken?", answer=0.5, because="Ten of twenty.",
            show="A half is left."),
    Asked(checks_of("03")["second_offer"]),
    Prediction("Does it move?", ["yes", "no"], answer="yes",
            show=ipywidgets.IntSlider(description="n")),
]
"""
CELLS = ["from asked import QUESTIONS", *(f"QUESTIONS[{place}]" for place in range(4)),
         "from volcano_lab.course.kit import lesson\nlesson('02')",
         "from volcano_lab.course.lesson_02 import checks\ncapability = ...\n"
         "checks.no_gpus(capability)",
         "from volcano_lab.course.riddles import riddle\nriddle(1).open()"]
SECRETS = ["It is the emptiest", "The emptiest goes first", "9 CPUs", "Ten of twenty",
           "A half is left", "3/5 of the 20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    (folder / "asked.py").write_text(ASKED)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}),
                   folder / "questions.ipynb")
    return folder


@pytest.fixture(scope="module", params=["lab", "voila", "notebook"])
def house(request, browser, folder):
    with serve(request.param, folder) as server:
        yield server


@pytest.fixture
def shown(house, browser):
    with open_notebook(browser, house, "questions.ipynb") as shown:
        yield shown
        left_out = "reading 'schema'"  # Notebook 7's own page says it of an empty notebook, too
        assert [each for each in shown.complaints() if left_out not in each] == []


def visible(page):
    return page.evaluate("document.body.innerText")


def test_choices_in_a_fold_show_when_it_is_opened(shown):
    card = shown.page.locator(".vl-card").filter(has_text="Why is train pending?")
    choice = card.get_by_text("The nodes are full.")
    assert choice.is_hidden()
    card.locator("summary").focus()
    shown.page.keyboard.press("Enter")
    choice.click()
    card.get_by_role("button", name="Check").click()
    card.get_by_text("−20 points: 80 left").wait_for()
    assert choice.is_visible()


def test_a_question_from_asking_to_result_with_keys_alone(shown, house):
    page = shown.page
    first, number, check, moving = (page.locator(".vl-card").nth(place) for place in range(4))
    assert not [secret for secret in SECRETS if secret in visible(page)], "computed, and not shown"
    assert violations(page, ".vl-live") == []

    # Choices: arrow keys stay inside, and other questions keep theirs.
    moving.get_by_role("radio", name="no").check()
    first.get_by_role("radio", name="a").focus()
    page.keyboard.press("Space")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    expect(first.get_by_role("radio", name="c")).to_be_focused()
    expect(first.get_by_role("radio", name="c")).to_be_checked()
    expect(moving.get_by_role("radio", name="no")).to_be_checked()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    said = first.get_by_role("status")
    expect(said).to_contain_text("You said a. Queue a is the fullest. → b: It is the emptiest.")
    if house.kind == "voila":
        expect(said).to_be_focused()
    else:  # the next cell is what Shift+Enter runs, as after a cell
        expect(page.locator(".jp-Cell:focus")).to_contain_text("How much of it is taken?")
    expect(first.locator(".vl-result")).to_contain_text("The emptiest goes first.")
    expect(moving.get_by_role("radio", name="no")).to_be_checked()

    # A number: validated, and read as people write it.
    field = number.get_by_role("textbox")
    field.fill("a lot")
    field.press("Enter")
    expect(number.get_by_role("status")).to_contain_text("Wanted is a number")
    field.fill("50 %")
    field.press("Enter")
    expect(number.get_by_role("status")).to_contain_text("Right: 50 %.")

    # A check: a hint, then another try with the button.
    check.get_by_role("textbox").fill("20")
    check.get_by_role("textbox").press("Enter")
    expect(check.get_by_role("status")).to_contain_text("20 is all that is left")
    check.get_by_role("textbox").fill("12")
    check.get_by_role("button", name="Check").click()
    expect(check.get_by_role("status")).to_contain_text("3/5 of the 20")

    # Given up: the result may be a widget, which is alive.
    moving.get_by_role("button", name="show me").click()
    expect(moving.get_by_role("slider")).to_be_visible()
    assert not violations(page, ".vl-live:not(:has(.widget-slider))")


def test_code_is_written_on_the_page_in_voila_and_in_its_cell_elsewhere(shown, house):
    page = shown.page
    expect(page.get_by_text("Write a capability").first).to_be_visible()
    field = page.locator(".vl-card", has=page.locator("textarea.vl-code"))
    if house.kind != "voila":
        assert field.count() == 0
        return
    assert violations(page, ".vl-live") == []
    assert "no_gpus" not in visible(page), "a question's source may hold its answer"
    code = field.get_by_role("textbox")
    expect(code).to_have_value(re.compile("^from .*no_gpus", re.DOTALL))
    for written, said in [("checks.no_gpus({'cpu': 4})", "may still hold 4 GPUs"),
                          ("checks.no_gpus(capabilty)", "is not defined (line 1)"),
                          ('checks.no_gpus({"cpu": 4, "nvidia.com/gpu": 0})', "a limit of zero")]:
        code.fill(written)
        code.press("Shift+Enter")
        expect(field.locator(".vl-result")).to_contain_text(said)
    code.fill("if True:")
    code.press("End")
    code.press("Enter")
    code.press_sequentially("    word = 'so'")
    code.press("Enter")
    code.press_sequentially("print(word * 2)")
    field.get_by_role("button", name="Run").click()
    expect(field.locator(".vl-result")).to_have_text("soso\n")


def test_the_stored_lesson_shows_questions_and_no_answers(browser):
    with (
        serve("lab", LESSON.parent, outputs=True) as server,
        open_notebook(browser, server, LESSON.name, run=False) as shown,
    ):
        page, text = shown.page, visible(shown.page)
        assert "You said" not in text and "Right: " not in text
        folds = page.locator("details", has_text="Run the notebook to answer")
        folds.nth(4).wait_for(state="attached")  # outputs of a stored notebook come one by one
        assert not page.locator("details[open]").count()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_lesson_is_accessible(theme, browser):
    with (
        serve("lab", LESSON.parent, theme=theme) as server,
        open_notebook(browser, server, LESSON.name) as shown,
    ):
        page = shown.page
        for card in page.locator(".vl-card").all():
            shows = card.get_by_role("button", name="show me")
            if shows.count():
                shows.click()
                expect(card.get_by_role("status")).to_contain_text(re.compile("It is"))
        assert violations(page, ".vl-live") == []
        assert violations(page, ".jp-RenderedHTMLCommon", "serious", "critical") == []
