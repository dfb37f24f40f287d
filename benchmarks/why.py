"""How long `why` takes on a large cluster: the cause of one job, of all jobs that wait, and what
would change it; with Volcano's default configuration, and with preempt and reclaim.

    benchmarks/why.py                     500 nodes, 5000 running pods, 300 waiting jobs
    benchmarks/why.py --shape rigid       gangs of ten that need all their pods; or: large, diverse,
                                          tree, pools, racks, volumes, branches
    benchmarks/why.py --nodes 50 --pods 500 --jobs 30

Times are processor time in seconds, as other work on the machine does not count; the objects are in
memory. Exit code 1 where a limit of the default size is passed.
"""

from __future__ import annotations

import argparse
import resource
import sys
from math import inf
from time import process_time

from volcano_lab.api.objects import (
    Affinity,
    KubernetesObject,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    WeightedPodAffinityTerm,
)
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.scheduler import Scheduler

PREEMPT_RECLAIM = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion},
            {name: nodeorder}]
"""
TREE = PREEMPT_RECLAIM.replace("name: proportion", "name: capacity, enableHierarchy: true")
BRANCHES = PREEMPT_RECLAIM.replace("name: drf", "name: drf, enableHierarchy: true").replace(
    "{name: proportion},", "")
CONFS = {"tree": TREE, "branches": BRANCHES}
STORAGE_CLASS = """
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local},
 provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
"""
CLAIM = """
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: default},
 spec: {accessModes: [ReadWriteOnce], storageClassName: local,
        resources: {requests: {storage: 50Gi}}}}
"""
VOLUME = """
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk-%s}, status: {phase: Available},
 spec: {capacity: {storage: 100Gi}, accessModes: [ReadWriteOnce], storageClassName: local,
        local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [
          {matchExpressions: [{key: name, operator: In, values: [%s]}]}]}}}}
"""
QUEUE = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: q{number}
  annotations:
    volcano.sh/hierarchy: root/b{branch}/q{number}
    volcano.sh/hierarchy-weights: 1/{branch}/{weight}
"""
LIMITS = {"cycle": inf, "cause": 1.0, "all": 3.0, "three": 5.0, "remedies": 15.0}
"""Processor seconds at the default size."""
SECONDS = 10.0
"""As long as the command looks for changes, by the clock: on a busy machine --seconds is longer."""
MEGABYTES = 300


