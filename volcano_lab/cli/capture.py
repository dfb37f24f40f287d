"""`volcano-lab capture` and `export`: a cluster into a file, checked, and on to others."""

from collections import Counter
from collections.abc import Iterator, Sequence

from volcano_lab.api.objects import (
    KINDS,
    ConfigMap,
    HyperNode,
    Node,
    ObjectMeta,
    Pod,
    PodGroup,
    Queue,
)
from volcano_lab.api.storage import CLAIM, claims_of
from volcano_lab.cli import DONE, FOUND
from volcano_lab.cli.inputs import conf_of, load_files, mistakes
from volcano_lab.cli.output import print_data, styled, width, wrapped
from volcano_lab.manifests.defaults import SYSTEM_PRIORITIES
from volcano_lab.manifests.export import anonymised, as_case, as_manifests, as_python
from volcano_lab.manifests.job_controller import GROUP_NAME
from volcano_lab.manifests.loader import Loaded, scheduler_conf_of
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import listed
from volcano_lab.trace.language import say

CONFIG_MAP = "volcano-scheduler-configmap"
OPTIONAL = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
"""Kinds whose pods are there in what a cluster prints."""


def capture(files: Sequence[str], namespace: str, output: str) -> int:
    """Print the line that brings a cluster into a file; with files, what is missing in them (1
    where something is). Raises `Mistake`.
    """
    if not files:
        print(kubectl(namespace or "volcano-system"))
        return DONE
    loaded = load_files(files)
    found = list(missing(loaded))
    if output in ("json", "yaml"):
        print_data({"objects": len(loaded), "missing": found}, output)
    else:
        for sentence in found:
            print(wrapped(say(f"missing: {sentence}"), width(), "  ", ""))
        counts = sorted(Counter(obj.kind for obj in loaded).items())
        told = ", ".join(f"{kind} {count}" for kind, count in counts)
        counted = say(f"{len(loaded)} object{'s' * (len(loaded) != 1)}: {told}")
        print(styled(counted, bold=not found))
    return FOUND if found else DONE


def kubectl(namespace: str) -> str:
    """Return the shell's line that prints a cluster and the scheduler's configuration.

    >>> kubectl("volcano-system")[:46]
    '(kubectl get csinodes,hypernodes.topology.volc'
    """
    kinds = {cls for cls in KINDS.values() if cls is not ConfigMap and cls.kind not in OPTIONAL}
    groups = {cls: cls.api_versions[0].rpartition("/")[0] for cls in kinds}
    words = sorted(
        _plural(cls.kind) + (f".{group}" if "volcano" in group or cls.kind == "Job" else "")
        for cls, group in groups.items())
    return (f"(kubectl get {','.join(words)} -A -o yaml; echo ---; kubectl get configmap "
            f"{CONFIG_MAP} -n {namespace} -o yaml) > cluster.yaml")


def _plural(kind: str) -> str:
    word = kind.lower()
    return f"{word}es" if word.endswith("s") else word + "s"


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


def export(files: Sequence[str], form: str, anonymise: bool, conf: str | None,
           recursive: bool) -> int:
    """Print objects as manifests, a case or Python. Raises `Mistake`."""
    loaded = load_files(files, recursive)
    text = conf_of(conf, loaded)
    maps = [obj for obj in loaded if isinstance(obj, ConfigMap)]
    objects = [obj for obj in loaded if not isinstance(obj, ConfigMap)]
    with mistakes(conf):
        if anonymise:
            maps = [] if text is None else [ConfigMap(ObjectMeta(CONFIG_MAP, "volcano-system"),
                                                      {"volcano-scheduler.conf": text})]
            renamed = anonymised([*objects, *maps])
            objects, maps = renamed[:len(objects)], renamed[len(objects):]
            text = scheduler_conf_of(maps)
        if form == "case":
            print(as_case(objects, text, "cluster"))
        elif form == "python":
            print(as_python(objects, text), end="")
        else:
            print(as_manifests([*objects, *maps], form), end="")
    return DONE
