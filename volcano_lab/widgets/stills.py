"""Stills of pictures: what a page without a kernel shows.

A picture has one drawing, in JavaScript: a pure function from plain data to a tree of elements. On
a page that tree is patched into the document; here the same function writes it as SVG. So a still
is the live picture at rest, and nothing is drawn twice. In a notebook's process QuickJS (a small
engine without a browser) runs it, in a browser's Python the browser does. Text widths are estimated
and not measured, so the same data give the same bytes everywhere.

A still is an `img` of HTML, because notebooks that were downloaded and have not run yet show no
other SVG. Its background is light or dark as the page requests.
"""

import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from volcano_lab.messages import Message, Misuse, install, localized, spoken
from volcano_lab.trace.shown import image
from volcano_lab.widgets.scripts import bundle, still_css, worded


class NoEngineError(RuntimeError):
    """No JavaScript engine is available."""


def drawn(kind: str, shown: dict[str, Any], width: int) -> dict[str, str]:
    """Draw a picture: {"svg" or "html": …, "alt": …}.

    Args:
        kind: a name of `js/pictures.js`.
        shown: its `title`, `legend`, `spec` and `data`.
        width: pixels.

    Raises:
        NoEngineError: without a JavaScript engine.
        Misuse: for data that the picture cannot draw.
    """
    given = json.dumps([kind, localized(shown), width, still_css(kind)], ensure_ascii=False)
    found: dict[str, str] = json.loads(_engine(spoken())(given))
    if "error" in found:
        raise Misuse("picture.data", kind=kind, error=found["error"])
    return found


def html(found: dict[str, str]) -> str:
    """Return a drawing as HTML that every notebook page shows, with its alternative text."""
    return found.get("html") or image(found["svg"], found["alt"], 'class="vp-image" ')


@cache
def _engine(language: str) -> Callable[[str], str]:
    script = worded(bundle("still.js"))
    if sys.platform == "emscripten":  # Python in a browser: its JavaScript is available
        from pyodide.code import run_js

        function: Callable[[str], str] = run_js(f"(() => {{{script}return drawStill;}})()")
        return function
    try:
        import quickjs
    except ImportError:
        raise NoEngineError(str(Message(
            "picture.no_engine", command=install.install_line("lab")))) from None
    context = quickjs.Context()
    context.eval(script)
    return lambda text: str(context.eval(f"drawStill({json.dumps(text)})"))
