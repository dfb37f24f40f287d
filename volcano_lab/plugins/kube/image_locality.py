"""Images that a node holds already: the more of the pod's images, by size, the better.

Answers to `plugins/imagelocality`. Volcano v1.14.0 hands Kubernetes' plugins nodes without their
images, so in a session this score is 0 on every node; the arithmetic is here for whoever gives a
node its `image_states`.
"""

from __future__ import annotations

from collections.abc import Mapping

from volcano_lab.api.objects import Pod

MEGABYTE = 1024 * 1024
LEAST = 23 * MEGABYTE
"""Images that are smaller in sum count for nothing."""
MOST_PER_CONTAINER = 1000 * MEGABYTE
"""Larger images count no more than this."""


def normalized_image_name(name: str) -> str:
    """The name with its tag, `latest` where none is given.

    >>> normalized_image_name("registry:5000/web"), normalized_image_name("web:1.2")
    ('registry:5000/web:latest', 'web:1.2')
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def score(pod: Pod, image_states: Mapping[str, tuple[int, int]], total_nodes: int) -> int:
    """0 to 100: the sizes of the pod's images on this node, each scaled by how many of all nodes
    hold it.

    `image_states` maps an image's name to (size in bytes, nodes that hold it).

    >>> from volcano_lab.api.objects import Container, PodSpec
    >>> score(Pod(spec=PodSpec(containers=[Container(image="web")])), {"web:latest": (500 * MEGABYTE, 2)}, 2)
    48
    """
    containers = [*pod.spec.init_containers, *pod.spec.containers]
    if not image_states or not containers:
        return 0
    total = 0
    for container in containers:
        size, nodes = image_states.get(normalized_image_name(container.image), (0, 0))
        total += int(size * (nodes / total_nodes))
    most = MOST_PER_CONTAINER * len(containers)
    return 100 * (min(max(total, LEAST), most) - LEAST) // (most - LEAST)
