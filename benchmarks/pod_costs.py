"""What a pod costs where: the microseconds of each part of a cycle per pod, beside two floors.

    python benchmarks/pod_costs.py                     some shapes
    python benchmarks/pod_costs.py 20n-50x4 …          others, of any size
    python benchmarks/pod_costs.py --chart FILE.svg    the bars as a picture

The time is that of the processor, of the fastest of `--runs` cycles. The floors are what an empty
Python function costs, as often as the cycle calls functions of Python, and one pass over an array
of one number for each node. A pod counts where the cycle places it or evicts it.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from timeit import repeat
from typing import Any

import numpy as np
import shapes
from rich.console import Console
from rich.table import Table

from volcano_lab.cli.replay import load_cache
from volcano_lab.framework.placement.array_chooser import ArrayChooser
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Statement
from volcano_lab.scheduler import Scheduler

REST = "orders, limits, gangs"
PARTS: dict[str, list[tuple[type, str]]] = {
    "open": [(Session, "__init__")],
    "choose a node": [(ArrayChooser, "choose")],
    "place or evict": [(Statement, "_do"), (Statement, "discard")],
    "commit": [(Statement, "commit")],
    "close": [(Session, "close")],
}
"""Part -> the functions in which it happens; what happens outside of them all is `REST`."""

CALLS, PASS = "floor: calls", "floor: an array"
NAMES = ["10n-50x4", "100n-500x4", "1000n-500x20", "reclaim-100n", "reclaim-500n"]


class Clock:
    """Seconds of the processor by part; the time of an inner part is not that of the outer."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.part, self.since = REST, process_time()

    def turn(self, part: str) -> str:
        """Begin a part; returns the one before."""
        now = process_time()
        self.seconds[self.part] += now - self.since
        before, self.part, self.since = self.part, part, now
        return before

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            before = self.turn(part)
            try:
                return function(*args, **named)
            finally:
                self.turn(before)

        return call


@contextmanager
def timed_parts(clock: Clock) -> Iterator[None]:
    """Time the functions of `PARTS` for a while."""
    own = [(kind, name, getattr(kind, name)) for functions in PARTS.values()
           for kind, name in functions]
    for part, functions in PARTS.items():
        for kind, name in functions:
            setattr(kind, name, clock.timed(part, getattr(kind, name)))
    try:
        yield
    finally:
        for kind, name, function in own:
            setattr(kind, name, function)


def costs(name: str, runs: int, call: float) -> dict[str, float]:
    """Microseconds per pod by part, and the two floors, with the microseconds of an empty call."""
    case, best = shapes.make(name), None
    for _ in range(runs + 1):  # the first imports what is imported late
        scheduler = Scheduler(load_cache(case), case["conf"])
        gc.collect()
        clock = Clock()
        with timed_parts(clock):
            ssn = scheduler.run_once()
            clock.turn(REST)
        if best is None or clock.seconds.total() < best.total():
            best = clock.seconds
    pods = len(ssn.committed)
    rows = {part: best[part] / pods * 1e6 for part in (*PARTS, REST)}
    return rows | {CALLS: calls_of(case) / pods * call, PASS: one_pass(len(ssn.nodes))}


def calls_of(case: dict[str, Any]) -> int:
    """How many functions of Python one cycle calls."""
    scheduler, calls = Scheduler(load_cache(case), case["conf"]), 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        scheduler.run_once()
    finally:
        sys.setprofile(None)
    return calls


def one_call() -> float:
    """Microseconds of a call that does nothing."""
    loop, empty = (min(repeat(text, "f = lambda: None", process_time, 50, 20_000))
                   for text in ("f()", "f"))
    return (loop - empty) / 20_000 * 1e6


def one_pass(size: int) -> float:
    """Microseconds of finding the highest of so many numbers."""
    array = np.arange(float(size))
    return min(repeat(array.argmax, timer=process_time, repeat=20, number=2_000)) / 2_000 * 1e6


def show(rows: dict[str, dict[str, float]]) -> None:
    table = Table(title="microseconds per pod")
    table.add_column("part")
    for name in rows:
        table.add_column(name, justify="right")
    for part in (*PARTS, REST):
        table.add_row(part, *(f"{row[part]:.1f}" for row in rows.values()))
    table.add_row("in all", *(f"{sum(row.values()) - row[CALLS] - row[PASS]:.1f}"
                              for row in rows.values()), end_section=True)
    for floor in (CALLS, PASS):
        table.add_row(floor, *(f"{row[floor]:.1f}" for row in rows.values()))
    Console(width=110).print(table)


def chart(rows: dict[str, dict[str, float]], path: Path) -> None:
    """Two bars per shape: the parts of a cycle, and the floors."""
    import altair as alt
    import pandas as pd

    order = [*PARTS, REST, CALLS, PASS]
    data = [{"shape": name, "bar": "floor" if part in (CALLS, PASS) else "the lab", "part": part,
             "order": order.index(part), "microseconds per pod": cost}
            for name, row in rows.items() for part, cost in row.items()]
    bars = alt.Chart(pd.DataFrame(data), width=420).mark_bar().encode(
        alt.X("microseconds per pod:Q"), alt.Y("bar:N", title=None, sort=["the lab", "floor"]),
        alt.Color("part:N", sort=order, title=None, legend=alt.Legend(orient="bottom", columns=4,
                                                                      columnPadding=24)),
        alt.Order("order:Q"), alt.Row("shape:N", title=None, sort=list(rows), header=alt.Header(
            labelAngle=0, labelAlign="left")))
    bars.save(str(path))


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("names", nargs="*", metavar="SHAPE", default=NAMES)
    cli.add_argument("--runs", type=int, default=5)
    cli.add_argument("--chart", type=Path, metavar="FILE")
    args = cli.parse_args()
    call = one_call()
    rows = {name: costs(name, args.runs, call) for name in args.names}
    show(rows)
    if args.chart:
        chart(rows, args.chart)


if __name__ == "__main__":
    main()
