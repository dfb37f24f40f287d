"""What only recorded seeds draw: configurations and objects with mistakes, or of which no invariant
can be stated. A difference in what is decided shows there, too.

Each function of `ODDITIES` changes a draft and returns the kinds of jobs that belong to it, as
those of `features.py` do.
"""

import json
from collections.abc import Callable
from typing import Any

from features import Draft
from kinds import job, task

from volcano_lab.framework.points.table import SWITCHES
from volcano_lab.simulation import JobTemplate

ARGUMENTS: dict[str, dict[str, list[Any]]] = {
    "binpack": {"binpack.weight": [-2, 3], "binpack.cpu": ["x", 4, -1], "binpack.memory": [0, 2.0],
                "binpack.resources": ["nvidia.com/gpu, a/x"],
                "binpack.resources.nvidia.com/gpu": [7, -1]},
    "overcommit": {"overcommit-factor": [0.5, 1, 1.6, "2"]},
    "nodeorder": {"leastrequested.weight": [0, 3], "mostrequested.weight": [2, "1"],
                  "nodeaffinity.weight": [0, 5], "podaffinity.weight": [1, -1],
                  "balancedresource.weight": [0, 2], "tainttoleration.weight": [1],
                  "podtopologyspread.weight": [0, 4]},
    "predicates": {"predicate.NodePortsEnable": [False, "no"], "predicate.CacheEnable": [True],
                   "predicate.PodAffinityEnable": [True, False],
                   "predicate.TaintTolerationEnable": [True, False],
                   "predicate.NodeAffinityEnable": [False, True]},
    "usage": {"thresholds": [{"cpu": "x", "disk": 4}, {"mem": 130}, 7], "usage.weight": [-1, 1]},
    "sla": {"sla-waiting-time": ["soon", "1m", 30]},
    "tdm": {"tdm.evict.period": ["soon", "3s"], "tdm.revocable-zone.rz": ["8:00", "23:00-00:01"]},
    "nodegroup": {"strict": [True, "x"]},
    "network-topology-aware": {"weight": [3, -1], "hypernode.binpack.cpu": [4],
                               "hypernode.binpack.normal-pod.fading": [0.3, -1],
                               "hypernode.binpack.normal-pod.enable": [False, True]},
    "rescheduling": {"interval": ["3s"], "metricsPeriod": ["1m", ""]},
    "task-topology": {"task-topology.weight": [2, "x"]},
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": [0, -4, 5],
        "resources": [{}, {"cpu": {"type": "Most"}, "a*b": {}, "nvidia.com/g*": {"weight": 3},
                           "memory": {"type": "MostAllocated", "weight": 0, "more": 1}}],
        "proportional": [{"enable": True, "resources": "nvidia.com/gpu", "resourceProportion": {
            "nvidia.com/gpu.cpu": 1, "nvidia.com/gpu.memory": 2}}, {"enable": False, "other": 1}]}}
"""Arguments of plugins, right and wrong ones."""


def arguments(draft: Draft) -> list[JobTemplate]:
    """Other arguments, some of which are refused with a warning, and entries twice."""
    for tier in draft.conf["tiers"]:
        for plugin in tier["plugins"]:
            for key, values in ARGUMENTS.get(plugin["name"], {}).items():
                if draft.random.random() < 0.6:
                    plugin.setdefault("arguments", {})[key] = draft.random.choice(values)
    draft.conf["configurations"] = [{"name": "preempt", "arguments": {
        "enableTopologyAwarePreemption": True, "minCandidateNodesPercentage": 50,
        "minCandidateNodesAbsolute": 2, "maxCandidateNodesAbsolute": draft.random.choice([3, -1])}}]
    return []


def switches(draft: Draft) -> list[JobTemplate]:
    """Plugins that do not answer at some extension points."""
    for tier in draft.conf["tiers"]:
        for plugin in tier["plugins"]:
            if draft.random.random() < 0.4:
                plugin[draft.random.choice(SWITCHES)] = False
            if plugin["name"] == "nodegroup":
                plugin["enableHierarchy"] = True
    return []


