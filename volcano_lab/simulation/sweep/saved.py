"""Finished results of a sweep, in a file of JSON lines, which pandas or DuckDB read as one table.

A line per setting, written when it is finished: its values, its metrics, or `error` where it
failed, and `sweep`, which identifies base, configuration and metrics. A line that a killed process
did not finish counts for nothing.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from volcano_lab.messages import Message
from volcano_lab.simulation.sweep.engines import SweepError

Found = dict[str, Any]


def read(path: Path, sweep: str, settings: Sequence[Mapping[str, Any]], names: Collection[str]
         ) -> dict[int, Found]:
    """Return the results in a file by the number of their setting, whose values have these names.

    Raises `SweepError` for a file that cannot be used, or with results of another sweep.
    """
    try:
        path.touch()
        if not path.is_file():  # a pipe has no end
            raise OSError(0, str(Message("file.no_regular")))
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        raise SweepError("sweep.file", path=path, strerror=error.strerror) from None
    numbers, done = {_line(setting): number for number, setting in enumerate(settings)}, {}
    for row in map(_row, filter(str.strip, lines)):
        if row is None:
            continue
        if row.pop("sweep", None) != sweep:
            raise SweepError("sweep.other", path=path)
        number = numbers.get(_line({name: row.get(name) for name in names}))
        if number is not None:
            done[number] = {name: row[name] for name in row if name not in names}
    return done


def add(path: Path, sweep: str, setting: Mapping[str, Any], found: Found) -> None:
    """Append the result of one setting. Raises `SweepError`."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{_line({**setting, **found, 'sweep': sweep})}")
    except (OSError, TypeError, ValueError, AttributeError) as error:
        raise SweepError("sweep.unwritten", path=path,
                         reason=getattr(error, "strerror", None) or error) from None


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, default=lambda number: number.item())  # numpy's numbers have it


def _row(line: str) -> Found | None:
    """Return the row in a line; None where a killed process did not finish it."""
    try:
        found = json.loads(line)
    except ValueError:
        return None if line.startswith("{") else {}
    return found if isinstance(found, dict) else {}
