"""Claims for which pods wait, the nodes that their volumes require, and drivers that none offers.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from itertools import combinations

from volcano_lab.api import CLAIM, PENDING, JobInfo, Storage, TaskInfo, claims_of, objects as api
from volcano_lab.api.node_affinity import node_terms
from volcano_lab.api.storage import NO_PROVISIONER, VOLUME, WAIT, attach_key, class_of, size
from volcano_lab.explain.evidence import Evidence, not_ready
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.origin import near
from volcano_lab.explain.required import places_of, terms_of
from volcano_lab.framework import Session
from volcano_lab.manifests.events import OF_CLAIM, OF_DRIVER
from volcano_lab.messages import Message, alike
from volcano_lab.plugins.kube import volume_limits
from volcano_lab.trace.plain import grouped

Reach = tuple[api.PersistentVolumeClaim, list[str], list[api.Node]]
"""A claim, the terms of its volume as text, and the nodes that fit one."""
SAID = "plugin VolumeBinding pre-predicates failed "


def claim_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield what claims of waiting pods lack before any node is searched, each reason once."""
    for reason, (task, *_) in grouped(_refused(job)).items():
        untried = _untried(seen, job, task)
        why = _lacking(seen.ssn.snapshot.storage, task.pod)
        code = why.code.partition(".")[0] if why is not None else "claim_refused"
        lost_class = why is not None and why.code in (
            "claim_unbound.lost_class", "claim_unbound.no_class")
        claim = why.facts["claim"] if why else ""
        there, close = _near_claims(seen.ssn.snapshot.storage, claim) if (
            why is not None and why.code == "claim_missing") else ([], [])
        yield Cause(code, [
            Message("claim", pod=task.key, why=why or reason), *_of_job(seen, job, claim),
            *(_unbound(seen, task.pod) if code == "claim_unbound" else ()),
            Message("claim_missing.near", claims=[*there, *(
                f"{task.namespace}/{each}" for each in close)]) if there or close else None,
            Message("claim_missing.there", claims=there, claim=claim,
                    namespace=task.namespace) if there else None,
            Message("claim.stops", n=len(untried), pod=untried[0].key) if untried else None], {
            "reason": reason, "claim": claim, "stops": bool(untried), "slips": [
                ("claimName", claim.partition("/")[2], each) for each in close], "classes": [
                each.name for each in seen.ssn.snapshot.storage.all(api.StorageClass.kind)
            ] if lost_class or code == "claim_missing" else []})


def _refused(job: JobInfo) -> Iterator[tuple[str, TaskInfo]]:
    """Yield the waiting pods whose claims were refused, with the reason."""
    for task in job.in_status(PENDING).values():
        errors = job.nodes_fit_errors.get(task.uid) if task.pod.spec.volumes else None
        for error in [*errors.nodes.values()][:1] if errors is not None else ():
            if error.reasons[0].startswith(SAID):
                yield error.reasons[0], task


def _untried(seen: Evidence, job: JobInfo, refused: TaskInfo) -> list[TaskInfo]:
    """The pods that allocate does not try after one whose claims are refused, although they may
    reach the gang's minimum.
    """
    sub_job, storage = job.task_to_sub_job[refused.uid], seen.ssn.snapshot.storage
    return [task for task in job.in_status(PENDING).values() if not task.best_effort
            and job.task_to_sub_job[task.uid] == sub_job and task.uid not in job.nodes_fit_errors
            and _lacking(storage, task.pod) is None
            ] if job.need_continue_allocating(sub_job) else []


def _near_claims(storage: Storage, missing: str) -> tuple[list[str], list[str]]:
    """Return the claims that may be meant by one that does not exist: the keys of those of its name
    in other namespaces, and similar names in its own.
    """
    space, _, name = missing.partition("/")
    claims = storage.all(CLAIM)
    return [claim.key for claim in claims if claim.name == name], alike(
        name, [claim.name for claim in claims if claim.namespace == space])


def _of_job(seen: Evidence, job: JobInfo, claim: str) -> Iterator[Message]:
    """Yield that the Job itself names a claim which does not exist."""
    for own in [] if seen.ssn.snapshot.storage.get(CLAIM, claim) else seen.volcano_jobs(job):
        if claim.partition("/")[2] in [each.volume_claim_name for each in own.spec.volumes]:
            yield Message("claim_missing.job", claim=claim)


