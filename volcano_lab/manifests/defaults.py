"""What a cluster adds to manifests before its scheduler receives them.

The defaults of the Kubernetes API server and its admission, and of Volcano's webhooks
(`field_defaults`), the queues that Volcano's cache creates, and the objects of controllers:
PodGroup and pods of Jobs, pods of Kubernetes' own workloads, PodGroups of pods without one. Differs
on purpose: uids and creation times are the same in each run, a second apart in document order, and
every node has the hostname label that its kubelet would set. Recorded cases are replayed without
any of this.

Volcano: pkg/webhooks/admission, pkg/scheduler/cache/cache.go (newDefaultAndRootQueue)
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from functools import partial

from volcano_lab.api import objects as api
from volcano_lab.framework import collector_paused
from volcano_lab.manifests import admission, disruptions, document, owners
from volcano_lab.manifests.claims import csi_nodes
from volcano_lab.manifests.controllers import Controllers, name_of
from volcano_lab.manifests.field_defaults import FIRST_TIME, identified
from volcano_lab.manifests.loader import Loaded, ManifestError, about
from volcano_lab.manifests.workloads import too_large
from volcano_lab.messages import Message, Said, friendly_errors


@friendly_errors
@collector_paused()
def with_defaults(objects: Iterable[api.KubernetesObject],
                  running: Iterable[api.Pod] = ()) -> Loaded:
    """Return the objects as the scheduler of a cluster receives them; those given stay.

    Jobs and other workloads become pods, unless these are among the objects already. `warnings`
    name what is not created, and why.

    Args:
        objects: In document order.
        running: Further pods of the cluster: tasks that depend on these are created, too.

    Raises:
        ManifestError: A pod names a PriorityClass that is not among the objects, two objects have
            one name, there are too many pods or too many levels of queues.

    >>> from volcano_lab.manifests.loader import loads
    >>> for obj in with_defaults(loads("{apiVersion: v1, kind: Pod, metadata: {name: web}}")):
    ...     print(obj.kind, obj.key, obj.metadata.uid, obj.metadata.creation_timestamp - FIRST_TIME)
    Queue root queue-root 0.0
    Queue default queue-default 1.0
    Pod default/web pod-default-web 2.0
    """
    complete = Loaded((), objects)
    cluster = Controllers(given := list(objects), list(running), complete)
    complete.given, fields = Loaded(given, objects), cluster.fields
    known = {*map(name_of, given)}  # one that is not read may have the name of another object
    complete.not_created = {key: [each for each in said if each.code not in document.UNREAD or (
        key not in known)] for key, said in complete.reports.items()}
    if not (problems := too_large(given, partial(owners.pods_asked, objects=given), cluster.label)):
        for number, obj in enumerate([*_queues_of_the_cluster(cluster.objects),
                                      *cluster.objects, *fields.named_classes]):
            time = FIRST_TIME + number
            for part in cluster.parts(identified(obj, time)):
                part, group = identified(part, time), None
                if isinstance(part, api.Pod):
                    group, part = cluster.groups.adopt(part)
                if group is not None:
                    complete.append(fields.complete(identified(group, time)))
                complete.append(fields.complete(part))
        complete.later = {key: [fields.complete(identified(pod, FIRST_TIME + len(complete)))
                                for pod in pods] for key, pods in complete.later.items()}
        for claim in cluster.claims():
            complete.extend(cluster.claim(identified(claim, FIRST_TIME + len(complete))))
        if lacking := csi_nodes(complete):
            complete += [identified(each, FIRST_TIME + len(complete)) for each in lacking]
            complete.warnings.append(Message("manifest.csi_nodes", drivers=[
                each.name for each in lacking[0].spec.drivers]))
        disruptions.count_new(complete, given)
        _run(complete, cluster.given_groups)
        problems = fields.problems + _twice(complete, complete.given)
    if problems:
        raise ManifestError(problems)
    return complete


def _run(complete: Loaded, given: Container[str]) -> None:
    """Set the phase of new PodGroups of which enough pods have nodes, as a cycle before did."""
    placed = Counter(owners.job_of(pod) for pod in complete if isinstance(pod, api.Pod)
                     and pod.spec.node_name and pod.status.phase != "Failed")
    for place, obj in enumerate(complete):
        if isinstance(obj, api.PodGroup) and name_of(obj) not in given and placed[obj.key] >= max(
                obj.spec.min_member, 1):
            complete[place] = obj.changed(status={"phase": "Running"})


def _queues_of_the_cluster(objects: list[api.KubernetesObject]) -> list[api.Queue]:
    """Return the queues that Volcano creates when they do not exist: when its scheduler starts, so
    that beside the root queue of a cluster, among all that it has, none is created again.
    """
    given = {obj.name: obj.metadata.resource_version for obj in objects
             if isinstance(obj, api.Queue)}
    own = {} if given.get("root") else {"root": False, "default": True}
    return [api.Queue(api.ObjectMeta(name), api.QueueSpec(weight=1, reclaimable=reclaimable))
            for name, reclaimable in own.items() if name not in given]


def _twice(objects: Sequence[api.KubernetesObject], given: Sequence[api.KubernetesObject]
           ) -> list[Message]:
    """Return one message about objects of the same kind and name, whatever their number, and one
    for each Job that creates pods of the same name, as its tasks share theirs.
    """
    counts = Counter((obj.kind, obj.key) for obj in objects)
    twice: list[Said] = [f"{kind} {key}" for (kind, key), count in counts.items() if count > 1]
    found = [about(each.label, each.what) for each in (admission.verdicts(given) if twice else ())
             if each.rule == "job-task-name"]
    if found:
        return found + _twice(given, ())
    return [about(twice, Message("manifest.given_twice"))] if twice else []
