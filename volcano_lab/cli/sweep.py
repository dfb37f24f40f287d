"""`volcano-lab sweep`: a cycle for every setting of a grid, on one core, several, or Dask."""

import sys
from collections.abc import Sequence
from typing import Any

from volcano_lab.cli import DONE, FOUND, Mistake, inputs
from volcano_lab.cli.output import show
from volcano_lab.manifests.conf import conf_text
from volcano_lab.simulation.sweep import run


def sweep(files: Sequence[str], grid: Sequence[str], metrics: Sequence[str] = (),
          conf: str | None = None, workers: int = 1, scheduler: str | None = None,
          results: str | None = None, plot: str | None = None, output: str = "table",
          recursive: bool = False, context: str | None = None, duration: str | None = None,
          **time: Any) -> int:
    """Run and print a sweep; 1 if a setting failed. Raises `Mistake`, `SweepError`."""
    cluster = inputs.cluster_of(files, conf, recursive, context)
    over = {"duration": duration, **time} if duration or any(time.values()) else None
    default = ("placed", "pending") if over is None else ("waiting_median", "waiting_p95")
    columns = run.columns_of(grid)
    files_of = {conf_text(inputs.conf_file(str(file))): file for file in columns.get(run.CONF, ())}
    if files_of:
        columns[run.CONF] = list(files_of)
    found = cluster.sweep(columns, list(metrics or default), over=over, workers=workers,
                          scheduler=scheduler, path=results,
                          progress=_progress if sys.stderr.isatty() else None)
    for row in found.rows + found.failures if files_of else ():
        row[run.CONF] = files_of[row[run.CONF]]
    try:
        if plot:
            found.chart().save(plot)
    except ImportError as error:
        raise Mistake(f"--plot: {error}") from None
    except (OSError, ValueError) as error:
        raise Mistake("sweep.plot", path=plot,
                      reason=getattr(error, "strerror", None) or error) from None
    data = {"rows": found.rows, "failures": found.failures}
    show("table" if output == "name" else output, data, found)
    return FOUND if found.failures else DONE


def _progress(done: int, of: int) -> None:
    print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
