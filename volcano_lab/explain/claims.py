"""Changes of claims that have no volume, or none in reach: other sizes and classes, and volumes.

Volcano: none
"""

from collections.abc import Iterable, Iterator, Sequence

from volcano_lab.api import ZERO, Storage, TaskInfo, objects as api
from volcano_lab.api.storage import NO_PROVISIONER, WAIT, class_of, size
from volcano_lab.changes import value_text
from volcano_lab.explain import options, volumes
from volcano_lab.explain.options import Option, Rank, once, setting
from volcano_lab.framework import Session
from volcano_lab.manifests.writer import to_dict

HOSTNAME = "kubernetes.io/hostname"


def resized(storage: Storage, pod: api.Pod) -> Iterator[Option]:
    """Yield that a claim, created again, request no more than a free volume has."""
    for claim, free in volumes.unbound(storage, pod):
        path, asked = f"persistentvolumeclaim/{claim.key}", {*claim.spec.access_modes}
        for volume in free[:options.ENDED]:
            texts = [setting(path, "resources", "requests", "storage",
                             to=volume.spec.capacity.get("storage", "0"))
                     ] if size(volume) < size(claim) else []
            texts += [setting(path, "accessModes", to=volume.spec.access_modes)
                      ] if asked - {*volume.spec.access_modes} else []
            yield once(*texts, rank=Rank.JOB)


def reclassed(storage: Storage, pod: api.Pod) -> Iterator[Option]:
    """Yield that a claim without a volume, created again, have another class: not one by which the
    same provisioner would have to create a volume at once.
    """
    for claim in volumes.without(storage, pod):
        own = storage.class_of(claim)
        for other in storage.all(api.StorageClass.kind):
            at_once = own is not None and own.volume_binding_mode != WAIT and (
                own.provisioner == other.provisioner != NO_PROVISIONER)
            if other.name != class_of(claim) and not at_once:
                yield once(setting(f"persistentvolumeclaim/{claim.key}", "storageClassName",
                                   to=other.name), kind="class", rank=Rank.JOB)


def provided(ssn: Session, tasks: Sequence[TaskInfo]) -> Iterator[Option]:
    """Yield that there is a local volume, on the first node that has enough left, for a claim whose
    class creates none; for one whose class creates volumes elsewhere, that there are as many nodes
    as its pods need, or a class for where a node is.
    """
    storage, task = ssn.snapshot.storage, tasks[0]
    fits = [name for name, node in ssn.nodes.items()
            if task.init_resreq.less_equal(node.idle, ZERO)]
    for claim, free in volumes.unbound(storage, task.pod):
        for name in fits[:1] if not free else ():
            place = {"key": HOSTNAME, "operator": "In", "values": [
                ssn.nodes[name].node.metadata.labels.get(HOSTNAME, name)]}
            spec = {"storageClassName": class_of(claim), "accessModes": claim.spec.access_modes,
                    "capacity": {"storage": claim.spec.resources.requests.get("storage", "1Gi")},
                    "local": {"path": f"/mnt/{claim.name}"}, "nodeAffinity": {"required": {
                        "nodeSelectorTerms": [{"matchExpressions": [place]}]}}}
            yield once(f"persistentvolume/{claim.name}={value_text({'spec': spec})}",
                       kind="volume", rank=Rank.OTHERS)
    for claim in volumes.without(storage, task.pod):
        found = storage.class_of(claim)
        for term in found.allowed_topologies if found is not None else ():
            labels = {each.key: each.values[0] for each in term.match_label_expressions}
            more = value_text({"count": len(tasks), "labels": labels})
            for name in [*ssn.nodes][:1]:
                yield once(f"node/{name}.more={more}", rank=Rank.NODES)
            for name in fits[:1]:
                yield from _classed(found, claim, ssn.nodes[name].node, labels)


def _classed(found: api.StorageClass, claim: api.PersistentVolumeClaim, node: api.Node,
             labels: Iterable[str]) -> Iterator[Option]:
    """Yield that a claim, created again, have a class like its own, but for where a node is."""
    here = {key: node.metadata.labels[key] for key in labels if key in node.metadata.labels}
    if here:
        name = "-".join([found.name, *here.values()])
        spec = to_dict(found) | {"allowedTopologies": [{"matchLabelExpressions": [
            {"key": key, "values": [value]} for key, value in here.items()]}]}
        given = {key: value for key, value in spec.items()
                 if key not in ("apiVersion", "kind", "metadata")}
        yield once(f"storageclass/{name}={value_text(given)}",
                   setting(f"persistentvolumeclaim/{claim.key}", "storageClassName", to=name),
                   rank=Rank.OTHERS)


def apart(ssn: Session, pod: api.Pod) -> list[str]:
    """Return the claim that may be created again as no node reaches its volume and another one."""
    return [both[1][0].key for both in volumes.apart(ssn, pod)]
