"""`volcano-lab run`: one cycle on manifests, as tables for users or as plain data for programs."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from volcano_lab.api import quantity_text
from volcano_lab.cli import DONE, FOUND, Mistake, inputs
from volcano_lab.cli.output import show, styled, table, warn, width
from volcano_lab.manifests import ManifestError
from volcano_lab.messages import Message, OneSentence, wrapped
from volcano_lab.server.folder import stamp
from volcano_lab.trace import Names, Trace, grouped
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.trace.views.queues import SUMS

MOST_JOBS = 60
"""Up to this number all jobs are listed; beyond it, those that wait."""
DROPPED = ("elastic", "inqueue", "guarantee", "weight", "overused", "real capability", "share")
"""Columns of queues that are dropped first if the width is small."""


def run(files: Sequence[str], conf: str | None, output: str, namespace: str, now: str | None,
        recursive: bool, fail_on_pending: bool = False, keep: bool = False,
        cycles: int = 1, context: str | None = None, verbosity: int = 0
        ) -> int:
    """Run a cycle, or more of them until the cluster is at rest, and print the decisions; warnings
    are written to the error output. `keep`: again, whenever a file changes.
    """
    if keep:
        return watch(files, lambda: run(files, conf, output, namespace, now, recursive,
                                        cycles=cycles, verbosity=verbosity))
    cluster = inputs.cluster_of(files, conf, recursive, context)
    try:
        warnings = cluster.admit()
    except ManifestError as error:
        raise ManifestError([*error.found, Message("run.refused", commands=[
            "volcano-lab why", "volcano-lab lint"])]) from None
    cycle = cluster.run(now=inputs.moment(now), cycles=cycles, trace=Trace() if verbosity else None)
    if verbosity:
        print(*cycle.log(verbosity), "", sep="\n")
    warnings = warnings + cluster.warnings(cycle, cycles)
    warn(warnings)
    jobs = sorted((row for row in cycle.jobs()
                   if not namespace or row["job"].startswith(f"{namespace}/")),
                  key=lambda row: row["job"])
    if namespace and not jobs and cycle.session.jobs:
        names = sorted({job.namespace for job in cycle.session.jobs.values()})
        warn([_text("no_namespace", namespace=namespace, names=names)])
    pods = [row for row in cycle.placements()
            if not namespace or row["pod"].startswith(f"{namespace}/")]
    data = cycle.as_dict() | {"jobs": jobs, "placements": pods, "warnings": [*map(str, warnings)]}
    show(output, data, lambda most: report(cycle, jobs, most),
         [f"job/{row['job']}" for row in jobs])
    return FOUND if fail_on_pending and _waits(cycle, jobs, namespace) else DONE


def _waits(cycle: Cycle, jobs: list[dict[str, Any]], namespace: str) -> bool:
    """Return whether one of these jobs waits, also for resources that are being freed, or one of
    the namespace is left out of the cycle.
    """
    absent = [why.facts["name"] for why in cycle.session.snapshot.jobs_left_out]
    return any(row["pending"] or row["pipelined"] for row in jobs) or any(
        name.startswith(f"{namespace}/" if namespace else "") for name in absent)


def watch(files: Sequence[str], again: Callable[[], int]) -> int:
    """Run again whenever one of the files changes, until Ctrl-C; report errors in them."""
    known: dict[Path, Any] = {}
    while True:
        found = {path: stamp(path) for file in files
                 for path in (Path(file), *Path(file).rglob("*"))}
        if found != known:
            known = found
            print(f"-- {datetime.now():%H:%M:%S}")
            try:
                again()
            except (Mistake, OneSentence) as mistake:
                print(mistake, flush=True)
        time.sleep(0.5)


def report(cycle: Cycle, jobs: Sequence[dict[str, Any]], most: int | None = 80) -> str:
    """Return jobs, the reasons of pending ones, commits and queues, as text of some width."""
    lines = width() if most is None else most
    parts = [job_table(jobs, most) or _text("none_waits" if jobs else "no_jobs"),
             "\n".join(waiting(cycle, jobs, lines)),
             placement_table(cycle, {row["job"] for row in jobs}, most) or _text("no_effects"),
             queue_table(cycle, most) or _text("no_queues", queues=sorted(cycle.session.queues))]
    return "\n\n".join(filter(None, parts))


def _text(code: str, **facts: Any) -> str:
    return str(Message(f"run.{code}", **facts))


def job_table(jobs: Sequence[dict[str, Any]], most: int | None = 80) -> str:
    """Return a row per job; if there are very many, only those that wait."""
    waits = [row for row in jobs if row["pending"]]
    shown = jobs if most is None or len(jobs) <= MOST_JOBS else waits
    rows = [{"job": row["job"], "queue": row["queue"], "phase": row["phase"],
             "pods": row["pods"], "minimum": row["min_member"], "placed": row["placed"],
             "pipelined": row["pipelined"], "pending": row["pending"]} for row in shown]
    title = _text("jobs") if shown is jobs else _text("jobs_waiting", others=len(jobs) - len(waits))
    return table(rows, ("minimum", "pipelined"), most, title)


def queue_table(cycle: Cycle, most: int | None = 80) -> str:
    """Return a row per queue and resource. Only resources that are requested or deserved are shown,
    pods are not.
    """
    order = {name: number for number, name in enumerate(cycle.queue_order)}
    rows = []
    for row in sorted(cycle.queues(), key=lambda row:
                      (order.get(row["queue"], len(order)), row["queue"])):
        names = [name for name in row["request"] | row["deserved"] | row["allocated"]
                 if name != "pods" and any(row[column].get(name) for column in
                                           ("request", "deserved", "allocated", "guarantee"))]
        about = {"queue": row["queue"], "weight": row["weight"], "share": f"{row['share']:.3g}",
                 "overused": "yes" if row["overused"] else "no"}
        for name in names or [""]:
            amounts = {column.replace("_", " "): quantity_text(name, row[column].get(name, 0))
                       if name else "" for column in SUMS}
            rows.append({**about, "resource": name, **amounts})
            about = dict.fromkeys(about, "")
    return table(rows, DROPPED, most, _text("queues"))


def placement_table(cycle: Cycle, jobs: Container[str], most: int | None = 80) -> str:
    """Return a row per job and committed operation, with the number of pods on each node."""
    called = Names(cycle.session).called
    owners = {task.key: called(uid) for uid, job in cycle.session.jobs.items()
              for task in job.tasks.values()}
    nodes: dict[tuple[str, str], Counter[str]] = {}
    for operation, pod, node, *_ in cycle.committed:
        nodes.setdefault((owners.get(pod, pod), operation), Counter())[node] += 1
    rows = [{"job": job, "operation": operation, "pods": counts.total(), "nodes": ", ".join(
        node if count == 1 else f"{node} x{count}" for node, count in counts.items())}
            for (job, operation), counts in nodes.items() if job in jobs]
    return table(rows, (), most, _text("effects"))


def waiting(cycle: Cycle, jobs: Sequence[dict[str, Any]], most: int) -> Iterator[str]:
    """Return every job with waiting pods and the reasons, then pods that no scheduler received."""
    groups = grouped((tuple(row["why"]), Message(
        "run.pods_later" if row["missing"] else "run.pods", job=row["job"],
        pending=row["pending"], pods=row["pods"] + row["missing"], missing=row["missing"]))
        for row in jobs if row["why"])
    for why, waits in groups.items():
        sentence = _text("wait", n=len(waits), jobs=waits)
        yield from (styled(line, bold=True) for line in wrapped(sentence, most).splitlines())
        yield from (wrapped(reason, most, "  ") for reason in why)
    if groups:
        yield wrapped(_text("why", command="volcano-lab why FILE... NAME"), most)
    if left_out := cycle.session.snapshot.left_out:
        yield styled(_text("left_out"), bold=True)
        yield from (wrapped(str(reason), most, "  ") for reason in left_out)
