"""The command's page in the documentation and its manual page, from the grammar that `--help` has.

`python docs/manual.py` writes `docs/volcano-lab.1`, which comes with the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from volcano_lab.cli.grammar import SECTIONS, volcano_lab
from volcano_lab.trace.language import say

MAN = Path(__file__).parent / "volcano-lab.1"


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield (name, command, context) of the command itself and of all its commands, by section."""
    top = click.Context(volcano_lab, info_name="volcano-lab", terminal_width=80,
                        help_option_names=["-h", "--help"])
    yield "volcano-lab", volcano_lab, top
    for names in SECTIONS.values():
        for name in names:
            command = volcano_lab.commands[name]
            yield f"volcano-lab {name}", command, click.Context(command, top, info_name=name)


def markdown() -> str:
    """Return the page of the documentation."""
    parts = ["# " + say("The command volcano-lab"), "",
             "`volcano-lab --help` and `man volcano-lab` say the same.", "",
             "What `-o json` and `-o yaml` print has keys in camelCase, as Kubernetes writes them: "
             "of `run` `queueOrder`, `queues`, `jobs`, `placements`, `leftOut`, `warnings`; of "
             "`why` `about`, `text`, `causes`, `chain`, `remedies`, `warnings`; of `lint` "
             "`findings`; of `what-if` and `diff` `jobs`, `placements`, `queues`, each value as "
             "[before, after]; of `sweep` `rows` and `failures`. Amounts are CPUs, bytes and whole "
             "GPUs; only the numbers of `why` are those of the records: thousandths of CPUs and "
             "GPUs.", ""]
    for name, command, ctx in commands():
        parts += [f"## {name}", "", f"```text\n{command.get_help(ctx)}\n```", ""]
    return "\n".join(parts)


def roff() -> str:
    """Return the manual page."""
    lines = ['.TH VOLCANO-LAB 1 "" "volcano-lab" "User Commands"', ".SH NAME",
             r"volcano\-lab \- the scheduler of Volcano as a laboratory"]
    for name, command, ctx in commands():
        lines += [".SH " + name.upper(), ".nf", _escaped(command.get_help(ctx)), ".fi"]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.M)


if __name__ == "__main__":
    MAN.write_text(roff(), encoding="utf-8")
