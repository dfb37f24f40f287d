"""The stepper in a real Chromium: 200 steps with the keyboard, each with its own state, one
message, and no flicker.
"""

import base64
import re

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_page import WidgetPage

from browser.page import COLLAPSE_PX, open_notebook
from browser.servers import serve
from volcano_lab import widgets
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_06.lab import statement_stepper

pytestmark = pytest.mark.browser

CYCLE = """
from volcano_lab.cluster import Cluster

cluster = Cluster().queue("a").queue("b", weight=2)
for number in range(6):
    cluster.node(f"n{number}", cpu=16, memory="64Gi")
for number in range(14):
    cluster.job(f"j{number:02}", queue="ab"[number % 2], pods=8, cpu=1, memory="1Gi")
"""
SHOW = "from volcano_lab import widgets\nwidgets.stepper(cluster)"
STEPS = 200

SHOWN = """() => ({
  text: document.querySelector('.vs-cycle .vs-text').textContent,
  where: document.querySelector('.vs-cycle .vs-where').textContent,
  labels: [...document.querySelectorAll('.vs-cycle svg')]
    .map(svg => svg.getAttribute('aria-label')),
})"""
TAG = """() => document.querySelectorAll('.vs-cycle, .vs-cycle *')
  .forEach(node => { node.seen = true; })"""
AT_LEAST = """place => Number(
  document.querySelector('.vs-where').textContent.match(/^step (\\d+) of/)[1]) >= place"""
