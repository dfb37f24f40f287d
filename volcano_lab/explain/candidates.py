"""Which changes may turn the answer: for each cause those that a maintainer would think of.

Volcano: none
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from math import ceil
from typing import Any

from volcano_lab.api import PIPELINED, ROOT_QUEUE, JobInfo, Resource, total
from volcano_lab.api.objects import PodDisruptionBudget
from volcano_lab.changes.change import Change, path_text, value_before, value_text
from volcano_lab.changes.conf import value_of
from volcano_lab.changes.draft import Draft
from volcano_lab.changes.job_fields import at_path
from volcano_lab.changes.objects import UNSCHEDULABLE
from volcano_lab.explain import lint, options, slips, values
from volcano_lab.explain.evictions import less_important
from volcano_lab.explain.evidence import ended, fails_to_start, still_needed, unplaced
from volcano_lab.explain.explanation import Amounts, Cause, added, in_quantity, over, part
from volcano_lab.explain.nodes import state_of
from volcano_lab.explain.options import Option, Rank, World, once, setting
from volcano_lab.explain.owners import comes_whole, ends, grows, lacks_head, runs_on
from volcano_lab.explain.pages import TABLES
from volcano_lab.explain.required import found_by
from volcano_lab.explain.sizes import ROOM, less_or_more, missing
from volcano_lab.framework import Session
from volcano_lab.manifests.schema import unstructure
from volcano_lab.plugins.kube.taints import tolerates
from volcano_lab.plugins.nodegroup import NODE_GROUP_LABEL
from volcano_lab.trace import queue_attributes
from volcano_lab.trace.plain import amounts, grouped

CAPABILITY = ("queue_over_capability", "ancestor_over_capability")
SHARE = ("over_deserved", "overused")
ENDED = 4
"""The most jobs whose end is waited for."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ROLE = "node-role.kubernetes.io/"
OF_IMAGE = ("kubernetes.io/arch", "kubernetes.io/os")
"""Labels of nodes that a container's image needs."""
CLAIM_NAME = ("persistentVolumeClaim", "claimName")
GROUPS = ("affinity", "nodeGroupAffinity", REQUIRED)
Numbers = dict[str, Any]


def candidates(world: World, ssn: Session, job: JobInfo, causes: list[Cause], keep: bool = False
               ) -> list[Option]:
    """The options of a job that waits, or (`keep`) whose pods are evicted, those that change least
    first; each once, and none that changes nothing.
    """
    found = Candidates(world, ssn, job)
    return distinct(world, found.sparing(causes) if keep else found.waiting(causes))


def _apart(groups: Collection[Sequence[Mapping[str, str]]], key: str) -> bool:
    """Whether each group of labels has one value of a key, and no two groups the same one; a name
    of single nodes does not count.
    """
    values = [{labels.get(key, "") for labels in group} for group in groups]
    return all(len(each) == 1 and all(each) for each in values) and len(
        set().union(*values)) == len(values) < sum(map(len, groups))


def distinct(world: World, options: Iterable[Option]) -> list[Option]:
    """Options by their rank, each once, without those that change nothing."""
    found = grouped((option.most, option) for option in sorted(
        options, key=lambda option: option.rank) if option.steps > 0)
    draft = Draft(world.objects, world.index)
    return [option for change, (option, *_) in found.items() if change.removals or any(
        _differs(world, draft, text) for text in change.settings)]


def _differs(world: World, draft: Draft, text: str) -> bool:
    """Whether a setting sets another value, not that of a plugin that is not there."""
    before, after = value_before(draft, world.conf, text), value_of(text.partition("=")[2], text)
    nothing = after in (None, []) or (text.startswith("plugin/") and ".enable" in text)
    return bool(before != after and (before or before is False or not nothing))


