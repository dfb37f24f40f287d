"""Claims that keep their pods waiting, and what would give them a volume."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import PENDING, JobInfo
from volcano_lab.api import objects as api
from volcano_lab.api.objects.storage import BIND_COMPLETED
from volcano_lab.api.storage import CLAIM, VOLUME, WAIT, Storage, claims_of, class_of
from volcano_lab.changes.change import value_text
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.lint import drivers_nowhere
from volcano_lab.explain.options import Option, Rank, World, once, setting
from volcano_lab.manifests.loader import to_dict
from volcano_lab.manifests.schema import unstructure

SAID = "plugin VolumeBinding pre-predicates failed "
VOLUME_CODES = ("claim_missing", "claim_unbound", "volume_unbound")
"""Causes that a volume for the claim takes away."""


def claim_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """What the claims of waiting pods lack before any node is looked at; once per claim."""
    told = set()
    for task in job.in_status(PENDING).values():
        errors = job.nodes_fit_errors.get(task.uid)
        first = next(iter(errors.nodes.values()), None) if errors is not None else None
        reason = first.reasons[0] if first is not None else ""
        if not reason.startswith(SAID) or reason in told:
            continue
        told.add(reason)
        code, text = _lacking(seen.ssn.snapshot.storage, task.pod)
        yield Cause(code, f"Pod {task.key} may go to no node: {text or reason}.",
                    {"reason": reason})


def driver_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """The drivers whose volumes waiting pods claim and no node offers."""
    waiting = [task.pod for task in job.in_status(PENDING).values()]
    for driver, sentence in drivers_nowhere(seen.ssn, waiting).items():
        yield Cause("driver_nowhere", f"{sentence}. Volcano places no pod with this claim, unless "
                    f"its scheduler runs with --ignored-provisioners={driver}.", {"driver": driver})


def _lacking(storage: Storage, pod: api.Pod) -> tuple[str, str]:
    """The first claim of a pod that has no volume and can't wait for one."""
    for name, ephemeral in claims_of(pod):
        key = f"{pod.namespace}/{name}"
        claim = storage.get(CLAIM, key)
        if claim is None:
            who = "; Kubernetes makes it for the pod" if ephemeral else ""
            return "claim_missing", (f"it claims {name}, and there is no PersistentVolumeClaim "
                                     f"{key}{who}")
        found = storage.class_of(claim)
        if claim.is_bound or (found is not None and found.volume_binding_mode == WAIT
                               and not claim.spec.volume_name):
            continue
        why = (f"it names the volume {claim.spec.volume_name} and is not bound to it yet"
               if claim.spec.volume_name else "it names no StorageClass" if not class_of(claim)
               else f"there is no StorageClass {class_of(claim)}" if found is None
               else f"StorageClass {found.name} gives volumes at once (Immediate), which "
               "Kubernetes does before Volcano places the pod")
        return "claim_unbound", f"its PersistentVolumeClaim {key} has no volume, and {why}"
    return "claim_refused", ""


def reach_of(seen: Evidence, key: str) -> str:
    """Which nodes the volumes of a pod (by key) ask for, in sentences."""
    pod = seen.tasks[key].pod
    storage, told = seen.ssn.snapshot.storage, ""
    for name, _ in claims_of(pod):
        claim = storage.get(CLAIM, f"{pod.namespace}/{name}")
        volume = storage.get(VOLUME, claim.spec.volume_name)
        affinity = volume.spec.node_affinity if volume is not None else None
        terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
        asked = " or ".join(" and ".join(
            f"{each.key} {each.operator} {', '.join(each.values)}".strip()
            for each in term.match_expressions) for term in terms)
        told += f" PersistentVolume {volume.name} asks for nodes with {asked}." if asked else ""
    return told


def volume_options(world: World, job: str) -> Iterator[Option]:
    """A volume for each claim of the job's waiting pods that has none."""
    known = {obj.key: obj for obj in world.objects if isinstance(obj, api.PersistentVolumeClaim)}
    for name in dict.fromkeys(f"{pod.namespace}/{claim.name}" for pod in world.waiting(job)
                              for claim in claims_of(pod) if not claim.ephemeral):
        claim = known.get(name) or api.PersistentVolumeClaim(
            api.ObjectMeta(name.partition("/")[2], name.partition("/")[0], f"claim-{name}"))
        if not claim.is_bound:
            yield _with_volume(claim, new=name not in known)


def _with_volume(claim: api.PersistentVolumeClaim, new: bool) -> Option:
    size = claim.spec.resources.requests.get("storage", "")
    volume = api.PersistentVolume(api.ObjectMeta(f"volume-for-{claim.name}"),
                                  api.PersistentVolumeSpec({"storage": size or "1Gi"},
                                                           claim.spec.access_modes,
                                                           claim.reference()))
    bound, key = claim.bound(volume.name), f"persistentvolumeclaim/{claim.key}"
    parts = {name: part for name, part in to_dict(bound).items()
             if name in ("metadata", "spec", "status")}
    parts["metadata"] = {"annotations": bound.metadata.annotations, "uid": claim.metadata.uid}
    return once(f"persistentvolume/{volume.name}={value_text({'spec': unstructure(volume.spec)})}",
                *([f"{key}={value_text(parts)}"] if new else
                  [setting(key, "metadata", "annotations", BIND_COMPLETED, to="yes"),
                   setting(key, "status", "phase", to="Bound"),
                   setting(key, "volumeName", to=volume.name)]),
                rank=Rank.JOB if new else Rank.OTHERS)
