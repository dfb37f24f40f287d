"""The same cluster in other words: whatever is changed here, a cycle must decide as before."""

from __future__ import annotations

import json
import re
from typing import Any

USELESS = {"m98": {}, "m99": {"unschedulable": True}}
"""The specs of nodes that take no pod."""


AMOUNT = re.compile(r'"(cpu|memory)": "(\d+)(m|Mi|Gi|)"')


def _rewritten(found: re.Match[str]) -> str:
    """Return an amount in another unit, or as another number."""
    name, number, unit = found[1], int(found[2]), found[3]
    text = {"m": f"{number / 1000:.3f}", "": f"{number}e0", "Mi": f"{number * 1024}Ki",
            "Gi": f"{number * 1024**3}"}[unit]
    return f'"{name}": "{text}"'


def twin(dumped: dict[str, Any]) -> dict[str, Any]:
    """Return the dump of a cache with nodes by other names in the same order, three times each
    queue's weight, a queue without jobs or claims, nodes that take no pod, and amounts in other
    units.

    >>> twin({"objects": [{"kind": "Queue", "spec": {"weight": 2}}], "node": "n7"})["node"]
    'm7'
    """
    other = json.loads(AMOUNT.sub(_rewritten, re.sub(r'"n(\d+)"', r'"m\1"', json.dumps(dumped))))
    queues = [obj for obj in other["objects"] if obj["kind"] == "Queue"]
    for queue in queues:
        queue.setdefault("spec", {})["weight"] = 3 * queue["spec"].get("weight", 1)
    idle = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": "idle"}, "spec": {"weight": 5}}
    nothing = {"allocatable": {"cpu": "0", "memory": "0", "pods": "0"}}
    other["objects"] += [idle, *({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
                                  "spec": spec, "status": nothing}
                                 for name, spec in USELESS.items())]
    return other


def in_its_words(decided: Any) -> Any:
    """Return what was decided in a cluster as it is called in its twin."""
    return json.loads(re.sub(r'"n(\d+)"', r'"m\1"', json.dumps(decided)))
