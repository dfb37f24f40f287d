"""A bar that shows how far a long run has come; rich draws it on a terminal and in a notebook."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONG = 500
"""Cycles from which on a run counts as long."""


@contextmanager
def shown(start: float, end: float, period: float,
          wanted: bool | None) -> Iterator[Callable[[float], None]]:
    """Gives a function to call with the time that has been reached. Where nobody could see a bar,
    none is shown.
    """
    if not (end - start > LONG * period if wanted is None else wanted):
        yield lambda time: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.completed:.0f} of {task.total:.0f} s"), BarColumn(),
               TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True,
                  disable=not (console.is_terminal or console.is_jupyter)) as bar:
        task = bar.add_task("", total=end, completed=start)
        yield lambda time: bar.update(task, completed=time)
