"""One number that could be other than it is: a knob that is turned step by step on a copy of the
objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
from attrs import define

from volcano_lab.api import quantity
from volcano_lab.api.objects import KubernetesObject, Node, PodGroup, Queue
from volcano_lab.framework.config.conf import SchedulerConfiguration

Objects = Sequence[KubernetesObject]
STEPS = {"cpu": "100m", "memory": "64Mi"}
"""By how much amounts are turned; anything else by one."""


@define(slots=True, frozen=True)
class Knob:
    """One number: of `what`, in which `field`, `before`; `turn(i)` gives (the number after i steps,
    objects, conf).

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


def step_of(resource: str) -> Any:
    return quantity.parse(STEPS.get(resource, "1"))


def text_of(resource: str, number: Any, like: str = "") -> str:
    return quantity.to_text(
        number,
        "BinarySI" if resource == "memory" else quantity.style_of(like) if like else "DecimalSI")


class KnobSet:
    """The objects and the configuration that knobs turn, and how one field of one object is turned.
    """

    def __init__(self, objects: Objects, conf: SchedulerConfiguration):
        self.objects, self.conf = list(objects), conf
        self.queues = {
            obj.name: place for place, obj in enumerate(self.objects) if isinstance(obj, Queue)
        }
        self.groups = {
            obj.key: place for place, obj in enumerate(self.objects) if isinstance(obj, PodGroup)
        }
        self.nodes_there = [obj for obj in self.objects if isinstance(obj, Node)]

    def _most(self, resource: str) -> int:
        """Steps with which an amount outgrows the whole cluster twice."""
        amounts = (node.status.allocatable.get(resource, "0") for node in self.nodes_there)
        return int(2 * sum(map(quantity.parse, amounts)) // step_of(resource)) + 1

    def _replaced(self, place: int, obj: KubernetesObject) -> list[KubernetesObject]:
        return [*self.objects[:place], obj, *self.objects[place + 1 :]]

    def _knob(self, what: str, place: int, path: str, before: Any, steps: int,
              value: Callable[[int], Any], text: Callable[[Any], str] = str) -> Knob:
        obj = self.objects[place]

        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            after = value(step)
            return text(after), self._replaced(place, evolved(obj, path, after)), self.conf

        return Knob(what,
                    path.removeprefix("spec.").removeprefix("status."), text(before), steps, turn)


def scaled(amounts: dict[str, str] | None, part: int, whole: int) -> dict[str, str] | None:
    return amounts and {
        name: text_of(name,
                      quantity.parse(text) * part / whole, text) for name, text in amounts.items()
    }
