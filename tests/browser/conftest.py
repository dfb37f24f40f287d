"""Fixtures that open notebooks in a real Chromium; skipped, with the reason, where there is none
(never in CI).
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.page import VIEW, find_chromium, open_browser, open_notebook
from browser.servers import serve

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
expect.set_options(timeout=60_000)  # milliseconds: a busy machine is slow

# Module scope, not session: while Playwright runs, its event loop would be in the way of other
# tests of this process.


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    executable = find_chromium()
    if executable is None:
        sentence = ("no Chromium on this machine: install it (tests/browser/install-chromium.sh) "
                    "or name it in $CHROMIUM")
        pytest.fail(sentence) if os.environ.get("CI") else pytest.skip(sentence)
    with open_browser(executable) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def servers(browser):
    """{"lab": a JupyterLab, "voila": a Voila}, both on the project's notebooks."""
    with serve("lab", NOTEBOOKS) as lab, serve("voila", NOTEBOOKS) as voila:
        yield {"lab": lab, "voila": voila}


@pytest.fixture(scope="module")
def visit(browser):
    """A visit of a reader who opens notebook after notebook: their browser keeps the scripts."""
    with browser.new_context(viewport=VIEW) as context:
        yield context


@pytest.fixture
def lab_page(browser, servers, visit):
    """`lab_page(notebook)` opens it in JupyterLab, runs all, and gives its NotebookPage as a
    context.
    """
    return lambda notebook: open_notebook(browser, servers["lab"], notebook, context=visit)


@pytest.fixture
def voila_page(browser, servers, visit):
    """`voila_page(notebook)` shows it in Voila, and gives its NotebookPage as a context."""
    return lambda notebook: open_notebook(browser, servers["voila"], notebook, context=visit)
