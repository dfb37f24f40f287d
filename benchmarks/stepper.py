"""From the key press to the repaint in the stepper, against an empty callback, in one run.

`python benchmarks/stepper.py [--house lab|voila] [--steps N] [--limit RATIO] [--pods N]` opens both
notebooks in one Chromium, and presses arrow keys in turns: in the stepper of a cycle that places so
many pods (two steps each), and on a slider whose callback sets a label's text and does nothing else
(`benchmarks/slider.py`). Ends with 1 where the ratio of the medians is above the limit.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table
from slider import KERNEL, TURN, WARM_UP, write_floor

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.page import find_chromium, open_browser, open_notebook  # noqa: E402
from browser.servers import serve  # noqa: E402

STEPPER = """
from volcano_lab import Cluster, widgets
cluster = Cluster()
for number in range(100):
    cluster.node(f"n{{number:03}}", cpu=128, memory="512Gi", pods=200)
for number in range({pods} // 50):
    cluster.queue(f"q{{number % 8}}").job(
        f"j{{number:03}}", queue=f"q{{number % 8}}", pods=50, cpu=1, memory="1Gi")
widgets.stepper(cluster)
"""
SETTLE = 100  # milliseconds for which the page is watched after the first change


def measure(house, pods, steps):
    """Milliseconds of each step: ([first change], [last change]) by name, and how many steps the
    cycle has.
    """
    times = {"an empty callback": ([], []), "the stepper": ([], [])}
    with tempfile.TemporaryDirectory() as folder:
        write_floor(Path(folder, "floor.ipynb"))
        cells = [nbformat.v4.new_code_cell(STEPPER.format(pods=pods))]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}),
                       Path(folder, "stepper.ipynb"))
        with (
            open_browser(find_chromium()) as browser,
            serve(house, folder) as server,
            open_notebook(browser, server, "floor.ipynb") as floor,
            open_notebook(browser, server, "stepper.ipynb") as subject,
        ):
            floor.slider()
            subject.page.locator(".vs-cycle").focus()
            moves = {
                "an empty callback":
                lambda count: floor.move_slider(count, SETTLE), "the stepper":
                lambda count:
                [subject.press("ArrowRight", "the stepper", SETTLE) for _ in range(count)]
            }
            pages = {"an empty callback": floor, "the stepper": subject}
            for name, move in moves.items():
                pages[name].page.bring_to_front()
                move(WARM_UP)
            while len(times["the stepper"][0]) < steps:
                for name, move in moves.items():
                    pages[name].page.bring_to_front()
                    for repaint in move(TURN):
                        times[name][0].append(repaint.first)
                        times[name][1].append(repaint.last)
            there = subject.page.locator(".vs-where").inner_text()
    return times, there


def main():
    """Measure, print a table, and say whether the limit is kept."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--house", choices=["lab", "voila"], default="lab")
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--pods", type=int, default=5000)
    options.add_argument("--limit", type=float, default=2.0)
    given = options.parse_args()
    if find_chromium() is None:
        print(
            "stepper.py: skipped, there is no Chromium on this machine "
            "(tests/browser/install-chromium.sh)"
        )
        return 0

    times, there = measure(given.house, given.pods, given.steps)
    table = Table(title=f"Key press to repaint, {given.house}, ms; at the end: {there}",
                  title_justify="left")
    for heading in ("what", "moves", "first change, median", "last change, median", "90 % within",
                    "slowest"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for name, (first, last) in times.items():
        table.add_row(name, str(len(last)), f"{statistics.median(first):.1f}",
                      f"{statistics.median(last):.1f}",
                      f"{statistics.quantiles(last, n=10)[-1]:.1f}", f"{max(last):.1f}")
    Console(width=110).print(table)
    floor = statistics.median(times["an empty callback"][1])
    within = {
        name: 100 * sum(each <= given.limit * floor
                        for each in last) / len(last)
        for name, (_, last) in times.items()
    }
    ratio = statistics.median(times["the stepper"][1]) / floor
    print(
        f"ratio {ratio:.2f}, limit {given.limit}; within {given.limit:g} times the floor's median:",
        ", ".join(f"{part:.0f} % of {name}" for name, part in within.items()))
    return int(ratio > given.limit)


if __name__ == "__main__":
    sys.exit(main())
