"""Spark's driver and executors, and Flink's managers: pods with sizes instead of a template.

Spark operator and Spark: the driver is created first, and creates its executors when it runs;
minResources of the PodGroup count both, so that a driver does not start without resources for them.
Memory is written as the JVM does (`512m` is 512Mi); minResources read it as a quantity, as the
operator does. Flink: the operator creates a Deployment of the JobManager, which creates the
TaskManagers.
"""

import re
from collections.abc import Iterable
from typing import Any

from volcano_lab.api import quantity
from volcano_lab.api.objects import Deployment, WorkloadSpec
from volcano_lab.api.pod_sum import Amounts, add, parsed
from volcano_lab.manifests.job_controller import amounts_text
from volcano_lab.manifests.operators.model import Created, Gang, Reading, Role, at, items, numbered

_JVM = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
_UNITS = {"": 2**20, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST_OVERHEAD = 384 * 2**20
POD_FIELDS = ("nodeSelector", "tolerations", "affinity", "priorityClassName", "hostNetwork",
              "initContainers", "schedulerName")


def jvm_bytes(text: Any, default: int = 0) -> int:
    """Return the bytes of an amount in the JVM's notation; without a unit, of MiB.

    >>> jvm_bytes("512m"), jvm_bytes("1g"), jvm_bytes("2")
    (536870912, 1073741824, 2097152)
    """
    found = _JVM.fullmatch(str(text)) if text is not None else None
    return int(float(found[1]) * _UNITS[found[2].lower()]) if found else default


def _quantity(text: Any) -> str | None:
    """Return text that is a quantity, or None."""
    try:
        quantity.check(str(text))
    except quantity.QuantityError:
        return None
    return str(text)


# -- Spark -------------------------------------------------------------------------------------

def spark(read: Reading) -> list[Gang]:
    """Return the driver, and the executors that it creates; in client mode only these."""
    dynamic = read.below("dynamicAllocation")
    asked = read.count("executor.instances", 0 if dynamic.at("enabled") else 2)
    if dynamic.at("enabled"):
        asked = max(asked, dynamic.count("initialExecutors", 0), dynamic.count("minExecutors", 0))
    client = read.at("mode") == "client"
    roles = [] if client else [_spark_role(read, "driver", 1, [f"{read.name}-driver"])]
    roles.append(_spark_role(read, "executor", asked, numbered(f"{read.name}-exec-", 1),
                             later=not client))
    minimum = read.below("batchSchedulerOptions").amounts("resources") or _reserved(read, roles)
    return [Gang(roles, f"spark-{read.name}-pg", 1, minimum=minimum)]


def _spark_role(read: Reading, part: str, count: int, names: Iterable[str],
                later: bool = False) -> Role:
    spec, factor = read.at(part, {}), read.at("memoryOverheadFactor")
    share = 0.4 if read.at("type") in ("Python", "R") else 0.1
    share = float(factor) if _JVM.fullmatch(str(factor)) else share
    memory = jvm_bytes(spec.get("memory"), 2**30)
    overhead = (jvm_bytes(spec["memoryOverhead"]) if spec.get("memoryOverhead") is not None
                else max(int(memory * share), LEAST_OVERHEAD))
    amounts = {"memory": str(memory + overhead)}
    limits = dict(amounts)
    if _quantity(spec.get("coreLimit")):
        limits["cpu"] = str(spec["coreLimit"])
    if at(spec, "gpu.name"):
        limits[spec["gpu"]["name"]] = amounts[spec["gpu"]["name"]] = str(at(spec, "gpu.quantity",
                                                                           1))
    amounts["cpu"] = _quantity(spec.get("coreRequest")) or str(at(spec, "cores", 1))
    own = at(spec, "template.spec", {})
    main, *others = items(own, "containers") or [{}]
    container = {**main, "name": f"spark-kubernetes-{part}",
                 "resources": {"requests": amounts, "limits": limits},
                 "ports": spec.get("ports") or main.get("ports") or []}
    pod = {**own, **{field: spec[field] for field in POD_FIELDS if field in spec},
           "containers": [container, *others, *items(spec, "sidecars")],
           "volumes": read.at("volumes", [])}
    pod.setdefault("nodeSelector", read.at("nodeSelector", {}))
    metadata = at(spec, "template.metadata", {})
    template = {"spec": pod, "metadata": {
        kind: {**at(metadata, kind, {}), **at(spec, kind, {})}
        for kind in ("labels", "annotations")}}
    return Role(part, read.template(part, template), count, names, later, {"spark-role": part})


def _reserved(read: Reading, roles: list[Role]) -> dict[str, str]:
    """Return minResources as the operator sums them: cores of the driver, coreRequest of the
    executors, memory only if it is a quantity.
    """
    total: Amounts = {}
    for role in roles:
        spec = read.at(role.name, {})
        asked = () if role.name == "driver" else (spec.get("coreRequest"),)
        cores = next(filter(None, map(_quantity, (*asked, spec.get("cores"),
                                                  spec.get("coreLimit")))), None)
        amounts = {"cpu": [cores], "memory": [_quantity(spec.get("memory"))]}
        if amounts["memory"][0]:
            amounts["memory"].append(_quantity(spec.get("memoryOverhead")))
        for name, texts in amounts.items():
            for text in filter(None, texts):
                add(total, parsed({name: text}), role.count)
    return amounts_text(total, {})


# -- Flink -------------------------------------------------------------------------------------

def flink(read: Reading) -> Created:
    """Return a Deployment of the JobManager; its TaskManagers follow from the job's parallelism."""
    slots = read.at("flinkConfiguration", {}).get("taskmanager.numberOfTaskSlots", 1)
    slots = int(slots) if str(slots).isdecimal() and int(slots) else 1
    parallel = read.count("job.parallelism", 1 if "job" in read.data else 0)
    created = Created()
    for part, count in (("jobManager", read.count("jobManager.replicas")), (
            "taskManager", read.count("taskManager.replicas", -(-parallel // slots)))):
        template = read.template(f"{part}.podTemplate", _flink_template(read, part))
        labels = {**template.metadata.labels, "app": read.name, "type": "flink-native-kubernetes",
                  "component": part.lower()}
        template = template.evolve(metadata=template.metadata.evolve(labels=labels))
        name = read.name if part == "jobManager" else f"{read.name}-taskmanager"
        metadata = read.obj.owned(name, {"annotations": read.obj.metadata.annotations})
        if count:
            created.objects.append(Deployment(metadata, WorkloadSpec(count, template=template)))
    return created


def _flink_template(read: Reading, part: str) -> dict[str, Any]:
    both = merged(read.at("podTemplate", {}), read.at(f"{part}.podTemplate", {}))
    size = read.at(f"{part}.resource", {})
    amounts = {"cpu": str(size.get("cpu", 1)), "memory": str(jvm_bytes(size.get("memory"), 2**30))}
    main = {"name": "flink-main-container", "resources": {"requests": amounts, "limits": amounts}}
    return merged(both, {"spec": {"containers": [main]}})


def merged(first: Any, second: Any) -> Any:
    """Return two manifests merged; parts of lists with the same name are merged.

    >>> merged({"a": 1, "c": [{"name": "x"}]}, {"b": 2, "c": [{"name": "x", "y": 3}]})
    {'a': 1, 'c': [{'name': 'x', 'y': 3}], 'b': 2}
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: merged(first.get(key), value) for key, value in second.items()}}
    if isinstance(first, list) and isinstance(second, list):
        named = {each.get("name"): each for each in second if isinstance(each, dict)}
        known = [each.get("name") for each in first if isinstance(each, dict)]
        return [merged(each, named.get(each.get("name"))) if isinstance(each, dict) else each
                for each in first] + [each for name, each in named.items() if name not in known]
    return first if second is None else second
