"""A cache as plain data, and back: all that a cycle needs to repeat its decisions.

Differs on purpose: Volcano writes the internals of a snapshot for people to read; here the objects
are written as manifests, in the order that matters, with the cache's own state: tasks being bound
or evicted, the HyperNodes allocated to jobs, the PodGroup that a job had, and resources that it
once held (a queue's status lists them with 0).

Volcano: pkg/scheduler/cache/dumper.go
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from volcano_lab.api import JobInfo, Resource, TaskInfo
from volcano_lab.api.node_usage import NO_USAGE, NodeUsage
from volcano_lab.api.objects import KubernetesObject, Pod
from volcano_lab.api.status import RELEASING, TaskStatus
from volcano_lab.cache.cache import Cache
from volcano_lab.manifests import ManifestError, Reader, Unreadable, found_text, loader as manifests
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import Message, OneSentence, gettext, mark, one_line

FORM = "volcano-lab cache 1"
MOST_BYTES = 1 << 29
_FIELDS: dict[str, tuple[Any, str]] = {
    "conf": (str | None, "the text of a configuration, or null"),
    "now": (int | float | None, "a number of seconds, or null"),
    **dict.fromkeys(("memory", "tasks", "jobs", "usage"), (dict, "a mapping")),
    **dict.fromkeys(("objects", "goneNodes"), (list, "a list"))}


class DumpError(OneSentence, ValueError):
    """A file is no dump of a cache."""


def dump(cache: Cache, conf: str | None = None, now: float | None = None,
         memory: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a cache's state as plain data.

    It may include `conf`, the text of a configuration (None: Volcano's default), `now`, the time of
    the next cycle in seconds since the epoch, and `memory`, the plugins' state between cycles.

    >>> dump(Cache())["objects"]
    []
    """
    beyond = {uid: _beyond_objects(job) for uid, job in sorted(cache.jobs.items())}
    return {"form": FORM, "conf": conf, "now": now, "memory": memory or {},
            "objects": [to_dict(obj) for obj in objects_of(cache)],
            "tasks": dict(_moved(cache)),
            "jobs": {uid: found for uid, found in beyond.items() if found},
            "goneNodes": sorted(name for name, node in cache.deleted_nodes.items() if node.tasks),
            "usage": {name: attrs.asdict(node.resource_usage)
                      for name, node in cache.nodes.items() if node.resource_usage != NO_USAGE}}


def load(data: dict[str, Any]) -> Cache:
    """Return a cache from the data of `dump`.

    Raises:
        DumpError: The data is no dump, or a damaged one.
        ManifestError: An object in it cannot be read.

    >>> from volcano_lab.api.objects import ObjectMeta, Queue
    >>> sorted(load(dump(Cache([Queue(ObjectMeta("team"))]))).queues)
    ['team']
    """
    if not isinstance(data, dict) or data.get("form") != FORM:
        found = data.get("form") if isinstance(data, dict) else type(data).__name__
        raise DumpError(one_line(str(Message("dump.form", found=repr(found), form=FORM))))
    for name, (kinds, allowed) in _FIELDS.items():
        if not isinstance(data.get(name, ...), kinds):
            found = found_text(data[name]) if name in data else gettext("missing")
            raise DumpError("dump.damaged", name=name, found=found, allowed=gettext(allowed))
    try:
        return _loaded(data)
    except (ManifestError, DumpError):
        raise
    except Exception as error:  # a damaged file may cause any error
        raise DumpError(
            one_line(str(Message("dump.failed", name=type(error).__name__, error=error)))) from None


def _loaded(data: dict[str, Any]) -> Cache:
    cache = Cache()
    for document in data["objects"]:
        obj = manifests.from_dict(document)
        moved = data["tasks"].get(obj.key)
        if moved is None or not isinstance(obj, Pod):
            cache.add(obj)
            continue
        task = cache.new_task(obj)
        task.status, task.node_name = TaskStatus[moved["status"].upper()], moved["node"]
        cache.pods[obj.key] = obj
        cache.add_task(task)
    for name in data["goneNodes"]:
        if name in cache.nodes:
            cache.deleted_nodes[name] = cache.nodes.pop(name)
    for name, usage in data["usage"].items():
        cpu, memory = ({period: float(percent) for period, percent in usage[kind].items()}
                       for kind in ("cpu", "memory"))
        cache.nodes[name].resource_usage = NodeUsage(float(usage["metrics_time"]), cpu, memory)
    for uid, found in data["jobs"].items():
        _take_over(cache.jobs.setdefault(uid, JobInfo(uid)), found)
    return cache


