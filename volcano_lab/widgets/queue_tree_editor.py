"""A tree of queues to be edited on the page: names, parents, amounts, and what runs and waits in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
from attrs import asdict, define
from traitlets import List

HERE = Path(__file__).parent
ROOT = "root"

HEADS = [
    ["queue", "its name"], ["parent", "the queue above it; choose another one to move it"],
    ["weight", "its part by weight; capacity does not read it"], ["deserved", "CPUs that its author says it deserves"],
    ["capability", "the most that it may hold, in CPUs"], ["guarantee", "CPUs that are kept for it"],
    ["runs", "pods of 1 CPU that run already, as one job with the minimum 1"],
    ["gang", "pods of 1 CPU that wait, as one gang: all or none"], ["", "add or remove"]]


@define(slots=True)
class QueueRow:
    """A queue as its author writes it, in CPUs (None: not set), and its jobs: pods that run, and pods of a gang."""

    name: str
    parent: str = ROOT
    weight: int | None = 1
    deserved: float | None = None
    capability: float | None = None
    guarantee: float | None = None
    runs: int = 0
    gang: int = 0


class QueueTreeEditor(anywidget.AnyWidget):
    """Fields for every queue of a tree; `value` is a list of rows (dicts with the fields of `QueueRow`).

    >>> editor = QueueTreeEditor([QueueRow("root", ""), QueueRow("dev", capability=4)])
    >>> editor.change("dev", capability=2).change("test", parent="dev").value[1]["capability"]
    2
    >>> [row["name"] for row in editor.remove("dev").value]
    ['root', 'test']
    """

    _esm = HERE / "queue_tree_editor.js"
    _css = HERE / "queue_tree_editor.css"
    heads = List(HEADS).tag(sync=True)
    value = List().tag(sync=True)

    def __init__(self, rows: list[QueueRow]):
        super().__init__(value=[asdict(row) for row in rows])

    def change(self, name: str, **words: Any) -> QueueTreeEditor:
        """Change what is named of a queue, or add the queue; one message."""
        known = {row["name"]: row for row in self.value}
        row = QueueRow(**{**known.get(name, {"name": name}), **words})
        self.value = [asdict(row) if old["name"] == name else old for old in self.value] + (
            [] if name in known else [asdict(row)])
        return self

    def remove(self, name: str) -> QueueTreeEditor:
        """Take a queue away; those below it stay, and name a parent that is gone."""
        if name not in [row["name"] for row in self.value]:
            raise KeyError(f"the tree has no queue of the name {name}")
        self.value = [row for row in self.value if row["name"] != name]
        return self