def driver_causes(seen: Evidence, job: JobInfo) -> Iterator[Cause]:
    """Yield the drivers whose volumes waiting pods claim and no node offers."""
    waiting = [task.pod for task in job.in_status(PENDING).values()]
    storage = seen.ssn.snapshot.storage
    for driver, claim in drivers_nowhere(seen.ssn, waiting).items():
        lacks = [Message("claim", pod=pod.key, why=why) for pod in waiting[:1]
                 for why in [_lacking(storage, pod)] if why]
        if driver == NO_PROVISIONER and "claim_unbound.immediate" in [
                each.facts["why"].code for each in lacks]:  # without a volume it counts as one
            yield Cause("claim_unbound", [*lacks, *_unbound(seen, waiting[0])], {
                "claim": claim, "classes": []})
            continue
        offered = [each.name for each in storage.all(api.StorageClass.kind)
                   if seen.ssn.total_resource.get(attach_key(each.provisioner))]
        yield Cause.of("driver_nowhere", *_no_csi_nodes(storage), *_not_provided(
            seen, driver, claim), *lacks, driver=driver, claim=claim,
            complete=not _no_csi_nodes(storage), classes=offered * _is_unbound(storage, claim))


def _is_unbound(storage: Storage, key: str) -> bool:
    """Whether a claim is there and has no volume."""
    claim = storage.get(CLAIM, key)
    return claim is not None and not claim.is_bound


def _not_provided(seen: Evidence, driver: str, claim: str) -> list[Message]:
    """What Events of a claim, and the CSIDrivers, say of a driver that no node offers."""
    known = {key.removeprefix(OF_DRIVER): said for key, said in seen.not_created.items()
             if key.startswith(OF_DRIVER)}
    unlisted = [Message("driver_nowhere.unlisted", driver=driver, names=[*known])] if known else []
    return [*seen.not_created.get(OF_CLAIM + claim, ()), *known.get(driver, unlisted)]


def without_volume(seen: Evidence, job: JobInfo, settings: Iterable[str]) -> Iterator[Message]:
    """Yield the claims of a job's pods that still have no volume with a change, as it provides no
    driver for them, and whether one is to come.
    """
    waiting = [task.pod for task in job.in_status(PENDING).values()]
    if not any(text.startswith("persistentvolumeclaim/") for text in settings):
        for driver, claim in drivers_nowhere(seen.ssn, waiting).items():
            if driver != NO_PROVISIONER and _is_unbound(seen.ssn.snapshot.storage, claim):
                late = "" if _not_provided(seen, driver, claim) else ".later"
                yield Message(f"gains.no_volume{late}", driver=driver, claim=claim)


def _no_csi_nodes(storage: Storage) -> list[Message]:
    """That the objects lack the CSINodes, without which no node offers a driver."""
    return [Message("driver_nowhere.export")] * (not storage.all(api.CSINode.kind))


def _lacking(storage: Storage, pod: api.Pod) -> Message | None:
    """The first claim of a pod that has no volume and is not bound later."""
    for name, ephemeral in claims_of(pod):
        key = f"{pod.namespace}/{name}"
        claim = storage.get(CLAIM, key)
        if claim is None:
            return Message(f"claim_missing{'.ephemeral' * ephemeral}", claim=key)
        if claim.status.phase == "Lost":
            return Message("claim_unbound.lost", claim=key, volume=claim.spec.volume_name)
        found = storage.class_of(claim)
        if claim.is_bound or (found is not None and found.volume_binding_mode == WAIT
                               and not claim.spec.volume_name):
            continue
        if claim.spec.volume_name:
            return Message("claim_unbound.volume", claim=key, volume=claim.spec.volume_name)
        code = "lost_class" if class_of(claim) else "no_class"
        code = "static" if class_of(claim) and _of_class(storage, claim) else code
        if found is not None:
            code = "immediate" if _is_static(found) else "provisioner"
        return Message(
            f"claim_unbound.{code}", claim=key, storage_class=class_of(claim), near=near(class_of(
                claim), [each.name for each in storage.all(api.StorageClass.kind)]),
            provisioner=getattr(found, "provisioner", ""))
    return None


def _is_static(found: api.StorageClass | None) -> bool:
    """Whether a StorageClass is there, and creates no volumes."""
    return found is not None and found.provisioner in ("", NO_PROVISIONER)


