"""`volcano-lab what-if` and `volcano-lab diff`: two clusters at rest side by side, as far as they
differ.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from volcano_lab.api import quantity_text
from volcano_lab.changes import change, change_conf, parted
from volcano_lab.cli import DONE, FOUND
from volcano_lab.cli.inputs import (
    conf_of,
    load_files,
    mistakes,
    moment,
    not_at_rest,
    warnings_of,
)
from volcano_lab.cli.output import show, styled, table, warn, wrapped
from volcano_lab.framework import load_conf
from volcano_lab.manifests import Loaded, with_defaults
from volcano_lab.manifests.admission import verdicts
from volcano_lab.messages import listed
from volcano_lab.scheduler import at_rest
from volcano_lab.trace.language import say
from volcano_lab.trace.names import Names
from volcano_lab.trace.views.cycle import Cycle

MOST_PODS = 12
"""Pods that are named; `-o json` has all."""
QUEUE = ("deserved", "allocated", "request")
JOB = ("queue", "phase", "pods", "placed", "pending")


def what_if(files: Sequence[str], settings: Sequence[str], add: Sequence[str],
            remove: Sequence[str], conf: str | None, base_conf: str | None, now: str | None,
            output: str, recursive: bool) -> int:
    """Print what a change would change. Raises `Mistake`."""
    loaded = load_files(files, recursive)
    more = load_files(add, recursive) if add else Loaded()
    of_objects, of_conf = parted(settings)
    with mistakes():
        every = Loaded([*loaded, *more], places=loaded.places | more.places)
        complete, changed = with_defaults(loaded), change(every, of_objects, remove)
    before, _ = _cycle(complete, conf_of(base_conf, loaded), base_conf, now)
    after, told = _cycle(changed, conf_of(conf or base_conf, every), conf or base_conf, now,
                         of_conf)
    refused = {verdict.text for verdict in verdicts(changed)} - {
        verdict.text for verdict in verdicts(complete)}
    warn([f"admission would refuse the change: {text}" for text in sorted(refused)])
    warn(sorted({*complete.warnings, *more.warnings, *changed.warnings, *told}))
    _show(comparison(before, after), output)
    return DONE


def diff(a: str, b: str, conf: str | None, now: str | None, output: str, recursive: bool) -> int:
    """Print in what the cycles of two exports differ; 1 where they do. Raises `Mistake`."""
    cycles = []
    for file in (a, b):
        loaded = load_files([file], recursive)
        with mistakes():
            complete = with_defaults(loaded)
        cycles.append(_cycle(complete, conf_of(conf, loaded), conf, now)[0])
    found = comparison(*cycles)
    _show(found, output)
    return FOUND if any(found.values()) else DONE


def _cycle(world: Loaded, text: str | None, conf: str | None, now: str | None,
           settings: Sequence[str] = ()) -> tuple[Cycle, list[str]]:
    """The cycle in which a cluster comes to rest, and what is said of it and its configuration."""
    with mistakes(conf):
        cycle = at_rest(world, change_conf(load_conf(text), settings), moment(now))
    return cycle, warnings_of(cycle.session) + not_at_rest(cycle)


def comparison(before: Cycle, after: Cycle) -> dict[str, list[dict[str, Any]]]:
    """In what two cycles differ, as plain data; each list is empty where they do not.

    `jobs` and `queues` have what was and what is of each value that has changed (null: not there);
    `placements` are operations that took effect in one of them only, `left_out` are the reasons
    why the second has not what the first did not leave out.

    >>> from volcano_lab.cluster import Cluster
    >>> cluster = Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1)
    >>> found = comparison(cluster.run(), cluster.node("n2", cpu=4).run())
    >>> found["jobs"][0]["placed"], len(found["placements"])
    ([0, 6], 6)
    """
    jobs = [{called(row["job"]): {name: row[name] for name in JOB} for row in cycle.jobs()}
            for cycle in (before, after) for called in (Names(cycle.session).called,)]
    queues = [{(row["queue"], resource): {name: row[name].get(resource, 0) for name in QUEUE}
               for row in cycle.queues() for resource in row["request"] | row["deserved"]
               if resource != "pods"} for cycle in (before, after)]
    done = [[tuple(row[:3]) for row in cycle.committed] for cycle in (before, after)]
    placements = [{"change": change, "operation": operation, "pod": pod, "node": node}
                  for change, ours, theirs in (("less", done[0], set(done[1])),
                                               ("more", done[1], set(done[0])))
                  for operation, pod, node in ours if (operation, pod, node) not in theirs]
    return {"jobs": [{"job": job, **values} for job, values in _differing(*jobs)],
            "placements": placements, "left_out": [
                reason for reason in after.session.snapshot.left_out
                if reason not in before.session.snapshot.left_out],
            "queues": [{"queue": queue, "resource": resource, **values}
                       for (queue, resource), values in _differing(*queues)]}


def _differing(before: dict, after: dict) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    """What is in one only, or has other values: [was, is] of each of them."""
    for key in sorted(before | after):
        was, now = before.get(key), after.get(key)
        if was != now:
            yield key, {name: [was and was[name], now and now[name]] for name in (was or now)}


def _show(found: dict[str, list[dict[str, Any]]], output: str) -> None:
    names = [f"job/{row['job']}" for row in found["jobs"]]
    show(output, found, lambda most: report(found, most), names)


def report(found: dict[str, list[dict[str, Any]]], most: int | None = 80) -> str:
    """The differences as tables of so many columns."""
    jobs = [{"job": row["job"], **{name: _text(row[name]) for name in JOB}}
            for row in found["jobs"]]
    queues = [{"queue": row["queue"], "resource": row["resource"],
               **{name: _text([quantity_text(row["resource"], value) if value is not None else None
                               for value in row[name]]) for name in QUEUE}}
              for row in found["queues"]]
    pods: dict[tuple[str, str], list[str]] = {}
    for row in found["placements"]:
        where = f" on {row['node']}" if row["node"] else ""
        pods.setdefault((row["change"], row["operation"]), []).append(row["pod"] + where)
    lines = [wrapped(say(sentence), most or 10_000) for sentence in _summary(found)]
    for (word, operation), names in pods.items():
        lines.append(wrapped(f"{'+' if word == 'more' else '-'} {operation}: "
                             f"{say(listed(names, MOST_PODS))}", most or 10_000, "  ", ""))
    parts = [styled("\n".join(lines[:1]), bold=True), "\n".join(lines[1:]),
             table(jobs, ("queue", "pods"), most, say("Jobs, before -> after")),
             table(queues, (), most, say("Queues, before -> after"))]
    return "\n\n".join(filter(None, parts))


def _summary(found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    if not any(found.values()):
        yield "Nothing differs."
        return
    better = worse = 0
    for row in found["jobs"]:
        was, now = row["pending"]
        better += now is not None and now < (was or 0)  # who is gone is not better off
        worse += (now or 0) > (was or 0)
    changes = [(row["change"], row["operation"]) for row in found["placements"]]
    placed = changes.count(("more", "allocate")) - changes.count(("less", "allocate"))
    evicted = changes.count(("more", "evict")) - changes.count(("less", "evict"))
    yield (f"{placed:+d} pods placed, {evicted:+d} evicted; jobs with fewer pods waiting: "
           f"{better}, with more: {worse}.")
    if gone := [row["job"] for row in found["jobs"] if row["phase"][1] is None]:
        yield f"Not in the cycle any more: {listed(gone)}."
    if left_out := found["left_out"]:
        yield f"Left out of the cycle: {listed(left_out)}."


def _text(pair: list[Any]) -> str:
    was, now = ("-" if value is None else str(value) for value in pair)
    return now if was == now else f"{was} -> {now}"
