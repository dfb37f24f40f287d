"""Drive a simulation as only tests and the soak do: event by event, and until nothing is left."""

from __future__ import annotations

from volcano_lab.messages import log
from volcano_lab.simulation import Simulation


def run_events(sim: Simulation, count: int) -> None:
    """Let time pass until so many more events have happened."""
    goal = sim.calendar.done + count
    with log.quiet():
        while sim.calendar.done < goal and sim.calendar.entries:
            sim.calendar.env.step()
    sim.history.set_jobs(sim.side.jobs)


def settle(sim: Simulation, longest: float = 100_000.0) -> None:
    """No more jobs, failures or faults; let time pass until every job that can has finished."""
    sim.faults.chance, sim.faults.plan = {}, []
    take_off(sim, "arrival", "node_failure", "meddle")
    end = sim.calendar.now + longest
    while sim.calendar.now < end and not _still(sim):
        sim.run(sim.calendar.now + 10 * sim.period)


def take_off(sim: Simulation, *kinds: str) -> None:
    """Take all entries of some kinds off the calendar."""
    entries = sim.calendar.entries
    for number in [number for number, entry in entries.items() if entry.kind in kinds]:
        del entries[number]


def delete_job(sim: Simulation, job: str) -> None:
    """A user deletes a job that may not have finished: its pods are not recreated."""
    pods, sim.side.jobs[job].members = sim.side.jobs[job].members, []
    sim.side.later.pop(job, None)
    for pod in pods:
        if sim.server.find("Pod", pod) is not None:
            sim.server.delete("Pod", pod)
    sim.side.job_removed(job)


def _still(sim: Simulation) -> bool:
    """Return whether only cycles are to come, and the last of them changed nothing."""
    committed = sim.ssn is None or sim.ssn.committed
    return not committed and sim.pipeline.idle and {
        entry.kind for entry in sim.calendar.entries.values()} <= {"cycle"}
