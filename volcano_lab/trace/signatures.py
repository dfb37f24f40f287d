"""The names of what each extension point is asked about. Answers to `pkg/scheduler/api/types.go`,
where only types stand.

`state`, what plugins keep for a trial, isn't recorded.
"""

from __future__ import annotations

from volcano_lab.framework.points.table import BUILT_IN, POINTS

LEFT_OUT = ("state",)
"""Arguments that have no plain form worth keeping."""


def argument_names(point: str, count: int) -> tuple[str, ...]:
    """What a point's arguments are called; those of a point that isn't known here are numbered.

    >>> argument_names("allocatable", 2), argument_names("my_own", 1)
    (('queue', 'task'), ('argument_0',))
    """
    row = POINTS.own.get(point) or BUILT_IN.get(point)
    known = row.arguments if row else ()
    return known if len(known) == count else tuple(f"argument_{number}" for number in range(count))
