"""A cluster written for others: manifests for `kubectl apply`, a case for `volcano-lab replay`, a
script in Python; and its names taken out.

Answers to no Go file. Read again, each decides the same: `uid`, status and times stay (`kubectl`
passes over them), only `resourceVersion` goes, which the API server would refuse.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.api.storage import CLASS, SELECTED_NODE
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import Loaded, dump, from_dict, to_dict

KEPT = frozenset(("default", "root", "volcano", "default-scheduler", "kube-system", "kube-public",
                  "system-cluster-critical", "system-node-critical"))
"""Names that mean the same in every cluster."""
PUBLIC = ("kubernetes.io", "k8s.io", "volcano.sh", "nvidia.com", "amd.com")
"""Domains whose keys say nothing of anybody."""
SLA = "sla-waiting-time"
"""An annotation that decides and has no domain."""
NAME_FIELDS = frozenset(("name", "namespace", "queue", "parent", "nodeName", "priorityClassName",
                         "jobName", "minTaskMember", "highestTierName", "tierName", "claimName",
                         "volumeClaimName", "serviceAccountName", "topologyName", "subdomain",
                         "hostname", "nominatedNodeName", "volumeName", "storageClassName",
                         "volumeHandle", "nodeID", "server"))
"""Fields whose text is a name."""
TOLD = frozenset(("message", "reason", "image", "images", "command", "env", "addresses", "path"))
"""Fields with words of people and places; no decision reads them."""
_BASE = re.compile(r"(.*?)((?:-\d+)?)")
_WORD = re.compile(r"[A-Za-z0-9](?:[-.A-Za-z0-9]*[A-Za-z0-9])?")


def as_manifests(objects: Iterable[KubernetesObject], form: str = "yaml") -> str:
    """Return manifests as YAML or JSON.

    >>> from volcano_lab.manifests.loader import loads
    >>> node = "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '7'}}"
    >>> print(as_manifests(loads(node)))
    apiVersion: v1
    kind: Node
    metadata:
      name: n1
    """
    return dump((obj.changed(metadata={"resource_version": ""}) for obj in objects), form)


def as_case(objects: Iterable[KubernetesObject], conf: str | None = None, name: str = "case"
            ) -> str:
    """Return one line for `volcano-lab replay`: the objects as the scheduler hears of them.

    Raises `ManifestError`.
    """
    documents = [to_dict(obj) for obj in with_defaults(objects)]
    return json.dumps({"name": name, "family": "export", "conf": conf, "objects": documents})


def as_python(objects: Iterable[KubernetesObject], conf: str | None = None) -> str:
    """Return a script that runs a cycle on the objects.

    >>> print(as_python([]))
    from volcano_lab import Cluster, loads
    <BLANKLINE>
    cluster = Cluster(loads("[]"))
    conf = None
    cycle = cluster.run(conf)
    print(cycle.jobs())
    <BLANKLINE>
    """
    return (f"from volcano_lab import Cluster, loads\n\ncluster = Cluster(loads("
            f"{literal(as_manifests(objects) or '[]')}))\nconf = {literal(conf)}\n"
            "cycle = cluster.run(conf)\nprint(cycle.jobs())\n")


def literal(value: Any) -> str:
    """Return a value as Python writes it; text over several lines where that is the same.

    >>> print(literal("a"), literal({"b": 1}))
    "a" {'b': 1}
    """
    if not isinstance(value, str):
        return repr(value)
    if "\n" not in value or '"""' in value or "\\" in value or value.endswith('"'):
        return json.dumps(value, ensure_ascii=False)
    return f'"""\\\n{value}"""'


def anonymised(objects: Iterable[KubernetesObject]) -> Loaded:
    """Return the objects with other names, the same name for the same thing everywhere.

    Numbers at the end of a name stay, the order of names, and whether they have hyphens (pods of a
    task go by the number in theirs), so that decisions do; annotations and
    labels that are not Kubernetes', Volcano's or a vendor's are renamed or dropped.

    >>> from volcano_lab.manifests.loader import loads
    >>> nodes = loads("{apiVersion: v1, kind: Node, metadata: {name: secret-7, labels: {team: x}}}")
    >>> print(as_manifests(anonymised(nodes)))
    apiVersion: v1
    kind: Node
    metadata:
      name: node1-7
      labels:
        label1: value1
    """
    objects = list(objects)
    documents = [to_dict(obj) for obj in objects]
    names = _names(documents)
    uids = sorted({uid for obj in objects for uid in (obj.metadata.uid, *(
        owner.uid for owner in obj.metadata.owner_references)) if uid})
    numbered = {uid: f"uid{rank:0{len(str(len(uids)))}}" for rank, uid in enumerate(uids, 1)}
    walk = _Renamed(names, numbered, sorted(obj.name for obj in objects if obj.kind == "Node"))
    return Loaded(from_dict(walk.document(document)) for document in documents)


