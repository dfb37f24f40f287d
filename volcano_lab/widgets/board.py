"""A board: panels that are drawn once, and then follow one state with one message a move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, List

HERE = Path(__file__).parent


class Board(anywidget.AnyWidget):
    """Panels side by side with their `state`; set `state` to a new dict and the page repaints what
    differs.

    `panels` is a list of panels, each with `kind`, `key` and `title`, and what the kind needs:

    - "table": `columns`, and of them `texts` which are words; state: a list of rows, each a dict by
      column, with a `color` if it has one;
    - "sentences" (what went wrong): state: a list of texts;
    - "vessels" (water-filling by round): `slots`, `max`; state: {"queues": [...], "rounds": [...]};
    - "turns" (queues in the order in which they are taken): `slots`, `lanes`; state: {"queues":
      [...], "turns": [...]};
    - "sums" (parts of a sum against a limit): `parts` (part -> colour), `lines`; state: a list of
      rows, each with `name`, `parts`, `limit`, `text`, `over`, and `most`, where its scale ends;
    - "operations" (a statement): `lines`; state: {"outcome", "headline", "reason", "steps": [...]}.

    Every panel may have a `legend`. Slots, lanes and `max` fix the scales, so that nothing jumps.

    >>> board = Board([{"kind": "table", "key": "queues", "title": "Queues", "columns": ["queue", "share"]}])
    >>> board.state = {"queues": [{"queue": "a", "share": 0.5}]}
    """

    _esm = (HERE / "drawing.js").read_text(encoding="utf-8") + (HERE / "board.js").read_text(
        encoding="utf-8")
    _css = HERE / "board.css"
    panels = List().tag(sync=True)
    state = Dict().tag(sync=True)

    def __init__(self, panels: list[dict[str, Any]], state: dict[str, Any] | None = None):
        super().__init__(panels=panels, state=state or {})