def write(path: str | Path, data: dict[str, Any], replace: bool = True) -> Path:
    """Write plain data as JSON, readable by its owner only; the file is written atomically.

    Without `replace`, an existing file is kept, and the new one gets a number: its path is
    returned.
    """
    path = Path(path)
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    taken: Path | None = None
    handle, draft = tempfile.mkstemp(".part", f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        if not replace:
            path = taken = _reserved(path)
        os.replace(draft, path)
    except BaseException:
        for left in (Path(draft), taken):
            if left is not None:
                left.unlink(missing_ok=True)
        raise
    return path


def _reserved(path: Path) -> Path:
    """Create an empty file under the first free name."""
    name, number = path, 0
    while True:
        try:
            name.touch(0o600, exist_ok=False)
            return name
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")


def read(path: str | Path) -> Any:
    """Return the data of `write`. Raises `DumpError` where the file is unreadable or not JSON."""
    try:
        if Path(path).is_dir():
            raise Unreadable("is a folder; allowed is a file")
        return json.loads(Reader(MOST_BYTES).text(Path(path)))
    except RecursionError:
        raise DumpError("dump.nested", path=path) from None
    except Unreadable as error:
        raise DumpError(one_line(f"{path}{mark(': ')}{error}")) from None
    except ValueError as error:
        raise DumpError(one_line(str(Message("dump.no_json", path=path, error=error)))) from None


def objects_of(cache: Cache) -> Iterator[KubernetesObject]:
    """Return the cache's objects, in the order that matters."""
    yield from cache.priority_classes.values()
    yield from cache.namespaces.values()
    yield from cache.resource_quotas.values()
    yield from cache.pod_disruption_budgets.values()
    yield from cache.storage
    yield from (queue.queue for queue in cache.queues.values())
    yield from (cache.nodes[name].node for name in cache.node_list)
    yield from cache.hyper_nodes.objects()
    yield from (job.pod_group for _, job in sorted(cache.jobs.items()) if job.pod_group is not None)
    yield from cache.pods.values()


def settled(cache: Cache, now: float) -> Iterator[KubernetesObject]:
    """Return the objects with sessions' decisions applied to pods: one being bound has its node,
    one being evicted is being deleted.

    >>> from volcano_lab.cluster import Cluster
    >>> from volcano_lab.scheduler import Scheduler
    >>> cache = Cluster().node("n1", cpu=4).job("a", cpu=1).cache()
    >>> _ = Scheduler(cache).run_once()
    >>> [obj.spec.node_name for obj in settled(cache, 0.0) if obj.kind == "Pod"]
    ['n1']
    """
    moved = dict(_moved(cache))
    for obj in objects_of(cache):
        found = moved.get(obj.key) if obj.kind == "Pod" else None
        if found is not None:
            deleted = now if found["status"] == str(RELEASING) else obj.metadata.deletion_timestamp
            obj = obj.changed(spec={"node_name": found["node"]},
                              metadata={"deletion_timestamp": deleted})
        yield obj


def _moved(cache: Cache) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield tasks whose status or node differs from their pod's."""
    for key, pod in cache.pods.items():
        task, plain = cache.task_of(pod), TaskInfo(pod)
        if task is not None and (task.status, task.node_name) != (plain.status, plain.node_name):
            yield key, {"status": str(task.status), "node": task.node_name}


def _beyond_objects(job: JobInfo) -> dict[str, Any]:
    """Return a job's state that its PodGroup and pods lack; without empty entries."""
    sub_jobs = {uid: sub_job.allocated_hyper_node
                for uid, sub_job in job.sub_jobs.items() if sub_job.allocated_hyper_node}
    found = {"hyperNode": job.allocated_hyper_node, "subJobs": sub_jobs,
             "podGroup": job.pg_uid if job.pod_group is None else "",
             "allocated": _zeros(job.allocated), "totalRequest": _zeros(job.total_request)}
    return {name: value for name, value in found.items() if value}


def _take_over(job: JobInfo, found: dict[str, Any]) -> None:
    """Apply the result of `_beyond_objects`."""
    job.allocated_hyper_node = found.get("hyperNode", "")
    for sub_job, hyper_node in found.get("subJobs", {}).items():
        if sub_job in job.sub_jobs:
            job.sub_jobs[sub_job].allocated_hyper_node = hyper_node
    job.pg_uid = found.get("podGroup", job.pg_uid)
    job.allocated = job.allocated + Resource(scalars=dict.fromkeys(found.get("allocated", ()), 0.0))
    job.total_request = job.total_request + Resource(
        scalars=dict.fromkeys(found.get("totalRequest", ()), 0.0))


def _zeros(resource: Resource) -> list[str]:
    return sorted(name for name, amount in (resource.scalars or {}).items() if amount == 0)
