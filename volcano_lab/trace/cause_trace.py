"""A trace of what explanations read, in a fraction of a whole trace's time and records.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from volcano_lab.framework import ExtensionPoint, Session
from volcano_lab.trace.names import Names
from volcano_lab.trace.plain import plain
from volcano_lab.trace.record import Record
from volcano_lab.trace.recorder import Trace
from volcano_lab.trace.state import Change, Seen, State

READ = {"job_enqueueable", "job_valid", "overused", "allocatable", "predicate", "preemptive",
        "preemptable", "reclaimable"}
"""The extension points whose calls explanations read; the others are about order."""
POINTS = {"reclaim": "reclaimable", "preempt": "preemptable"}
"""Action -> the extension point that names victims."""


class _Late(Record):
    """A record whose facts are made plain when they are first read, one by one by name: most
    searches are never read, and explanations read states.
    """

    __slots__ = ("_live", "_convert")

    def __init__(self, number: int, action: str, kind: str, names: tuple[str, ...],
                 live: tuple[Any, ...], convert: Callable[[int, str, Any], Any]):
        self.number, self.action, self.kind, self.names = number, action, kind, names
        self._live, self._convert = live, convert

    @property
    def values(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self._convert is not None:
            convert, self._convert = self._convert, None
            self._live = tuple(convert(self.number, name, live)
                               for name, live in zip(self.names, self._live, strict=True))
        return self._live

    def get(self, name: str, default: Any = None) -> Any:
        if self._convert is None or name not in self.names:
            return super().get(name, default)
        return self._convert(self.number, name, self._live[self.names.index(name)])

    def __getitem__(self, name: str) -> Any:
        return self.get(name) if name in self.names else super().__getitem__(name)


def _plain(number: int, name: str, value: Any) -> Any:
    return plain(value)


class CauseTrace(Trace):
    """A trace of what explanations read: of each search for victims its candidates and the plugins'
    answers, not the checks of queue and node beside it. Where a job is named (`about`), only
    searches for its pods, and among them, are kept, of None no search; "" where no job has that
    name.
    """

    watches_attempts = False

    def __init__(self, about: str | None = ""):
        super().__init__()
        self.about = about

    def opened(self, ssn: Session) -> None:
        self.about = None if self.about is None else _job_called(ssn, self.about)
        job = ssn.jobs.get(self.about or "")
        self.holds = job is not None and not job.allocated.is_empty()
        self._log: list[tuple[int, Seen, list[Change]]] = []
        self._not_listed, self._looked = 0, (-1, self.start)
        super().opened(ssn)
        self._known = self._changes

    def watches_claims(self, job: str) -> bool:
        return self.holds or self.about in ("", job)

    watches_victims = watches_claims

    def _skips(self, point: ExtensionPoint) -> bool:
        return point.name not in READ

    def watch(self, point: ExtensionPoint, tier: int, plugin: str,
              function: Callable[..., Any]) -> Callable[..., Any]:
        if point.name in POINTS.values():
            return self._searching("call", point.name, (point.name, tier, plugin), function)
        watched = super().watch(point, tier, plugin, function)
        if point.name not in ("allocatable", "predicate"):
            return watched
        return lambda *args: (function if self._action in POINTS else watched)(*args)

    def watch_point(self, point: ExtensionPoint, ask: Callable[..., Any]) -> Callable[..., Any]:
        if point.name in POINTS.values() and point.flat:
            return self._searching("asked", point.name, None, ask)
        return super().watch_point(point, ask)

    def _searching(self, kind: str, point: str, head: tuple[Any, ...] | None,
                   function: Callable[..., Any]) -> Callable[..., Any]:
        """A search for victims, recorded where there are candidates."""
        names, records = self._named(kind, point, 2)[0], self.records

        def searched(claimant: Any, candidates: Any) -> Any:
            since = len(records)
            answer = function(claimant, candidates)
            if candidates and (self.about in ("", claimant.job) or (self.holds and any(
                    task.job == self.about for task in candidates))):
                live = (*(head or (point, since)), claimant, candidates, answer)
                records.append(_Late(len(records), self._action, kind, names, live, _plain))
            return answer

        return searched

    # -- what steps changed ------------------------------------------------------------------------

    def _add(self, kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Record:
        if names[-1:] != ("changes",):
            return super()._add(kind, names, values)
        record = _Late(len(self.records), self._action, kind, names, values, self._fact)
        self.records.append(record)
        return record

    def _settle(self) -> None:
        seen = self._changes.everywhere()
        if seen:
            self._add("settle", ("changes",), (self._as_changes(seen),))

    def _as_changes(self, seen: Seen) -> list[Change]:
        changes: list[Change] = []
        self._log.append((len(self.records), seen, changes))
        return changes

    def _fact(self, number: int, name: str, value: Any) -> Any:
        """A fact; where it is the changes, those up to a record are listed in their order."""
        last = number if name == "changes" else -1
        while self._not_listed < len(self._log) and self._log[self._not_listed][0] <= last:
            _, seen, changes = self._log[self._not_listed]
            self._not_listed += 1
            changes += self._known.as_changes(seen)
        return value

    def state_at(self, number: int) -> State:
        """The state right after a record."""
        if self._looked[0] != number:
            state = {what: dict(items) for what, items in self.start.items()}
            latest = {(what, name): now for at, seen, _ in self._log if at <= number
                      for what, name, _, now in seen}
            for (what, name), now in latest.items():
                state[what][name] = state[what].get(name, {}) | self._known.named(what, now)
            self._looked = number, state
        return self._looked[1]


def _job_called(ssn: Session, name: str) -> str:
    try:
        kind, uid = Names(ssn).find(name)
    except LookupError:
        return ""
    return uid if kind == "job" else ""
