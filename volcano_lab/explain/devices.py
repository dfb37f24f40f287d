"""Devices: what nodes list of cards that pods share, and of CPUs by NUMA nodes, which plugins
beyond the lab compare, and whether any node has what a pod requests of them.

Volcano: none
"""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from volcano_lab.api import NodeInfo, TaskInfo, quantity
from volcano_lab.explain.evidence import Evidence
from volcano_lab.explain.explanation import TABLES
from volcano_lab.manifests import cards, numa
from volcano_lab.messages import Message

NUMA_POLICY = "volcano.sh/numa-topology-policy"
MODE = "volcano.sh/vgpu-mode"
SURE = TABLES["sure"]
"""What no node has, or has left, by the message that says so."""


def compared(seen: Evidence, task: TaskInfo, plugin: str) -> list[Message]:
    """Return what nodes lack, or have left, of what a plugin beyond the lab compares for a pod."""
    if plugin == "deviceshare":
        return [*filter(None, (find(seen, task) for find in (_mode, _card_memory, _cards)))]
    return [*_numa(seen, task)] if plugin == "numa-aware" else []


def certain(said: list[Message]) -> dict[str, Any]:
    """Return by which facts no node has what a pod requests of a plugin, whatever runs there."""
    for each in said:
        if each.code in SURE:
            return {**each.facts, "sure": SURE[each.code]}
        most = each.facts.get("there") or each
        if "most" in most.facts and (each is most or most.facts["most"] < each.facts["n"]):
            return {**each.facts, **most.facts, "sure": "memory" if each is most else "cards"}
    return {}


def _wants(task: TaskInfo) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield what each container of a pod requests of cards."""
    for each in task.pod.spec.containers:
        yield each.name, {name: int(quantity.parse(text)) for name, text in (
            each.resources.limits | each.resources.requests).items() if name in cards.ASKED}


def _cards(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a container requests parts of several cards of one node, and the most that one has."""
    n, name = max(((wants.get(cards.NUMBER, 0), name) for name, wants in _wants(task)),
                  key=itemgetter(0), default=(0, ""))
    most, node = max(((len(cards.listed(node.node)), node.name)
                      for node in seen.ssn.nodes.values()), key=itemgetter(0))
    there = Message("beyond.cards.most", annotation=cards.REGISTERED, node=node, most=most)
    return Message("beyond.cards", container=name, resource=cards.NUMBER, n=n,
                   there=there if most else None) if n > 1 else None


def _mode(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a pod names a mode of sharing cards in which no node has some."""
    mode = task.pod.metadata.annotations.get(MODE)
    there = {"mig" if card[5] == "mig" else "hami-core" for node in seen.ssn.nodes.values()
             for card in cards.listed(node.node) if len(card) > 5}
    return Message("beyond.cards.mode", mode=mode, modes=sorted(there), key=MODE,
                   annotation=cards.REGISTERED) if mode and there and mode not in there else None


def _card_memory(seen: Evidence, task: TaskInfo) -> Message | None:
    """That a container requests more memory of a card than any card has, or has left, or of more
    cards than one node has that have so much left: as an amount, or a part, by default the whole;
    or that all containers of the pod do, of which each is given its cards after the others.
    """
    nodes = [node for node in seen.ssn.nodes.values() if cards.listed(node.node)]
    most, name = cards.largest(nodes)
    every = [wants for _, wants in _wants(task) if {cards.NUMBER, cards.MEMORY} & {*wants}]
    for wants in every:
        asked = wants.get(cards.MEMORY, 0)
        if asked > most > 0 and cards.PERCENT not in wants:
            return Message("beyond.cards.memory", resource=cards.MEMORY, asked=asked, node=name,
                           most=most, annotation=cards.REGISTERED)
        if said := _cards_left(nodes, wants, cards.part_of(wants)):
            return said
    if not nodes or len(every) < 2 or any(cards.fits(node, every) for node in nodes):
        return None
    ends = [pod for node in nodes for pod in cards.users(node) if cards.fits(node, every, pod)]
    most, name = max((max(cards.free(node, 0, 0)) // len(every), node.name) for node in nodes)
    return Message("beyond.cards.together", n=len(every), resource=cards.MEMORY, node=name,
                   asked=max(wants.get(cards.MEMORY, 0) for wants in every), most=most,
                   ends=Message("beyond.cards.ends", pods=ends) if ends else None)


def _cards_left(nodes: list[NodeInfo], wants: dict[str, int], part: int) -> Message | None:
    """That no node has so many cards that have so much memory, or such a `part` of it, and so many
    cores left, and the pods of which the end of one is enough.
    """
    asked, n, cores = part or wants[cards.MEMORY], *(
        wants.get(name, 0) for name in (cards.NUMBER, cards.CORES))
    least = max(n, 1) - 1  # the card with the least of as many as are requested
    free = {node.name: cards.free(node, cores, part) for node in nodes}
    most, name = max(((each[least], name) for name, each in free.items() if least < len(each)),
                     key=itemgetter(0), default=(asked, ""))
    if asked <= most:
        return None
    ends = [pod for node in nodes if least < len(free[node.name])
            for pod in cards.users(node) if cards.free(node, cores, part, pod)[least] >= asked]
    fit = {name: sum(left >= asked for left in each) for name, each in free.items()}
    there = [Message("beyond.cards.there", node=name, n=n, fit=count)
             for name, count in fit.items()]
    several = "several" if most else "used"
    return Message(
        f"beyond.cards.{several if least else 'left'}", asked=asked, node=name, most=most, n=n,
        resource=cards.PERCENT if part else cards.MEMORY, fit=fit[name], there=there,
        annotation=cards.ALLOTTED, ends=Message("beyond.cards.ends", pods=ends) if ends else None,
        default=Message("beyond.cards.default") if wants.get(cards.PERCENT, 0) < part else None)


def _numa(seen: Evidence, task: TaskInfo) -> Iterator[Message]:
    """Yield the free CPUs of the nodes that have the NUMA policy of a pod, or that no NUMA node has
    those of a container free; and the nodes that do not have the policy.
    """
    policy = task.pod.metadata.annotations.get(NUMA_POLICY)
    nodes: dict[str, Any] = {name: said for name in seen.ssn.nodes
                             for said in seen.not_created.get(numa.OF_NUMA + name, ())}
    if not nodes or not policy:
        return
    fit = [Message("numa.free", **said.facts) for said in nodes.values()
           if (said.facts["policy"], said.facts["cpus"]) == (policy, "static")]
    fits = {each.facts["node"] for each in fit}
    out = [nodes.get(name) or Message("numa.none", node=name)
           for name in seen.ssn.nodes if name not in fits]
    asked = max((int(quantity.parse(each.resources.requests.get("cpu", "0")))
                 for each in task.pod.spec.containers), default=0)
    most, node = max(((int(count), each.facts["node"]) for each in fit
                      for count in each.facts["free"]), key=itemgetter(0), default=(asked, ""))
    if asked > most and policy == "single-numa-node":
        yield Message("beyond.numa.less", policy=policy, nodes=fit, asked=asked, node=node,
                      most=most)
    else:
        yield Message(f"beyond.numa.{'free' if fit else 'policy'}", policy=policy, nodes=fit or out)
    if fit and out:
        yield Message("beyond.numa.out", nodes=out)
