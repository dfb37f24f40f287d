"""Clusters in simulated time: arrivals, run times, failures, faults, and a history of events.

>>> from volcano_lab.cluster import Cluster
>>> jobs = poisson(0.2, JobTemplate(cpu=1, run_time=10))
>>> sim = Simulation(Cluster().node("n1", cpu=4), workload=[jobs], seed=1)
>>> len(sim.run(until=60).rows["cluster"])
60
"""

from volcano_lab.simulation.cluster_side import JobRun, Latencies
from volcano_lab.simulation.faults import KINDS, Faults
from volcano_lab.simulation.history import History
from volcano_lab.simulation.invariants import InvariantBroken
from volcano_lab.simulation.life import Life, LifeError
from volcano_lab.simulation.simulate import simulate
from volcano_lab.simulation.simulation import Simulation

from .workload import Arrivals, JobTemplate, Spread, WorkloadError, every, poisson, trace

__all__ = ["KINDS", "Arrivals", "Faults", "History", "InvariantBroken", "JobRun", "JobTemplate",
           "Latencies", "Life", "LifeError", "Simulation", "Spread", "WorkloadError", "every",
           "poisson", "simulate", "trace"]
