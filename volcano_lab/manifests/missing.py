"""What objects name that is not among them: the check of a captured cluster.

Answers to no Go file.
"""

from collections.abc import Iterator

from volcano_lab.api.objects import HyperNode, Node, Pod, PodGroup, Queue
from volcano_lab.api.storage import CLAIM, claims_of
from volcano_lab.manifests.defaults import SYSTEM_PRIORITIES
from volcano_lab.manifests.job_controller import GROUP_NAME
from volcano_lab.manifests.live import CONFIG_MAP
from volcano_lab.manifests.loader import Loaded, scheduler_conf_of
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import listed


def missing(loaded: Loaded) -> Iterator[str]:
    """Yield a sentence for each thing that objects name and that is not among them."""
    names = {kind: {obj.name for obj in loaded if isinstance(obj, kind)}
             for kind in (Node, Queue, PodGroup)}
    pods = [obj for obj in loaded if isinstance(obj, Pod)]
    if not names[Node]:
        yield "there are no Nodes, so nothing has a place (kubectl get nodes)"
    if scheduler_conf_of(loaded) is None:
        yield (f"there is no ConfigMap with the scheduler's configuration, so Volcano's default is "
               f"taken (kubectl get configmap {CONFIG_MAP} -n volcano-system)")
    queues = {obj.spec.queue or "default" for obj in loaded if isinstance(obj, PodGroup)}
    yield from _absent("Queue", queues - names[Queue] - {"default", "root"}, "kubectl get queues")
    groups = {f"{obj.namespace or 'default'}/{obj.name}" for obj in loaded
              if isinstance(obj, PodGroup)}
    asked = {f"{pod.namespace or 'default'}/{pod.metadata.annotations[GROUP_NAME]}" for pod in pods
             if pod.spec.scheduler_name == SCHEDULER and GROUP_NAME in pod.metadata.annotations}
    yield from _absent("PodGroup", asked - groups, "kubectl get podgroups -A")
    classes = {obj.name for obj in loaded if obj.kind == "PriorityClass"} | SYSTEM_PRIORITIES.keys()
    asked = {pod.spec.priority_class_name for pod in pods} - {""}
    yield from _absent("PriorityClass", asked - classes, "kubectl get priorityclasses")
    asked = {f"{pod.namespace or 'default'}/{claim.name}" for pod in pods
             for claim in claims_of(pod) if not claim.ephemeral}
    claims = {f"{obj.namespace or 'default'}/{obj.name}" for obj in loaded if obj.kind == CLAIM}
    yield from _absent(CLAIM, asked - claims, "kubectl get pvc -A")
    held = {pod.spec.node_name for pod in pods if pod.status.phase not in ("Succeeded", "Failed")}
    yield from _absent("Node", held - names[Node] - {""}, "kubectl get nodes")
    members = {member.selector.exact_match.name for obj in loaded if isinstance(obj, HyperNode)
               for member in obj.spec.members
               if member.type == "Node" and member.selector.exact_match is not None}
    yield from _absent("Node", members - names[Node], "kubectl get nodes")


def _absent(kind: str, names: set[str], command: str) -> Iterator[str]:
    if names:
        yield (f"{kind} {listed(sorted(names), 1)}: it is named, and not among the objects "
               f"({command})")
