"""A lesson of the built site, in a Chromium whose network ends at the local server.

$SITE_LESSONS names other lessons by their numbers; `make site-test` runs all of a site that is
built already.
"""

import os

import pytest

from browser.site import opened, served

NUMBERS = os.environ.get("SITE_LESSONS", "00").split()

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_lesson_runs_whole_and_asks_nobody_else(number, site, browser):
    lesson = next(path.name for path in (site / "try" / "files").glob(f"{number}-*.ipynb"))
    with served(site) as address, opened(browser, address, lesson) as reading:
        cells = reading.run()
        assert [cell for cell in cells if cell["errors"] or cell["warnings"]] == []
        assert len(cells) >= 10 and all(cell["ran"] for cell in cells)
        assert reading.outside == []
