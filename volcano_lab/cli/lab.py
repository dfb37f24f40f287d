"""`volcano-lab lab` and `riddle`: the first notebook in JupyterLab, and riddles in the terminal."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

from volcano_lab.cli import DONE, Mistake
from volcano_lab.cli.help import ENGLISH, VARIABLE
from volcano_lab.messages.install import install_line

FIRST = "notebooks/start.ipynb"
LANGUAGES = Path(__file__).parent / "languages"
"""Settings of JupyterLab by language."""
PACKAGED = Path(__file__).parents[1] / "notebooks"
"""Where a wheel contains the lessons."""


def lab(jupyter: Sequence[str], folder: str | None = None) -> int:
    """Run JupyterLab on the first notebook, with its own options and menus in the language of the
    command: in this process, so that a signal to it ends JupyterLab, or where that can't be, return
    the exit code.
    """
    root, language = lessons(folder), click.get_current_context().meta[VARIABLE]
    if find_spec("jupyterlab") is None:
        raise Mistake("command.no_jupyter", command=install_line("lab"))
    found = command(root, [option for option in jupyter if option != "--"], language)
    if os.name == "posix":
        os.execve(found[0], found, environment(language))
    return subprocess.call(found, env=environment(language))


def riddle(number: int | None, form: str | None) -> int:
    """Play a riddle, or print its manifests; without a number, the list."""
    # The course is above the command: it is imported by name, as an add-on would be.
    course = import_module("volcano_lab.course.riddles.terminal")
    try:
        for text in course.play(number) if form is None else course.manifests_of(number, form):
            click.echo(text)
    except LookupError as error:
        raise Mistake(str(error.args[0])) from None
    return DONE


def lessons(folder: str | None = None, packaged: Path = PACKAGED) -> Path:
    """Return the folder of the lessons: a clone, or a folder to which the package's are copied.

    Existing files are not changed. Raises `Mistake`.
    """
    for clone in (Path(__file__).parents[2], Path.cwd()) if folder is None else ():
        if (clone / FIRST).is_file():
            return clone
    root = Path(folder or "volcano-lessons")
    if not (packaged.is_dir() or (root / FIRST).is_file()):
        raise Mistake("lessons.none", root=root, first=FIRST)
    try:
        for file in sorted(packaged.rglob("*")) if packaged.is_dir() else ():
            copy = root / "notebooks" / file.relative_to(packaged)
            if file.is_file() and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    except OSError as error:
        raise Mistake("lessons.copy", root=root, strerror=error.strerror) from None
    return root.resolve()


def environment(language: str) -> dict[str, str]:
    """Return the environment of a JupyterLab whose menus are in a language unless its user chose
    one: settings that the user's own override.

    >>> environment("zh")["JUPYTER_CONFIG_PATH"].endswith(os.path.join("languages", "zh"))
    True
    """
    before = os.environ.get("JUPYTER_CONFIG_PATH", "")
    path = [before] * bool(before) + [str(LANGUAGES / language)] * (language != ENGLISH)
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(path)}


def command(root: Path, options: list[str], language: str = ENGLISH) -> list[str]:
    """Return the command line that serves `root` and opens the first notebook of a language.

    >>> command(Path("lessons"), ["--no-browser"])[-2:]
    ['--LabApp.default_url=/lab/tree/notebooks/start.ipynb', '--no-browser']
    """
    first = FIRST if language == ENGLISH else FIRST.replace("/", f"/{language}/")
    as_root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return [sys.executable, "-m", "jupyterlab", *as_root, f"--ServerApp.root_dir={root}",
            f"--LabApp.default_url=/lab/tree/{first}", *options]
