"""What a whole cycle costs: by phase, beside its limit and beside Volcano's own time; how it grows;
how much memory.

    python benchmarks/cycle.py                     the small shapes
    python benchmarks/cycle.py --all               all of them (minutes)
    python benchmarks/cycle.py 20n-50x4 …          some, of any size
    python benchmarks/cycle.py --growth            how the cost grows with nodes, pods and queues,
                                                   and the depth of the tree
    python benchmarks/cycle.py --against COMMIT    this tree and an earlier commit in turn:
                                                   the ratio
    python benchmarks/cycle.py --chart FILE.svg    the bars as a picture

Machines are noisy: the fastest of `--runs` counts, and the slowest is shown beside it.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import shapes
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
PHASES = ("open", "enqueue", "allocate", "backfill", "reclaim", "close")
SMALL = ["10n-50x4", "50n-200x4", "100n-500x4", "reclaim-100n"]


def measure(name: str, runs: int) -> dict[str, Any]:
    """The phases of the fastest run, the slowest cycle, and the statuses in which the pods ended.
    """
    from volcano_lab.cli import replay  # in the process that measures

    case = shapes.make(name)
    rows = []
    for _ in range(runs):
        gc.collect()
        rows.append(replay.time_case(case))
    best = min(rows, key=lambda row: row["times"]["cycle"])
    worst = max(row["times"]["cycle"] for row in rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "name": name, "times": best["times"], "worst": worst, "statuses": best["statuses"],
        "mebibytes": peak
    }


def in_a_process(name: str, runs: int, tree: Path = HERE.parent) -> dict[str, Any]:
    """`measure` in a process of its own, so that memory is its own; `tree` is the checkout to
    measure, with its own copy of this file.
    """
    script = str(tree / "benchmarks" / "cycle.py")
    command = [sys.executable, script, "--one", name, "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(tree)}, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="a whole cycle, milliseconds")
    table.add_column("shape")
    for column in (*PHASES, "cycle", "slowest", "limit", "Volcano", "times faster", "MiB"):
        table.add_column(column, justify="right")
    table.add_column("pods")
    for row in rows:
        name, times = row["name"], row["times"]
        limit, go = shapes.LIMITS.get(name), shapes.GO.get(name)
        phases = [f"{times[phase] * 1e3:,.1f}" if phase in times else "" for phase in PHASES]
        cycle = times["cycle"]
        mark = "" if limit is None or cycle <= limit else " !"
        table.add_row(name, *phases, f"{cycle * 1e3:,.1f}{mark}", f"{row['worst'] * 1e3:,.0f}",
                      f"{limit * 1e3:,.0f}" if limit else "", f"{go * 1e3:,.0f}" if go else "",
                      f"{go / cycle:.1f}" if go else "", f"{row['mebibytes']:.0f}",
                      " ".join(f"{count} {status}" for status, count in row["statuses"].items()))
    Console(width=170).print(table)


def chart(rows: list[dict[str, Any]], path: Path) -> None:
    """Cycle times by shape and phase, on a logarithmic scale beside Volcano's."""
    import altair as alt
    import pandas as pd

    data = [{"shape": r["name"], "who": "the lab", "ms": r["times"]["cycle"] * 1e3} for r in rows]
    known = [r["name"] for r in rows if r["name"] in shapes.GO]
    data += [{"shape": name, "who": "Volcano v1.14.0", "ms": shapes.GO[name] * 1e3}
             for name in known]
    bars = alt.Chart(pd.DataFrame(data), width=420).mark_bar().encode(
        alt.X("ms:Q", scale=alt.Scale(type="log"), title="milliseconds for a whole cycle"),
        alt.Y("who:N", title=None), alt.Color("who:N", legend=None),
        alt.Row("shape:N", title=None, sort=None))
    bars.save(str(path))


# -- growth
# ----------------------------------------------------------------------------------------------


