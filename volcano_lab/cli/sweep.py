"""`volcano-lab sweep`: a cycle for every setting of a grid, on one core, several, or Dask."""

import re
import sys
from collections.abc import Sequence
from typing import Any

from volcano_lab.cli import DONE, FOUND, Mistake
from volcano_lab.cli.inputs import cluster_of, conf_file
from volcano_lab.cli.output import show, warn
from volcano_lab.cli.simulate import over_time
from volcano_lab.manifests.conf import conf_text
from volcano_lab.manifests.files import Unreadable, values
from volcano_lab.simulation.sweep import Sweep
from volcano_lab.simulation.sweep.run import CONF

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
MOST_VALUES = 100_000


def sweep(files: Sequence[str], grid: Sequence[str], metrics: Sequence[str] = (),
          conf: str | None = None, workers: int = 1, scheduler: str | None = None,
          results: str | None = None, plot: str | None = None, output: str = "table",
          recursive: bool = False, context: str | None = None, **time: Any) -> int:
    """Run and print a sweep; 1 if a setting failed. Raises `Mistake`."""
    cluster = cluster_of(files, conf, recursive, context)
    over = over_time(**time) if any(time.values()) else None
    default = ("placed", "pending") if over is None else ("waiting_median", "waiting_p95")
    columns = dict(pairs := [column(each) for each in grid])
    if len(columns) < len(pairs):
        raise Mistake("--grid is given twice with the same name; allowed is once, with "
                      "all values")
    files_of = {conf_text(conf_file(str(file))): file for file in columns.get(CONF, ())}
    if files_of:
        columns[CONF] = list(files_of)
    found = cluster.sweep(columns, list(metrics or default), over=over, workers=workers,
                          scheduler=scheduler, path=results,
                          progress=_progress if sys.stderr.isatty() else None)
    warn(found.warnings)
    for row in found.rows + found.failures if files_of else ():
        row[CONF] = files_of[row[CONF]]
    if plot:
        _plot(found, plot)
    data = {"rows": found.rows, "failures": found.failures}
    show("table" if output == "name" else output, data, found)
    return FOUND if found.failures else DONE


def column(text: str) -> tuple[str, list[Any]]:
    """Return a name of a grid and its values.

    >>> column("queue/a.weight=1,2"), column("seed=1..3"), column("conf=a.conf,b.conf")
    (('queue/a.weight', [1, 2]), ('seed', [1, 2, 3]), ('conf', ['a.conf', 'b.conf']))
    """
    name, equals, given = text.partition("=")
    if not (equals and name and given):
        raise Mistake('--grid is "{text}"; allowed is NAME=VALUE,VALUE or NAME=FIRST..LAST',
                      text=text)
    if span := _RANGE.fullmatch(given):
        numbers = range(int(span[1]), int(span[2]) + 1)
        if not 0 < len(numbers[:MOST_VALUES + 1]) <= MOST_VALUES:
            raise Mistake('--grid is "{text}"; allowed is a range of 1 to {most_values:,} '
                          "numbers", text=text, most_values=MOST_VALUES)
        return name, list(numbers)
    try:
        (found,) = values(f"[{given}]")
    except (Unreadable, ValueError) as error:
        raise Mistake('--grid is "{text}": {error}', text=text, error=error) from None
    return name, found


def _progress(done: int, of: int) -> None:
    print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _plot(found: Sweep, path: str) -> None:
    try:
        found.chart().save(path)
    except ImportError as error:
        raise Mistake(f"--plot: {error}") from None
    except (OSError, ValueError) as error:
        raise Mistake("--plot is {path}: {reason}; allowed is a file that ends in .html, "
                      ".svg, .png or .json", path=path,
                      reason=getattr(error, "strerror", None) or error) from None
