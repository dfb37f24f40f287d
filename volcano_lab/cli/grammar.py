"""The grammar of `volcano-lab`: commands, options, examples, as `commands.toml` has them.

The only source of `--help`, of the manual page and of the documentation's page about the command.
"""

import gc
import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from volcano_lab import __version__
from volcano_lab.cli import DONE, Mistake
from volcano_lab.cli.help import VARIABLE, Command, of_environment
from volcano_lab.cli.language import language, speak_first

COMMANDS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
SHARED = COMMANDS.pop("options")
"""Parameters of several commands, by name."""
SECTIONS = {row["section"]: [name for name, each in COMMANDS.items()
                             if each["section"] == row["section"]] for row in COMMANDS.values()}
"""Section of the list -> its commands."""


class Commands(Command, click.Group):
    """Commands by section, in the usual order of use. Each accepts `--lang`, before its name or
    after it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, in its language."""
        ctx.meta[VARIABLE] = speak_first(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the named command; a reader that closes the output early, such as `head`, is no
        error.
        """
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each section."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=68))
                                    for name in names])


def cycles(value: Any) -> int:
    """Return the maximum number of cycles; `rest` is as many as are needed."""
    if value == "rest":
        return 10
    if not (str(value).isdigit() and 0 < int(value) <= 10_000):
        raise Mistake("command.cycles", value=value)
    return int(value)


TYPES = {"file": click.Path(), "number": click.INT, "any": click.UNPROCESSED, "cycles": cycles}


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@language("en or zh, the language of all answers.  [default: $VOLCANO_LAB_LANG, else that of "
          "$LANG, else en]", envvar=VARIABLE, default=of_environment)
def volcano_lab() -> None:
    """Volcano's scheduler as a laboratory: decides as Volcano v1.14.0 does, and says why.

    FILE is a manifest in YAML or JSON (.gz too), a folder, a pattern, or - for the input; what
    kubectl get -o yaml prints is read as it comes. Without FILE, kubectl reads the live cluster.

    \b
    Exit codes:
      0    done, also where jobs wait
      1    found: an error (lint), a difference (diff), a failure (sweep, replay),
           something missing (capture), a job that waits (--fail-on-pending) or
           is not as expected (--expect)
      2    something has to be fixed; a sentence says what
      130  ended by Ctrl-C

    \b
    Examples:
      volcano-lab run cluster.yaml
      volcano-lab why cluster.yaml train
      kubectl volcano-lab why train -n team

    NO_COLOR=1 prints without colours.
    """  # noqa: D301  click reads the marks


def loaded(module: str) -> ModuleType:
    """Return the module of a command, by its name in the package; enable garbage collection, which
    `main` has disabled while modules load. Objects of the modules stay, and are not collected.
    """
    found = import_module(f"volcano_lab.{module}")
    gc.freeze()
    gc.enable()
    return found


def named(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return the completions of a word by the names in the command's files."""
    found: list[Any] = loaded("cli.completion").completions(param.name or "", incomplete)
    return found


def parameter(name: str, row: dict[str, Any]) -> click.Parameter:
    """Return a parameter from its row of the table."""
    given = row | {"type": TYPES.get(row.get("type", ""))}
    if "choice" in given:
        given["type"] = click.Choice(given.pop("choice"))
    if "range" in given:
        kind = click.FloatRange if row.get("type") == "fraction" else click.IntRange
        given["type"] = kind(*given.pop("range"))
    if given.pop("complete", False):
        given["shell_complete"] = named
    flags = given.pop("flags", ["--" + name.replace("_", "-")])
    if given.pop("argument", False):
        return click.Argument([name], **given)
    return click.Option([*flags, name], **given)


def add(name: str, row: dict[str, Any]) -> None:
    """Add a command. It answers in the language of the environment, or in the given one, and has
    the names of the group for `--help` also when it is called alone.
    """
    def run(**given: Any) -> Any:
        if "files" in given:
            given["files"] += given.pop("filenames", ())
        if given.pop("everywhere", False) and given["namespace"]:
            raise Mistake("command.namespaces")
        function = row.get("function", name.replace("-", "_"))
        return getattr(loaded(row["module"]), function)(**given)

    known = SHARED | row.get("options", {})
    command = Command(
        name, callback=run, help=row["text"].strip("\n"),
        params=[parameter(each, known[each]) for each in row.get("params", "").split()],
        context_settings=volcano_lab.context_settings | row.get("context_settings", {}))
    volcano_lab.add_command(language("en or zh, the language of the answer.")(command))


for each in COMMANDS:
    add(each, COMMANDS[each])
