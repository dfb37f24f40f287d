"""What `kubectl` would print of a cluster after a cycle: get, describe, logs.

    get KIND [NAME] [-o yaml]   get KIND --show-labels   get events   get configmap
    describe KIND [NAME]        logs [WORD]              -n NAMESPACE with each
"""

import re
from collections.abc import Iterable
from copy import copy
from textwrap import fill, indent
from typing import Any

import yaml

from volcano_lab.api.formatting import amount_text
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup
from volcano_lab.changes.draft import kind_of
from volcano_lab.changes.objects import named
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.manifests.loader import ManifestError, dump, to_dict
from volcano_lab.messages import log
from volcano_lab.trace import Trace
from volcano_lab.trace.shown import plain_text

ALLOWED = ("allowed are get KIND [NAME] [-o yaml], get KIND --show-labels, get events, "
           "get configmap (the scheduler's), describe KIND [NAME], logs [WORD]")
NAMESPACE = re.compile(r" (?:-n|--namespace)[ =]?(\S+)")
OPTIONS = re.compile(r" (?:-A|--all-namespaces|-o[ =]?wide)\b")
"""Those that change nothing here."""
OF_KIND = re.compile(r"^(get|describe) (\w+)/")
WIDTH = 90
"""The columns that fit beside a notebook's prompt at 1280 pixels."""


class Printed(str):
    """A text that a notebook shows as it is printed."""

    __repr__ = str.__str__


