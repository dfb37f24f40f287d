"""One thing that could be other than it is: a knob that is turned step by step on a copy of the
objects or the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import ceil
from typing import Any

import attrs
from attrs import define

from volcano_lab.api import ROOT_QUEUE, quantity
from volcano_lab.api.objects import KubernetesObject, Node, Pod, PodGroup, Queue
from volcano_lab.api.task import GROUP_NAME
from volcano_lab.explain.explanation import in_quantity
from volcano_lab.framework import SchedulerConfiguration

Objects = Sequence[KubernetesObject]
Turned = tuple[str, Objects, SchedulerConfiguration]
STEPS = {"cpu": ("100m", "1"), **dict.fromkeys(("memory", "ephemeral-storage"), ("64Mi", "1Gi"))}
"""By how much amounts are turned: small ones, whole ones of two or more; anything else by one."""


class Rank:
    """How much a turn changes, from what nobody misses to what has to be bought or waited for."""

    HARMLESS, SWITCH, QUEUE, JOB, OTHERS, REQUEST, NODES, WAIT = range(8)


@define(slots=True, frozen=True)
class Knob:
    """One thing: of `what`, in which `field`, `before`; `turn(i)` gives (what it is after i steps,
    objects, conf).

    There are `steps` of them; `first` is about how many it takes. `rank` says how much it changes,
    `said` how a turn is told (unset: "field before -> after").
    """

    what: str
    field: str
    before: str
    steps: int
    turn: Callable[[int], Turned]
    rank: int = Rank.QUEUE
    first: int = 1
    said: Callable[[str], str] | None = None

    def text(self, after: str) -> str:
        """The change as one would tell it to a colleague."""
        if self.said is not None:
            return self.said(after)
        return f"{self.what}: {self.field} {self.before} -> {after}"

    def then(self, done: str, second: Knob) -> Knob:
        """This one, turned to `done`, and a second one that was made of what it left."""
        return attrs.evolve(second, what=f"{self.what} and {second.what}", rank=max(
            self.rank, second.rank), said=lambda after: f"both: {self.text(done)}; "
            f"{second.text(after)}")


def evolved(obj: Any, path: str, value: Any) -> Any:
    """A copy of an object with one field, some levels down, set.

    >>> evolved(Queue(), "spec.weight", 3).spec.weight
    3
    """
    name, _, rest = path.partition(".")
    if isinstance(obj, list):
        at = int(name)
        return [*obj[:at], evolved(obj[at], rest, value), *obj[at + 1:]]
    return attrs.evolve(obj, **{name: evolved(getattr(obj, name), rest, value) if rest else value})


def step_of(resource: str, amount: Any = 0) -> Any:
    """The step in which an amount is turned: whole CPUs and gibibytes, unless it is finer."""
    page = resource.partition("hugepages-")[2] or "1"
    small, large = (quantity.parse(text) for text in STEPS.get(resource, (page, page)))
    fine = amount % large and (resource == "cpu" or amount < 16 * large)
    return large if amount >= 2 * large and not fine else small


def steps(resource: str, before: Any, amount: float, step: Any) -> int:
    """How many steps lie between a quantity and an amount in internal units, at least one."""
    wanted = float(in_quantity(resource, amount))
    return max(ceil(round(abs(wanted - float(before)) / float(step), 6)), 1)


def text_of(resource: str, number: Any, like: str = "") -> str:
    """A quantity; whole mebibytes as such, anything else as what it is `like`.

    >>> text_of("memory", 2**34, "64e9"), text_of("memory", 10**9, "64e9"), text_of("cpu", 2, "1e1")
    ('16Gi', '1e9', '2')
    """
    whole = number % 2**20 == 0 and resource.startswith((*STEPS, "hugepages")[1:])
    return quantity.to_text(number, "BinarySI" if whole else quantity.style_of(like or "0"))


class KnobSet:
    """The objects and the configuration that knobs turn, and how one field of one object is turned.
    """

    def __init__(self, objects: Objects, conf: SchedulerConfiguration,
                 called: Callable[[str], str] = str):
        self.objects, self.conf, self.called = list(objects), conf, called
        self.queues = {obj.name: place for place, obj in enumerate(self.objects)
                       if isinstance(obj, Queue)}
        self.groups = {obj.key: place for place, obj in enumerate(self.objects)
                       if isinstance(obj, PodGroup)}
        self.nodes_there = {obj.name: place for place, obj in enumerate(self.objects)
                            if isinstance(obj, Node)}
        self.pods: dict[str, list[int]] = {}
        for place, obj in enumerate(self.objects):
            if isinstance(obj, Pod):
                group = obj.metadata.annotations.get(GROUP_NAME, "")
                self.pods.setdefault(f"{obj.namespace}/{group}", []).append(place)

    def waiting(self, job: str) -> dict[int, Pod]:
        """The places of a job's pods that have no node."""
        return {place: self.objects[place] for place in self.pods.get(job, ())
                if not self.objects[place].spec.node_name}

    def nodes_called(self, names: Iterable[str]) -> dict[str, Node]:
        """Those of these nodes that are there: a cause may name some that a change has brought."""
        return {name: self.objects[self.nodes_there[name]] for name in names
                if name in self.nodes_there}

    def line(self, queue: str) -> list[str]:
        """A queue that is there, and those above it."""
        names: list[str] = []
        while queue in self.queues and queue not in names:
            names.append(queue)
            queue = self.objects[self.queues[queue]].spec.parent or ROOT_QUEUE
        return names

    def _replaced(self, changed: dict[int, KubernetesObject]) -> list[KubernetesObject]:
        return [changed.get(place, obj) for place, obj in enumerate(self.objects)]

    def _once(self, what: str, place: int, path: str, after: Any, said: str = "",
              text: Callable[[Any], str] = str, rank: int = Rank.QUEUE, field: str = "") -> Knob:
        """One field of an object, set to what it should be."""
        before = reduce(lambda obj, name: obj[int(name)] if isinstance(obj, list) else getattr(
            obj, name), path.split("."), self.objects[place])
        return self._knob(what, place, path, before, 1, lambda _: after, text, field, rank=rank,
                          said=(lambda _: said) if said else None)

    def _knob(self, what: str, place: int, path: str, before: Any, steps: int,
              value: Callable[[int], Any], text: Callable[[Any], str] = str, field: str = "",
              **facts: Any) -> Knob:
        obj = self.objects[place]

        def turn(step: int) -> Turned:
            after = value(step)
            return text(after), self._replaced({place: evolved(obj, path, after)}), self.conf

        return Knob(what, field or path.removeprefix("spec.").removeprefix("status."), text(before),
                    steps, turn, **facts)
