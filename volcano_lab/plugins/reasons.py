"""Texts of reasons that several plugins share. Answers to `FormatResourceNames` of
`pkg/scheduler/plugins/util/util.go`.
"""

from __future__ import annotations

from collections.abc import Sequence


def format_resource_names(prefix: str, verb: str, names: Sequence[str]) -> str:
    """A reason and the resources it is about.

    >>> format_resource_names("queue resource quota insufficient", "insufficient", ["cpu", "memory"])
    'queue resource quota insufficient: insufficient cpu, insufficient memory'
    """
    return f"{prefix}: {', '.join(f'{verb} {name}' for name in names)}" if names else prefix
