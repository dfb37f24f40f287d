"""What queues, pods and nodes may be given, so that the answer turns: shares, limits, node groups,
what pods require of nodes, what nodes offer.

Volcano: none
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, product
from typing import Any

from volcano_lab.api import PIPELINED, Resource, objects as api, taints, total
from volcano_lab.changes import UNSCHEDULABLE, Change, at_path, path_text, value_text
from volcano_lab.explain import claims, options, required, rules, sizes, values, volumes
from volcano_lab.explain.configuration import Configured, switched
from volcano_lab.explain.evidence import unplaced
from volcano_lab.explain.explanation import Amounts, added, over, part
from volcano_lab.explain.options import Numbers, Option, Rank, once, setting, several
from volcano_lab.explain.requests import still_needed
from volcano_lab.manifests.schema import unstructure
from volcano_lab.plugins.nodegroup import NODE_GROUP_LABEL
from volcano_lab.trace import amounts, queue_attributes

GROUPS = ("affinity", "nodeGroupAffinity", options.REQUIRED)
ROLE = "node-role.kubernetes.io/"
CONTROL = (f"{ROLE}control-plane", f"{ROLE}master")
OF_IMAGE = ("kubernetes.io/arch", "kubernetes.io/os")
"""Labels of nodes that a container's image needs."""


