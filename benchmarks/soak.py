"""Many small clusters in which everything goes wrong that can: does every invariant hold, and does
every job run in the end?

Each seed draws a cluster, queues, a configuration and kinds of jobs: `scenario` says from what,
`features.py` what is added. Jobs come at random, nodes fail, users change objects and change them
back, and every kind of fault strikes. After each of 2,000 events all invariants are checked. Then
nothing goes wrong any more, jobs that would not fit the empty cluster are deleted, and time passes
until every other job has finished.

First of all `decisions.py` compares what 24 seeds decide with what was recorded of them, without
these checks, which take ten times as long, and then what the verbs answer about their clusters
(`answered.py`); `--record` records both again.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import answered
import decisions
from audited import Audited, Disturbed
from driving import delete_job, run_events, settle
from questions import read
from scenarios import Scenario, scenario

from volcano_lab import scheduler
from volcano_lab.framework import Observer
from volcano_lab.manifests.field_defaults import FIRST_TIME
from volcano_lab.manifests.loader import Loaded
from volcano_lab.messages import log
from volcano_lab.simulation import (
    Faults,
    InvariantBroken,
    JobTemplate,
    Latencies,
    Simulation,
    poisson,
)

CHANCE, CYCLES, SEEDS = 0.1, 30, range(1, 25)
"""Of each fault, where decisions are recorded: of so many cycles of these seeds."""
MAY_NOT_FIT = {"huge", "shut", "disk", "groups", "single", "late"}
"""Kinds of jobs that not every cluster takes: larger than a node, in a closed queue, with as many
volumes as nodes attach, with sub-groups but without a topology, which Volcano does not place.
"""


def simulation(seed: int, chance: float, drawn: Scenario, kind: type[Disturbed] = Audited,
               observer: Observer | None = None) -> Disturbed:
    """Return a run that has not begun."""
    faults = Faults.all(chance)
    faults.chance["read_refused"] = min(10 * chance, 1)  # a read follows a refused bind alone
    sim = kind(drawn.cluster, drawn.conf, seed=seed, faults=faults, observer=observer, users=True,
               period=drawn.period,
               workload=[poisson(drawn.rate, *drawn.templates)],
               node_failures=(("exponential", 60), ("uniform", 5, 40)),
               latencies=Latencies(bind=("uniform", 0.005, drawn.slowest)))
    sim.informer.list(sim.server)  # what runs from the beginning is known, however late the news
    return sim


def simulate(seed: int, events: int, chance: float) -> Simulation:
    """Run a scenario and let it settle, with the invariants checked after every event. Jobs that do
    not fit, or only fill the cluster, are deleted before.
    """
    drawn = scenario(seed)
    sim = simulation(seed, chance, drawn)
    run_events(sim, events)
    never = {template.name for template in drawn.templates if not fits_alone(drawn, template)}
    if wrong := never - MAY_NOT_FIT:
        raise InvariantBroken(f"(seed {seed}) an empty cluster takes no job of {sorted(wrong)}")
    for uid, run in sim.side.jobs.items():
        if run.template is None or run.template.name in {*never, "filler"}:
            delete_job(sim, uid)
    settle(sim, 5000.0)
    return sim


def decide(seed: int, hear: decisions.Hear) -> None:
    """Run a scenario without any audit for so many cycles, and say what each decides; first of all
    what an empty cluster decides of each kind of job, and some cycles of all of them.
    """
    drawn = scenario(seed, recorded=True)
    with log.quiet():
        found = {f"alone {name}": alone(drawn, kind) for name, kind in drawn.kinds.items()}
        texts = {f"{what} {number}": answer
                 for what, number, answer in read(drawn.conf, Random(f"texts {seed}"))}
        hear(0, found | lived("without jobs", drawn.cluster.objects(), drawn.conf, 10)
             | lived("together", drawn.with_jobs(drawn.kinds.values()), drawn.conf, 5) | texts)
        sim = simulation(seed, CHANCE, drawn, Disturbed, decisions.Witness(hear))
        while sim.cycles + sim.crashes < CYCLES:
            sim.calendar.env.step()


RECORDED = {decisions.DECIDED: decide, decisions.ANSWERED: answered.answer}
"""What was recorded of the seeds, and what computes it again."""


def fits_alone(drawn: Scenario, template: JobTemplate) -> bool:
    """Return whether a job gets its places in the empty cluster; a promise is none, which preempt
    makes also where allocate never places the job.
    """
    return any(operation == "allocate" and key.startswith(f"default/{template.name}-")
               for operation, key, *_ in alone(drawn, template))


def alone(drawn: Scenario, template: JobTemplate) -> list[list[str]]:
    """Return what the empty cluster decides of a job."""
    cluster = drawn.cluster.copy().remove("held")
    classes = [obj for obj in cluster.objects() if obj.kind == "PriorityClass"]
    group, first, later = template.build(template.name, classes)
    cluster.add(group, *(pod.changed(spec={"scheduling_gates": []}) for pod in first + later))
    return cluster.run(drawn.conf).committed


def lived(what: str, objects: Loaded, conf: str, most: int) -> decisions.Facts:
    """Return what cycles decide of a cluster that is left alone, while those evicted end one by
    one.
    """
    cycles = scheduler.life(objects, conf, FIRST_TIME, most=most, at_once=False)
    return {f"{what} {number}": [cycle.committed, scheduler.phases_of(cycle.session)]
            for number, cycle in enumerate(cycles)}


def unfinished(sim: Simulation) -> list[str]:
    """Return the jobs that could have finished and have not."""
    return [uid for uid, run in sim.side.jobs.items()
            if run.finished is None and (run.members or uid in sim.side.later)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--chance", type=float, default=0.05)
    parser.add_argument("--stop", action="store_true", help="at the first difference or problem")
    parser.add_argument("--record", action="store_true", help="store again what seeds decide")
    given = parser.parse_args()
    if given.record:
        for file, run in RECORDED.items():
            decisions.record(file, SEEDS, run)
        return 0
    differ = 0
    for file, run in RECORDED.items():
        differ += differences(file, run, given.stop)
        if differ and given.stop:
            return 1
    return audit(given) or int(differ > 0)


def differences(file: Path, run: Callable[[int, decisions.Hear], None], stop: bool) -> int:
    """Print where seeds decide or answer otherwise than was recorded; return of how many that is
    so.
    """
    start, count = time.perf_counter(), 0
    for seed, rows in decisions.recorded(file).items():
        if found := decisions.difference(seed, rows, run):
            count += 1
            print(f"Differs: {found}", flush=True)
            if stop:
                return 1
    print(f"{count} of {len(SEEDS)} seeds differ from {file.name} "
          f"({time.perf_counter() - start:.1f} s)", flush=True)
    return count


def audit(given: argparse.Namespace) -> int:
    """Run seeds with all invariants checked; print what comes of it; return 1 for any problem."""
    struck, jobs, finished, lost, wrong, broken = Counter(), 0, 0, 0, [], []
    start = time.perf_counter()
    for seed in range(given.first, given.first + given.seeds):
        try:
            sim = simulate(seed, given.events, given.chance)
        except InvariantBroken as error:  # the other seeds go on
            broken.append(seed)
            print(f"InvariantBroken: {error}", flush=True)
            if given.stop:
                return 1
            continue
        runs = [run for run in sim.side.jobs.values() if run.template is not None]
        done = sum(run.finished is not None for run in runs)
        jobs, finished = jobs + len(runs), finished + done
        lost += sum(run.lost for run in sim.side.jobs.values())
        struck += sim.faults.struck
        wrong += [f"seed {seed}: {uid}" for uid in unfinished(sim)]
        print(f"seed {seed:2}: {sim.calendar.done} events, {sim.cycles} cycles, "
              f"{sim.crashes} crashes, {done} of {len(runs)} jobs finished, "
              f"{len(sim.side.first_node)} pods bound", flush=True)
    print(f"{given.seeds} seeds in {time.perf_counter() - start:.1f} s: "
          f"{len(broken)} with an invariant broken; "
          f"{finished} of {jobs} jobs finished, the others fit no node; "
          f"{lost} pods lost to faults were recreated")
    print("faults: " + ", ".join(f"{kind} {count}" for kind, count in sorted(struck.items())))
    print("\n".join(["jobs that would fit and have not finished:", *wrong])
          if wrong else "every job that fits has finished")
    return int(bool(wrong or broken))


if __name__ == "__main__":
    sys.exit(main())
