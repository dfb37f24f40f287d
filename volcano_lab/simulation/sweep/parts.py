"""Results of a sweep, in a folder of Parquet files, which pandas or DuckDB read as one table.

A row per setting: its values, its metrics (numbers are float64), and `error` where it failed. A
part is written as a whole, every few seconds and when the sweep ends; its name ends with its
checksum.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from volcano_lab.messages import gettext
from volcano_lab.messages.install import install_line
from volcano_lab.simulation.sweep.engines import SweepError

EVERY = 5.0
"""Seconds between two parts: the most work that a killed process loses."""
HEAD = b"volcano_lab"
Found = dict[str, Any]


class Parts:
    """The folder of one sweep, identified by `head`."""

    def __init__(self, path: str | Path, head: Any, grid: Mapping[str, Sequence[Any]],
                 metrics: Iterable[str]) -> None:
        try:
            import pyarrow.parquet
        except ImportError:
            raise SweepError("a folder of results needs pyarrow: {command}",
                             command=install_line("sweep")) from None
        self.arrow, self.path, self.names = pyarrow, Path(path), list(grid)
        self.head, self.written = {HEAD: json.dumps(head).encode()}, time.monotonic()
        self.columns = [*grid, *metrics, "error"]
        self.texts = {name for name, values in grid.items() if not _numbers(values)} | {"error"}
        self.waiting: list[Found] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.write()

    def read(self, settings: Sequence[Mapping[str, Any]]) -> tuple[dict[int, Found], list[str]]:
        """Return finished results, by the number of their setting, and a sentence per damaged part,
        which is removed. Raises `SweepError`.
        """
        numbers = {tuple(self._values(setting).values()): number
                   for number, setting in enumerate(settings)}
        done: dict[int, Found] = {}
        warnings = []
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for part in sorted(self.path.glob("sweep-*-*.parquet")):
                data = part.read_bytes() if part.is_file() else b""  # a pipe has no end
                rows = self._rows(part, data) if part.stem.endswith(_checksum(data)) else None
                if rows is None:
                    part.unlink()
                    warnings.append(gettext("{part} was damaged: it is removed, and its settings "
                                            "run again", part=part))
                    continue
                for row in rows:
                    number = numbers.get(tuple(row.pop(name) for name in self.names))
                    if number is not None:
                        done[number] = {"error": row["error"]} if row["error"] is not None else {
                            name: _whole(row[name]) for name in row if name != "error"}
        except OSError as error:
            raise SweepError("{path}: can't be used as the folder of a sweep ({strerror})",
                             path=self.path, strerror=error.strerror) from None
        return done, warnings

    def _rows(self, part: Path, data: bytes) -> list[Found] | None:
        try:
            source = self.arrow.BufferReader(data)
            table = self.arrow.parquet.read_table(source, use_threads=False)
        except self.arrow.ArrowException:
            return None
        if table.schema.metadata != self.head:
            raise SweepError("{part} is of another sweep (base, configuration, names or metrics "
                             "differ); allowed is its own folder, or a new one", part=part)
        return table.to_pylist()

    def add(self, setting: Mapping[str, Any], found: Found) -> None:
        """Add the result of one setting."""
        self.waiting.append(self._values(setting) | found)
        if time.monotonic() >= self.written + EVERY:
            self.write()

    def write(self) -> None:
        """Write the pending results as a part. Raises `SweepError`."""
        if not self.waiting:
            return
        arrow, whole, data = self.arrow, self.path / ".part", self.arrow.BufferOutputStream()
        columns = {name: [row.get(name) for row in self.waiting] for name in self.columns}
        types = {name: arrow.string() if name in self.texts else
                 arrow.float64() if _numbers(values) else None for name, values in columns.items()}
        try:
            table = arrow.table({name: arrow.array(values, types[name])
                                 for name, values in columns.items()})
            arrow.parquet.write_table(table.replace_schema_metadata(self.head), data)
            whole.write_bytes(found := data.getvalue().to_pybytes())
            whole.replace(self.path / f"sweep-{time.time_ns()}-{_checksum(found)}.parquet")
        except (OSError, arrow.ArrowException) as error:
            reason = getattr(error, "strerror", None) or error
            raise SweepError("{path}: a part can't be written ({reason})", path=self.path,
                             reason=reason) from None
        self.waiting, self.written = [], time.monotonic()

    def _values(self, setting: Mapping[str, Any]) -> Found:
        return {name: value if name not in self.texts or isinstance(value, str)
                else json.dumps(value) for name, value in setting.items()}


def _checksum(data: bytes) -> str:
    """Return the suffix of a part's name."""
    return f"{crc32(data):08x}"


def _numbers(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, Real) for value in values)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