class Candidates:
    """The options of one job in a cluster, after a cycle."""

    def __init__(self, world: World, ssn: Session, job: JobInfo):
        self.world, self.ssn, self.job, self.name = world, ssn, job, world.job(job.uid)
        self.pods = world.waiting(job.uid)
        self.renews: set[str] = set()  # what pods have once they are created again

    @cached_property
    def labels(self) -> dict[str, set[str]]:
        """The values that nodes have of each label."""
        return slips.values_by_label(self.world.nodes.values())

    def waiting(self, causes: list[Cause]) -> Iterator[Option]:
        """Yield what may turn each cause, then what may help whatever the cause is."""
        world, job, codes = self.world, self.job, {cause.code for cause in causes}
        refused = bool(codes & {*CAPABILITY, "overcommit_refuses"}) and job.is_pending()
        refuses = _lacks_pods(causes)
        self.renews = {what for cause in causes for what in cause.numbers.get("renews", ())}
        for cause in causes:
            if cause.code != "gang_invalid" or not refuses:
                yield from self._by_table(cause)
            for uid in cause.numbers.get("stranded", ()):
                yield from self._gone([uid])
        if "no_enqueue_action" not in codes:
            yield options.with_action(world, "allocate")
        if codes & {*ROOM, *CAPABILITY, "over_deserved", "overcommit_refuses"}:
            yield from self._from_others()
        if codes & {*CAPABILITY, *SHARE, "queue_closed", "refused", "node_group"}:
            yield from in_queues(world, job.uid, self._other_queues())
        yield from self._ends(causes)
        yield from less_or_more(world, self.ssn, job, causes)
        if comes_whole(job) and not refuses and "resource_quota" not in codes:  # it counts all pods
            yield values.minimum(world, job.uid)
        yield from values.fewer(world, job.uid)
        if refused and not any(map(grows, self.ssn.jobs.values())):  # a change for all jobs
            evicts = {*options.SWITCHED} & {*world.conf.actions} and (  # which enqueue hinders
                self._others_hold() or less_important(self.ssn, self.job))
            yield options.without_action(world, "enqueue", Rank.QUEUE if evicts else Rank.LESS)

    def _ends(self, causes: list[Cause]) -> Iterator[Option]:
        """The end of jobs that hold something: of the largest, or of some on one node."""
        uids = dict.fromkeys(uid for cause in causes for uid in cause.numbers.get("holders", ())
                             if uid != self.job.uid and ends(self.ssn.jobs[uid])
                             and uid not in cause.numbers.get("over", ()))
        for each in (uids, sorted(uids, key=lambda uid: max(
                task.node_name for task in self.ssn.jobs[uid].tasks.values()))):
            yield from gone(self.world, each, Rank.WAIT)

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
                 "queues": self.world.queues, "top": self.ssn.topology.tiers[-1],
                 "kept": [*map(self.world.job, cause.numbers.get("kept", ()))],
                 "tiers": len(self.world.conf.tiers), "ignored": ", ".join([
                     *self.world.conf.ignored_provisioners, str(cause.numbers.get("driver"))])}
        for row in TABLES["changes"].get(cause.code, ()):
            yield from getattr(self, row["finds"])(cause.numbers) if "finds" in row else ()
            if "actions" in row:
                yield options.with_action(self.world, *row["actions"])
            if ".minAvailable=" in row.get("path", "") and not comes_whole(self.job):
                continue  # its operator computes the minimum
            rank = getattr(Rank, row.get("rank", "JOB"))
            texts = [row["path"].format(**facts, each=each) for each in (
                facts[row["each"]] if "each" in row else [""] * ("path" in row))]
            for text in texts:
                yield once(text, kind=row.get("kind", ""), rank=rank)
            if "together" in row:
                yield several(texts, rank)

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
            whole = amounts(known.allocated + still_needed(self.job))
            yield from values.raised(self.world, level, "capability", [whole])
            levels = [each for each in levels if each != whole]
        yield from values.raised(self.world, level, "capability", levels)
        used = {name for job in self.ssn.jobs.values() for name in self.world.line(job.queue)}
        for other in [name for name in self.world.queues if name not in (self.job.queue, level)]:
            for name, amount in missing(numbers).items():
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
        found = [asked, asked + more, held + still_needed(self.job, max(
            self.job.min_available, 1)), held + still_needed(self.job)]
        if "each" in numbers:  # others may come first, and take what is added
            count = sum(len(unplaced(other)) for other in self.ssn.jobs.values())
            found += [asked + each * number for number in range(1, count)]
        short = numbers.get("short_of", ())
        rows = {repr(row): row for row in map(amounts, found) if all(
            row.get(name, 0.0) >= numbers["asked"].get(name, 0.0) for name in short)}
        return sorted(rows.values(), key=lambda row: [row.get(name, 0.0) for name in (
            *short, "cpu", "memory")])

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
        if numbers.get("against") == "anti_affinity":
            yield once(f"{self.name}.affinity.podAntiAffinity=null", rank=Rank.LESS)
        for size in promised[:1]:
            yield from values.nodes(world, amounts(size), amounts(total(promised)),
                                    self.ssn.nodes, {}, {})

    def held(self, numbers: Numbers) -> Iterator[Option]:
        """That what others hold, or reserve, is free: PodGroups without pods, and jobs that hold
        something and are short of pods; what holds nothing waits as this job does.
        """
        jobs = self.ssn.jobs
        for uids in (numbers.get("ghosts", ()), numbers.get("over", ())):
            yield from gone(self.world, uids, Rank.HARMLESS)
        for pod in numbers.get("bare", ())[:ENDED]:
            yield once(removals=(f"pod/{pod}",), rank=Rank.OTHERS, kind="bare")
        stuck = [uid for uid in numbers["holders"] if uid != self.job.uid and not runs_on(jobs[uid])
                 and not jobs[uid].allocated.is_empty()
                 and (unplaced(jobs[uid]) or fails_to_start(jobs[uid]) or not jobs[uid].is_ready())]
        yield from gone(self.world, stuck)
        for uid in stuck[1:]:
            yield from gone(self.world, [uid])

    def counted(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs are deleted of which all pods have ended, and count nevertheless."""
        yield from gone(self.world, [uid for uid in numbers["holders"] if ended(
            self.ssn.jobs[uid]) == len(self.ssn.jobs[uid].tasks)], Rank.HARMLESS)

    def never(self, numbers: Numbers) -> Iterator[Option]:
        """That jobs which can never start are gone, as many as it takes."""
        yield from self._gone(numbers["uids"], Rank.HARMLESS)

    def _gone(self, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
        """That jobs are gone, but for those that are meant to run on."""
        yield from gone(self.world, [uid for uid in jobs if not runs_on(self.ssn.jobs[uid])], rank)

    def first(self, numbers: Numbers) -> Iterator[Option]:
        """That the job is served before the one that came first."""
        yield options.switched(numbers["plugin"], f"enable{numbers['kind'].title()}Order", False)
        if numbers["plugin"] == "priority":
            yield from self._above(self.ssn.jobs[numbers["first"]].priority)
        if numbers["kind"] == "queue":
            theirs = self.world.queues[numbers["first"]].spec.priority
            yield once(f"queue/{self.job.queue}.priority={theirs + 1}")

    def less_deserved(self, numbers: Numbers) -> Iterator[Option]:
        """One plugin that computes shares instead of two, or less that others deserve by capacity.
        """
        if self.ssn.plugins.keys() >= lint.SHARES:
            yield once(f"plugin/{numbers['plugin']}.tier=null", rank=Rank.SWITCH)
        if "capacity" in self.ssn.plugins:
            for other, (name, amount) in product(numbers["queues"], numbers["short_of"].items()):
                yield from values.lowered(self.world, other, "deserved", name, amount)

    def unprotected(self, numbers: Numbers) -> Iterator[Option]:
        """Victims without the plugin or the gang's minimum that keeps them, or of a lower priority
        than the job.
        """
        owners = [self.ssn.jobs[uid] for uid in numbers.get("owners", ())]
        guard = "guard" if not owners or any(job.min_available > 1 for job in owners) else ""
        by = numbers.get("plugin")
        for uid, name in numbers.get("classes", {}).items():
            yield once(setting(self.world.job(uid), "priorityClassName", to=name),
                       rank=Rank.SWITCH)
        if by == "priority":
            yield from self._above(numbers["least"], rank=Rank.SWITCH)
        for plugin in options.KEEPERS:
            if by in (None, plugin):
                yield once(f"plugin/{plugin}.{options.SWITCHED[numbers['action']]}=false",
                           rank=Rank.SWITCH, kind=guard)
        if by == "gang":
            for job in filter(comes_whole, owners[:3]):
                yield values.minimum(self.world, job.uid, Rank.OTHERS)

    # -- whatever the cause is --------------------------------------------------------------------

    def _from_others(self) -> Iterator[Option]:
        """What would let the job take from others, or be served before them."""
        ssn, actions = self.ssn, {*options.SWITCHED} & {*self.world.conf.actions}
        others = self._others_hold()
        yield from [options.with_action(self.world, "reclaim")] if others else ()
        if less_important(ssn, self.job):
            yield options.with_action(self.world, "preempt")
        yield from [options.in_order(self.world)] if actions else ()
        if "reclaim" in actions:
            for name in others:
                yield once(f"queue/{name}.reclaimable=true", rank=Rank.SWITCH)
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

    def _other_queues(self) -> list[str]:
        """Some queues that are open and have none below them, the queue's own children first."""
        own, queues = self.job.queue, self.world.queues
        parents = {queue.spec.parent for queue in queues.values()} | {ROOT_QUEUE, own}
        names = [name for name, queue in self.ssn.queues.items()
                 if queue.is_open and name not in parents]
        return sorted(names, key=lambda name: queues[name].spec.parent != own)[:2]

    def _above(self, *priorities: int, rank: int = Rank.JOB) -> Iterator[Option]:
        """That the job have a PriorityClass above some priorities, where these count."""
        if priorities and "priority" in self.ssn.plugins:
            yield once(f"{self.name}.priority={max(priorities) + 1}", rank=rank)

    def tiers(self, _: Numbers) -> Iterator[Option]:
        """The highest tier that the job's topology allows, or its sub-groups'; and that it be a
        wish.
        """
        spec = self.world.groups[self.job.uid].spec
        holders: list[tuple[tuple[str, ...], Any]] = [((), spec), *(
            (("subGroupPolicy", str(number)), policy)
            for number, policy in enumerate(spec.sub_group_policy))]
        for path, holder in holders:
            topology, way = holder.network_topology, (self.name, *path, "networkTopology")
            own = topology.highest_tier_allowed if topology is not None else None
            if own is not None:
                yield values.stepped(path_text(*way, "highestTierAllowed"), own, steps=8,
                                     rank=Rank.JOB)
            if topology is not None and topology.mode == "hard":
                yield once(setting(*way, "mode", to="soft"), rank=Rank.JOB)

    def outside(self, numbers: Numbers) -> Iterator[Option]:
        """That the nodes in no HyperNode be in that of the lowest tier with which they share the
        value of the label that tells these apart, or in a new one.
        """
        topology, names = self.ssn.topology, numbers["outside"] * (not numbers["misnamed"])
        labels = {name: node.node.metadata.labels for name, node in self.ssn.nodes.items()}
        near = {name: topology.hyper_nodes[name] for name in numbers["near"]}
        least = min((info.tier for info in near.values()), default=0)
        inside = {name: [labels[node.name] for node in topology.nodes[name]]
                  for name, info in near.items() if info.tier == least}
        key = next(filter(partial(_apart, inside.values()), labels[names[0]] if names else ()), "")
        there = {labelled[0].get(key): name for name, labelled in inside.items() if labelled}
        for value, nodes in grouped((labels[name].get(key), name) for name in names).items():
            known, selectors = there.get(value) if value else None, [
                {"exactMatch": {"name": name}} for name in nodes]
            if value and not known:
                selectors = [{"labelMatch": {"matchLabels": {key: value}}}]
            members = [{"type": "Node", "selector": each} for each in selectors]
            if known:
                members = unstructure(near[known].hyper_node.spec)["members"] + members
                yield once(setting(f"hypernode/{known}", "members", to=members))
            else:
                yield once(setting(f"hypernode/new-{value or nodes[0]}".lower(), to={
                    "spec": {"tier": least, "members": members}}))

    def barred(self, numbers: Numbers) -> Iterator[Option]:
        """That queues have the capability of the nodes that their pods may use."""
        for queue, most in numbers.get("barred", {}).items():
            yield once(*(setting(f"queue/{queue}", "capability", name, to=options.text_of(
                name, in_quantity(name, amount))) for name, amount in most.items()))

    def deserves(self, _: Numbers | None = None, level: Resource | None = None) -> Iterator[Option]:
        """That the job's queue deserve more: by its weight, or by the field that capacity reads as
        much as a `level`, or all that it requests: of what queues name there, or of the rest, too.
        """
        known = queue_attributes(self.ssn).get(self.job.queue)
        if "proportion" in self.ssn.plugins:
            before = self.world.queues[self.job.queue].spec.weight
            yield values.stepped(f"queue/{self.job.queue}.weight", before, steps=1000)
        elif "capacity" in self.ssn.plugins and known is not None:
            wanted = amounts(known.request if level is None else level)
            named = {name for queue in self.world.queues.values() for name in (
                queue.spec.deserved or ())}
            yield from values.raised(self.world, self.job.queue, "deserved", [
                {name: wanted[name] for name in wanted if name in named}, wanted])
            yield self._deserved_above(over(wanted, amounts(known.deserved)))

    def _deserved_above(self, more: Amounts) -> Option:
        """More that its queue deserves, and each queue above that names these resources."""
        texts: list[str] = []
        for name in self.world.line(self.job.queue):
            own = self.world.queues[name].spec.deserved or {}
            level = part(added(amounts(Resource.from_list(own)), more), own)
            for option in values.raised(self.world, name, "deserved", [level]):
                texts += option.most.settings
        return once(*texts)

    # -- one thing each ---------------------------------------------------------------------------

    def repaired(self, numbers: Numbers) -> Iterator[Option]:
        """That nodes are again in the state of which Kubernetes' taints say that they are not."""
        texts = []
        for name, node in self.world.nodes_called(numbers["names"]).items():
            kept = [taint for taint in node.spec.taints
                    if state_of(taint.key) != "kubernetes" or taint.key == UNSCHEDULABLE]
            if not any(state_of(taint.key) == "going" for taint in node.spec.taints):
                texts.append(setting(f"node/{name}", "taints", to=unstructure(kept)))
        yield from [once(text, kind="repair") for text in texts]
        yield several(texts)

    def renewed(self, numbers: Numbers) -> Iterator[Option]:
        """That pods are created again from the present template of their owner."""
        names = tuple(f"pod/{pod}" for pod in numbers["pods"])
        yield once(removals=names, rank=Rank.HARMLESS)

    def tolerations(self, numbers: Numbers) -> Iterator[Option]:
        """That the job's pods tolerate all taints of a node, but for those that say that a node
        does not work; later those of nodes with devices that no pod requests.
        """
        asked = {name for pod in self.pods for each in pod.spec.containers
                 for name in each.resources.requests}
        nodes = {} if "toleration" in self.renews else self.world.nodes_called(numbers["names"])
        for node in nodes.values():
            there = amounts(Resource.from_list(node.status.allocatable))
            others = any("/" in name and there[name] and name not in asked for name in there)
            taints = [t for t in node.spec.taints if t.effect != "PreferNoSchedule" and not all(
                any(tolerates(own, t) for own in pod.spec.tolerations) for pod in self.pods)]
            if taints and not any(state_of(taint.key) for taint in taints):
                wanted = value_text([{"key": taint.key, "operator": "Exists",
                                      "effect": taint.effect} for taint in taints])
                yield once(f"{self.name}.tolerations+={wanted}", kind="toleration",
                           rank=Rank.OTHERS if others else Rank.JOB)

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
            yield once(_label(name, NODE_GROUP_LABEL, required[0]),
                       rank=Rank.QUEUE if free else Rank.OTHERS, kind="label")
        if not required:
            yield once("plugin/nodegroup.strict=false", rank=Rank.SWITCH)

    def disruptions(self, numbers: Numbers) -> Iterator[Option]:
        """That a PodDisruptionBudget let more of the candidates go."""
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

    def opened(self, numbers: Numbers) -> Iterator[Option]:
        """That the queue be open, with those above it: below a closed one none can be opened."""
        closed = [name for name in self.world.line(self.job.queue)
                  if self.world.queues[name].status.state != "Open"]
        yield once(*(f"queue/{name}.status.state=Open" for name in reversed(closed)),
                   rank=Rank.SWITCH)

    def parents(self, numbers: Numbers) -> Iterator[Option]:
        """That queues whose parent does not exist name one that does, or that it be created, with
        all that they are to have; that jobs of a queue with children be in one of these.
        """
        for missing_one, known in numbers["missing"].items():
            below = [name for name, queue in self.world.queues.items()
                     if queue.spec.parent == missing_one]
            yield from [once(*(f"queue/{name}.parent={known}" for name in below))] if known else ()
            yield values.new_queue(self.world, missing_one, below)
        for uid, below in numbers["inner"].items():
            yield from in_queues(self.world, uid, below)

    def selector(self, numbers: Numbers) -> Iterator[Option]:
        """That the pods' node selector name labels as nodes have them; where no label is near, that
        there be none but those that the image needs.
        """
        for pod in self.pods:
            if meant := slips.selector_slips(pod, self.labels, slips.TRIED):
                near = dict(meant.get(pair[0], pair) for pair in pod.spec.node_selector.items())
                yield once(setting(self.name, "nodeSelector", to=near), rank=Rank.JOB)
                if meant == slips.selector_slips(pod, self.labels):
                    return
        yield from self._near_labels()
        yield from self._labelled(numbers["names"])
        yield once(setting(self.name, "nodeSelector", to={
            key: pod.spec.node_selector[key] for pod in self.pods[:1]
            for key in OF_IMAGE if key in pod.spec.node_selector}), rank=Rank.LESS)

    def _labelled(self, names: Iterable[str]) -> Iterator[Option]:
        """That nodes which have enough left get the one label that they lack, where it is one that
        people set (cloud providers, drivers and agents prefix theirs); last, that they have another
        value of it, as other nodes have it, unless it may say which devices a node has.
        """
        texts: dict[int, list[str]] = {Rank.OTHERS: [], Rank.LESS: []}
        task = unplaced(self.job)[0]
        asked, wanted = amounts(task.init_resreq), task.pod.spec.node_selector.items()
        devices = any("/" in name for name in asked)
        for name, node in self.world.nodes_called(names).items():
            labels = node.metadata.labels
            lacks = dict(wanted - labels.items())
            if len(lacks) == 1 and not over(asked, amounts(self.ssn.nodes[name].idle)):
                (label, value), = lacks.items()
                by_people = "/" not in label or label.startswith(ROLE)
                if by_people and label not in labels:
                    texts[Rank.OTHERS].append(_label(name, label, value))
                elif by_people and value in self.labels[label] and not devices:
                    texts[Rank.LESS].append(_label(name, label, value))
        for rank, some in texts.items():
            yield several(some, rank)

    def _near_labels(self) -> Iterator[Option]:
        """That the node affinity asks for the nearest values that nodes have."""
        for pod in self.pods[:1]:
            way = "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"
            for at, term in enumerate(at_path(pod.spec, way) or ()):
                for place, each in enumerate(term.get("matchExpressions", ())):
                    if near := slips.near_values(each, self.labels.get(each["key"], set())):
                        yield once(setting(self.name, *way, str(at), "matchExpressions", str(place),
                                           "values", to=near), rank=Rank.JOB)

    def claims(self, numbers: Numbers) -> Iterator[Option]:
        """That the pods use a claim of their namespace that has a similar name."""
        places = {tuple(at for at, volume in enumerate(pod.spec.volumes) if at_path(
            volume, CLAIM_NAME) == numbers["claim"].partition("/")[2]) for pod in self.pods}
        for at in places.pop() if len(places) == 1 else ():
            for near in numbers["near"]:
                yield once(setting(self.name, "volumes", str(at), *CLAIM_NAME, to=near),
                           rank=Rank.JOB, kind="claim")

    def company(self, numbers: Numbers) -> Iterator[Option]:
        """That the terms of the pods' affinity search the namespaces of pods that have the labels,
        and name a topology that nodes have.
        """
        found = found_by(self.ssn, self.pods[0]) if self.pods else ()
        for number, (term, there, apart) in enumerate(found):
            way = self.name, "affinity", "podAffinity", REQUIRED, str(number)
            if apart and not there:
                yield once(setting(*way, "namespaces", to=sorted(
                    term.namespaces | {*apart.values()})), rank=Rank.JOB)
            key = term.topology_key
            if key not in self.labels and (near := slips.announced(key, self.labels)):
                yield once(setting(*way, "topologyKey", to=near), rank=Rank.JOB)

    def there(self, numbers: Numbers) -> Iterator[Option]:
        """The minimum lowered to the pods that exist, of each role that has fewer, or of the gang.
        """
        for role, (there, least) in numbers["roles"].items():
            if role in numbers["renamed"]:
                field = self.name, "minTaskMember"
                yield once(setting(*field, role, to=None), setting(
                    *field, numbers["renamed"][role], to=least), rank=Rank.HARMLESS)
            yield once(setting(self.name, "minTaskMember", role, to=there), rank=Rank.JOB)
        if not numbers["roles"] and (numbers["after"] or not lacks_head(self.job)):
            yield once(f"{self.name}.minAvailable={numbers['valid']}", rank=Rank.JOB)

    def spread(self, numbers: Numbers) -> Iterator[Option]:
        """That the job's pods would like to be spread, and need not be."""
        for pod in self.pods[:1]:
            wished = [unstructure(each) | {"whenUnsatisfiable": "ScheduleAnyway"}
                      for each in pod.spec.topology_spread_constraints]
            yield once(setting(self.name, "topologySpreadConstraints", to=wished), rank=Rank.JOB)

    def factor(self, numbers: Numbers) -> Iterator[Option]:
        """The overcommit factor, to about what the sum of the cause takes."""
        overcommit: Any = self.ssn.plugins["overcommit"]
        whole, factor = self.ssn.total_resource, overcommit.factor
        more = max((amount / whole.get(name) for name, amount in missing(numbers).items()
                    if whole.get(name)), default=0.0)
        first = max(ceil(round(more * 10, 6)), 1)
        yield values.stepped("plugin/overcommit.overcommit-factor", factor, 0.1, max(200, first),
                             first=first)


def _lacks_pods(causes: Iterable[Cause]) -> bool:
    """Whether pods are refused, so that with a lower minimum, too, the controller ends the job; or
    some have failed, which are to be created again.
    """
    return any(cause.code in ("pods_refused", "pods_forbidden") or (
        cause.code == "gang_invalid" and "failed" in cause.numbers) for cause in causes)


def _label(node: str, label: str, value: str) -> str:
    return setting(f"node/{node}", "metadata", "labels", label, to=value)


def in_queues(world: World, uid: str, queues: Iterable[str]) -> Iterator[Option]:
    """That a job be in another queue."""
    for queue in queues:
        yield once(f"{world.job(uid)}.queue={queue}", rank=Rank.OTHERS, kind="queue")


def several(settings: list[str], rank: int = Rank.QUEUE) -> Option:
    """As many of some settings as it takes, in this order."""
    return Option(lambda count: Change(tuple(settings[:count])), rank, len(settings))


def gone(world: World, jobs: Iterable[str], rank: int = Rank.OTHERS) -> Iterator[Option]:
    """That jobs be gone, with their pods, in this order: that they end, or are deleted."""
    names = tuple(world.owner(uid, rank != Rank.WAIT) for uid in jobs if uid in world.groups)
    yield Option(lambda count: Change(removals=names[:count]), rank,
                 min(len(names), ENDED) if rank == Rank.WAIT else len(names))
