"""What moves in a notebook: sliders, and boards that show what a cycle decided. They decide nothing themselves."""

from importlib import import_module

_HOMES = {"Board": "board", "Lab": "lab", "evictions_lab": "evictions", "fair_share_lab": "fair_share",
          "queue_tree_lab": "queue_tree", "stepper": "cycle_steps",
          "statement_stepper": "statement_steps"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
