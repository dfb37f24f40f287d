"""`--help` in the reader's language: each paragraph and each option's text is an entry of the
catalogue `help`, looked up as a whole before click writes the page. Names and examples stay.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import click
from click.formatting import measure_table

ENGLISH = "en"
FOLDER = Path(__file__).parents[1] / "messages" / "languages"
LANGUAGES = (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.po")))
VARIABLE = "VOLCANO_LAB_LANG"

RAW = "\b\n"
"""The prefix of a paragraph whose lines click does not join."""
EXAMPLES = "Examples:"


def of_click(text: str) -> str:
    """Return a text of click in the reader's language; English unless another one is loaded."""
    messages = sys.modules.get("volcano_lab.messages.catalogue")
    if messages is None or messages.spoken() == ENGLISH:
        return text
    return messages.catalogue(messages.spoken(), messages.HELP).get(text, text)


for _module in (click.core, click.exceptions, click.parser, click.types):  # in place of gettext's
    vars(_module).update(_=of_click, ngettext=lambda one, more, count: of_click(
        one if count == 1 else more))

def of_environment() -> str:
    """Return the environment's language if the output can show it, else English."""
    named = (os.environ.get(VARIABLE) or os.environ.get("LANG", ""))[:2]
    return named if named in LANGUAGES and can_show(named) else ENGLISH


def can_show(language: str) -> bool:
    """Return whether the output's encoding has the language's characters."""
    try:
        ("" if language == ENGLISH else "中").encode(
            getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def paragraphs(text: str) -> list[str]:
    r"""Return the parts of a command's text; lines are joined where click does so.

    >>> paragraphs("One\nline.\n\n\b\nSignals:\n  SIGHUP  read again")
    ['One line.', '\x08\nSignals:\n  SIGHUP  read again']
    """
    return [part if part.startswith(RAW) else " ".join(part.split()) for part in text.split("\n\n")]


class Page(click.HelpFormatter):
    """Click's page of help in another language, wrapped by the width of its characters."""

    def __init__(self, language: str, width: int | None = None):
        super().__init__(width=width)
        from volcano_lab.messages.catalogue import HELP, catalogue  # not loaded for English

        self.entries = catalogue(language, HELP)

    def entry(self, text: str) -> str:
        """Return a text's translation, or the text."""
        return self.entries.get(text, text)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the first line."""
        super().write_usage(prog, args, self.entry("Usage:"))

    def write_heading(self, heading: str) -> None:
        """Write the head of a section."""
        self.write(f"{self.entry(heading)}：\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs; of examples only the heading has an entry."""
        super().write_text("\n\n".join(map(self._paragraph, paragraphs(text))))

    def _paragraph(self, part: str) -> str:
        from volcano_lab.messages import wrapped

        if part.startswith(RAW + EXAMPLES):
            return part.replace(EXAMPLES, self.entry(EXAMPLES))
        if part.startswith(RAW):
            return RAW + self.entry(part.removeprefix(RAW))
        return RAW + wrapped(self.entry(part), self.width - self.current_indent)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30,
                 col_spacing: int = 2) -> None:
        """Write a list of options or commands with their texts."""
        from volcano_lab.messages import wrapped

        rows = list(rows)
        left = min(measure_table(rows)[0], col_max) + col_spacing + 2
        super().write_dl([(name, RAW + wrapped(self._with_default(text), self.width - left))
                          for name, text in rows], col_max, col_spacing)

    def _with_default(self, text: str) -> str:
        """Return an option's text, with click's additions in brackets."""
        ours, brackets, added = text.rpartition("  [")
        if text in self.entries or not brackets:
            return self.entry(text)
        return f"{self.entry(ours)}  [{added}"


class Command(click.Command):
    """A command whose help is in the reader's language."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; for an unknown option name one that begins alike, or is alike."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            alike = [name for param in self.params for name in param.opts
                     if name.startswith(error.option_name[:4])]
            vars(error).update(possibilities=alike or error.possibilities)
            raise

    def get_help(self, ctx: click.Context) -> str:
        """Return the page of help."""
        language = ctx.meta.get(VARIABLE) or of_environment()
        if language == ENGLISH:
            messages = sys.modules.get("volcano_lab.messages")
            with messages.speaking(ENGLISH) if messages is not None else nullcontext():
                return super().get_help(ctx)
        page = Page(language, ctx.terminal_width and ctx.terminal_width - 2)
        self.format_help(ctx, page)
        return page.getvalue().rstrip("\n")
