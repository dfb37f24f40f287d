"""More nodes like one that is there, also in the HyperNodes that name it."""

from collections.abc import Mapping, Sequence

import attrs

from volcano_lab.api.objects import HyperNode, KubernetesObject, Node
from volcano_lab.api.objects.volcano import ExactMatch, MemberSelector, MemberSpec
from volcano_lab.manifests.defaults import HOSTNAME


def with_more_nodes(objects: Sequence[KubernetesObject], like: Node, count: int,
                    devices: Mapping[str, str] | None = None) -> list[KubernetesObject]:
    """Return the objects with so many nodes like one, which also have these resources.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> node = Node(ObjectMeta("n1"))
    >>> [each.name for each in with_more_nodes([node], node, 2)]
    ['n1', 'n1-more-0', 'n1-more-1']
    """
    there = {obj.name for obj in objects if isinstance(obj, Node)}
    free = (f"{like.name}-more-{number}" for number in range(len(there) + count))
    names = [name for name in free if name not in there][:count]
    copies = [like.changed(
        metadata={"name": name, "uid": f"{like.metadata.uid}-{name}",
                  "labels": like.metadata.labels | {HOSTNAME: name}},
        status={"allocatable": like.status.allocatable | dict(devices or {})}) for name in names]
    last = max(place for place, obj in enumerate(objects) if isinstance(obj, Node))
    found = [_with_members(obj, like.name, names) for obj in objects]
    return [*found[:last + 1], *copies, *found[last + 1:]]


def _with_members(obj: KubernetesObject, like: str, names: list[str]) -> KubernetesObject:
    """A HyperNode that names a node also gets the nodes that are like it."""
    if not isinstance(obj, HyperNode) or not any(
            member.type == "Node" and member.selector.exact_match
            and member.selector.exact_match.name == like for member in obj.spec.members):
        return obj
    more = [MemberSpec("Node", MemberSelector(exact_match=ExactMatch(name))) for name in names]
    return attrs.evolve(obj, spec=attrs.evolve(obj.spec, members=[*obj.spec.members, *more]))
