"""`volcano-lab help`, `version` and `completion`: the command about itself, without a scheduler."""

import click
from click.shell_completion import get_completion_class

from volcano_lab import __version__
from volcano_lab.cli.help import VARIABLE, of_environment


def called() -> tuple[click.Command, str]:
    """Return the command as a whole, and the name by which it was called."""
    root = click.get_current_context().find_root()
    return root.command, root.info_name or "volcano-lab"


def help(name: str | None) -> None:
    """Show the help of a command, or the list of commands."""
    command, known = called()
    lang = click.get_current_context().meta.get(VARIABLE)
    words = [] if lang in (None, of_environment()) else ["--lang", lang]
    words += [name, "--help"] if name else ["--help"]
    command.main(words, prog_name=known, standalone_mode=False)


def version() -> None:
    """Show the version."""
    click.echo(f"{called()[1]} {__version__}")


def completion(shell: str) -> None:
    """Print a shell's completion script."""
    command, name = called()
    known = get_completion_class(shell)
    assert known is not None
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    click.echo(known(command, {}, name, variable).source())
