"""Hundreds of settings, clusters or seeds, a cycle each: `sweep(base, grid, metrics)`.

Answers to no Go file. A cycle stays on one core; the settings go to this process, to a pool of
processes or to Dask distributed, with the same results in the same order. What is done is kept in a
file as it comes, and not done again. The file holds a JSON object per line: one that is cut short
costs its last line only, and nothing beyond the core is needed to read it, which Parquet would.
"""

from volcano_lab.simulation.sweep.engines import SweepError
from volcano_lab.simulation.sweep.metrics import METRICS
from volcano_lab.simulation.sweep.run import Sweep, sweep

__all__ = ["METRICS", "Sweep", "SweepError", "sweep"]
