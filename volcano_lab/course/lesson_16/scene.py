"""Lesson 16: the cluster as a map of rooms, racks and nodes, and its queues."""

from typing import Any

from volcano_lab.api.objects import Queue
from volcano_lab.cluster import Cluster
from volcano_lab.messages import gettext
from volcano_lab.trace.palette import colors_of
from volcano_lab.trace.views.cycle import Cycle
from volcano_lab.widgets import facts, pictures, plots

COLORS = colors_of(("shop", "crawl", "invoice", "train", "eval"))
ROOMS = [{"name": "room-1"}, {"name": "room-2"}, *(
    {"name": f"rack-{rack}", "group": f"room-{(rack + 1) // 2}"} for rack in (1, 2, 3, 4))]
WORDS = {"cpu": "CPUs", "nvidia.com/gpu": "GPUs"}


def drawn(cycle: Cycle, title: str) -> pictures.Picture:
    """Draw the nodes of a cycle's end; beside a name the GPUs in use, or whose pods are there."""
    nodes = []
    for name, node in sorted(cycle.session.nodes.items()):
        pods = facts.pods(node.tasks.values(), COLORS)
        jobs = ", ".join(dict.fromkeys(pod["name"].rpartition("-")[0] for pod in pods))
        used, gpus = (each.get("nvidia.com/gpu") / 1000 for each in (node.used, node.allocatable))
        nodes.append({"name": name, "group": f"rack-{(int(name[-1]) + 1) // 2}", "size": 8,
                      "pods": pods, "note": gettext("{used:g} of {gpus:g} GPUs", used=used,
                                                    gpus=gpus) if gpus else jobs})
    return pictures.cluster(title, {"groups": ROOMS, "nodes": nodes}, unit="CPUs", cell=1,
                            width=760, legend=plots.NODES)


def queue_rows(cluster: Cluster) -> list[dict[str, Any]]:
    """What the manifests of its queues say."""
    specs = {queue.name: queue.spec for queue in cluster.objects() if isinstance(queue, Queue)}
    return [{"queue": name, "parent": spec.parent, "deserved": listed(spec.deserved),
             "capability": listed(spec.capability or {})}
            for name, spec in specs.items() if spec.deserved]


def listed(amounts: dict[str, Any]) -> dict[str, Any] | None:
    """CPUs and GPUs of a list of resources; None where it has neither."""
    return {gettext(word): amounts[name] for name, word in WORDS.items() if name in amounts} or None
