"""A few words for clusters in tests: each gives an object, `open_session` a session in which a
plugin can be asked.
"""

from __future__ import annotations

from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.session import Session
from volcano_lab.manifests import loader as manifests
from volcano_lab.scheduler import Scheduler

SCHEDULING = "scheduling.volcano.sh/v1beta1"
NOW = 1_800_000_000.0
"""2027-01-15 08:00:00 UTC."""


def _object(kind: str, version: str, metadata: dict[str, Any], **parts: Any) -> KubernetesObject:
    return manifests.from_dict({"apiVersion": version, "kind": kind, "metadata": metadata, **parts})


def _metadata(name: str, labels: dict | None = None, annotations: dict | None = None,
              **more: Any) -> dict[str, Any]:
    return {
        "name": name, "uid": f"uid-{name}", "labels": labels or {}, "annotations": annotations
        or {}, **more
    }


def node(name: str, cpu: str = "4", memory: str = "8Gi", unschedulable: bool = False,
         labels: dict | None = None, annotations: dict | None = None,
         **scalars: str) -> KubernetesObject:
    capacity = {"cpu": cpu, "memory": memory, "pods": "110", **scalars}
    return _object("Node", "v1", _metadata(name, labels,
                                           annotations), spec={"unschedulable": unschedulable},
                   status={"allocatable": capacity, "capacity": capacity})


def queue(name: str = "default", annotations: dict | None = None, state: str = "Open",
          **spec: Any) -> KubernetesObject:
    return _object("Queue", SCHEDULING, _metadata(name, None, annotations),
                   spec={"weight": 1, **spec}, status={"state": state})


def group(name: str, queue: str = "default", phase: str = "Inqueue", created: str | None = None,
          annotations: dict | None = None, **spec: Any) -> KubernetesObject:
    times = {"creationTimestamp": created} if created else {}
    return _object("PodGroup", SCHEDULING,
                   _metadata(name, None, annotations, namespace="default", **times),
                   spec={"queue": queue, "minMember": 1, **spec}, status={"phase": phase})


def pod(name: str, group: str = "", node: str = "", phase: str = "", role: str = "",
        requests: dict | None = None, limits: dict | None = None, priority: int | None = None,
        labels: dict | None = None, annotations: dict | None = None,
        conditions: list | None = None, host_port: int = 0, **more: Any) -> KubernetesObject:
    """`more` goes into the pod's spec."""
    notes = {
        **({"scheduling.k8s.io/group-name": group} if group else {}),
        **({"volcano.sh/task-spec": role} if role else {}), **(annotations or {})
    }
    resources = {
        "requests": {"cpu": "1", "memory": "1Gi"} if requests is None else requests, "limits":
        limits or {}
    }
    spec: dict[str, Any] = {
        "schedulerName": "volcano", "containers": [{"name": "main", "resources": resources}], **more
    }
    if host_port:
        spec["containers"][0]["ports"] = [{"hostPort": host_port, "containerPort": host_port}]
    spec |= {"nodeName": node} if node else {}
    spec |= {"priority": priority} if priority is not None else {}
    return _object(
        "Pod", "v1", _metadata(name, labels, notes, namespace="default"), spec=spec, status={
            "phase": phase or ("Running" if node else "Pending"), "conditions": conditions or []
        })


def quota(name: str, hard: dict, used: dict, namespace: str = "default") -> KubernetesObject:
    return _object("ResourceQuota", "v1", _metadata(name, namespace=namespace), spec={"hard": hard},
                   status={"hard": hard, "used": used})


def conf(*plugins: str, actions: str = "allocate") -> str:
    """One tier; a plugin is its name, or its entry in YAML's short form: "{name: sla,
    enableJobOrder: false}".
    """
    entries = "".join(f"  - {plugin if plugin.startswith('{') else f'{{name: {plugin}}}'}\n"
                      for plugin in plugins)
    return f'actions: "{actions}"\ntiers:\n- plugins:\n{entries}'


def open_session(*objects: KubernetesObject, plugins: str | tuple[str, ...], now: float = NOW,
                 memory: dict | None = None) -> Session:
    """A session in which no action has run."""
    names = (plugins,) if isinstance(plugins, str) else plugins
    return Session(Cache(objects), load_conf(conf(*names)), now=now, memory=memory)


def run(*objects: KubernetesObject, conf: str, now: float = NOW) -> Session:
    """One whole cycle."""
    return Scheduler(Cache(objects), conf).run_once(now=now)


def task(ssn: Session, name: str) -> Any:
    """A task of the session by its pod's name."""
    return next(t for job in ssn.jobs.values() for t in job.tasks.values() if t.name == name)


def names(tasks: Any) -> list[str]:
    return [t.name for t in tasks]
