"""PodGroups for pods without one: those that the PodGroup controller creates for Volcano's pods.

All pods of one owner (a ReplicaSet, a StatefulSet, ...) share a PodGroup; a bare pod has its own.
The controller runs with its default settings: annotations of the owner are inherited.

Volcano: pkg/controllers/podgroup/pg_controller_handler.go
"""

from collections.abc import Mapping

from volcano_lab.api import objects as api, selector
from volcano_lab.manifests import job_controller as jobs

SCHEDULER = "volcano"
GROUP_MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
TOPOLOGY_MODE = "volcano.sh/network-topology-mode"
TOPOLOGY_TIER = "volcano.sh/network-topology-highest-tier"
OWNERS = ("ReplicaSet", "DaemonSet", "StatefulSet", "Job")


class PodGroups:
    """The controller; `owners` are the annotations of owners by namespace, kind and name.

    >>> pod = api.Pod(api.ObjectMeta("web", "team", "u1"))
    >>> pod.spec.scheduler_name = "volcano"
    >>> group, pod = PodGroups({}).adopt(pod)
    >>> group.key, group.spec.min_member, pod.metadata.annotations[jobs.GROUP_NAME]
    ('team/podgroup-u1', 1, 'podgroup-u1')
    """

    def __init__(self, owners: dict[tuple[str, str, str], Mapping[str, str]],
                 existing: set[str] | None = None):
        self.owners, self.existing = owners, existing or set()

    def adopt(self, pod: api.Pod) -> tuple[api.PodGroup | None, api.Pod]:
        """Return the PodGroup to be created, if any, and the pod that names it."""
        annotations = pod.metadata.annotations
        if pod.spec.scheduler_name != SCHEDULER or annotations.get(jobs.GROUP_NAME):
            return None, pod
        owner = next((ref for ref in pod.metadata.owner_references if ref.controller), None)
        name = f"podgroup-{owner.uid if owner else pod.metadata.uid}"
        named = pod.changed(metadata={"annotations": annotations | {jobs.GROUP_NAME: name}})
        if f"{pod.namespace}/{name}" in self.existing:
            return None, named
        self.existing.add(f"{pod.namespace}/{name}")
        inherited: dict[str, str] = {}
        for ref in pod.metadata.owner_references:
            if ref.kind in OWNERS:
                inherited = {**self.owners.get((pod.namespace, ref.kind, ref.name), {}),
                             **inherited}
        own = {key: text for key, text in inherited.items()
               if key.startswith("volcano.sh/")} | jobs.inherited_annotations(annotations)
        references = pod.metadata.owner_references if owner else [
            api.OwnerReference("v1", "Pod", pod.name, pod.metadata.uid, True, True)]
        number = selector.parse_int(inherited.get(GROUP_MIN_MEMBER, "1"))
        least = 1 if number is None or not 0 <= number < 2**31 else number
        styles: dict[str, str] = {}
        needs = {key: amount * least
                 for key, amount in jobs.usage(pod.spec, styles).items()} if least else {}
        metadata = api.ObjectMeta(
            name, pod.namespace, annotations=own, owner_references=references,
            labels=jobs.chosen(pod.metadata.labels, jobs.PREEMPTABLE, jobs.COOLDOWN_TIME),
            creation_timestamp=pod.metadata.creation_timestamp)
        return api.PodGroup(metadata, api.PodGroupSpec(
            least, queue=annotations.get(QUEUE_NAME, ""), min_resources=jobs.amounts_text(
                needs, styles), priority_class_name=pod.spec.priority_class_name,
            network_topology=_topology(annotations))), named


def _topology(annotations: Mapping[str, str]) -> api.NetworkTopologySpec | None:
    """Return the topology of a pod's annotations; "hard" by default."""
    mode, tier = annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_TIER)
    if mode is None and tier is None:
        return None
    return api.NetworkTopologySpec("soft" if (mode or "").lower() == "soft" else "hard",
                               None if tier is None else selector.parse_int(tier))
