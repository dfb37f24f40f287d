"""Cycles that have run before the one that is asked about: of a simulation, or of a recorded life.
"""

from collections.abc import Sequence

from volcano_lab.cli import Mistake
from volcano_lab.cli.inputs import cluster_of, conf_text, mistakes
from volcano_lab.cli.replay import life_mistakes, lives, read_cases, recording
from volcano_lab.explain import Timeline
from volcano_lab.explain.knob import Objects
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.messages import log
from volcano_lab.simulation import Life, Simulation

CASES = (".jsonl", ".jsonl.gz")


def past(files: Sequence[str], name: str, conf: str | None, cycle: int | None, life: str | None
         ) -> tuple[Timeline, list[str], str | None]:
    """Return what happened up to a cycle (unset: the last), with the causes of what has a name,
    warnings, and the text of the configuration. Raises `Mistake`.

    The cycles are those of a simulation of the files, one second apart, or with `life` those of a
    recording that begins with the files; of cases and their changes the cycle is a line.
    """
    if life is not None and len(files) == 1 and files[0].endswith(CASES):
        return _of_cases(files[0], name, life, cycle), [], "recorded"
    loaded, text = cluster_of(files, conf, refuse=False) if files else (
        with_defaults([]), conf_text(conf))
    with mistakes(conf), log.quiet():
        if life is None:
            return _simulated(loaded, text, name, cycle or 1), loaded.warnings, text
        timeline = Timeline(1, name)
        with life_mistakes(life, None):
            lived = Life(loaded, text)
            for number, changes in enumerate(recording(life), 1):
                lived.decide(changes, observer=timeline)
                if number == cycle:
                    break
    return _reached(timeline, timeline.cycles, cycle, life), loaded.warnings, text


def _simulated(objects: Objects, conf: SchedulerConfiguration | str | None, name: str,
               cycle: int) -> Timeline:
    timeline = Timeline(1, name, lambda objects, conf: _simulated(objects, conf, name, cycle))
    Simulation(objects, conf, observer=timeline).run(until=cycle - 0.5, progress=False)
    return timeline


def _of_cases(cases: str, name: str, events: str, cycle: int | None) -> Timeline:
    known, timeline, number = None, Timeline(), 0
    with life_mistakes(events, cases), log.quiet():
        for number, (life, case, row) in enumerate(lives(read_cases(cases), read_cases(events)), 1):
            timeline = timeline if life is known else Timeline(1, name)
            known = life
            life.decide(row["events"], case.get("conf"), timeline)
            if number == cycle:
                return timeline
    return _reached(timeline, number, cycle, events)


def _reached(timeline: Timeline, count: int, cycle: int | None, name: str) -> Timeline:
    if count < (cycle or 1):
        raise Mistake(f"{name}: there is no cycle {cycle or 1}; allowed is one of the {count} that "
                      "it has")
    return timeline
