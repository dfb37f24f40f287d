"""What two clusters were given that differs: the configuration, and the objects that an
administrator changes, field by field; jobs and pods come and go.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api.objects import KubernetesObject
from volcano_lab.changes.change import path_text, value_text
from volcano_lab.framework import SchedulerConfiguration
from volcano_lab.manifests.schema import unstructure

KINDS = ("Node", "Queue", "PriorityClass", "HyperNode", "ResourceQuota")
PARTS = ("spec", "value", "labels", "allocatable")
"""The fields that are compared, in metadata and status, too."""
HIERARCHY = "volcano.sh/hierarchy"
Given = tuple[Iterable[KubernetesObject], SchedulerConfiguration]


def differences(before: Given, after: Given) -> list[dict[str, Any]]:
    """Return a row for each field with the value `before` and `after`, None where it is not set; of
    an object that only one has, no field.

    >>> from volcano_lab.cluster import Cluster
    >>> one, other = Cluster().node("a", cpu=4), Cluster().node("a", cpu=4).queue("q")
    >>> conf = one.configuration()
    >>> differences((one.objects(), conf), (other.objects(), conf))
    [{'field': 'queue/q', 'before': None, 'after': 'there'}]
    """
    was, now = (dict(_fields(*given)) for given in (before, after))
    changed = [key for key in {**was, **now} if was.get(key) != now.get(key)]
    return [{"field": path_text(*key), "before": was.get(key), "after": now.get(key)}
            for key in changed if key[:1] not in changed or len(key) == 1]


def _fields(objects: Iterable[KubernetesObject], conf: SchedulerConfiguration
            ) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (path, value as text) of all that is compared."""
    yield ("conf/actions",), ", ".join(conf.actions)
    yield ("conf/tiers",), " | ".join(
        ", ".join(option.name for option in tier.plugins) for tier in conf.tiers)
    for option in (option for tier in conf.tiers for option in tier.plugins):
        for name, value in {**option.switches, **dict(option.arguments)}.items():
            yield (f"plugin/{option.name}", name), value_text(value)
    for obj in objects:
        if obj.kind in KINDS:
            target, data = f"{obj.kind.lower()}/{obj.key}", unstructure(obj)
            yield (target,), "there"
            data = {**data.get("metadata", {}), **data.get("status", {}), **data}
            for part in PARTS:
                yield from _leaves((target, *[part] * (part != "spec")), data.get(part))
            for name, text in data.get("annotations", {}).items():
                if name.startswith(HIERARCHY):
                    yield (target, "annotations", name), text


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the fields below a field that are no objects themselves."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves((*path, name), each)
    elif value is not None:
        yield path, value if isinstance(value, str) else value_text(value)
