"""Elements of a lesson on the page: static HTML everywhere, and live with a kernel."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any

from volcano_lab.course.kit.markup import html, whole_names

if TYPE_CHECKING:
    from volcano_lab.course.kit.widget import Live

VIEW = "application/vnd.jupyter.widget-view+json"
ANSWERS_SHOWN = "VOLCANO_LAB_ANSWERS"
"""Environment variable: "shown" fills the folds of static questions (documentation, teachers)."""


class Shown:
    """HTML and text; live with a kernel and installed widgets.

    A subclass has `_repr_html_` and `__repr__`, and its own `_state`, which `live.js` draws, where
    that is not the HTML; `_received` is called with the page's messages.
    """

    _live: Live | None = None

    def _repr_mimebundle_(self, include: object = None,
                          exclude: object = None) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if self._live is None:
            try:
                from volcano_lab.course.kit.widget import Live
            except ImportError:
                return bundle, {}
            self._live = Live(self._received, self._state())
        view, about = self._live._repr_mimebundle_() or ({}, {})
        return {**view, **bundle}, about

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.state = self._state()

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        return {"kind": "page", "html": self._repr_html_()}

    def _received(self, content: dict[str, Any]) -> None:
        """Handle a message of the page."""


def answers_shown() -> bool:
    """Return whether static questions show their answers in a fold."""
    return os.environ.get(ANSWERS_SHOWN) == "shown"


def views(result: Any) -> list[dict[str, str]]:
    """Return a page's data for a result: the HTML of each of its parts, or its widget.

    >>> views(["It is **b**.", None])
    [{'html': '<p>It is <b>b</b>.</p>'}]
    """
    if result is None:
        return []
    if isinstance(result, list | tuple):
        return [view for part in result for view in views(part)]
    if isinstance(result, str) and not hasattr(result, "_repr_html_"):
        return [{"html": f"<p>{whole_names(html(result))}</p>"}]
    bundle = _bundle(result)
    if VIEW in bundle:
        return [{"model": f"IPY_MODEL_{bundle[VIEW]['model_id']}", "html": _static(bundle)}]
    shown = _static(bundle)
    return [{"html": whole_names(shown) if shown.startswith("<table") else shown}]


def _bundle(thing: Any) -> dict[str, Any]:
    if hasattr(thing, "_repr_mimebundle_"):
        found = thing._repr_mimebundle_()
        return found[0] if isinstance(found, tuple) else found or {}
    found = {"text/plain": repr(thing)}
    if hasattr(thing, "_repr_html_"):
        found["text/html"] = thing._repr_html_()
    elif hasattr(thing, "_repr_svg_"):
        found["image/svg+xml"] = thing._repr_svg_()
    return found


def _static(bundle: dict[str, Any]) -> str:
    """Return the part of a bundle that shows without a kernel, as HTML."""
    for kind in ("text/html", "image/svg+xml"):
        if bundle.get(kind):
            return bundle[kind]
    return f"<pre>{escape(bundle.get('text/plain', ''))}</pre>"
