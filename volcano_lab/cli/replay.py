"""Replaying recorded cases: a cluster and a configuration in, the decisions of one cycle out, as
plain data.

The form is that of the conformance cases, so that the lab's decisions can be compared with
Volcano's.
"""

import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from errno import EFBIG, EINVAL
from functools import partial
from pathlib import Path
from typing import IO, Any

from volcano_lab.api.resource import MAX_FLOAT, Resource
from volcano_lab.cache import Cache
from volcano_lab.cli import DONE, FOUND, Mistake
from volcano_lab.cli.output import warn
from volcano_lab.framework import Action, ConfError, Observer, PriorityQueue, Session
from volcano_lab.manifests import Reader, Unreadable, found_text, loader as manifests, with_defaults
from volcano_lab.manifests.files import MOST_BYTES, is_descriptor
from volcano_lab.messages import Message, mark
from volcano_lab.scheduler import Scheduler, phases_of
from volcano_lab.simulation.life import Life, LifeError, recorded_changes
from volcano_lab.trace.plain import camel
from volcano_lab.trace.state import queue_attributes, queue_order, result_of

QUEUE_ATTRIBUTES = ("deserved", "allocated", "request", "elastic", "inqueue", "capability",
                    "real_capability", "guarantee")
Recorded = tuple[Life, dict[str, Any], dict[str, Any]]
"""A life, and the case and the row of its next, undecided cycle."""


def read_cases(path: str | Path) -> Iterator[dict[str, Any]]:
    """Return the cases of a `.jsonl` or `.jsonl.gz` file or of the input ("-"), one per line.

    Raises:
        OSError: The file cannot be read, or a line has more than `MOST_BYTES`.
        ValueError: A line is no JSON object.
    """
    with _opened(path) as lines:
        for line in iter(partial(lines.readline, MOST_BYTES + 1), ""):
            if len(line) > MOST_BYTES:
                raise OSError(EFBIG, str(Message("replay.line", most=MOST_BYTES)), str(path))
            if line.strip():
                if not isinstance(case := json.loads(line), dict):
                    raise ValueError(line)
                yield case


def _opened(path: str | Path) -> AbstractContextManager[IO[str]]:
    if path == "-":
        return nullcontext(sys.stdin)
    path = Path(path)
    if path.exists() and not path.is_file() and not is_descriptor(path):
        raise OSError(EINVAL, str(Message("file.no_regular")), str(path))
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(
        encoding="utf-8")


def replay(case: dict[str, Any], arrays: bool = True,
           actions: dict[str, Action] | None = None) -> dict[str, Any]:
    """Return the decisions of one cycle on a case, or {"confError": ...} if the configuration is
    refused.

    `arrays`: filter and score all nodes at once where the plugins can, or always node by node.
    `actions`: the same dict for all cases of a file that one process of Volcano decided one after
    the other: its actions keep arguments that a later configuration leaves out.
    """
    head = {"name": case.get("name", ""), "family": case.get("family", "")}
    try:
        scheduler = Scheduler(load_cache(case), case.get("conf"), actions)
    except ConfError as error:
        return {**head, "confError": str(error)}
    record = CycleRecord()
    scheduler.run_once(record, arrays)
    return {**head, **record.decisions}


def time_case(case: dict[str, Any]) -> dict[str, Any]:
    """Return seconds by phase of one cycle on a case, and the number of pods by final status."""
    scheduler = Scheduler(load_cache(case), case.get("conf"))
    ssn = scheduler.run_once()
    statuses = Counter(str(task.status) for job in ssn.jobs.values() for task in job.tasks.values())
    return {"name": case.get("name", ""), "times": scheduler.times,
            "statuses": dict(sorted(statuses.items()))}


def load_cache(case: dict[str, Any]) -> Cache:
    """Return a cache with a case's objects, added in order. Raises `ManifestError`."""
    if not isinstance(objects := case.get("objects"), list):
        raise manifests.ManifestError("replay.objects", found=found_text(objects))
    return Cache(map(manifests.from_dict, objects))


def replay_lives(recorded: Iterable[Recorded]) -> Iterator[dict[str, Any]]:
    """Yield the decisions of each cycle of recorded lives.

    Raises:
        LifeError: A change is wrong.
        ConfError: A configuration is refused.

    >>> case = {"name": "c0", "conf": "actions: allocate", "objects": []}
    >>> life = {"name": "c0", "reset": True, "events": []}
    >>> [row["close"] for row in replay_lives(lives([case], [life]))]
    [{}]
    """
    for life, case, row in recorded:
        record = CycleRecord()
        life.decide(row["events"], case.get("conf"), record)
        head: dict[str, Any] = {word: case[word] for word in ("name", "family") if word in case}
        yield {**head, **record.decisions}


def lives(cases: Iterable[dict[str, Any]], rows: Iterable[dict[str, Any]]) -> Iterator[Recorded]:
    """Yield the cycles of recorded lives.

    Args:
        cases: The state before each cycle; of a life the first is used, and of all `conf`.
        rows: The changes before each: `name`, `reset` where a life begins, and `events`.

    Raises `LifeError` where a case and a row do not match.
    """
    life: Life | None = None
    for case, row in zip(cases, rows, strict=False):
        if row.get("reset") and row.get("name") == case["name"]:
            life = Life(map(manifests.from_dict, case["objects"]), case.get("conf"))
        if row.get("name") != case["name"] or life is None:
            raise LifeError("replay.case", case=case["name"], name=row.get("name"))
        yield life, case, row


