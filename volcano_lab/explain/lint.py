"""Fields of queues that a cluster's author has set and that the configuration never reads, in
sentences.

Volcano ignores such fields without a word (issue #5814 of volcano-sh/volcano): what a queue
deserves is read by the plugin capacity only, its weight by proportion only, a tree of queues by
whichever plugin has `enableHierarchy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api.queue import HIERARCHY_ANNOTATION, ROOT_QUEUE, QueueInfo
from volcano_lab.framework.config.conf import PluginOption
from volcano_lab.framework.session import Session

LIMITS = ("proportion", "capacity")
"""Who reads capability and guarantee."""
TREES = ("capacity", "nodegroup")
"""Who follows `spec.parent`, with `enableHierarchy`."""


def ignored_fields(ssn: Session) -> list[str]:
    """A sentence for each queue and field that has no effect under the session's configuration.

    >>> from volcano_lab.cluster import Cluster
    >>> cycle = Cluster().node("n1", cpu=4).queue("a", deserved=2).run()
    >>> ignored_fields(cycle.session)
    ['Queue a: spec.deserved has no effect: only the plugin capacity reads it, and the configuration does not name it.']
    """
    options = {option.name: option for tier in ssn.conf.tiers for option in tier.plugins}
    queues = sorted(
        name for name in ssn.queues if name != ROOT_QUEUE)  # the root is made with each cluster
    return [
        f"Queue {name}: {sentence}" for name in queues
        for sentence in _of(ssn.queues[name], options)
    ]


def _of(queue: QueueInfo, options: dict[str, PluginOption]) -> Iterator[str]:
    spec = queue.queue.spec
    if spec.deserved and "capacity" not in options:
        yield _only("spec.deserved", "capacity")
    if "capacity" in options and "proportion" not in options and spec.weight != 1:
        yield _only("spec.weight", "proportion")
    if not any(name in options for name in LIMITS):
        for field, amount in (("capability", spec.capability), ("guarantee",
                                                                spec.guarantee.resource)):
            if amount:
                yield f"spec.{field} has no effect: proportion and capacity read it, and the configuration names neither."
    if spec.parent not in ("",
                           ROOT_QUEUE) and not any(_has_hierarchy(options, name) for name in TREES):
        yield "spec.parent has no effect: it takes the plugin capacity (for affinity, nodegroup) with enableHierarchy: true."
    if spec.affinity is not None and "nodegroup" not in options:
        yield _only("spec.affinity", "nodegroup")
    if queue.hierarchy and not _has_hierarchy(options, "drf"):
        yield f"the annotation {HIERARCHY_ANNOTATION} has no effect: it takes the plugin drf with enableHierarchy: true."


def _only(field: str, plugin: str) -> str:
    return f"{field} has no effect: only the plugin {plugin} reads it, and the configuration does not name it."


def _has_hierarchy(options: dict[str, PluginOption], plugin: str) -> bool:
    return plugin in options and bool(options[plugin].enables("enableHierarchy"))
