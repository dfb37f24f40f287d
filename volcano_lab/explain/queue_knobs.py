"""What a queue's author could have written otherwise: weight, amounts, whether it may be reclaimed
from, its state.
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import quantity
from volcano_lab.explain.explanation import Amounts, in_quantity
from volcano_lab.explain.knob import SWITCH, Knob, KnobSet, step_of, steps_to, text_of


class QueueKnobs(KnobSet):
    """The knobs of queues."""

    def weight(self, queue: str) -> Iterator[Knob]:
        place = self.queues.get(queue)
        if place is not None:
            before = self.objects[place].spec.weight
            yield self._knob(f"queue {queue}", place, "spec.weight", before, 1000,
                             lambda step: before + step)

    def queue_priority(self, queue: str, like: str) -> Iterator[Knob]:
        """That a queue have the priority of another."""
        place, other = self.queues.get(queue), self.queues.get(like)
        if place is not None and other is not None:
            before, after = (self.objects[at].spec.priority for at in (place, other))
            if before != after:
                yield self._knob(f"queue {queue}", place, "spec.priority", before, 1,
                                 lambda _: after)

    def raised(self, queue: str, field: str, wanted: Amounts, each: Amounts | None = None,
               steps: int = 1) -> Iterator[Knob]:
        """`capability`, `deserved` or `guarantee` of some resources, raised to these amounts, by
        `each` more a step; a capability that isn't set is no limit.
        """
        place = self.queues.get(queue)
        if place is None:
            return
        path = "spec.guarantee.resource" if field == "guarantee" else f"spec.{field}"
        spec = self.objects[place].spec
        amounts = dict((spec.guarantee.resource if field == "guarantee" else getattr(spec, field))
                       or {})
        names = [name for name, amount in wanted.items()
                 if (field != "capability" or quantity.parse(amounts.get(name, "0")))
                 and quantity.parse(amounts.get(name, "0")) < in_quantity(name, amount)]

        def after(step: int) -> dict[str, str]:
            return amounts | {name: text_of(name, in_quantity(
                name, wanted[name] + (step - 1) * (each or {}).get(name, 0.0)),
                amounts.get(name, "")) for name in names}

        if names:
            yield self._knob(f"queue {queue}", place, path, amounts, steps, after,
                             lambda a: ", ".join(f"{name} {a.get(name, '0')}" for name in names))

    def guarantee(self, queue: str, resource: str, least: float) -> Iterator[Knob]:
        """What is kept for a queue of one resource, lowered by about this amount."""
        place = self.queues.get(queue)
        kept = dict(self.objects[place].spec.guarantee.resource or {}) if place is not None else {}
        text = kept.get(resource, "0")
        before = quantity.parse(text)
        if before:
            step = step_of(resource, before)
            yield self._knob(f"queue {queue}", place, "spec.guarantee.resource", kept,
                             int(before // step),
                             lambda i: kept |
                             {resource: text_of(resource, before - i * step, text)},
                             lambda a: f"{resource} {a.get(resource, '0')}",
                             first=steps_to(resource, 0, least, step))

    def reclaimable(self, queue: str) -> Iterator[Knob]:
        place = self.queues[queue]
        if self.objects[place].spec.reclaimable is False:
            yield self._knob(f"queue {queue}", place, "spec.reclaimable", "false", 1,
                             lambda _: True, lambda a: str(a).lower(), rank=SWITCH)

    def opened(self, queue: str) -> Iterator[Knob]:
        place = self.queues.get(queue)
        state = "Open" if place is None else self.objects[place].status.state
        if state != "Open":
            yield self._knob(f"queue {queue}", place, "status.state", state or "unset", 1,
                             lambda _: "Open", rank=SWITCH)
