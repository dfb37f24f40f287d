"""Runs notebooks from top to end in a fresh kernel and stores their outputs, the same way each time.

`python tools/notebooks.py NOTEBOOK...` rewrites them in place; a cell that raises stops it with that cell's traceback.
What changes from run to run and tells a reader nothing is left out: times, the kernel's version, the state of widgets.
A widget that also says itself in HTML (a lesson's question) is stored as that, so that a page without a kernel shows it.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
VIEW = "application/vnd.jupyter.widget-view+json"


def run(path):
    """Run the notebook at `path` in its own folder and store it with its outputs."""
    notebook = nbformat.read(path, 4)
    client = NotebookClient(notebook, kernel_name="python3", timeout=300, store_widget_state=False, coalesce_streams=True,
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    nbformat.write(settled(notebook), path)


def settled(notebook):
    """The notebook without what changes from run to run; widgets are numbered in the order in which they appear."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    models = {}
    for cell in notebook.cells:
        for name in ("execution", "ExecuteTime", "collapsed", "scrolled"):
            cell.metadata.pop(name, None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data.pop(VIEW, None)
            view = data.get(VIEW)
            if view:
                view["model_id"] = models.setdefault(view["model_id"], f"{len(models) + 1:032x}")
    return notebook


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        run(Path(argument))
        print(argument)
