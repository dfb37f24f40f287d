"""Every notebook as a reader meets it: in JupyterLab, some in Voila, two in Notebook 7, in a real
Chromium, with no network.
"""

from pathlib import Path

import pytest

from browser.page import open_notebook, violations
from browser.servers import serve

ROOT = Path(__file__).parents[2]
CHINESE = ("01", "12")
"""Lessons that are opened in Chinese, too: their code is that of the English ones."""
VOILA = ("st", "06", "12", "13", "17")
"""One lesson for each kind of widget: lab, stepper, cells to fill in, own files, riddles."""

NOTEBOOKS = sorted(
    str(path.relative_to(ROOT / "notebooks"))
    for path in (ROOT / "notebooks").glob("**/*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
    and (path.parent.name != "zh" or path.name[:2] in CHINESE))
MOVES = 4
OURS = (".jp-RenderedHTMLCommon", ".vp-lab", ".vl-live")
"""What a lesson puts on the page: text and results, labs, questions."""

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("house", "notebook"), [
    *(("lab", name) for name in NOTEBOOKS),
    *(("voila", name) for name in NOTEBOOKS if name[:2] in VOILA and name[2] != "c"),
])
def test_notebook_runs_and_its_first_slider_repaints(house, notebook, request):
    with request.getfixturevalue(f"{house}_page")(notebook) as shown:
        assert shown.complaints() == []
        repaints = shown.move_slider(MOVES) if shown.slider() else []
        shown.screenshot(ROOT / "build" / "screenshots" / f"{Path(notebook).stem}-{house}.png")
        assert shown.complaints(repaints) == []
        if house == "lab":
            assert [found for where in OURS
                    for found in violations(shown.page, where, "serious", "critical")] == []


@pytest.mark.parametrize("notebook", [name for name in NOTEBOOKS if name[:3] in ("07-", "11-")])
def test_notebook_7_runs_it_and_leaves_the_keys_to_the_sliders(notebook, browser):
    with serve("notebook", ROOT / "notebooks") as server, open_notebook(browser, server,
                                                                        notebook) as shown:
        repaints, cells = shown.move_slider(4), shown.page.locator(".jp-Cell").count()
        handle = shown.page.locator(".noUi-handle:focus")
        at = handle.get_attribute("aria-valuenow")
        for key in ("ArrowUp", "ArrowDown", "a", "b", "d", "d"):
            shown.page.keyboard.press(key)
        assert handle.get_attribute("aria-valuenow") == at
        assert shown.page.locator(".jp-Cell").count() == cells
        assert [sentence for sentence in shown.complaints(repaints)
                if "reading 'schema'" not in sentence] == []  # Notebook 7 says it of an empty one
