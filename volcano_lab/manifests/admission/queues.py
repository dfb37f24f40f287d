"""Rules for Queues: their own amounts, the hierarchy by annotations, and parents and children.

Differs on purpose: a rule about parent and child is told once, of the child (of the last one, where
it is about the sum of all children), though Volcano looks at both of them.

Volcano: pkg/webhooks/admission/queues/validate
"""

from collections.abc import Mapping

from volcano_lab.api import Resource, total
from volcano_lab.api.objects import Queue
from volcano_lab.api.queue import HIERARCHY_ANNOTATION, HIERARCHY_WEIGHTS_ANNOTATION
from volcano_lab.manifests.admission.rules import Broken, Queues, first


def broken(queue: Queue, queues: Queues) -> Broken:
    """Yield the rules that a queue breaks."""
    if queue.status.state not in ("", "Open", "Closed"):
        yield "queue-state", {}
    for part, above in (("deserved", "capability"), ("guarantee", "capability"),
                        ("guarantee", "deserved")):
        limit = Resource.from_list(_amounts(queue, above))
        asked = _amounts(queue, above if above == "capability" else part)
        if asked and limit.less_partly(Resource.from_list(_amounts(queue, part))):
            yield f"queue-{part}-{above}", {"limit": limit}
            break
    yield from _broken_hierarchy(queue, queues)
    if queue.spec.parent not in ("", "root") and queue.name != "root":
        yield from _broken_family(queue, queues)


def _amounts(queue: Queue, part: str) -> Mapping[str, str]:
    return (queue.spec.guarantee.resource
            if part == "guarantee" else getattr(queue.spec, part)) or {}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _broken_hierarchy(queue: Queue, queues: Queues) -> Broken:
    paths = {name: other.metadata.annotations.get(HIERARCHY_ANNOTATION, "")
             for name, other in queues.items()}
    path, weights = paths[queue.name], queue.metadata.annotations.get(HIERARCHY_WEIGHTS_ANNOTATION,
                                                                      "")
    if not path and not weights:
        return
    each = weights.split("/")
    weight = next((text for text in each if not (_number(text) or 0) > 0), None)
    other = next((name for name, below in paths.items() if below.startswith(f"{path}/")), "")
    yield from first((len(path.split("/")) != len(each), "queue-hierarchy-length"),
                     (weight is not None and _number(weight) is None, "queue-hierarchy-number"),
                     (weight is not None, "queue-hierarchy-weight"),
                     (other, "queue-hierarchy-path"), path=path, weights=weights, weight=weight,
                     other=other, below=paths.get(other))


def _broken_family(queue: Queue, queues: Queues) -> Broken:
    parent = queues.get(queue.spec.parent)
    about = {"name": queue.name, "parent": queue.spec.parent, "known": ", ".join(sorted(queues))}
    yield from first((queue.spec.parent == queue.name, "queue-parent-itself"),
                     (parent is None, "queue-parent-missing"), **about)
    if parent is None or parent is queue:
        return
    children = [other for other in queues.values() if other.spec.parent == parent.name]
    pods = (parent.status.allocated or {}).get("pods", "0")
    if children == [queue] and Resource.from_list({"pods": pods}) != Resource.from_list(
        {"pods": "0"}):
        yield "queue-parent-has-pods", about | {"pods": pods}
    own, limit = (Resource.from_list(_amounts(one, "capability")) for one in (queue, parent))
    if limit.less_partly(own):
        yield "queue-capability-parent", about | {"own": own, "limit": limit}
    for part in ("guarantee", "deserved") if children[-1] is queue else ():
        held = total(Resource.from_list(_amounts(child, part)) for child in children)
        which = f"{part} limit" if _amounts(parent, part) else "capability"
        amounts = _amounts(parent, part) or _amounts(parent, "capability")
        limit = Resource.from_list(amounts)
        if amounts and limit.less_partly(held):
            yield f"queue-{part}-sum", about | {"sum": held, "which": which, "limit": limit}