def _claims(storage: Storage, pod: api.Pod) -> list[api.PersistentVolumeClaim]:
    """The claims of a pod that are there."""
    return [*filter(None, (storage.get(CLAIM, f"{pod.namespace}/{name}")
                           for name, _ in claims_of(pod)))]


def _of_class(storage: Storage, claim: api.PersistentVolumeClaim) -> list[api.PersistentVolume]:
    """The volumes of the class of a claim."""
    return [each for each in storage.all(VOLUME) if class_of(each) == class_of(claim)]


def unbound(storage: Storage, pod: api.Pod
            ) -> Iterator[tuple[api.PersistentVolumeClaim, list[api.PersistentVolume]]]:
    """Yield the claims of a pod without a volume that have no class, or one that provisions none,
    or is not there and has volumes; each with the free volumes of its class, the largest first.
    """
    for claim in without(storage, pod):
        found, there = storage.class_of(claim), _of_class(storage, claim)
        if _is_static(found) or (found is None and (there or not class_of(claim))):
            free = [each for each in there if each.spec.claim_ref is None
                    and each.status.phase == "Available"]
            yield claim, sorted(free, key=size, reverse=True)


def without(storage: Storage, pod: api.Pod) -> list[api.PersistentVolumeClaim]:
    """Return the claims of a pod that have no volume, and name none."""
    return [each for each in _claims(storage, pod) if not (each.is_bound or each.spec.volume_name)]


def _unbound(seen: Evidence, pod: api.Pod) -> Iterator[Message]:
    """Yield which field of a pod's claim no free volume fits, or which nodes one requires."""
    storage = seen.ssn.snapshot.storage
    for claim, free in unbound(storage, pod):
        large = [each for each in free if size(each) >= size(claim)]
        fit = [each for each in large if {*claim.spec.access_modes} <= {*each.spec.access_modes}]
        if not fit:
            taken = [each for each in _of_class(storage, claim) if each.status.phase == "Released"]
            code = f"volume.size{('.released' if taken else '.none') * (not free)}"
            yield Message("volume.modes" if large else code, claim=claim.key,
                          modes=claim.spec.access_modes, storage_class=class_of(claim),
                          size=claim.spec.resources.requests.get("storage"), volumes=[Message(
                              "volume.has", volume=each.name, modes=each.spec.access_modes,
                              size=each.spec.capacity.get("storage"))
                              for each in large or free or taken])
        for each in fit[:1]:
            required = each.spec.node_affinity and each.spec.node_affinity.required
            yield from _required(seen, each.name, required, "") if required else ()
            if getattr(storage.class_of(claim), "volume_binding_mode", "") != WAIT:
                yield Message("volume.fits", volume=each.name, claim=claim.key)


def requires(storage: Storage, pod: api.Pod
             ) -> Iterator[tuple[api.PersistentVolumeClaim, api.NodeSelector | None]]:
    """Yield the claims of a pod whose volume is gone (None), or requires certain nodes."""
    for claim in _claims(storage, pod):
        volume = storage.get(VOLUME, claim.spec.volume_name)
        affinity = volume.spec.node_affinity if volume is not None else None
        if claim.status.phase == "Lost":
            yield claim, None
        elif affinity is not None and affinity.required is not None:
            yield claim, affinity.required


def lost(ssn: Session, pod: api.Pod) -> list[str]:
    """Return the claims of a pod whose volume is gone, or is on a node that does not exist."""
    return [claim.key for claim, selected in requires(ssn.snapshot.storage, pod)
            if selected is None or (_by_name(selected) and not _let_in(ssn, selected)[1])]


def names_node(label: str) -> bool:
    """Whether a label has the name of a node, as kubernetes.io/hostname and those of drivers of
    local volumes.

    >>> [*map(names_node, ("topology.topolvm.io/node", "topology.kubernetes.io/zone"))]
    [True, False]
    """
    return label.rpartition("/")[2] in ("hostname", "node", "nodename")


def _by_name(required: api.NodeSelector) -> bool:
    """Whether a volume requires nodes by their names: no other one reaches it."""
    return any(names_node(each.key) for term in required.node_selector_terms
               for each in term.match_expressions)


