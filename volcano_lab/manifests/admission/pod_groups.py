"""Rules for PodGroups.

Volcano: pkg/webhooks/admission/podgroups/validate
"""

from volcano_lab.api.objects import PodGroup
from volcano_lab.manifests.admission.rules import Broken, Queues, both_tiers, for_jobs, state_of


def broken(group: PodGroup, queues: Queues) -> Broken:
    """Yield the rules that a PodGroup breaks."""
    name = group.spec.queue or "default"
    queue = queues.get(name)
    if queue is None:
        yield "podgroup-queue-missing", {"queue": name, "known": for_jobs(queues)}
    elif state_of(queue) != "Open":
        yield "podgroup-queue-closed", {"queue": name, "state": queue.status.state}
    if both_tiers(group.spec.network_topology):
        yield "podgroup-topology", {}
    for i, policy in enumerate(group.spec.sub_group_policy):
        if both_tiers(policy.network_topology):
            yield "podgroup-subgroup-topology", {"i": i, "name": policy.name}
