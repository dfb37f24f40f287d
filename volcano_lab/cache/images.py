"""Which images lie on which nodes, for the score that prefers nodes which needn't pull one.

Answers to the image states of `pkg/scheduler/cache/event_handlers.go` (`addNodeImageStates`,
`removeNodeImageStates`).
"""

from __future__ import annotations

from volcano_lab.api.objects import Node


class Images:
    """By image the size in bytes, as the first node told it, and the nodes that hold it.

    >>> from volcano_lab.api.objects import ContainerImage, NodeStatus, ObjectMeta
    >>> images = Images()
    >>> images.add(Node(ObjectMeta("n1"), status=NodeStatus(images=[ContainerImage(["a:1"], 2048)])))
    {'a:1': (2048, 1)}
    """

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, set[str]]] = {}

    def add(self, node: Node) -> dict[str, tuple[int, int]]:
        """Take in a node's images; returns for each (size in bytes, how many nodes hold it)."""
        states = {}
        for image in node.status.images:
            for name in image.names:
                size, nodes = self._states.setdefault(name, (image.size_bytes, set()))
                nodes.add(node.name)
                states.setdefault(name, (size, len(nodes)))
        return states

    def forget(self, node: str) -> None:
        """A node holds none any more; an image that no node holds is forgotten."""
        for name, (_, nodes) in list(self._states.items()):
            nodes.discard(node)
            if not nodes:
                del self._states[name]
