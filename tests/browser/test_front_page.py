"""The front page: its picture shows what the scheduler decides, without a kernel and a request."""

import functools
import http.server
import sys
import threading
from pathlib import Path

import pytest

from volcano_lab import Cluster

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs")]
import front  # noqa: E402

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front")
    front.write(folder, site=False)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def decided(weights):
    """What each queue deserves, in CPUs, by a cycle of its own."""
    cluster = Cluster().node("n1", cpu=100)
    for queue, weight in zip(front.QUEUES, weights, strict=True):
        cluster.queue(queue["name"], weight=weight).job(
            queue["job"], queue=queue["name"], pods=queue["pods"], cpu=queue["pod"],
            min_member=queue["least"])
    return [f"{row['deserved']['cpu']:.1f}".removesuffix(".0") for row in cluster.run().queues()]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_weight_that_is_moved_is_decided_as_the_scheduler_does(browser, address, width):
    asked, errors = [], []
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    sliders = page.locator(".knob input")
    for at, weight in enumerate((3, 2, 5)):
        sliders.nth(at).fill(str(weight))
    assert page.locator(".top b").all_inner_texts() == decided((3, 2, 5))
    assert "Queue b deserves" in page.locator("#say").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not errors and all(url.startswith(address) for url in asked)
    page.close()