def reach_of(seen: Evidence, key: str) -> Iterator[Message]:
    """Yield which nodes the volumes of a pod (by key) require."""
    pod, storage = seen.tasks[key].pod, seen.ssn.snapshot.storage
    for claim, selected in requires(storage, pod):
        if selected is not None:
            yield from _required(seen, claim.spec.volume_name, selected, claim.key)
    for claim in _claims(storage, pod):
        found = storage.class_of(claim)
        if found is not None and storage.get(VOLUME, claim.spec.volume_name) is None:
            yield from places_of(found, claim.key, [each.node for each in seen.ssn.nodes.values()])
    yield from _unbound(seen, pod)
    yield from _apart(seen, pod)


def _apart(seen: Evidence, pod: api.Pod) -> Iterator[Message]:
    """Yield that no node reaches the volumes of two claims of a pod."""
    for both in apart(seen.ssn, pod):
        last, found = both[1][0], seen.ssn.snapshot.storage.class_of(both[1][0])
        yield Message("volume.apart", parts=[
            Message("volume.apart.part", claim=claim.key, terms=asked)
            for claim, asked, _ in both], claim=last.key, at_once=Message(
                "volume.apart.at_once", storage_class=found.name)
            if found is not None and found.volume_binding_mode != WAIT else None)


def apart(ssn: Session, pod: api.Pod) -> list[tuple[Reach, Reach]]:
    """Return the first two claims of a pod of which no node reaches both volumes, though some reach
    each.
    """
    reach = [(claim, *_let_in(ssn, selected)) for claim, selected in requires(
        ssn.snapshot.storage, pod) if selected is not None]
    return [(one, other) for one, other in combinations(reach, 2) if one[2] and other[2]
            and not any(node in other[2] for node in one[2])][:1]


def _let_in(ssn: Session, required: api.NodeSelector) -> tuple[list[str], list[api.Node]]:
    """The terms of a volume as text, and the nodes that fit one."""
    return [", ".join(terms_of(term)) for term in required.node_selector_terms], [
        node.node for node in ssn.nodes.values()
        if any(term.matches(node.node) for term in node_terms(required))]


def full_drivers(seen: Evidence, key: str, node: str) -> Iterator[Message]:
    """Yield how many volumes a node has of the drivers that a pod (by key) needs, and at most, and
    the pods with these volumes.
    """
    storage, pods = seen.ssn.snapshot.storage, seen.ssn.nodes[node].tasks.values()
    needed = storage.attached(seen.tasks[key].pod)
    for driver, most in volume_limits.limits_of(storage, node).items():
        if attach_key(driver) in needed:
            of_pod = {task.key: _volumes(storage, task.pod, driver) for task in pods}
            yield Message("volume_limit.used", driver=driver, node=node, most=most,
                          used=len(set[str]().union(*of_pod.values())),
                          pods=[*filter(of_pod.get, of_pod)])


def _volumes(storage: Storage, pod: api.Pod, driver: str) -> set[str]:
    """The volumes of a driver that a pod has, as its limit counts them: a shared one is one."""
    found = volume_limits.volumes_of(pod, storage, False)
    return {volume for of, volume in found if of == driver} if isinstance(found, dict) else set()


def _required(seen: Evidence, volume: str, required: api.NodeSelector, claim: str
              ) -> Iterator[Message]:
    """Yield which nodes the volume of a claim requires, and that none of them is there or Ready."""
    asked, nodes = _let_in(seen.ssn, required)
    if not any(asked):
        return
    yield Message("volume.reach", volume=volume, terms=asked)
    if not nodes:
        yield Message(f"volume.nowhere{'' if _by_name(required) else '.labels'}")
    if claim and _by_name(required) and all(map(not_ready, nodes)):
        yield Message("volume.lost", claim=claim)


def drivers_nowhere(ssn: Session, pods: Iterable[api.Pod]) -> dict[str, str]:
    """Return {driver: claim} of the drivers whose volumes pods claim and that no node offers, with
    the first such claim.
    """
    storage = ssn.snapshot.storage
    found: dict[str, str] = {}
    for pod in pods:
        counted = storage.attached(pod) if pod.spec.volumes else {}
        for name, _ in claims_of(pod) if counted else ():
            driver = storage.driver_of(storage.get(CLAIM, f"{pod.namespace}/{name}"))
            key = attach_key(driver)
            if key in counted and not ssn.total_resource.get(key):
                found.setdefault(driver, f"{pod.namespace}/{name}")
    return found
