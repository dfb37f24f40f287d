"""What a cycle decided as pandas tables, made of rows of `trace.views`; nothing is decided here.

Amounts are in CPUs, bytes or whole devices. Cells that stand for "no limit" are missing values. The
tables of `tables.steps` need a whole trace.
"""

from volcano_lab.framework import spoken

from .cycle import admission, gangs, jobs, levels, operations, placements, queues, rounds, turns
from .frame import Table
from .steps import gang_progress, node_choices, node_use, records, statements, times, victims

__all__ = ["Table", "admission", "gang_progress", "gangs", "jobs", "levels", "node_choices",
           "node_use", "operations", "placements", "queues", "records", "rounds", "statements",
           "times", "turns", "victims"]

for _name in __all__[1:]:
    globals()[_name] = spoken(globals()[_name], first=True)
