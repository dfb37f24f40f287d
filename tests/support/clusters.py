"""Hypothesis strategies for small clusters that hold together: nodes, queues, gangs, some of them
running.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""

cpus = st.sampled_from(["500m", "1", "2", "4"])
memories = st.sampled_from(["512Mi", "1Gi", "2Gi"])


def meta(name: str, second: int = 0, **more: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"
    return {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp, **more}


@st.composite
def nodes(draw: st.DrawFn, number: int) -> dict[str, Any]:
    capacity = {
        "cpu": draw(st.sampled_from(["2", "4", "8"])), "memory": draw(
            st.sampled_from(["4Gi", "8Gi"])), "pods": draw(st.sampled_from(["3", "110"]))
    }
    if draw(st.booleans()):
        capacity["nvidia.com/gpu"] = "2"
    taint = draw(st.sampled_from([None, None, None, "NoSchedule", "PreferNoSchedule"]))
    labels = {"kubernetes.io/hostname": f"n{number}", "zone": draw(st.sampled_from("ab"))}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(f"n{number}", labels=labels),
            "spec": {"taints": [{"key": "dedicated", "effect": taint}]} if taint else {},
            "status": {"allocatable": capacity, "capacity": capacity}}


@st.composite
def queues(draw: st.DrawFn, number: int) -> dict[str, Any]:
    spec: dict[str, Any] = {"weight": draw(st.integers(1, 5))}
    if draw(st.booleans()):
        spec["capability"] = {"cpu": draw(st.sampled_from(["4", "8"]))}
    if draw(st.booleans()):
        spec["guarantee"] = {"resource": {"cpu": "1"}}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": meta(
            f"q{number}", number), "spec": spec, "status": {"state": "Open"}
    }


@st.composite
def jobs(draw: st.DrawFn, number: int, queue_count: int, node_count: int) -> list[dict[str, Any]]:
    name, size = f"j{number}", draw(st.integers(1, 5))
    roles = draw(st.sampled_from([[""], ["worker"], ["master", "worker"]]))
    requests = {role: {"cpu": draw(cpus), "memory": draw(memories)} for role in roles}
    for role in roles:
        if draw(st.integers(0, 5)) == 0:
            requests[role] = {}
        elif draw(st.integers(0, 4)) == 0:
            requests[role]["nvidia.com/gpu"] = "1"
    selector = draw(st.sampled_from([{}, {}, {"zone": "a"}]))
    running = draw(st.integers(0, size)) if draw(st.booleans()) else 0
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": meta(
            name, number, namespace="default"), "spec": {
                "minMember": draw(st.integers(1, size)), "queue":
                f"q{draw(st.integers(0, queue_count - 1))}",
                **({"minResources": {"cpu": "1"}} if draw(st.booleans()) else {})
            }, "status":
        {"phase": "Running" if running else draw(st.sampled_from(["Pending", "Inqueue"]))}
    }
    pods = []
    for index in range(size):
        role = roles[min(index, len(roles) - 1)]
        notes = {
            "scheduling.k8s.io/group-name":
            name, **({"volcano.sh/task-spec": role} if role else {}), "volcano.sh/preemptable":
            draw(st.sampled_from(["true", "false"]))
        }
        place = {"nodeName": f"n{draw(st.integers(0, node_count - 1))}"} if index < running else {}
        pods.append({
            "apiVersion":
            "v1", "kind":
            "Pod", "metadata":
            meta(f"{name}-{role or 'task'}-{index}", number, namespace="default",
                 annotations=notes), "spec": {
                     "schedulerName": "volcano", "nodeSelector": selector, "priority": draw(
                         st.integers(0, 2)), "containers":
                     [{"name": "main", "resources": {"requests": requests[role]}}], **place
                 }, "status": {"phase": "Running" if place else "Pending"}
        })
    return [group, *pods]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """A case as `volcano_lab.cli.replay` takes it."""
    node_count, queue_count = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    objects = [draw(nodes(i))
               for i in range(node_count)] + [draw(queues(i)) for i in range(queue_count)]
    for number in range(draw(st.integers(1, 6))):
        objects += draw(jobs(number, queue_count, node_count))
    return {"name": "random", "family": "random", "conf": CONF, "objects": objects}
