"""What moves on a page that has a kernel: what all have in common, and a single picture."""

from typing import Any

import anywidget
from traitlets import Dict

from volcano_lab.messages import Message, gettext
from volcano_lab.messages.attempt import attempt
from volcano_lab.widgets.scripts import Script, live_css, on_page


class OnPage(anywidget.AnyWidget):
    """What a page knows once (`fixed`), what it shows, and what it asks for with each move."""

    _esm = Script("widget.js")
    _css = live_css()
    fixed = Dict().tag(sync=True, to_json=on_page)
    shown = Dict().tag(sync=True, to_json=on_page)
    ask = Dict().tag(sync=True, echo_update=False)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a message of the page; whatever is raised behind it is one sentence there."""
        _, error = attempt(lambda: super(OnPage, self).set_state(sync_data))
        if error:
            self._fail(str(Message("move.fails", error=gettext(str(error)))))

    def _fail(self, sentence: str) -> None:
        """Show what went wrong in answering the page."""
        self.shown = self.shown | {"said": sentence}


class LivePicture(OnPage):
    """A picture that follows the page's colours, says what its parts are, and plays its steps."""

    def __init__(self, fixed: dict[str, Any], data: Any):
        super().__init__(fixed=fixed | {"widget": "picture"}, shown={"data": data})
