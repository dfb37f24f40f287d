"""Requests: what of a pod's is overhead, or of which container, which of its resources no node has,
and what its author may have meant; what a job still needs.

Volcano: none
"""

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher
from itertools import chain, product
from typing import Any

from volcano_lab.api import ATTACHABLE, JobInfo, Resource, total
from volcano_lab.api.objects import Pod
from volcano_lab.api.task import TaskInfo, pod_resource_request
from volcano_lab.changes.job_fields import at_path
from volcano_lab.explain.evidence import Evidence, unplaced
from volcano_lab.explain.explanation import Amounts, over, part
from volcano_lab.manifests import SCHEDULER, OperatorObject, field_defaults
from volcano_lab.messages import Message, meant
from volcano_lab.trace import amounts

VENDOR = re.compile(r"[^/]+/|hugepages-")
"""How devices of one vendor, and huge pages, begin."""
PART = re.compile(r"[-.]?percentage$")  # of a device: no amount of another resource
BEYOND = 8
"""How many times larger than the largest node a request is a slip of the keyboard."""
OTHER_SCHEDULER = re.compile(r"(?<!kube-)(?<!volcano-)scheduler")
OWN_TEXT = {"volcano.sh/vgpu-memory-percentage": "part"}  # which no node announces
SIZES = {"memory": ("memory",), "cpu": ("coreRequest", "cores")}
"""Fields by which an operator sizes the pods of a role, without a template."""


def not_announced(seen: Evidence, names: Collection[str], task: TaskInfo) -> Iterator[Message]:
    """Yield that CPUs may be meant in thousandths; which of some resources of a pod no node has
    at all, and the nearest name; and the nodes that have other devices of the vendor instead.
    """
    there = amounts(seen.ssn.total_resource)
    cpus = task.init_resreq.get("cpu") * ("cpu" in names)
    if in_milli(cpus, seen.largest_nodes.get("cpu", 0.0)):
        yield Message("unit.milli", asked=f"{cpus / 1000:g}")
    absent: dict[str, list[str]] = {}
    for name in names:
        close = announced(name, [each for each, amount in there.items() if amount and each != name])
        nodes = [node for node in seen.ssn.nodes.values() if close and not (
            node.allocatable.get(name)) and node.allocatable.get(close)]
        amount = {close: sum(node.allocatable.get(close) for node in nodes)}
        if there.get(name) and nodes:
            yield Message("resource.instead", resource=name, amount=amount, n=len(nodes),
                          nodes=[node.name for node in nodes])
        elif not there.get(name):
            absent.setdefault(close, []).append(name)
        elif without := _without(seen, name, task):
            yield Message("resource.without", resource=name, n=len(without), nodes=without)
    for close, lacking in absent.items():
        code = "beside" if task.init_resreq.get(close) else "near"
        code = code if close else OWN_TEXT.get(lacking[0], "unknown")
        yield Message(f"resource.{code}", resources=lacking, near=close,
                      amount={close: there.get(close, 0.0)},
                      schedulers=_other_schedulers(seen) or None)


def _other_schedulers(seen: Evidence) -> list[str]:
    """The schedulers that pods name beside Volcano's and that of Kubernetes, and those that run
    as pods.
    """
    pods = [task.pod for node in seen.ssn.nodes.values() for task in node.tasks.values()]
    names = [pod.spec.scheduler_name for pod in (*pods, *seen.elsewhere.values())]
    names += [pod.key for pod in pods if OTHER_SCHEDULER.search(pod.name)]
    return sorted({*names} - {"", SCHEDULER, "default-scheduler"})


def _without(seen: Evidence, name: str, task: TaskInfo) -> list[str]:
    """The nodes that have the other devices which a pod requests, and nothing of this one."""
    others = [each for each, amount in task.init_resreq
              if amount and each != name and VENDOR.match(each)]
    return [node.name for node in seen.ssn.nodes.values() if VENDOR.match(name) and others
            and not node.allocatable.get(name) and all(map(node.allocatable.get, others))]


