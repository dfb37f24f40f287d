"""How long reclaim takes as full clusters grow: half as many new gangs of two as there are nodes,
each to get one place.

    python benchmarks/reclaim_ladder.py 10 100 1000

Each cycle runs without a trace on a cluster of its own (`shapes.reclaim`); of several the fastest
counts. The exponent is that of time over nodes: 1 means that a claiming pod costs the same in a
cluster of any size.
"""

from __future__ import annotations

import argparse

import shapes
from cycle import exponent

from volcano_lab.cli.replay import time_case


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("nodes", nargs="*", type=int, default=shapes.RECLAIM)
    cli.add_argument("--runs", type=int, default=3, help="cycles of which the fastest counts")
    args = cli.parse_args()
    time_case(shapes.reclaim(10))  # what is imported late is imported now
    cost = []
    for nodes in args.nodes:
        rows = [time_case(shapes.reclaim(nodes)) for _ in range(args.runs)]
        assert rows[0]["statuses"]["Releasing"] == rows[0]["statuses"]["Pipelined"] == nodes // 2
        reclaim, cycle = (min(row["times"][phase]
                              for row in rows)
                          for phase in ("reclaim", "cycle"))
        cost.append((nodes, reclaim))
        limit, go = (what.get(f"reclaim-{nodes}n") for what in (shapes.LIMITS, shapes.GO))
        beside = f" (limit {limit * 1e3:.0f}, Volcano {go * 1e3:.0f})" if limit and go else ""
        print(
            f"{nodes:5,} nodes: reclaim {reclaim * 1e3:6.1f} ms, "
            f"{reclaim / (nodes // 2) * 1e6:4.0f} us a pod; "
            f"whole cycle {cycle * 1e3:6.1f} ms{beside}")
    if len(cost) > 1:
        print(f"reclaim grows with nodes to the power of {exponent(cost):.2f}")


if __name__ == "__main__":
    main()
