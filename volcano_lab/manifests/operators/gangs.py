"""The pods that each operator creates for an object, and their gangs: KubeRay, Kubeflow's training
and MPI operators, LeaderWorkerSet, kthena.

The sources are in `operators.toml`. For new objects: no pod has failed, nothing is scaled.
"""

from volcano_lab.api import objects as api
from volcano_lab.manifests.names import generated, series
from volcano_lab.manifests.operators.model import Gang, Part, Reading, Role, numbered

MOST_OF_A_PREFIX = 50
SUBMITTER = {"spec": {"containers": [{"name": "ray-job-submitter", "resources": {
    "requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}}]}}
AFTER = {"worker": ("master", "ps", "scheduler"), "webservice": ("scheduler",), "chief": ("ps",),
         "launcher": ("worker",)}
"""The role of a job of KubeDL -> those that it waits for."""


# -- Ray ---------------------------------------------------------------------------------------

def ray(read: Reading) -> list[Gang]:
    """Return a head and its workers; for a RayJob also the submitter, created when these run."""
    if read.at("clusterSelector"):
        return []
    spec, where = read.below(read.where), read.where
    cluster = generated(f"{read.name}-", 0) if where else read.name
    gang = Gang([], f"ray-{cluster if where == 'rayClusterConfig' else read.name}-pg", 0, [])
    gang.add(Role("headgroup", spec.template("headGroupSpec.template"), 1,
                  series(f"{cluster[:MOST_OF_A_PREFIX]}-head-"),
                  labels=_ray_labels(cluster, "head", "headgroup")), 1, 1)
    for group in spec.items("workerGroupSpecs"):
        name, hosts = str(group.at("groupName", "")), group.count("numOfHosts")
        least = group.count("minReplicas", 0)
        wanted = max(group.count("replicas", least), least)
        most = group.at("maxReplicas", wanted)
        wanted = min(wanted, most) if type(most) is int and most >= least else wanted
        if group.at("suspend") is True:
            least = wanted = 0
        prefix = f"{cluster}-{name}"[:MOST_OF_A_PREFIX].lower()
        role = Role(name, group.template("template"), wanted * hosts, series(f"{prefix}-worker-"),
                    labels=_ray_labels(cluster, "worker", name))
        least = least * hosts if spec.at("enableInTreeAutoscaling") is True else role.count
        gang.add(role, least, least)
    mode = read.obj.first("label volcano.sh/network-topology-mode")
    tier = read.obj.first("label volcano.sh/network-topology-highest-tier-allowed") or ""
    if mode:
        gang.more["network_topology"] = api.NetworkTopologySpec(
            mode, int(tier) if tier.isdecimal() else None)
    if where == "rayClusterSpec" and read.at("submissionMode", "K8sJobMode") == "K8sJobMode":
        submitter = Role("submittergroup", read.template(
            "submitterPodTemplate", read.at("submitterPodTemplate", SUBMITTER)), 1,
            series(f"{read.name}-"), later=True)
        gang.add(submitter, 0, 1)
    return [gang]


def _ray_labels(cluster: str, kind: str, group: str) -> dict[str, str]:
    return {"ray.io/cluster": cluster, "ray.io/node-type": kind, "ray.io/group": group}


# -- Kubeflow ----------------------------------------------------------------------------------

def replica_specs(read: Reading) -> list[Gang]:
    """Return the replicas of each type, and a gang of all of them unless the scheduling policy has
    a smaller minimum.
    """
    specs, roles = read.below(read.where), []
    for kind in sorted(specs.data):
        role = kind.lower()
        roles.append(Role(role, specs.template(f"{kind}.template"),
                          specs.count(f"{kind}.replicas"), numbered(f"{read.name}-{role}-"),
                          labels={"training.kubeflow.org/replica-type": role}))
    policy = read.below("runPolicy.schedulingPolicy")
    members = policy.count("minAvailable") if "minAvailable" in policy.data else None
    return [Gang(roles, read.name, members, minimum=policy.amounts("minResources"))]


def kubedl(read: Reading) -> list[Gang]:
    """Return a gang for each role; those of some roles are created once others run."""
    (whole,) = replica_specs(read)
    kinds = {role.name for role in whole.roles}
    for role in whole.roles:
        role.later = not kinds.isdisjoint(AFTER.get(role.name, ()))
        role.labels = {"job-name": read.name, "replica-type": role.name}
    return [Gang([role], f"{read.name}-{role.name}")
            for role in sorted(whole.roles, key=lambda role: role.later)]


def mpi(read: Reading) -> list[Gang]:
    """Return a launcher and its workers. The launcher of v2beta1 is the pod of a Job, and may wait
    for the workers, though the gang counts it.
    """
    (gang,) = replica_specs(read)
    of_job = read.obj.api_version.endswith("v2beta1")
    for role in gang.roles:
        if role.name == "launcher":
            role.names = series(f"{read.name}-launcher-") if of_job else [f"{read.name}-launcher"]
            role.later = read.at("launcherCreationPolicy") == "WaitForWorkersReady"
    if gang.members is None and of_job:
        gang.members = 1 + sum(role.count for role in gang.roles if role.name == "worker")
    return [gang]


# -- LeaderWorkerSet, ModelServing -------------------------------------------------------------

def leader_worker_set(read: Reading) -> list[Gang]:
    """Return a gang for each group: a leader, and workers, which may wait for it."""
    template, gangs = read.below("leaderWorkerTemplate"), []
    size, workers = template.count("size"), template.template("workerTemplate")
    leader = (workers if template.at("leaderTemplate") is None
              else template.template("leaderTemplate"))
    ready = read.at("startupPolicy") == "LeaderReady"
    for group in range(read.count("replicas")):
        name = f"{read.name}-{group}"
        labels = {"leaderworkerset.sigs.k8s.io/group-index": str(group)}
        roles = [Role("leader", leader, 1, [name], labels=labels),
                 Role("worker", workers, max(size - 1, 0), numbered(f"{name}-", 1), ready, labels)]
        gangs.append(Gang(roles, f"{name}-1", 1 if ready else size,
                          [(role, role.count) for role in roles]))
    return gangs


def model_serving(read: Reading) -> list[Gang]:
    """Return a gang per ServingGroup; a role's replica is an entry and workers, a sub-group."""
    template, gangs = read.below("template"), []
    roles = [_serving_role(role, template) for role in template.items("roles")]
    topology, policy = (_topology(template, f"networkTopology.{of}Policy")
                        for of in ("group", "role"))
    for number in range(read.count("replicas")):
        gang = Gang([], f"{read.name}-{number}", 0, [], more={
            "network_topology": topology, "sub_group_policy": [
                api.SubGroupPolicySpec(name, policy, 1 + workers, least, api.LabelSelector({
                    "modelserving.volcano.sh/name": read.name,
                    "modelserving.volcano.sh/role": name}), ["modelserving.volcano.sh/role-id"])
                for name, _, least, workers, _ in roles]})
        for name, count, least, workers, templates in roles:
            for index in range(count):
                for role in _replica(gang.name, name, index, workers, templates):
                    if index < least:
                        gang.add(role, role.count, role.count)
                    else:
                        gang.roles.append(role)
        gangs.append(gang)
    return gangs


def _topology(part: Part, path: str) -> api.NetworkTopologySpec | None:
    """Return a network topology in the form of Volcano's PodGroup."""
    return part.read(api.NetworkTopologySpec, path) if isinstance(part.at(path), dict) else None


def _serving_role(role: Part, template: Part
                  ) -> tuple[str, int, int, int, list[api.PodTemplateSpec]]:
    """Return name, replicas, how many of them the gang needs, workers of each, and templates."""
    name, count = str(role.at("name", "")), role.count("replicas")
    workers = role.count("workerReplicas", 0) if role.at("workerTemplate") else 0
    least = template.below("gangPolicy.minRoleReplicas").count(name, count)
    return name, count, min(least, count), workers, [
        role.template(f"{kind}Template") for kind in ("entry", "worker")]


def _replica(group: str, name: str, index: int, workers: int,
             templates: list[api.PodTemplateSpec]) -> list[Role]:
    labels = {"modelserving.volcano.sh/group-name": group, "modelserving.volcano.sh/role": name,
              "modelserving.volcano.sh/role-id": f"{name}-{index}"}
    prefix = f"{group}-{name}-{index}-"
    entry, worker = templates
    roles = [Role(f"{name}-{index}", entry, 1, numbered(prefix), labels=labels)]
    if workers:
        roles.append(Role(f"{name}-{index}", worker, workers, numbered(prefix, 1), labels=labels))
    return roles
