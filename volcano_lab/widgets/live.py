"""A single picture on a page that has a kernel."""

from __future__ import annotations

from typing import Any

import anywidget
from traitlets import Dict

from volcano_lab.widgets.scripts import bundle, live_css


class LivePicture(anywidget.AnyWidget):
    """A picture that follows the page's colours, says what its parts are, and plays its steps."""

    _esm = bundle("widget.js")
    _css = live_css()
    fixed = Dict().tag(sync=True)
    shown = Dict().tag(sync=True)

    def __init__(self, fixed: dict[str, Any], data: Any):
        super().__init__(fixed=fixed | {"widget": "picture"}, shown={"data": data})