def _names(documents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Name -> another one, by kind and order."""
    found: dict[str, str] = {}
    ephemeral: list[tuple[str, str]] = []
    for document in documents:
        metadata, spec = document["metadata"], document.get("spec", {})
        found.setdefault(metadata["name"], document["kind"].lower())
        found.setdefault(metadata.get("namespace", ""), "namespace")
        for owner in metadata.get("ownerReferences", ()):
            found.setdefault(owner.get("name", ""), owner.get("kind", "owner").lower())
        for volume in spec.get("volumes", ()) if document["kind"] == "Pod" else ():
            if "ephemeral" in volume:  # its claim is called after the pod and the volume
                found.setdefault(volume.get("name", ""), "volume")
                ephemeral.append((metadata["name"], volume.get("name", "")))
        for task in spec.get("tasks", ()) if isinstance(spec.get("tasks"), list) else ():
            found.setdefault(task.get("name", ""), "task")
    parts = {name: (kind, *_BASE.fullmatch(name).groups())  # type: ignore[union-attr]
             for name, kind in found.items() if name and name not in KEPT}
    bases: dict[str, set[str]] = {}
    for kind, base, _ in parts.values():
        bases.setdefault(kind, set()).add(base)
    numbers = {kind: {base: f"{kind}{'-' * ('-' in base)}{rank:0{len(str(len(all_)))}}"
                      for rank, base in enumerate(sorted(all_), 1)} for kind, all_ in bases.items()}
    others = {name: numbers[kind][base] + number for name, (kind, base, number) in parts.items()}
    return others | {f"{pod}-{volume}": f"{others.get(pod, pod)}-{others.get(volume, volume)}"
                     for pod, volume in ephemeral}


class _Renamed:
    """Walks through documents and gives everything another name."""

    def __init__(self, names: Mapping[str, str], uids: Mapping[str, str], nodes: list[str]) -> None:
        self.names, self.uids, self.nodes = names, uids, nodes
        self.keys: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """One object."""
        return {key: part if key in ("apiVersion", "kind") else self._part(part, key)
                for key, part in document.items()}

    def name(self, text: str) -> str:
        """Another name; one that no object has keeps to the names of the others."""
        if text in KEPT or not text:
            return text
        return self.names.get(text) or self.values.setdefault(text, f"name{len(self.values) + 1}")

    def key(self, text: str) -> str:
        """Another key of a label or a taint."""
        domain = text.partition("/")[0] if "/" in text else ""
        if any(domain == known or domain.endswith(f".{known}") for known in PUBLIC):
            return text
        return self.keys.setdefault(text, f"label{len(self.keys) + 1}")

    def value(self, text: str) -> str:
        """Another value of a label; numbers may be compared, and stay."""
        if text in self.names or text in (*KEPT, "", "true", "false") or text.isdigit():
            return self.names.get(text, text)
        return self.values.setdefault(text, f"value{len(self.values) + 1}")

    def _part(self, part: Any, field: str) -> Any:
        if isinstance(part, str):
            if field == "uid":
                return self.uids.get(part, part)
            return self.name(part) if field in NAME_FIELDS else part
        if isinstance(part, list):
            if field == "topologyKeys":
                return [self.key(each) for each in part]
            values = field.endswith("DuringExecution")  # of queues: groups of nodes, by their label
            return [self.value(each) if values and isinstance(each, str)
                    else self._part(each, field) for each in part]
        if not isinstance(part, dict):
            return part
        if field in ("labels", "matchLabels", "nodeSelector"):
            return {self.key(key): self.value(text) for key, text in part.items()}
        if field == "annotations":
            return {key: self.name(text) if key in (SELECTED_NODE, CLASS) else
                    _WORD.sub(lambda word: self.names.get(word[0], word[0]), text)
                    for key, text in part.items()
                    if key == SLA or ("/" in key and self.key(key) == key)}
        if field == "minTaskMember":
            return {self.name(key): count for key, count in part.items()}
        if field == "regexMatch":
            return {"pattern": self._pattern(part.get("pattern", ""))}
        if isinstance(part.get("key"), str):
            part = {**part, "key": self.key(part["key"])}
            if isinstance(part.get("value"), str):
                part["value"] = self.value(part["value"])
            if isinstance(part.get("values"), list):
                part["values"] = [self.value(each) for each in part["values"]]
            return part
        if isinstance(part.get("topologyKey"), str):
            part = {**part, "topologyKey": self.key(part["topologyKey"])}
        return {key: self._part(each, key) for key, each in part.items() if key not in TOLD}

    def _pattern(self, pattern: str) -> str:
        """A pattern that finds the same nodes under their other names."""
        from volcano_lab.api.go_pattern import compile_pattern

        try:
            search = compile_pattern(pattern).search
        except ValueError:
            return "$.^"
        found = [self.name(name) for name in self.nodes if search(name)]
        return f"^({'|'.join(map(re.escape, found))})$" if found else "^-$"
