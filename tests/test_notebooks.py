"""The notebooks as they are stored: run from top to end, with their outputs, as `make notebooks` leaves them."""

import copy
import importlib.util
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("**/*.ipynb") if ".ipynb_checkpoints" not in path.parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_stored_notebook_is_whole_and_settled(path):
    spec = importlib.util.spec_from_file_location("notebooks_tool", ROOT / "tools" / "notebooks.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)

    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "not run from top to end"
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs, "no outputs are stored"
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert tool.settled(copy.deepcopy(notebook)) == notebook, "store it with `make notebooks`"
