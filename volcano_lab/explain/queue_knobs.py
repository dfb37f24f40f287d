"""What a queue's author could have written otherwise: weight, amounts, whether it may be reclaimed
from, its state.
"""

from __future__ import annotations

from collections.abc import Iterator

from volcano_lab.api import quantity
from volcano_lab.explain.explanation import Amounts, in_quantity
from volcano_lab.explain.knob import Knob, KnobSet, Rank, evolved, step_of, steps, text_of


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
                yield self._once(f"queue {queue}", place, "spec.priority", after)

    def _amounts(self, place: int, field: str) -> tuple[str, dict[str, str]]:
        """Where a queue's amounts of a kind are, and these."""
        spec = self.objects[place].spec
        path, found = ("spec.guarantee.resource", spec.guarantee.resource) if (
            field == "guarantee") else (f"spec.{field}", getattr(spec, field))
        return path, dict(found or {})

    def raised(self, queue: str, field: str, wanted: Amounts, each: Amounts | None = None,
               steps: int = 1) -> Iterator[Knob]:
        """`capability`, `deserved` or `guarantee` of some resources, raised to these amounts, by
        `each` more a step; a capability that isn't set is no limit.
        """
        place = self.queues.get(queue)
        if place is None:
            return
        path, amounts = self._amounts(place, field)
        names = [name for name, amount in wanted.items()
                 if (field != "capability" or name in amounts)
                 and quantity.parse(amounts.get(name, "0")) < in_quantity(name, amount)]

        def after(step: int) -> dict[str, str]:
            return amounts | {name: text_of(name, in_quantity(
                name, wanted[name] + (step - 1) * (each or {}).get(name, 0.0)),
                amounts.get(name, "")) for name in names}

        if names:
            yield self._knob(f"queue {queue}", place, path, amounts, steps, after,
                             lambda a: ", ".join(f"{name} {a.get(name, '0')}" for name in names))

    def lowered(self, queue: str, field: str, resource: str, least: float) -> Iterator[Knob]:
        """`deserved` or `guarantee` of one resource, lowered by about this amount."""
        place = self.queues.get(queue)
        path, kept = self._amounts(place, field) if place is not None else ("", {})
        text = kept.get(resource, "0")
        before = quantity.parse(text)
        if before:
            step = step_of(resource, before)
            yield self._knob(f"queue {queue}", place, path, kept, int(before // step), lambda i: {
                **kept, resource: text_of(resource, before - i * step, text)}, lambda a: (
                    f"{resource} {a[resource]}"), first=steps(resource, 0, least, step))

    def reclaimable(self, queue: str, value: bool = True) -> Iterator[Knob]:
        place = self.queues.get(queue)
        if place is not None and (self.objects[place].spec.reclaimable is not False) != value:
            yield self._once(f"queue {queue}", place, "spec.reclaimable", value,
                             text=lambda a: str(a is not False).lower(), rank=Rank.SWITCH)

    def opened(self, queue: str) -> Iterator[Knob]:
        """That a queue be open, with those above it: below a closed one none can be opened."""
        closed: dict[str, int] = {}
        name, states = queue, []
        while (place := self.queues.get(name)) is not None and name not in closed:
            if self.objects[place].status.state != "Open":
                closed[name] = place
                states.append(self.objects[place].status.state or "unset")
            elif name != queue:
                break
            name = self.objects[place].spec.parent
        if closed:
            opened = {place: evolved(self.objects[place], "status.state", "Open")
                      for place in closed.values()}
            yield Knob(f"queue {' and '.join(reversed(closed))}", "state", states[0], 1,
                       lambda _: ("Open", self._replaced(opened), self.conf), Rank.SWITCH)
