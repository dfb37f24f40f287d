"""Clusters of the sizes for which Volcano's own times are known, as cases for
`volcano_lab.cli.replay`.

`python benchmarks/shapes.py NAME…` prints them, one JSON object a line, for `volcano-lab replay
--timing`; without a name it lists the names.

A shape such as `100n-500x4` has 100 nodes of 64 CPU and 256 GiB, and 500 waiting gangs of 4 pods of
1 CPU and 2 GiB in 4 queues. `reclaim-100n` has 100 nodes of 8 CPU, full of one queue's jobs of 4
pods, and half as many gangs of 2 as nodes that ask in another queue.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

CONF = """\
actions: "{actions}"
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
VOLCANO = "scheduling.volcano.sh/v1beta1"

PLACE = [(10, 50, 4), (50, 200, 4), (100, 500, 4), (1000, 500, 20), (1000, 10000, 1),
         (5000, 1000, 10), (5000, 5000, 10)]
RECLAIM = [10, 50, 100, 500, 1000]

LIMITS = {
    "10n-50x4": 0.03, "50n-200x4": 0.08, "100n-500x4": 0.15, "1000n-500x20": 1.2, "1000n-10000x1":
    2.0, "5000n-1000x10": 2.0, "5000n-5000x10": 12.0, "reclaim-100n": 0.03, "reclaim-500n": 0.25,
    "reclaim-1000n": 0.8
}
"""What a whole cycle should take at most, in seconds, on two cores."""

GO = {
    "10n-50x4": 0.047, "50n-200x4": 0.545, "100n-500x4": 2.3, "1000n-500x20": 115.0, "reclaim-100n":
    0.036, "reclaim-500n": 0.439, "reclaim-1000n": 1.744
}
"""What Volcano v1.14.0 itself took, in process, on two cores."""


def meta(name: str, second: int = 0, **more: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
    return {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp, **more}


def node(number: int, cpu: int, memory: int) -> dict[str, Any]:
    name, room = f"node-{number:05d}", {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "256"}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": meta(
            name, labels={"kubernetes.io/hostname": name}), "spec": {}, "status": {
                "allocatable": room, "capacity": room, "conditions":
                [{"type": "Ready", "status": "True"}]
            }
    }


def queue(number: int, weight: int = 1) -> dict[str, Any]:
    return {
        "apiVersion": VOLCANO, "kind": "Queue", "metadata": meta(f"queue-{number}", number), "spec":
        {"weight": weight}, "status": {"state": "Open"}
    }


def job(name: str, second: int, queue: str, pods: int, nodes: list[str] | None = None,
        **notes: str) -> Iterator[dict[str, Any]]:
    """A gang: of all its pods where it waits, of one where it runs on `nodes` or asks to reclaim
    (`least` in notes).
    """
    least = int(notes.pop("least", pods))
    yield {
        "apiVersion": VOLCANO, "kind": "PodGroup", "metadata": meta(name, second,
                                                                    namespace="default"), "spec":
        {"minMember": least, "queue": queue, "minResources":
         {"cpu": str(least)}}, "status": {"phase": "Running" if nodes else "Inqueue"}
    }
    annotations = {"scheduling.k8s.io/group-name": name, "volcano.sh/task-spec": "worker"}
    if nodes:
        annotations["volcano.sh/preemptable"] = "true"
    container = {
        "name": "main", "image": "x", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}
    }
    for index in range(pods):
        place = {"nodeName": nodes[index]} if nodes else {}
        yield {
            "apiVersion": "v1", "kind": "Pod", "metadata":
            meta(f"{name}-{index}", second, namespace="default", annotations=annotations), "spec":
            {"schedulerName": "volcano", "containers": [container],
             **place}, "status": {"phase": "Running" if nodes else "Pending"}
        }


def place(nodes: int, jobs: int, pods: int, queues: int = 4) -> dict[str, Any]:
    """Waiting gangs that must be placed."""
    objects = [node(i, 64, 256) for i in range(nodes)] + [queue(q, q + 1) for q in range(queues)]
    for number in range(jobs):
        objects += job(f"job-{number:05d}", number, f"queue-{number % queues}", pods)
    return {"name": f"{nodes}n-{jobs}x{pods}", "family": "bench", "objects": objects,
            "conf": CONF.format(actions="enqueue, allocate, backfill")}


def reclaim(nodes: int) -> dict[str, Any]:
    """Full nodes of one queue, and gangs of another that ask for their share."""
    objects = [node(i, 8, 64) for i in range(nodes)] + [queue(0), queue(1)]
    for number in range(nodes * 2):
        on = [f"node-{(number * 4 + k) // 8:05d}" for k in range(4)]
        objects += job(f"old-{number:05d}", number, "queue-0", 4, on, least="1")
    for number in range(nodes // 2):
        objects += job(f"new-{number:05d}", nodes * 2 + number, "queue-1", 2, least="1")
    return {"name": f"reclaim-{nodes}n", "family": "bench", "objects": objects,
            "conf": CONF.format(actions="enqueue, allocate, reclaim")}


SHAPES = {f"{n}n-{j}x{p}": (place, (n, j, p))
          for n, j, p in PLACE} | {f"reclaim-{n}n": (reclaim, (n, )) for n in RECLAIM}


def make(name: str) -> dict[str, Any]:
    """The case of a shape; any size goes: `20n-5x3`, `reclaim-7n`. `KeyError` for another name."""
    try:
        head, _, rest = name.removesuffix("n" if name.startswith("reclaim-") else "").partition("-")
        if head == "reclaim":
            return reclaim(int(rest))
        jobs, _, pods = rest.partition("x")
        return place(int(head.removesuffix("n")), int(jobs), int(pods))
    except ValueError:
        raise KeyError(f"no shape {name}; shapes are {', '.join(SHAPES)}") from None


if __name__ == "__main__":
    for shape in sys.argv[1:]:
        print(json.dumps(make(shape), separators=(",", ":")))
    if not sys.argv[1:]:
        print("\n".join(SHAPES))