def growth(runs: int) -> None:
    """Cost against one size at a time, with the exponent of the power that fits best."""
    ladders = {
        "nodes, for 400 pods": [(n, f"{n}n-100x4") for n in (50, 100, 200, 400, 800)],
        "pods, in gangs of 4 on 100 nodes": [(4 * j, f"100n-{j}x4") for j in (50, 100, 200, 400)],
        "pods, in one gang on 100 nodes": [(p, f"100n-1x{p}") for p in (200, 400, 800, 1600)],
    }
    table = Table(title="growth of a cycle")
    for column in ("size", "milliseconds", "exponent"):
        table.add_column(column)
    for what, ladder in ladders.items():
        cost = [(size, measure(name, runs)["times"]["cycle"]) for size, name in ladder]
        table.add_row(what, ", ".join(f"{s}: {c * 1e3:.0f}" for s, c in cost),
                      f"{exponent(cost):.2f}")
    for what, cases in (("queues, for 400 pods on 100 nodes", [
        (q, shapes.place(100, 100, 4, q)) for q in (4, 16, 64)
    ]), ("depth of the tree of queues", [(d, tree(d)) for d in (1, 2, 4, 8)])):
        cost = [(size, fastest(case, runs)) for size, case in cases]
        table.add_row(what, ", ".join(f"{s}: {c * 1e3:.0f}" for s, c in cost),
                      f"{exponent(cost):.2f}")
    Console(width=130).print(table)


def fastest(case: dict[str, Any], runs: int) -> float:
    from volcano_lab.cli import replay

    return min(replay.time_case(case)["times"]["cycle"] for _ in range(runs))


def tree(depth: int) -> dict[str, Any]:
    """400 pods in four leaves, each under a line of `depth` queues, with the capacity plugin."""
    case = shapes.place(100, 100, 4)
    others = [o for o in case["objects"] if o["kind"] != "Queue"]
    queues = [shapes.queue(0) | {"metadata": shapes.meta("root")}]
    for leaf in range(4):
        parent = "root"
        for level in range(depth):
            name = f"queue-{leaf}" if level == depth - 1 else f"level-{leaf}-{level}"
            spec = {"weight": 1, "parent": parent, "deserved": {"cpu": "1000", "memory": "4000Gi"}}
            queues.append(shapes.queue(0) | {"metadata": shapes.meta(name), "spec": spec})
            parent = name
    conf = case["conf"].replace("name: proportion", "name: capacity\n    enableHierarchy: true")
    return case | {"objects": queues + others, "conf": conf}


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of the line through the points on logarithmic paper.

    >>> round(exponent([(1, 2.0), (2, 4.0), (4, 8.0)]), 6)
    1.0
    """
    x, y = [math.log(size) for size, _ in points], [math.log(cost) for _, cost in points]
    return statistics.linear_regression(x, y).slope


# -- against an earlier commit
# -----------------------------------------------------------------------------


def against(commit: str, names: list[str], runs: int) -> None:
    """Both trees in turn in one run; what counts is the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([
            "git", "-C",
            str(HERE.parent), "worktree", "add", "--detach", "--quiet", folder, commit
        ], check=True)
        try:
            for name in names:
                ratios = []
                for _ in range(runs):
                    ours, theirs = (in_a_process(name, 3, where)["times"]["cycle"]
                                    for where in (HERE.parent, Path(folder)))
                    ratios.append(ours / theirs)
                spread = f"{min(ratios):.2f} to {max(ratios):.2f}, {runs} pairs"
                print(f"{name}: {statistics.median(ratios):.2f} of {commit} ({spread})")
        finally:
            subprocess.run(["git", "-C",
                            str(HERE.parent), "worktree", "remove", "--force", folder], check=False)


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("names", nargs="*", metavar="SHAPE")
    cli.add_argument("--all", action="store_true")
    cli.add_argument("--runs", type=int, default=5)
    cli.add_argument("--growth", action="store_true")
    cli.add_argument("--against", metavar="COMMIT")
    cli.add_argument("--chart", type=Path, metavar="FILE")
    cli.add_argument("--one", metavar="SHAPE", help=argparse.SUPPRESS)
    args = cli.parse_args()
    names = args.names or (list(shapes.SHAPES) if args.all else SMALL)
    if args.one:
        print(json.dumps(measure(args.one, args.runs)))
    elif args.growth:
        growth(args.runs)
    elif args.against:
        against(args.against, names, args.runs)
    else:
        rows = [in_a_process(name, args.runs) for name in names]
        show(rows)
        if args.chart:
            chart(rows, args.chart)


if __name__ == "__main__":
    main()
