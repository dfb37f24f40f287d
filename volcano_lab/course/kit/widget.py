"""The widget that draws a `Shown`; the page sends back the answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict

from volcano_lab.messages import Message, gettext
from volcano_lab.messages.attempt import attempt
from volcano_lab.widgets.scripts import Script

HERE = Path(__file__).parent


class Live(anywidget.AnyWidget):
    """One element of a lesson on the page; it is drawn once and follows `state`.

    >>> live = Live(print, {"kind": "words", "says": "It is b."})
    >>> live._received_from_page({"answer": "a"})
    {'answer': 'a'}
    >>> broken = Live(lambda content: int(content["answer"]), {"kind": "words"})
    >>> broken._received_from_page({"answer": "?"}), broken.state["trouble"]
    (None, "This does not work: invalid literal for int() with base 10: '?'")
    """

    _esm = Script(HERE / "live.js")
    _css = HERE / "live.css"
    state = Dict().tag(sync=True)

    def __init__(self, received: Callable[[dict[str, Any]], None], state: dict[str, Any]):
        super().__init__(state=state)
        self._received = received
        self.on_msg(lambda _widget, content, _buffers: self._received_from_page(content))

    def _received_from_page(self, content: dict[str, Any]) -> None:
        """Handle a message of the page; any exception becomes one sentence there."""
        if self.state.get("trouble"):
            self.state = self.state | {"trouble": ""}
        _, error = attempt(lambda: self._received(content))
        if error:
            self.state = self.state | {
                "trouble": str(Message("move.fails", error=gettext(str(error))))}
