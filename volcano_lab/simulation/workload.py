"""Arrivals and run times of jobs: fixed intervals, a Poisson process, or a trace from a file."""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

from attrs import Factory, define, field

from volcano_lab.api.objects import Pod, PodGroup, PriorityClass
from volcano_lab.manifests import Reader, Unreadable
from volcano_lab.manifests.described import ClusterObjects
from volcano_lab.messages import Message, Misuse, OneSentence, friendly_errors, mark

_TIME = r"([0-9]+\.?[0-9]*|\.[0-9]+)(s|m|h|d|)"
_LENGTH = re.compile(rf"(?:(uniform|exponential):)?{_TIME}(?:\.\.{_TIME})?")
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class WorkloadError(OneSentence, ValueError):
    """A workload that can't be simulated: which entry, which field, what was found, what is
    allowed.
    """


@define(slots=True, frozen=True)
class Spread:
    """A random duration: "constant" `a`, "uniform" from `a` to `b`, or "exponential" with mean `a`,
    in seconds.

    >>> Spread("uniform", 1.0, 2.0).draw(Random(1))
    1.134364
    """

    kind: str = "constant"
    a: float = 0.0
    b: float = 0.0

    def __attrs_post_init__(self) -> None:
        fits = {"constant": self.a >= 0, "uniform": 0 <= self.a <= self.b,
                "exponential": self.a > 0}
        if not (fits.get(self.kind) and isfinite(self.a) and isfinite(self.b)):
            found = self.a if self.kind == "constant" else (self.kind, self.a, self.b)
            raise WorkloadError("workload.length", value=repr(found))

    @property
    def passes(self) -> bool:
        """Whether the duration can be more than zero."""
        return self.a > 0 or self.b > 0

    def draw(self, random: Random) -> float:
        """Draw one duration, in seconds, to the microsecond."""
        if self.kind == "constant":
            return self.a
        return round(random.uniform(self.a, self.b)
                     if self.kind == "uniform" else random.expovariate(1 / self.a), 6)


def spread(value: float | str | Spread | Sequence[Any]) -> Spread:
    """Return a number as a constant, ("uniform", 1, 2) and the like as a `Spread`, and the same
    from text. Raises `WorkloadError`.

    >>> spread("10m"), spread(("exponential", 60)) == spread("exponential:60s")
    (Spread(kind='constant', a=600.0, b=0.0), True)
    """
    if isinstance(value, Spread):
        return value
    if isinstance(value, int | float):
        return Spread("constant", float(value))
    parts = _parts(value) if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not 2 <= len(parts) <= 3:
        raise WorkloadError("workload.length", value=repr(value))
    return Spread(*parts)


def _parts(text: str) -> list[Any]:
    """Return the kind of a length of time and its numbers in seconds; [] for other text."""
    if not (found := _LENGTH.fullmatch(text)):
        return []
    kind, a, unit, b, unit_of_b = found.groups()
    numbers = [float(number) * UNITS[each] for number, each in ((a, unit), (b, unit_of_b))
               if number]
    return [kind or "constant", *numbers] if kind or len(numbers) == 1 else []


def seconds(value: float | str) -> float:
    """Return one length of time above 0 in seconds. Raises `WorkloadError`.

    >>> seconds("2h"), seconds(5)
    (7200.0, 5.0)
    """
    found = spread(value)
    if found.kind != "constant" or not found.passes:
        raise WorkloadError("workload.seconds", value=repr(value))
    return found.a


Built = tuple[PodGroup, list[Pod], list[Pod]]


@friendly_errors
@define(slots=True)
class JobTemplate:
    """A kind of job, with the arguments of `Cluster.job`; `run_time` is the run time of each of its
    pods, in seconds. These are created once the PodGroup is admitted, as a Volcano Job's are; with
    `at_once` together with it, as others are.
    """

    name: str = "job"
    queue: str = "default"
    pods: int = 1
    cpu: float | str | None = None
    memory: str | None = None
    gpu: int | None = None
    min_member: int | None = None
    priority: int | None = None
    priority_class: str | None = None
    run_time: Spread | None = field(default=Spread(a=60.0), converter=spread)
    at_once: bool = False

    def build(self, name: str, classes: Iterable[PriorityClass] = ()) -> Built:
        """Return the PodGroup of one such job, given the cluster's PriorityClasses, the pods that
        are created with it, and later ones: without first ones once it is admitted, else once
        these run.

        Raises `ManifestError` for what can't be a job.
        """
        arguments = {word: getattr(self, word) for word in WORDS}
        unborn = [obj.changed(metadata={"uid": "", "creation_timestamp": None})
                  for obj in ClusterObjects(classes).job(name, **arguments).objects()]
        group = next(obj for obj in unborn if isinstance(obj, PodGroup))
        pods = [obj for obj in unborn if isinstance(obj, Pod)]
        return (group, pods, []) if self.at_once else (group, [], pods)


WORDS = ("queue", "pods", "cpu", "memory", "gpu", "min_member", "priority", "priority_class")
"""The arguments of a template for `Cluster.job`."""


