"""Recorded clusters of 50 to 200 nodes: how long a cycle takes, and where the slowest ten spend it.

    python benchmarks/large.py CASES.jsonl.gz                 the slowest ten, with their profile
    python benchmarks/large.py CASES.jsonl.gz --go TIMES      beside Volcano's own times

CASES is a file of cases as `volcano-lab replay` reads them; TIMES has Volcano's milliseconds by
name, as one JSON object. The time is that of the processor; of `--runs` cycles the fastest counts.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import statistics
from pathlib import Path
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from volcano_lab.cli.replay import load_cache, read_cases
from volcano_lab.scheduler import Scheduler


def fastest(case: dict[str, Any], runs: int) -> float:
    """Milliseconds of the fastest of some cycles, each on a cache of its own."""
    times = []
    for _ in range(runs):
        scheduler = Scheduler(load_cache(case), case.get("conf"))
        gc.collect()
        start = process_time()
        scheduler.run_once()
        times.append(process_time() - start)
    return min(times) * 1e3


def profile(case: dict[str, Any], most: int = 4) -> str:
    """The functions that take most of a cycle by themselves, each with its share."""
    scheduler, profiler = Scheduler(load_cache(case), case.get("conf")), cProfile.Profile()
    profiler.runcall(scheduler.run_once)
    stats = pstats.Stats(profiler).stats
    whole = sum(own for _, _, own, _, _ in stats.values())
    rows = sorted(((own / whole, Path(file).stem, name)
                   for (file, _, name), (_, _, own, _, _) in stats.items()), reverse=True)
    return ", ".join(f"{share:.0%} {file}.{name}".replace("~.", "") for share, file, name
                     in rows[:most])


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("cases", type=Path)
    cli.add_argument("--go", type=Path, metavar="TIMES")
    cli.add_argument("--runs", type=int, default=5)
    args = cli.parse_args()
    cases = {case["name"]: case for case in read_cases(args.cases)}
    go = json.loads(args.go.read_text(encoding="utf-8")) if args.go else {}
    for case in cases.values():  # what is imported late is imported now
        fastest(case, 1)
    times = {name: fastest(case, args.runs) for name, case in cases.items()}
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:10]
    table = Table(title=f"the slowest of {len(cases)} clusters, milliseconds")
    for column in ("cluster", "cycle", "Volcano", "times faster", "where"):
        table.add_column(column, justify="left" if column in ("cluster", "where") else "right")
    for name in slowest:
        table.add_row(name, f"{times[name]:.1f}", f"{go[name]:.1f}" if name in go else "",
                      f"{go[name] / times[name]:.1f}" if name in go else "", profile(cases[name]))
    console = Console(width=150)
    console.print(table)
    console.print(f"median {statistics.median(times.values()):.1f} ms, worst "
                  f"{max(times.values()):.1f} ms")
    if ratios := [go[name] / times[name] for name in times if name in go]:
        console.print(f"Volcano takes {statistics.median(ratios):.1f} times as long in the median, "
                      f"{min(ratios):.1f} times at least")


if __name__ == "__main__":
    main()
