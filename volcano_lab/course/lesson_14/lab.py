"""Lesson 14: a day of a small cluster as a lab: weight, arrivals, a node that is lost at noon."""

from functools import cache
from typing import Any

from volcano_lab.course.kit.tasks import tasks
from volcano_lab.course.lesson_14 import scene
from volcano_lab.course.lesson_14.scene import DAY, HOUR, QUEUES
from volcano_lab.messages import Message, gettext
from volcano_lab.simulation import JobTemplate, Simulation, poisson
from volcano_lab.trace import palette
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import group, slider, switch
from volcano_lab.widgets.lab import Lab
from volcano_lab.widgets.story import Amounts, plain

COLORS = palette.colors_of(QUEUES) | {"idle": palette.COLORS[-1]}


@cache
def small_day(weight: int, per_hour: int, noon: bool) -> Simulation:
    """A day on three nodes of 8 CPUs. Every hour come `per_hour` web jobs of 2 CPUs for two hours
    each, every two hours a gang of research of 4 pods of 2 CPUs for ten minutes more; the same jobs
    at the same times, whatever else is chosen.

    >>> len(small_day(1, 1, False).side.jobs)
    48
    """
    single = JobTemplate("web", "web", cpu=2, run_time=2 * HOUR)
    jobs = [poisson(per_hour / HOUR, single), scene.research(4, 2)]
    return scene.simulated(scene.queues(weight, 3, 8), jobs, scene.conf(), 4 * noon)


def day_state(weight: int, per_hour: int, noon: bool) -> dict[str, Any]:
    """One day: how many jobs of each queue wait, and how many CPUs are idle, from which hour on;
    how long jobs waited, and what the queues held on average; in `sums`, what the lab says of it.

    >>> day_state(1, 1, False)["mean"]
    {'web': 2, 'research': 2}
    """
    sim = small_day(weight, per_hour, noon)
    rows, cycles = scene.waits(sim), list(sim.history.frame("cluster").itertuples())
    idle = {"name": "idle", "label": gettext("CPUs idle"), "color": COLORS["idle"],
            "points": [[row.time / HOUR, row.all_cpu - row.used_cpu] for row in cycles]}
    asked, there = sum(2 * 2 * run.pods for run in sim.side.jobs.values()), 576 - 32 * noon
    sums = {"weight": weight, "sum": weight + 1, "cpus": plain(24 * weight / (weight + 1)),
            "asked": asked, "there": there, "percent": round(100 * asked / there)}
    return {"lanes": [*scene.waiting(sim), idle], "table": rows, "sums": sums,
            "mean": {row["queue"]: row["mean wait, minutes"] for row in rows},
            "held": {row["queue"]: row["CPU-hours held"] / DAY for row in scene.held(sim)}}


CONTROLS = {**group("queue web", {"per_hour": slider(2, 1, 3, "jobs", unit="per hour")},
                    color=COLORS["web"]),
            **group("queue research", {"weight": slider(
                1, 1, 4, "weight", about="that of web is 1")}, color=COLORS["research"]),
            "noon": switch(False, "node lost", about="Node n0 is lost at 12:00, for four hours.")}

PANELS = [pictures.timeline("A day, in hours", lambda state: {"lanes": state["lanes"]}, until=DAY,
                            unit="h", lane=58, lanes=3, wide=True,
                            most={"web": 12, "research": 3, "idle": 24},
                            legend="Dashed: before. ×: the node is lost, +: it is back."),
          pictures.table("How long they waited", lambda state: state["table"], key="queue",
                         wide=True, heads=["queue", "jobs that came", "started",
                                           "mean wait, minutes", "longest, minutes"])]


def _because(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return what proportion gives to research, or how much is requested of what is there."""
    moved = "load" if before["sums"]["weight"] == now["sums"]["weight"] else "weight"
    return str(Message(f"day.{moved}", **now["sums"]))


def day_lab() -> Lab:
    """Make the lab: a queue's weight, how many jobs come, a node that is lost."""
    return Lab(CONTROLS, lambda values: day_state(**values), PANELS, tasks=tasks("14"),
               title="A day on three nodes of 8 CPUs",
               says=[Amounts("waits", lambda state: state["mean"], "minutes"),
                     Amounts("holds", lambda state: state["held"], "CPUs on average")],
               because=_because, opening=lambda state: str(Message("day.opening", **state["mean"])))
