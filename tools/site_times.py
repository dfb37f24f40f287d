"""Runs lessons of a built site in Chromium, with no network but the local server: times per lesson,
medians of some first visits, and what failed.

`python tools/site_times.py build/site 00 05 zh/05`; without numbers all notebooks. `--runs 3
--write` visits each three times and writes the table into docs/site.md. `--visitors 20` measures a
classroom instead: one browser opens a lesson, then so many visitors fetch at once what it fetched.
"""

import argparse
import os
import re
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from browser.page import PROBE, NotebookPage, find_chromium, open_browser  # noqa: E402
from browser.site import opened, served  # noqa: E402
from lite.app import megabytes  # noqa: E402

PAGE = ROOT / "docs" / "site.md"
SHOWN = re.compile(r"(?<=^```text\n)lesson .*?(?=^```)", re.MULTILINE | re.DOTALL)
COLUMNS = {"interface": "s", "kernel": "s", "first_cell": "s", "whole": "s", "slider": "ms",
           "before": "MB"}
ROW = "{:<38}{:>6}{:>11}{:>9}{:>12}{:>9}{:>8}{:>15}"
HEAD = ROW.format("lesson", "cells", "interface", "Python", "first cell", "whole", "slider",
                  "before cell 1")


def repaint(page):
    """Milliseconds that the first slider takes to repaint, the median, or None without a slider."""
    notebook = NotebookPage(page)
    if notebook.slider() is None:
        return None
    return statistics.median(move.first for move in notebook.move_slider(20))


def visited(browser, address, lesson):
    """Visit a lesson for the first time: (figures by column, its cells, what is wrong)."""
    visit = browser.new_context(viewport={"width": 1200, "height": 1000})
    visit.add_init_script(PROBE)
    with visit, opened(browser, address, lesson, context=visit) as reading:
        cells = reading.run()
        faults = [f"{lesson} {cell['id']}: {said}" for cell in cells
                  for said in (*cell["errors"], *cell["warnings"])]
        faults += [f"{lesson} asked for {url}" for url in reading.outside]
        figures = reading.seconds | {"slider": repaint(reading.page),
                                     "before": reading.fetched / 1e6}
    return figures, len(cells), faults


def classroom(browser, address, lesson, visitors):
    """A sentence: how long one browser takes to show a lesson's first lab, and how long the server
    needs until all visitors have what it fetched. Browsers keep six connections, so do visitors.
    """
    asked = []
    with browser.new_context() as visit:
        visit.on("response", lambda answer: asked.append(answer.url)
                 if answer.url.startswith(address) and answer.status == 200 else None)
        page, began = visit.new_page(), time.monotonic()
        page.goto(f"{address}/try/notebooks/index.html?path={lesson}")
        page.wait_for_selector(".jp-Notebook .vp :is(button, [role=slider])", timeout=300_000)
        alone, urls = time.monotonic() - began, list(dict.fromkeys(asked))

    def fetched(url):
        try:
            with urlopen(url) as answer:
                return len(answer.read())
        except HTTPError:  # the service worker answers it in a browser
            return 0

    def visitor(_):
        with ThreadPoolExecutor(6) as connections:
            size = sum(connections.map(fetched, urls))
        return time.monotonic() - began, size

    began = time.monotonic()
    with ThreadPoolExecutor(visitors) as room:
        took, sizes = zip(*room.map(visitor, range(visitors)), strict=True)
    return (f"{lesson}: one browser shows the first lab after {alone:.1f} s ({len(urls)} files, "
            f"{sizes[0] / 1e6:.1f} MB); {visitors} visitors at once have all files after "
            f"{max(took):.1f} s (the first after {min(took):.1f} s); cores: {os.cpu_count()}, "
            f"load: {os.getloadavg()[0]:.1f}")


def row(lesson, cells, visits):
    """A line of the table: medians."""
    found = []
    for column, unit in COLUMNS.items():
        seen = [each[column] for each in visits if each.get(column) is not None]
        figure = f"{statistics.median(seen):.{0 if unit == 'ms' else 1}f} {unit}" if seen else "-"
        found.append(figure)
    return ROW.format(lesson.removesuffix(".ipynb"), cells, *found)


def main():
    """Print a row per lesson; 1 where a cell failed or a request left the site."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("lessons", nargs="*", metavar="LESSON", help="00, 05 or zh/05")
    options.add_argument("--runs", type=int, default=1, help="first visits of each  [default: 1]")
    options.add_argument("--write", action="store_true", help=f"into {PAGE.relative_to(ROOT)}, too")
    options.add_argument("--visitors", type=int, help="visitors of a lesson at once")
    given = options.parse_args()
    files = given.folder / "try" / "files"
    names = [path.relative_to(files).as_posix() for path in sorted(files.rglob("*.ipynb"))
             if path.parent.name != "instructor"]
    lessons = [name for name in names if not given.lessons
               or name.removesuffix(".ipynb").partition("-")[0] in given.lessons]
    lines, faults = [HEAD], []
    with open_browser(find_chromium()) as browser, served(given.folder) as address:
        if given.visitors:
            for lesson in lessons:
                print(classroom(browser, address, lesson, given.visitors))
            return 0
        print(HEAD)
        for lesson in lessons:
            seen = []
            for _ in range(given.runs):
                figures, cells, wrong = visited(browser, address, lesson)
                seen.append(figures)
                faults += wrong
                print("".join(f"{fault}\n" for fault in wrong), end="", flush=True)
            lines.append(row(lesson, cells, seen))
            print(lines[-1], flush=True)
    lines += ["", f"{megabytes(given.folder):.1f} MB on the disk; first visits of each lesson: "
              f"{given.runs}, medians; cores: {os.cpu_count()}, load: {os.getloadavg()[1]:.1f}"]
    print(*lines[-2:], sep="\n")
    if given.write and not faults:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(SHOWN.sub("\n".join(lines) + "\n", text), encoding="utf-8")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
