"""Which changes may turn the answer: for each cause those that a maintainer would think of.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from volcano_lab.api import FAILED, PIPELINED, RELEASING, ROOT_QUEUE, JobInfo, total
from volcano_lab.api.objects import LimitRange, PodDisruptionBudget, PriorityClass, VolcanoJob
from volcano_lab.changes import Change, Draft, value_before, value_of, value_text
from volcano_lab.explain import fields, options, owners, values
from volcano_lab.explain.evictions import less_important
from volcano_lab.explain.evidence import ended, fails_to_start, still_needed, unplaced
from volcano_lab.explain.explanation import TABLES, Cause
from volcano_lab.explain.options import Numbers, Option, Rank, World, gone, once, several
from volcano_lab.explain.sizes import ROOM, less_or_more, resources
from volcano_lab.framework import Session
from volcano_lab.trace import amounts, grouped, queue_attributes

RANGES = {"not_created.max": ("max",), "not_created.above": ("max", "default"),
          "not_created.min": ("min",)}
"""The fields of a LimitRange that refuse a pod, by the message that says so."""
CAPABILITY = ("queue_over_capability", "ancestor_over_capability")
SHARE = ("over_deserved", "overused")

HOLDERS = 24
"""Holders of which fewer pods are offered."""


def candidates(world: World, ssn: Session, job: JobInfo, causes: list[Cause], keep: bool = False
               ) -> list[Option]:
    """The options of a job that waits, or (`keep`) whose pods are evicted, those that change least
    first; each once, and none that changes nothing.
    """
    found = Candidates(world, ssn, job)
    return distinct(world, found.sparing(causes) if keep else found.waiting(causes))


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


class Candidates(fields.Fields):
    """All options of a job: those for a cause by its table, and what may help whatever it is."""

    def waiting(self, causes: list[Cause]) -> Iterator[Option]:
        """Yield what may turn each cause, then what may help whatever the cause is."""
        world, job, codes = self.world, self.job, {cause.code for cause in causes}
        refused = bool(codes & {*CAPABILITY, "overcommit_refuses"}) and job.is_pending()
        refuses = _lacks_pods(causes)
        for cause in causes:
            if cause.code != "gang_invalid" or not refuses:
                yield from self._by_table(cause)
            for uid in cause.numbers.get("stranded", ()):
                yield from self._gone([uid])
        yield from options.named_right(world)
        if "no_enqueue_action" not in codes:
            yield options.with_action(world, "allocate")
        if codes & {*ROOM, *CAPABILITY, "over_deserved", "overcommit_refuses"}:
            yield from self._from_others()
        if codes & {*CAPABILITY, *SHARE, "queue_closed", "refused", "node_group"}:
            yield from options.in_queues(world, [job.uid], self._other_queues(job.queue))
        yield from self._ends(causes)
        yield from self._fewer_of_others(causes)
        yield once(removals=tuple(f"pod/{task.key}" for task in job.in_status(FAILED).values()),
                   rank=Rank.HARMLESS)
        yield from less_or_more(world, self.ssn, job, causes)
        if not refuses and _fewer_start(causes):
            yield from self._smaller()
        yield from values.fewer(world, job.uid) if "other_scheduler" not in codes else ()
        if refused and not any(map(owners.grows, self.ssn.jobs.values())):  # a change for all jobs
            evicts = {*options.SWITCHED} & {*world.conf.actions} and (  # which enqueue hinders
                self._others_hold() or less_important(self.ssn, self.job))
            yield options.without_action(world, "enqueue", Rank.SWITCH if evicts else Rank.LESS)

    def _smaller(self) -> Iterator[Option]:
        """A lower minimum of a gang, or of one of its roles; fewer pods where all have to run."""
        uid, whole = self.job.uid, owners.world_of(self.world.given, self.job)
        if whole and isinstance(whole[0], VolcanoJob):
            yield from values.smaller_world(whole[0])
        elif owners.comes_whole(self.job):
            yield values.minimum(self.world, uid)
        elif owners.kind_of(self.job) == "Job" and not owners.is_headed(self.job):
            yield from values.role_minima(self.world, uid)

    def _ends(self, causes: list[Cause]) -> Iterator[Option]:
        """The end of jobs that hold something: of the smallest that is enough, of the largest ones
        together, or of some on one node.
        """
        if any(cause.numbers.get("ends") for cause in causes):
            return  # the job's controller terminates it before
        jobs, names = self.ssn.jobs, resources(causes)
        held, over = (dict.fromkeys(chain(*(cause.numbers.get(each, ()) for cause in causes)))
                      for each in ("holders", "over"))
        own = owners.application(self.world.called, self.job)
        uids = [uid for uid in held if uid not in over and uid in self.world.groups and (
            owners.application(self.world.called, jobs[uid]) != own and owners.ends(jobs[uid]))]
        near = sorted(uids, key=lambda uid: max(
            task.node_name for task in jobs[uid].tasks.values()))
        small = sorted(uids, key=lambda uid: [jobs[uid].allocated.get(name) for name in names])
        yield from self._fewest(small, uids, Rank.WAIT)
        yield from self._fewest([], near, Rank.WAIT)

    def _fewer_of_others(self, causes: list[Cause]) -> Iterator[Option]:
        """Fewer replicas of a holder with more pods than its minimum, or fewer pods that nothing
        creates again: as few as it takes.
        """
        held = dict.fromkeys(chain(*(cause.numbers.get("holders", ()) for cause in causes)))
        others = [uid for uid in held if uid != self.job.uid][:HOLDERS]
        for uid, job in ((uid, self.ssn.jobs[uid]) for uid in others):
            beyond = max(job.ready_task_num() - max(job.min_available, 1), 0)
            yield from values.fewer_replicas(self.world, uid, beyond)
            bare = [] if owners.owner_of(job) else sorted(
                f"pod/{task.key}" for task in job.tasks.values()
                if task.node_name and not task.pod.metadata.owner_references)
            yield from options.stages((Change(removals=tuple(bare[-count:])) for count in range(
                1, min(beyond, len(bare)) + 1)), Rank.LESS)

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
        yield options.in_order(world)
        yield options.switched("drf", "enableJobOrder", False)
        yield options.switched("priority", "enableJobOrder", True)
        yield options.switched("gang", "enableJobStarving", True)
        named = [plugin for each in numbers for plugin in each.get("named_by", ())]
        for action in actions:
            yield from options.keeping(action, named)
        most = max((winner.priority for winner in winners), default=job.priority)
        yield from self._above(most - 1) if most > job.priority else ()
        if "reclaim" in actions:
            for name in dict.fromkeys(winner.queue for winner in winners):
                yield once(f"queue/{job.queue}.priority={world.queues[name].spec.priority}")
            yield once(f"queue/{job.queue}.reclaimable=false", rank=Rank.SWITCH)
            yield from self.deserves(level=job.allocated + still_needed(job))
        size = amounts(next(iter(job.tasks.values())).init_resreq)
        yield from values.nodes(world, size, {}, self.ssn.nodes, {}, {})
        for action in actions:
            yield options.without_action(world, action, Rank.LESS)

    def _asked(self, actions: Iterable[str], unasked: list[str]) -> Iterator[Option]:
        """That the first tier have priority for preempt, and the plugins that were not asked; for a
        gang also with gang, as all of a tier have to agree.
        """
        for name in ["priority"] * ("preempt" in actions) + unasked:
            yield once(f"plugin/{name}.tier=1", rank=Rank.SWITCH)
        there = [option.name for option in self.world.conf.tiers[0].plugins]
        moved = [f"plugin/{name}.tier=1" for name in (*unasked, "gang") if name not in there]
        for action in actions if unasked and self.job.min_available > 1 else ():
            yield once(*moved, f"plugin/gang.{options.SWITCHED[action]}=true", rank=Rank.SWITCH)

    # -- by the cause -----------------------------------------------------------------------------

    def _by_table(self, cause: Cause) -> Iterator[Option]:
        facts = {"job": self.name, "pods": len(self.job.tasks), **cause.numbers,
                 "closed": [name for name in reversed(self.world.line(self.job.queue))
                            if self.world.queues[name].status.state != "Open"],
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
                yield options.with_action(self.world, *row["actions"])
            if ".minAvailable=" in row.get("path", "") and not owners.comes_whole(self.job):
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
        yield options.in_order(world)
        yield options.switched("drf", "enableJobOrder", False)
        yield from self._before(takers)
        known = queue_attributes(self.ssn).get(job.queue)
        promised = [task.init_resreq for task in job.in_status(PIPELINED).values()]
        yield from self.deserves(level=None if known is None else known.allocated + total(promised))
        for size in promised[:1]:
            yield from values.nodes(world, amounts(size), amounts(total(promised)),
                                    self.ssn.nodes, {}, {})

    def _ghosts(self, uids: Iterable[str]) -> list[str]:
        """PodGroups without pods, but for those that the job's own owner has created for pods that
        come after those of the job, and creates again.
        """
        own = getattr(owners.owner_of(self.job), "uid", "")
        above = {uid: owners.owner_of(self.ssn.jobs[uid]) for uid in uids}
        return [uid for uid, owner in above.items() if owner is None or not own
                or owner.uid != own or owner.kind in owners.KINDS["later"]]

    def held(self, numbers: Numbers) -> Iterator[Option]:
        """That what others hold, or reserve, is free: PodGroups without pods, and jobs that hold
        something and are short of pods, but for those that lose some just now; of those that only
        reserve something, and wait as this job does, the smallest that is enough.
        """
        jobs = self.ssn.jobs
        for uids in (self._ghosts(numbers.get("ghosts", ())), numbers.get("over", ())):
            yield from gone(self.world, uids, Rank.HARMLESS)
        for pod in numbers.get("bare", ())[:options.ENDED]:
            yield once(removals=(f"pod/{pod}",), rank=Rank.LESS, kind="bare")
        stuck = [uid for uid in numbers["holders"] if uid != self.job.uid
                 and not owners.runs_on(jobs[uid]) and not jobs[uid].allocated.is_empty()
                 and ((unplaced(jobs[uid]) and not owners.one_by_one(jobs[uid]))
                      or fails_to_start(jobs[uid])
                      or not (jobs[uid].is_ready() or jobs[uid].in_status(RELEASING)))]
        yield from gone(self.world, stuck)
        for uid in stuck[1:options.ENDED]:
            yield from gone(self.world, [uid])
        waits = [uid for uid in numbers["holders"] if "ghosts" in numbers and unplaced(jobs[uid])
                 and not owners.runs_on(jobs[uid]) and jobs[uid].allocated.is_empty()
                 and jobs[uid].priority <= self.job.priority]
        yield from self._fewest(waits[::-1], waits)

    def _fewest(self, small: list[str], large: list[str], rank: int = Rank.OTHERS
                ) -> Iterator[Option]:
        """That one of some jobs is gone, the smallest that is enough, or the largest ones together.
        """
        some = [[uid] for uid in small] + [large[:n] for n in range(2, options.ENDED + 1)]
        yield from options.stages((Change(removals=tuple(
            self.world.owner(uid, rank != Rank.WAIT) for uid in each)) for each in some), rank)

    def whole(self, numbers: Numbers) -> Iterator[Option]:
        """That the pods of another half-started job are created again, and wait until all of them
        have a place, as those of the job.
        """
        least = {uid: f"{self.world.job(uid)}.minAvailable={count}"
                 for uid, count in numbers.get("minimums", {}).items()}
        for uid in least if self.job.uid in least else ():
            tasks = [*self.ssn.jobs[uid].tasks.values()]
            if uid != self.job.uid and all(task.pod.metadata.owner_references for task in tasks):
                yield once(least[self.job.uid], least[uid], rank=Rank.OTHERS, removals=tuple(
                    f"pod/{task.key}" for task in tasks if task.node_name))

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
            if isinstance(obj, LimitRange) and obj.key == numbers["range"]:
                yield once(*(options.setting(
                    f"limitrange/{obj.key}", "spec", "limits", str(place), bound, numbers["name"],
                    to=asked) for place, item in enumerate(obj.spec.limits) for bound in bounds
                    if numbers["name"] in getattr(item, bound)))

    def never(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs which can never start are gone, as many as it takes."""
        yield from self._gone(numbers["uids"], Rank.HARMLESS)

    def _gone(self, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
        """That jobs are gone, but for those that are meant to run on."""
        yield from gone(self.world, [
            uid for uid in jobs if not owners.runs_on(self.ssn.jobs[uid])], rank)

    def preempting(self, _: Numbers) -> Iterator[Option]:
        """The action preempt without enqueue, which keeps it from a job that is refused, and as in
        Helm's configuration without what keeps pods of gangs no larger than its own.
        """
        if self.job.is_pending():
            actions = options.with_action(self.world, "preempt", but="enqueue").most.settings
            yield options.several([*actions, *(
                f"plugin/{name}.{options.SWITCHED['preempt']}=false" for name in (
                    "gang", "drf") if self._meets_gangs() and name in self.ssn.plugins)],
                Rank.SWITCH)

    def _meets_gangs(self) -> bool:
        """Whether gangs that are less important and no larger hold something."""
        return any(1 < job.min_available <= self.job.min_available
                   for job in less_important(self.ssn, self.job))

    def over_minimum(self, numbers: Numbers) -> Iterator[Option]:
        """The action preempt, and a priority above that of gangs with more than their minimum."""
        for option in self._above(numbers["highest"]):
            change = option.most + options.with_action(self.world, "preempt").most
            yield once(*change.settings, rank=Rank.SWITCH)

    def first(self, numbers: Numbers) -> Iterator[Option]:
        """That the job is served before the one that came first."""
        yield options.switched(numbers["plugin"], f"enable{numbers['kind'].title()}Order", False)
        if numbers["plugin"] == "priority":
            yield from self._above(self.ssn.jobs[numbers["first"]].priority)
        if numbers["kind"] == "queue":
            theirs = self.world.queues[numbers["first"]].spec.priority
            yield once(f"queue/{self.job.queue}.priority={theirs + 1}")

    def sooner(self, order: Cause, other: JobInfo) -> Iterator[Option]:
        """That the job is served before another one that came first: by their priorities, or
        without the plugin by which that did.
        """
        yield from self._before([other])
        yield from islice(self.first(order.numbers), "plugin" in order.numbers)

    def unprotected(self, numbers: Numbers) -> Iterator[Option]:
        """Victims without the plugin or the gang's minimum that keeps them, or of a lower priority
        than the job.
        """
        theirs, by = [self.ssn.jobs[uid] for uid in numbers["owners"]], numbers["plugin"]
        for uid, name in numbers.get("classes", {}).items():
            yield once(options.setting(self.world.job(uid), "priorityClassName", to=name),
                       rank=Rank.SWITCH)
        yield from self._above(numbers["least"], rank=Rank.SWITCH) if by == "priority" else ()
        if by in options.KEEPERS:
            yield once(f"plugin/{by}.{options.SWITCHED[numbers['action']]}=false", kind=(
                "guard" if any(job.min_available > 1 for job in theirs) else ""), rank=Rank.SWITCH)
        for job in filter(owners.comes_whole, theirs[:3] if by == "gang" else ()):
            yield values.minimum(self.world, job.uid, Rank.OTHERS)

    # -- whatever the cause is --------------------------------------------------------------------

    def _from_others(self) -> Iterator[Option]:
        """What would let the job take from others, or be served before them."""
        ssn, actions = self.ssn, {*options.SWITCHED} & {*self.world.conf.actions}
        world, others = self.world, self._others_hold()
        reclaims = [] if "reclaim" in actions else [options.with_action(world, "reclaim")]
        yield from reclaims if others else ()
        yield from [options.with_action(world, "preempt")] if less_important(ssn, self.job) else ()
        yield from self.preempting({}) if self._meets_gangs() else ()
        yield from [options.in_order(world)] if actions else ()
        for name in others:
            if world.queues[name].spec.reclaimable is False:
                yield once(*(text for each in reclaims for text in each.most.settings),
                           f"queue/{name}.reclaimable=true", rank=Rank.SWITCH)
        yield from self._before([
            other for other in ssn.jobs.values() if other is not self.job and any(
                not task.pod.spec.node_name for task in other.tasks.values())])

    def _before(self, others: list[JobInfo]) -> Iterator[Option]:
        """That the job is served before others that wait; in other queues, its queue before theirs.
        """
        own, queues = self.job.queue, self.world.queues
        by_class = [*self._above(*(other.priority for other in others))]
        theirs = max((queues[other.queue].spec.priority for other in others
                      if other.queue in queues and other.queue != own), default=None)
        first = [f"queue/{own}.priority={theirs + 1}"] if theirs is not None and (
            theirs >= queues[own].spec.priority) else []
        if by_class and any(other.queue == own for other in others):
            yield several([*by_class[0].most.settings, *first], Rank.JOB)
        else:
            yield from by_class
            yield several(first, Rank.JOB)

    def _others_hold(self) -> dict[str, None]:
        """The other queues that hold something."""
        return dict.fromkeys(other.queue for other in self.ssn.jobs.values()
                             if other.queue != self.job.queue and not other.allocated.is_empty())

    def to_leaves(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs of a queue that has others below it be in one of these, or another."""
        for queue, uids in numbers["inner"].items():
            yield from options.in_queues(self.world, uids, self._other_queues(queue))

    def _other_queues(self, own: str) -> list[str]:
        """Some queues that are open and have none below them, the nearest below a queue first."""
        queues, line = self.world.queues, self.world.line
        parents = {queue.spec.parent for queue in queues.values()} | {ROOT_QUEUE, own}
        names = [name for name, queue in self.ssn.queues.items()
                 if queue.is_open and name not in parents]
        return sorted(names, key=lambda name: (own not in line(name), len(line(name))))[:4]

    def _above(self, *priorities: int, rank: int = Rank.JOB) -> Iterator[Option]:
        """That the job have a PriorityClass above some priorities, where these count: that of its
        pods, where it is.
        """
        if not priorities or "priority" not in self.ssn.plugins:
            return
        named = {task.pod.spec.priority_class_name for task in self.job.tasks.values()}
        known = [obj.name for obj in self.world.objects if isinstance(obj, PriorityClass)
                 and obj.name in named and obj.value > max(priorities)]
        yield once(options.setting(self.name, "priorityClassName", to=known[0]) if known else
                   f"{self.name}.priority={max(priorities) + 1}", rank=rank)

    # -- one thing each ---------------------------------------------------------------------------

    def disruptions(self, numbers: Numbers) -> Iterator[Option]:
        """That candidates have a label, or a PodDisruptionBudget let more of them go."""
        yield several([options.setting(f"pod/{key}", "metadata", "labels", "app",
                                       to=key.rpartition("/")[2])
                       for key in numbers.get("bare", ())], Rank.OTHERS)
        most = len(numbers["candidates"])
        for obj in self.world.objects:
            if not isinstance(obj, PodDisruptionBudget) or obj.key not in numbers["budgets"]:
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


