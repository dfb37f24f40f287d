"""Which pods were added to nodes and removed from them since a session opened, as versions that
counts kept for all nodes follow.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
from attrs import define

from .pod_info import PodInfo

Change = tuple[int, PodInfo, int]
"""(row of the node, pod, +1 or -1)."""


@define(eq=False)
class Version:
    """The pods on the nodes after a change to those of the version `before`."""

    before: Version | None = None
    change: Change | None = None
    number: int = 0


class PodChanges:
    """The pods of the `start`, and the versions that followed. A change that undoes the last one
    leads back to the version before it: of a statement that is discarded there is nothing to count.

    >>> from volcano_lab.api.objects import Pod
    >>> changes, info = PodChanges(), PodInfo(Pod())
    >>> changes.add(0, info, 1)
    >>> changes.add(0, info, -1)
    >>> changes.last.number
    0
    """

    def __init__(self) -> None:
        self.start: list[tuple[int, PodInfo]] = []
        self.first = self.last = Version()
        self._kinds: dict[frozenset[str], list[tuple[np.ndarray, PodInfo]]] = {}

    def kinds(self, labels: frozenset[str]) -> list[tuple[np.ndarray, PodInfo]]:
        """Return one pod of each kind at the start and the rows of all of them: pods of a kind have
        the same values of some labels, and the same affinity terms.
        """
        if labels not in self._kinds:
            found: dict[Hashable, tuple[list[int], PodInfo]] = {}
            for row, info in self.start:
                kind = (info.namespace, info.required_anti_affinity, info.preferred,
                        info.pod.metadata.deletion_timestamp is None,
                        *[info.labels.get(key) for key in labels])
                found.setdefault(kind, ([], info))[0].append(row)
            self._kinds[labels] = [(np.array(rows), info) for rows, info in found.values()]
        return self._kinds[labels]

    def add(self, row: int, info: PodInfo, sign: int) -> None:
        last = self.last
        if last.change == (row, info, -sign):
            assert last.before is not None
            self.last = last.before
        else:
            self.last = Version(last, (row, info, sign), last.number + 1)

    def since(self, seen: Version) -> Iterator[Change]:
        """Yield what leads from a version to the last one; what was undone, with its opposite."""
        last, later = self.last, []
        while seen is not last:
            if seen.number >= last.number:
                assert seen.change is not None and seen.before is not None
                row, info, sign = seen.change
                yield row, info, -sign
                seen = seen.before
            else:
                assert last.change is not None and last.before is not None
                later.append(last.change)
                last = last.before
        yield from reversed(later)
