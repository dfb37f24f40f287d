"""Texts of lessons as HTML that is read on light and dark pages: colours are the page's own, with fallbacks.

Styles stand in the elements, because a notebook that isn't trusted loses style sheets but keeps those.
"""

from __future__ import annotations

import re
from html import escape

INK = "var(--jp-content-font-color1, inherit)"
SOFT = "var(--jp-content-font-color2, inherit)"
LINE = "var(--jp-border-color1, #999)"
GROUND = "var(--jp-layout-color2, rgba(128, 128, 128, 0.12))"
FONT = "var(--jp-content-font-family, system-ui, sans-serif)"
BLUE, GREEN, ORANGE = "#0072B2", "#009E73", "#D55E00"
"""Marks beside words that say the same: colour alone says nothing."""


def html(text: object) -> str:
    """A text as HTML: `code` and **strong**, and blank lines between paragraphs.

    >>> html("**No**: `a < b`.")
    '<b>No</b>: <code>a &lt; b</code>.'
    """
    parts = re.split(r"(`[^`]+`)", escape(str(text), quote=False))
    done = [f"<code>{part[1:-1]}</code>" if part.startswith("`") else re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", part)
            for part in parts]
    return "".join(done).replace("\n\n", "<br><br>")


def plain(text: object) -> str:
    """The same text without marks.

    >>> plain("**No**: `a < b`.")
    'No: a < b.'
    """
    return re.sub(r"\*\*(.+?)\*\*", r"\1", str(text)).replace("`", "")


def box(inner: str, color: str, role: str, label: str = "") -> str:
    """A box with a coloured edge."""
    named = f' aria-label="{escape(label, quote=True)}"' if label else ""
    return (f'<div role="{role}"{named} style="border-left: 5px solid {color}; padding: 8px 12px; margin: 4px 0; '
            f'max-width: 900px; box-sizing: border-box; background: {GROUND}; color: {INK}; font-family: {FONT}; '
            f'font-size: 14px; line-height: 1.5">{inner}</div>')
