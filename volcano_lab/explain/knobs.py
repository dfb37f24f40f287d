"""Numbers that could be other than they are: each a knob that is turned step by step on a copy of the objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import attrs
from attrs import define

from volcano_lab.api import quantity
from volcano_lab.api.objects import HyperNode, KubernetesObject, Node, Pod, PodGroup, Queue
from volcano_lab.api.objects.volcano import ExactMatch, MemberSelector, MemberSpec
from volcano_lab.api.task import GROUP_NAME_ANNOTATION
from volcano_lab.framework.conf import SchedulerConfiguration

Objects = Sequence[KubernetesObject]
STEPS = {"cpu": "100m", "memory": "64Mi"}
"""By how much amounts are turned; anything else by one."""
HOSTNAME = "kubernetes.io/hostname"


@define(slots=True, frozen=True)
class Knob:
    """One number: of `what`, in which `field`, `before`; `turn(i)` gives (the number after i steps, objects, conf).

    There are `steps` of them; whatever turning changes besides follows from the number.
    """

    what: str
    field: str
    before: str
    steps: int
    turn: Callable[[int], tuple[str, Objects, SchedulerConfiguration]]


def evolved(obj: Any, path: str, value: Any) -> Any:
    """A copy of an object with one field, some levels down, set.

    >>> evolved(Queue(), "spec.weight", 3).spec.weight
    3
    """
    name, _, rest = path.partition(".")
    return attrs.evolve(obj, **{name: evolved(getattr(obj, name), rest, value) if rest else value})


def _step(resource: str) -> Any:
    return quantity.parse(STEPS.get(resource, "1"))


def _text(resource: str, number: Any, like: str = "") -> str:
    return quantity.to_text(number, "BinarySI" if resource == "memory" else quantity.style_of(like) if like else "DecimalSI")


class Knobs:
    """The knobs of one cluster and configuration; each method gives those of one kind."""

    def __init__(self, objects: Objects, conf: SchedulerConfiguration):
        self.objects, self.conf = list(objects), conf
        self.queues = {obj.name: place for place, obj in enumerate(self.objects) if isinstance(obj, Queue)}
        self.groups = {obj.key: place for place, obj in enumerate(self.objects) if isinstance(obj, PodGroup)}
        self.nodes_there = [obj for obj in self.objects if isinstance(obj, Node)]

    def _most(self, resource: str) -> int:
        """Steps with which an amount outgrows the whole cluster twice."""
        amounts = (node.status.allocatable.get(resource, "0") for node in self.nodes_there)
        return int(2 * sum(map(quantity.parse, amounts)) // _step(resource)) + 1

    def _replaced(self, place: int, obj: KubernetesObject) -> list[KubernetesObject]:
        return [*self.objects[:place], obj, *self.objects[place + 1 :]]

    def _knob(self, what: str, place: int, path: str, before: Any, steps: int, value: Callable[[int], Any],
              text: Callable[[Any], str] = str) -> Knob:  # fmt: skip
        obj = self.objects[place]

        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            after = value(step)
            return text(after), self._replaced(place, evolved(obj, path, after)), self.conf

        return Knob(what, path.removeprefix("spec.").removeprefix("status."), text(before), steps, turn)

    # -- queues ------------------------------------------------------------------------------------

    def weight(self, queue: str, sign: int = 1) -> Iterator[Knob]:
        place = self.queues.get(queue)
        if place is not None:
            before = self.objects[place].spec.weight
            steps = 1000 if sign > 0 else before - 1
            yield self._knob(f"queue {queue}", place, "spec.weight", before, steps, lambda step: before + sign * step)

    def amount(self, queue: str, field: str, resource: str, sign: int = 1) -> Iterator[Knob]:
        """`capability`, `deserved` or `guarantee` of one resource; one that isn't named can't be turned down."""
        place = self.queues.get(queue)
        if place is None:
            return
        path = "spec.guarantee.resource" if field == "guarantee" else f"spec.{field}"
        spec = self.objects[place].spec
        amounts = dict((spec.guarantee.resource if field == "guarantee" else getattr(spec, field)) or {})
        text, step = amounts.get(resource, "0"), _step(resource)
        if field == "capability" and not quantity.parse(text):
            return  # no limit
        before = quantity.parse(text)
        steps = self._most(resource) if sign > 0 else int(before // step)
        yield self._knob(f"queue {queue}", place, path, amounts, steps,
                         lambda i: amounts | {resource: _text(resource, before + sign * i * step, text)},
                         lambda a: f"{resource} {a.get(resource, '0')}")  # fmt: skip

    def capability_factor(self, queue: str) -> Iterator[Knob]:
        """All amounts of a capability together, a tenth more a step."""
        place = self.queues.get(queue)
        amounts = self.objects[place].spec.capability if place is not None else None
        if amounts:
            yield self._knob(f"queue {queue}", place, "spec.capability", 1.0, 190, lambda i: _scaled(amounts, 10 + i, 10),
                             lambda a: "as it is" if a == 1.0 else ", ".join(f"{n} {t}" for n, t in a.items()))  # fmt: skip

    def reclaimable(self, queue: str) -> Iterator[Knob]:
        place = self.queues[queue]
        if self.objects[place].spec.reclaimable is False:
            yield self._knob(f"queue {queue}", place, "spec.reclaimable", "false", 1, lambda _: True)

    def opened(self, queue: str) -> Iterator[Knob]:
        place = self.queues.get(queue)
        state = "Open" if place is None else self.objects[place].status.state
        if state != "Open":
            yield self._knob(f"queue {queue}", place, "status.state", state or "unset", 1, lambda _: "Open")

    # -- the job -----------------------------------------------------------------------------------

    def min_member(self, job: str) -> Iterator[Knob]:
        """The gang's minimum, and what follows from it: the part that its resources are of the minimum."""
        place = self.groups.get(job)
        if place is None or self.objects[place].spec.min_member <= 1:
            return
        group: PodGroup = self.objects[place]
        least = group.spec.min_member

        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            fewer = least - step
            spec = attrs.evolve(group.spec, min_member=fewer, min_resources=_scaled(group.spec.min_resources, fewer, least))
            return str(fewer), self._replaced(place, attrs.evolve(group, spec=spec)), self.conf

        yield Knob(f"job {job}", "min_member", str(least), least - 1, turn)

    def request(self, job: str, resource: str) -> Iterator[Knob]:
        """What each waiting pod of the job asks for, and with it the minimum's resources."""
        group = self.groups.get(job)
        pods = [(place, obj) for place, obj in enumerate(self.objects) if isinstance(obj, Pod) and _waits_in(obj, job)]
        asked = [quantity.parse(c.resources.requests[resource]) for _, pod in pods for c in pod.spec.containers
                 if resource in c.resources.requests]  # fmt: skip
        if group is None or not asked:
            return
        most = max(asked)
        step = min(_step(resource), most / 10) if resource in STEPS else 1

        def turn(i: int) -> tuple[str, Objects, SchedulerConfiguration]:
            objects, less = list(self.objects), i * step
            for place, pod in pods:
                containers = [_asking(c, resource, less) for c in pod.spec.containers]
                objects[place] = evolved(pod, "spec.containers", containers)
            spec = self.objects[group].spec
            objects[group] = evolved(self.objects[group], "spec.min_resources", _lowered(spec, resource, less, most))
            return _text(resource, max(most - less, 0)), objects, self.conf

        yield Knob(f"job {job}", f"request of {resource} a pod", _text(resource, most), int(most // step), turn)

    def requests(self, job: str) -> Iterator[Knob]:
        """All that each waiting pod of the job asks for, a tenth less a step, and with it the minimum's resources."""
        group = self.groups.get(job)
        pods = [(place, obj) for place, obj in enumerate(self.objects) if isinstance(obj, Pod) and _waits_in(obj, job)]
        if group is None or not pods:
            return

        def turn(i: int) -> tuple[str, Objects, SchedulerConfiguration]:
            objects = list(self.objects)
            for place, pod in pods:
                less = [_scaled(container.resources.requests, 10 - i, 10) for container in pod.spec.containers]
                objects[place] = evolved(pod, "spec.containers", [
                    evolved(container, "resources.requests", requests)
                    for container, requests in zip(pod.spec.containers, less, strict=True)])  # fmt: skip
            least = _scaled(objects[group].spec.min_resources, 10 - i, 10)
            objects[group] = evolved(objects[group], "spec.min_resources", least)
            return f"{100 - 10 * i} %", objects, self.conf

        yield Knob(f"job {job}", "requests a pod", "100 %", 9, turn)

    def tier(self, job: str) -> Iterator[Knob]:
        """The highest tier that the job's topology allows, or its sub-groups' (all of them together)."""
        place = self.groups.get(job)
        if place is None:
            return
        spec = self.objects[place].spec
        own = spec.network_topology.highest_tier_allowed if spec.network_topology else None
        if own is not None:
            yield self._knob(f"job {job}", place, "spec.network_topology.highest_tier_allowed", own, 8, lambda step: own + step)
        for number, policy in enumerate(spec.sub_group_policy):
            tier = policy.network_topology.highest_tier_allowed if policy.network_topology else None
            if tier is not None:
                yield self._policy_tier(job, place, number, tier)

    def _policy_tier(self, job: str, place: int, number: int, tier: int) -> Knob:
        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            policies = deepcopy(self.objects[place].spec.sub_group_policy)
            policies[number].network_topology.highest_tier_allowed = tier + step
            group = evolved(self.objects[place], "spec.sub_group_policy", policies)
            return str(tier + step), self._replaced(place, group), self.conf

        policy = self.objects[place].spec.sub_group_policy[number]
        return Knob(f"job {job}", f"highest_tier_allowed of {policy.name}", str(tier), 8, turn)

    # -- the cluster and the configuration ------------------------------------------------------------

    def nodes(self) -> Iterator[Knob]:
        """More nodes like one that is there; a knob for each kind of node."""
        known = set()
        for node in self.nodes_there:
            labels = {name: value for name, value in node.metadata.labels.items() if name != HOSTNAME}
            kind = repr((sorted(node.status.allocatable.items()), node.spec, sorted(labels.items())))
            if kind not in known:
                known.add(kind)
                yield Knob("cluster", f"nodes like {node.name}", "0 more", 16, partial(self._with_nodes, node))

    def _with_nodes(self, like: Node, count: int) -> tuple[str, Objects, SchedulerConfiguration]:
        names = [f"{like.name}-more-{number}" for number in range(count)]
        metas = [attrs.evolve(like.metadata, name=name, uid=f"{like.metadata.uid}-{name}",
                              labels=like.metadata.labels | {HOSTNAME: name}) for name in names]  # fmt: skip
        copies = [attrs.evolve(like, metadata=meta) for meta in metas]
        objects = [_with_members(obj, like.name, names) for obj in self.objects]
        last = max(place for place, obj in enumerate(objects) if isinstance(obj, Node))
        return f"{count} more", [*objects[: last + 1], *copies, *objects[last + 1 :]], self.conf

    def overcommit_factor(self) -> Iterator[Knob]:
        for number, tier in enumerate(self.conf.tiers):
            for place, option in enumerate(tier.plugins):
                if option.name == "overcommit":
                    factor = max(option.arguments.get_float("overcommit-factor", 1.2), 1.0)
                    turn = partial(self._with_factor, (number, place), factor)
                    yield Knob("configuration", "overcommit-factor", f"{factor:g}", 200, turn)

    def _with_factor(self, at: tuple[int, int], before: float, step: int) -> tuple[str, Objects, SchedulerConfiguration]:
        conf, factor = deepcopy(self.conf), before + step / 10
        conf.tiers[at[0]].plugins[at[1]].arguments["overcommit-factor"] = round(factor, 6)
        return f"{factor:g}", self.objects, conf


def _waits_in(pod: Pod, job: str) -> bool:
    group = pod.metadata.annotations.get(GROUP_NAME_ANNOTATION, "")
    return not pod.spec.node_name and f"{pod.namespace}/{group}" == job


def _asking(container: Any, resource: str, less: Any) -> Any:
    requests = container.resources.requests
    if resource not in requests:
        return container
    number = max(quantity.parse(requests[resource]) - less, 0)
    return evolved(container, "resources.requests", requests | {resource: _text(resource, number, requests[resource])})


def _scaled(amounts: dict[str, str] | None, part: int, whole: int) -> dict[str, str] | None:
    return amounts and {name: _text(name, quantity.parse(text) * part / whole, text) for name, text in amounts.items()}


def _lowered(spec: Any, resource: str, less: Any, most: Any) -> dict[str, str] | None:
    if not spec.min_resources or resource not in spec.min_resources:
        return spec.min_resources
    text = spec.min_resources[resource]
    return spec.min_resources | {resource: _text(resource, quantity.parse(text) * max(most - less, 0) / most, text)}


def _with_members(obj: KubernetesObject, like: str, names: list[str]) -> KubernetesObject:
    """A HyperNode that names a node also gets the nodes that are like it."""
    if not isinstance(obj, HyperNode):
        return obj
    named = [m for m in obj.spec.members if m.type == "Node" and m.selector.exact_match and m.selector.exact_match.name == like]
    if not named:
        return obj
    more = [MemberSpec("Node", MemberSelector(exact_match=ExactMatch(name))) for name in names]
    return evolved(obj, "spec.members", [*obj.spec.members, *more])
