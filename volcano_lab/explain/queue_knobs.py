"""What a queue's author could have written otherwise: weight, amounts, whether it may be reclaimed
from, its state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from volcano_lab.api import Resource, quantity, total
from volcano_lab.api.objects import KubernetesObject, ObjectMeta, Queue
from volcano_lab.api.objects.volcano import Guarantee, QueueSpec, QueueStatus
from volcano_lab.explain.explanation import Amounts, in_quantity
from volcano_lab.explain.knob import Knob, KnobSet, Rank, Turned, evolved, step_of, steps, text_of
from volcano_lab.messages import listed


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

    def _with(self, path: str, values: dict[str, Any]) -> list[KubernetesObject]:
        """The objects with a field of some queues set."""
        return self._replaced({(at := self.queues[name]): evolved(self.objects[at], path, value)
                               for name, value in values.items()})

    def _amounts(self, place: int, field: str) -> tuple[str, dict[str, str]]:
        """Where a queue's amounts of a kind are, and these."""
        spec = self.objects[place].spec
        path, found = ("spec.guarantee.resource", spec.guarantee.resource) if (
            field == "guarantee") else (f"spec.{field}", getattr(spec, field))
        return path, dict(found or {})

    def raised(self, queue: str, field: str, wanted: Amounts, each: Amounts | None = None,
               steps: int = 1, unset: bool = False) -> Iterator[Knob]:
        """`capability`, `deserved` or `guarantee` of some resources, raised to these amounts, by
        `each` more a step; a capability that isn't set is no limit, but where it names some
        resources only there is nothing of others in a tree (`unset`: these).
        """
        place = self.queues.get(queue)
        if place is None:
            return
        path, amounts = self._amounts(place, field)

        def meant(name: str) -> bool:
            missing = field == "capability" and name not in amounts
            return missing == unset and bool(amounts or not missing) and name != "pods"

        names = [name for name, amount in wanted.items() if meant(name)
                 and quantity.parse(amounts.get(name, "0")) < in_quantity(name, amount)]

        def after(step: int) -> dict[str, str]:
            return amounts | {name: text_of(name, in_quantity(
                name, wanted[name] + (step - 1) * (each or {}).get(name, 0.0)),
                amounts.get(name, "")) for name in names}

        if names:
            yield self._knob(f"queue {queue}", place, path, amounts, steps, after,
                             lambda a: ", ".join(f"{name} {a.get(name, '0')}" for name in names))

    def lowered(self, queue: str, field: str, resource: str, least: float) -> Iterator[Knob]:
        """`deserved` or `guarantee` of one resource, lowered by about this amount; with it those of
        queues below, where they would come to more.
        """
        place = self.queues.get(queue)
        path, kept = self._amounts(place, field) if place is not None else ("", {})
        text = kept.get(resource, "0")
        before = quantity.parse(text)
        if before:
            step = step_of(resource, before)

            def turn(i: int) -> Turned:
                lower = self._lower(queue, field, resource, before - i * step, {})
                objects = self._with(path, {name: self._amounts(self.queues[name], field)[1] | {
                    resource: after} for name, after in lower.items()})
                first, *more = [f"{name} {resource} {after}" for name, after in lower.items()]
                after = first.removeprefix(f"{queue} ") + f", with {listed(more)}" * bool(more)
                return after, objects, self.conf

            yield Knob(f"queue {queue}", path.removeprefix("spec."), f"{resource} {text}",
                       int(before // step), turn, first=steps(resource, 0, least, step))

    def _lower(self, queue: str, field: str, resource: str, most: Any,
               done: dict[str, str]) -> dict[str, str]:
        """A queue's amount lowered to this, and those below it, the largest first, so that their
        sum is no more: Volcano's webhooks want that.
        """
        kept = {name: amounts[resource] for name, at in self.queues.items()
                if resource in (amounts := self._amounts(at, field)[1])}
        done[queue] = text_of(resource, most, kept[queue])
        below = [(-quantity.parse(text), name) for name, text in kept.items() if name not in done
                 and self.objects[self.queues[name]].spec.parent == queue]
        over = -sum(amount for amount, _ in below) - most
        for amount, name in sorted(below):
            if over > 0 > amount:
                self._lower(name, field, resource, -amount - min(over, -amount), done)
            over += amount
        return done

    def parents(self, missing: str, known: str) -> Iterator[Knob]:
        """That the queues which name a parent that does not exist name one that does, or that it be
        made, with all that they are to have.
        """
        below = [name for name, at in self.queues.items()
                 if self.objects[at].spec.parent == missing]
        if known:
            yield Knob(f"queue {' and '.join(below)}", "parent", missing, 1, lambda _: (
                known, self._with("spec.parent", dict.fromkeys(below, known)), self.conf))
        yield from self.made(missing, *below)

    def made(self, queue: str, *below: str) -> Iterator[Knob]:
        """That there be a queue of this name, below the root."""
        sums = (total(Resource.from_list(self._amounts(self.queues[each], field)[1])
                      for each in below) for field in ("capability", "deserved", "guarantee"))
        capability, deserved, kept = ({name: text_of(name, in_quantity(name, amount))
                                       for name, amount in each if amount} for each in sums)
        new = Queue(ObjectMeta(queue), QueueSpec(
            1, capability or None, deserved or None, Guarantee(kept)), QueueStatus("Open"))
        yield Knob(f"queue {queue}", "", "", 1, lambda _: ("made", [*self.objects, new], self.conf),
                   said=lambda _: f"create queue {queue}")

    def reclaimable(self, queue: str, value: bool = True) -> Iterator[Knob]:
        place = self.queues.get(queue)
        if place is not None and (self.objects[place].spec.reclaimable is not False) != value:
            yield self._once(f"queue {queue}", place, "spec.reclaimable", value,
                             text=lambda a: str(a is not False).lower(), rank=Rank.SWITCH)

    def opened(self, queue: str) -> Iterator[Knob]:
        """That a queue be open, with those above it: below a closed one none can be opened."""
        states = {name: self.objects[self.queues[name]].status.state for name in self.line(queue)}
        closed = {name: state or "unset" for name, state in states.items() if state != "Open"}
        if closed:
            opened = self._with("status.state", dict.fromkeys(closed, "Open"))
            before = next(iter(closed.values()))
            yield Knob(f"queue {' and '.join(reversed(closed))}", "state", before, 1,
                       lambda _: ("Open", opened, self.conf), Rank.SWITCH)
