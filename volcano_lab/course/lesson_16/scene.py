"""Lesson 16: the cluster as a map of rooms, racks and nodes, and its queues."""

from collections.abc import Mapping
from typing import Any

from volcano_lab.api.objects import Queue
from volcano_lab.cluster import Cluster
from volcano_lab.messages import gettext
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures

COLORS = colors_of(("shop", "crawl", "invoice", "train", "eval"))
RACKS = [{"name": f"rack-{rack}", "group": f"room-{(rack + 1) // 2}"} for rack in (1, 2, 3, 4)]


def drawn(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the nodes of a cycle's end, with whose pods are on each."""
    nodes = [{"name": name, "group": f"rack-{(int(name[-1]) + 1) // 2}", "size": 8,
              "pods": facts.pods(node.tasks.values(), COLORS), "note": ", ".join(
                  sorted({task.name.rpartition("-")[0] for task in node.tasks.values()}))}
             for name, node in sorted(cycle.session.nodes.items())]
    groups = [{"name": "room-1"}, *RACKS[:2], {"name": "room-2"}, *RACKS[2:]]
    return pictures.cluster(title, {"groups": groups, "nodes": nodes}, unit="CPUs", cell=1,
                            width=760)


def queue_rows(cluster: Cluster) -> list[dict[str, Any]]:
    """What the manifests of its queues say."""
    specs = {queue.name: queue.spec for queue in cluster.objects() if isinstance(queue, Queue)}
    return [{"queue": name, "parent": spec.parent, "deserved": listed(spec.deserved), "capability":
             f"{gettext('CPUs')} {spec.capability['cpu']}" if spec.capability else None}
            for name, spec in specs.items() if spec.deserved]


def listed(amounts: Mapping[str, Any]) -> dict[str, Any]:
    """CPUs and GPUs of a list of resources."""
    return {gettext(word): amounts.get(name)
            for word, name in (("CPUs", "cpu"), ("GPUs", "nvidia.com/gpu"))}
