"""Rules for Queues: their own amounts, the hierarchy by annotations, and parents and children.

Differs on purpose: a violation by parent and child is reported once, though Volcano checks both:
for the new object, and for the child where both are new (for the last such child, where the rule is
about the sum of all children).

Volcano: pkg/webhooks/admission/queues/validate
"""

from collections.abc import Mapping

from volcano_lab.api import Resource, quantity, total
from volcano_lab.api.objects import Queue
from volcano_lab.api.queue import HIERARCHY_ANNOTATION, HIERARCHY_WEIGHTS_ANNOTATION
from volcano_lab.manifests.admission.rules import Broken, Queues, exists, first


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
    if queue.spec.parent not in ("", "root"):
        yield from _broken_parent(queue, queues)
    children = [other for other in queues.values() if other.spec.parent == queue.name]
    if children and queue.name != "root" and not exists(queue):
        yield from _broken_family(queue, children, queue)


def _amounts(queue: Queue, part: str) -> Mapping[str, str]:
    return (queue.spec.guarantee.resource
            if part == "guarantee" else getattr(queue.spec, part)) or {}


def _number(text: str) -> float | None:
    try:
        return None if text != text.strip() or "_" in text else float(text)
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
    weight = next((text for text in each if (_number(text) or 0) <= 0), None)
    other = next((name for name, below in paths.items() if below.startswith(f"{path}/")), "")
    yield from first((len(path.split("/")) != len(each), "queue-hierarchy-length"),
                     (weight is not None and _number(weight) is None, "queue-hierarchy-number"),
                     (weight is not None, "queue-hierarchy-weight"),
                     (other, "queue-hierarchy-path"), path=path, weights=weights, weight=weight,
                     other=other, below=paths.get(other))


def _broken_parent(queue: Queue, queues: Queues) -> Broken:
    parent = queues.get(queue.spec.parent)
    about = {"name": queue.name, "parent": queue.spec.parent, "known": ", ".join(sorted(queues))}
    yield from first((queue.spec.parent == queue.name, "queue-parent-itself"),
                     (parent is None, "queue-parent-missing"), **about)
    if parent is None or parent is queue:
        return
    children = [other for other in queues.values() if other.spec.parent == parent.name]
    pods = (parent.status.allocated or {}).get("pods", "0")
    if children == [queue] and quantity.parse(pods):
        yield "queue-parent-has-pods", about | {"pods": pods}
    if queue.name != "root" and (exists(parent) or not exists(queue)):
        yield from _broken_family(parent, children, queue)


def _broken_family(parent: Queue, children: list[Queue], judged: Queue) -> Broken:
    """Yield the violations that `judged`, the parent or one of the children, reports for both."""
    limit = Resource.from_list(_amounts(parent, "capability"))
    for child in children:
        own = Resource.from_list(_amounts(child, "capability"))
        reported = judged is child or (judged is parent and exists(child))
        if reported and limit.less_partly(own):
            rule = "queue-capability-child" if judged is parent else "queue-capability-parent"
            yield rule, {"name": child.name, "parent": parent.name, "own": own, "limit": limit}
            break
    judges = [children[-1], *(each for each in (parent, *children) if not exists(each))]
    if judged is not judges[-1]:
        return
    for part in ("guarantee", "deserved"):
        held = total(Resource.from_list(_amounts(child, part)) for child in children)
        which = f"{part} limit" if _amounts(parent, part) else "capability"
        amounts = _amounts(parent, part) or _amounts(parent, "capability")
        limit = Resource.from_list(amounts)
        if amounts and limit.less_partly(held):
            yield f"queue-{part}-sum", {
                "judged": "queue" if judged is parent else "parent queue", "parent": parent.name,
                "sum": held, "which": which, "limit": limit}
