"""What queues may be given, so that the answer turns: shares, limits, parents, node groups.

Volcano: none
"""

from collections.abc import Iterator
from itertools import accumulate, product
from math import ceil
from typing import Any

from volcano_lab.api import PIPELINED, Resource, total
from volcano_lab.changes import Change, at_path
from volcano_lab.explain import evidence, lint, options, sizes, values
from volcano_lab.explain.explanation import Amounts, added, over, part
from volcano_lab.explain.options import Case, Numbers, Option, Rank, once, setting
from volcano_lab.plugins.nodegroup import NODE_GROUP_LABEL
from volcano_lab.trace import amounts, queue_attributes

GROUPS = ("affinity", "nodeGroupAffinity", options.REQUIRED)


class OfQueues(Case):
    """The options that change queues, or how plugins compute their shares."""

    def unset(self, numbers: Numbers) -> Iterator[Option]:
        """All that the cluster has of a resource that a capability does not name."""
        for name in self.world.line(numbers["level"]) if not all(numbers["limit"].values()) else ():
            yield from values.raised(self.world, name, "capability",
                                     [amounts(self.ssn.total_resource)], True)

    def limits(self, numbers: Numbers) -> Iterator[Option]:
        """A higher capability of the queue that refused, or less that is guaranteed to others: to
        those without jobs nothing.
        """
        level = numbers.get("level", self.job.queue)
        levels, known = self._levels(level, numbers), queue_attributes(self.ssn).get(level)
        if self.job.is_ready() and known is not None:  # for the next pod, and for all that wait
            whole = amounts(known.allocated + evidence.still_needed(self.job))
            yield from values.raised(self.world, level, "capability", [whole])
            levels = [each for each in levels if each != whole]
        # Each has what the lesser ones have, too: of other resources as much as the gang takes.
        yield from values.raised(self.world, level, "capability", [*accumulate(
            levels, lambda less, more: more | {
                name: max(amount, more.get(name, 0.0)) for name, amount in less.items()})])
        used = {name for job in self.ssn.jobs.values() for name in self.world.line(job.queue)}
        for other in [name for name in self.world.queues if name not in (self.job.queue, level)]:
            for name, amount in sizes.missing(numbers).items():
                yield from values.lowered(self.world, other, "guarantee.resource", name, amount)
            if other not in used:
                yield once(f"queue/{other}.guarantee=null")

    def _levels(self, level: str, numbers: Numbers) -> list[Amounts]:
        """What a queue has to hold, the least first: what was refused, with what enqueue leaves out
        of its sum, with the gang whole, with all of its pods; with more, where others come first.
        """
        asked, more, each = (Resource.from_dict(numbers.get(name, {}))
                             for name in ("asked", "elastic", "each"))
        known = queue_attributes(self.ssn).get(level)
        held = total([known.allocated if known is not None else asked - each, *(
            task.init_resreq for task in self.job.in_status(PIPELINED).values())])
        found = [asked, asked + more, held + evidence.still_needed(self.job, max(
            self.job.min_available, 1)), held + evidence.still_needed(self.job)]
        if "each" in numbers:  # others may come first, and take what is added
            count = sum(len(evidence.unplaced(other)) for other in self.ssn.jobs.values())
            found += [asked + each * number for number in range(1, count)]
        short = numbers.get("short_of", ())
        rows = {repr(row): row for row in map(amounts, found) if all(
            row.get(name, 0.0) >= numbers["asked"].get(name, 0.0) for name in short)}
        return sorted(rows.values(), key=lambda row: [row.get(name, 0.0) for name in (
            *short, "cpu", "memory")])

    def deserves(self, _: Numbers | None = None, level: Resource | None = None) -> Iterator[Option]:
        """That the job's queue deserve more: by its weight, or by the field that capacity reads as
        much as a `level`, or all that it requests: of what queues name there, or of the rest, too.
        """
        known = queue_attributes(self.ssn).get(self.job.queue)
        if "proportion" in self.ssn.plugins:
            before = self.world.queues[self.job.queue].spec.weight or 0
            yield values.stepped(f"queue/{self.job.queue}.weight", before, steps=1000)
            used = {job.queue for job in self.ssn.jobs.values()}
            if all(self.world.queues[name].spec.deserved for name in used):  # which capacity reads
                tier = len(self.world.conf.tiers)
                yield once("plugin/proportion.tier=null", f"plugin/capacity.tier={tier}",
                           rank=Rank.SWITCH)
        elif "capacity" in self.ssn.plugins and known is not None:
            wanted = amounts(known.request if level is None else level)
            named = {name for queue in self.world.queues.values() for name in (
                queue.spec.deserved or ())}
            levels = part(wanted, [name for name in wanted if name in named]), wanted
            yield from options.stages(map(self._deserved, levels))
            yield self._deserved_above(over(wanted, amounts(known.deserved)))

    def _deserved(self, level: Amounts) -> Change:
        """As much as a level deserved, within the capability: one that names other resources only
        names these, too, with all that the cluster has.
        """
        whole = part(amounts(self.ssn.total_resource), level)
        return Change(tuple(text for field, amount in (("deserved", level), ("capability", whole))
                            for option in values.raised(self.world, self.job.queue, field, [amount],
                                                        field == "capability")
                            for text in option.most.settings))

    def _deserved_above(self, more: Amounts) -> Option:
        """More that its queue deserves, and each queue above that names these resources."""
        texts: list[str] = []
        for name in self.world.line(self.job.queue):
            own = self.world.queues[name].spec.deserved or {}
            level = part(added(amounts(Resource.from_list(own)), more), own)
            for option in values.raised(self.world, name, "deserved", [level]):
                texts += option.most.settings
        return once(*texts)

    def less_deserved(self, numbers: Numbers) -> Iterator[Option]:
        """One plugin that computes shares instead of two, or less that others deserve by capacity.
        """
        if self.ssn.plugins.keys() >= lint.SHARES:
            yield once(f"plugin/{numbers['plugin']}.tier=null", rank=Rank.SWITCH)
        if "capacity" in self.ssn.plugins:
            for other, (name, amount) in product(numbers["queues"], numbers["short_of"].items()):
                yield from values.lowered(self.world, other, "deserved", name, amount)

    def node_groups(self, numbers: Numbers) -> Iterator[Option]:
        """That the queue inherit its node groups, or require one that exists, or that a node be in
        one that it requires.
        """
        queues, there = self.world.queues, self.world.nodes_called(numbers["names"])
        holder = next((name for name in self.world.line(self.job.queue)
                       if queues[name].spec.affinity), self.job.queue)
        if holder != self.job.queue and not self.ssn.hierarchy_enabled("nodegroup"):
            yield options.switched("nodegroup", "enableHierarchy", True)
            holder = self.job.queue
        required = at_path(queues[holder], ("spec", *GROUPS)) or []
        groups = {name: node.metadata.labels.get(NODE_GROUP_LABEL) for name, node in there.items()}
        for group in dict.fromkeys(filter(None, groups.values())):
            yield once(setting(f"queue/{holder}", *GROUPS, to=[*required, group]), kind="group")
        free = [name for name, group in groups.items() if group is None]
        for name in (free or there) if required else ():
            yield once(options.label_set(name, NODE_GROUP_LABEL, required[0]),
                       rank=Rank.QUEUE if free else Rank.OTHERS, kind="label")
        if not required:
            yield once("plugin/nodegroup.strict=false", rank=Rank.SWITCH)

    def factor(self, numbers: Numbers) -> Iterator[Option]:
        """The overcommit factor, to about what the sum of the cause takes."""
        overcommit: Any = self.ssn.plugins["overcommit"]
        whole, factor = self.ssn.total_resource, overcommit.factor
        more = max((amount / whole.get(name) for name, amount in sizes.missing(numbers).items()
                    if whole.get(name)), default=0.0)
        first = max(ceil(round(more * 10, 6)), 1)
        yield values.stepped("plugin/overcommit.overcommit-factor", factor, 0.1, max(200, first),
                             first=first)
