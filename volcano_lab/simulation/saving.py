"""A run as a file, and back: everything that what happens next depends on.

Left out: the last session, and what actions keep of arguments that a configuration no longer has.
"""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs

from volcano_lab.api.task import TaskInfo
from volcano_lab.cache import dump
from volcano_lab.cache.api_server import WatchEvent
from volcano_lab.cache.dump import DumpError
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.framework.calls import spoken
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.one_sentence import one_line
from volcano_lab.framework.session import BindContext
from volcano_lab.manifests import loader as manifests
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.simulation.cluster_side import JobRun, Latencies
from volcano_lab.simulation.faults import Faults
from volcano_lab.simulation.history import History
from volcano_lab.simulation.simulation import Simulation
from volcano_lab.simulation.workload import Arrivals, JobTemplate

FORM = "volcano-lab simulation 1"
SERVER = ("version", "_created")


@spoken
def save(sim: Simulation, path: str | Path) -> None:
    """Write a run as JSON; the file is there whole, or not at all."""
    sim.history.set_jobs(sim.side.jobs)
    state = state_of(sim)
    dump.write(path, state | {"digest": _digest(state)})


@spoken
def load(path: str | Path, observer: Observer | None = None, check: bool = False) -> Simulation:
    """The run in a file, at the moment it was written. Raises `DumpError`, `ManifestError`."""
    data = dump.read(path)
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise DumpError(f'{path}: is no saved run; allowed is a file that begins with "{FORM}"')
    if data.pop("digest", "") not in ("", _digest(data)):
        raise DumpError(f"{path}: is damaged; allowed is a file as it was saved")
    try:
        return simulation_of(data, observer, check)
    except (DumpError, ManifestError):
        raise
    except Exception as error:  # nobody can list what a damaged file may say
        raise DumpError(one_line(f"{path}: is damaged ({type(error).__name__}: {error})")) from None


def _digest(state: dict[str, Any]) -> str:
    return sha256(json.dumps(state).encode("utf-8", "replace")).hexdigest()


def state_of(sim: Simulation) -> dict[str, Any]:
    """A run as plain data."""
    side, wire, pipeline = sim.side, sim.wire, sim.pipeline
    failures, calendar, to_dict = sim.node_failures, sim.calendar, manifests.to_dict
    return {
        "form": FORM, "run": {"conf": sim.conf, "seed": sim.seed, "period": sim.period},
        "workload": [attrs.asdict(arrivals) for arrivals in sim.workload],
        "nodeFailures": None if failures is None else [attrs.asdict(value) for value in failures],
        "latencies": attrs.asdict(side.latencies), "faults": attrs.asdict(sim.faults),
        "ticks": calendar.env.now, "entries": calendar.as_list(),
        "number": calendar.number, "done": calendar.done,
        "random": {name: random.getstate() for name, random in sim.random.items()},
        "made": sim.made, "cycles": sim.cycles, "crashes": sim.crashes,
        "orphanBinds": list(sim.orphan_binds.items()), "surprises": sorted(sim.surprises),
        "server": {"kinds": list(sim.server.objects),
                   "objects": [to_dict(obj) for obj in sim.server.everything()],
                   **{name: getattr(sim.server, name) for name in SERVER}},
        "side": {"jobs": {uid: attrs.asdict(run) for uid, run in side.jobs.items()},
                 "seen": side.seen, "firstNode": side.first_node,
                 "lostNodes": [to_dict(node) for node in side.lost_nodes.values()]},
        "wire": {"underWay": [[number, event.type, to_dict(event.object)]
                              for number, event in wire.under_way.items()],
                 "readyAt": wire.ready_at, "number": wire.number},
        "cache": dump.dump(sim.cache, sim.conf, memory=sim.scheduler.memory),
        "scheduler": {"cycles": sim.scheduler.cycles},
        "informer": {"known": [to_dict(obj) for obj in sim.informer.known.values()],
                     "gone": [[*place, version] for place, version in sim.informer.gone.items()]},
        "pipeline": {
            "channel": list(map(_context, pipeline.channel)),
            "inFlight": [[number, list(map(_context, contexts))]
                         for number, contexts in pipeline.in_flight.items()],
            "evictions": [[_task(task), reason] for task, reason in pipeline.evictions],
            "errors": pipeline.errors.as_dict(), "deletedJobs": pipeline.deleted_jobs.as_dict(),
            "events": [[*event, count] for event, count in pipeline.status.events.items()],
            "lastSeen": [[*event, time] for event, time in pipeline.status.last_seen.items()],
            "batch": pipeline.batch, "batches": pipeline.batches},
        "history": sim.history.rows,
    }


