"""How long reclaim takes as full clusters grow: half as many new gangs of two as there are nodes, each to get one place.

Every node holds eight tasks of two jobs of one queue; a second queue of equal weight claims. Cycles run without a
trace, each on a cluster of its own; of several the best counts. The exponent is that of time over nodes: 1 means that
the cost per reclaiming task does not depend on the size of the cluster.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import log
from typing import Any

from volcano_lab.replay import time_case

GOALS = {100: 0.030, 500: 0.250, 1000: 0.800}
"""Nodes -> seconds within which the action should finish."""

CONF = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
SCHEDULING = "scheduling.volcano.sh/v1beta1"


def meta(name: str, second: int = 0, **more: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
    return {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp, **more}


def node(number: int) -> dict[str, Any]:
    name = f"node-{number:05}"
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(name, labels={"kubernetes.io/hostname": name}),
            "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "256"}}}


def job(name: str, second: int, queue: str, pods: int, node: str = "") -> Iterator[dict[str, Any]]:
    """A gang with a minimum of one, running on a node or waiting."""
    yield {"apiVersion": SCHEDULING, "kind": "PodGroup", "metadata": meta(name, second, namespace="default"),
           "spec": {"minMember": 1, "queue": queue, "minResources": {"cpu": "1"}},
           "status": {"phase": "Running" if node else "Inqueue"}}
    notes = {"scheduling.k8s.io/group-name": name, "volcano.sh/task-spec": "worker"}
    requests = {"requests": {"cpu": "1", "memory": "2Gi"}}
    for number in range(pods):
        yield {"apiVersion": "v1", "kind": "Pod",
               "metadata": meta(f"{name}-{number}", second, namespace="default", annotations=notes),
               "spec": {"schedulerName": "volcano", "containers": [{"name": "main", "resources": requests}],
                        **({"nodeName": node} if node else {})},
               "status": {"phase": "Running" if node else "Pending"}}


def case(nodes: int) -> dict[str, Any]:
    objects = [node(number) for number in range(nodes)]
    objects += [{"apiVersion": SCHEDULING, "kind": "Queue", "metadata": meta(name, second), "spec": {"weight": 1},
                 "status": {"state": "Open"}} for second, name in enumerate(("queue-0", "queue-1"))]
    for number in range(2 * nodes):
        objects += job(f"old-{number:05}", number, "queue-0", 4, f"node-{number // 2:05}")
    for number in range(nodes // 2):
        objects += job(f"new-{number:05}", 2 * nodes + number, "queue-1", 2)
    return {"name": f"reclaim-{nodes}n", "conf": CONF, "objects": objects}


def exponent(seconds: dict[int, float]) -> float:
    """The slope of the best line through log(seconds) over log(nodes)."""
    points = [(log(nodes), log(time)) for nodes, time in seconds.items()]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=[10, 50, 100, 500, 1000])
    parser.add_argument("--repeat", type=int, default=3, help="cycles of which the best counts")
    options = parser.parse_args()
    reclaim = {}
    time_case(case(10))  # what is imported late is imported now
    for nodes in options.nodes:
        rows = [time_case(case(nodes)) for _ in range(options.repeat)]
        assert rows[0]["statuses"]["Releasing"] == rows[0]["statuses"]["Pipelined"] == nodes // 2
        reclaim[nodes] = min(row["times"]["reclaim"] for row in rows)
        cycle = min(row["times"]["cycle"] for row in rows)
        goal = f" (goal {GOALS[nodes] * 1000:.0f} ms)" if nodes in GOALS else ""
        each = reclaim[nodes] / (nodes // 2) * 1e6
        print(f"{nodes:5,} nodes: reclaim {reclaim[nodes] * 1000:6.1f} ms{goal}, {each:4.0f} us a task; "
              f"whole cycle {cycle * 1000:6.1f} ms")
    if len(reclaim) > 1:
        print(f"reclaim grows with nodes to the power of {exponent(reclaim):.2f}")


if __name__ == "__main__":
    main()
