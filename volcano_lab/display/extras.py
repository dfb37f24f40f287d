"""Modules that need the packages of `volcano-lab[lab]`: one sentence where they are missing."""

from importlib import import_module
from types import ModuleType


def load(module: str) -> ModuleType:
    """Import a module of volcano_lab.

    Raises:
        ModuleNotFoundError: With what is missing and the command that installs it.

    >>> load("volcano_lab.display.styled").__name__
    'volcano_lab.display.styled'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("volcano_lab"):
            raise
        missing = ModuleNotFoundError(f'{module} needs {error.name}, which is not installed here: '
                                      'pip install "volcano-lab[lab]"', name=error.name)
    raise missing