def recording(path: str, life: Life) -> Iterator[Recorded]:
    """Yield the cycles of `kubectl get -w --output-watch-events -o json`, which go on from a life.

    Raises `Unreadable`.
    """
    for _, text in Reader().texts(path):
        if isinstance(text, Unreadable):
            raise text
        for number, changes in enumerate(recorded_changes(text), 1):
            yield life, {"name": f"cycle-{number}"}, {"events": changes}


@contextmanager
def life_mistakes(events: str | None, cases: str | None) -> Iterator[None]:
    """Raise errors in recorded cases, or lives, as a `Mistake`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (LifeError, ConfError, Unreadable, manifests.ManifestError) as error:
        raise Mistake(f"{events or cases}{mark(': ')}{error}") from None
    except (OSError, EOFError, zlib.error) as error:
        name = getattr(error, "filename", None) or cases
        raise Mistake("replay.unreadable", name=name,
                      reason=getattr(error, "strerror", None) or error) from None
    except (KeyError, TypeError, ValueError, RecursionError):
        raise Mistake(
            "replay.no_cases" if events is None else "replay.no_changes", cases=cases,
            events=events) from None


def replay_file(cases: str | None, timing: bool = False, life: str | None = None) -> int:
    """Print the decisions on each case of a file or each cycle of a life, and report how many
    raised; 1 if one did. Raises `Mistake`.
    """
    failed, count = 0, 0
    with life_mistakes(life, cases):
        if life is not None:
            rows = replay_lives(recording(life, Life(with_defaults([]))) if cases is None
                                else lives(read_cases(cases), read_cases(life)))
        elif cases is not None:
            rows = replay_all(cases, timing)
        else:
            raise Mistake("replay.none")
        for row in rows:
            failed, count = failed + ("error" in row), count + 1
            sys.stdout.write(json.dumps(row, separators=(",", ":")) + "\n")
    if not count:
        warn([Message("replay.empty", file=life or cases)])
    if failed:
        warn([Message("replay.raised", failed=failed)])
    return FOUND if failed else DONE


def replay_all(path: str | Path, timing: bool) -> Iterator[dict[str, Any]]:
    """Yield the decisions on every case of a file, or with `timing` their time. A case that raises
    has a row, too.
    """
    actions: dict[str, Action] = {}
    for case in read_cases(path):
        try:
            yield time_case(case) if timing else replay(case, actions=actions)
        except Exception as error:  # the run continues; the row has the error
            yield {"name": case.get("name", ""), "family": case.get("family", ""),
                   "error": f"{type(error).__name__}: {error}"}


class CycleRecord(Observer):
    """Records the state of a cycle after it opens, after each action, and after it closes; the
    cycle itself runs as without an observer.
    """

    watching = watches_attempts = False

    def __init__(self) -> None:
        self.decisions: dict[str, Any] = {"open": {}, "steps": [], "close": {}}
        self._committed = self._undone = 0

    def opened(self, ssn: Session) -> None:
        self.decisions["open"] = {"tasks": tasks_of(ssn), "podgroups": phases_of(ssn),
                                  "queues": queues_of(ssn), "queueOrder": queue_order(ssn),
                                  "jobOrder": job_order(ssn), **shares_of(ssn)}
        proportion: Any = ssn.plugins.get("proportion")
        if proportion is not None and proportion.rounds:
            self.decisions["open"]["rounds"] = [
                {"deserved": {q: resource(r) for q, r in round_.deserved.items()},
                 "remaining": resource(round_.remaining)} for round_ in proportion.rounds]

    def action_ended(self, ssn: Session, action: str) -> None:
        self.decisions["steps"].append(
            {"action": action, "tasks": tasks_of(ssn), "podgroups": phases_of(ssn),
             "queues": queues_of(ssn), **shares_of(ssn),
             "nodes": {name: {k: resource(getattr(node, k))
                              for k in ("idle", "used", "releasing", "pipelined")}
                       for name, node in ssn.nodes.items()},
             "committed": ssn.committed[self._committed:], "undone": ssn.undone - self._undone})
        self._committed, self._undone = len(ssn.committed), ssn.undone

    def closed(self, ssn: Session) -> None:
        self.decisions["close"] = {uid: {**result_of(job), "running": job.pod_group.status.running}
                                   for uid, job in ssn.jobs.items()}


def resource(value: Resource) -> dict[str, float | str]:
    """Return a resource in the form of the cases."""
    return {name: "max" if amount == MAX_FLOAT else amount for name, amount in value}


def tasks_of(ssn: Session) -> dict[str, list[str]]:
    """Return the status and the node of each task."""
    return {task.key: [str(task.status), task.node_name] for job in ssn.jobs.values()
            for task in job.tasks.values()}


def queues_of(ssn: Session) -> dict[str, dict[str, Any]]:
    """Return each queue's attributes of the proportion or the capacity plugin."""
    return {name: {"share": attr.share, **camel({field: resource(getattr(attr, field))
                                                 for field in QUEUE_ATTRIBUTES})}
            for name, attr in sorted(queue_attributes(ssn).items())}


def shares_of(ssn: Session) -> dict[str, dict[str, float]]:
    """Return {"jobShares": each job's dominant share} if drf is on, else nothing."""
    drf: Any = ssn.plugins.get("drf")
    return {"jobShares": {uid: attr.share for uid, attr in drf.job_attrs.items()}} if drf else {}


def job_order(ssn: Session) -> dict[str, list[str]]:
    """Return each queue's jobs, as the session's job order pops them."""
    jobs: dict[str, PriorityQueue] = {}
    for job in ssn.jobs.values():
        jobs.setdefault(job.queue, PriorityQueue(ssn.job_order)).push(job)
    return {queue: [job.uid for job in heap.drain()] for queue, heap in sorted(jobs.items())}
