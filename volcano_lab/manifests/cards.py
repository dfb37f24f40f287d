"""The cards of nodes that pods share, by annotations: the lab does not model plugin deviceshare,
and `why` counts these.

Volcano: pkg/scheduler/api/devices/nvidia/vgpu/utils.go
"""

from collections.abc import Iterable
from operator import itemgetter

from volcano_lab.api import NodeInfo, objects as api
from volcano_lab.trace.plain import grouped

NUMBER, MEMORY, CORES = (f"volcano.sh/vgpu-{name}" for name in ("number", "memory", "cores"))
PERCENT = f"{MEMORY}-percentage"
ASKED = (NUMBER, MEMORY, CORES, PERCENT)
REGISTERED, ALLOTTED = "volcano.sh/node-vgpu-register", "volcano.sh/vgpu-ids-new"
"""The annotations in which a node lists its cards, and a pod those that it is given."""
WHOLE = 100
"""The cores of a card, and the percentage of its memory that a pod takes which names none."""


def listed(obj: api.KubernetesObject, annotation: str = REGISTERED) -> list[list[str]]:
    """Return the cards that an annotation lists: of a node, or those that a pod is given.

    >>> node = api.Node(api.ObjectMeta("n1", annotations={REGISTERED: "a,10,32768,X,true,mig:"}))
    >>> listed(node)
    [['a', '10', '32768', 'X', 'true', 'mig']]
    """
    text = obj.metadata.annotations.get(annotation, "").replace(";", ":")
    return [card for part in text.split(":") for card in [part.split(",")]
            if len(card) > 2 and card[2].isdecimal()]


def largest(nodes: Iterable[NodeInfo]) -> tuple[int, str]:
    """Return the memory of the largest card, and its node; 0 where no node lists some."""
    return max(((int(card[2]), node.name) for node in nodes for card in listed(node.node)),
               key=itemgetter(0), default=(0, ""))


def held(node: NodeInfo) -> dict[str, list[tuple[str, int, int]]]:
    """Return the pods that are given parts of each card of a node, with memory and cores."""
    return grouped((card[0], (each.key, int(card[2]), _number(card[3:])))
                   for each in node.tasks.values() for card in listed(each.pod, ALLOTTED))


def users(node: NodeInfo) -> dict[str, None]:
    """Return the pods that are given parts of cards of a node."""
    return dict.fromkeys(pod for parts in held(node).values() for pod, *_ in parts)


def free(node: NodeInfo, cores: int, part: int, without: str = "") -> list[int]:
    """Return the memory that each card of a node has left, the most first, or the `part` of it,
    `without` a pod: none of one whose parts are given away, or that has fewer cores left.
    """
    pods = held(node)
    return sorted((_left(card, [each for each in pods.get(card[0], ()) if each[0] != without],
                         cores, part) for card in listed(node.node)), reverse=True)


def fits(node: NodeInfo, containers: Iterable[dict[str, int]], without: str = "") -> bool:
    """Return whether the cards of a node have enough left, `without` a pod, for what containers of
    one pod request, one after the other: each is given parts of the last cards that have it.
    """
    there = listed(node.node)[::-1]
    pods = {card: [each for each in parts if each[0] != without]
            for card, parts in held(node).items()}
    for wants in containers:
        cores, n, part = wants.get(CORES, 0), wants.get(NUMBER, 1), part_of(wants)
        asked = part or wants[MEMORY]
        given = [card for card in there
                 if _left(card, pods.get(card[0], []), cores, part) >= asked][:n]
        if len(given) < n:
            return False
        for card in given:
            memory = int(card[2]) * part // WHOLE if part else asked
            pods.setdefault(card[0], []).append(("", memory, cores))
    return True


def part_of(wants: dict[str, int]) -> int:
    """Return the percentage of a card's memory that a container requests, by default the whole; 0
    where it requests an amount.
    """
    return wants.get(PERCENT, 0 if wants.get(MEMORY) else WHOLE)


def _left(card: list[str], parts: list[tuple[str, int, int]], cores: int, part: int) -> int:
    """Return the memory that a card has left, or the `part` of it."""
    used, memory = sum(each[2] for each in parts), int(card[2])
    fits = len(parts) < _number(card[1:]) and used + max(cores, 1) <= WHOLE and not (
        parts and cores == WHOLE)
    left = (memory - sum(each[1] for each in parts)) * fits
    return left * WHOLE // memory if part else left


def _number(fields: list[str]) -> int:
    """Return the number in the first of some fields of an annotation; 0 without one."""
    return int(fields[0]) if fields and fields[0].isdecimal() else 0
