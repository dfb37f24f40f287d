"""A run as a file, and back: everything that what happens next depends on.

Left out: the last session, and what actions keep of arguments that a configuration no longer has.
"""

import json
from collections import deque
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs

from volcano_lab.api import TaskInfo
from volcano_lab.api.objects import KubernetesObject
from volcano_lab.cache import dump
from volcano_lab.cache.api_server import WatchEvent
from volcano_lab.cache.dump import DumpError
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.framework import BindContext, Observer
from volcano_lab.manifests import loader as manifests
from volcano_lab.manifests.loader import ManifestError
from volcano_lab.messages import friendly_errors, one_line
from volcano_lab.simulation.cluster_side import JobRun, Latencies
from volcano_lab.simulation.faults import Faults
from volcano_lab.simulation.history import History
from volcano_lab.simulation.simulation import Simulation
from volcano_lab.simulation.workload import Arrivals, JobTemplate, Spread

FORM = "volcano-lab simulation 2"
GIVEN = ("conf", "seed", "period", "workload", "node_failures", "faults")
"""What a simulation is made with, besides the latencies, and keeps under the same name."""
KEPT = {"made", "cycles", "crashes", "orphan_binds", "surprises", "calendar.done", "server.version",
        "server._created", "server.objects", "side.jobs", "side.seen", "side.first_node",
        "side.lost_nodes", "wire.under_way", "wire.ready_at", "wire.number", "scheduler.cycles",
        "informer.known", "informer.gone", "pipeline.channel", "pipeline.in_flight",
        "pipeline.evictions", "pipeline.errors", "pipeline.deleted_jobs", "pipeline.batch",
        "pipeline.batches", "pipeline.status.events", "pipeline.status.last_seen"}
"""What changes while it runs."""
CLASSES = {cls.__name__: cls for cls in (Arrivals, BindContext, Faults, JobRun, JobTemplate,
                                         Latencies, Spread, WatchEvent, WorkQueue)}
BUILT_IN = {cls.__name__: cls for cls in (deque, dict, set, tuple)}


@friendly_errors
def save(sim: Simulation, path: str | Path) -> None:
    """Write a run as JSON; the file is there whole, or not at all."""
    sim.history.set_jobs(sim.side.jobs)
    state = state_of(sim)
    dump.write(path, state | {"digest": _digest(state)})


@friendly_errors
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
    given = {name: _plain(getattr(sim, name)) for name in GIVEN}
    return {"form": FORM, "run": given | {"latencies": _plain(sim.side.latencies)},
            "ticks": sim.calendar.env.now, "number": sim.calendar.number,
            "entries": sim.calendar.as_list(), "history": sim.history.rows,
            "random": {name: random.getstate() for name, random in sim.random.items()},
            "cache": dump.dump(sim.cache, sim.conf, memory=sim.scheduler.memory),
            "kept": {name: _plain(attrgetter(name)(sim)) for name in sorted(KEPT)}}


def simulation_of(data: dict[str, Any], observer: Observer | None = None,
                  check: bool = False) -> Simulation:
    """A run from what `state_of` gave."""
    given = {name: _whole(value) for name, value in data["run"].items()}
    sim = Simulation((), **given, observer=observer, check=check, ticks=data["ticks"],
                     number=data["number"])
    sim.history = sim.side.history = History(data["history"])
    for name, (version, state, gauss) in data["random"].items():
        sim.random[name].setstate((version, tuple(state), gauss))
    sim._connect(dump.load(data["cache"]))
    sim.scheduler.memory = data["cache"]["memory"]
    for name in KEPT:
        owner, _, field = name.rpartition(".")
        setattr(attrgetter(owner)(sim) if owner else sim, field, _whole(data["kept"][name]))
    sim.calendar.restore(data["entries"])
    return sim


def _plain(value: Any) -> Any:
    """A value as plain data: what JSON does not tell apart is a mapping of its class to its parts.

    >>> _plain({("Pod", "a"): deque([1])}), _whole(_plain({("Pod", "a"): deque([1])}))
    ({'dict': [[{'tuple': ['Pod', 'a']}, {'deque': [1]}]]}, {('Pod', 'a'): deque([1])})
    """
    name = type(value).__name__
    if isinstance(value, KubernetesObject):
        return {"object": manifests.to_dict(value)}
    if isinstance(value, TaskInfo):
        return {"TaskInfo": [_plain(value.pod), value.node_name]}
    if name in CLASSES:
        return {name: {field.alias: _plain(getattr(value, field.name))
                       for field in attrs.fields(type(value))}}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    parts = sorted(value) if isinstance(value, set) else value
    return {name: [_plain(each) for each in parts]} if name in BUILT_IN else value


def _whole(data: Any) -> Any:
    if isinstance(data, list):
        return [_whole(each) for each in data]
    if not isinstance(data, dict):
        return data
    (name, inner), = data.items()
    if name == "object":
        return manifests.from_dict(inner)
    if name == "TaskInfo":
        task = TaskInfo(_whole(inner[0]))
        task.node_name = inner[1]
        return task
    if name in CLASSES:
        return CLASSES[name](**{word: _whole(part) for word, part in inner.items()})
    return BUILT_IN[name](_whole(inner))
