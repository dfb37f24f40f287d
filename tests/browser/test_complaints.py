"""The browser tests notice what they are there to notice: notebooks that are bad on purpose, each
in its own way.
"""

import nbformat
import pytest

from browser.page import open_notebook
from browser.servers import serve

pytestmark = pytest.mark.browser

SLIDER = """
import time, warnings
import ipywidgets as w
from IPython.display import HTML, Javascript, clear_output, display
s, text = w.IntSlider(3, 1, 10), w.HTML('<b>3</b>')
def show(change):
    text.value = f'<b>{change.new}</b>'
s.observe(show, 'value')
display(s, text)
"""
REDRAWN = """
out = w.Output()
def redraw(change):
    with out:
        clear_output()
        time.sleep(0.4)  # also a page that paints seldom shows it
        display(HTML('<table>' + f'<tr><td>{s.value}</td></tr>' * 9 + '</table>'))
s.observe(redraw, 'value')
display(out)
redraw(None)
"""
CASES = {  # what is wrong: (the notebook's second cell, how the one complaint begins)
    "nothing": ("", None),
    "an-error": ("1 / 0", "a cell shows an error or a warning: "),
    "a-warning": ("warnings.warn('careful')", "a cell shows an error or a warning: "),
    "a-request": ("HTML('<img src=\"http://192.0.2.1/x.png\">')",
                  "a request left the machine: http://192.0.2.1/x.png"),
    "a-script": ("Javascript('setTimeout(() => { throw new Error(\"lost\") })')",
                 "a script of the page failed: lost"),
    "flicker": (REDRAWN, "flicker: "),
}
DEAD = "import ipywidgets\nipywidgets.IntSlider(3, 1, 10)"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    sources = {name: [SLIDER, second] for name, (second, _) in CASES.items()} | {"dead": [DEAD]}
    for name, cells in sources.items():
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata.kernelspec = {
            "name": "python3", "display_name": "Python 3", "language": "python"
        }
        nbformat.write(notebook, folder / f"{name}.ipynb")
    with serve("voila", folder) as voila:
        yield voila


@pytest.mark.parametrize(("name", "complaint"),
                         [(name, complaint) for name, (_, complaint) in CASES.items()])
def test_complains_of(name, complaint, browser, server):
    with open_notebook(browser, server, f"{name}.ipynb") as shown:
        found = shown.complaints(shown.move_slider(3))
    assert len(found) == (complaint is not None), found
    assert not found or found[0].startswith(complaint)


def test_a_slider_that_moves_nothing_is_an_error(browser, server):
    with (
        open_notebook(browser, server, "dead.ipynb") as shown,
        pytest.raises(AssertionError, match=r"ArrowRight on the slider at 3\.0 repainted nothing"),
    ):
        shown.move_slider(1)
