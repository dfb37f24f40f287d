"""The command's page in the documentation and its manual page, from the grammar that `--help` has.

`python docs/manual.py` writes `docs/volcano-lab.1` and `docs/volcano-lab.zh.1`, which come with the
package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from volcano_lab.cli.grammar import SECTIONS, volcano_lab
from volcano_lab.cli.help import ENGLISH, VARIABLE, paragraphs
from volcano_lab.messages import gettext, speaking, spoken
from volcano_lab.messages.catalogue import HELP, catalogue

MANUALS = {"en": Path(__file__).parent / "volcano-lab.1",
           "zh": Path(__file__).parent / "volcano-lab.zh.1"}
KEYS = {"run": ("queueOrder", "queues", "jobs", "placements", "leftOut", "warnings"),
        "why": ("about", "text", "causes", "chain", "remedies", "warnings"),
        "lint": ("findings",), "what-if": ("jobs", "placements", "queues"),
        "diff": ("jobs", "placements", "queues"), "sweep": ("rows", "failures")}
"""What the commands print as data."""


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield (name, command, context) of the command itself and of all its commands, by section."""
    top = click.Context(volcano_lab, info_name="volcano-lab", terminal_width=80,
                        help_option_names=["-h", "--help"])
    top.meta[VARIABLE] = spoken()
    yield "volcano-lab", volcano_lab, top
    for names in SECTIONS.values():
        for name in names:
            command = volcano_lab.commands[name]
            yield f"volcano-lab {name}", command, click.Context(command, top, info_name=name)


def markdown() -> str:
    """Return the page of the documentation."""
    parts = ["# " + gettext("The command volcano-lab"), "",
             gettext("`volcano-lab --help` and `man volcano-lab` say the same."), "",
             gettext("What `-o json` and `-o yaml` print has keys in camelCase, as Kubernetes "
                     "writes them. Amounts are CPUs, bytes and whole GPUs; only the numbers of "
                     "`why` are those of the records: thousandths of CPUs and GPUs."), "",
             *(f"- `{name}`: {', '.join(f'`{key}`' for key in keys)}"
               for name, keys in KEYS.items()), "",
             gettext("A value of `what-if` and `diff` is a pair: before, after."), ""]
    for name, command, ctx in commands():
        parts += [f"## {name}", "", f"```text\n{command.get_help(ctx)}\n```", ""]
    return "\n".join(parts)


def roff(language: str) -> str:
    """Return the manual page in a language."""
    about = paragraphs(volcano_lab.help or "")[0]
    about = about if language == ENGLISH else catalogue(language, HELP)[about]
    lines = [".TH VOLCANO-LAB 1", ".SH NAME", _escaped(f"volcano-lab - {about.rstrip('.。')}")]
    with speaking(language):
        for name, command, ctx in commands():
            lines += [".SH " + name.upper(), ".nf", _escaped(command.get_help(ctx)), ".fi"]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.M)


if __name__ == "__main__":
    for language, manual in MANUALS.items():
        manual.write_text(roff(language), encoding="utf-8")
