"""Lesson 13: a made-up export of a cluster that looks like a real one, and the command's words.

Forty nodes in three zones, six queues, some two hundred pods, a configuration, three complaints.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import yaml
from click import unstyle

from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.questions import CLUSTERS, part
from volcano_lab.course.kit.results import Printed
from volcano_lab.course.kit.scenery import conf_text
from volcano_lab.course.kit.verdict import Verdict, to_do
from volcano_lab.messages import gettext
from volcano_lab.widgets import pictures

BATCH, SCHEDULING = "batch.volcano.sh/v1alpha1", "scheduling.volcano.sh/v1beta1"
JOB, GROUP = "volcano.sh/job-name", "scheduling.k8s.io/group-name"
CONF = conf_text("enqueue, allocate, backfill", "priority, gang, conformance",
                 "overcommit, drf, predicates, proportion, nodeorder, binpack",
                 switches=dict.fromkeys(("gang", "drf"), "enablePreemptable: false"),
                 arguments={"binpack": {"binpack.wieght": 5}})
PARTS = part("13", CLUSTERS)["export"]


def volcano_lab(line: Any = ...) -> Printed | Verdict:
    """Run a command as a terminal would; what it prints. Warnings, which are the business of
    `lint`, are left out where something else is said. Of dots, what to write.
    """
    from volcano_lab.cli import main

    if line is ...:
        return to_do(gettext("Write a command in place of the dots."))
    out, warnings = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(warnings):
        main(shlex.split(line))
    return Printed(unstyle(out.getvalue() or warnings.getvalue()).strip())  # kernels force colours


def who_pays(file: str, change: str, resource: str, legend: str) -> pictures.Picture:
    """Play the nodes that have a resource at the end of the first cycle, without a change and with
    it.
    """
    found = Cluster.read(file).what_if(change)
    before, after = (cycle.plot.nodes("The nodes with GPUs", resource, legend=legend)
                     for cycle in (found.before, found.after))
    return pictures.film({"without the change": before, "with the change": after})


def export(name: str = "monday", ghosts: int = 9) -> str:
    """Write the export to a file, as `kubectl get -o yaml` would; returns its path. `ghosts` is the
    number of PodGroups of an operator that is gone: admitted, without a pod.
    """
    path = Path(gettempdir()) / f"{name}.yaml"
    conf = _object("v1", "ConfigMap", "volcano-scheduler-configmap", namespace="volcano-system",
                   data={"volcano-scheduler.conf": CONF})
    listed = {"apiVersion": "v1", "kind": "List", "items": list(_objects(ghosts))}
    path.write_text("---\n".join(yaml.safe_dump(each, sort_keys=False)
                                 for each in (listed, conf)), encoding="utf-8")
    return str(path)


def _objects(ghosts: int) -> Iterator[dict[str, Any]]:
    yield from _nodes()
    for name, spec in PARTS["queues"].items():
        yield _object(SCHEDULING, "Queue", name, spec=spec, status={"state": "Open"})
    for job in PARTS["jobs"]:
        yield from _job(**job)
    for number in range(ghosts):
        yield _object(SCHEDULING, "PodGroup", f"spark-{number:02}", namespace="batch",
                      spec=deepcopy(PARTS["ghost"]), status={"phase": "Inqueue"})


def _nodes() -> Iterator[dict[str, Any]]:
    for word, count, allocatable, given in PARTS["nodes"]:
        for number in range(count):
            zone = "abc"[number % 3]
            labels = {"topology.kubernetes.io/zone": zone, "node.kubernetes.io/instance-type": word}
            spec = deepcopy(given)
            if word == "m" and zone == "c":
                labels["disk"] = "ssd"
                spec["unschedulable"] = True
            yield _object("v1", "Node", f"{word}{number + 1:02}", labels=labels, spec=spec,
                          status={"allocatable": {**allocatable, "pods": 110},
                                  "conditions": [{"type": "Ready", "status": "True"}]})


def _job(namespace: str, name: str, pods: int, requests: dict[str, Any], node: str = "",
         first: int = 0, least: int = 0, **more: Any) -> Iterator[dict[str, Any]]:
    """A Volcano Job of the namespace's queue with its PodGroup and pods, which run on nodes of a
    kind or wait; `more` of a pod's spec.
    """
    spec = {"schedulerName": "volcano", "containers": [
        {"name": "main", "image": f"registry.example/{name}", "resources": {"requests": requests}}
        ], **more}
    least, uid = least or pods, str(uuid5(NAMESPACE_DNS, name))
    yield _object(BATCH, "Job", name, namespace=namespace, uid=uid, spec={
        "queue": namespace, "minAvailable": least, "schedulerName": "volcano",
        "tasks": [{"name": "worker", "replicas": pods, "template": {"spec": spec}}]})
    owner = [{"apiVersion": BATCH, "kind": "Job", "name": name, "uid": uid, "controller": True}]
    group = f"{name}-{uid}"
    minimum = {word: re.sub(r"\d+", lambda found: str(int(found[0]) * least), str(amount))
               for word, amount in requests.items()}
    yield _object(SCHEDULING, "PodGroup", group, namespace=namespace, ownerReferences=owner,
                  spec={"queue": namespace, "minMember": least, "minResources": minimum},
                  status={"phase": "Running", "running": pods} if node else {"phase": "Pending"})
    places = [f"{word}{number + 1:02}" for word, count, *_ in PARTS["nodes"] if word == node
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
