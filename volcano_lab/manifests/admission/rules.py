"""The type of a broken rule; `rules.md` is the table of their texts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from volcano_lab.api.objects import KubernetesObject, NetworkTopologySpec, Queue, QueueStatus

Queues = Mapping[str, Queue]
Broken = Iterator[tuple[str, dict[str, Any]]]
"""Names of broken rules, and the values for the placeholders in their texts."""


def first(*rules: tuple[Any, str], **values: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    """Return the first of several rules whose condition holds, as Volcano reports only one.

    >>> first((False, "a"), (True, "b"), (True, "c"), n=1)
    [('b', {'n': 1})]
    """
    return next(([(name, values)] for broken, name in rules if broken), [])


def for_jobs(queues: Queues) -> str:
    """Return the queues that accept jobs: neither root nor one with children."""
    parents = {"root", *(queue.spec.parent for queue in queues.values())}
    return ", ".join(sorted(queues.keys() - parents))


def both_tiers(topology: NetworkTopologySpec | None) -> bool:
    """Return whether a highest tier is given both by number and by name."""
    return bool(topology and topology.highest_tier_allowed is not None
                and topology.highest_tier_name)


def exists(obj: KubernetesObject) -> bool:
    """Return whether an object's fields show that it is in a cluster already."""
    status = getattr(obj, "status", None)
    return bool(obj.metadata.uid or obj.metadata.resource_version) or status != getattr(
        type(obj)(), "status", None)


def is_unhandled(queue: Queue) -> bool:
    """Return whether the API server has stored a queue, and Volcano's controller has set no state.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> is_unhandled(Queue(ObjectMeta("q"))), is_unhandled(
    ...     Queue(ObjectMeta("q", resource_version="7")))
    (False, True)
    """
    stored = queue.metadata.resource_version or queue.status != QueueStatus()
    return bool(stored) and not queue.status.state


def takes_jobs(queue: Queue) -> bool:
    """Return whether a queue is open; a new one is as soon as its controller has handled it."""
    return queue.status.state == "Open" or not (queue.status.state or is_unhandled(queue))
