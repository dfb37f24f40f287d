"""A reader's completed checks, kept in a file beside the notebooks.

The file is written only if a lesson was opened with `start`, as its first cell does. If it can't be
written (a read-only folder), progress lasts as long as the kernel.
"""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

FILE = ".volcano-lab-progress.json"
ELSEWHERE = "VOLCANO_LAB_PROGRESS"
"""Environment variable: the path of another file, such as one per person on a shared server."""

_follower: Callable[[], None] | None = None
_unwritten: set[str] = set()


def start(follower: Callable[[], None]) -> None:
    """Keep progress from now on, and call `follower` whenever it changes."""
    global _follower
    _follower = follower


def note(key: str) -> None:
    """Record that a check, such as "03.take", is done."""
    if _follower and key not in done():
        _keep(done() | {key})


def forget(lesson: str) -> None:
    """Begin a lesson again: reset its checks."""
    _keep(done() - done(lesson))


def done(lesson: str = "") -> set[str]:
    """Return the keys of the completed checks, of all lessons or of one.

    >>> done("99")
    set()
    """
    stored: object = []
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(_file().read_text(encoding="utf-8"))
    keys = {str(key) for key in stored} if isinstance(stored, list) else set()
    return {key for key in keys | _unwritten if key.startswith(f"{lesson}." if lesson else "")}


def _file() -> Path:
    return Path(os.environ.get(ELSEWHERE) or FILE)


def _keep(keys: set[str]) -> None:
    _unwritten.clear()
    try:
        _file().write_text(json.dumps(sorted(keys)) + "\n", encoding="utf-8")
    except OSError:
        _unwritten.update(keys)
    if _follower:
        _follower()
