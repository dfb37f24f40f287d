"""A node's measured usage, from a monitoring system: independent of requests.

Differs on purpose: the lab queries no monitoring system. Usage is set by a node's annotations
`volcano-lab/cpu-usage` and `volcano-lab/memory-usage`, in percent, which are valid at any time; or
as `resource_usage` of a node of the cache.

Volcano: pkg/scheduler/api/node_info.go (NodeUsage), pkg/scheduler/cache/cache.go (setMetricsData)
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import Factory, define

from volcano_lab.api.durations import parse_float

METRICS_PERIOD = "10m"
"""The only period of Volcano's averages, whatever its plugins are configured to read."""

CPU_USAGE_ANNOTATION = "volcano-lab/cpu-usage"
MEMORY_USAGE_ANNOTATION = "volcano-lab/memory-usage"


@define(slots=True, frozen=True)
class NodeUsage:
    """Average usage in percent by period, and its time of measurement, in seconds since the epoch
    (default: never).

    >>> NodeUsage.of(85.0, 40.0, time=0.0).cpu["10m"]
    85.0
    """

    metrics_time: float = -math.inf
    cpu: dict[str, float] = Factory(dict)
    memory: dict[str, float] = Factory(dict)

    @classmethod
    def of(cls, cpu: float, memory: float, time: float = math.inf) -> NodeUsage:
        """Return usage measured at `time`; without it, always just now."""
        return cls(time, {METRICS_PERIOD: float(cpu)}, {METRICS_PERIOD: float(memory)})


NO_USAGE = NodeUsage()


def usage_of(annotations: Mapping[str, str]) -> NodeUsage:
    """Return the usage in a node's annotations; an amount that is missing or no number is 0, with
    both missing `NO_USAGE`.

    >>> usage_of({"volcano-lab/cpu-usage": "85"}).memory, usage_of({}) is NO_USAGE
    ({'10m': 0.0}, True)
    """
    if CPU_USAGE_ANNOTATION not in annotations and MEMORY_USAGE_ANNOTATION not in annotations:
        return NO_USAGE
    percents = (parse_float(annotations.get(key))
                for key in (CPU_USAGE_ANNOTATION, MEMORY_USAGE_ANNOTATION))
    return NodeUsage.of(*(percent if math.isfinite(percent) else 0.0 for percent in percents))
