"""`volcano-lab lab`: the first notebook in JupyterLab."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from volcano_lab.cli import Mistake

FIRST = "notebooks/start.ipynb"


def lab(options: list[str]) -> int:
    """Start JupyterLab on the first notebook, with its own options; returns its exit code."""
    root = find_lessons([Path(__file__).parents[2], Path.cwd()])
    if find_spec("jupyterlab") is None:
        raise Mistake('JupyterLab is not installed: pip install "volcano-lab[lab]"')
    return subprocess.call(command(root, [option for option in options if option != "--"]))


def find_lessons(places: list[Path]) -> Path:
    """The first of some folders that has the notebooks. Raises `Mistake` where none has."""
    for place in places:
        if (place / FIRST).is_file():
            return place
    raise Mistake(
        f"{FIRST} is neither beside the package nor in this folder; the notebooks come with a clone of the "
        "repository, so run this command there")


def command(root: Path, options: list[str]) -> list[str]:
    """The command line that serves `root` and opens the first notebook.

    >>> command(Path("lessons"), ["--no-browser"])[-2:]
    ['--LabApp.default_url=/lab/tree/notebooks/start.ipynb', '--no-browser']
    """
    as_root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return [sys.executable, "-m", "jupyterlab", *as_root, f"--ServerApp.root_dir={root}",
            f"--LabApp.default_url=/lab/tree/{FIRST}", *options]
