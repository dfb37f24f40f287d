"""Lesson 08: three nodes and a pod that is to be placed, with rules as they stand in a manifest,
and nodes that refuse.

The zones are *a* (node-1, node-2) and *b* (node-3). Pods of the jobs *web*, *db* and *cache* run on
the three nodes.
"""

from functools import cache
from typing import Any

import yaml

from volcano_lab.api.objects import Pod
from volcano_lab.cluster import Cluster
from volcano_lab.course.kit.questions import CLUSTERS, part
from volcano_lab.course.kit.scenery import cluster_from, cluster_of, conf_text
from volcano_lab.manifests import ManifestError, loader as manifests
from volcano_lab.manifests.job_controller import GROUP_NAME

POD = "default/new-0"
NODES = ("node-1", "node-2", "node-3")
CPUS = 4
ZONES = {"node-1": "a", "node-2": "a", "node-3": "b"}
DISKS = {"node-1": "ssd", "node-2": "hdd", "node-3": "ssd"}
RUNS = {"node-1": "web", "node-2": "db", "node-3": "cache"}
"""The job whose pods run on each node."""

LEAVING: str = part("08", CLUSTERS)["leaving"]
"""A pod of node-1 that is being deleted."""

HEAD = {"predicate": "predicates", "binpack": "binpack"}
"""How an argument begins -> the plugin that takes it; all others are nodeorder's."""


def conf_with(*scorers: str, actions: str = "enqueue, allocate", **arguments: Any) -> str:
    """A configuration with predicates and these plugins for scores (nodeorder); arguments have "_"
    for ".".

    >>> print(conf_with("nodeorder", "binpack", binpack_weight=2))
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: gang
    - plugins:
      - name: predicates
      - name: nodeorder
      - name: binpack
        arguments:
          binpack.weight: 2
    <BLANKLINE>
    """
    given: dict[str, dict[str, Any]] = {}
    for word, value in arguments.items():
        head, _, tail = word.partition("_")
        given.setdefault(HEAD.get(head, "nodeorder"), {})[f"{head}.{tail}"] = value
    return conf_text(actions, "gang", ", ".join(("predicates", *(scorers or ("nodeorder",)))),
                     arguments=given)


def placement_cluster(rules: str = "", *, cpu: int = 1, memory: str | None = "1Gi", pods: int = 1,
                      taint: bool = False, node_1: int = 3, node_2: int = 1, node_3: int = 2,
                      leaving: int = 0) -> Cluster:
    """Three nodes of 4 CPUs, of which `node_1` and so on are in use, and the job *new* that waits.

    `rules` are lines of the pods' spec, as in a manifest; `taint` (team=gpu:NoSchedule) is
    node-2's; `leaving` pods of node-1 are being deleted. Raises `ManifestError` for rules
    that can't be read.

    >>> placement_cluster("nodeSelector: {disk: hdd}").run(conf_with("binpack")).committed
    [['allocate', 'default/new-0', 'node-2']]
    """
    cluster = cluster_of("08", "tainted" if taint else "three")
    for number in range(min(leaving, node_1)):
        cluster.add(LEAVING.format(number))
    for name, used in zip(NODES, (node_1 - min(leaving, node_1), node_2, node_3), strict=True):
        if used:
            job = RUNS[name]
            cluster.job(job, pods=used, cpu=1, memory="1Gi", min_member=1, labels={"app": job},
                        running={name: used})
    requests = {"cpu": cpu or None, "memory": memory}
    return add_new(cluster, rules, pods, {name: str(amount) for name, amount in requests.items()
                                          if amount})


def add_new(cluster: Cluster, rules: str, pods: int, requests: dict[str, str]) -> Cluster:
    """The same cluster with the waiting job *new*: all its pods, or none."""
    cluster.job("new", pods=0, min_member=pods)
    spec = _read(rules)
    for number in range(pods):
        cluster.add(_pod(number, spec, requests))
    return cluster


