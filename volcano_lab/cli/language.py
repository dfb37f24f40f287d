"""The option `--lang` of `volcano-lab` and of each of its commands."""

import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from volcano_lab.cli import Mistake
from volcano_lab.cli.help import ENGLISH, LANGUAGES, VARIABLE, can_show


def language(about: str, **default: Any) -> Callable[[Any], Any]:
    """Return the option `--lang`, which is read before all others."""
    return click.option("--lang", type=click.Choice(LANGUAGES), metavar="LANGUAGE", is_eager=True,
                        expose_value=False, callback=_speak, help=about, **default)


def _speak(ctx: click.Context, param: click.Parameter, named: str | None) -> None:
    """Choose the language of the answer. English by default leaves that of the process."""
    if named is None:
        return
    ctx.meta[VARIABLE] = named
    given = ctx.get_parameter_source(param.name or "") == ParameterSource.COMMANDLINE
    if named == ENGLISH and not given:
        return
    if not can_show(named):
        raise Mistake(f"--lang is {named}, which the output's encoding {sys.stdout.encoding} can't "
                      "show; allowed is en, or an output in UTF-8")
    from volcano_lab.messages.language import speak  # a catalogue is read, which takes its time

    speak(named)
