"""Many small clusters in which everything goes wrong that can: does every invariant hold, and does every job run in the end?

Each seed is a cluster of six nodes and three queues with jobs that come at random, node failures, and every kind of fault
at 5 %. After each of 2,000 events all invariants are checked. Then nothing goes wrong any more, and time passes until
every job has finished that fits the cluster when it is empty; what hasn't is tried alone to see that it doesn't fit.
"""

import argparse
import sys
import time
from collections import Counter

from volcano_lab.cluster import Cluster
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Simulation, poisson

CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def cluster() -> Cluster:
    """Six nodes of 8 CPUs, two of them with GPUs; three queues of different weight."""
    built = Cluster().queue("prod", weight=4).queue("research", weight=2).queue("batch", weight=1)
    for number in range(1, 7):
        built.node(f"n{number}", cpu=8, memory="32Gi", gpu=4 if number < 3 else None)
    return built


def templates() -> list[JobTemplate]:
    """Gangs, elastic jobs, jobs with GPUs, jobs that ask for nothing, and one that never fits."""
    return [
        JobTemplate("web", "prod", pods=4, cpu=2, memory="4Gi", priority=100, run_time=("uniform", 10, 30)),
        JobTemplate("train", "research", pods=8, min_member=4, cpu=1, memory="2Gi", run_time=("uniform", 20, 60)),
        JobTemplate("gpu", "research", pods=2, cpu=2, gpu=2, run_time=("uniform", 10, 40)),
        JobTemplate("scan", "batch", pods=6, min_member=1, cpu=1, run_time=("exponential", 20)),
        JobTemplate("idle", "batch", pods=2, run_time=15),
        JobTemplate("huge", "batch", pods=1, cpu=9, run_time=5),
    ]


def simulation(seed: int, chance: float, conf: str = CONF, check: bool = True) -> Simulation:
    """A run that hasn't begun."""
    return Simulation(cluster(), conf, seed=seed, workload=[poisson(0.25, *templates())], faults=Faults.all(chance),
                      node_failures=(("exponential", 60), ("uniform", 5, 40)), latencies=Latencies(bind=("uniform", 0.005, 0.5)),
                      check=check)


def simulate(seed: int, events: int, chance: float) -> Simulation:
    """One run, with the invariants checked after every event."""
    sim = simulation(seed, chance)
    sim.run_events(events)
    sim.settle()
    return sim


def unfinished_that_fit(sim: Simulation) -> list[str]:
    """Jobs that have not finished although they would fit the cluster if they were alone."""
    left = []
    for uid, run in sim.side.jobs.items():
        if run.finished is None:
            t = run.template
            words = {"queue": t.queue, "pods": t.pods, "cpu": t.cpu, "memory": t.memory, "gpu": t.gpu, "min_member": t.min_member}
            alone = cluster().job(run.name, **words)
            if alone.run(CONF).committed:
                left.append(uid)
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--chance", type=float, default=0.05)
    given = parser.parse_args()
    struck, jobs, finished, lost, wrong = Counter(), 0, 0, 0, []
    start = time.perf_counter()
    for seed in range(1, given.seeds + 1):
        sim = simulate(seed, given.events, given.chance)
        done = sum(run.finished is not None for run in sim.side.jobs.values())
        jobs, finished = jobs + len(sim.side.jobs), finished + done
        lost += sum(run.lost for run in sim.side.jobs.values())
        struck += sim.faults.struck
        wrong += [f"seed {seed}: {uid}" for uid in unfinished_that_fit(sim)]
        print(f"seed {seed:2}: {sim.calendar.done} events, {sim.cycles} cycles, {sim.crashes} crashes, "
              f"{done} of {len(sim.side.jobs)} jobs finished, {len(sim.server.bindings)} pods bound", flush=True)
    print(f"{given.seeds} seeds in {time.perf_counter() - start:.1f} s: no invariant broken; {finished} of {jobs} jobs finished, "
          f"the others fit no node; {lost} pods lost to faults were made anew")
    print("faults: " + ", ".join(f"{kind} {count}" for kind, count in sorted(struck.items())))
    print("\n".join(["jobs that would fit and have not finished:", *wrong]) if wrong else "every job that fits has finished")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
