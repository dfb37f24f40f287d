"""A question or an outcome on a page with a kernel; the field and the status stay, only their contents change."""

from __future__ import annotations

from pathlib import Path

import anywidget
from traitlets import List, Unicode

HERE = Path(__file__).parent


class Live(anywidget.AnyWidget):
    """What `question.py` shows. The page sets `value`, the kernel sets `said` and `state`.

    >>> live = Live(kind="words", said="It is b.")
    >>> live.set(said="It is a.")
    >>> live.said
    'It is a.'
    """

    _esm = HERE / "live.js"
    _css = HERE / "live.css"
    kind, head, text, value, said, state = (Unicode().tag(sync=True) for _ in range(6))
    options = List().tag(sync=True)

    def set(self, **state: object) -> None:
        """Change several at once, in one message."""
        with self.hold_sync(), self.hold_trait_notifications():
            for name, value in state.items():
                setattr(self, name, value)
