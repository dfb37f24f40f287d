"""The comparisons of resources that decide in Volcano, dimension by dimension, as rows that can be
shown.

`api.resource` compares.

Volcano: pkg/scheduler/api/resource_info.go
"""

from collections.abc import Callable
from typing import Any

from attrs import define

from volcano_lab.api.resource import CPU, IGNORED_SCALARS, INFINITY, MEMORY, ZERO, Resource

Compare = Callable[[Resource, Resource, Resource], bool]

FITS, TOO_MUCH, NOT_LOOKED_AT = "holds", "does not hold", "not looked at"


@define(frozen=True, slots=True)
class Comparison:
    """One way to compare `left` with `right`, where `request` says what is asked for.

    `every`: all dimensions must hold (else any one of them is enough). `looks_at`: which dimensions
    count.
    """

    name: str
    rule: str
    asked_by: str
    every: bool
    compare: Compare
    looks_at: Callable[[str, Resource, Resource, Resource], bool]

    def by_dimension(self, left: Resource, right: Resource, request: Resource) -> dict[str, str]:
        """`FITS`, `TOO_MUCH` or `NOT_LOOKED_AT` for every dimension that one of the three mentions.

        >>> cpu = Resource(1000.05)
        >>> [c.by_dimension(cpu, Resource(1000.0), cpu)["cpu"] for c in COMPARISONS[:3]]
        ['holds', 'holds', 'does not hold']
        """
        names = dict.fromkeys(name for resource in (left, right, request) for name, _ in resource)
        answers = {}
        for name in names:
            if not self.looks_at(name, left, right, request):
                answers[name] = NOT_LOOKED_AT
                continue
            alone = [_only(name, resource) for resource in (left, right, request)]
            answers[name] = FITS if self.compare(*alone) else TOO_MUCH
        return answers


def _only(name: str, resource: Resource) -> Resource:
    """The resource without its other dimensions; a scalar that isn't mentioned stays so."""
    if name in (CPU, MEMORY):
        return Resource.from_dict({name: resource.get(name)})
    scalars = resource.scalars or {}
    return Resource(0.0, 0.0, {name: scalars[name]} if name in scalars else None)


def _mentions(resource: Resource, name: str) -> bool:
    return name in (CPU, MEMORY) or name in (resource.scalars or {})


def _asked(name: str, left: Resource, right: Resource, request: Resource) -> bool:
    return request.get(name) > 0 and name not in IGNORED_SCALARS


def _asked_and_held(name: str, left: Resource, right: Resource, request: Resource) -> bool:
    return _asked(name, left, right, request) and not (left.is_zero(name) and right.is_zero(name))


def _asked_and_deserved(name: str, left: Resource, right: Resource, request: Resource) -> bool:
    known = name in (right.scalars or {}) if name not in (CPU, MEMORY) else not right.is_zero(name)
    return _asked(name, left, right, request) and known


COMPARISONS = (
    Comparison("tolerant", "left < right + 0.1, missing is 0", "node fit, overused, reclaim", True,
               lambda left, right, request: left.less_equal(right, ZERO),
               lambda name, left, right, request: _mentions(left, name)),
    Comparison("tolerant, infinity", "left < right + 0.1, missing is ∞", "none in v1.14.0", True,
               lambda left, right, request: left.less_equal(right, INFINITY),
               lambda name, left, right, request: _mentions(left, name) or _mentions(right, name)),
    Comparison("strict", "left ≤ right, where asked", "allocatable, enqueue", True,
               lambda left, right, request: left.less_equal_with_dimension_and_resources_name(
                   right, request)[0], _asked),
    Comparison(
        "any, tolerant", "left < right + 0.1 in one asked for", "capacity: may reclaim", False,
        lambda left, right, request: left.less_equal_partly_with_dimension_zero_filtered(
            right, request)[0], _asked_and_held),
    Comparison(
        "any above, strict", "left > right in one asked, if in right",
        "capacity: may lose", False,
        lambda left, right, request: left.greater_partly_with_relevant_dimensions(
            right, request)[0], _asked_and_deserved),
)
"""Those that queues and nodes meet, in the order in which lesson 02 tells of them."""


def compared(left: Resource, right: Resource, request: Resource) -> list[dict[str, Any]]:
    """A row per comparison: its rule, the answer for every dimension and the answer.

    >>> over, limit = Resource(1000.05), Resource(1000.0)
    >>> [(row["comparison"], row["answer"]) for row in compared(over, limit, over)][::2]
    [('tolerant', True), ('strict', False), ('any above, strict', True)]
    """
    return [{"comparison": one.name, "rule": one.rule, "asked_by": one.asked_by,
             "dimensions": one.by_dimension(left, right, request),
             "answer": one.compare(left, right, request)} for one in COMPARISONS]
