"""Lesson 13: a made-up export of a cluster that looks like a real one, and the command's words.

Forty nodes in three zones, six queues, some two hundred pods, a configuration, three complaints.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import yaml
from attrs import define
from click import unstyle

from volcano_lab.course.kit.scenery import conf_text

BATCH, SCHEDULING = "batch.volcano.sh/v1alpha1", "scheduling.volcano.sh/v1beta1"
JOB, GROUP = "volcano.sh/job-name", "scheduling.k8s.io/group-name"
CONF = conf_text("enqueue, allocate, backfill", "priority, gang, conformance",
                 "overcommit, drf, predicates, proportion, nodeorder, binpack",
                 switches=dict.fromkeys(("gang", "drf"), "enablePreemptable: false"),
                 arguments={"binpack": {"binpack.wieght": 5}})
QUEUES = {"nlp": {"weight": 3}, "vision": {"weight": 3}, "speech": {"weight": 1},
          "web": {"weight": 2, "capability": {"cpu": 260}},
          "ci": {"weight": 2, "reclaimable": True}, "batch": {"weight": 1}}
KINDS = (("c", 24, {"cpu": 32, "memory": "128Gi"}), ("m", 10, {"cpu": 64, "memory": "512Gi"}),
         ("g", 6, {"cpu": 64, "memory": "512Gi", "nvidia.com/gpu": 8}))
"""(word, how many, allocatable) of the kinds of nodes."""
GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GHOSTS = 9
"""PodGroups of an operator that is gone: admitted, without a pod."""


@define(frozen=True, repr=False)
class Printed:
    """What a command prints."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        style = "white-space: pre; word-break: normal; overflow-x: auto; font: 14px monospace"
        return f'<pre style="{style}">{escape(self.text)}</pre>'

    def head(self, lines: int) -> Printed:
        """The first lines."""
        return Printed("\n".join([*self.text.splitlines()[:lines], "…"]))


def volcano_lab(line: str) -> Printed:
    """Run a command as a terminal would; what it prints. Warnings, which are the business of
    `lint`, are left out where something else is said.
    """
    from volcano_lab.cli import main

    out, warnings = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(warnings):
        main(shlex.split(line))
    printed = out.getvalue() or warnings.getvalue()
    return Printed(unstyle(printed).strip())  # a kernel forces colours


def export(name: str = "monday", ghosts: int = GHOSTS) -> str:
    """Write the export to a file, as `kubectl get -o yaml` would; returns its path."""
    path = Path(gettempdir()) / f"{name}.yaml"
    conf = _object("v1", "ConfigMap", "volcano-scheduler-configmap", namespace="volcano-system",
                   data={"volcano-scheduler.conf": CONF})
    listed = {"apiVersion": "v1", "kind": "List", "items": list(_objects(ghosts))}
    path.write_text("---\n".join(yaml.safe_dump(each, sort_keys=False)
                                 for each in (listed, conf)), encoding="utf-8")
    return str(path)


def _objects(ghosts: int) -> Iterator[dict[str, Any]]:
    yield from _nodes()
    for name, spec in QUEUES.items():
        yield _object(SCHEDULING, "Queue", name, spec=spec, status={"state": "Open"})
    yield from _job("web", "shop", "web", 48, {"cpu": 4, "memory": "8Gi"}, "c", least=1)
    yield from _job("web", "search", "web", 12, {"cpu": 4, "memory": "16Gi"}, "c", 48, least=1)
    yield from _job("ci", "build-4411", "ci", 40, {"cpu": 4, "memory": "8Gi"}, "c", 60, least=1)
    yield from _job("nlp", "pretrain", "nlp", 48, {"cpu": 6, "memory": "48Gi", "nvidia.com/gpu": 1},
                    "g", least=8)
    yield from _job("speech", "align", "speech", 20, {"cpu": 8, "memory": "32Gi"}, "m", least=4)
    yield from _job("batch", "features", "batch", 24, {"cpu": 8, "memory": "64Gi"}, "m", 20,
                    least=1)
    yield from _job("vision", "segment", "vision", 8,
                    {"cpu": 2, "memory": "16Gi", "nvidia.com/gpu": 1})
    yield from _job("ci", "nightly-4412", "ci", 30, {"cpu": 4, "memory": "8Gi"})
    yield from _job("web", "reindex", "web", 4, {"cpu": 4, "memory": "16Gi"},
                    selector={"disk": "ssd"})
    for number in range(ghosts):
        yield _object(SCHEDULING, "PodGroup", f"spark-{number:02}", namespace="batch",
                      spec={"queue": "batch", "minMember": 9,
                            "minResources": {"cpu": 112, "memory": "448Gi"}},
                      status={"phase": "Inqueue"})


def _nodes() -> Iterator[dict[str, Any]]:
    for word, count, allocatable in KINDS:
        for number in range(count):
            zone = "abc"[number % 3]
            labels = {"topology.kubernetes.io/zone": zone, "node.kubernetes.io/instance-type": word}
            spec: dict[str, Any] = {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
                                    } if word == "g" else {}
            if word == "m" and zone == "c":
                labels["disk"] = "ssd"
                spec["unschedulable"] = True
            yield _object("v1", "Node", f"{word}{number + 1:02}", labels=labels, spec=spec,
                          status={"allocatable": {**allocatable, "pods": 110},
                                  "conditions": [{"type": "Ready", "status": "True"}]})


def _job(namespace: str, name: str, queue: str, pods: int, requests: dict[str, Any],
         node: str = "", first: int = 0, least: int = 0,
         selector: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """A Volcano Job with its PodGroup and pods, which run on nodes of a kind or wait."""
    spec: dict[str, Any] = {"schedulerName": "volcano", "containers": [
        {"name": "main", "image": f"registry.example/{name}", "resources": {"requests": requests}}]}
    if "nvidia.com/gpu" in requests:
        spec["tolerations"] = [GPU_TAINT]
    if selector:
        spec["nodeSelector"] = selector
    least, uid = least or pods, str(uuid5(NAMESPACE_DNS, name))
    yield _object(BATCH, "Job", name, namespace=namespace, uid=uid, spec={
        "queue": queue, "minAvailable": least, "schedulerName": "volcano",
        "tasks": [{"name": "worker", "replicas": pods, "template": {"spec": spec}}]})
    owner = [{"apiVersion": BATCH, "kind": "Job", "name": name, "uid": uid, "controller": True}]
    group = f"{name}-{uid}"
    minimum = {word: re.sub(r"\d+", lambda found: str(int(found[0]) * least), str(amount))
               for word, amount in requests.items()}
    yield _object(SCHEDULING, "PodGroup", group, namespace=namespace, ownerReferences=owner,
                  spec={"queue": queue, "minMember": least, "minResources": minimum},
                  status={"phase": "Running", "running": pods} if node else {"phase": "Pending"})
    places = [f"{word}{number + 1:02}" for word, count, _ in KINDS if word == node
              for number in range(count) if not (word == "m" and "abc"[number % 3] == "c")]
    for number in range(pods):
        where = {"nodeName": places[(first + number) % len(places)]} if node else {}
        yield _object("v1", "Pod", f"{name}-worker-{number}", namespace=namespace,
                      labels={JOB: name}, annotations={JOB: name, GROUP: group},
                      ownerReferences=owner, spec={**spec, **where},
                      status={"phase": "Running" if node else "Pending"})


def _object(version: str, kind: str, name: str, spec: Any = None, status: Any = None,
            data: Any = None, **metadata: Any) -> dict[str, Any]:
    parts = {"spec": spec, "status": status, "data": data}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata},
            **{word: part for word, part in parts.items() if part}}