class Kubectl:
    """A cluster after one cycle, as `kubectl` shows it.

    >>> shell = Kubectl(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3))
    >>> print(shell("get podgroups"))
    NAME   QUEUE    STATUS   MINMEMBER  RUNNINGS
    train  default  Pending          2         0
    >>> print(shell("get nodes"))
    NAME  ALLOCATABLE  IDLE
    n1    cpu 4        cpu 4
    """

    def __init__(self, cluster: Cluster, conf: str | None = None):
        self.objects, self.conf = cluster.objects(), cluster.conf if conf is None else conf
        with log.quiet():  # `logs` prints it
            self.cycle = cluster.run(conf, trace=Trace())
        self.lines = [*self.cycle.session.warnings, *self.cycle.log(3)]
        self._later = {task.key for job in self.cycle.session.jobs.values() if job.is_pending()
                       for task in job.tasks.values() if task.pod.metadata.owner_references}

    def __call__(self, command: str) -> Printed:
        """Return what a command prints. Raises `ManifestError` for one that there is not."""
        if not (space := NAMESPACE.search(command)):
            return Printed(self._printed(command))
        shell = copy(self)
        shell.objects = [obj for obj in self.objects if not obj.namespaced
                         or (obj.namespace or "default") == space[1]]
        return shell(NAMESPACE.sub("", command))

    def _printed(self, command: str) -> str:
        words = OPTIONS.sub("", OF_KIND.sub(r"\1 \2 ", command.removeprefix("kubectl ")))
        match words.replace("-o=", "-o ").replace("-oyaml", "-o yaml").split():
            case ["get", "events"]:
                return table(self._events())
            case ["logs", *words]:
                return "\n".join(line for line in self.lines if all(map(line.__contains__, words)))
            case ["get", "configmap" | "configmaps" | "cm", *_]:
                return (DEFAULT_CONF if self.conf is None else self.conf).strip()
            case ["get", kind, *names, "-o", "yaml"]:
                return dump(self._found(kind, names)).strip()
            case ["get", kind, *names, "--show-labels"]:
                return table(self._row(obj) | {"LABELS": ",".join(map(
                    "=".join, obj.metadata.labels.items())) or "<none>"}
                    for obj in self._found(kind, names))
            case ["get", kind, *names] if "-" not in [name[0] for name in names]:
                return table(map(self._row, self._found(kind, names)))
            case ["describe", kind, *names]:
                return "\n\n".join(map(self._described, self._found(kind, names)))
        raise ManifestError([f'"{command}": {ALLOWED}'])

    def _of(self, kind: str) -> list[KubernetesObject]:
        return [self._now(obj) for obj in self.objects if obj.kind.lower() == kind_of(kind, kind)
                and not (obj.kind == "Pod" and obj.key in self._later)]

    def _named(self, kind: str, name: str) -> KubernetesObject:
        return self._now(named(self.objects, f"{kind}/{name}", f"{kind} {name}"))

    def _found(self, kind: str, names: list[str]) -> list[KubernetesObject]:
        """The objects of a kind, all or of these names; else, as kubectl describes them, those
        whose names begin so.
        """
        objects = self._of(kind)
        return ([obj for obj in objects if obj.name in names or not names] or
                [obj for obj in objects if obj.name.startswith(tuple(names))] or
                [self._named(kind, name) for name in names])

    def _now(self, obj: KubernetesObject) -> KubernetesObject:
        """The object as it is after the cycle."""
        cache = self.cycle.session.cache
        if isinstance(obj, PodGroup) and obj.key in cache.jobs:
            return cache.jobs[obj.key].pod_group or obj
        return cache.pods.get(obj.key, obj) if isinstance(obj, Pod) else obj

    def _events(self) -> list[dict[str, Any]]:
        keys = {f"{obj.kind} {obj.key}": f"{obj.kind.lower()}/{obj.name}" for obj in self.objects}
        return [{"TYPE": event.kind, "REASON": event.reason, "OBJECT": keys[event.about],
                 "MESSAGE": event.message} for event in self.cycle.session.cache.events
                if event.about in keys]

    def _row(self, obj: Any) -> dict[str, Any]:
        match obj.kind:
            case "Node":
                info = self.cycle.session.nodes[obj.name]
                return {"NAME": obj.name, "ALLOCATABLE": _amounts(info.allocatable),
                        "IDLE": _amounts(info.idle)}
            case "Queue":
                return {"NAME": obj.name, "PARENT": obj.spec.parent or "", "STATE": obj.status.state
                        or "Open", "WEIGHT": obj.spec.weight}
            case "PodGroup":
                return {"NAME": obj.name, "QUEUE": obj.spec.queue, "STATUS": obj.status.phase,
                        "MINMEMBER": obj.spec.min_member, "RUNNINGS": obj.status.running}
            case "Pod":
                return {"NAME": obj.name, "STATUS": obj.status.phase,
                        "NODE": obj.spec.node_name or "<none>"}
        return {"NAME": obj.name}

    def _described(self, obj: Any) -> str:
        """Name, spec, status with its messages, events."""
        document = to_dict(obj)
        status = document.pop("status", {})
        conditions = status.pop("conditions", [])
        told = [{name: text for name, text in event.items() if name != "OBJECT"}
                for event in self._events()
                if event["OBJECT"] == f"{obj.kind.lower()}/{obj.name}"]
        parts = {"Name": f" {obj.name}", "Labels": _lines(obj.metadata.labels),
                 "Spec": _lines(document.get("spec")), "Status": _lines(status),
                 "Conditions": "".join(f"\n{_wrapped(each)}" for each in conditions),
                 "Events": "\n" + indent(table(told), "  ") if told else " <none>"}
        return "\n".join(f"{name}:{text}" for name, text in parts.items() if text)


def _lines(part: Any) -> str:
    """A part of a manifest, two columns further in."""
    return "\n" + indent(yaml.safe_dump(part, sort_keys=False).strip(), "  ") if part else ""


def _wrapped(condition: dict[str, Any]) -> str:
    text = f"{condition.get('type')} ({condition.get('reason')}): {condition.get('message', '')}"
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as kubectl's columns; it speaks English. A long last column goes on below its head."""
    lines = plain_text(list(rows), str).splitlines() or ["No resources found."]
    indent = " " * (lines[0].rfind("  ") + 2)
    return "\n".join(fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
                     for line in lines)


def _amounts(resource: Any) -> str:
    return ", ".join(f"{name} {amount_text(name, amount)}"
                     for name, amount in resource if name != "pods" and amount)
