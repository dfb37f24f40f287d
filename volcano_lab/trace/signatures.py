"""The names of what each extension point is asked about. Answers to `pkg/scheduler/api/types.go`, where only types stand.

`state`, what plugins keep for a trial, isn't recorded.
"""

from __future__ import annotations

from volcano_lab.framework.point_arguments import ARGUMENTS
from volcano_lab.framework.points import own_arguments

LEFT_OUT = ("state",)
"""Arguments that have no plain form worth keeping."""


def argument_names(point: str, count: int) -> tuple[str, ...]:
    """What a point's arguments are called; those of a point that isn't known here are numbered.

    >>> argument_names("allocatable", 2), argument_names("my_own", 1)
    (('queue', 'task'), ('argument_0',))
    """
    known = ARGUMENTS.get(point) or own_arguments(point)
    return known if len(known) == count else tuple(f"argument_{number}" for number in range(count))
