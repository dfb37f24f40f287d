"""What a queue's author could have written otherwise: weight, amounts, whether it may be reclaimed
from, its state.
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import quantity
from volcano_lab.explain.knob import Knob, KnobSet, scaled, step_of, text_of


class QueueKnobs(KnobSet):
    """The knobs of queues."""

    def weight(self, queue: str, sign: int = 1) -> Iterator[Knob]:
        place = self.queues.get(queue)
        if place is not None:
            before = self.objects[place].spec.weight
            steps = 1000 if sign > 0 else before - 1
            yield self._knob(f"queue {queue}", place, "spec.weight", before, steps,
                             lambda step: before + sign * step)

    def amount(self, queue: str, field: str, resource: str, sign: int = 1) -> Iterator[Knob]:
        """`capability`, `deserved` or `guarantee` of one resource; one that isn't named can't be
        turned down.
        """
        place = self.queues.get(queue)
        if place is None:
            return
        path = "spec.guarantee.resource" if field == "guarantee" else f"spec.{field}"
        spec = self.objects[place].spec
        amounts = dict((spec.guarantee.resource if field == "guarantee" else getattr(spec, field))
                       or {})
        text, step = amounts.get(resource, "0"), step_of(resource)
        if field == "capability" and not quantity.parse(text):
            return  # no limit
        before = quantity.parse(text)
        steps = self._most(resource) if sign > 0 else int(before // step)
        yield self._knob(
            f"queue {queue}", place, path, amounts, steps,
            lambda i: amounts | {resource: text_of(resource, before + sign * i * step, text)},
            lambda a: f"{resource} {a.get(resource, '0')}")

    def capability_factor(self, queue: str) -> Iterator[Knob]:
        """All amounts of a capability together, a tenth more a step."""
        place = self.queues.get(queue)
        amounts = self.objects[place].spec.capability if place is not None else None
        if amounts:
            yield self._knob(
                f"queue {queue}", place, "spec.capability", 1.0, 190,
                lambda i: scaled(amounts, 10 + i, 10), lambda a: "as it is"
                if a == 1.0 else ", ".join(f"{n} {t}" for n, t in a.items()))

    def reclaimable(self, queue: str) -> Iterator[Knob]:
        place = self.queues[queue]
        if self.objects[place].spec.reclaimable is False:
            yield self._knob(f"queue {queue}", place, "spec.reclaimable", "false", 1,
                             lambda _: True)

    def opened(self, queue: str) -> Iterator[Knob]:
        place = self.queues.get(queue)
        state = "Open" if place is None else self.objects[place].status.state
        if state != "Open":
            yield self._knob(f"queue {queue}", place, "status.state", state or "unset", 1,
                             lambda _: "Open")
