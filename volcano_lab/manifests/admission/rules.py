"""The type of a broken rule; `rules.md` is the table of their texts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from volcano_lab.api.objects import KubernetesObject, NetworkTopologySpec, Queue

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
    return bool(obj.metadata.uid) or _is_stored(obj)


def _is_stored(obj: KubernetesObject) -> bool:
    """Return whether an object has a version or a status, which a new one does not."""
    status = getattr(obj, "status", None)
    return bool(obj.metadata.resource_version) or status != getattr(type(obj)(), "status", None)


def state_of(queue: Queue) -> str:
    """Return the state of a queue: Volcano's controller opens a new one; "" where it has not yet
    handled one that is stored.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> state_of(Queue(ObjectMeta("q"))), state_of(Queue(ObjectMeta("q", resource_version="7")))
    ('Open', '')
    """
    return queue.status.state or ("" if _is_stored(queue) else "Open")
