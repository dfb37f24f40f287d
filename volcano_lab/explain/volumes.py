"""Claims that keep their pods waiting, and what would give them a volume."""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import PENDING, JobInfo
from volcano_lab.api import objects as api
from volcano_lab.api.storage import CLAIM, VOLUME, WAIT, Storage, claims_of, class_of
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.knob import Knob, KnobSet, Rank, Turned
from volcano_lab.explain.lint import drivers_nowhere

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


def volume_knobs(knobs: KnobSet, job: str) -> Iterator[Knob]:
    """A volume for each claim of the job's waiting pods that has none."""
    known = {obj.key: place for place, obj in enumerate(knobs.objects)
             if isinstance(obj, api.PersistentVolumeClaim)}
    named = dict.fromkeys((pod.namespace, claim.name) for pod in knobs.waiting(job).values()
                          for claim in claims_of(pod) if not claim.ephemeral)
    for namespace, name in named:
        key = f"{namespace}/{name}"
        place = known.get(key)
        claim = api.PersistentVolumeClaim(api.ObjectMeta(name, namespace, f"claim-{key}")) if (
            place is None) else knobs.objects[place]
        if not claim.is_bound:
            yield _knob(knobs, place, claim)


def _knob(knobs: KnobSet, place: int | None, claim: api.PersistentVolumeClaim) -> Knob:
    size = claim.spec.resources.requests.get("storage", "")
    meta = api.ObjectMeta(f"volume-for-{claim.name}")
    volume = api.PersistentVolume(meta, api.PersistentVolumeSpec(
        {"storage": size or "1Gi"}, claim.spec.access_modes, claim.reference()))
    what = f"PersistentVolumeClaim {claim.key}"

    def turn(_: int) -> Turned:
        kept = [obj for number, obj in enumerate(knobs.objects) if number != place]
        return volume.name, [*kept, volume, claim.bound(volume.name)], knobs.conf

    said = (f"create {what} with a volume" if place is None
            else f"a volume of {size or 'any size'} for {what}")
    return Knob(what, "spec.volumeName", "", 1, turn, Rank.JOB if place is None else Rank.OTHERS,
                said=lambda _: said)
