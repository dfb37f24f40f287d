"""A single picture on a page that has a kernel."""

from __future__ import annotations

from typing import Any

import anywidget
from traitlets import Dict

from volcano_lab.widgets.scripts import Script, live_css, on_page


class LivePicture(anywidget.AnyWidget):
    """A picture that follows the page's colours, says what its parts are, and plays its steps."""

    _esm = Script("widget.js")
    _css = live_css()
    fixed = Dict().tag(sync=True, to_json=on_page)
    shown = Dict().tag(sync=True, to_json=on_page)

    def __init__(self, fixed: dict[str, Any], data: Any):
        super().__init__(fixed=fixed | {"widget": "picture"}, shown={"data": data})
