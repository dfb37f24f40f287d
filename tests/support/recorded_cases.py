"""Reading the recorded cases, and comparing decisions with the recorded ones section by section."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1] / "recorded"
SHARED = Path(__file__).parents[3] / "shared" / "conformance"
"""Where a checkout may have more of them beside it: the table cases."""


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def difference(want: Any, got: Any, path: str = "") -> str | None:
    """The first difference as text, or None. An absent dimension and a zero one are alike; numbers
    agree closely.
    """
    if _is_number(want) and _is_number(got):
        return None if math.isclose(want, got, rel_tol=1e-9,
                                    abs_tol=1e-6) else f"{path}: recorded {want!r}, got {got!r}"
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            left, right = want.get(key), got.get(key)
            if (left or right) and (found := difference(left, right, f"{path}/{key}")):
                return found
        return None
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return f"{path}: recorded {len(want)} items {want!r:.200}, got {len(got)} {got!r:.200}"
        found = (difference(a, b, f"{path}[{i}]")
                 for i, (a, b) in enumerate(zip(want, got, strict=True)))
        return next(filter(None, found), None)
    return None if want == got else f"{path}: recorded {want!r:.300}, got {got!r:.300}"


def sections(row: dict[str, Any]) -> dict[str, Any]:
    """What a case decided, by section."""
    if "confError" in row:
        return {"phases": "configuration refused"}
    opened, steps, closed = row["open"], row["steps"], row["close"]

    def each(key: str) -> list[Any]:
        return [step.get(key) for step in steps]

    return {
        "phases":
        [opened.get("podgroups"),
         each("podgroups"), {k: v["phase"] for k, v in closed.items()}],
        "tasks": [opened.get("tasks"), each("tasks")],
        "nodes":
        each("nodes"),
        "queues": [opened.get("queues"), each("queues")],
        "rounds":
        opened.get("rounds"),
        "order": [opened.get("queueOrder"), opened.get("jobOrder")],
        "shares": [opened.get("jobShares"), each("jobShares")],
        "committed": [step.get("committed") or [] for step in steps],
        "conditions": {k: v.get("conditions") or [] for k, v in closed.items()},
    }


def differences(want: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """Every section in which two decisions of one case differ, leaving out those that vary in
    Volcano itself.
    """
    unstable = set(want.get("unstable") or ())
    wanted, given = sections(want), sections(got)
    found = ((s, difference(wanted[s], given.get(s))) for s in wanted if s not in unstable)
    return [f"{want['name']} [{section}] {text}" for section, text in found if text]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
