"""`volcano-lab sweep`: a cycle for every setting of a grid, on one core, several, or Dask."""

import re
import sys
from collections.abc import Sequence
from typing import Any

from volcano_lab.cli import DONE, FOUND, Mistake
from volcano_lab.cli.inputs import conf_of, conf_text, load_files, mistakes
from volcano_lab.cli.output import show, table, warn
from volcano_lab.manifests.files import Unreadable, values
from volcano_lab.messages import NoSuch
from volcano_lab.simulation.sweep import Sweep, SweepError
from volcano_lab.simulation.sweep import sweep as run_sweep
from volcano_lab.simulation.sweep.run import CONF

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
MOST_VALUES = 100_000


def sweep(files: Sequence[str], grid: Sequence[str], metrics: Sequence[str] = (),
          conf: str | None = None, workers: int = 1, scheduler: str | None = None,
          results: str | None = None, plot: str | None = None, output: str = "table",
          recursive: bool = False) -> int:
    """Run and print a sweep; 1 where a setting failed. Raises `Mistake`."""
    loaded = load_files(files, recursive)
    columns = dict(pairs := [column(each) for each in grid])
    if len(columns) < len(pairs):
        raise Mistake("--grid is given twice with the same name; allowed is once, with all values")
    files_of = {conf_text(str(file)): file for file in columns.get(CONF, ())}
    if files_of:
        columns[CONF] = list(files_of)
    try:
        with mistakes(conf):
            found = run_sweep(list(loaded), columns, list(metrics or ("placed", "pending")),
                              conf=conf_of(conf, loaded), workers=workers, scheduler=scheduler,
                              path=results, progress=_told if sys.stderr.isatty() else None)
    except (SweepError, NoSuch) as error:
        raise Mistake(str(error)) from None
    warn(found.told)
    for row in found.rows + found.failures if files_of else ():
        row[CONF] = files_of[row[CONF]]
    if plot:
        _plot(found, plot)
    data = {"rows": found.rows, "failures": found.failures}
    show("table" if output == "name" else output, data, lambda most: "\n\n".join(filter(None, (
        table(found.rows, (), most), table(found.failures, (), most, "Failed")))))
    return FOUND if found.failures else DONE


def column(text: str) -> tuple[str, list[Any]]:
    """Return a name of a grid and its values.

    >>> column("queue/a.weight=1,2"), column("seed=1..3"), column("conf=a.conf,b.conf")
    (('queue/a.weight', [1, 2]), ('seed', [1, 2, 3]), ('conf', ['a.conf', 'b.conf']))
    """
    name, equals, given = text.partition("=")
    if not (equals and name and given):
        raise Mistake(f'--grid is "{text}"; allowed is NAME=VALUE,VALUE or NAME=FIRST..LAST')
    if span := _RANGE.fullmatch(given):
        numbers = range(int(span[1]), int(span[2]) + 1)
        if not 0 < len(numbers[:MOST_VALUES + 1]) <= MOST_VALUES:
            raise Mistake(f'--grid is "{text}"; allowed is a range of 1 to {MOST_VALUES:,} numbers')
        return name, list(numbers)
    try:
        (found,) = values(f"[{given}]")
    except (Unreadable, ValueError) as error:
        raise Mistake(f'--grid is "{text}": {error}') from None
    return name, found


def _told(done: int, of: int) -> None:
    print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _plot(found: Sweep, path: str) -> None:
    try:
        from volcano_lab.display.charts import plot

        plot(found).save(path)
    except ImportError as error:
        raise Mistake(f'--plot needs {error.name}: pip install "volcano-lab[lab]"') from None
    except (OSError, ValueError) as error:
        raise Mistake(f"--plot is {path}: {getattr(error, 'strerror', None) or error}; allowed is "
                      "a file that ends in .html, .svg, .png or .json") from None