def cluster(nodes: int, pods: int, jobs: int, shape: str) -> Cluster:
    """Nodes nearly full with running gangs of ten, and gangs that wait: of four pods; with all of
    their pods needed (rigid); of pods that no node has free (large).
    """
    built = _nodes(nodes)
    for number in range(4):
        built.queue(f"q{number}", weight=number + 1)
    each = nodes * 32 / pods
    for number in range(pods // 10):
        built.job(f"run-{number:04}", queue=f"q{number % 4}", pods=10,
                  running=_ten(number, nodes), min_member=10 if shape == "rigid" else 4,
                  cpu=round(each * 0.94, 1), memory="4Gi")
    for number in range(jobs):
        built.job(f"wait-{number:04}", queue=f"q{number % 4}", pods=10 if shape == "rigid" else 4,
                  cpu=24 if shape == "large" else 4, memory="8Gi")
    return built


def diverse(nodes: int, pods: int, jobs: int) -> Cluster:
    """Nodes nearly full with gangs of ten, some of which need all of their pods, and gangs that
    wait, no two of them alike.
    """
    built = _nodes(nodes)
    for number in range(4):
        built.queue(f"q{number}", weight=number + 1)
    for number in range(pods // 10):
        built.job(f"run-{number:04}", queue=f"q{number % 4}", pods=10,
                  running=_ten(number, nodes), min_member=10 if number % 3 else 4,
                  cpu=2 + number % 3 * 0.9, memory=f"{3 + number % 5}Gi")
    for number in range(jobs):
        built.job(f"wait-{number:04}", queue=f"q{number % 4}", pods=6 + number % 7,
                  min_member=6 + number % 3, cpu=round(3 + number % 50 * 0.1, 1),
                  memory=f"{4 + number % 11}Gi")
    return built


def tree(nodes: int, pods: int, jobs: int) -> Cluster:
    """Thirty queues below six parents, for capacity with a hierarchy."""
    built, leaves = _nodes(nodes), []
    for number in range(6):
        built.queue(f"p{number}", parent="root", deserved={
            "cpu": str(nodes * 32 // 6), "memory": f"{nodes * 20}Gi"})
        for leaf in range(5):
            leaves.append(f"p{number}-{leaf}")
            built.queue(leaves[-1], parent=f"p{number}", deserved={
                "cpu": str(nodes * 32 // 30), "memory": f"{nodes * 4}Gi"})
    for number in range(pods // 10):
        built.job(f"run-{number:04}", queue=leaves[number**2 % 17], pods=10,
                  running=_ten(number, nodes), min_member=10 if number % 2 else 3, cpu=3,
                  memory="4Gi")
    for number in range(jobs):
        built.job(f"wait-{number:04}", queue=leaves[number % 30], pods=5 + number % 6,
                  min_member=5, cpu=3 + number % 3, memory="6Gi")
    return built


def pools(nodes: int, pods: int, jobs: int) -> Cluster:
    """Nodes in seven pools, of which each pod selects one, and queues that hold more than they
    deserve; half of the pods prefer the zone of those like them.
    """
    built = _nodes(nodes)
    for number in range(5):
        built.queue(f"q{number}", weight=number + 1)
    for number in range(pods // 5):
        built.job(f"run-{number:04}", queue=f"q{number % 5}", pods=5, min_member=1, cpu=3,
                  memory="4Gi", labels={"app": f"a{number % 40}"},
                  running={f"n{(number * 5 + place) % nodes:04}": 1 for place in range(5)})
    for number in range(jobs):
        built.job(f"wait-{number:04}", queue=f"q{number % 5}", pods=4, min_member=3,
                  cpu=4 + number % 5, memory=f"{4 + number % 7}Gi",
                  labels={"app": f"a{number % 40}"})
    return Cluster([*map(_with_rules, built.objects())])


def _with_rules(obj: KubernetesObject) -> KubernetesObject:
    if not isinstance(obj, Pod):
        return obj
    app = obj.metadata.labels["app"]
    number = int(app[1:])
    term = PodAffinityTerm(LabelSelector({"app": app}), topology_key="zone")
    like = WeightedPodAffinityTerm(50, term)
    return obj.changed(spec={
        "node_selector": {"pool": f"p{number % 7}"},
        "affinity": Affinity(pod_affinity=PodAffinity([], [like])) if number % 2 else None})


def racks(nodes: int, pods: int, jobs: int) -> Cluster:
    """Gangs of which each pod that waits keeps off a rack of its own by node affinity."""
    built, number = [], 0
    for obj in cluster(nodes, pods, jobs, "gangs").objects():
        if isinstance(obj, Pod) and not obj.spec.node_name:
            number += 1
            off = NodeSelectorRequirement("rack", "NotIn", [f"r{number % 50}", f"x{number}"])
            terms = NodeSelector([NodeSelectorTerm([off])])
            obj = obj.changed(spec={"affinity": Affinity(NodeAffinity(terms))})
        built.append(obj)
    return Cluster(built)


def volumes(nodes: int, pods: int, jobs: int) -> Cluster:
    """Gangs whose waiting pods claim the local volumes that each node has."""
    built, more = [], [STORAGE_CLASS]
    for obj in cluster(nodes, pods, jobs, "gangs").objects():
        if isinstance(obj, Pod) and not obj.spec.node_name:
            more.append(CLAIM % obj.name)
            obj = obj.changed(spec={"volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": obj.name}}]})
        if obj.kind == "Node":
            more.append(VOLUME % (obj.name, obj.name))
        built.append(obj)
    return Cluster(built).add("---".join(more))


def branches(nodes: int, pods: int, jobs: int) -> Cluster:
    """Thirty queues below five branches, for drf with a hierarchy."""
    built = _nodes(nodes)
    for number in range(30):
        built.add(QUEUE.format(number=number, branch=number // 6, weight=number % 6 + 1))
    for number in range(pods // 10):
        built.job(f"run-{number:04}", queue=f"q{number**2 % 17}", pods=10, cpu=3, memory="4Gi",
                  running=_ten(number, nodes), min_member=10 if number % 2 else 3)
    for number in range(jobs):
        built.job(f"wait-{number:04}", queue=f"q{number % 30}", pods=5 + number % 6,
                  min_member=5, cpu=3 + number % 3, memory="6Gi")
    return built


def _nodes(count: int) -> Cluster:
    built = Cluster()
    for number in range(count):
        built.node(f"n{number:04}", cpu=32, memory="128Gi",
                   labels={"pool": f"p{number % 7}", "zone": f"z{number % 5}",
                           "rack": f"r{number % 50}", "name": f"n{number:04}"})
    return built


def _ten(number: int, nodes: int) -> dict[str, int]:
    """One pod on each of ten nodes."""
    return {f"n{(number * 10 + place) % nodes:04}": 1 for place in range(10)}


def measure(objects: list, conf: str | None, job: str, patience: float) -> dict[str, float]:
    """Seconds of each question, and of the cycle alone."""
    mark = process_time()
    Scheduler(Cache(objects), conf).run_once()
    seconds = {"cycle": process_time() - mark}
    mark = process_time()
    explain = Explainer(objects, conf, about=job)
    found = explain.why(job)
    seconds["cause"] = process_time() - mark
    mark = process_time()
    every = Explainer(objects, conf, about=None)
    groups = every.waiting()
    seconds["all"] = process_time() - mark
    mark = process_time()
    remedies = found.remedies_within(patience)
    found = []
    for remedy in remedies:
        found.append(remedy)
        if len(found) == 3:
            seconds["three"] = process_time() - mark
    seconds["remedies"] = process_time() - mark
    shown = ", ".join(f"{group.code} {len(group.jobs)}" for group in groups)
    print(f"  jobs wait: {shown}; {len(explain.trace.records)} records of {job}, "
          f"{len(every.trace.records)} of all")
    for remedy in found:
        print(f"  {remedy}")
    return seconds


OWN = {"diverse": diverse, "tree": tree, "pools": pools, "racks": racks, "volumes": volumes,
       "branches": branches}
"""Shapes with queues and jobs of their own."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("nodes", 500), ("pods", 5000), ("jobs", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--shape", choices=("gangs", "rigid", "large", *OWN),
                        default="gangs")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    sizes = options.nodes, options.pods, options.jobs
    own = OWN.get(options.shape)
    objects = (own(*sizes) if own else cluster(*sizes, options.shape)).objects()
    passed, evicts = False, CONFS.get(options.shape, PREEMPT_RECLAIM)
    for name, conf in (("default", None), ("preempt and reclaim", evicts)):
        print(name)
        for what, seconds in measure(objects, conf, f"wait-{options.jobs - 1:04}",
                                     options.seconds).items():
            over = seconds > LIMITS[what]
            passed = passed or over
            print(f"  {what:10} {seconds:6.2f} s of {LIMITS[what]:g}{'  PASSED' if over else ''}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory {peak:.0f} MB of {MEGABYTES}")
    return int(passed or peak > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
