"""Job traces of real clusters, as rows of `workload.trace`.

Supported are rows of our own fields in CSV and JSON lines; the Standard Workload Format (`.swf`, a
processor is a pod with a CPU); and in CSV, recognised by their columns, lists of pods like
Alibaba's OpenB (`cpu_milli`, `memory_mib`, `num_gpu`, `creation_time`, `deletion_time`) and tasks
like Alibaba's cluster traces (`instance_num`, `plan_cpu`, `plan_mem`, `start_time`, `end_time`; 100
of plan_cpu are a CPU, plan_mem is in per cent of 128Gi). Entries that did not run are left out.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from volcano_lab.manifests import Reader, Unreadable
from volcano_lab.messages import OneSentence

Row = dict[str, Any]
PLANNED_MEMORY = 128 * 2**30


class WorkloadError(OneSentence, ValueError):
    """A workload that can't be simulated: which entry, which field, what was found, what is
    allowed.
    """


def read_trace(path: Path) -> list[Row]:
    """Return a file's jobs. Raises `WorkloadError`."""
    try:
        text = Reader().text(path)
        if path.suffix == ".swf":
            return _from_zero(_swf(text.split("\n")))
        if path.suffix != ".csv":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        rows = csv.DictReader(text.splitlines(keepends=True), strict=True)
        form = next((read for columns, read in FORMS.items()
                     if set(columns) <= {*(rows.fieldnames or ())}), None)
        found = ({key: text for key, text in row.items() if text not in (None, "")} for row in rows)
        return list(found) if form is None else _from_zero(form(found))
    except (Unreadable, ValueError, RecursionError, csv.Error, KeyError, IndexError) as error:
        raise WorkloadError("{path}: cannot be read ({error})", path=path, error=error) from None


def _from_zero(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with times since the first one, without empty fields."""
    found = [{key: value for key, value in row.items() if value is not None} for row in rows]
    first = min((row["time"] for row in found), default=0.0)
    return [row | {"time": row["time"] - first} for row in found]


def _swf(lines: Iterable[str]) -> Iterator[Row]:
    """Yield jobs of the Standard Workload Format: number, submitted, waited, ran, processors…"""
    for line in lines:
        if not line.strip() or line.startswith(";"):
            continue
        words = [float(word) for word in line.split()]
        asked = int(words[7]) if words[7] > 0 else int(words[4])
        memory = words[9] if words[9] > 0 else words[6]
        if words[3] > 0 and asked > 0:
            yield {"name": f"job-{int(words[0])}", "time": words[1], "run_time": words[3],
                   "pods": asked, "cpu": 1, "memory": f"{int(memory)}Ki" if memory > 0 else None}


def _open_b(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield pods of OpenB, each a job."""
    for number, row in enumerate(rows, 1):
        begun = float(row.get("scheduled_time") or row["creation_time"])
        run_time = float(row.get("deletion_time", 0)) - begun
        if run_time > 0:
            yield {"name": row.get("name", f"pod-{number}"), "time": float(row["creation_time"]),
                   "run_time": run_time, "cpu": f"{int(float(row['cpu_milli']))}m",
                   "memory": f"{int(float(row['memory_mib']))}Mi",
                   "gpu": int(float(row.get("num_gpu", 0))) or None}


def _tasks(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield tasks of Alibaba's cluster traces, each a job of its instances."""
    for row in rows:
        begun, ended = float(row["start_time"]), float(row.get("end_time", 0))
        if ended > begun:
            yield {"name": f"{row['job_name']}-{row['task_name']}".lower().replace("_", "-"),
                   "time": begun, "run_time": ended - begun, "pods": int(row["instance_num"]),
                   "cpu": f"{int(float(row.get('plan_cpu', 100)) * 10)}m",
                   "memory": str(int(float(row.get("plan_mem", 0)) / 100 * PLANNED_MEMORY))}


FORMS: Mapping[tuple[str, ...], Callable[[Iterable[Row]], Iterator[Row]]] = {
    ("cpu_milli", "memory_mib", "creation_time", "deletion_time"): _open_b,
    ("instance_num", "job_name", "task_name", "start_time", "end_time"): _tasks}
"""The identifying columns of a format, and its reader."""
