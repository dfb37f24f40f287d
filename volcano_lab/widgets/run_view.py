"""A view of one run over time: numbers as steps in lanes, marks for what went wrong, ticks for
cycles, and sums.
"""

from __future__ import annotations

from volcano_lab.widgets.board import HERE, Board


class RunView(Board):
    """Drawn once; a new `state` changes paths and texts only.

    The one panel has `title`, `legend`, `until` (seconds) and `lanes`, each with `key`, `label`,
    `most` and `color`. The state is {"run": {lane: [[second, number], ...], "refused": [[second,
    number], ...], "cycles": [second]}, "facts": {name: number}}.

    >>> view = RunView([{"title": "A run", "until": 10, "lanes": []}], {"run": {}, "facts": {"pods": 3}})
    >>> view.state["facts"]
    {'pods': 3}
    """

    _esm = (HERE / "drawing.js").read_text(encoding="utf-8") + (HERE / "run_view.js").read_text(
        encoding="utf-8")
    _css = HERE / "run_view.css"
