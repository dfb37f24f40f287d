"""Users who change the cluster while it runs: a queue, a priority class, a budget, a node, a
HyperNode. What they change they change back after a while.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from volcano_lab.api.objects import KubernetesObject, Taint
from volcano_lab.cache.api_server import ADDED, WatchEvent
from volcano_lab.simulation import Simulation

PAUSE, LASTS = (5.0, 25.0), (3.0, 20.0)
"""Seconds between two changes, and until one is taken back: uniform."""


class Users:
    """Change one object at a time, at random, and take the gates off new pods."""

    def __init__(self, sim: Simulation, seed: int):
        self.sim, self.random = sim, Random(f"{seed} users")
        self.first: dict[tuple[str, str], KubernetesObject] = {}
        sim.server.watchers.append(self.hear)
        sim.calendar.after(self.random.uniform(*PAUSE), self.meddle)

    def hear(self, event: WatchEvent) -> None:
        if event.type == ADDED and event.object.kind == "Pod" and (
                event.object.spec.scheduling_gates):
            self.sim.calendar.after(self.random.uniform(1.0, 8.0), self.ungate,
                                    uid=event.object.metadata.uid, pod=event.object.key)

    def ungate(self, uid: str, pod: str) -> None:
        known = self.sim.server.find("Pod", pod)
        if known is not None and known.metadata.uid == uid:
            self.sim.server.update(known.changed(spec={"scheduling_gates": []}))

    def meddle(self) -> None:
        """Change one object, or delete it, and change it back later."""
        kinds = [kind for kind in CHANGES if self.sim.server.list(kind)]
        kind = self.random.choice(kinds)
        before = self.random.choice(self.sim.server.list(kind))
        self.first.setdefault((kind, before.key), before)
        after = CHANGES[kind](before, self.random)
        if after is None:
            self.sim.server.remove(kind, before.key)
        else:
            self.sim.server.update(after)
        self.sim.calendar.after(self.random.uniform(*LASTS), self.restore, obj=before)
        self.sim.calendar.after(self.random.uniform(*PAUSE), self.meddle)

    def restore(self, obj: KubernetesObject) -> None:
        """Change back to what an object was at first, also a node that is lost meanwhile."""
        first = self.first[obj.kind, obj.key]
        fields = ("status",) if obj.kind == "ResourceQuota" else ("spec", "value")
        parts = {part: getattr(first, part) for part in fields if hasattr(first, part)}

        def back(known: Any) -> Any:
            return known.changed(metadata={"labels": first.metadata.labels}).evolve(**parts)

        server, lost = self.sim.server, self.sim.side.lost_nodes
        if (known := server.find(obj.kind, obj.key)) is not None:
            server.update(back(known))
        elif obj.kind != "Node":
            server.create(first.changed(metadata={"uid": "", "resource_version": ""}))
        elif obj.name in lost:
            lost[obj.name] = back(lost[obj.name])


def _queue(queue: Any, random: Random) -> Any:
    spec = queue.spec
    return queue.changed(spec=random.choice([
        {"weight": (spec.weight or 1) + random.randint(1, 3)},
        {"priority": random.randint(1, 5)},
        {"reclaimable": spec.reclaimable is False}]))


def _node(node: Any, random: Random) -> Any:
    taint = Taint("new", effect=random.choice(["NoSchedule", "PreferNoSchedule"]))
    return random.choice([
        lambda: node.changed(spec={"taints": [*node.spec.taints, taint]}),
        lambda: node.changed(spec={"unschedulable": not node.spec.unschedulable}),
        lambda: node.changed(metadata={"labels": node.metadata.labels | {"zone": "z9"}})])()


def _hyper_node(hyper_node: Any, random: Random) -> Any:
    members = hyper_node.spec.members
    return random.choice([None, hyper_node.changed(spec={"members": members[1:]})])


CHANGES: dict[str, Callable[[Any, Random], Any]] = {
    "Queue": _queue, "Node": _node, "HyperNode": _hyper_node,
    "PriorityClass": lambda obj, random: random.choice([None, obj.evolve(
        value=obj.value + random.choice([-7, 7]))]),
    "PodDisruptionBudget": lambda obj, random: None,
    "ResourceQuota": lambda obj, random: obj.changed(status={"used": {"cpu": "14"}}),
    "StorageClass": lambda obj, random: None,
    "CSINode": lambda obj, random: None,
}
"""By kind what users make of an object; None: they delete it."""
