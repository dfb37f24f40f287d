"""Names in objects without an object of that name: the check of a captured cluster.

Volcano: none
"""

from collections.abc import Iterator

from volcano_lab.api.objects import HyperNode, Node, Pod, PodGroup
from volcano_lab.api.storage import CLAIM, claims_of
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.field_defaults import SYSTEM_PRIORITIES
from volcano_lab.manifests.job_controller import GROUP_NAME
from volcano_lab.manifests.live import CONFIG_MAP, NAMESPACE
from volcano_lab.manifests.loader import Loaded, about
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import Message


def missing(loaded: Loaded) -> Iterator[Message]:
    """Yield a message for each referenced object that is missing."""
    nodes = [obj for obj in loaded if isinstance(obj, Node)]
    if not nodes:
        yield Message("missing.nodes")
    if scheduler_conf_of(loaded) is None:
        yield Message("missing.conf", name=CONFIG_MAP, namespace=NAMESPACE)
    for kind, asked, there, command in _named(loaded):
        if absent := asked - there - {""}:
            yield about([f"{kind} {name}" for name in sorted(absent)],
                        Message("missing.named", command=command))
    live = [pod for pod in loaded if isinstance(pod, Pod) and pod.metadata.resource_version]
    if live and nodes and not any(pod.namespace == "kube-system" for pod in live):
        yield Message("missing.system_pods")


def _named(loaded: Loaded) -> Iterator[tuple[str, set[str], set[str], str]]:
    """Yield a kind, the referenced names, the existing ones, and the command that exports the
    objects.
    """
    def there(kind: str) -> set[str]:
        return {_key(obj.namespace, obj.name) if obj.namespaced else obj.name
                for obj in loaded if obj.kind == kind}

    pods = [obj for obj in loaded if isinstance(obj, Pod)]
    groups = [obj for obj in loaded if isinstance(obj, PodGroup)]
    yield "Queue", {group.spec.queue for group in groups}, there("Queue") | {"default", "root"}, (
        "kubectl get queues")
    yield "PodGroup", {_key(pod.namespace, pod.metadata.annotations[GROUP_NAME]) for pod in pods
                       if pod.spec.scheduler_name == SCHEDULER
                       and GROUP_NAME in pod.metadata.annotations}, there("PodGroup"), (
        "kubectl get podgroups -A")
    yield "PriorityClass", {pod.spec.priority_class_name for pod in pods}, (
        there("PriorityClass") | SYSTEM_PRIORITIES.keys()), "kubectl get priorityclasses"
    yield CLAIM, {_key(pod.namespace, claim.name) for pod in pods for claim in claims_of(pod)
                  if not claim.ephemeral}, there(CLAIM), "kubectl get pvc -A"
    held = {pod.spec.node_name for pod in pods if pod.status.phase not in ("Succeeded", "Failed")}
    yield "Node", held, there("Node"), "kubectl get nodes"
    yield "Node", _members(loaded), there("Node"), "kubectl get nodes"


def _members(loaded: Loaded) -> set[str]:
    """Return the nodes that HyperNodes name."""
    return {member.selector.exact_match.name for obj in loaded if isinstance(obj, HyperNode)
            for member in obj.spec.members
            if member.type == "Node" and member.selector.exact_match is not None}


def _key(namespace: str, name: str) -> str:
    return f"{namespace or 'default'}/{name}"
