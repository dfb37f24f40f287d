"""Texts of lessons as HTML for light and dark pages.

Colours are the page's own, with fallbacks. Styles are in the elements, because an untrusted
notebook loses style sheets but keeps those.
"""

import re
from html import escape

from volcano_lab.messages import ENGLISH, gettext, spoken

INK, LINK = "var(--jp-content-font-color1, inherit)", "var(--jp-content-link-color, revert)"
LINE = "var(--jp-border-color1, rgba(128, 128, 128, 0.5))"
GROUND = "var(--jp-layout-color2, rgba(128, 128, 128, 0.12))"
FONT = "var(--jp-content-font-family, system-ui, sans-serif)"
WIDTH = "46rem"
"""The maximum width of a text."""

NAME = r"\b[a-z]+(?:-[a-z0-9]+)*-(?:\d+|[a-z])\b"
"""A name such as node-2 or rack-b."""

BLUE, GREEN, RED = "#1976d2", "#1a7f4b", "#b3261e"
"""Edges of boxes, each beside a sign or a word with the same meaning."""

MARKS = ((r"\*\*(.+?)\*\*", r"<b>\1</b>"), (r"(?<![A-Za-z0-9_*])\*([^*\s][^*]*)\*", r"<i>\1</i>"))


def html(text: object) -> str:
    """Write a text with `code`, **strong**, *emphasis* and blank lines as HTML.

    >>> html("**No**: `a < b`, *never*.")
    '<b>No</b>: <code>a &lt; b</code>, <i>never</i>.'
    """
    parts = re.split(r"(`[^`]+`)", escape(gettext(str(text)), quote=False))
    done = [f"<code>{part[1:-1]}</code>" if part.startswith("`") else _marked(part)
            for part in parts]
    result = "".join(done).replace("\n\n", "<br><br>")
    return result if spoken() == ENGLISH else whole_names(result)  # Chinese lines end anywhere


def whole_names(result: str) -> str:
    """Keep names such as node-2 and options such as -v=3 on one line in HTML; a browser breaks them
    at their hyphens.

    >>> whole_names('<i title="node-1">on node-2</i>')
    '<i title="node-1">on <span style="white-space: nowrap">node-2</span></i>'
    """
    def whole(found: re.Match[str]) -> str:
        return f'<span style="white-space: nowrap">{found[1]}</span>' if found[1] else found[0]

    return re.sub(rf"<[^>]*>|({NAME}|(?<=>)-[\w=]+)", whole, result)


def _marked(text: str) -> str:
    for pattern, tag in MARKS:
        text = re.sub(pattern, tag, text)
    return text


def plain(text: object) -> str:
    """Write the same text without markup.

    >>> plain("**No**: `a < b`, *never*.")
    'No: a < b, never.'
    """
    words = gettext(str(text))
    for pattern, _ in MARKS:
        words = re.sub(pattern, r"\1", words)
    return words.replace("`", "")


def box(inner: str, color: str, role: str, label: str = "") -> str:
    """Put HTML into a card with a coloured edge."""
    named = f' aria-label="{escape(gettext(label), quote=True)}"' if label else ""
    style = (f"border: 1px solid {LINE}; border-left: 4px solid {color}; border-radius: 8px; "
             f"padding: 12px 14px; margin: 4px 0; max-width: {WIDTH}; box-sizing: border-box; "
             f"color: {INK}; font-family: {FONT}; font-size: 14px; line-height: 1.5")
    return f'<div role="{role}"{named} style="{style}">{inner}</div>'


def fold(title: str, inner: str) -> str:
    """Put HTML into a closed fold."""
    style = f"background: {GROUND}; border-radius: 8px; padding: 8px 12px; margin-top: 8px"
    return f'<details style="{style}"><summary>{html(title)}</summary>{inner}</details>'
