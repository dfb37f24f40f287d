"""More nodes like an existing one, with its CSINode and the pods of DaemonSets, also in the
HyperNodes that name it or match its name.

Volcano: none
"""

from collections.abc import Collection
from typing import Any

from volcano_lab.api.hyper_node import member_nodes
from volcano_lab.api.objects import HyperNode, KubernetesObject, Node, Pod
from volcano_lab.api.objects.volcano import ExactMatch, MemberSelector, MemberSpec
from volcano_lab.changes.draft import Draft
from volcano_lab.manifests import ManifestError, field_defaults, found_text

MOST_NODES, MOST_NAMES = 10_000, 1000
NO_LABELS: dict[str, str] = {}


def add_nodes(draft: Draft, like: Node, value: Any, where: str) -> None:
    """Add copies of a node; more of some resources, and labels, may be named beside the `count`:
    "#" in the value of a label is the number of the copy. Raises `ManifestError`.

    >>> from volcano_lab.api.objects import ObjectMeta
    >>> draft = Draft([Node(ObjectMeta("n1"))])
    >>> add_nodes(draft, draft[0], 2, "node/n1.more=2")
    >>> [node.name for node in draft.loaded()]
    ['n1', 'n1-more-0', 'n1-more-1']
    """
    count, labels, devices = _asked(value, where)
    there = {draft[place].name for place in draft.of_kind("node")}
    free = (f"{like.name}-more-{number}" for number in range(len(there) + count))
    names = [name for name in free if name not in there][:count]
    members = [MemberSpec("Node", MemberSelector(exact_match=ExactMatch(name))) for name in names]
    for place in list(draft.of_kind("hypernode")):
        above: Any = draft[place]
        if membership(above, like.name, there):
            draft.put(place, above.changed(spec={"members": [*above.spec.members, *members]}))
    drivers = [draft[place] for place in draft.of_kind("csinode") if draft[place].name == like.name]
    agents = [pod for pod in map(draft.__getitem__, draft.of_kind("pod"))
              if isinstance(pod, Pod) and pod.spec.node_name == like.name and any(
                  owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)]
    for number, name in enumerate(names):
        own = {key: text.replace("#", str(number)) for key, text in labels.items()}
        for each in drivers:
            draft.add(each.changed(metadata={"name": name, "uid": f"{each.metadata.uid}-{name}"}))
        for each in agents:
            draft.add(each.changed(spec={"node_name": name}, metadata={
                "name": f"{each.name}-{name}", "uid": f"{each.metadata.uid}-{name}"}))
        draft.add(like.changed(
            metadata={"name": name, "uid": f"{like.metadata.uid}-{name}",
                      "labels": like.metadata.labels | own | {field_defaults.HOSTNAME: name}},
            status={"allocatable": like.status.allocatable | devices}))


def _asked(value: Any, where: str) -> tuple[int, dict[str, str], dict[str, str]]:
    """Return the number of nodes, their labels and their resources. Raises `ManifestError`."""
    more = dict(value) if isinstance(value, dict) else {"count": value}
    count, labels = more.pop("count", None), more.pop("labels", {})
    if type(count) is not int or not 0 < count <= MOST_NODES:
        raise ManifestError("setting.more", where=where, count=found_text(count), most=MOST_NODES)
    if not isinstance(labels, dict):
        raise ManifestError("setting.labels", where=where, labels=found_text(labels))
    labels, devices = ({name: str(text) for name, text in each.items()} for each in (labels, more))
    return count, labels, devices


def membership(obj: KubernetesObject, node: str, there: Collection[str]) -> str:
    """Return how an object, a HyperNode, has a node, and may have another one, as a member by its
    name: "listed", or "matched" by a pattern, which matches a name that none of the nodes that are
    `there` has; "" for one that does not.
    """
    ways = [member.selector for member in obj.spec.members
            if member.type == "Node" and member.selector.label_match is None
            and node in member_nodes(member.selector, {node: {}})
            ] if isinstance(obj, HyperNode) else []
    if any(selector.exact_match for selector in ways):
        return "listed"
    if not ways:
        return ""
    free = dict.fromkeys((name for name in _near_names(node) if name not in there), NO_LABELS)
    return "matched" if any(member_nodes(selector, free) for selector in ways) else ""


def _near_names(node: str) -> list[str]:
    """Names like that of a node: with another number at its end, or an addition.

    >>> _near_names("n-07")[:3], _near_names("n-07")[-1]
    (['n-07-more-0', 'n-00', 'n-01'], 'n-999')
    """
    stem = node.rstrip("0123456789")
    return [f"{node}-more-0", *(
        f"{stem}{number:0{len(node) - len(stem)}}" for number in range(MOST_NAMES))]
