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
from volcano_lab.messages import Message

SAID = "plugin VolumeBinding pre-predicates failed "
VOLUME_CODES = ("claim_missing", "claim_unbound", "volume_unbound")
"""Causes that a volume for the claim takes away."""


def claim_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """What the claims of waiting pods lack before any node is looked at; once per claim."""
    seen_before = set()
    for task in job.in_status(PENDING).values():
        errors = job.nodes_fit_errors.get(task.uid)
        first = next(iter(errors.nodes.values()), None) if errors is not None else None
        reason = first.reasons[0] if first is not None else ""
        if not reason.startswith(SAID) or reason in seen_before:
            continue
        seen_before.add(reason)
        why = _lacking(seen.ssn.snapshot.storage, task.pod)
        code = why.code.partition(".")[0] if why is not None else "claim_refused"
        yield Cause(code, Message("claim", pod=task.key, why=why or reason), {"reason": reason})


def driver_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """The drivers whose volumes waiting pods claim and no node offers."""
    waiting = [task.pod for task in job.in_status(PENDING).values()]
    for driver, claim in drivers_nowhere(seen.ssn, waiting).items():
        yield Cause("driver_nowhere", Message("driver_nowhere", driver=driver, claim=claim),
                    {"driver": driver})


def _lacking(storage: Storage, pod: api.Pod) -> Message | None:
    """The first claim of a pod that has no volume and can't wait for one."""
    for name, ephemeral in claims_of(pod):
        key = f"{pod.namespace}/{name}"
        claim = storage.get(CLAIM, key)
        if claim is None:
            return Message(f"claim_missing{'.ephemeral' * ephemeral}", claim=key)
        found = storage.class_of(claim)
        if claim.is_bound or (found is not None and found.volume_binding_mode == WAIT
                               and not claim.spec.volume_name):
            continue
        if claim.spec.volume_name:
            return Message("claim_unbound.volume", claim=key, volume=claim.spec.volume_name)
        code = "no_class" if not class_of(claim) else "lost_class" if found is None else "immediate"
        return Message(f"claim_unbound.{code}", claim=key, storage_class=class_of(claim))
    return None


def reach_of(seen: Evidence, key: str) -> Iterator[Message]:
    """Yield which nodes the volumes of a pod (by key) ask for."""
    pod, storage = seen.tasks[key].pod, seen.ssn.snapshot.storage
    for name, _ in claims_of(pod):
        claim = storage.get(CLAIM, f"{pod.namespace}/{name}")
        volume = storage.get(VOLUME, claim.spec.volume_name)
        affinity = volume.spec.node_affinity if volume is not None else None
        terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
        asked = [", ".join(f"{each.key} {each.operator} {', '.join(each.values)}".strip()
                           for each in term.match_expressions) for term in terms]
        if any(asked):
            yield Message("volume.reach", volume=volume.name, terms=asked)


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
