"""Scenes for reclaim, preempt and shuffle: a cluster, a configuration, small changes, and what was decided in short."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import yaml

from volcano_lab.api.objects import KubernetesObject, ObjectMeta, PriorityClass
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler

Change = Callable[[list[KubernetesObject]], None]


def conf(first: str = "priority gang conformance", second: str = "predicates proportion nodeorder",
         actions: str = "enqueue, reclaim") -> str:  # fmt: skip
    """A configuration of two tiers of plugins."""
    tiers = [{"plugins": [{"name": name} for name in tier.split()]} for tier in (first, second)]
    return yaml.safe_dump({"actions": actions, "tiers": tiers})


def change(kind: str, name: str, how: Callable[[KubernetesObject], object]) -> Change:
    """Change all objects of a kind whose names begin like this."""

    def apply(objects: list[KubernetesObject]) -> None:
        found = [obj for obj in objects if obj.kind == kind and obj.name.startswith(name)]
        assert found, f"the scene has no {kind} {name}"
        for obj in found:
            how(obj)

    return apply


def annotate(name: str, kind: str = "Pod", **notes: str) -> Change:
    """Volcano's annotations, as `preemptable="false"`."""
    named = {f"volcano.sh/{key.replace('_', '-')}": value for key, value in notes.items()}
    return change(kind, name, lambda obj: obj.metadata.annotations.update(named))


def spec(kind: str, name: str, **fields: object) -> Change:
    return change(kind, name, lambda obj: [setattr(obj.spec, field, value) for field, value in fields.items()])


def priority(job: str, value: int) -> Change:
    """Give a job, and its pods, a priority."""

    def apply(objects: list[KubernetesObject]) -> None:
        objects[:] = [
            PriorityClass(ObjectMeta(name=f"class-{job}"), value=value),
            *(obj for obj in objects if obj.name != f"class-{job}"),
        ]
        spec("PodGroup", job, priority_class_name=f"class-{job}")(objects)
        spec("Pod", job, priority=value)(objects)

    return apply


def scene(cluster: Cluster, *changes: Change) -> list[KubernetesObject]:
    objects = [deepcopy(obj) for obj in cluster.objects()]  # one by one: a cluster's pods share their parts
    for apply in changes:
        apply(objects)
    return objects


def run(objects: list[KubernetesObject], conf: str) -> Session:
    """A cycle, which decides the same over arrays and node by node."""
    plain = Scheduler(Cache(deepcopy(objects)), conf).run_once(arrays=False)
    ssn = Scheduler(Cache(deepcopy(objects)), conf).run_once()
    assert (ssn.committed, ssn.undone) == (plain.committed, plain.undone)
    return ssn


def decisions(ssn: Session) -> list[str]:
    """What took effect, as "evict old-7 n1"."""
    return [" ".join([operation, key.partition("/")[2], *rest]) for operation, key, *rest in ssn.committed]


def decide(cluster: Cluster, conf: str, *changes: Change) -> list[str]:
    return decisions(run(scene(cluster, *changes), conf))


class Notes(Observer):
    """What the actions say to who watches."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, Any]]] = []

    def note(self, kind: str, /, **facts: Any) -> None:
        self.rows.append((kind, facts))
