"""The pods that each operator creates for an object, and their gangs: KubeRay, Kubeflow's training
and MPI operators, LeaderWorkerSet, kthena.

The sources are in `operators.toml`. For new objects: no pod has failed, nothing is scaled.
"""

from typing import Any

from volcano_lab.api.objects import (
    LabelSelector,
    NetworkTopologySpec,
    PodTemplateSpec,
    SubGroupPolicySpec,
)
from volcano_lab.manifests.names import generated
from volcano_lab.manifests.operators.model import (
    Gang,
    OperatorObject,
    Others,
    Reading,
    Role,
    at,
    items,
    lettered,
    numbered,
)
from volcano_lab.manifests.schema import structure

MOST_OF_A_PREFIX = 50
SUBMITTER = {"spec": {"containers": [{"name": "ray-job-submitter", "resources": {
    "requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}}]}}


def topology(raw: Any, read: Reading) -> NetworkTopologySpec | None:
    """Return a network topology in the form of Volcano's PodGroup."""
    return structure(NetworkTopologySpec, raw, read.findings) if isinstance(raw, dict) else None


# -- Ray ---------------------------------------------------------------------------------------

def ray(obj: OperatorObject, read: Reading, objects: Others, where: str) -> list[Gang]:
    """Return a head and its workers; for a RayJob also the submitter, created when these run."""
    if at(obj.spec, "clusterSelector"):
        return []
    spec, path = (at(obj.spec, where, {}), f"{where}.") if where else (obj.spec, "")
    cluster = generated(f"{obj.name}-", 0) if where else obj.name
    head = Role("headgroup", read.template(at(spec, "headGroupSpec.template"),
                                           f"{path}headGroupSpec.template"), 1,
                lettered(f"{cluster[:MOST_OF_A_PREFIX]}-head-"),
                labels=_ray_labels(cluster, "head", "headgroup"))
    gang = Gang([head], f"ray-{cluster if where == 'rayClusterConfig' else obj.name}-pg", 1,
                [(head, 1)])
    for number, group in enumerate(items(spec, "workerGroupSpecs")):
        name, place = str(group.get("groupName", "")), f"{path}workerGroupSpecs[{number}]."
        hosts = read.count(group, "numOfHosts", 1, place)
        least = read.count(group, "minReplicas", 0, place)
        wanted = max(read.count(group, "replicas", least, place), least)
        most = at(group, "maxReplicas", wanted)
        wanted = min(wanted, most) if type(most) is int and most >= least else wanted
        if group.get("suspend") is True:
            least = wanted = 0
        prefix = f"{cluster}-{name}"[:MOST_OF_A_PREFIX].lower()
        role = Role(name, read.template(group.get("template"), f"{place}template"),
                    wanted * hosts, lettered(f"{prefix}-worker-"),
                    labels=_ray_labels(cluster, "worker", name))
        needed = least * hosts if spec.get("enableInTreeAutoscaling") is True else role.count
        gang.roles.append(role)
        gang.members += needed
        gang.reserved.append((role, needed))
    mode = obj.first("label volcano.sh/network-topology-mode")
    tier = obj.first("label volcano.sh/network-topology-highest-tier-allowed") or ""
    if mode:
        gang.more["network_topology"] = NetworkTopologySpec(
            mode, int(tier) if tier.isdecimal() else None)
    if where == "rayClusterSpec" and at(obj.spec, "submissionMode", "K8sJobMode") == "K8sJobMode":
        submitter = Role("submittergroup", read.template(
            at(obj.spec, "submitterPodTemplate", SUBMITTER), "submitterPodTemplate"), 1,
            lettered(f"{obj.name}-"), later=True)
        gang.roles.append(submitter)
        gang.reserved.append((submitter, 1))
    return [gang]


def _ray_labels(cluster: str, kind: str, group: str) -> dict[str, str]:
    return {"ray.io/cluster": cluster, "ray.io/node-type": kind, "ray.io/group": group}


# -- Kubeflow ----------------------------------------------------------------------------------

def replica_specs(obj: OperatorObject, read: Reading, objects: Others, where: str) -> list[Gang]:
    """Return the replicas of each type, and a gang of all of them unless the scheduling policy has
    a smaller minimum.
    """
    specs, roles = at(obj.spec, where, {}), []
    for kind in sorted(specs) if isinstance(specs, dict) else ():
        role = kind.lower()
        roles.append(Role(role, read.template(at(specs, f"{kind}.template"),
                                              f"{where}.{kind}.template"),
                          read.count(specs, f"{kind}.replicas", 1, f"{where}."),
                          numbered(f"{obj.name}-{role}-"),
                          labels={"training.kubeflow.org/replica-type": role}))
    policy, path = at(obj.spec, "runPolicy.schedulingPolicy", {}), "spec.runPolicy.schedulingPolicy"
    members = (read.count(policy, "minAvailable", 1, "runPolicy.schedulingPolicy.")
               if "minAvailable" in policy else None)
    return [Gang(roles, obj.name, members, minimum=read.amounts(policy.get("minResources"), path))]


def mpi(obj: OperatorObject, read: Reading, objects: Others, where: str) -> list[Gang]:
    """Return a launcher and its workers. The launcher of v2beta1 is the pod of a Job, and may wait
    for the workers, though the gang counts it.
    """
    (gang,) = replica_specs(obj, read, objects, where)
    later = at(obj.spec, "launcherCreationPolicy") == "WaitForWorkersReady"
    for role in gang.roles:
        if role.name == "launcher":
            role.names = (lettered(f"{obj.name}-launcher-") if obj.api_version.endswith("v2beta1")
                          else lambda _: f"{obj.name}-launcher")
            role.later = later
    if gang.members is None and obj.api_version.endswith("v2beta1"):
        gang.members = 1 + sum(role.count for role in gang.roles if role.name == "worker")
    return [gang]


# -- LeaderWorkerSet, ModelServing -------------------------------------------------------------

def leader_worker_set(obj: OperatorObject, read: Reading, objects: Others, where: str
                      ) -> list[Gang]:
    """Return a gang for each group: a leader, and workers, which may wait for it."""
    template, gangs = at(obj.spec, "leaderWorkerTemplate", {}), []
    size = read.count(template, "size", 1, "leaderWorkerTemplate.")
    workers = read.template(at(template, "workerTemplate"), "leaderWorkerTemplate.workerTemplate")
    leader = workers if template.get("leaderTemplate") is None else read.template(
        template["leaderTemplate"], "leaderWorkerTemplate.leaderTemplate")
    ready = at(obj.spec, "startupPolicy") == "LeaderReady"
    for group in range(read.count(obj.spec, "replicas")):
        name = f"{obj.name}-{group}"
        labels = {"leaderworkerset.sigs.k8s.io/group-index": str(group)}
        roles = [Role("leader", leader, 1, lambda _, name=name: name, labels=labels),
                 Role("worker", workers, max(size - 1, 0), numbered(f"{name}-", 1), ready, labels)]
        gangs.append(Gang(roles, f"{name}-1", 1 if ready else size,
                          [(role, role.count) for role in roles]))
    return gangs


def model_serving(obj: OperatorObject, read: Reading, objects: Others, where: str) -> list[Gang]:
    """Return a gang per ServingGroup; each replica of a role is an entry and workers, a sub-group.
    """
    template = at(obj.spec, "template", {})
    read_roles = [_serving_role(role, number, at(template, "gangPolicy.minRoleReplicas", {}), read)
                  for number, role in enumerate(items(template, "roles"))]
    groups = {"network_topology": topology(at(template, "networkTopology.groupPolicy"), read)}
    policy = topology(at(template, "networkTopology.rolePolicy"), read)
    gangs = []
    for number in range(read.count(obj.spec, "replicas")):
        gang = Gang([], f"{obj.name}-{number}", 0, [], more=groups | {"sub_group_policy": []})
        for name, count, least, workers, templates in read_roles:
            for index in range(count):
                pods = _replica(obj, gang.name, name, index, workers, templates)
                gang.roles += pods
                if index < least:
                    gang.members += 1 + workers
                    gang.reserved += [(role, role.count) for role in pods]
            gang.more["sub_group_policy"].append(SubGroupPolicySpec(
                name, policy, 1 + workers, least, LabelSelector({
                    "modelserving.volcano.sh/name": obj.name,
                    "modelserving.volcano.sh/role": name}), ["modelserving.volcano.sh/role-id"]))
        gangs.append(gang)
    return gangs


def _serving_role(role: dict[str, Any], number: int, least: Any, read: Reading
                  ) -> tuple[str, int, int, int, list[PodTemplateSpec]]:
    """Return name, replicas, how many of them the gang needs, workers of each, and templates."""
    path = f"template.roles[{number}]"
    name, count = str(role.get("name", "")), read.count(role, "replicas", 1, f"{path}.")
    workers = (read.count(role, "workerReplicas", 0, f"{path}.")
               if role.get("workerTemplate") else 0)
    templates = [read.template(role.get(f"{kind}Template"), f"{path}.{kind}Template")
                 for kind in ("entry", "worker")]
    needed = min(read.count(least, name, count), count)
    return name, count, needed, workers, templates


def _replica(obj: OperatorObject, group: str, name: str, index: int, workers: int,
             templates: list[PodTemplateSpec]) -> list[Role]:
    labels = {"modelserving.volcano.sh/group-name": group, "modelserving.volcano.sh/role": name,
              "modelserving.volcano.sh/role-id": f"{name}-{index}"}
    prefix = f"{group}-{name}-{index}-"
    entry, worker = templates
    roles = [Role(f"{name}-{index}", entry, 1, numbered(prefix), labels=labels)]
    if workers:
        roles.append(Role(f"{name}-{index}", worker, workers, numbered(prefix, 1), labels=labels))
    return roles
