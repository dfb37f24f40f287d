"""`--help` in the reader's language: each paragraph and each option's text is an entry of
`languages/`, found whole before click writes the page. Names and examples stay as they are.
"""

import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import click
from click.formatting import measure_table

ENGLISH = "en"
FOLDER = Path(__file__).parent / "languages"
LANGUAGES = (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.po")))
VARIABLE = "VOLCANO_LAB_LANG"

RAW = "\b\n"
"""What begins a paragraph whose lines click leaves as they are."""
EXAMPLES = "Examples:"
OF_CLICK = ("Usage:", "Options", "default", "required", "Show this message and exit.")
"""Texts that click adds to ours."""

CHINESE = "\u2e80-\u9fff\uff00-\uffef，。：；、！？（）“”"
CLOSING = "[，。：；、！？）”]*"
UNITS = re.compile(rf"\[\w+：|（?[{CHINESE}]{CLOSING}|[^\s{CHINESE}]+{CLOSING}|\s+")
"""Between these a line may end: Chinese signs, words, spaces; a closing mark begins no line."""


def of_environment() -> str:
    """Return the language that the environment names and the output can show, else English."""
    named = (os.environ.get(VARIABLE) or os.environ.get("LANG", ""))[:2]
    return named if named in LANGUAGES and can_show(named) else ENGLISH


def can_show(language: str) -> bool:
    """Return whether the output's encoding has the language's signs."""
    try:
        ("" if language == ENGLISH else "中").encode(
            getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


@cache
def entries(language: str) -> dict[str, str]:
    """Return {English text: translation} of all texts of help."""
    import polib  # not loaded for English

    return {entry.msgid: entry.msgstr for entry in polib.pofile(str(FOLDER / f"{language}.po"))
            if entry.translated()}


def paragraphs(text: str) -> list[str]:
    """Return the parts of a command's text; lines are joined where click fills them.

    >>> paragraphs("One\\nline.\\n\\n\\b\\nSignals:\\n  SIGHUP  read again")
    ['One line.', '\\x08\\nSignals:\\n  SIGHUP  read again']
    """
    return [part if part.startswith(RAW) else " ".join(part.split())
            for part in text.split("\n\n")]


class Page(click.HelpFormatter):
    """Click's page of help in another language, wrapped by the columns that its signs take."""

    def __init__(self, language: str, width: int | None = None):
        super().__init__(width=width)
        self.entries = entries(language)

    def said(self, text: str) -> str:
        """Return what an entry has for a text, or the text."""
        return self.entries.get(text, text)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the first line."""
        super().write_usage(prog, args, self.said("Usage:"))

    def write_heading(self, heading: str) -> None:
        """Write the head of a section."""
        self.write(f"{self.said(heading)}：\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs; of examples only the head has an entry."""
        parts = [part.replace(EXAMPLES, self.said(EXAMPLES)) if part.startswith(RAW + EXAMPLES)
                 else RAW + self.said(part.removeprefix(RAW)) if part.startswith(RAW)
                 else RAW + wrapped(self.said(part), self.width - self.current_indent)
                 for part in paragraphs(text)]
        super().write_text("\n\n".join(parts))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30,
                 col_spacing: int = 2) -> None:
        """Write a list of options or commands and what they do."""
        rows = list(rows)
        left = min(measure_table(rows)[0], col_max) + col_spacing + 2
        super().write_dl([(name, RAW + wrapped(self._with_default(text), self.width - left))
                          for name, text in rows], col_max, col_spacing)

    def _with_default(self, text: str) -> str:
        """An option's text, and in brackets what click adds to it."""
        ours, brackets, added = text.rpartition("  [")
        if text in self.entries or not brackets:
            return self.said(text)
        pairs = [each.partition(": ") for each in added.removesuffix("]").split("; ")]
        both = "；".join(self.said(name) + ("：" if value else "") + value
                        for name, _, value in pairs)
        return f"{self.said(ours)}  [{both}]"


def wrapped(text: str, width: int) -> str:
    """Return a text in lines of at most that many columns; a Chinese sign takes two.

    >>> wrapped("队列 a 等待 cpu，因为集群已满。", 18)
    '队列 a 等待 cpu，\\n因为集群已满。'
    """
    from volcano_lab.messages.text import columns  # not loaded for English

    lines = [""]
    for unit in UNITS.findall(text):
        if columns(lines[-1] + unit) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += "" if unit.isspace() and not lines[-1] else unit
    return "\n".join(lines)


class Command(click.Command):
    """A command whose help is in the reader's language."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the page of help."""
        language = ctx.meta.get(VARIABLE) or of_environment()
        if language == ENGLISH:
            return super().get_help(ctx)
        page = Page(language, ctx.terminal_width and ctx.terminal_width - 2)
        self.format_help(ctx, page)
        return page.getvalue().rstrip("\n")
