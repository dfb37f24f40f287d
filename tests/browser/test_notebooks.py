"""Every notebook as a reader meets it: in JupyterLab and in Voila, in a real Chromium, with no network."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(str(path.relative_to(ROOT / "notebooks")) for path in (ROOT / "notebooks").glob("**/*.ipynb")
                   if ".ipynb_checkpoints" not in path.parts)
MOVES = 12

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize("house", ["lab", "voila"])
def test_notebook_runs_and_its_first_slider_repaints(house, notebook, request):
    with request.getfixturevalue(f"{house}_page")(notebook) as shown:
        assert shown.complaints() == []
        repaints = shown.move_slider(MOVES) if shown.slider() else []
        shown.screenshot(ROOT / "build" / "screenshots" / f"{Path(notebook).stem}-{house}.png")
        assert shown.complaints(repaints) == []
