"""What `kubectl` would print of a cluster after a cycle: get, describe, logs.

    get KIND [NAME] [-o yaml]   get KIND --show-labels   get events   get configmap
    describe KIND [NAME]        logs [WORD]              -n NAMESPACE with each
"""

import re
from collections.abc import Iterable
from copy import copy
from operator import attrgetter
from textwrap import fill, indent
from typing import Any, cast

import yaml

from volcano_lab.api.formatting import amount_text
from volcano_lab.api.objects import KubernetesObject, Pod, PodGroup, VolcanoJob
from volcano_lab.cache import Cache
from volcano_lab.changes.draft import kind_of
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.results import Printed
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.manifests import ManifestError, writer
from volcano_lab.manifests.conf import conf_text
from volcano_lab.messages import log
from volcano_lab.trace import Trace
from volcano_lab.trace.shown import plain_text

ALLOWED = ("commands are get KIND [NAME] [-o yaml], get KIND --show-labels, get events,\n"
           "get configmap (the scheduler's), describe KIND [NAME], logs [WORD], -n with each")
NAMESPACE = re.compile(r"(?:^| )(?:-n|--namespace)[ =]?(\S+)")
OPTIONS = re.compile(r" (?:-A|--all-namespaces|-o[ =]?wide)\b")
"""Those that change nothing here."""
OF_KIND = re.compile(r"^(get|describe) (\w+)/")
LABELS = "--show-labels"
WIDTH = 90
"""The columns that fit beside a notebook's prompt at 1280 pixels."""
DAY = 24 * 3600  # seconds
AGE = 3 * DAY
"""That of the newest object when the cycle runs, and of one without a time of creation."""


def _state(session: Any, node: Any) -> str:
    ready = all(each.status == "True" for each in node.status.conditions if each.type == "Ready")
    return ("Ready" if ready else "NotReady") + ",SchedulingDisabled" * node.spec.unschedulable


def _age(session: Any, obj: Any) -> str:
    return f"{(session.now - (obj.metadata.creation_timestamp or session.now - AGE)) // DAY:.0f}d"


COLUMNS: dict[str, dict[str, Any]] = {
    "Node": {"STATUS": _state, "AGE": _age,
             "ALLOCATABLE": lambda session, obj: _amounts(session, obj, "allocatable"),
             "IDLE": lambda session, obj: _amounts(session, obj, "idle")},
    "Pod": {"STATUS": "status.phase", "AGE": _age, "NODE": lambda session, obj: obj.spec.node_name
            or "<none>"},
    "Queue": {"PARENT": lambda session, obj: obj.spec.parent or "", "WEIGHT": "spec.weight",
              "STATE": lambda session, obj: obj.status.state or "Open"},
    "PodGroup": {"STATUS": "status.phase", "MINMEMBER": "spec.min_member",
                 "RUNNINGS": "status.running", "AGE": _age, "QUEUE": "spec.queue"},
    "Job": {"STATUS": lambda session, obj: obj.status.state.phase or "Pending",
            "MINAVAILABLE": "spec.min_available", "AGE": _age, "QUEUE": "spec.queue"},
    "HyperNode": {"TIER": "spec.tier", "TIERNAME": "spec.tier_name", "AGE": _age},
    "PriorityClass": {"VALUE": "value", "AGE": _age, "GLOBAL-DEFAULT":
                      lambda session, obj: str(obj.global_default).lower()}}
"""Kind -> kubectl's columns, and those that a riddle needs -> a field of the object, or a function
of the session and the object."""


