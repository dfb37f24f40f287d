"""A sweep: every setting of a grid, measured, saved to a file, and returned in order."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from attrs import Factory, define

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.changes import Change
from volcano_lab.changes.conf import IN_CONF
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests import ManifestError, Unreadable, to_dict
from volcano_lab.manifests.described import ClusterObjects, checked_objects
from volcano_lab.manifests.files import values as documents
from volcano_lab.messages import NoSuch, friendly_errors, one_line
from volcano_lab.scheduler import at_rest, conf_of
from volcano_lab.simulation.simulate import lengths, simulate
from volcano_lab.simulation.sweep import saved
from volcano_lab.simulation.sweep.engines import SweepError, packed, results
from volcano_lab.simulation.sweep.metrics import METRICS, Metric, measure
from volcano_lab.trace import Part, Shown

FORM = "volcano-lab sweep 3"
MOST_SETTINGS = 1_000_000
CONF = "conf"
"""The name in a grid whose values are texts of configurations."""
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
Work = tuple[Any, Any, Mapping[str, Any], dict[str, Any] | None]
"""The base, its configuration, the metrics, and the arguments of a simulation, if it is one."""
Grid = Mapping[str, Iterable[Any]] | Iterable[str] | str
Base = Iterable[KubernetesObject] | Callable[..., Any]
World = Sequence[KubernetesObject] | Callable[..., Any]
"""A base whose objects have been checked."""
Conf = SchedulerConfiguration | str | None


@define
class Sweep(Shown):
    """The results of a sweep: `rows` (settings with their metrics) and `failures` (settings with an
    "error"), in the grid's order.
    """

    names: list[str]
    metrics: list[str]
    rows: list[dict[str, Any]] = Factory(list)
    failures: list[dict[str, Any]] = Factory(list)

    def _shown(self) -> Iterable[Part]:
        yield self.rows
        if self.failures:
            yield "Failed"
            yield self.failures

    def _frames(self) -> dict[str, list[dict[str, Any]]]:
        return {"rows": self.rows, "failures": self.failures}

    def chart(self, metric: str = "") -> Any:
        """Return an altair chart of one metric over the grid, by default the first."""
        return import_module("volcano_lab").charts.plot(self, metric)


@friendly_errors
def sweep(base: Base, grid: Grid,
          metrics: Sequence[str] | Mapping[str, Metric] = ("placed", "pending"), *,
          conf: Conf = None, over: Mapping[str, Any] | None = None, workers: int = 1,
          scheduler: str | None = None, path: str | Path | None = None,
          progress: Callable[[int, int], None] | None = None) -> Sweep:
    """Run a cycle, or a simulation, for every setting of a grid, and measure it.

    Args:
        base: A cluster or its objects, which `KIND/NAME.FIELD` and `plugin/NAME.ARGUMENT` of the
            grid change; or a function that builds one from a setting's other names, such as `seed`.
        grid: Name -> its values, or texts such as `queue/a.weight=1,2` and `queue/a.weight=1..9`;
            `conf` takes texts of configurations.
        metrics: Names, paths (`queue/a.allocated.cpu`), or name -> function of a `Cycle`.
        conf: The configuration where the grid has none; None is Volcano's default.
        over: Arguments of `simulation.simulate`: the jobs arrive and run over time instead of in
            one cycle, and the metrics are those of a `History`, such as `waiting_p95`.
        workers: Processes. The results are the same with any number.
        scheduler: The address of a Dask scheduler, or `local` for one on this machine.
        path: A file for finished results, as JSON lines; a sweep that is run again resumes from
            it.
        progress: Called with the number of finished settings, and that of all.

    Raises:
        NoSuch: No metric has that name; for a base that is no function, before anything runs.
        SweepError: A name of the grid is unknown, it has too many settings, the file is of
            another sweep, or workers cannot be started.

    >>> from volcano_lab.cluster import Cluster
    >>> base = Cluster().node("n1", cpu=8).queue("a")
    >>> base = base.job("one", queue="a", pods=8, min_member=1, cpu=1)
    >>> base = base.job("two", pods=8, min_member=1, cpu=1)
    >>> sweep(base, {"queue/a.weight": [1, 3]}, ["job/one.placed"]).rows
    [{'queue/a.weight': 1, 'job/one.placed': 4}, {'queue/a.weight': 3, 'job/one.placed': 6}]
    """
    columns = columns_of(grid)
    settings = [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]
    world = base if callable(base) else _manifests(base)
    work = (world, conf,
            dict(metrics) if isinstance(metrics, Mapping) else {name: name for name in metrics},
            None if over is None else lengths(over))
    result = Sweep(list(columns), list(work[2]))
    for name in columns:
        _check(name, columns, world, conf)
    file, identity = None if path is None else Path(path), _identity(work, columns)
    done = {} if file is None else saved.read(file, identity, settings, columns)
    items = [(number, setting) for number, setting in enumerate(settings) if number not in done]
    if items and not callable(world):
        _check_metrics(work, items[0][1])
    for number, found in results(_measured, work, items, workers, scheduler) if items else ():
        done[number] = {"error": _sentence(found)} if isinstance(found, BaseException) else found
        if file is not None:
            saved.add(file, identity, settings[number], done[number])
        if progress:
            progress(len(done), len(settings))
    for number, setting in enumerate(settings):
        kept = result.failures if "error" in done[number] else result.rows
        kept.append(setting | done[number])
    return result


def columns_of(grid: Grid) -> dict[str, list[Any]]:
    """Return the values of a grid by name. Raises `SweepError` for what is no list, or too much.

    >>> columns_of(["queue/a.weight=1,2", "seed=1..3"])
    {'queue/a.weight': [1, 2], 'seed': [1, 2, 3]}
    """
    texts = [grid] if isinstance(grid, str) else grid
    given = list(texts.items() if isinstance(texts, Mapping) else map(_column, texts))
    for name, values in given:
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise SweepError("sweep.values", name=name, values=one_line(repr(values), 100))
    columns = {name: list(values) for name, values in given}
    if len(columns) < len(given):
        raise SweepError("sweep.twice")
    if (count := prod(map(len, columns.values()))) > MOST_SETTINGS:
        raise SweepError("sweep.settings", count=count, most=MOST_SETTINGS)
    return columns


def _column(text: str) -> tuple[str, Iterable[Any]]:
    """Return the name and the values of `NAME=VALUE,VALUE` or `NAME=FIRST..LAST`."""
    name, equals, values = text.partition("=")
    if not (equals and name and values):
        raise SweepError("sweep.column", text=text)
    if span := _RANGE.fullmatch(values):
        numbers = range(int(span[1]), int(span[2]) + 1)
        if not 0 < len(numbers[:MOST_SETTINGS + 1]) <= MOST_SETTINGS:
            raise SweepError("sweep.range", text=text, most=MOST_SETTINGS)
        return name, numbers
    try:
        (found,) = documents(f"[{values}]")
    except (Unreadable, ValueError) as error:
        raise SweepError("sweep.text", text=text, error=error) from None
    return name, found


def _check_metrics(work: Work, setting: Mapping[str, Any]) -> None:
    """Refuse metrics that the first setting does not have. Raises `NoSuch`."""
    named = {name: metric for name, metric in work[2].items()
             if not callable(metric) and metric not in (METRICS if work[3] is None else ())}
    if named:
        _measured((*work[:2], named, work[3]), setting, passed=NoSuch)


def _check(name: str, columns: Mapping[str, list[Any]], base: World, conf: Conf) -> None:
    """Refuse a name of a grid that can have no value. Raises `SweepError`."""
    if callable(base) or name == CONF or not columns[name] or (
            name.startswith(IN_CONF) and CONF in columns):
        return  # one configuration may have a field that another lacks
    if "/" not in name:
        raise SweepError("sweep.field", name=name)
    found = ""
    for value in (columns[name][0], None, True):  # null for no value, true for a switch
        try:
            Change((f"{name}={_text(value)}",)).given(base, conf_of(conf))
            return
        except ManifestError as error:
            found = found or error.problems[0]
    raise SweepError("sweep.problem", problem=found)


def _measured(work: Work, setting: Mapping[str, Any], passed: Any = ()) -> dict[str, Any]:
    """Return the metrics of one setting, or {"error": a sentence}. Raises what is `passed`."""
    base, conf, metrics, over = work
    try:
        if callable(base):
            base = _manifests(base(**{name: value for name, value in setting.items()
                                      if name != CONF and "/" not in name}))
        changes = tuple(f"{name}={_text(value)}" for name, value in setting.items() if "/" in name)
        world, read = Change(changes).given(base, conf_of(setting.get(CONF, conf)))
        found = at_rest(world, read) if over is None else simulate(world, read, **over)
        return {name: metric(found) if callable(metric) else measure(metric, found)
                for name, metric in metrics.items()}
    except passed:
        raise
    except Exception as error:
        return {"error": _sentence(error)}


def _manifests(base: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """Return the manifests of a cluster, or objects unchanged."""
    return base.manifests() if isinstance(base, ClusterObjects) else checked_objects(base)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _sentence(error: BaseException) -> str:
    text = str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)
    return one_line(text or type(error).__name__)


def _identity(work: tuple[Any, ...], columns: Iterable[str]) -> str:
    """Return what a sweep has in common with others of the same base and metrics, whatever the
    values of its grid are.
    """
    base, conf, metrics, over = work
    written = packed(base) if callable(base) else json.dumps(
        [to_dict(obj) for obj in base]).encode()
    own = sorted(name for name, metric in metrics.items() if callable(metric))
    words = json.dumps([FORM, list(columns), list(metrics), own, f"{conf}{over or ''}"])
    return hashlib.sha256(written + words.encode()).hexdigest()[:16]
