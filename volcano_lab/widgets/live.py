"""Widgets of a page with a kernel: their common base, which shows a single picture as it is."""

from typing import Any

import anywidget
from traitlets import Dict

from volcano_lab.messages import Message, gettext, localized
from volcano_lab.messages.attempt import attempt
from volcano_lab.widgets.scripts import Script, live_css

DATA: dict[str, Any] = {"sync": True, "to_json": lambda data, _widget: localized(data)}
"""A trait whose data a page receives in the reader's language."""


class OnPage(anywidget.AnyWidget):
    """A widget with constant data (`fixed`), shown data, and the page's request with each move."""

    _esm = Script("widget.js")
    _css = live_css()
    fixed = Dict().tag(**DATA)
    shown = Dict().tag(**DATA)
    ask = Dict().tag(sync=True, echo_update=False)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Receive a message of the page; any exception behind it becomes one sentence there."""
        _, error = attempt(lambda: super(OnPage, self).set_state(sync_data))
        if error:
            self._fail(str(Message("move.fails", error=gettext(str(error)))))

    def _fail(self, sentence: str) -> None:
        """Show an error on the page."""
        self.shown = self.shown | {"said": sentence}
