"""What becomes of the changes that `why` offers: each is run for some cycles.

    benchmarks/advice.py FOLDER...    folders of cases: cluster.yaml, expect.yaml (`ask`), conf.yaml

Exit code 1 where, after a change, the job does not run, a pod is evicted again and again (of a job
or for it, or of one whose pods are not without the change), a gang falls below its minimum that the
change does not name, or where a change is one that is never offered: what is meant to run on is
deleted, or a request cut by more than a third comes first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from volcano_lab.changes import Change
from volcano_lab.cluster import Cluster
from volcano_lab.explain.evidence import counts
from volcano_lab.explain.explainer import Explainer
from volcano_lab.explain.options import Rank
from volcano_lab.explain.outcome import Outcome, silent
from volcano_lab.explain.owners import runs_on
from volcano_lab.explain.remedy import Remedy
from volcano_lab.scheduler import life

CYCLES = 15


def lived(explain: Explainer, change: Change) -> Outcome:
    """What becomes of the cluster with a change."""
    found = Outcome()
    objects, conf = change.given(explain.evidence.given, explain.conf)
    with silent():
        for cycle in life(objects, conf, explain.now, CYCLES, at_once=False):
            found.add(cycle.session, cycle.trace)
    return found


def faults(explain: Explainer, uid: str, remedy: Remedy, number: int, alone: Outcome
           ) -> Iterator[str]:
    """What is wrong with a change, the first one being number 0; `alone`: without it."""
    after = lived(explain, remedy.tried)
    job = explain.session.jobs[uid]
    if not after.runs(uid):
        yield "the job does not run"
    yield from dict.fromkeys(f"{each.pod} is evicted again and again" for each in after.loops
                             if uid in (each.job, each.winner) or each.job not in alone.again)
    for other, before in explain.session.jobs.items():
        least = before.min_available
        if (other != uid and counts(before)[0] >= least > max(after.fewest.get(other, least), 0)
                and least > 1 and other not in remedy.price.breaks
                and other not in remedy.price.ends and after.evicted[other]):
            yield f"{other} is broken, which is not said"
    if remedy.rank == Rank.REQUEST and number == 0 and job.tasks:
        yield "a large cut comes first"
    for name in remedy.tried.removals if remedy.rank != Rank.WAIT else ():
        gone = explain.session.jobs.get(name.partition("/")[2])
        if gone is not None and gone.tasks and runs_on(gone):
            yield f"{name} is meant to run on"


def main() -> int:
    tried = bad = 0
    for case in sorted(path.parent for folder in sys.argv[1:]
                       for path in Path(folder).glob("*/expect.yaml")):
        ask = str(yaml.safe_load((case / "expect.yaml").read_text(encoding="utf-8"))["ask"])
        conf = case / "conf.yaml"
        explain = Cluster.read(str(case / "cluster.yaml"), conf=(
            str(conf) if conf.exists() else None)).explainer(about=ask)
        try:
            kind, uid = explain.names.find(ask)
        except LookupError:
            continue
        if kind == "pod":
            uid = explain.evidence.tasks[uid].job
        found, alone = explain.why(ask).remedies if kind != "queue" else (), None
        for number, remedy in enumerate(found):
            tried, alone = tried + 1, alone or lived(explain, Change())
            for fault in faults(explain, uid, remedy, number, alone):
                bad += 1
                print(f"{case.name}: {remedy.change}: {fault}")
    print(f"{tried} changes, {bad} faults")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
