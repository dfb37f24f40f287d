"""From the key press on a slider to the repaint: a notebook's first slider against an empty
callback, in one run.

`python benchmarks/slider.py [NOTEBOOK] [--house lab|voila] [--moves N] [--limit RATIO]` opens both
notebooks in one Chromium, from one server, and moves their sliders in turns. The empty callback
sets a label's text and does nothing else: nothing that asks the kernel can be faster. What counts
is the last change of what is shown, so a chart that follows later than its table counts in full.
Ends with 1 where the ratio of the medians is above the limit.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.page import find_chromium, open_browser, open_notebook  # noqa: E402
from browser.servers import serve  # noqa: E402

FLOOR = """
import ipywidgets
slider, label = ipywidgets.IntSlider(5, 0, 10), ipywidgets.Label("5")
slider.observe(lambda change: setattr(label, "value", str(change.new)), "value")
ipywidgets.VBox([slider, label])
"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language":
          "python"}  # without it JupyterLab asks
TURN = 10  # moves before the other notebook has its turn
WARM_UP = 3


def write_floor(path):
    """Write the notebook with the empty callback."""
    cells = [nbformat.v4.new_code_cell(FLOOR)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)


def measure(house, notebook, moves):
    """Milliseconds of each move: ([first change], [last change]) by name, "floor" and "notebook".
    """
    times = {"floor": ([], []), "notebook": ([], [])}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(notebook.parent, folder, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(".*"))
        write_floor(Path(folder, "floor.ipynb"))
        with (
            open_browser(find_chromium()) as browser,
            serve(house, folder) as server,
            open_notebook(browser, server, "floor.ipynb") as floor,
            open_notebook(browser, server, notebook.name) as subject,
        ):
            shown = {"floor": floor, "notebook": subject}
            for name, page in shown.items():
                if page.slider() is None:
                    raise SystemExit(
                        f"{notebook if name == 'notebook' else 'the floor'}: no slider was found")
                page.move_slider(WARM_UP)
            while len(times["notebook"][0]) < moves:
                for name, page in shown.items():
                    page.page.bring_to_front()
                    for repaint in page.move_slider(TURN):
                        times[name][0].append(repaint.first)
                        times[name][1].append(repaint.last)
    return times


def main():
    """Measure, print a table, and say whether the limit is kept."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("notebook", nargs="?", type=Path,
                         default=ROOT / "notebooks" / "00-fair-share.ipynb")
    options.add_argument("--house", choices=["lab", "voila"], default="lab")
    options.add_argument("--moves", type=int, default=60)
    options.add_argument("--limit", type=float, default=1.5)
    given = options.parse_args()
    if not given.notebook.is_file():
        raise SystemExit(f"notebook: {given.notebook} is not a file")
    if find_chromium() is None:
        print(
            "slider.py: skipped, there is no Chromium on this machine "
            "(tests/browser/install-chromium.sh)"
        )
        return 0

    times = measure(given.house, given.notebook.resolve(), given.moves)
    table = Table(title=f"Key press to repaint, {given.house}, ms", title_justify="left")
    for heading in ("slider", "moves", "first change, median", "last change, median",
                    "90 % within"):
        table.add_column(heading, justify="left" if heading == "slider" else "right")
    for name, (first, last) in times.items():
        ninety = statistics.quantiles(last, n=10)[-1]
        table.add_row("an empty callback" if name == "floor" else given.notebook.name, str(
            len(last)), f"{statistics.median(first):.1f}", f"{statistics.median(last):.1f}",
                      f"{ninety:.1f}")
    Console(width=110).print(table)
    ratio = statistics.median(times["notebook"][1]) / statistics.median(times["floor"][1])
    print(f"ratio {ratio:.2f}, limit {given.limit}")
    return int(ratio > given.limit)


if __name__ == "__main__":
    sys.exit(main())
