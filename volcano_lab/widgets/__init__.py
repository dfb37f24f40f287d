"""Interactive parts of a notebook: labs, pictures, the stepper. They decide nothing themselves.

`pictures` is the vocabulary; a lab is built from `controls`, `story` and `facts`.
"""

from importlib import import_module

_HOMES = {"Lab": "lab", "Task": "task", "stepper": "steps"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