def simulation_of(data: dict[str, Any], observer: Observer | None = None,
                  check: bool = False) -> Simulation:
    """A run from what `state_of` gave."""
    workload = [Arrivals(**each | {"templates": [JobTemplate(**t) for t in each["templates"]]})
                for each in data["workload"]]
    faults = Faults(**data["faults"] | {"struck": Counter(data["faults"]["struck"])})
    sim = Simulation((), **data["run"], workload=workload, latencies=Latencies(**data["latencies"]),
                     node_failures=data["nodeFailures"], faults=faults,
                     observer=observer, check=check, ticks=data["ticks"], number=data["number"])
    sim.history = sim.side.history = History(data["history"])
    sim.made, sim.cycles, sim.crashes = data["made"], data["cycles"], data["crashes"]
    sim.orphan_binds, sim.surprises = dict(data["orphanBinds"]), set(data["surprises"])
    for name, (version, state, gauss) in data["random"].items():
        sim.random[name].setstate((version, tuple(state), gauss))
    _restore_cluster(sim, data)
    _restore_scheduler(sim, data)
    sim.calendar.restore(data["entries"])
    sim.calendar.done = data["done"]
    return sim


def _restore_cluster(sim: Simulation, data: dict[str, Any]) -> None:
    sim.server.objects = {kind: {} for kind in data["server"]["kinds"]}
    for document in data["server"]["objects"]:
        obj = manifests.from_dict(document)
        sim.server.objects[obj.kind][obj.key] = obj
    for name in SERVER:
        setattr(sim.server, name, data["server"][name])
    side = data["side"]
    sim.side.jobs = {uid: JobRun(**run | {"template": run["template"]
                                          and JobTemplate(**run["template"])})
                     for uid, run in side["jobs"].items()}
    sim.side.seen, sim.side.first_node = side["seen"], side["firstNode"]
    sim.side.lost_nodes = {node.name: node for node in map(manifests.from_dict, side["lostNodes"])}
    wire = data["wire"]
    sim.wire.under_way = {number: WatchEvent(type_, manifests.from_dict(obj))
                          for number, type_, obj in wire["underWay"]}
    sim.wire.ready_at, sim.wire.number = wire["readyAt"], wire["number"]


def _restore_scheduler(sim: Simulation, data: dict[str, Any]) -> None:
    sim._connect(dump.load(data["cache"]))
    sim.scheduler.cycles = data["scheduler"]["cycles"]
    sim.scheduler.memory = data["cache"]["memory"]
    sim.informer.known = {(obj.kind, obj.key): obj
                          for obj in map(manifests.from_dict, data["informer"]["known"])}
    sim.informer.gone = {(kind, key): version for kind, key, version in data["informer"]["gone"]}
    pipeline, saved = sim.pipeline, data["pipeline"]
    pipeline.channel.extend(map(_context_of, saved["channel"]))
    pipeline.in_flight = {number: list(map(_context_of, contexts))
                          for number, contexts in saved["inFlight"]}
    pipeline.evictions.extend((_task_of(task), reason) for task, reason in saved["evictions"])
    pipeline.errors = WorkQueue.from_dict(saved["errors"])
    pipeline.deleted_jobs = WorkQueue.from_dict(saved["deletedJobs"])
    pipeline.status.events = {tuple(event): count for *event, count in saved["events"]}
    pipeline.status.last_seen = {tuple(event): time for *event, time in saved["lastSeen"]}
    pipeline.batch, pipeline.batches = saved["batch"], saved["batches"]


def _context(context: BindContext) -> dict[str, Any]:
    return _task(context.task) | {"extensions": context.extensions}


def _context_of(data: dict[str, Any]) -> BindContext:
    return BindContext(_task_of(data), data["extensions"])


def _task(task: TaskInfo) -> dict[str, Any]:
    return {"pod": manifests.to_dict(task.pod), "node": task.node_name}


def _task_of(data: dict[str, Any]) -> TaskInfo:
    task = TaskInfo(manifests.from_dict(data["pod"]))
    task.node_name = data["node"]
    return task
