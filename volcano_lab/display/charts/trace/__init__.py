"""A trace as charts (altair), drawn from the rows of `trace_rows`; nothing here decides.

Each function gives a still chart with a description in words, and has its `rows`: what it draws, as
a plain list with the same arguments. `live` keeps a chart on the page and sends it the rows of
another trace, in one message.
"""

from volcano_lab.display.charts.trace.drawn import LiveChart, live
from volcano_lab.display.charts.trace.jobs import gang_progress, statements, victims
from volcano_lab.display.charts.trace.nodes import node_choices, node_scores, node_use
from volcano_lab.display.charts.trace.queues import (
    admissions,
    queue_order,
    queue_tree,
    water_filling,
)
from volcano_lab.display.charts.trace.times import times

__all__ = [
    "LiveChart", "admissions", "gang_progress", "live", "node_choices", "node_scores", "node_use",
    "queue_order", "queue_tree", "statements", "times", "victims", "water_filling"
]
