"""Hundreds of settings, clusters or seeds, one cycle each: `sweep(base, grid, metrics)`.

A cycle runs on one core; the settings are distributed to this process, to a pool of processes or to
Dask distributed, with the same results in the same order. Results are saved to a file of JSON lines
as they arrive, and reused.

Volcano: none
"""

from volcano_lab.simulation.sweep.engines import SweepError
from volcano_lab.simulation.sweep.metrics import METRICS
from volcano_lab.simulation.sweep.run import Sweep, sweep

__all__ = ["METRICS", "Sweep", "SweepError", "sweep"]