@cache
def _read(rules: str) -> dict[str, Any]:
    try:
        spec = yaml.safe_load(rules) or {}
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise ManifestError("the pod's rules are no YAML: {said}", said=said) from None
    if not isinstance(spec, dict):
        raise ManifestError("the pod's rules are {rules}; allowed are lines of a pod's spec, such "
                            "as nodeSelector: {{disk: ssd}}", rules=repr(rules))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new-0"}, "spec": spec}
    unknown = manifests.loads(yaml.safe_dump(pod)).warnings
    if unknown:
        raise ManifestError(unknown)
    return spec


def _pod(number: int, spec: dict[str, Any], requests: dict[str, str]) -> Any:
    container = {"name": "main", "resources": {"requests": requests}}
    metadata = {"name": f"new-{number}", "namespace": "default", "labels": {"app": "new"},
                "annotations": {GROUP_NAME: "new"}}
    return manifests.from_dict(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
         "spec": {"schedulerName": "volcano", "containers": [container]} | spec}, strict=True)


# -- rules -----------------------------------------------------------------------------------------


def affinity(app: str, topology_key: str) -> str:
    """Lines of a pod's spec: only where a pod of this app is, in the sense of the key.

    >>> placement_cluster(affinity("cache", "zone")).run(conf_with()).committed[0][2]
    'node-3'
    """
    return _about_pods("podAffinity", app, topology_key)


def anti_affinity(app: str, topology_key: str) -> str:
    """Lines of a pod's spec: not where a pod of this app is, in the sense of the key.

    >>> placement_cluster(anti_affinity("web", "zone")).run(conf_with()).committed[0][2]
    'node-3'
    """
    return _about_pods("podAntiAffinity", app, topology_key)


def _about_pods(kind: str, app: str, topology_key: str) -> str:
    return (f"affinity:\n  {kind}:\n    requiredDuringSchedulingIgnoredDuringExecution:\n    - "
            f"topologyKey: {topology_key}\n      labelSelector: {{matchLabels: {{app: {app}}}}}\n")


def preference(weight: int) -> str:
    """Lines of a pod's spec: rather where disk is ssd, with a weight from 1 to 100.

    >>> [placement_cluster(preference(weight)).run(conf_with()).committed[0][2]
    ...  for weight in (1, 50)]
    ['node-2', 'node-3']
    """
    return ("affinity:\n  nodeAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n"
            f"    - weight: {weight}\n      preference:\n"
            "        matchExpressions: [{key: disk, operator: In, values: [ssd]}]\n")


# -- nine nodes, each of which refuses for a reason of its own -------------------------------------

FAULTS = {"1-small": "only 1 CPU", "2-pods": "takes 1 pod, and has one", "3-label": "disk: hdd",
          "4-cordon": "cordoned", "5-taint": "taint team=gpu:NoSchedule",
          "6-web": "a pod of web is here", "7-alone": "its pod wants no pod of new beside it",
          "8-port": "port 8080 is taken", "9-zone": "zone b has 2 pods of new, zone a none"}
"""Node -> what is wrong with it."""

NINE = part("08", CLUSTERS)["nine"]
DEMANDING = NINE["rules"]
"""What the pod asks for that none of the nodes can give."""


def faulty_cluster(*nodes: str) -> Cluster:
    """Nodes with a fault each (all nine), and the pod *new-0* with the rules of `DEMANDING`.

    >>> cycle = faulty_cluster("5-taint", "1-small").run(conf_with())
    >>> cycle.why("default/new")[0].partition("nodes are ")[2]
    'unavailable: 1 Insufficient cpu, 1 node(s) had untolerated taint {team: gpu}.'
    """
    cluster = Cluster(obj for obj in cluster_from(NINE) if not nodes or obj.name in nodes
                      or (isinstance(obj, Pod) and obj.spec.node_name in nodes))
    return add_new(cluster, DEMANDING, 1, {})
