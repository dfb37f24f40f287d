"""Twelve riddles, "why is it pending?": a cluster as `kubectl` shows it, a cause to name, a repair.

A riddle is a YAML file of this folder: `title`, `story`, `asks` (the job), `nodes`, `queues`,
`running` and `waiting` jobs in a few words, `objects` as manifests, `conf`, `causes` (text -> why
not, or "right: why"), `hints`, `wants` (job -> pods at work), `may` (what may be changed) and
`smallest` (the fewest changes that help).
"""

from importlib import import_module

_HOMES = {"Riddle": "game", "riddle": "game", "riddles": "game", "score": "game",
          "Kubectl": "kubectl"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
