"""The panel about a cluster of one's own, as a notebook shows it."""

import sys
from pathlib import Path

import pytest
from widget_page import WidgetPage

from volcano_lab.widgets.ask import open as open_panel

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
from forty_nodes import forty_gpu_nodes  # noqa: E402

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [390, 1280])
def test_a_waiting_job_is_explained_and_a_change_is_shown(browser, tmp_path, width):
    file = tmp_path / "cluster.yaml"
    file.write_text(forty_gpu_nodes(), encoding="utf-8")
    shown = WidgetPage(browser.new_page(viewport={"width": width + 30, "height": 900})).open()
    place = shown.show(open_panel(str(file)), width)
    place.locator(".vq-change").first.wait_for(timeout=60_000)
    assert place.locator(".vq-job").count() == 5 and place.locator(".vq-node").count() == 40
    place.locator(".vq-job").nth(1).click()
    place.locator(".vq-job[aria-current]", has_text=place.locator(
        ".vq-answer h3").first.inner_text()).wait_for(timeout=60_000)
    place.locator(".vq-change").first.click()
    place.locator(".vq-tried tbody tr").first.wait_for(timeout=60_000)
    assert place.locator(".vq-changed").count() or place.locator(".vq-tried td").count()
    place.locator(".vq-lab .vp-lab [role=slider]").first.wait_for(timeout=60_000)
    place.locator(".vq-lab .vp-lab [role=slider]").first.focus()
    shown.page.keyboard.press("ArrowRight")
    place.locator(".vq-moved dd").nth(1).wait_for(timeout=60_000)
    assert "--set" in place.locator(".vq-moved code").inner_text()
    wide = shown.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width + 30 and shown.errors == []
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=str(folder / f"ask-panel-{width}.png"), full_page=True)
