"""Which changes may turn the answer: for each cause those that a maintainer would think of.

Volcano: none
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from volcano_lab.api import FAILED, PIPELINED, ROOT_QUEUE, JobInfo, objects as api, total
from volcano_lab.api.job import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE
from volcano_lab.api.task import REVOCABLE_ZONE
from volcano_lab.changes import Change, Draft, value_before, value_of, value_text
from volcano_lab.explain import (
    configuration,
    evictions,
    options,
    others,
    owners,
    rules,
    sizes,
    values,
)
from volcano_lab.explain.configuration import SWITCHED, in_order, switched, without_action
from volcano_lab.explain.evidence import ended
from volcano_lab.explain.explanation import TABLES, Cause, added, part
from volcano_lab.explain.options import Numbers, Option, Rank, World, gone, once, several
from volcano_lab.explain.requests import still_needed
from volcano_lab.framework import Session
from volcano_lab.plugins.sla import WAITING_TIME
from volcano_lab.trace import amounts, grouped, queue_attributes

RANGES = {"not_created.max": ("max",), "not_created.above": ("max", "default"),
          "not_created.min": ("min",)}
"""The fields of a LimitRange that refuse a pod, by the message that says so."""
CAPABILITY = ("queue_over_capability", "ancestor_over_capability")
SHARE = ("over_deserved", "overused")
FEW = 3
"""The most nodes that leave their zone together."""
DESERVED = re.compile(r"queue/[^.]+\.deserved[.[]([^]=]+)")
"""A setting of what a queue deserves of a resource."""


def candidates(world: World, ssn: Session, job: JobInfo, causes: list[Cause], keep: bool = False
               ) -> list[Option]:
    """The options of a job that waits, or (`keep`) whose pods are evicted, those that change least
    first; each once, and none that changes nothing.
    """
    found = Candidates(world, ssn, job)
    by = chain(*(found.by_table(cause) for cause in causes if cause.code == "shuffled"))
    return distinct(world, chain(by, found.sparing(causes)) if keep else found.waiting(causes))


def distinct(world: World, options: Iterable[Option]) -> list[Option]:
    """Options by their rank, each once, without those that change nothing."""
    found = grouped((option.most, option) for option in sorted(
        options, key=lambda option: option.rank) if option.steps > 0)
    draft = Draft(world.objects, world.index)
    return [option for change, (option, *_) in found.items() if change.removals or any(
        _differs(world, draft, text) for text in change.settings)]


def differing(world: World, change: Change) -> Change:
    """A change without the settings whose value is there; one of pods to come has none yet."""
    draft = Draft(world.objects, world.index)
    return Change(tuple(text for text in change.settings if _differs(world, draft, text)
                        or not value_before(draft, world.conf, text)),
                  change.removals, change.added)


def _differs(world: World, draft: Draft, text: str) -> bool:
    """Whether a setting sets another value, not that of a plugin that is not there; those that are
    found by their value in manifests do.
    """
    if Change((text,)).of_manifest:
        return True
    before, after = value_before(draft, world.conf, text), value_of(text.partition("=")[2], text)
    nothing = after in (None, []) or (text.startswith("plugin/") and ".enable" in text)
    return bool(before != after and (before or before is False or not nothing))


def steadying(world: World, ssn: Session, job: JobInfo, change: Change, loops: bool, free: bool
              ) -> list[Change]:
    """Return what keeps what a change gives for one cycle: where pods are evicted again and
    again (`loops`), allocate before what evicts, that drf names no victims where a tier above
    names none, or that another queue deserves what it is left with; where the job takes what is
    `free`, cordoned nodes uncordoned, one of them or all.
    """
    if loops:
        actions = world.applied(change)[1].actions
        return [option.most for option in distinct(world, [in_order(world), *(
            switched("drf", switch, False) for name, switch in SWITCHED.items()
            if name in actions)])] + [*_left_with(world, ssn, job, change)]
    nodes = [f"node/{name}.unschedulable=false" for name, node in world.nodes.items()
             if free and node.spec.unschedulable]
    return [*(Change((each,)) for each in nodes), *[Change(tuple(nodes))] * bool(nodes)]


def _left_with(world: World, ssn: Session, job: JobInfo, change: Change) -> Iterator[Change]:
    """That the queue which holds most of what a change lets the job's queue deserve deserves
    what it is left with.
    """
    names = [found[1] for found in map(DESERVED.match, change.settings) if found]
    if not names:
        return
    known, own = queue_attributes(ssn), job.queue
    leaves = {each.queue for each in ssn.jobs.values()} & {*known} - {own}
    held = {name: part(amounts(known[name].allocated), names) for name in sorted(leaves)}
    for name in sorted(held, key=lambda name: -sum(held[name].values()))[:1]:
        left = added(held[name], part(amounts(still_needed(job)), names), -1.0)
        for option in values.raised(world, name, "deserved", [left]):
            yield option.most


class Candidates(others.Others):
    """All options of a job: those for a cause by its table, and what may help whatever it is."""

    def waiting(self, causes: list[Cause]) -> Iterator[Option]:
        """Yield what may turn each cause, then what may help whatever the cause is."""
        world, job, codes = self.world, self.job, {cause.code for cause in causes}
        refuses = _lacks_pods(causes)
        for cause in causes:
            if cause.code != "gang_invalid" or not refuses:
                yield from self.by_table(cause)
            for uid in cause.numbers.get("stranded", ()):
                yield from self._gone([uid])
        yield from configuration.named_right(world, self.ssn)
        if "no_enqueue_action" not in codes:
            yield configuration.with_action(world, "allocate")
        if codes & {*sizes.FULL, *CAPABILITY, "over_deserved", "overcommit_refuses"}:
            yield from self._from_others()
        if codes & {*rules.OCCUPIED} and evictions.less_important(self.ssn, job, True):
            yield self._preempt("", True)
        if codes & {*CAPABILITY, *SHARE, "queue_closed", "refused", "node_group"}:
            yield from options.in_queues(world, [job.uid], self._other_queues(job.queue))
        yield from self._ends(causes)
        yield from self._fewer_of_others(causes)
        yield once(removals=tuple(f"pod/{task.key}" for task in job.in_status(FAILED).values()),
                   rank=Rank.HARMLESS)
        yield from sizes.less_or_more(world, self.ssn, job, causes)
        if not refuses and _fewer_start(causes):
            yield from self._smaller()
        yield from values.fewer(world, job.uid) if "other_scheduler" not in codes else ()
        if codes & {*CAPABILITY, "overcommit_refuses"} and job.is_pending():
            yield from self._without_enqueue()

    def _without_enqueue(self) -> Iterator[Option]:
        """Yield that no action admits jobs, a change for all of them; not where pods are created
        later.
        """
        if not any(map(owners.grows, self.ssn.jobs.values())):
            evicts = SWITCHED.keys() & {*self.world.conf.actions} and (  # which enqueue hinders
                self._others_hold() or evictions.less_important(self.ssn, self.job))
            yield without_action(self.world, "enqueue", Rank.SWITCH if evicts else Rank.LESS)

    def _smaller(self) -> Iterator[Option]:
        """A lower minimum of a gang, or of one of its roles; fewer pods where all have to run."""
        uid, whole = self.job.uid, owners.world_of(self.world.given, self.job)
        if whole and isinstance(whole[0], api.VolcanoJob):
            yield from values.smaller_world(whole[0])
        elif owners.comes_whole(self.job):
            yield values.minimum(self.world, uid)
        elif owners.kind_of(self.job) == "Job" and not owners.is_headed(self.job):
            yield from values.role_minima(self.world, uid)

    def sparing(self, causes: list[Cause]) -> Iterator[Option]:
        """Yield what may keep pods of the job from being evicted: plugins that were not asked,
        orders and switches, its priority, its queue's share, nodes; last, no evictions.
        """
        world, job = self.world, self.job
        numbers = [cause.numbers for cause in causes if "winners" in cause.numbers]
        actions = dict.fromkeys(name for each in numbers for name in each["actions"])
        winners = [self.ssn.jobs[uid] for each in numbers for uid in each["winners"]
                   if uid in self.ssn.jobs]
        unasked = [name for cause in causes for name in cause.numbers.get("later", ())]
        yield from self._asked(actions, unasked)
        yield in_order(world)
        yield switched("drf", "enableJobOrder", False)
        yield switched("priority", "enableJobOrder", True)
        yield switched("gang", "enableJobStarving", True)
        named = [plugin for each in numbers for plugin in each.get("named_by", ())]
        for action in actions:
            yield from configuration.keeping(action, named)
        most = max((winner.priority for winner in winners), default=job.priority)
        yield from self._above(most - 1) if most > job.priority else ()
        if "reclaim" in actions:
            for name in dict.fromkeys(winner.queue for winner in winners):
                yield once(f"queue/{job.queue}.priority={world.queues[name].spec.priority}")
            yield once(f"queue/{job.queue}.reclaimable=false", rank=Rank.SWITCH)
            yield from self.deserves(level=job.allocated + still_needed(job))
        yield once(f"{self.name}.annotations[volcano.sh/preemptable]=false", rank=Rank.SWITCH)
        for task in [*job.tasks.values()][:1]:  # none where they are created later
            yield from values.nodes(world, amounts(task.init_resreq), {}, self.ssn.nodes, {}, {})
        for action in actions:
            yield without_action(world, action, Rank.LESS)

    def unshuffled(self, numbers: Numbers) -> Iterator[Option]:
        """That shuffle evicts no pods, or none that are where they may run: by the hours of zones,
        as the pods are not preemptable or the budget of the job keeps them, or as the nodes are in
        no zone.
        """
        yield without_action(self.world, "shuffle", Rank.LESS)
        if numbers.get("names"):
            yield from self.open_hours(numbers)
            yield once(f"{self.name}.annotations[volcano.sh/preemptable]=false")
            budget, keeps = (JDB_MAX_UNAVAILABLE, 0) if self.job.max_unavailable_budget else (
                JDB_MIN_AVAILABLE, len(self.job.tasks))
            yield once(f"{self.name}.annotations[{budget}]={keeps}")
            if len(names := numbers["names"]) <= FEW:
                yield once(*(f"node/{name}.labels[{REVOCABLE_ZONE}]=null" for name in names),
                           rank=Rank.OTHERS)

    def _asked(self, actions: Iterable[str], unasked: list[str]) -> Iterator[Option]:
        """That the first tier have priority for preempt, and the plugins that were not asked; for a
        gang also with gang, as all of a tier have to agree.
        """
        for name in ["priority"] * ("preempt" in actions) + unasked:
            yield once(f"plugin/{name}.tier=1", rank=Rank.SWITCH)
        there = [option.name for option in self.world.conf.tiers[0].plugins]
        moved = [f"plugin/{name}.tier=1" for name in (*unasked, "gang") if name not in there]
        for action in actions if unasked and self.job.min_available > 1 else ():
            yield once(*moved, f"plugin/gang.{SWITCHED[action]}=true", rank=Rank.SWITCH)

    # -- by the cause -----------------------------------------------------------------------------

    def by_table(self, cause: Cause) -> Iterator[Option]:
        """Yield the options for a cause that the table of changes has."""
        facts = {"job": self.name, "pods": len(self.job.tasks), **cause.numbers,
                 "closed": [name for name in reversed(self.world.line(self.job.queue))
                            if self.world.queues[name].status.state != "Open"],
                 "in_time": ("plugin/sla.tier=1", f"{self.name}.annotations[{WAITING_TIME}]=1m"),
                 "queues": self.world.queues, "top": self.ssn.topology.tiers[-1],
                 "kept": [*map(self.world.job, cause.numbers.get("kept", ()))],
                 "tiers": len(self.world.conf.tiers), "ignored": ", ".join([
                     *self.world.conf.ignored_provisioners, str(cause.numbers.get("driver"))])}
        for field, was, meant in cause.numbers.get("slips", ()):
            yield once(*(f"{path}={value_text(meant)}" for path in self.world.written(
                self.job.uid, field, was)), rank=Rank.JOB)
        for row in TABLES["changes"].get(cause.code, ()):
            yield from getattr(self, row["finds"])(cause.numbers) if "finds" in row else ()
            if "actions" in row:
                yield configuration.with_action(self.world, *row["actions"])
            if ".minAvailable=" in row.get("path", "") and not (owners.comes_whole(self.job) or (
                    "={pods}" in row["path"] and owners.sets_minimum(self.job))):
                continue  # its operator computes the minimum
            rank = getattr(Rank, row.get("rank", "JOB"))
            texts = [row["path"].format(**facts, each=each) for each in (
                facts.get(row["each"], ()) if "each" in row else [""] * ("path" in row))]
            for some in [texts] if "whole" in row else [[text] for text in texts]:
                yield once(*some, kind=row.get("kind", ""), rank=rank)
            if "together" in row:
                yield several(texts, rank)

    def promised(self, numbers: Numbers) -> Iterator[Option]:
        """That a promised place is kept: by the order of the next cycle, or without evictions."""
        world, job = self.world, self.job
        takers = [self.ssn.jobs[uid] for uid in numbers.get("takers", ()) if uid in self.ssn.jobs]
        yield from self.limits(numbers) if "limit" in numbers else ()
        yield in_order(world)
        yield switched("drf", "enableJobOrder", False)
        yield from self.before(takers)
        known = queue_attributes(self.ssn).get(job.queue)
        promised = [task.init_resreq for task in job.in_status(PIPELINED).values()]
        yield from self.deserves(level=None if known is None else known.allocated + total(promised))
        for size in promised[:1]:
            yield from values.nodes(world, amounts(size), amounts(total(promised)),
                                    self.ssn.nodes, {}, {})

    def least(self, _: Numbers) -> Iterator[Option]:
        """That its gang's minimum is all of its pods, by the operator that computes it."""
        yield from values.least_replicas(self.world, self.job.uid)

    def quotas(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs are deleted of which all pods have ended, and count nevertheless, or one that
        it keeps from starting, too; that the ResourceQuota allow what the job lacks, or what the
        pods of all owners lack.
        """
        for uid in numbers.get("stuck", ())[:options.ENDED]:
            yield from self._gone([uid])
        yield from gone(self.world, [uid for uid in numbers.get("holders", ()) if ended(
            self.ssn.jobs[uid]) == len(self.ssn.jobs[uid].tasks)], Rank.HARMLESS)
        yield from options.quota_raised(numbers["quota"], *(
            numbers[level] for level in ("wanted", "for_all") if level in numbers))
        if "asked" in numbers:
            yield from values.within_quota(self.world, self.job.uid, numbers)

    def ranges(self, numbers: Numbers) -> Iterator[Option]:
        """That the LimitRange allow what a container has, or give it a limit that does."""
        bounds, asked = RANGES.get(numbers["by"], ()), numbers.get("asked")
        for obj in self.world.given if bounds and isinstance(asked, str) else ():
            if isinstance(obj, api.LimitRange) and obj.key == numbers["range"]:
                yield once(*(options.setting(
                    f"limitrange/{obj.key}", "spec", "limits", str(place), bound, numbers["name"],
                    to=asked) for place, item in enumerate(obj.spec.limits) for bound in bounds
                    if numbers["name"] in getattr(item, bound)))

    def to_leaves(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs of a queue that has others below it be in one of these, or another."""
        for queue, uids in numbers["inner"].items():
            yield from options.in_queues(self.world, uids, self._other_queues(queue))
            yield from self._gone(uids)

    def _other_queues(self, own: str) -> list[str]:
        """Some queues that are open and have none below them, the nearest below a queue first."""
        queues, line = self.world.queues, self.world.line
        parents = {queue.spec.parent for queue in queues.values()} | {ROOT_QUEUE, own}
        names = [name for name, queue in self.ssn.queues.items()
                 if queue.is_open and name not in parents]
        return sorted(names, key=lambda name: (own not in line(name), len(line(name))))[:4]

    # -- one thing each ---------------------------------------------------------------------------

    def disruptions(self, numbers: Numbers) -> Iterator[Option]:
        """That candidates have a label, or a PodDisruptionBudget let more of them go."""
        yield several([options.setting(f"pod/{key}", "metadata", "labels", "app",
                                       to=key.rpartition("/")[2])
                       for key in numbers.get("bare", ())], Rank.OTHERS)
        most = len(numbers["candidates"])
        for obj in self.world.objects:
            if not isinstance(obj, api.PodDisruptionBudget) or obj.key not in numbers["budgets"]:
                continue
            path, spec = f"poddisruptionbudget/{obj.key}", obj.spec
            if isinstance(spec.max_unavailable, int):
                yield values.stepped(f"{path}.maxUnavailable", spec.max_unavailable, steps=most,
                                     rank=Rank.OTHERS)
            elif isinstance(spec.min_available, int) and spec.min_available:
                yield values.stepped(f"{path}.minAvailable", spec.min_available, -1,
                                     min(spec.min_available, most), rank=Rank.OTHERS)


def _fewer_start(causes: Iterable[Cause]) -> bool:
    """Whether a job may start with fewer pods: a quota counts all, and its owner creates them."""
    return not any(cause.code == "resource_quota" or "comes" in cause.numbers for cause in causes)


def _lacks_pods(causes: Iterable[Cause]) -> bool:
    """Whether pods are refused, so that with a lower minimum, too, the controller ends the job; or
    has ended; or some have failed, which are to be created again, or are of another scheduler.
    """
    return any(cause.code in ("pods_refused", "pods_forbidden", "other_scheduler")
               or "failed" in cause.numbers or cause.numbers.get("ended") for cause in causes)