def at_first(seen: Evidence, task: TaskInfo, names: Iterable[str]) -> Iterator[Message]:
    """Yield what of the request for some resources is overhead, or that of a LimitRange, what
    each of several containers requests, and that the init containers request this much.
    """
    spec, filled = task.pod.spec, task.pod.metadata.annotations.get(field_defaults.LIMIT_RANGER, "")
    if any(name in each for name in names for each in filled.split(";")
           if "request" in each.split()):
        yield Message("limit_range", namespace=task.namespace, filled=filled)
    for kind, field, given in sized_by(seen, task, "memory") if "memory" in names else ():
        yield Message("operator_adds", kind=kind, given=given, field=field)
    if overhead := over(part(amounts(Resource.from_list(spec.overhead)), names), {}):
        yield Message("overhead", overhead=overhead)
    sidecars = [each for each in spec.init_containers if each.restart_policy == "Always"]
    own = {each.name: part(amounts(Resource.from_list(each.resources.requests)), names)
           for each in (*spec.containers, *sidecars)}
    several = [Message("container", name=name, amount=amount)
               for name, amount in own.items() if any(amount.values())]
    if len(several) > 1:
        yield Message("containers", parts=several)
    if later := after_init([task], names):
        deciding = deciding_init(task.pod, later)
        yield Message("init_containers", later=later, names=deciding, n=len(deciding))
    for name in filter(re.compile(ATTACHABLE).match, names):
        yield Message("attachable", resource=name, driver=name.removeprefix(ATTACHABLE),
                      most=part(seen.largest_nodes, [name]))


def not_packed(seen: Evidence, names: Iterable[str]) -> Message | None:
    """Return that binpack does not count devices of which no node has enough left."""
    binpack: Any = seen.ssn.plugins.get("binpack")
    off = [] if binpack is None else [
        name for name in names if "/" in name and not binpack.resources.get(name)]
    return Message("not_packed", resources=off) if off else None


def sized_by(seen: Evidence, task: TaskInfo, resource: str) -> Iterator[tuple[str, str, str]]:
    """Yield by which field its owner sizes a pod of this role: (kind, field, value); to memory
    its operator adds overhead.
    """
    owners = {(ref.kind, ref.name) for ref in (
        seen.ssn.jobs[task.job].pod_group.metadata.owner_references)}
    for obj in seen.given:
        if isinstance(obj, OperatorObject) and obj.namespace == task.namespace and (
                obj.kind, obj.name) in owners:
            for role, name in product(task.pod.metadata.labels.values(), SIZES.get(resource, ())):
                if given := at_path(obj.spec, [role, name]):
                    yield obj.kind, f"spec.{role}.{name}", str(given)


def deciding_init(pod: Pod, names: Iterable[str]) -> list[str]:
    """Return the init containers of which each alone, with the sidecars, requests as much of some
    resource as the whole pod.
    """
    inits, whole = pod.spec.init_containers, pod_resource_request(pod)
    alone = {own.name: pod_resource_request(pod.changed(spec={"init_containers": [
        each for each in inits if each is own or each.restart_policy == "Always"]}))
        for own in inits if own.restart_policy != "Always"}
    return [own for own, amount in alone.items()
            if any(amount.get(name) == whole.get(name) for name in names)]


def after_init(tasks: Iterable[TaskInfo], names: Iterable[str]) -> Amounts:
    """Return what pods would request without the init containers that end, of the resources in
    which that is less.
    """
    pods = [task.pod for task in tasks if task.pod.spec.init_containers]
    now, later = (amounts(total(map(pod_resource_request, some))) for some in (pods, [
        pod.changed(spec={"init_containers": [each for each in pod.spec.init_containers
                                              if each.restart_policy == "Always"]})
        for pod in pods]))
    return part(later, over(part(now, names), later))


