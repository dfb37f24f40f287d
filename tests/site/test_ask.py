"""The page "Ask about your cluster" of the built site: a file that is chosen is answered, and no
byte of it leaves the page.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from exports import EXPORTS

from browser.site import served
from volcano_lab import dump
from volcano_lab.widgets.questions import Questions

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
from forty_nodes import forty_gpu_nodes  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.slow]
REFUSED = """() => new Promise((resolve) => {
    addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
    fetch("http://localhost:9/").catch(() => {});
})"""
ANSWERED = "(job) => document.querySelector('.vq-answer h3')?.innerText === job"


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


def command(name, file, *words):
    """What a command answers, as plain data."""
    words = [sys.executable, "-m", "volcano_lab.cli", name, str(file), *words, "-o", "json"]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_has_the_jobs_queues_and_answers_of_the_commands(visit, tmp_path, name):
    page, address, asked = visit
    file = tmp_path / f"{name}.yaml"
    file.write_text(dump(EXPORTS[name]()), encoding="utf-8")
    page.goto(f"{address}/ask.html")
    page.set_input_files("#file", str(file))
    page.wait_for_selector(".vq-lab .vp-lab", timeout=240_000)
    chips = page.locator(".vq-job")
    jobs = [chip.locator("b").inner_text() for chip in chips.all()]
    assert sorted(jobs) == sorted(job for group in command("why", file, "--all")["waiting"]
                                  for job in group["jobs"])
    for chip, job in zip(chips.all(), jobs, strict=True):
        chip.click()
        page.wait_for_function(ANSWERED, arg=job, timeout=240_000)
        found = page.locator(".vq-answer > p:not(.vq-busy)").all_inner_texts()
        output = command("why", file, job)
        assert found[0] in output["text"]
        assert {cause["text"] for cause in output["causes"] if cause["text"]} <= {*found}
    tree = page.locator(".vq-lab").inner_text()
    assert all(row["queue"] in tree for row in command("run", file)["jobs"])
    assert not [request.url for request in asked
                if not request.url.startswith((address, "blob:", "data:"))]


def test_a_file_that_cannot_be_read_is_named_beside_the_drop(visit, tmp_path):
    page, address, _ = visit
    file = tmp_path / "broken.yaml"
    file.write_text("kind: [", encoding="utf-8")
    page.goto(f"{address}/ask.html")
    page.set_input_files("#file", str(file))
    page.wait_for_selector("#fault:not([hidden])", timeout=120_000)
    assert "broken.yaml" in page.locator("#fault").inner_text()
    assert page.locator("#drop").is_visible()
