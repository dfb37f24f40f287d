"""What seeds of the soak decide, cycle by cycle, compared with what was recorded of them.

A seed decides the same in each run, on each machine and each Python. `decisions.jsonl.gz` has a
digest of each object in each cycle: what each action left of tasks, jobs, queues and nodes, what
was written, what the cache then has, and what plugins answer to further questions. A difference
names the seed, the cycle and the first object that differs, those an action left before those that
follow from it. It is a bug, or a decision that was changed on purpose: `soak.py --record` stores
all of them again. No sentence of the lab's own is in it, only Volcano's reasons and conditions.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from zlib import crc32

from attrs import Factory, define
from questions import Questions, plain

from volcano_lab.cache import dump
from volcano_lab.cli.replay import CycleRecord
from volcano_lab.framework import Session
from volcano_lab.scheduler import Scheduler

HERE = Path(__file__).parent
DECIDED, ANSWERED = HERE / "decisions.jsonl.gz", HERE / "answered.jsonl.gz"
AGAIN = 5
"""Of so many cycles one is decided again, node by node, on a copy of the cache."""
Facts = dict[str, Any]
"""A cycle's facts by the object that they are about, those first that others follow from."""
Digests = dict[str, str]
Hear = Callable[[int, Facts], None]


class Witness(CycleRecord):
    """Hears of each cycle, and passes on its number and facts."""

    def __init__(self, hear: Hear):
        super().__init__()
        self.hear, self.number = hear, 1

    def opened(self, ssn: Session) -> None:
        super().__init__()
        super().opened(ssn)
        self.before = dump.dump(ssn.cache) if self.number % AGAIN == 0 else None
        self.memory = deepcopy(ssn.memory)

    def closed(self, ssn: Session) -> None:
        super().closed(ssn)
        self.hear(self.number, dict(self.facts(ssn)))
        self.number += 1

    def facts(self, ssn: Session) -> Iterator[tuple[str, Any]]:
        """Yield the objects, each with what is known of it, those of the opening first."""
        known: Facts = {}
        for step in (self.decisions["open"], *self.decisions["steps"]):
            found = dict(_parts(step))
            yield from ((f"{step.get('action', 'open')} {name}", value)
                        for name, value in found.items() if known.get(name) != value)
            known |= found
        yield from _parts({"close": self.decisions["close"]})
        cached = dump.dump(ssn.cache)
        for obj in cached.pop("objects"):
            name = obj["metadata"]
            yield f"cache {obj['kind']} {name.get('namespace', '')}/{name['name']}", obj
        yield from _parts({"cache": cached, "memory": ssn.memory})
        yield "warnings", ssn.warnings
        yield "events", {" ".join(key): count for key, count in
                         ssn.cache.pipeline.status.events.items()}
        if self.before is not None:
            again = CycleRecord()
            scheduler = Scheduler(dump.load(self.before), ssn.conf)
            scheduler.memory = self.memory
            scheduler.run_once(again, arrays=False, now=ssn.now)
            yield from _parts({"again": again.decisions})
        yield from Questions(ssn, self.number).answers().items()


def _parts(found: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the objects of each kind, or the kind where it lists none by name."""
    for kind, facts in found.items():
        if isinstance(facts, dict):
            yield from ((f"{kind} {name}", each) for name, each in facts.items())
        else:
            yield kind, facts


def digest(value: Any) -> str:
    """Return four letters that another value hardly has.

    >>> digest({"a": 1.0}) == digest({"a": 1 + 1e-13}) != digest({"a": 2})
    True
    """
    return f"{crc32(json.dumps(plain(value), sort_keys=True).encode()) & 0xffff:04x}"


@define
class Recorder:
    """What a run decides: of each cycle only what differs from the one before it."""

    rows: list[Digests] = Factory(list)
    last: Digests = Factory(dict)

    def hear(self, number: int, facts: Facts) -> None:
        found = {name: digest(value) for name, value in facts.items()}
        gone = dict.fromkeys(self.last.keys() - found.keys(), "")
        self.rows.append({name: value for name, value in sorted((gone | found).items())
                          if self.last.get(name) != value})
        self.last = found


class Differs(Exception):
    """A decision is not what was recorded of it."""


@define
class Comparison:
    """Compares a run with what was recorded of it. Raises `Differs`."""

    seed: int
    rows: list[Digests]
    known: Digests = Factory(dict)

    def hear(self, number: int, facts: Facts) -> None:
        if number >= len(self.rows):
            return
        self.known.update(self.rows[number])
        left = {name for name, value in self.known.items() if value}
        for name, value in facts.items():
            if self.known.get(name, "") != digest(value):
                was = "otherwise" if name in left else "nothing"
                raise Differs(f"seed {self.seed}, cycle {number}: of {name!r} {was} is recorded; "
                              f"it is {json.dumps(plain(value))[:300]}")
        if missing := sorted(left - facts.keys()):
            raise Differs(f"seed {self.seed}, cycle {number}: {missing[0]!r} is recorded, and is "
                          "not decided")


def record(file: Path, seeds: Iterable[int], run: Callable[[int, Hear], None]) -> None:
    """Store what each seed decides; `run` runs one and passes on each cycle's number and facts."""
    with gzip.GzipFile(file, "wb", mtime=0) as lines:
        for seed in seeds:
            run(seed, (recorder := Recorder()).hear)
            row = {"seed": seed, "cycles": recorder.rows}
            lines.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def recorded(file: Path) -> dict[int, list[Digests]]:
    """Return what was recorded of each seed."""
    with gzip.open(file, "rt") as lines:
        return {row["seed"]: row["cycles"] for row in map(json.loads, lines)}


def difference(seed: int, rows: list[Digests], run: Callable[[int, Hear], None]) -> str:
    """Return the first difference between what a seed decides and what was recorded, "" for none.
    """
    try:
        run(seed, Comparison(seed, rows).hear)
    except Differs as found:
        return str(found)
    return ""