def announced(resource: str, there: Iterable[str]) -> str:
    """The resource of nodes that the name of one is meant to be: a slip of the pen, or the most
    similar other of its vendor, of equal ones the first; "" without one.

    >>> announced("nvidia.com/gpu", ["cpu", "nvidia.com/mig-1g.5gb"])
    'nvidia.com/mig-1g.5gb'
    >>> announced("nvidia.com/mig-1g.5gb", ["nvidia.com/gpu", "nvidia.com/mig-2g.10gb"])
    'nvidia.com/mig-2g.10gb'
    >>> announced("nvidia.com/gpumem-percentage", ["nvidia.com/gpu", "nvidia.com/gpumem"])
    'nvidia.com/gpu'
    """
    if stem := PART.search(resource) and PART.sub("", resource):  # then only the device itself
        there = [each for each in there if stem.startswith(each) and each != stem]
    vendor = VENDOR.match(resource)
    kin = [each for each in there if vendor and each.startswith(vendor[0])]
    return meant(resource, there) or max(
        kin, key=lambda each: SequenceMatcher(None, resource, each).ratio(), default="")


def in_milli(asked: float, largest: float) -> bool:
    """Return whether a request for CPU, in internal units, is one in thousandths that lacks its
    unit: larger than any node is likely to be, and in thousandths not larger than one that is
    there.

    >>> in_milli(500_000.0, 16_000.0), in_milli(24_000.0, 16_000.0)
    (True, False)
    """
    return asked > BEYOND * largest and 100 <= asked / 1000 <= largest


def still_needed(job: JobInfo, most: int | None = None) -> Resource:
    """Return what the job's pods without a node request; of `most`, the largest by CPU."""
    return total(sorted((task.resreq for task in unplaced(job)),
                        key=lambda size: -size.get("cpu"))[:most])


def rest_of(job: JobInfo) -> tuple[int, str]:
    """Return how many pods a job waits for: of its "gang" until that starts, or of all its "pods".
    """
    waiting = len(unplaced(job))
    if job.min_available < 2 or job.is_ready():
        return waiting, "pods"
    return min(job.min_available - len(job.tasks) + waiting, waiting), "gang"


def member(job: JobInfo) -> Amounts:
    """Return a member's part of a job's minResources."""
    return {name: amount / max(job.min_available, 1)
            for name, amount in amounts(job.get_min_resources()).items()}


def by_all(request: Amounts, lacking: dict[str, list[str]]) -> list[str]:
    """Return the resources that all nodes lack.

    >>> by_all({"cpu": 1.0, "memory": 1.0}, {"n1": ["cpu"], "n2": ["cpu", "memory"]})
    ['cpu']
    """
    return [name for name in request if all(name in short for short in lacking.values())]


def with_devices(request: Amounts, lacking: dict[str, list[str]], inside: list[Message]
                 ) -> tuple[dict[str, list[str]], list[Message]]:
    """Return of nodes that all lack something those that have the devices for a pod, and that these
    are meant; all where none has, or where they do not all lack the same.
    """
    devices, some = _having(request, lacking)
    if not (devices and some and by_all(request, lacking)) or len(some) == len(lacking):
        return lacking, inside
    return some, [*(each for each in inside if each.code != "inside.devices"),
                  Message("inside.free", devices=devices)]


def stranded(request: Amounts, left: dict[str, Amounts], lacking: dict[str, list[str]]
             ) -> Iterator[Message]:
    """Yield the devices that nodes have left for a pod and do not use, as they lack others."""
    devices, some = _having(request, lacking)
    if devices and some:
        yield Message("nodes.stranded", n=len(some), nodes=[*some], lacks=sorted({*chain(
            *some.values())}), free={each: sum(left[name][each] for name in some)
                                     for each in devices})


def _having(request: Amounts, lacking: dict[str, list[str]]
            ) -> tuple[list[str], dict[str, list[str]]]:
    """(The devices that a pod requests, what the nodes lack that have these.)"""
    devices = [name for name, amount in request.items() if "/" in name and amount]
    return devices, {name: short for name, short in lacking.items()
                     if {*devices}.isdisjoint(short)}
