"""What the scheduler's cache, the API server and the kubelets know of the pods, event by event.

Volcano: none
"""

from volcano_lab.api.status import COMPLETED_STATUSES
from volcano_lab.simulation.calendar import Entry
from volcano_lab.simulation.simulation import Simulation

ENDED = frozenset(map(str, COMPLETED_STATUSES))
"""The phases of such pods at the API server."""


def watched(sim: Simulation, until: float) -> list[list[list[float]]]:
    """Run until some seconds, and count the pods that have not ended after each event: those with a
    node in the cache, those with one at the API server, those that run.

    >>> from volcano_lab.simulation import JobTemplate, Latencies, Simulation, every
    >>> from volcano_lab import Cluster
    >>> sim = Simulation(Cluster().node("n1", cpu=4), latencies=Latencies(bind=0.4),
    ...                  workload=[every(1, JobTemplate("train", cpu=2), count=1)])
    >>> watched(sim, 4)
    [[[0.0, 0], [2.0, 1]], [[0.0, 0], [2.42, 1]], [[0.0, 0], [3.42, 1]]]
    """
    def counts() -> tuple[int, int, int]:
        cached = [task for job in sim.cache.jobs.values() for task in job.tasks.values()]
        pods = sim.server.list("Pod")
        return (sum(task.node_name > "" and task.status not in COMPLETED_STATUSES
                    for task in cached),
                sum((pod.spec.node_name or "") > "" and pod.status.phase not in ENDED
                    for pod in pods),
                sum(pod.status.phase == "Running" for pod in pods))

    def note(entry: Entry) -> None:
        then(entry)
        for points, number in zip(lanes, counts(), strict=True):
            if points[-1][1] != number:
                points.append([sim.calendar.now, number])

    lanes: list[list[list[float]]] = [[[sim.calendar.now, number]] for number in counts()]
    then, sim.calendar.happened = sim.calendar.happened, note
    try:
        sim.run(until)
    finally:
        sim.calendar.happened = then
    return lanes
