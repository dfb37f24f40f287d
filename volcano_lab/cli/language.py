"""The option `--lang` of `volcano-lab` and of each of its commands."""

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import click
from click.core import ParameterSource

from volcano_lab.cli import Mistake
from volcano_lab.cli.help import ENGLISH, LANGUAGES, VARIABLE, can_show, of_environment


def language(about: str, **default: Any) -> Callable[[Any], Any]:
    """Return the option `--lang`, which is read before all others."""
    return click.option("--lang", type=click.Choice(LANGUAGES), metavar="LANGUAGE", is_eager=True,
                        expose_value=False, callback=_speak, help=about, **default)


def speak_first(words: Sequence[str]) -> str:
    """Set the language of a command line before it is parsed, so that parse errors and `--help`
    are in that language, too; return it. The default, English, keeps that of the process.
    """
    named = [word.removeprefix("--lang=") for word in words if word.startswith("--lang=")]
    named += [word for option, word in pairwise(words) if option == "--lang"]
    language = (named or [of_environment()])[-1]
    if language not in LANGUAGES or not can_show(language):
        return ENGLISH
    if named or language != ENGLISH:
        from volcano_lab.messages.language import speak  # slow, since it reads a catalogue

        speak(language)
    return language


def _speak(ctx: click.Context, param: click.Parameter, named: str | None) -> None:
    """Set the language of the answer. The default, English, keeps that of the process."""
    if named is None:
        return
    given = ctx.get_parameter_source(param.name or "") == ParameterSource.COMMANDLINE
    if given:
        ctx.meta[VARIABLE] = named
    if named == ENGLISH and not given:
        return
    if not can_show(named):
        raise Mistake("command.encoding", named=named, encoding=sys.stdout.encoding)
    from volcano_lab.messages.language import speak  # slow, since it reads a catalogue

    speak(named)
