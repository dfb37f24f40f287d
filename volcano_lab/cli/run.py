"""`volcano-lab run`: one cycle on manifests, as tables for people or as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import yaml
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from volcano_lab.api.formatting import quantity_text
from volcano_lab.cache import Cache
from volcano_lab.cli import Mistake
from volcano_lab.explain.lint import ignored_fields
from volcano_lab.explain.names import Names
from volcano_lab.framework.config.conf import ConfError
from volcano_lab.framework.session import Session
from volcano_lab.manifests import loader as manifests
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.scheduler import run_cycle
from volcano_lab.trace.views.cycle import QUEUE_COLUMNS, Cycle

WIDTH = 120
"""Columns where the output is no terminal."""
MOST_NAMES = 5
"""Jobs that wait for the same reasons and are named; the others are counted."""


def run(files: list[str], conf: str | None, output: str, now: str | None = None) -> int:
    """Run a cycle and print what it decided; warnings go to the error output."""
    cycle, warnings = schedule(files, conf, now)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if output == "json":
        print(json.dumps(cycle.as_dict(), indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)
        console.print(report(cycle))
    return 0


def schedule(files: list[str], conf: str | None,
             now: str | None = None) -> tuple[Cycle, list[str]]:
    """The cycle on some files, and sentences about what has no effect. Raises `Mistake`."""
    loaded, text = load_files(files), conf_text(conf)
    try:
        loaded = with_defaults(loaded)
        cycle = run_cycle(Cache(loaded), text, moment(now))
    except ManifestError as error:
        raise Mistake(str(error)) from None
    except ConfError as error:
        raise Mistake(f"{conf}: {error}") from None
    return cycle, loaded.warnings + warnings_of(cycle.session)


def warnings_of(ssn: Session) -> list[str]:
    """What a configuration and its plugins say of themselves, and fields that nothing reads."""
    return ssn.conf.warnings + ssn.warnings + ignored_fields(ssn)


def load_files(files: list[str]) -> manifests.Loaded:
    """The objects of some files, folders or "-" (the input), with their `warnings`. Raises
    `Mistake`.
    """
    try:
        return manifests.load(*(sys.stdin if name == "-" else name for name in files))
    except ManifestError as error:
        raise Mistake(str(error)) from None


def conf_text(conf: str | None) -> str | None:
    """The text of a volcano-scheduler.conf, or of the one in a ConfigMap; None for Volcano's
    default. Raises `Mistake`.
    """
    try:
        text = None if conf is None else Path(conf).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(
            f"{conf}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})"
        ) from None
    return text if text is None or "ConfigMap" not in text else _in_config_map(text, conf)


def _in_config_map(text: str, conf: str) -> str:
    """The configuration in a ConfigMap; any other text is taken as it is."""
    try:
        maps = [part for part in yaml.safe_load_all(text)
                if isinstance(part, dict) and part.get("kind") == "ConfigMap"]
    except yaml.YAMLError:
        return text
    found = [(key, value) for part in maps for key, value in (part.get("data") or {}).items()
             if key.endswith(".conf")]
    if maps and len(found) != 1:
        raise Mistake(f"{conf}: the ConfigMap has {len(found)} keys of data that end in .conf; "
                      "allowed is one, such as volcano-scheduler.conf")
    return found[0][1] if found else text


def moment(text: str | None) -> float | None:
    """A time in seconds since 1970: of a day (UTC), or an hour of today. Raises `Mistake`.

    >>> moment("2026-01-01T13:00Z"), moment("13:30") % 86400, moment(None)
    (1767272400.0, 48600.0, None)
    """
    if text is None:
        return None
    today = datetime.now(UTC).date().isoformat()
    try:
        found = datetime.fromisoformat(text if "-" in text else f"{today}T{text}")
    except ValueError:
        raise Mistake(f'--now is "{text}"; allowed is a time such as 13:30 or '
                      "2026-01-01T13:30Z (UTC where no zone is named)") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def report(cycle: Cycle) -> Group:
    """All tables of a cycle, and at the end what waits."""
    return Group(queue_table(cycle), "", job_table(cycle), "", placement_table(cycle), "",
                 *waiting(cycle))


def queue_table(cycle: Cycle) -> RenderableType:
    """A row a queue and resource. Only resources that somebody asks for or deserves are shown, pods
    are not.
    """
    columns = ("queue", "weight", "share", "overused", "resource", *(name.replace("_", " ")
                                                                     for name in QUEUE_COLUMNS))
    table = _table("Queues, in the order in which they were considered", *columns,
                   left=("queue", "overused", "resource"))
    order = {name: number for number, name in enumerate(cycle.queue_order)}
    for row in sorted(cycle.queues(), key=lambda row:
                      (order.get(row["queue"], len(order)), row["queue"])):
        names = [
            name for name in row["request"] | row["deserved"] | row["allocated"]
            if name != "pods" and any(
                row[column].get(name)
                for column in ("request", "deserved", "allocated", "guarantee"))
        ]
        about = [
            row["queue"],
            str(row["weight"]), f"{row['share']:.3g}", "yes" if row["overused"] else "no"
        ]
        for name in names or [""]:
            cells = [quantity_text(name, row[column].get(name, 0))
                     for column in QUEUE_COLUMNS] if name else []
            table.add_row(*about, name, *cells)
            about = [""] * len(about)
    if not table.rows:
        return Text("No queue has jobs, or no plugin shares between queues (proportion, capacity).")
    return table


def job_table(cycle: Cycle) -> RenderableType:
    names = Names(cycle.session)
    columns = ("job", "queue", "phase", "pods", "minimum", "placed", "pending")
    table = _table("Jobs", *columns, left=("job", "queue", "phase"))
    for row in cycle.jobs():
        numbers = [str(row[name]) for name in ("pods", "min_member", "placed", "pending")]
        table.add_row(names.called(row["job"]), row["queue"], row["phase"], *numbers)
    return table if table.rows else Text("There are no jobs.")


def placement_table(cycle: Cycle) -> RenderableType:
    """What took effect, a row a job and operation, with the number of pods on each node."""
    table = _table("What took effect", "job", "operation", "pods", "nodes",
                   left=("job", "operation", "nodes"))
    jobs = {task.key: uid for uid, job in cycle.session.jobs.items() for task in job.tasks.values()}
    nodes: dict[tuple[str, str], Counter[str]] = {}
    names = Names(cycle.session)
    for operation, pod, node, *_ in cycle.committed:
        nodes.setdefault((jobs.get(pod, pod), operation), Counter())[node] += 1
    for (job, operation), counts in nodes.items():
        where = ", ".join(
            node if count == 1 else f"{node} x{count}" for node, count in counts.items())
        table.add_row(names.called(job), operation, str(counts.total()), where)
    return table if nodes else Text("Nothing took effect.")


def waiting(cycle: Cycle) -> list[RenderableType]:
    """Every job with waiting pods and the reasons, then what the scheduler never got to see."""
    lines: list[RenderableType] = []
    groups: dict[tuple[str, ...], list[str]] = {}
    names = Names(cycle.session)
    for row in cycle.jobs():
        if row["why"]:
            groups.setdefault(tuple(row["why"]), []).append(
                f"{names.called(row['job'])} ({row['pending']} of {row['pods']} pods)")
    for why, jobs in groups.items():
        shown = ", ".join(jobs[:MOST_NAMES])
        more = f" and {len(jobs) - MOST_NAMES} more jobs" if len(jobs) > MOST_NAMES else ""
        lines.append(Text(f"{shown}{more} wait{'s' if len(jobs) == 1 else ''}:", style="bold"))
        lines += [Padding(Text(reason), (0, 0, 0, 2)) for reason in why]
    if lines:
        lines += [
            Text(
                "`volcano-lab why FILE... NAME` explains one of them, and finds what would change it.",
                style="dim")
        ]
    left_out = cycle.session.snapshot.left_out
    if left_out:
        lines += [Text("Left out of the cycle:", style="bold")]
        lines += [Padding(Text(reason), (0, 0, 0, 2)) for reason in left_out]
    return lines


def _table(title: str, *columns: str, left: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False,
                  padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right", header_style="dim",
                         overflow="fold", no_wrap=column in ("queue", "job", "overused"))
    return table
