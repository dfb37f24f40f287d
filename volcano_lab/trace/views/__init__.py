"""A trace as plain rows, by what they are about: queues, nodes, jobs; the one source of tables,
charts and boards. Amounts are in the units people use.
"""

from typing import Any, Protocol

from volcano_lab.framework import Misuse
from volcano_lab.trace import TraceReader


class Traced(Protocol):
    """What keeps a trace: a `Cycle`, an `Explainer`."""

    trace: Any


Source = TraceReader | Traced


def trace_of(source: Source) -> TraceReader:
    """Return the trace of what keeps one, or the trace itself. Raises `TypeError` otherwise."""
    trace = getattr(source, "trace", source)
    if not isinstance(trace, TraceReader):
        raise Misuse(f"rows come from a Cycle or a trace, not from {type(source).__name__}.")
    return trace
