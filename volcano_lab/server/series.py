"""The series that Volcano's scheduler exposes, as `series.toml` lists them.

Volcano: pkg/scheduler/metrics/*.go, pkg/controllers/metrics/queue.go
"""

import tomllib
from pathlib import Path
from typing import Any

from attrs import define

COUNTER, HISTOGRAM = "counter", "histogram"
STATES = ("inqueue", "pending", "running", "unknown", "completed")
"""The phases of PodGroups that queues count."""


@define(slots=True, frozen=True)
class Series:
    """One series; the file defines each field. `buckets` are the limits of a histogram."""

    name: str
    kind: str
    meaning: str
    labels: tuple[str, ...] = ()
    source: str = ""
    buckets: tuple[float, ...] = ()
    called: str = ""

    @property
    def described(self) -> str:
        """The meaning, with the name in Volcano's documents where that differs."""
        return f"{self.meaning} (in some documents {self.called})" if self.called else self.meaning


def _read(row: dict[str, Any]) -> Series:
    first, factor, count = row.get("buckets", (0, 0, 0))
    return Series(**row | {"labels": tuple(row.get("labels", ())),
                           "buckets": tuple(first * factor**power for power in range(count))})


SERIES = tuple(map(_read, tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8"))["series"]))


def catalogue() -> list[dict[str, Any]]:
    """Return one row per series: `name`, `kind`, `labels`, `meaning`, `source`.

    >>> [row["name"] for row in catalogue() if row["labels"] == "action"]
    ['volcano_action_scheduling_latency_milliseconds']
    """
    never = "declared by Volcano 1.14.0, never set"
    return [{"name": f"volcano_{series.name}", "kind": series.kind,
             "labels": ", ".join(series.labels), "meaning": series.described,
             "source": series.source or never} for series in SERIES]
