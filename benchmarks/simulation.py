"""What simulated time costs: cycles of the lessons' cluster of ten nodes, with jobs that come, run
and end.
"""

import argparse
import time

from volcano_lab.cluster import Cluster
from volcano_lab.simulation import JobTemplate, Simulation, poisson


def simulation(nodes: int = 10) -> Simulation:
    """Nodes of 8 CPUs, two queues, a gang or an elastic job every five seconds: the cluster is
    nearly full.
    """
    cluster = Cluster().queue("prod", weight=3).queue("batch", weight=1)
    for number in range(nodes):
        cluster.node(f"n{number}", cpu=8, memory="32Gi")
    gang = JobTemplate("train", "prod", pods=4, cpu=2, memory="4Gi", run_time=("uniform", 20, 60))
    elastic = JobTemplate("scan", "batch", pods=6, min_member=2, cpu=1,
                          run_time=("exponential", 40))
    return Simulation(cluster, workload=[poisson(0.02 * nodes, gang, elastic)], seed=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=10)
    given = parser.parse_args()
    sim = simulation(given.nodes)
    start, busy = time.perf_counter(), time.process_time()
    history = sim.run(until=given.cycles)
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    part = history.columns["cluster"].index("part_cpu")
    used = [row[part] for row in history.rows["cluster"]]
    share = 100 * sum(used) / len(used)
    print(
        f"{sim.cycles} cycles of {given.nodes} nodes, {len(sim.side.jobs)} jobs, "
        f"{share:.0f} % of CPU in use: "
        f"{wall:.1f} s ({busy:.1f} s of CPU), {1000 * wall / sim.cycles:.1f} ms a cycle")


if __name__ == "__main__":
    main()
