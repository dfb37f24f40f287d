"""Cycles before the explained one: of a simulation, or of a recorded life."""

from collections.abc import Callable, Iterable, Sequence

from volcano_lab.cli import Mistake, inputs
from volcano_lab.cli.replay import Recorded, life_mistakes, lives, read_cases, recording
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Timeline
from volcano_lab.messages import Message, log
from volcano_lab.simulation import Life

CASES = (".jsonl", ".jsonl.gz")


def past(files: Sequence[str], read: Callable[[], Cluster], name: str, conf: str | None,
         cycle: int | None, life: str | None, now: str | None
         ) -> tuple[Timeline, list[Message], bool]:
    """Return the events up to a cycle (unset: the last), with the causes for the object of a name,
    warnings, and whether a configuration is named. Raises `Mistake`.

    The cycles are those of a simulation of the files, one second apart from `now` on, or with
    `life` those of a recording that begins with the files; for cases and their changes the cycle is
    a line.
    """
    if life is not None and len(files) == 1 and files[0].endswith(CASES):
        recorded = lives(read_cases(files[0]), read_cases(life))
        return _lived(recorded, files[0], name, life, cycle), [], True
    cluster = read() if files or life is None else Cluster(conf=inputs.conf_file(conf))
    with log.quiet():
        warnings = cluster.objects().warnings + cluster.admit(refuse=False)
        named = cluster.has_configuration()
        if life is None:
            timeline = cluster.timeline(cycle or 1, name, now=inputs.moment(now))
            return timeline, warnings, named
        recorded = recording(life, Life(cluster, cluster.configuration()))
        return _lived(recorded, None, name, life, cycle), warnings, named


def _lived(recorded: Iterable[Recorded], cases: str | None, name: str, events: str,
           cycle: int | None) -> Timeline:
    """Return the events of the life that has a cycle, up to it."""
    known, timeline, number = None, Timeline(), 0
    with life_mistakes(events, cases), log.quiet():
        for number, (life, case, row) in enumerate(recorded, 1):
            timeline = timeline if life is known else Timeline(1, name)
            known = life
            life.decide(row["events"], case.get("conf"), timeline)
            if number == cycle:
                return timeline
    if not number:
        raise Mistake("life.no_cycle", name=events)
    if number < (cycle or 1):
        raise Mistake("life.cycle", name=events, cycle=cycle or 1, count=number)
    return timeline