UNTAGGED = """() => [...document.querySelectorAll('.vs-cycle, .vs-cycle *')]
  .filter(node => !node.seen).length"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stepper")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in (CYCLE, SHOW)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}),
                   folder / "stepper.ipynb")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serve("voila", folder) as voila:
        yield voila


@pytest.fixture
def expected():
    """The same stepper, here."""
    names = {}
    exec(CYCLE, {"Cluster": Cluster}, names)
    return widgets.stepper(names["cluster"])


def count_messages(shown):
    """A list that grows by each message of a widget that the page receives."""
    received, session = [], shown.page.context.new_cdp_session(shown.page)
    session.on("Network.webSocketFrameReceived",
               lambda event: received.append(event["response"]["payloadData"]))
    session.send("Network.enable")
    return received


def test_two_hundred_steps_with_the_keyboard(browser, server, expected):
    assert expected.frame["last"] > STEPS
    with open_notebook(browser, server, "stepper.ipynb") as shown:
        page, received = shown.page, count_messages(shown)
        page.locator(".vs-cycle").focus()
        page.evaluate(TAG)
        repaints, keys = [], ["ArrowRight"] * (STEPS - 40) + ["ArrowLeft"] * 40
        for key in keys:
            repaints.append(shown.press(key, "the stepper", settle=30))
            frame, seen = expected.forward() if key == "ArrowRight" else expected.back(
            ), page.evaluate(SHOWN)
            assert seen["text"] == frame["text"] and seen["where"].startswith(
                f"step {frame['place']} of {frame['last']},")
            for row in frame["nodes"]:
                assert f"{row['name']}: idle {row['idle']}, used {row['used']}, " in seen["labels"][
                    1], frame["place"]
            for row in frame["jobs"]:
                assert f"{row['name']}: {row['placed']} of {row['pods']} placed" in seen["labels"][
                    2], frame["place"]
        assert max(repaint.collapse for repaint in repaints) <= COLLAPSE_PX
        assert page.evaluate(UNTAGGED) == 0, "steps change what is there, and make nothing new"
        assert count_of_states(received) == STEPS
        assert shown.complaints(repaints) == []


def count_of_states(received):
    """How many of the messages set something of a widget; Chromium shows binary ones in base 64."""
    texts = [
        base64.b64decode(text) if not text.startswith("{") else text.encode() for text in received
    ]
    return sum(b'"method"' in text for text in texts)


@pytest.mark.parametrize("house", ["lab", "voila"])
def test_keys_that_come_faster_than_answers_lose_no_step(house, browser, folder, expected):
    with serve(house, folder) as server, open_notebook(browser, server, "stepper.ipynb") as shown:
        page = shown.page
        page.locator(".vs-cycle").focus()
        for key, target in (("End", expected.frame["last"]), ("Home", 0), ("PageDown", 10)):
            page.keyboard.press(key)
            page.wait_for_function(
                f"document.querySelector('.vs-where').textContent.startsWith('step {target} of')")
        for _ in range(50):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "document.querySelector('.vs-where').textContent.startsWith('step 60 of')",
            timeout=60_000)
        page.wait_for_timeout(300)
        assert page.evaluate(SHOWN)["text"] == expected.goto(60)["text"]
        assert page.evaluate("document.activeElement.className"
                             ) == "vp vs-steps vs-cycle", "the page's own keys have not acted"
        assert shown.complaints() == []


def test_play_breakpoints_and_symptoms(browser, server, expected):
    with open_notebook(browser, server, "stepper.ipynb") as shown:
        page = shown.page
        page.locator(".vs-cycle").focus()
        page.get_by_label("steps/s").select_option("20")
        page.locator(".vs-cycle").focus()
        page.keyboard.press("Space")
        page.wait_for_function(AT_LEAST, arg=5)  # a busy page may not look at each step
        page.keyboard.press("Space")
        page.get_by_label("play", exact=True).wait_for()
        page.wait_for_function("__probe.settled()")  # the step that was on its way has come
        rests = page.evaluate(SHOWN)
        page.wait_for_timeout(300)
        assert page.evaluate(SHOWN) == rests, "space a second time holds it"

        field = page.get_by_label("stop at")
        for words in ("stop at pipeline", "stop at tea",
                      'overused where queue == "b" and not answer'):
            page.get_by_label("to the start").click()
            expected.goto(0)
            field.fill(words)
            field.press("Enter")
            frame = expected.stop_at(words)
            page.wait_for_function(
                "text => document.querySelector('.vs-said').textContent === text",
                arg=frame["said"])
            page.wait_for_function(
                "text => document.querySelector('.vs-text').textContent === text",
                arg=frame["text"])
        page.get_by_text("Symptoms, and where").click()
        symptoms = page.locator("details", has_text="Symptoms, and where")
        symptoms.get_by_label("what is seen").select_option("A queue is passed over")
        queue = symptoms.locator("label", has_text=re.compile("^queue"))
        assert queue.is_visible()
        symptoms.get_by_label("what is seen").select_option("Both sides of an admission")
        assert not queue.is_visible(), "it is one of a job"
        assert "Likely: the job's minimum is added" in symptoms.inner_text()
        symptoms.get_by_role("button", name="show").click()
        frame = expected.show("Both sides of an admission", expected.view.names["jobs"][0])
        page.wait_for_function("text => document.querySelector('.vs-text').textContent === text",
                               arg=frame["text"])
        below = symptoms.get_by_role("status")
        assert below.inner_text() == f"Step {frame['place']}: {frame['text']}", "where one looks"
        assert shown.complaints() == []


def test_the_statement_s_stepper_has_the_same_grammar(browser):
    lab = statement_stepper().show("a promise: evict, pipeline, commit")
    context = browser.new_context(viewport={"width": 960, "height": 800})
    shown = WidgetPage(context.new_page()).open()
    shown.show(lab, 920)
    page = shown.page
    text = page.locator(".vs-text")
    page.locator(".vs-statement").focus()
    for key, step in (("ArrowRight", 1), ("End", -1), ("ArrowLeft", -2), ("Home", 0)):
        page.keyboard.press(key)
        assert text.inner_text() == lab.frames[step]["text"], key
    page.locator(".vs-around li").nth(4).click()
    assert text.inner_text() == lab.frames[4]["text"]
    page.get_by_label("step", exact=True).fill("2")
    assert text.inner_text() == lab.frames[2]["text"]
    page.get_by_label("find", exact=True).fill("commit")
    page.get_by_role("button", name="find next").click()
    assert text.inner_text().startswith("commit: ")
    page.get_by_role("button", name="find previous").click()
    assert page.locator(".vs-said").inner_text() == 'nothing before this step says "commit".'
    page.locator(".vs-statement").focus()
    page.get_by_label("steps/s").select_option("20")
    page.locator(".vs-statement").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.wait_for_function(
        f"document.querySelector('.vs-text').textContent === {lab.frames[-1]['text']!r}")
    label = page.locator("svg").first.get_attribute("aria-label")
    assert label.startswith("The pods, by state") and shown.errors == []
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    context.close()
