"""Several observers of one cycle, each as if it were alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from volcano_lab.framework.observer import Observer


def joined(*observers: Observer | None) -> Observer | None:
    """One observer for all that are given, or None where none is.

    >>> joined(None, None) is None
    True
    """
    present = [observer for observer in observers if observer is not None]
    return Observers(present) if len(present) > 1 else present[0] if present else None


class Observers(Observer):
    """Hands everything on, in order; of what several put in a function's place, the last one's is the outermost."""

    def __init__(self, observers: Sequence[Observer]):
        self.observers = list(observers)
        self.watches_calls = any(observer.watches_calls for observer in self.observers)
        for name in _hooks():
            setattr(self, name, _each([getattr(observer, name) for observer in self.observers]))

    def watch(self, point: Any, tier: int, plugin: str, function: Callable[..., Any]) -> Callable[..., Any]:
        for observer in self.observers:
            function = observer.watch(point, tier, plugin, function)
        return function

    def watch_point(self, point: Any, ask: Callable[..., Any]) -> Callable[..., Any]:
        for observer in self.observers:
            ask = observer.watch_point(point, ask)
        return ask


def _hooks() -> list[str]:
    """Every hook of an observer that answers nothing."""
    return [name for name, value in vars(Observer).items()
            if callable(value) and not name.startswith("_") and name not in ("watch", "watch_point")]


def _each(hooks: list[Callable[..., None]]) -> Callable[..., None]:
    def call(*args: Any, **facts: Any) -> None:
        for hook in hooks:
            hook(*args, **facts)

    return call
