"""The trace: every decision of a cycle, recorded as plain data. Tables, explanations and the
stepper read it.

`Trace` is an observer to pass to `Scheduler.run_once`; `traced` runs a cycle with one. Every
`Cycle` keeps an `Outline`: its records without the calls of plugins. A record has a `number`, the
`action` that ran ("open" before the first, "close" after the last), a `kind`, and facts by name;
all values are numbers, names, truth values, lists and dicts. Amounts are dicts in internal units
(millicores, bytes, thousandths of anything else), without dimensions that are zero. `trace.kinds`
is the table of the kinds.

The columns of `node_values` are "fit" (2: fits idle resources, 1: fits future idle, 0: neither),
"predicate predicates" and the like (whether the task may be placed there), "node_order binpack" and
the like (a plugin's score); `TraceReader.node_values` and `scores` combine them. Without
`every_call` they replace the calls of predicate, node_order and batch_node_order during allocation,
jobs and tasks are sorted by keys instead of pairwise comparisons, and reclaim and preempt skip
nodes where no eviction could help. User-defined plugins may note kinds of their own.

A change is [what, name, field, before, after], of "tasks", "jobs", "nodes" or "queues"; the initial
state is `Trace.start`. `Stepper` applies the changes in both directions.
"""

from volcano_lab.trace.cause_trace import POINTS, CauseTrace
from volcano_lab.trace.kinds import KINDS, OPERATIONS, sentence, short
from volcano_lab.trace.names import Names
from volcano_lab.trace.palette import COLORS, colors_of
from volcano_lab.trace.plain import amounts, camel, grouped, quantities
from volcano_lab.trace.reading import TraceReader
from volcano_lab.trace.record import Record
from volcano_lab.trace.recorder import Outline, Trace
from volcano_lab.trace.shown import Part, Row, Rows, Shown
from volcano_lab.trace.state import State, queue_attributes, state_of
from volcano_lab.trace.stepper import Stepper

__all__ = ["COLORS", "KINDS", "OPERATIONS", "POINTS", "CauseTrace", "Names", "Outline", "Part",
           "Record", "Row", "Rows", "Shown", "State", "Stepper", "Trace", "TraceReader", "amounts",
           "camel", "colors_of", "grouped", "quantities", "queue_attributes", "sentence", "short",
           "state_of"]
