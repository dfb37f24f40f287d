"""Manifests of nodes, queues and jobs described by a few arguments, as one would pass them to
`kubectl`.

A job becomes what Volcano's controller would create: one PodGroup, and its pods.

Volcano: none
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import Factory, define

from volcano_lab.api.objects import KubernetesObject, ObjectMeta, Pod
from volcano_lab.manifests import job_controller, loader as manifests, misfits, names, workloads
from volcano_lab.manifests.job_controller import scaled
from volcano_lab.manifests.loader import ManifestError, about
from volcano_lab.messages import Message, Said, one_line

SCHEDULING = "scheduling.volcano.sh/v1beta1"
Amount = int | float | str
Amounts = Mapping[str, Amount] | Amount | None


def _amounts(amounts: Amounts) -> Mapping[str, Amount] | None:
    return {"cpu": amounts} if isinstance(amounts, int | float | str) else amounts


def _requests(cpu: Amount | None = None, memory: Amount | None = None, gpu: Amount | None = None,
              resources: Mapping[str, Amount] | None = None) -> dict[str, Any]:
    named = {"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpu}
    return {name: amount for name, amount in named.items()
            if amount is not None} | dict(resources or {})


def _read(api_version: str, kind: str, metadata: dict[str, Any], **parts: Any) -> KubernetesObject:
    document = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
    obj = manifests.from_dict(document, strict=True)
    if wrong := names.problems(obj):
        raise ManifestError([about(f"{kind} {one_line(obj.name, 100)}", problem)
                             for problem in wrong])
    return obj


def checked_objects(given: Any) -> list[KubernetesObject]:
    """Return the argument if it is a list of objects. Raises `ManifestError`."""
    found = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for obj in found:
        if not isinstance(obj, KubernetesObject):
            found_text = one_line(str(misfits.found_text(obj)), 100)
            raise ManifestError("described.object", found=found_text)
    return found


@define
class Written:
    """The objects of one node, queue or job; for a job the PodGroup, and one pod that represents
    all `pods`.
    """

    objects: list[KubernetesObject]
    pods: int | None = None
    nodes: list[str] = Factory(list)


def node(name: str, pods: int = 110, labels: Mapping[str, str] | None = None,
          **amounts: Any) -> Written:
    """Return a node as a manifest."""
    allocatable = _requests(**amounts) | {"pods": pods}
    metadata = {"name": name, "labels": labels}
    return Written([_read("v1", "Node", metadata, status={"allocatable": allocatable})])


def queue(name: str, capability: Amounts = None, guarantee: Amounts = None,
           deserved: Amounts = None, **spec: Any) -> Written:
    """Return a queue as a manifest."""
    amounts = {"capability": _amounts(capability), "deserved": _amounts(deserved),
               "guarantee": {"resource": _amounts(guarantee)}}
    return Written([_read(SCHEDULING, "Queue", {"name": name}, spec=spec | amounts)])


def job(name: str, queue: str = "default", pods: int = 1, min_member: int | None = None,
         priority: int | None = None, priority_class: str | None = None, namespace: str = "default",
         running: Mapping[str, int] | None = None, labels: Mapping[str, str] | None = None,
         network_topology: Mapping[str, Any] | None = None, **amounts: Any) -> Written:
    """Return a job as its PodGroup and its pods, some of them running."""
    least = pods if min_member is None else min_member
    nodes = _placed(name, pods, least, {} if running is None else running)
    requests = _requests(**amounts)
    pod = _read("v1", "Pod",
                {"name": name, "namespace": namespace, "labels": labels,
                 "annotations": {job_controller.GROUP_NAME: name}},
                spec={"schedulerName": "volcano", "priority": priority,
                      "priorityClassName": priority_class,
                      "containers": [{"name": "main", "resources": {"requests": requests}}]})
    group = _read(SCHEDULING, "PodGroup", {"name": name, "namespace": namespace},
                  spec={"queue": queue, "minMember": least, "networkTopology": network_topology,
                        "priorityClassName": priority_class, "minResources": scaled(
                            {key: str(amount) for key, amount in requests.items()}, least)},
                  status={"phase": "Running" if nodes else "Pending"})
    return Written([group, pod], pods, nodes)


def _placed(name: str, pods: int, least: int, running: Mapping[str, int]) -> list[str]:
    """Return the node of each running pod. Raises `ManifestError` for numbers that are none."""
    if not isinstance(running, Mapping) or {type(node) for node in running} - {str}:
        raise ManifestError("described.running", name=name, found=misfits.found_text(running))
    counts: list[tuple[Said, Any]] = [("pods", pods), ("min_member", least)]
    counts += [(Message("described.running_on", node=node), each) for node, each in running.items()]
    for field, value in counts:
        if type(value) is not int or value < 0:
            raise ManifestError("described.count", name=name, field=field,
                                found=misfits.found_text(value))
    if not (placed := sum(running.values())) <= pods <= workloads.MOST_PODS:
        raise ManifestError("described.pods", name=name, pods=pods, placed=placed,
                            most=workloads.MOST_PODS)
    return [node for node, count in running.items() for _ in range(count)]


def gang(parts: list[KubernetesObject], count: int, nodes: list[str]) -> list[KubernetesObject]:
    """Return a PodGroup and its numbered pods, created a second apart; running ones have a node.
    Equal parts are shared. `parts` are the PodGroup and one pod, with defaults.
    """
    group, pod = parts
    meta = pod.metadata
    assert isinstance(pod, Pod) and meta.creation_timestamp is not None
    specs = {node: pod.spec.evolve(node_name=node) for node in nodes} | {"": pod.spec}
    running = pod.status.evolve(phase="Running")
    pods: list[KubernetesObject] = []
    for number in range(count):
        node, name = nodes[number] if number < len(nodes) else "", f"{meta.name}-{number}"
        own = ObjectMeta(name, meta.namespace, f"{meta.uid}-{number}", meta.labels,
                         meta.annotations, meta.creation_timestamp + number)
        pods.append(Pod(own, specs[node], running if node else pod.status))
    return [group, *pods]
