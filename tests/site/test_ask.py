"""The page "Ask about your cluster" of the built site: a file that is chosen is answered, and no
byte of it leaves the page.
"""

import json
import sys
from pathlib import Path

import pytest

from browser.site import served
from volcano_lab.widgets.questions import Questions

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
from forty_nodes import forty_gpu_nodes  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.slow]
REFUSED = """() => new Promise((resolve) => {
    addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
    fetch("http://localhost:9/").catch(() => {});
})"""


@pytest.fixture
def visit(site, browser):
    """A page of the site, its address, and what was asked for."""
    asked = []
    with served(site) as address:
        context = browser.new_context()
        context.on("request", lambda request: asked.append(request))
        yield context.new_page(), address, asked
        context.close()


def test_a_file_is_answered_and_nothing_leaves_the_page(visit, tmp_path):
    page, address, asked = visit
    file = tmp_path / "cluster.yaml"
    file.write_text(forty_gpu_nodes(), encoding="utf-8")
    page.goto(f"{address}/ask.html")
    page.set_input_files("#file", str(file))
    page.wait_for_selector("#after:not([hidden]) .vq-change", timeout=120_000)
    questions = Questions()
    cluster = json.loads(questions.answer(json.dumps({"ask": "open", "files": [str(file)]})))
    shown = page.locator(".vq-job b").all_inner_texts()
    assert shown == [row["job"] for row in cluster["waiting"]]
    found = json.loads(questions.answer(json.dumps({"ask": "why", "job": shown[0]})))
    assert page.locator(".vq-first").inner_text() == found["head"]
    assert page.locator(".vq-node").count() == 40
    page.locator(".vq-change").first.click()
    page.wait_for_selector(".vq-tried table tbody tr", timeout=60_000)
    page.wait_for_selector(".vq-lab .vp-lab", timeout=60_000)
    page.locator(".vq-lab [role=slider]").first.press("ArrowLeft")
    page.wait_for_selector(".vq-moved dd", timeout=60_000)
    assert {request.method for request in asked} == {"GET"}
    assert not [request.url for request in asked
                if not request.url.startswith((address, "blob:", "data:"))]
    assert page.evaluate(REFUSED) == "connect-src"


def test_a_file_that_cannot_be_read_is_named_beside_the_drop(visit, tmp_path):
    page, address, _ = visit
    file = tmp_path / "broken.yaml"
    file.write_text("kind: [", encoding="utf-8")
    page.goto(f"{address}/ask.html")
    page.set_input_files("#file", str(file))
    page.wait_for_selector("#fault:not([hidden])", timeout=120_000)
    assert "broken.yaml" in page.locator("#fault").inner_text()
    assert page.locator("#drop").is_visible()