class Fields(Configured):
    """The options for one job that change queues, how plugins compute shares, what pods require of
    nodes and of each other, or what nodes offer.
    """

    # -- queues ------------------------------------------------------------------------------------

    def unset(self, numbers: Numbers) -> Iterator[Option]:
        """All that the cluster has of a resource that a capability does not name."""
        for name in self.world.line(numbers["level"]) if not all(numbers["limit"].values()) else ():
            yield from values.raised(self.world, name, "capability",
                                     [amounts(self.ssn.total_resource)], True)

    def limits(self, numbers: Numbers) -> Iterator[Option]:
        """A higher capability of the queue that refused, or more that it has of those above."""
        level = numbers.get("level", self.job.queue)
        levels, known = self._levels(level, numbers), queue_attributes(self.ssn).get(level)
        if self.job.is_ready() and known is not None:  # for the next pod, and for all that wait
            whole = amounts(total([known.allocated, *(
                still_needed(job) for job in self.ssn.jobs.values() if job.is_ready()
                and job.allocated and level in self.world.line(job.queue))]))
            yield from values.raised(self.world, level, "capability", [whole])
            levels = [each for each in levels if each != whole]
        # Each has what the lesser ones have, too: of other resources as much as the gang takes.
        yield from values.raised(self.world, level, "capability", [*accumulate(
            levels, lambda less, more: more | {
                name: max(amount, more.get(name, 0.0)) for name, amount in less.items()})])
        yield from self._of_those_above(level, numbers)

    def _of_those_above(self, level: str, numbers: Numbers) -> Iterator[Option]:
        """A higher capability of the queues above one, beside what they guarantee to those below
        them, or less that is guaranteed to others: to those without jobs nothing.
        """
        queues = self.world.queues
        for name in self.world.line(level)[1:]:
            own = amounts(Resource.from_list(queues[name].spec.capability or {}))
            kept = total(Resource.from_list(queue.spec.guarantee.resource or {})
                         for queue in queues.values() if queue.spec.parent == name)
            yield from values.raised(self.world, name, "capability", [
                added(each, more) for each, more in (
                    (own, sizes.missing(numbers)), (amounts(kept), numbers["asked"]))])
        used = {name for job in self.ssn.jobs.values() for name in self.world.line(job.queue)}
        for other in sorted({*queues} - {self.job.queue, level}, key=lambda name: (
                name in used, name)):
            for name, amount in sizes.missing(numbers).items():
                yield from values.lowered(self.world, other, "guarantee.resource", name, amount)
            if other not in used and len(queues[other].spec.guarantee.resource or {}) > 1:
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
        return sum((option.most for field, amount in (("deserved", level), ("capability", whole))
                    for option in values.raised(self.world, self.job.queue, field, [amount],
                                                field == "capability")), Change())

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
        """Less that others deserve by capacity."""
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
            yield switched("nodegroup", "enableHierarchy", True)
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

    # -- pods and nodes ----------------------------------------------------------------------------

    def tolerations(self, numbers: Numbers) -> Iterator[Option]:
        """That the job's pods tolerate all taints of a node, but for those that say that a node
        does not work, and those that some pods tolerate beside others that none does; later those
        of nodes with devices that no pod requests, last those of the control plane beside other
        nodes.
        """
        for node in self.world.nodes_called(numbers["names"]).values():
            some, none = (self._untolerated(node, every) for every in (all, any))
            if some and not any(rules.state_of(taint.key) for taint in some):
                wanted = value_text([{"key": taint.key, "operator": "Exists",
                                      "effect": taint.effect} for taint in none or some])
                yield once(f"{self.name}.tolerations+={wanted}", kind="toleration",
                           rank=self._entering(node))

    def _untolerated(self, node: api.Node, pods: Callable[[list[bool]], bool]) -> list[api.Taint]:
        """The taints that keep pods off a node and that not all, or not any, of the pods tolerate.
        """
        return [taint for taint in node.spec.taints if taint.effect != "PreferNoSchedule"
                and not pods([any(taints.tolerates(own, taint) for own in pod.spec.tolerations)
                              for pod in self.pods])]

    def _entering(self, node: api.Node) -> int:
        """What it costs that pods are on a node for others: with other devices, or that of a
        control plane beside other nodes.
        """
        asked = {name for pod in self.pods for each in pod.spec.containers
                 for name in each.resources.requests}
        there = amounts(Resource.from_list(node.status.allocatable))
        controls = [any(taint.key in CONTROL for taint in each.spec.taints)
                    for each in (node, *self.world.nodes.values())]
        if controls[0] and not all(controls):
            return Rank.LESS
        others = any("/" in name and there[name] and name not in asked for name in there)
        return Rank.OTHERS if others else Rank.JOB

    def selector(self, numbers: Numbers) -> Iterator[Option]:
        """That nodes have the labels that pods require, unless these are slips of other labels;
        that their node selector have none but those that the image needs.
        """
        yield from self._labelled(numbers["names"]) if not numbers["slips"] else ()
        if not any(pod.spec.overhead for pod in self.pods):  # else a RuntimeClass may select, too
            yield once(setting(self.name, "nodeSelector", to={
                key: pod.spec.node_selector[key] for pod in self.pods[:1]
                for key in OF_IMAGE if key in pod.spec.node_selector}), rank=Rank.LESS)

    def _labelled(self, names: Iterable[str]) -> Iterator[Option]:
        """That nodes which have enough left get the one label that they lack, where it is one that
        people set (cloud providers, drivers and agents prefix theirs); last, that they have another
        value of it, as other nodes have it, unless it may say which devices a node has.
        """
        texts: list[tuple[bool, str]] = []
        task = min(self.job.tasks.values(), key=lambda task: bool(task.node_name))
        asked = amounts(task.init_resreq)
        devices, there = any("/" in name for name in asked), required.values_by_label(
            self.world.nodes.values())
        for name, node in self.world.nodes_called(names).items():
            labels = node.metadata.labels
            lacks = min((dict(wanted.items() - labels.items()) for wanted in required.labels_for(
                task.pod, labels)), key=len)
            full = over(asked, amounts(self.ssn.nodes[name].idle))
            for label, value in lacks.items() if len(lacks) == 1 and not full else ():
                if ("/" not in label or label.startswith(ROLE)) and (
                        label not in labels or (value in there[label] and not devices)):
                    texts.append((label in labels, options.label_set(name, label, value)))
        yield several([text for _, text in sorted(texts)], Rank.OTHERS)

    def there(self, numbers: Numbers) -> Iterator[Option]:
        """The minimum lowered to the pods that exist, of each role that has fewer, or of the gang;
        not where its operator creates more.
        """
        for role, (there, least) in numbers["roles"].items():
            if role in numbers["renamed"]:
                field = self.name, "minTaskMember"
                yield once(setting(*field, role, to=None), setting(
                    *field, numbers["renamed"][role], to=least), rank=Rank.HARMLESS)
            yield once(f"{self.world.of_role(self.job.uid, role)}={there}", rank=Rank.JOB)
        if not numbers["roles"] and (numbers["after"] or not numbers.get("comes")):
            yield once(f"{self.name}.minAvailable={numbers['valid']}", rank=Rank.JOB)

    def taints_honored(self, _: Numbers) -> Iterator[Option]:
        """That its topology spread leave out the nodes whose taints the pods do not tolerate."""
        yield once(*(f"{path.replace('whenUnsatisfiable', 'nodeTaintsPolicy')}=Honor" for path in (
            self.world.written(self.job.uid, "whenUnsatisfiable", "DoNotSchedule"))))

    def repaired(self, numbers: Numbers) -> Iterator[Option]:
        """That nodes are again in the state of which Kubernetes' taints say that they are not; or
        that they have no taints, but for nodes that are for others, or do not work.
        """
        texts, freed = [], []
        for name, node in self.world.nodes_called(numbers["names"]).items():
            taints = {taint.key: rules.state_of(taint.key) for taint in node.spec.taints}
            kept = [taint for taint in node.spec.taints
                    if taints[taint.key] != "kubernetes" or taint.key == UNSCHEDULABLE]
            if "going" not in taints.values():
                texts.append(setting(f"node/{name}", "taints", to=unstructure(kept)))
            if not any(taints.values()) and self._entering(node) == Rank.JOB:
                keeps = self._untolerated(node, all)
                freed.append(setting(f"node/{name}", "taints", to=unstructure(
                    [taint for taint in node.spec.taints if taint not in keeps])))
        yield from [once(text, kind="repair") for text in texts]
        yield several(texts)
        yield several(freed, Rank.OTHERS)

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
                                     rank=Rank.JOB, kind="topology")
            if topology is not None and topology.mode == "hard":
                yield once(setting(*way, "mode", to="soft"), rank=Rank.JOB, kind="topology")

    def again(self, _: Numbers) -> Iterator[Option]:
        """That its pods that have nodes are created again, so that all of them are placed together.
        """
        yield once(removals=tuple(f"pod/{task.key}" for task in self.job.tasks.values()
                                  if task.node_name), rank=Rank.OTHERS)

    def listed(self, numbers: Numbers) -> Iterator[Option]:
        """That a HyperNode of an allowed tier list nodes that are in none of these, and have enough
        left for a pod: as many as it takes.
        """
        asked = [amounts(task.init_resreq) for task in unplaced(self.job)[:1]]
        meant = {node for *_, node in numbers["misnamed"]}
        free = [name for name in numbers["outside"] if name not in meant and not any(
            over(each, amounts(self.ssn.nodes[name].idle)) for each in asked)]
        leaves = [name for name in numbers["near"] if all(
            member.type == "Node"
            for member in self.ssn.topology.hyper_nodes[name].hyper_node.spec.members)]
        for name in sorted(leaves, key=lambda name: -numbers["holds"].get(name, 0))[:2]:
            yield Option(partial(_listing, name, free), Rank.OTHERS, len(free))

    def recreated(self, _: Numbers) -> Iterator[Option]:
        """That claims are created again whose volume is gone, is one of a node that is, or is out
        of reach where that of another claim is.
        """
        for find in (volumes.lost, claims.apart):
            yield several([f"persistentvolumeclaim/{key}.volumeName=null" for pod in self.pods
                           for key in find(self.ssn, pod)], Rank.OTHERS)

    def claimed(self, _: Numbers) -> Iterator[Option]:
        """That a claim is created again as there is a volume for it, or that there is one."""
        yield from claims.resized(self.ssn.snapshot.storage, self.pods[0])
        yield from claims.reclassed(self.ssn.snapshot.storage, self.pods[0])
        yield from claims.provided(self.ssn, unplaced(self.job))


def _listing(hyper_node: str, nodes: list[str], count: int) -> Change:
    """That a HyperNode list the first of some nodes."""
    members = [{"type": "Node", "selector": {"exactMatch": {"name": node}}}
               for node in nodes[:count]]
    return Change((f"hypernode/{hyper_node}.members+={value_text(members)}",))
