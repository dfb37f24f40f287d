"""Every notebook as a reader meets it: in JupyterLab and in Voila, in a real Chromium, with no network."""

import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(str(path.relative_to(ROOT / "notebooks")) for path in (ROOT / "notebooks").glob("**/*.ipynb")
                   if ".ipynb_checkpoints" not in path.parts)  # fmt: skip
MOVES = 12
COLLAPSE_PX = 8  # rounding of heights; a cleared output collapses by far more
LIMIT_MS = 400  # an eye's patience on a busy machine; benchmarks/slider.py holds the ratio to an empty callback


@pytest.mark.browser
@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize("house", ["lab", "voila"])
def test_notebook_runs_and_its_first_slider_repaints(house, notebook, request):
    open_page = request.getfixturevalue(f"{house}_page")
    with open_page(notebook) as shown:
        assert shown.failures() == []
        repaints = shown.move_slider(MOVES) if shown.slider() else []
        shown.screenshot(ROOT / "build" / "screenshots" / f"{Path(notebook).stem}-{house}.png")

        flicker = [repaint.collapse for repaint in repaints if repaint.collapse > COLLAPSE_PX]
        assert not flicker, f"outputs collapsed by {flicker} px while a slider moved"
        if repaints:
            assert statistics.median(repaint.last for repaint in repaints) < LIMIT_MS
        assert shown.failures() == []
        assert shown.outside == [], "requests outside the machine"
        assert shown.errors == [], "exceptions of the page's scripts"