def wrong_claims(draft: Draft) -> list[JobTemplate]:
    """Pods whose claims are missing, lost, of no class, of another pod, or of another zone."""
    draft.add("StorageClass", "storage.k8s.io/v1", "modeless", provisioner="csi.example.com")
    draft.add("StorageClass", "storage.k8s.io/v1", "at-once", provisioner="x",
              volumeBindingMode="Immediate")
    draft.add("PersistentVolume", "v1", "far", {"topology.kubernetes.io/zone": "z1__z9"}, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
        "csi": {"driver": "csi.example.com", "volumeHandle": "far"}})
    for name, spec, phase in (("lost", {"volumeName": "gone"}, "Lost"),
                              ("modeless", {"storageClassName": "modeless"}, "Pending"),
                              ("at-once", {"storageClassName": "at-once"}, "Pending"),
                              ("bound-far", {"volumeName": "far", "storageClassName": ""}, "Bound"),
                              ("dangling", {"volumeName": "gone"}, "Bound")):
        draft.cluster.add(_claim(name, spec, phase))
    draft.node({"topology.kubernetes.io/zone": "z1"})
    draft.node({"topology.kubernetes.io/zone": "z2"})
    names = draft.random.sample(
        ["lost", "modeless", "at-once", "bound-far", "bound-far", "dangling", "missing"], 4)
    kinds = [job(f"claims-{name}", draft.queue, [task("a", 2, volumes=[
        {"name": "data", "persistentVolumeClaim": {"claimName": name}}])]) for name in names]
    return [*kinds, job("own-claim", draft.queue, [task("a", 1, volumes=[
        {"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])])]


def _claim(name: str, spec: dict[str, Any], phase: str) -> str:
    return json.dumps({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
            "name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}
            if phase == "Bound" else {}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                 **spec}, "status": {"phase": phase}})


def odd_nodes(draft: Draft) -> list[JobTemplate]:
    """Nodes with oversubscription, in a zone that no plugin knows, and without anything."""
    draft.node({"volcano.sh/revocable-zone": "unknown"})
    draft.node({}, annotations={"volcano.sh/oversubscription-cpu": "1500",
                                "volcano.sh/oversubscription-memory": "x"})
    draft.node({"size": "7"}, annotations={"volcano-lab/cpu-usage": "many"})
    draft.add("Node", "v1", "n98", spec={"unschedulable": True}, status={"allocatable": {}})
    return []


def odd_notes(draft: Draft) -> list[JobTemplate]:
    """Annotations with values that are not allowed, and others that few jobs have."""
    choice = draft.random.choice
    return [job("noted", draft.queue, [
        task("a", 2, least=1, notes={
            "volcano.sh/task-priority": choice(["x", "-5", "20"]),
            "volcano.sh/cooldown-time": choice(["soon", "7s"]),
            "volcano.sh/revocable-zone": choice(["rz", "*"]),
            "volcano.sh/resource-strategy-scoring-type": choice(["Least", "LeastAllocated"]),
            "volcano.sh/resource-strategy-weight": choice(["{", '{"cpu": -1}', '{"cpu": 2}'])}),
        task("b", 2, notes={"volcano.sh/preemptable": choice(["true", "maybe", "false"])})],
        notes={"volcano.sh/jdb-min-available": choice(["x", "50%", "200%"]),
               "volcano.sh/sla-waiting-time": choice(["5s", "never"]),
               "volcano.sh/preemptable": choice(["true", "false"])}),
        job("few", draft.queue, [task("a", 2)], least=3)]


def expressions(draft: Draft) -> list[JobTemplate]:
    """Rules about nodes and other pods, with all operators."""
    def nodes(*expressions: tuple[Any, ...], fields: tuple[Any, ...] = ()) -> dict[str, Any]:
        def listed(found: tuple[Any, ...]) -> list[dict[str, Any]]:
            return [{"key": key, "operator": operator, "values": values}
                    for key, operator, *values in found]

        return {"matchExpressions": listed(expressions), "matchFields": listed(fields)}

    def pods(key: str, **more: Any) -> dict[str, Any]:
        return {"topologyKey": key, "labelSelector": {"matchExpressions": [
            {"key": "kind", "operator": "In", "values": ["sized", "web", "named"]},
            {"key": "role", "operator": "DoesNotExist"}]}, **more}

    sized = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [nodes(("size", "Gt", "5")), nodes(("size", "Lt", "x")),
                              nodes(("zone", "NotIn", "z0"), ("rack", "DoesNotExist"))]}},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 40, "podAffinityTerm": pods("zone", namespaceSelector={})}]}}
    named = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [nodes(fields=(("metadata.name", "In", "n2"),)),
                              nodes(("zone", "Exists"), fields=(
                                  ("metadata.name", "NotIn", "n1"),))]}},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 7, "podAffinityTerm": pods("rack", namespaces=["default", "other"])}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            pods("rack", matchLabelKeys=["kind"])]}}
    tolerations = [{"key": "kept", "operator": "Equal", "value": "", "effect": "NoExecute",
                    "tolerationSeconds": 5}, {"operator": "Exists", "effect": "PreferNoSchedule"}]
    wide = [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
             "minDomains": 3, "matchLabelKeys": ["kind"], "nodeAffinityPolicy": "Ignore",
             "labelSelector": {"matchExpressions": [{"key": "kind", "operator": "Exists"}]}}]
    return [job("sized", draft.queue, [task("a", 2, affinity=sized)]),
            job("named", draft.queue, [task("a", 2, affinity=named, tolerations=tolerations)]),
            job("wide", draft.queue, [task("a", 3, topologySpreadConstraints=wide)])]


