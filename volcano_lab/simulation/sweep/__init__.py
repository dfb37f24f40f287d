"""Hundreds of settings, clusters or seeds, a cycle each: `sweep(base, grid, metrics)`.

Answers to no Go file. A cycle stays on one core; the settings go to this process, to a pool of
processes or to Dask distributed, with the same results in the same order. What is done is kept in a
folder of Parquet files as it comes, and not done again.
"""

from volcano_lab.simulation.sweep.engines import SweepError
from volcano_lab.simulation.sweep.metrics import METRICS
from volcano_lab.simulation.sweep.run import Sweep, sweep

__all__ = ["METRICS", "Sweep", "SweepError", "sweep"]
