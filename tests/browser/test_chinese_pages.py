"""Every Chinese page as it is stored, at the width of a notebook and of a telephone: no text in
Chinese runs out of its cell, and a picture of the page stands in `build/screenshots`.
"""

import os
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "notebooks" / "zh").glob("*.ipynb"))
WIDTHS = (1280, 390)

OVERFLOWS = r"""() => {
  const edge = (node) => Math.min(innerWidth, node.getBoundingClientRect().right) + 1;
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, node = text.parentElement;
    const cell = node.closest(".jp-Cell");
    if (!/[\u4e00-\u9fff、，]/.test(text.data) || !cell
        || node.closest("script, style, svg, code, pre, table, .jp-InputArea .highlight")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if ([...range.getClientRects()].some((line) => line.width && line.right > edge(cell))) {
      found.push(text.data.trim().slice(0, 60));
    }
  }
  return found;
}"""
"""Texts that end right of their cell or the window. Code and tables scroll, what joins them not."""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shown(browser):
    """`shown(notebook, width)` is a page without a network."""
    context = browser.new_context()
    context.route("http*://**", lambda route: route.abort())
    page, exporter = context.new_page(), HTMLExporter(template_name="lab")

    def show(notebook, width):
        page.set_viewport_size({"width": width, "height": 900})
        page.set_content(exporter.from_notebook_node(notebook)[0], wait_until="domcontentloaded")
        return page

    yield show
    context.close()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_text_runs_out_of_its_cell(path, shown):
    page, found = shown(nbformat.read(path, 4), WIDTHS[0]), {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if not os.environ.get("CI"):  # where no one looks at it
            page.screenshot(path=ROOT / "build" / "screenshots" / f"zh-{path.stem}-{width}.png",
                            full_page=True)
        found[width] = page.evaluate(OVERFLOWS)
    assert found == {width: [] for width in WIDTHS}


@pytest.mark.parametrize("width", WIDTHS)
def test_a_list_without_a_place_to_break_is_found(width, shown):
    wide = "、".join(f"`node/n{number}.labels.zone`" for number in range(60))
    cells = [new_markdown_cell("短句。"), new_markdown_cell(wide.replace("、", "\u2060、\u2060"))]
    assert shown(new_notebook(cells=cells), width).evaluate(OVERFLOWS)