@define(slots=True)
class Arrivals:
    """A stream of jobs: one of `templates` at a time, after each `gap`, `count` of them (None: no
    end).

    With `times` they arrive at these seconds instead, the first of the first template and so on: a
    trace. Raises `WorkloadError` for an endless stream without time between jobs.

    >>> stream = every(10, JobTemplate(cpu=1), count=2)
    >>> stream.next_gap(0, Random(1)), stream.next_gap(2, Random(1))
    (10.0, None)
    """

    templates: list[JobTemplate] = Factory(list)
    gap: Spread = field(default=Spread(a=10.0), converter=spread)
    count: int | None = None
    times: list[float] | None = None

    def __attrs_post_init__(self) -> None:
        if self.endless and not self.gap.passes:
            raise WorkloadError("workload.endless")

    @property
    def endless(self) -> bool:
        """Whether jobs arrive for ever."""
        return self.times is None and self.count is None

    def next_gap(self, created: int, random: Random) -> float | None:
        """Return the seconds from the previous job (or the start) to the next; None at the end."""
        if self.times is not None:
            before = self.times[created - 1] if created else 0.0
            return self.times[created] - before if created < len(self.times) else None
        return None if self.count is not None and created >= self.count else self.gap.draw(random)

    def template(self, created: int, random: Random) -> JobTemplate:
        """Draw the template of the next job."""
        return self.templates[created] if self.times is not None else random.choice(self.templates)


@friendly_errors
def every(seconds: float, *templates: JobTemplate, count: int | None = None) -> Arrivals:
    """Create a job at fixed intervals."""
    return Arrivals(list(templates), seconds, count)


@friendly_errors
def poisson(rate: float, *templates: JobTemplate, count: int | None = None) -> Arrivals:
    """Create on average `rate` jobs per second, independent of each other.

    >>> poisson(0.5, JobTemplate()).gap
    Spread(kind='exponential', a=2.0, b=0.0)
    """
    if not rate > 0:
        raise WorkloadError("workload.rate", rate=repr(rate))
    return Arrivals(list(templates), ("exponential", 1 / rate), count)


@friendly_errors
def trace(rows: str | Path | Sequence[Mapping[str, Any]]) -> Arrivals:
    """Create jobs at given times: rows with `time` and the fields of `JobTemplate`, or a file of
    them: CSV, JSON lines, or the Standard Workload Format (`.swf`), where a processor is a pod with
    a CPU.

    Raises `WorkloadError`.

    >>> trace([{"time": 5, "name": "a", "cpu": 1}, {"time": 1, "name": "b", "cpu": 2}]).times
    [1.0, 5.0]
    """
    where = "trace" if not isinstance(rows, str | Path) else str(rows)
    entries = _in_file(Path(rows)) if isinstance(rows, str | Path) else rows
    jobs: list[tuple[float, JobTemplate]] = []
    names: dict[str, int] = {}
    for number, row in enumerate(entries, 1):
        if not isinstance(row, Mapping):
            raise WorkloadError("workload.row", where=where, number=number, row=repr(row))
        time, template = _job({"name": f"job-{number}"} | dict(row),
                              str(Message("workload.place", where=where, number=number)))
        if template.name in names:
            raise WorkloadError("workload.twice", where=where, number=number, name=template.name,
                                before=names[template.name])
        names[template.name] = number
        jobs.append((time, template))
    jobs.sort(key=lambda job: job[0])
    return Arrivals([template for _, template in jobs], times=[time for time, _ in jobs])


NUMBERS = {"time": float, "run_time": float, "pods": int, "gpu": int, "min_member": int,
           "priority": int, "at_once": int}
NUMBER = re.compile(r"-?\d{1,18}(\.\d+)?")


def _job(row: Mapping[str, Any], where: str) -> tuple[float, JobTemplate]:
    values = {}
    for key, value in row.items():
        try:
            plain = key in NUMBERS and not isinstance(value, list | tuple)
            values[key] = NUMBERS[key](value) if plain else value
        except (TypeError, ValueError):
            raise WorkloadError("workload.number", where=where,
                                key=key, value=repr(value)) from None
    if not (values.get("time", -1.0) >= 0 and isfinite(values["time"])):
        raise WorkloadError("workload.time", where=where, time=repr(row.get("time")))
    try:
        return values.pop("time"), JobTemplate(**values)
    except (WorkloadError, Misuse) as error:
        raise WorkloadError(f"{where}{mark(': ')}{error}") from None


def _in_file(path: Path) -> list[dict[str, Any]]:
    """Return a file's jobs. Raises `WorkloadError`."""
    try:
        text = Reader().text(path)
        if path.suffix == ".swf":
            return _swf(text.split("\n"))
        if path.suffix != ".csv":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        rows = csv.DictReader(text.splitlines(keepends=True), strict=True)
        return [{key: text for key, text in row.items() if text not in (None, "")} for row in rows]
    except (Unreadable, ValueError, RecursionError, csv.Error) as error:
        raise WorkloadError("workload.unreadable", path=path, error=error) from None


def _swf(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the jobs that ran, with times since the first one, of lines with number, submitted,
    waited, ran, processors and so on.
    """
    found: list[dict[str, Any]] = []
    for at, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(";"):
            continue
        words = line.split()[:10]
        if len(words) < 10 or not all(map(NUMBER.fullmatch, words)):
            raise ValueError(str(Message("workload.swf", at=at, line=repr(line))))
        number, submitted, _, ran, held, _, used, asked, _, memory = map(float, words)
        pods, memory = int(asked if asked > 0 else held), memory if memory > 0 else used
        if ran > 0 and pods > 0:
            found.append({"name": f"job-{int(number)}", "time": submitted, "run_time": ran,
                          "pods": pods, "cpu": 1}
                         | ({"memory": f"{int(memory)}Ki"} if memory > 0 else {}))
    first = min((row["time"] for row in found), default=0.0)
    return [row | {"time": row["time"] - first} for row in found]
