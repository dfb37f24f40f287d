"""What becomes of the changes that `why` offers: each is run for some cycles.

    benchmarks/advice.py FOLDER...    folders of cases: cluster.yaml, expect.yaml (`ask`), conf.yaml

Exit code 1 where, after a change, the job does not run, a pod is evicted again and again, a gang
falls below its minimum that the change does not name, or where a change is one that is never
offered: what is meant to run on is deleted, or a request cut by more than a third comes first.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml

from volcano_lab.cluster import Cluster
from volcano_lab.explain.explainer import Explainer
from volcano_lab.explain.options import Rank
from volcano_lab.explain.outcome import Outcome, ready
from volcano_lab.explain.owners import runs_on
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.trial import silent
from volcano_lab.scheduler import life

CYCLES = 15


def lived(explain: Explainer, remedy: Remedy) -> tuple[Outcome, Counter[str]]:
    """What became of the cluster, and how often each pod was evicted."""
    found, evicted = Outcome(), Counter[str]()
    objects, conf = remedy.made.given(explain.evidence.given, explain.conf)
    with silent():
        for cycle in life(objects, conf, explain.now, CYCLES, at_once=False):
            evicted.update(found.add(cycle.session))
    return found, evicted


def faults(explain: Explainer, uid: str, remedy: Remedy, number: int) -> Iterator[str]:
    """What is wrong with a change, the first one being number 0."""
    after, evicted = lived(explain, remedy)
    job = explain.session.jobs[uid]
    if not after.runs(uid):
        yield "the job does not run"
    yield from (f"{pod} is evicted {count} times" for pod, count in evicted.items() if count > 1)
    for other, before in explain.session.jobs.items():
        least = before.min_available
        if (other != uid and ready(before) >= least > max(after.fewest.get(other, least), 0)
                and least > 1 and other not in remedy.price.breaks
                and other not in remedy.price.ends and after.evicted[other]):
            yield f"{other} is broken, which is not said"
    if remedy.rank == Rank.REQUEST and number == 0 and job.tasks:
        yield "a large cut comes first"
    for name in remedy.made.removals if remedy.rank != Rank.WAIT else ():
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
        for number, remedy in enumerate(explain.why(ask).remedies if kind != "queue" else ()):
            tried += 1
            for fault in faults(explain, uid, remedy, number):
                bad += 1
                print(f"{case.name}: {remedy.change}: {fault}")
    print(f"{tried} changes, {bad} faults")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
