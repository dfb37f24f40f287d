"""What a reader of the site sees first: the lesson's title before its interface, and a lab that
runs by itself; pages that were kept, without a network.
"""

import pytest

from browser.site import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LESSON = "try/notebooks/index.html?path=00-fair-share.ipynb"
CONTROLLED = """() => new Promise((resolve) => navigator.serviceWorker.controller ? resolve()
    : navigator.serviceWorker.addEventListener("controllerchange", () => resolve()))"""
KEPT = """async () => {
    const wanted = (await (await fetch("files.json")).json()).filter((name) =>
        name.startsWith("try/static/pyodide/") || !name.startsWith("try/"));
    for (let tried = 0; tried < 600; tried++) {
        const name = (await caches.keys()).find((each) => each.startsWith("volcano-lab-"));
        const kept = name ? await (await caches.open(name)).keys() : [];
        const there = new Set(kept.map(({url}) => url));
        if (wanted.every((name) => there.has(new URL(name, location.href).href))) return true;
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return false;
}"""
"""Whether all that the page keeps for times without a network is kept."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_lesson_shows_its_title_at_once_and_runs_its_first_lab(site, browser, theme):
    context = browser.new_context(color_scheme=theme)
    with served(site) as address:
        page = context.new_page()
        page.goto(f"{address}/{LESSON}", wait_until="commit")
        page.wait_for_selector("#first h1:not(:empty)", timeout=30_000)
        assert page.locator("#first h1").inner_text().startswith("Fair share")
        page.wait_for_selector(".jp-Notebook .vp :is(button, [role=slider])", timeout=180_000)
        assert page.locator("#first").count() == 0
        page.wait_for_selector(
            f"body[data-jp-theme-light={str(theme == 'light').lower()}]", state="attached")
    context.close()


def test_the_page_that_asks_works_without_a_network_after_a_visit(site, browser):
    context = browser.new_context()
    with served(site) as address:
        page = context.new_page()
        page.goto(f"{address}/ask.html")
        page.evaluate(CONTROLLED)
        page.goto(f"{address}/ask.html#file=forty-gpu-nodes.yaml")
        page.wait_for_selector(".vq-change", timeout=180_000)
        assert page.evaluate(KEPT)
    again = context.new_page()  # the server is gone
    again.goto(f"{address}/ask.html#file=forty-gpu-nodes.yaml")
    again.wait_for_selector(".vq-change", timeout=180_000)
    context.close()
