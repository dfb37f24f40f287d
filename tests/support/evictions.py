"""Scenes for reclaim, preempt and shuffle: a cluster, a configuration, small changes, and what was
decided in short.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import strategies as st

from volcano_lab.api.objects import KubernetesObject, ObjectMeta, PriorityClass
from volcano_lab.cache import Cache
from volcano_lab.cli.replay import CycleRecord
from volcano_lab.cluster import Cluster
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import Scheduler

Change = Callable[[list[KubernetesObject]], None]


def conf(first: str = "priority gang conformance", second: str = "predicates proportion nodeorder",
         actions: str = "enqueue, reclaim") -> str:
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
    return change(kind, name,
                  lambda obj: [setattr(obj.spec, field, value) for field, value in fields.items()])


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
    objects = [deepcopy(obj)
               for obj in cluster.objects()]  # one by one: a cluster's pods share their parts
    for apply in changes:
        apply(objects)
    return objects


def run(objects: list[KubernetesObject], conf: str) -> Session:
    """A cycle, which decides the same over arrays and node by node."""
    plain, record = CycleRecord(), CycleRecord()
    Scheduler(Cache(deepcopy(objects)), conf).run_once(plain, arrays=False)
    ssn = Scheduler(Cache(deepcopy(objects)), conf).run_once(record)
    assert ssn.use_arrays
    assert record.decisions == plain.decisions
    return ssn


def decisions(ssn: Session) -> list[str]:
    """What took effect, as "evict old-7 n1"."""
    return [
        " ".join([operation, key.partition("/")[2], *rest])
        for operation, key, *rest in ssn.committed
    ]


def decide(cluster: Cluster, conf: str, *changes: Change) -> list[str]:
    return decisions(run(scene(cluster, *changes), conf))


@st.composite
def contended(draw: st.DrawFn) -> list[KubernetesObject]:
    """Nodes that are all but full, in up to three queues, and jobs of all priorities that want in.
    """
    cluster, changes = Cluster(), []
    free = {f"n{number}": 4 for number in range(draw(st.integers(1, 4)))}
    for name in free:
        cluster.node(name, cpu=4, memory="8Gi", pods=draw(st.sampled_from([5, 110])))
    queues = [f"q{number}" for number in range(draw(st.integers(1, 3)))]
    for name in queues:
        cluster.queue(name, weight=draw(st.integers(1, 3)), reclaimable=draw(
            st.sampled_from([True, True, True, False])))
    for number in range(draw(st.integers(2, 9))):
        cpu, running = draw(st.integers(1, 2)), {}
        for node in draw(st.permutations(sorted(free))):
            running[node] = min(free[node] // cpu, draw(st.integers(1, 3)))
            free[node] -= cpu * running[node]
        name, pods = f"j{number}", sum(running.values()) or draw(st.integers(1, 4))
        cluster.job(name, queue=draw(st.sampled_from(queues)), pods=pods, cpu=cpu, memory=draw(
            st.sampled_from(["512Mi", "1Gi"])), running=running if any(running.values()) else None,
                    min_member=draw(st.integers(1, pods)))
        changes.append(priority(f"{name}", draw(st.sampled_from([1, 10, 100]))))
        if draw(st.booleans()):
            changes.append(
                annotate(f"{name}-0", preemptable=draw(st.sampled_from(["true", "false"]))))
            changes.append(
                annotate(f"{name}-0", task_spec=draw(st.sampled_from(["master", "worker"]))))
            changes.append(annotate(f"{name}-0", task_priority=draw(st.sampled_from(["1", "50"]))))
    return scene(cluster, *changes)


class Notes(Observer):
    """What the actions say to who watches."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, Any]]] = []

    def note(self, kind: str, /, **facts: Any) -> None:
        self.rows.append((kind, facts))