def odd_trees(draft: Draft) -> list[JobTemplate]:
    """A queue below one that has jobs, one with a guarantee of GPUs, and HyperNodes that do not
    make a tree, or match no name.
    """
    if draft.topology:
        def members(*found: tuple[str, str, Any]) -> dict[str, Any]:
            return {"tier": 1, "members": [{"type": kind, "selector": {how: match}}
                                           for kind, how, match in found]}

        spec = draft.random.choice([
            members(("Node", "regexMatch", {"pattern": r"^n\\d+$"})),
            members(("Node", "regexMatch", {"pattern": "("})),
            members(("HyperNode", "exactMatch", {"name": "odd"})),
            members(("HyperNode", "exactMatch", {"name": "r0"})),
            members(("Node", "regexMatch", {"pattern": "(?i)^N[[:digit:]]{1,2}$|^x.y"}))])
        draft.add("HyperNode", "topology.volcano.sh/v1alpha1", "odd", spec=spec)
    if draft.kind == "tree" and draft.random.random() < 0.4:
        draft.new_queue("below", parent=draft.random.choice(["dev", "below", "nowhere"]))
    few = {"cpu": "3", "nvidia.com/gpu": "2"}
    queue = draft.new_queue("precious", guarantee={"resource": few}, capability={
        "cpu": "9", "memory": "20Gi", "nvidia.com/gpu": "3"}, **(
            {"deserved": few} if draft.kind != "proportion" else {}))
    return [] if queue is None else [JobTemplate("precious", queue, pods=2, min_member=1, cpu=1,
                                                 gpu=1, run_time=("uniform", 10, 30))]


def often(draft: Draft) -> list[JobTemplate]:
    """Cycles that come seldom, so that hours end and intervals pass, and pods of each quality."""
    draft.period = 6.0
    nodes = [obj for obj in draft.cluster.objects() if obj.kind == "Node"]
    for node, percent in zip(nodes, (95, 5, 85), strict=False):
        draft.cluster.remove(node.name).add(node.changed(metadata={"annotations": {
            "volcano-lab/cpu-usage": str(percent), "volcano-lab/memory-usage": "10"}}))
    both = {"cpu": "500m", "memory": "1Gi"}
    return [job("best", draft.queue, [task("a", 2, resources={}), task("b", 1, resources={
        "requests": both, "limits": both})]), job("burst", draft.queue, [task("a", 2, resources={
            "requests": {"cpu": "500m"}, "limits": {"cpu": "2"}}, priorityClassName="low")])]


ODDITIES: list[Callable[[Draft], list[JobTemplate]]] = [
    arguments, switches, wrong_claims, odd_nodes, odd_notes, expressions, odd_trees, often]
