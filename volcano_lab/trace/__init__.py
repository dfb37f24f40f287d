"""The trace: every decision of a cycle, recorded as plain data. Tables, explanations and the
stepper read it.

Answers to no Go file. `Trace` is an observer to hand to `Scheduler.run_once`; `traced` runs a cycle
with one. A record has a `number`, the `action` that ran ("open" before the first, "close" after the
last), a `kind`, and facts by name; all values are numbers, names, truth values, lists and dicts.
Amounts are dicts in internal units (millicores, bytes, thousandths of anything else), without
dimensions that are zero.

| kind | facts | what happened |
|---|---|---|
| `start`, `end` | | an action began, or ended |
| `call` | point, tier, plugin, arguments by name (`signatures.py`), answer | a plugin answered |
| `asked` | point, since, arguments, answer | the answers since a record combined; not where one plugin's is all there is |
| `queue`, `job` | itself, next, decided_by | popped; who comes next, and [plugin, comparison] that put it first |
| `do`, `undo`, `commit` | operation, task, job, node, statement, changes | a statement's operation (statement None: without) |
| `enqueued` | job, changes | a job was let in |
| `unplaced` | task, changes | a promise was taken back without a statement |
| `settle` | changes | what else had changed when an action, or the cycle, ended |
| `chose` | task, nodes, node, errors, reasons | of so many nodes one was chosen, or none: why, and {reason: nodes} |
| `node_values` | task, alike, rows, columns | of all nodes what has changed since the last record of tasks alike |
| `deserved_round` | plugin, number, round | a round of sharing: weights, each queue's step, what remains |
| `enqueue_comparison` | plugin, job, queue, level, asked, limit, short_of, their parts | both sides of an admission |
| `allocatable_level` | plugin, task, queue, level, asked, limit, short_of | both sides of a limit, level by level |
| `preemptive_comparison` | plugin, task, queue, asked, deserved, within | both sides of whether a queue may reclaim |
| `reclaimee` | plugin, reclaimer, task, queue, verdict, allocated, deserved | why a candidate may be taken back or not |
| `claimant` | task, job, queue | a task for which others may be evicted |
| `victims` | action, task, node, candidates, chosen | who was to be evicted on a node, and who was |
| `prepared` | task, node, chosen | of several nodes on which a task might preempt, the one where it does |
| `passed_over` | queue or job or task, reason | why one got no turn |
| `hyper_node_tried` | job, sub_job, hyper_node, fits, operations, ... | a dry run in a HyperNode |
| `hyper_node_chosen` | job, sub_job, hyper_node, scores | the best of those where it fits |

The columns of `node_values` are "room" (2 now, 1 once others have gone, 0 not), "predicate
predicates" and the like (whether the task may go there), "node_order binpack" and the like (a
plugin's score); `TraceReader.node_values` and `scores` put them together. Without `every_call` they
stand for the calls of predicate, node_order and batch_node_order while allocating, jobs and tasks
are sorted by keys instead of comparing two at a time, and reclaim and preempt don't ask about nodes
where no eviction could help. Plugins of one's own may note kinds of their own.

A change is [what, name, field, before, after], of "tasks", "jobs", "nodes" or "queues"; the state
that they change is `Trace.start` at first. `Stepper` walks over them in both directions.
"""

from volcano_lab.trace.reading import OPERATIONS, TraceReader
from volcano_lab.trace.record import Record
from volcano_lab.trace.recorder import Trace
from volcano_lab.trace.state import State, state_of

__all__ = ["OPERATIONS", "Record", "State", "Trace", "TraceReader", "state_of"]
