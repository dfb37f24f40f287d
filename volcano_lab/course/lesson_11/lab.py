"""Lesson 11: half a minute of arrivals with binds that fail, as a lab with three sliders."""

from collections import Counter
from typing import Any

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.scenery import conf_text
from volcano_lab.course.kit.tasks import tasks
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.messages import Message, gettext, mark
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Simulation, poisson
from volcano_lab.widgets import pictures
from volcano_lab.widgets.controls import slider
from volcano_lab.widgets.lab import Lab
from volcano_lab.widgets.story import Amounts

UNTIL = 32
CPUS = 8
LANES = {"waiting": ("pods that wait", 16, "#D55E00"),
         "running": ("pods that run", CPUS, "#0072B2")}
"""Lane -> its label, the top of its scale, its colour."""

CHANGES = {"job arrived": ("waiting", 1), "pod bound": ("waiting", -1),
           "job started": ("running", 1), "job finished": ("running", -1)}


CONF = load_conf(conf_text("enqueue, allocate", "gang", "predicates, proportion"))


def short_run(fail: int, rate: int, period: int) -> Simulation:
    """32 seconds on two nodes of 4 CPUs: `rate` pods per minute of 1 CPU and 10 seconds, a cycle
    every `period` seconds, and `fail` percent of the binds refused. The same `rate` gives the
    same pods at the same times.

    >>> short_run(0, 20, 2).cycles
    16
    """
    cluster = Cluster().node("n1", cpu=CPUS // 2).node("n2", cpu=CPUS // 2)
    pods = poisson(rate / 60, JobTemplate("job", cpu=1, run_time=10, at_once=True))
    sim = Simulation(cluster, CONF, seed=27, period=period, workload=[pods],
                     faults=Faults({"bind_refused": fail / 100}), latencies=Latencies(remove=60.0))
    sim.run(until=UNTIL)
    return sim


FACTS = ("pods that came", "bound", "still waiting", "binds refused", "mean wait, s",
         "longest wait, s")


def run_state(fail: int, rate: int, period: int) -> dict[str, Any]:
    """One run: how many pods wait and run from which second on (`lanes`), how many binds were
    refused when (`refused`), the cycles' seconds, and sums (`facts`).

    >>> run_state(0, 20, 2)["facts"]["binds refused"]
    0
    """
    sim = short_run(fail, rate, period)
    count = dict.fromkeys(LANES, 0)
    lanes: dict[str, list[list[float]]] = {lane: [[0, 0]] for lane in LANES}
    refused: list[float] = []
    for time, what, _, _ in sim.history.rows["events"]:
        if what == "bind refused":
            refused.append(time)
        if what in CHANGES:
            lane, change = CHANGES[what]
            count[lane] += change
            lanes[lane].append([time, count[lane]])
    waits = [run.waiting for run in sim.side.jobs.values() if run.waiting is not None]
    came, waiting = len(sim.side.jobs), count["waiting"]
    facts = (came, came - waiting, waiting, len(refused),
             round(sum(waits) / len(waits), 1) if waits else None,
             round(max(waits), 1) if waits else None)
    return {"lanes": lanes, "refused": list(Counter(refused).items()),
            "facts": dict(zip(FACTS, facts, strict=True)), "cycles": list(range(0, UNTIL, period))}


def lanes_of(run: dict[str, Any]) -> dict[str, Any]:
    """The data of `pictures.timeline` for a run."""
    marks = [[time, f"×{count}" if count > 1 else "×"] for time, count in run["refused"]]
    return {"ticks": run["cycles"], "lanes": [
        {"name": lane, "label": gettext(label), "color": color, "points": run["lanes"][lane],
         "marks": marks if lane == "waiting" else []} for lane, (label, _, color) in LANES.items()]}


CONTROLS = {"fail": slider(20, 0, 90, "binds fail", step=10, unit="%"),
            "rate": slider(20, 10, 30, "arrivals", step=5, unit="/min"),
            "period": slider(2, 1, 8, "cycle every", unit="s")}

PANELS = [pictures.timeline("32 seconds", lanes_of, until=UNTIL, lane=104, lanes=2, wide=True,
                            most={lane: most for lane, (_, most, _) in LANES.items()},
                            legend="×: a bind was refused (×3: three at once). Ticks below: "
                                   "cycles. Dashed: before. Which pods come, and when, depends "
                                   "on the arrivals alone."),
          pictures.table("The run in numbers", lambda run: [run["facts"]], key="facts", wide=True,
                         heads=FACTS, legend="Waits: from arrival to start, of pods that started.")]


def run_lab() -> Lab:
    """Make the lab: the part of binds that fail, how many pods come, the time between cycles.

    >>> run_lab().set(fail=0).facts["facts"]["binds refused"]
    0
    """
    def number(name: str, fact: str, unit: str = "") -> Amounts:
        return Amounts("", lambda run: {
            f"{gettext(name)}{mark(':')}": run["facts"][fact] or 0}, unit)

    return Lab(CONTROLS, lambda values: run_state(**values), PANELS, tasks=tasks("11"),
               title="Binds that fail: two nodes of 4 CPUs, pods of 1 CPU",
               says=[number("Mean wait", "mean wait, s", "s"),
                     number("Refused binds", "binds refused"),
                     number("Pods that wait at the end", "still waiting")],
               opening=lambda run: str(Message(
                   "run.opening", came=run["facts"]["pods that came"],
                   wait=run["facts"]["mean wait, s"], refused=run["facts"]["binds refused"])))
