"""From the key press on a control to the repaint: every lab against an empty callback, in one run.

`python benchmarks/slider.py [NOTEBOOK...] [--house lab|voila] [--moves N] [--limit RATIO]` opens
the notebooks (without one: all lessons that have a lab) in one Chromium, from one server, and moves
the first slider of each lab, or its first menu, in turns with that of the empty callback. That sets
a label's text and does nothing else: nothing that asks the kernel can be faster. What counts is the
last change of what is shown, so a picture that follows later than its table counts in full. Ends
with 1 where a ratio of the medians is above the limit.
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


LABS = ".vp-lab"


def write_floor(path):
    """Write the notebook with the empty callback."""
    cells = [nbformat.v4.new_code_cell(FLOOR)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)


def measure(house, notebooks, moves):
    """Yield (notebook, title of the lab, its repaints, those of the empty callback) by lab."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(notebooks[0].parent, folder, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(".*"))
        write_floor(Path(folder, "floor.ipynb"))
        with (
            open_browser(find_chromium()) as browser,
            serve(house, folder) as server,
            open_notebook(browser, server, "floor.ipynb") as floor,
        ):
            for notebook in notebooks:
                with open_notebook(browser, server, notebook.name) as shown:
                    labs = shown.page.locator(LABS)
                    for place in range(labs.count()):
                        where = f":nth-match({LABS}, {place + 1})"
                        title = labs.nth(place).locator("h4").inner_text()
                        yield notebook.name, title, *compare(floor, shown, where, moves)


def compare(floor, shown, where, moves):
    """Move a lab and the empty callback in turns; ([repaint], [repaint])."""
    turns = (shown, where, []), (floor, "body", [])
    for page, within, _ in turns:
        page.page.bring_to_front()
        page.move_slider(WARM_UP, within=within)
    while len(turns[0][2]) < moves:
        for page, within, seen in turns:
            page.page.bring_to_front()
            seen += page.move_slider(TURN, within=within)
    return turns[0][2], turns[1][2]


def main():
    """Measure, print a table, and say whether the limit is kept."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("notebooks", nargs="*", type=Path)
    options.add_argument("--house", choices=["lab", "voila"], default="lab")
    options.add_argument("--moves", type=int, default=60)
    options.add_argument("--limit", type=float, default=1.5)
    given = options.parse_args()
    notebooks = given.notebooks or [
        path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
        if "_lab()" in path.read_text(encoding="utf-8")]
    for notebook in notebooks:
        if not notebook.is_file():
            raise SystemExit(f"notebook: {notebook} is not a file")
    if find_chromium() is None:
        print("slider.py: skipped, there is no Chromium on this machine "
              "(tests/browser/install-chromium.sh)")
        return 0

    table = Table(title=f"Key press to repaint, {given.house}, ms: medians", title_justify="left")
    for heading in ("lab", "moves", "first change", "last change", "90 % within",
                    "an empty callback", "ratio"):
        table.add_column(heading, justify="left" if heading == "lab" else "right")
    ratios = []
    for notebook, title, seen, least in measure(given.house, notebooks, given.moves):
        last, floor = ([repaint.last for repaint in each] for each in (seen, least))
        ratios.append(statistics.median(last) / statistics.median(floor))
        first = statistics.median(repaint.first for repaint in seen)
        figures = (first, statistics.median(last), statistics.quantiles(last, n=10)[-1],
                   statistics.median(floor))
        table.add_row(f"{notebook[:2]} {title}", str(len(seen)),
                      *(f"{figure:.1f}" for figure in figures), f"{ratios[-1]:.2f}")
        print(f"{notebook}: {title}: ratio {ratios[-1]:.2f}", flush=True)
    Console(width=110).print(table)
    if not ratios:
        raise SystemExit("no lab was found in these notebooks")
    print(f"largest ratio {max(ratios):.2f}, limit {given.limit}")
    return int(max(ratios) > given.limit)


if __name__ == "__main__":
    sys.exit(main())