class Kubectl:
    """A cluster after one cycle, as `kubectl` shows it.

    >>> shell = Kubectl(Cluster().node("n1", cpu=4).job("train", pods=2, cpu=3))
    >>> print(shell("get podgroups"))
    NAME   STATUS   MINMEMBER  RUNNINGS  AGE  QUEUE
    train  Pending          2         0  3d   default
    >>> print(shell("get nodes"))
    NAME  STATUS  AGE  ALLOCATABLE  IDLE
    n1    Ready   3d   cpu 4        cpu 4
    """

    nothing = "No resources found"

    def __init__(self, cluster: Cluster, conf: str | None = None):
        jobs = [obj for obj in cluster.manifests() if isinstance(obj, VolcanoJob)]
        self.objects = [*cluster.objects(), *jobs]
        self.conf = conf_text(cluster.conf if conf is None else conf) or DEFAULT_CONF
        newest = max(obj.metadata.creation_timestamp or 0 for obj in self.objects)
        with log.quiet():  # `logs` prints it
            self.cycle = cluster.run(conf, trace=Trace(), now=newest + AGE)
        self.cache = cast(Cache, self.cycle.session.cache)
        self.lines = self.cycle.log(3)
        self._later = {task.key for job in self.cycle.session.jobs.values() if job.is_pending()
                       for task in job.tasks.values() if task.pod.metadata.owner_references}

    def __call__(self, command: Any = ...) -> Printed:
        """Return what a command prints, errors too; of dots, which commands there are."""
        if command is ...:
            return Printed(ALLOWED)
        shell = copy(self)
        if space := NAMESPACE.search(command):
            shell.nothing = f"No resources found in {space[1]} namespace."
            shell.objects = [obj for obj in self.objects if not obj.namespaced
                             or (obj.namespace or "default") == space[1]]
        try:
            return Printed(shell._printed(NAMESPACE.sub("", command).strip()))
        except LookupError as error:
            return Printed(error.args[0])

    def _printed(self, command: str) -> str:
        words = OPTIONS.sub("", OF_KIND.sub(r"\1 \2 ", command.removeprefix("kubectl ")))
        match words.replace("-o=", "-o ").replace("-oyaml", "-o yaml").split():
            case ["get", "events" | "event" | "ev"]:
                return table(self._events()) or self.nothing
            case ["logs", *sought]:
                return "\n".join(line for line in self.lines if all(
                    word in line for word in sought if "volcano-scheduler" not in word)
                    ) or f"no line of the log names {' '.join(sought)}"
            case ["get", "configmap" | "configmaps" | "cm", *_]:
                return self.conf.strip()
            case ["get", kind, *names, "-o", "yaml"]:
                return writer.dump(self._found(kind, names)).strip()
            case ["get", kind, *names] if "-" not in [name[0] for name in {*names} - {LABELS}]:
                return table(self._row(obj) | ({"LABELS": ",".join(map(
                    "=".join, obj.metadata.labels.items())) or "<none>"} if LABELS in names else {})
                    for obj in self._found(kind, [name for name in names if name != LABELS])
                    ) or self.nothing
            case ["describe", kind, *names]:
                return "\n\n".join(map(self._described, self._found(kind, names)))
        raise LookupError(f'error: "{command}" is not printed here; {ALLOWED}')

    def _found(self, kind: str, names: list[str]) -> list[KubernetesObject]:
        """The objects of a kind, all or of these names; else, as kubectl describes them, those
        whose names begin so. Raises `LookupError`, in kubectl's words.
        """
        try:
            called = kind_of(kind, kind)
        except ManifestError:
            raise LookupError(f'error: the server doesn\'t have a resource type "{kind}"') from None
        objects = [self._now(obj) for obj in sorted(self.objects, key=attrgetter("key"))
                   if obj.kind.lower() == called and obj.key not in self._later]
        found = ([obj for obj in objects if obj.name in names or not names] or
                 [obj for obj in objects if obj.name.startswith(tuple(names))])
        if names and not found:
            raise LookupError(f'Error from server (NotFound): {kind} "{names[0]}" not found')
        return found

    def _now(self, obj: KubernetesObject) -> KubernetesObject:
        """The object as it is after the cycle."""
        if isinstance(obj, PodGroup) and obj.key in self.cache.jobs:
            return self.cache.jobs[obj.key].pod_group or obj
        return self.cache.pods.get(obj.key, obj) if isinstance(obj, Pod) else obj

    def _events(self) -> list[dict[str, Any]]:
        keys = {f"{obj.kind} {obj.key}": f"{obj.kind.lower()}/{obj.name}" for obj in self.objects}
        return [{"TYPE": event.kind, "REASON": event.reason, "OBJECT": keys[event.about],
                 "MESSAGE": event.message} for event in self.cache.events
                if event.about in keys]

    def _row(self, obj: Any) -> dict[str, Any]:
        return {"NAME": obj.name, **{
            heading: part(self.cycle.session, obj) if callable(part) else attrgetter(part)(obj)
            for heading, part in COLUMNS.get(obj.kind, {"AGE": _age}).items()}}

    def _described(self, obj: Any) -> str:
        """Name, spec, status with its messages, events."""
        document = writer.to_dict(obj)
        status = document.pop("status", {})
        conditions = status.pop("conditions", [])
        events = [{name: text for name, text in event.items() if name != "OBJECT"}
                  for event in self._events()
                  if event["OBJECT"] == f"{obj.kind.lower()}/{obj.name}"]
        parts = {"Name": f" {obj.name}", "Labels": _lines(obj.metadata.labels),
                 "Spec": _lines(document.get("spec")), "Status": _lines(status),
                 "Conditions": "".join(f"\n{_wrapped(each)}" for each in conditions),
                 "Events": "\n" + indent(table(events), "  ") if events else " <none>"}
        return "\n".join(f"{name}:{text}" for name, text in parts.items() if text)


def _lines(part: Any) -> str:
    """A part of a manifest, two columns further in."""
    return "\n" + indent(yaml.safe_dump(part, sort_keys=False).strip(), "  ") if part else ""


def _wrapped(condition: dict[str, Any]) -> str:
    text = f"{condition.get('type')} ({condition.get('reason')}): {condition.get('message', '')}"
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as kubectl's columns; it speaks English. A long last column goes on below its head."""
    head, *lines = plain_text(list(rows), str).splitlines() or [""]
    indent = " " * (head.rfind("  ") + 2)
    return "\n".join(fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
                     for line in (head, *lines))


def _amounts(session: Any, node: Any, what: str) -> str:
    """The amounts of the resources that a node has."""
    info = session.nodes[node.name]
    return ", ".join(f"{name} {amount_text(name, getattr(info, what).get(name))}"
                     for name, amount in info.allocatable if name != "pods" and amount)
