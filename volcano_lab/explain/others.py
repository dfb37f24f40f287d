"""What other jobs may give: their end, fewer of their pods, evictions, or their turn.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from volcano_lab.api import RELEASING, ZERO, JobInfo, Resource, objects as api, total
from volcano_lab.changes import Change, key_of
from volcano_lab.explain import evictions, fields, options, owners, sizes, values
from volcano_lab.explain.configuration import KEEPERS, SWITCHED, in_order, switched, with_action
from volcano_lab.explain.evidence import fails_to_start, unplaced
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Numbers, Option, Rank, gone, once, several
from volcano_lab.trace import grouped

HOLDERS, TOGETHER = 24, 8
"""Holders of which fewer pods are offered, and the most jobs whose end is waited for."""


class Others(fields.Fields):
    """The options for one job that end other jobs, evict their pods, or have it served before
    them.
    """

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
        texts = [f"{key_of(owner)}.spec.replicas={owner.spec.replicas - count}"
                 for owner, count in self._scaled(numbers.get("alone", ()))]
        yield from [once(*texts, rank=Rank.LESS)] * bool(texts)
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

    def _scaled(self, pods: Iterable[str]) -> Iterator[tuple[Any, int]]:
        """The Deployments and StatefulSets of pods, all pods of which are on one node, so that it
        does not matter which of them end; with how many of these pods are theirs.
        """
        tasks = {task.key: task for node in self.ssn.nodes.values() for task in node.tasks.values()}
        owner = {key: owners.creator_of(task.pod) for key, task in tasks.items()}
        for obj in self.world.given:
            if isinstance(obj, api.Deployment | api.StatefulSet) and obj.spec.replicas:
                mine = [key for key, name in owner.items() if name == (obj.kind, obj.key)]
                count = sum(key in mine for key in pods)
                if count and len({tasks[key].node_name for key in mine}) == 1:
                    yield obj, count

    def _ghosts(self, uids: Iterable[str]) -> list[str]:
        """PodGroups without pods, but for those that the job's own owner has created for pods that
        come after those of the job, and creates again.
        """
        own = getattr(owners.owner_of(self.job), "uid", "")
        above = {uid: owners.owner_of(self.ssn.jobs[uid]) for uid in uids}
        return [uid for uid, owner in above.items() if owner is None or not own
                or owner.uid != own or owner.kind in owners.KINDS["later"]]

    def _ends(self, causes: list[Cause]) -> Iterator[Option]:
        """The end of jobs that hold something: of the smallest that is enough, of the largest ones
        together, or of the fewest on few nodes.
        """
        if any(cause.numbers.get("ends") or "deadlock" in cause.numbers for cause in causes):
            return  # the job's controller terminates it before, or none of them ends
        jobs, names = self.ssn.jobs, sizes.resources(causes)
        held, over = (dict.fromkeys(chain(*(cause.numbers.get(each, ()) for cause in causes)))
                      for each in ("holders", "over"))
        own = owners.application(self.world.called, self.job)
        uids = [uid for uid in held if uid not in over and uid in self.world.groups and (
            owners.application(self.world.called, jobs[uid]) != own and owners.ends(jobs[uid]))]
        small = sorted(uids, key=lambda uid: [jobs[uid].allocated.get(name) for name in names])
        yield from self._fewest(small, uids, Rank.WAIT)
        yield from self._fewest([], [*dict.fromkeys(chain(*self.by_node(uids, causes)))], Rank.WAIT)

    def by_node(self, uids: Iterable[str], causes: list[Cause]) -> list[list[str]]:
        """The fewest of some jobs without which a node that no rule refuses has enough for a pod,
        those first with most of the resources of causes; the node first on which the fewest have to
        end.
        """
        names, nodes = sizes.resources(causes), next((each.numbers["allowed"] for each in causes
                                                      if "allowed" in each.numbers), self.ssn.nodes)
        found, asked = list[list[str]](), max((task.init_resreq for task in unplaced(
            self.job)), key=lambda each: [*map(each.get, names)], default=Resource())
        some = {*uids}
        for node in map(self.ssn.nodes.__getitem__, nodes):
            held = {uid: total(each) for uid, each in grouped((
                task.job, task.resreq) for task in node.tasks.values() if task.job in some).items()}
            free, ends = node.future_idle, list[str]()
            for uid, amount in sorted(held.items(), key=lambda item: (
                    [-item[1].get(name) for name in names], item[0])):
                if not asked.less_equal(free, ZERO):
                    free = free + amount
                    ends.append(uid)
            found += [ends] * (bool(ends) and asked.less_equal(free, ZERO))
        return sorted(found, key=len)

    def _fewer_of_others(self, causes: list[Cause]) -> Iterator[Option]:
        """Fewer replicas of a holder with more pods than its minimum, or whose pods do not end, or
        fewer pods that nothing creates again: as few as it takes.
        """
        held = dict.fromkeys(chain(*(cause.numbers.get("holders", ()) for cause in causes)))
        others = [uid for uid in held if uid != self.job.uid][:HOLDERS]
        for uid, job in ((uid, self.ssn.jobs[uid]) for uid in others):
            stays = job.min_available <= 1 and (owners.runs_on(job) or owners.stays(job))
            beyond = max(job.ready_task_num() - (0 if stays else max(job.min_available, 1)), 0)
            yield from values.fewer_replicas(self.world, uid, beyond)
            bare = [] if owners.owner_of(job) and not owners.is_single(job) else sorted(
                f"pod/{task.key}" for task in job.tasks.values()
                if task.node_name and not task.pod.metadata.owner_references)
            yield from options.stages((Change(removals=tuple(bare[-count:])) for count in range(
                1, min(beyond, len(bare)) + 1)), Rank.LESS)

    def _fewest(self, small: list[str], large: list[str], rank: int = Rank.OTHERS
                ) -> Iterator[Option]:
        """That one of some jobs is gone, the smallest that is enough, or the largest ones together.
        """
        some = [[uid] for uid in small] + [large[:n] for n in range(2, TOGETHER + 1)]
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

    def never(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs which can never start are gone, as many as it takes."""
        yield from self._gone(numbers["uids"], Rank.HARMLESS)

    def _gone(self, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
        """That jobs are gone, but for those that are meant to run on."""
        yield from gone(self.world, [
            uid for uid in jobs if not owners.runs_on(self.ssn.jobs[uid])], rank)

    def _from_others(self) -> Iterator[Option]:
        """What would let the job take from others, or be served before them."""
        ssn, actions = self.ssn, {*SWITCHED} & {*self.world.conf.actions}
        world, job, others = self.world, self.job, self._others_hold()
        reclaims = [] if "reclaim" in actions else [with_action(world, "reclaim")]
        yield from reclaims if others else ()
        yield from [with_action(world, "preempt")] if evictions.less_important(ssn, job) else ()
        yield from self.preempting({}) if self._meets_gangs() else ()
        yield from [in_order(world)] if actions else ()
        for name in others:
            if world.queues[name].spec.reclaimable is False:
                yield once(*(text for each in reclaims for text in each.most.settings),
                           f"queue/{name}.reclaimable=true", rank=Rank.SWITCH)
        yield from self.before([
            other for other in ssn.jobs.values() if other is not job and any(
                not task.pod.spec.node_name for task in other.tasks.values())])

    def _others_hold(self) -> dict[str, None]:
        """The other queues that hold something."""
        return dict.fromkeys(other.queue for other in self.ssn.jobs.values()
                             if other.queue != self.job.queue and not other.allocated.is_empty())

    def preempting(self, _: Numbers) -> Iterator[Option]:
        """The action preempt without enqueue, which keeps it from a job that is refused, and as in
        Helm's configuration without what keeps pods of gangs no larger than its own.
        """
        if self.job.is_pending():
            yield self._preempt("enqueue", self._meets_gangs())

    def _preempt(self, but: str, guards: bool) -> Option:
        """The action preempt `but` for another one, and without the plugins that keep pods."""
        actions = with_action(self.world, "preempt", but=but).most.settings
        return options.several([*actions, *(
            f"plugin/{name}.{SWITCHED['preempt']}=false" for name in reversed(KEEPERS)
            if guards and name in self.ssn.plugins)], Rank.SWITCH)

    def _meets_gangs(self) -> bool:
        """Whether gangs that are less important and no larger hold something."""
        return any(1 < job.min_available <= self.job.min_available
                   for job in evictions.less_important(self.ssn, self.job))

    def over_minimum(self, numbers: Numbers) -> Iterator[Option]:
        """The action preempt, and a priority above that of gangs with more than their minimum."""
        for option in self._above(numbers["highest"]):
            change = option.most + with_action(self.world, "preempt").most
            yield once(*change.settings, rank=Rank.SWITCH)

    def unprotected(self, numbers: Numbers) -> Iterator[Option]:
        """Victims without the plugin or the gang's minimum that keeps them, or of a lower priority
        than the job.
        """
        theirs, by = [self.ssn.jobs[uid] for uid in numbers["owners"]], numbers["plugin"]
        for uid, name in numbers.get("classes", {}).items():
            yield once(options.setting(self.world.job(uid), "priorityClassName", to=name),
                       rank=Rank.SWITCH)
        yield from self._above(numbers["least"], rank=Rank.SWITCH) if by == "priority" else ()
        if by in KEEPERS:
            yield once(f"plugin/{by}.{SWITCHED[numbers['action']]}=false", kind=(
                "guard" if any(job.min_available > 1 for job in theirs) else ""), rank=Rank.SWITCH)
        for job in filter(owners.comes_whole, theirs[:3] if by == "gang" else ()):
            yield values.minimum(self.world, job.uid, Rank.OTHERS)

    def first(self, numbers: Numbers) -> Iterator[Option]:
        """That the job is served before the one that came first."""
        yield switched(numbers["plugin"], f"enable{numbers['kind'].title()}Order", False)
        if numbers["plugin"] == "priority":
            yield from self._above(self.ssn.jobs[numbers["first"]].priority)
        if numbers["kind"] == "queue":
            theirs = self.world.queues[numbers["first"]].spec.priority
            yield once(f"queue/{self.job.queue}.priority={theirs + 1}")

    def sooner(self, order: Cause, other: JobInfo) -> Iterator[Option]:
        """That the job is served before another one that came first: by their priorities, or
        without the plugin by which that did.
        """
        yield from self.before([other])
        yield from islice(self.first(order.numbers), "plugin" in order.numbers)

    def before(self, others: list[JobInfo]) -> Iterator[Option]:
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

    def _above(self, *priorities: int, rank: int = Rank.JOB) -> Iterator[Option]:
        """That the job have a PriorityClass above some priorities, where these count: that of its
        pods, where it is.
        """
        if not priorities or "priority" not in self.ssn.plugins:
            return
        named = {task.pod.spec.priority_class_name for task in self.job.tasks.values()}
        known = [obj.name for obj in self.world.objects if isinstance(obj, api.PriorityClass)
                 and obj.name in named and obj.value > max(priorities)]
        yield once(options.setting(self.name, "priorityClassName", to=known[0]) if known else
                   f"{self.name}.priority={max(priorities) + 1}", rank=rank)
