"""Runs lessons of a built site in Chromium, with no network but the local server: a row of times
per lesson, with the median of 20 moves of its first slider, then what failed.

`python tools/site_times.py build/site 00 05 zh/05`; without numbers all notebooks.
"""

import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from browser.page import PROBE, NotebookPage, find_chromium, open_browser  # noqa: E402
from browser.site import opened, served  # noqa: E402


def repaint(page):
    """How long the first slider takes to repaint, or a dash where there is none."""
    notebook = NotebookPage(page)
    if notebook.slider() is None:
        return "-"
    return f"{statistics.median(move.first for move in notebook.move_slider(20)):.0f} ms"


def main(folder, *numbers):
    """Print a row per lesson; 1 where a cell failed or a request left the site."""
    files = Path(folder, "try", "files")
    names = [path.relative_to(files).as_posix() for path in sorted(files.rglob("*.ipynb"))
             if path.parent.name != "instructor"]
    lessons = [name for name in names
               if not numbers or name.removesuffix(".ipynb").partition("-")[0] in numbers]
    faults = []
    print("| lesson | cells | interface | Python | first cell | whole | slider |")
    print("|---|---|---|---|---|---|---|")
    with open_browser(find_chromium()) as browser, served(folder) as address:
        for lesson in lessons:
            visit = browser.new_context(viewport={"width": 1200, "height": 1000})
            visit.add_init_script(PROBE)
            with visit, opened(browser, address, lesson, context=visit) as reading:
                cells = reading.run()
                wrong = [f"{lesson} {cell['id']}: {said}" for cell in cells
                         for said in (*cell["errors"], *cell["warnings"])]
                faults += wrong + [f"{lesson} asked for {url}" for url in reading.outside]
                times = " | ".join(f"{reading.seconds.get(name, 0):.1f} s" for name in
                                   ("interface", "kernel", "first_cell", "whole"))
                print(f"| {lesson.removesuffix('.ipynb')} | {len(cells)} | {times} "
                      f"| {repaint(reading.page)} |", flush=True)
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
