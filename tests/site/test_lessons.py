"""A lesson of the built site, in a Chromium whose network ends at the local server.

$SITE_LESSONS names other lessons by their numbers and asks for the visit without a network;
`make site-test` runs all lessons of a site that is built already.
"""

import os
import time

import pytest

from browser.site import KERNEL_IDLE, opened, served

HEADING = "2. Limits come down the tree"
NUMBERS = os.environ.get("SITE_LESSONS", "00 05 12").split()
ALL_KEPT = """async () => {
    const names = await (await fetch("../../files.json")).json();
    const kept = (await caches.keys()).find((name) => name.startsWith("volcano-lab-"));
    const found = kept ? await (await caches.open(kept)).keys() : [];
    return found.length >= names.length;
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_lesson_runs_whole_and_asks_no_other_server(number, site, browser):
    lessons = site / "try" / "files"
    lesson = next(lessons.glob(f"{number}-*.ipynb")).relative_to(lessons).as_posix()
    with served(site) as address, opened(browser, address, lesson) as reading:
        cells = reading.run()
        assert [cell for cell in cells if cell["errors"] or cell["warnings"]] == []
        assert len(cells) >= 6 and all(cell["ran"] for cell in cells)
        assert reading.outside == []


asked_for = pytest.mark.skipif(
    "SITE_LESSONS" not in os.environ,
    reason="takes some minutes; $SITE_LESSONS asks for it, as the workflow does")


@asked_for
def test_a_link_opens_a_lesson_at_a_heading_and_the_other_language_is_beside_it(site, browser):
    lesson = f"05-capacity-and-the-queue-tree.ipynb#{HEADING.replace(' ', '-')}"
    with served(site) as address, opened(browser, address, lesson) as reading:
        reading.page.wait_for_function(f"""() => {{
            const at = [...document.querySelectorAll(".jp-Notebook h2")].find(
                (each) => each.textContent.startsWith("{HEADING}"))?.getBoundingClientRect();
            return at && at.top >= 0 && at.top < innerHeight / 2;
        }}""", timeout=60_000)
        reading.page.get_by_role("link", name="中文").click()
        reading.page.wait_for_selector(".jp-Notebook h1:has-text('层级队列')", timeout=60_000)
        assert reading.outside == []


@asked_for
def test_a_link_carries_a_labs_state(site, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    lesson = "00-fair-share.ipynb"
    with served(site) as address:
        with opened(browser, address, lesson, context=context) as reading:
            reading.run()
            before, moved, link = _moved_and_copied(reading.page)
        assert before != moved
        with opened(browser, address, lesson + link, context=context) as reading:
            reading.run()
            handle = reading.page.locator(".noUi-handle").first
            reading.page.wait_for_function(
                f"(handle) => handle.getAttribute('aria-valuenow') === '{moved}'",
                arg=handle.element_handle(), timeout=30_000)
    context.close()


def _moved_and_copied(page):
    """Move the first lab's first slider; its value before and after, and what the link ends in."""
    handle = page.locator(".noUi-handle").first
    handle.scroll_into_view_if_needed()
    before = handle.get_attribute("aria-valuenow")
    handle.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1000)
    moved = handle.get_attribute("aria-valuenow")
    page.get_by_text("copy ▾").first.click()
    page.get_by_role("button", name="copy link").first.click()
    page.wait_for_timeout(500)
    return before, moved, "#" + page.evaluate("navigator.clipboard.readText()").partition("#")[2]


@asked_for
def test_a_later_visit_needs_no_network_and_finds_the_readers_work(site, browser):
    context = browser.new_context()
    with served(site) as address:
        with opened(browser, address, "00-fair-share.ipynb", context=context) as reading:
            reading.page.wait_for_selector(".lesson-links")
            reading.page.evaluate("""async () => {
                const panel = window.jupyterapp.shell.currentWidget;
                panel.content.model.cells.get(0).sharedModel.setSource("# My own title");
                await panel.context.save();
            }""")
            until = time.monotonic() + 300
            while not reading.page.evaluate(ALL_KEPT):
                assert time.monotonic() < until, "not all files are kept after 300 s"
                reading.page.wait_for_timeout(1000)
        closed = address
    with opened(browser, closed, "00-fair-share.ipynb", context=context) as reading:
        title = reading.page.locator(".jp-Notebook h1").first
        assert "My own title" in title.inner_text()
        reading.page.on("dialog", lambda dialog: dialog.accept())
        reading.page.get_by_role("button", name="Reset this lesson").click()
        reading.page.wait_for_function(
            "document.querySelector('.jp-Notebook h1')?.innerText.startsWith('Fair share')",
            timeout=300_000)
        reading.page.wait_for_function(KERNEL_IDLE, timeout=300_000)
    context.close()
