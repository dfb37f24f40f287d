"""Claims, volumes and classes in a few words, for the tests of volumes."""

from typing import Any

from kube_scene import pod

from volcano_lab.api.objects import Pod
from volcano_lab.manifests.loader import from_dict


def claim(name: str = "data", size: str = "5Gi", volume: str = "", klass: str | None = "wait",
          modes: str = "ReadWriteOnce", notes: dict[str, str] | None = None, **metadata: Any):
    """A claim; with a volume it is bound to it."""
    notes = dict(notes or {}, **({"pv.kubernetes.io/bind-completed": "yes"} if volume else {}))
    return from_dict({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}",
                     "annotations": notes, **metadata},
        "spec": {"accessModes": [modes], "storageClassName": klass, "volumeName": volume,
                 "resources": {"requests": {"storage": size}}},
        "status": {"phase": "Bound" if volume else "Pending"}})


def volume(name: str = "disk", size: str = "10Gi", klass: str = "wait", phase: str = "Available",
           modes: str = "ReadWriteOnce", driver: str = "", kept_for: str = "",
           labels: dict[str, str] | None = None, **nodes: str):
    """A volume; `nodes` are labels of the nodes from which it can be reached."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": values.split(",")}
                                   for key, values in nodes.items()]}]
    return from_dict({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"capacity": {"storage": size}, "accessModes": [modes], "storageClassName": klass,
                 **({"csi": {"driver": driver, "volumeHandle": name}} if driver else {}),
                 **({"claimRef": {"namespace": "default", "name": kept_for}} if kept_for else {}),
                 **({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if nodes else {})},
        "status": {"phase": phase}})


def klass(name: str = "wait", provisioner: str = "kubernetes.io/no-provisioner",
          mode: str | None = "WaitForFirstConsumer", **allowed: str):
    """A StorageClass; `allowed` are its allowedTopologies."""
    labels = [{"key": key, "values": values.split(",")} for key, values in allowed.items()]
    return from_dict({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode,
        "allowedTopologies": [{"matchLabelExpressions": labels}] if labels else []})


def csi_node(name: str, **limits: int | None):
    """What CSI drivers say of a node: how many of their volumes it can have (None: any number)."""
    drivers = [{"name": driver, "nodeID": name, "topologyKeys": ["zone"],
                **({} if most is None else {"allocatable": {"count": most}})}
               for driver, most in limits.items()]
    return from_dict({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
                      "metadata": {"name": name}, "spec": {"drivers": drivers}})


def claims(*names: str, name: str = "p", **fields: Any) -> Pod:
    """A pod that claims volumes."""
    return pod(name, volumes=[{"name": each, "persistentVolumeClaim": {"claimName": each}}
                              for each in names], **fields)
