"""The trace against the recorded events, and what a trace costs.

    benchmarks/trace.py                 both, on the first 120 cases, and a small cluster
    benchmarks/trace.py --all           every case beside this checkout (../shared/conformance)
    benchmarks/trace.py --pods 10000 --nodes 1000

What the hooks cost without an observer: benchmarks/trace_off.py.

A case agrees in a kind where the trace has the same events of that kind in each action, in the same
order. Exit code 1 where fewer than 99 % agree in every kind.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import logging
import math
import sys
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from events import KINDS, events_of

from volcano_lab.cache import Cache
from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.manifests import loader as manifests
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace import Trace

SHARED = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def rows(name: str):
    with gzip.open(SHARED / name, "rt") as lines:
        yield from map(json.loads, lines)


def same(want: Any, got: Any) -> bool:
    if isinstance(want, dict) and isinstance(got, dict):
        return all(same(want.get(key, 0), got.get(key, 0)) for key in want.keys() | got.keys())
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, int | float) and isinstance(got, int | float):
        return math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-6)
    return want == got


def by_kind(steps: list[dict[str, Any]]) -> dict[tuple[int, str], list[Any]]:
    kinds = defaultdict(list)
    for number, step in enumerate(steps):
        for event in step["events"] or []:
            kinds[number, event[0]].append(event)
    return kinds


def differing(case: dict[str, Any], recorded: dict[str, Any], every_call: bool,
              actions: dict) -> dict[str, str]:
    """{kind: the first difference} of one case; nothing where all kinds agree."""
    trace = Trace(every_call)
    Scheduler(load_cache(case), case.get("conf"), actions).run_once(trace)
    want, got = by_kind(recorded["steps"]), by_kind(events_of(trace))
    found = {}
    for key in sorted(want.keys() | got.keys()):
        pairs = zip(want[key], got[key], strict=False)
        if len(want[key]) != len(got[key]) or not same(want[key], got[key]):
            first = next(((a, b) for a, b in pairs if not same(a, b)),
                         (len(want[key]), len(got[key])))
            found.setdefault(
                key[1],
                f"{recorded['steps'][key[0]]['action']}: recorded {first[0]}, traced {first[1]}")
    return found


def compare(kind: str, most: int | None, every_call: bool, show: int) -> float:
    """Print how many cases agree; returns their part."""
    actions: dict = {
    }  # one process of Volcano decided them one after the other: actions keep their arguments
    total, agree, wrong = 0, 0, Counter()
    both = zip(rows(f"{kind}-cases.jsonl.gz"), rows(f"{kind}-events.jsonl.gz"), strict=True)
    for case, recorded in islice(both, most):
        if not recorded.get("steps"):
            continue
        total += 1
        found = differing(case, recorded, every_call, actions)
        agree += not found
        wrong.update(found.keys())
        if found and show:
            show -= 1
            for name, text in found.items():
                print(f"  {case['name']} {name}: {text[:400]}")
    words = "every call" if every_call else "all nodes at once"
    print(f"{kind}, {words}: {agree} of {total} cases agree in every kind;",
          ", ".join(f"{name} {total - wrong[name]}" for name in KINDS))
    return agree / max(total, 1)


def seconds(objects: list, every_call: bool | None) -> tuple[float, int]:
    """The best of three cycles without (None) or with a trace, and how many records it has."""
    best, count = math.inf, 0
    for _ in range(3):
        trace = None if every_call is None else Trace(every_call)
        scheduler = Scheduler(Cache(objects))
        gc.collect()
        start = perf_counter()
        scheduler.run_once(trace)
        best = min(best, perf_counter() - start)
        count = 0 if trace is None else len(trace.records)
    return best, count


def cost(nodes: int, pods: int) -> None:
    cluster = Cluster()
    for number in range(nodes):
        cluster.node(f"n{number:04}", cpu=32, memory="128Gi")
    for number in range(max(pods // 50, 1)):
        cluster.queue(f"q{number % 4}", weight=number % 4 + 1)
        cluster.job(f"j{number:04}", queue=f"q{number % 4}", pods=50, cpu=2 - number % 2,
                    memory="2Gi")
    objects = list(manifests.loads(cluster.to_yaml()))
    without, _ = seconds(objects, None)
    print(f"{nodes} nodes, {pods} pods: without a trace {without:.3f} s")
    for every_call in (False, True) if nodes * pods <= 2_000_000 else (False,):
        taken, count = seconds(objects, every_call)
        words = "every call" if every_call else "all nodes at once"
        print(f"  {words}: {taken:.3f} s, {taken / without:.1f} times, {count} records")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true",
                        help="all recorded cases, not the first 120 only")
    parser.add_argument("--show", type=int, default=0,
                        help="print the differences of so many cases")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=1000)
    options = parser.parse_args()
    logging.disable(logging.ERROR)  # what cases are wrong on purpose about
    share = 1.0
    if SHARED.exists():
        most = None if options.all else 120
        share = compare("dev", most, True, options.show)
        compare("dev", most, False, 0)
        compare("table", None, True, options.show)
    else:
        print("the recorded events are not beside this checkout; only the cost is measured")
    cost(options.nodes, options.pods)
    return share < 0.99


if __name__ == "__main__":
    sys.exit(main())
