"""What pods may require otherwise, and nodes may offer, so that the answer turns.

Volcano: none
"""

from collections.abc import Iterable, Iterator
from typing import Any

from volcano_lab.api import Resource, objects as api
from volcano_lab.api.taints import tolerates
from volcano_lab.changes import UNSCHEDULABLE, at_path, path_text, value_text
from volcano_lab.explain import explanation, options, owners, rules, slips, values
from volcano_lab.explain.options import Case, Numbers, Option, Rank, once, setting, several
from volcano_lab.manifests.schema import unstructure
from volcano_lab.trace.plain import amounts

ROLE = "node-role.kubernetes.io/"
CONTROL = (f"{ROLE}control-plane", f"{ROLE}master")
OF_IMAGE = ("kubernetes.io/arch", "kubernetes.io/os")
"""Labels of nodes that a container's image needs."""
CLAIM_NAME = ("persistentVolumeClaim", "claimName")


class OfPods(Case):
    """The options that change what pods require of nodes and of each other, or what nodes offer."""

    def tolerations(self, numbers: Numbers) -> Iterator[Option]:
        """That the job's pods tolerate all taints of a node, but for those that say that a node
        does not work, and those that some pods tolerate beside others that none does; later those
        of nodes with devices that no pod requests, last those of the control plane beside other
        nodes.
        """
        for node in self.world.nodes_called(numbers["names"]).values():
            known = [(taint, [any(tolerates(own, taint) for own in pod.spec.tolerations)
                              for pod in self.pods])
                     for taint in node.spec.taints if taint.effect != "PreferNoSchedule"]
            some = [taint for taint, tolerated in known if not all(tolerated)]
            none = [taint for taint, tolerated in known if not any(tolerated)]
            if some and not any(rules.state_of(taint.key) for taint in some):
                wanted = value_text([{"key": taint.key, "operator": "Exists",
                                      "effect": taint.effect} for taint in none or some])
                yield once(f"{self.name}.tolerations+={wanted}", kind="toleration",
                           rank=self._entering(node))

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
        """That the pods' node selector name labels as nodes have them; where no label is near, that
        there be none but those that the image needs.
        """
        for pod in self.pods:
            if meant := slips.selector_slips(pod, self.labels, slips.TRIED):
                near = dict(meant.get(pair[0], pair) for pair in pod.spec.node_selector.items())
                yield once(setting(self.name, "nodeSelector", to=near), rank=Rank.JOB)
                if meant == slips.selector_slips(pod, self.labels):
                    return
        yield from self._labelled(numbers["names"])
        if not any(pod.spec.overhead for pod in self.pods):  # else a RuntimeClass may select, too
            yield once(setting(self.name, "nodeSelector", to={
                key: pod.spec.node_selector[key] for pod in self.pods[:1]
                for key in OF_IMAGE if key in pod.spec.node_selector}), rank=Rank.LESS)

    def _labelled(self, names: Iterable[str]) -> Iterator[Option]:
        """That nodes which have enough left get the one label that they lack, where it is one that
        people set (cloud providers, drivers and agents prefix theirs); last, that they have another
        value of it, as other nodes have it, unless it may say which devices a node has.
        """
        texts: dict[int, list[str]] = {Rank.OTHERS: [], Rank.LESS: []}
        task = min(self.job.tasks.values(), key=lambda task: bool(task.node_name))
        asked, wanted = amounts(task.init_resreq), task.pod.spec.node_selector.items()
        devices = any("/" in name for name in asked)
        for name, node in self.world.nodes_called(names).items():
            labels = node.metadata.labels
            lacks = dict(wanted - labels.items())
            if len(lacks) == 1 and not explanation.over(asked, amounts(self.ssn.nodes[name].idle)):
                (label, value), = lacks.items()
                by_people = "/" not in label or label.startswith(ROLE)
                if by_people and label not in labels:
                    texts[Rank.OTHERS].append(options.label_set(name, label, value))
                elif by_people and value in self.labels[label] and not devices:
                    texts[Rank.LESS].append(options.label_set(name, label, value))
        for rank, some in texts.items():
            yield several(some, rank)

    def claims(self, numbers: Numbers) -> Iterator[Option]:
        """That the pods use a claim of their namespace that has a similar name."""
        places = {tuple(at for at, volume in enumerate(pod.spec.volumes) if at_path(
            volume, CLAIM_NAME) == numbers["claim"].partition("/")[2]) for pod in self.pods}
        for at in places.pop() if len(places) == 1 else ():
            for near in numbers["near"]:
                yield once(setting(self.name, "volumes", str(at), *CLAIM_NAME, to=near),
                           rank=Rank.JOB, kind="claim")

    def spread(self, numbers: Numbers) -> Iterator[Option]:
        """That the job's pods are spread by a label that nodes have instead of one that none has;
        or that they would like to be spread, and need not be.
        """
        for pod in self.pods[:1]:
            field, spreads = (self.name, "topologySpreadConstraints"), [
                *map(unstructure, pod.spec.topology_spread_constraints)]
            near = {at: slips.near_key(each["topologyKey"], self.labels)
                    for at, each in enumerate(spreads) if each["topologyKey"] not in self.labels}
            if near and all(near.values()):
                yield once(*(setting(*field, str(at), "topologyKey", to=key)
                             for at, key in near.items()), rank=Rank.JOB)
            wished = [each | {"whenUnsatisfiable": "ScheduleAnyway"} for each in spreads]
            yield once(setting(*field, to=wished), rank=Rank.JOB)

    def there(self, numbers: Numbers) -> Iterator[Option]:
        """The minimum lowered to the pods that exist, of each role that has fewer, or of the gang.
        """
        for role, (there, least) in numbers["roles"].items():
            if role in numbers["renamed"]:
                field = self.name, "minTaskMember"
                yield once(setting(*field, role, to=None), setting(
                    *field, numbers["renamed"][role], to=least), rank=Rank.HARMLESS)
            yield once(setting(self.name, "minTaskMember", role, to=there), rank=Rank.JOB)
        if not numbers["roles"] and (numbers["after"] or not owners.lacks_head(self.job)):
            yield once(f"{self.name}.minAvailable={numbers['valid']}", rank=Rank.JOB)

    def repaired(self, numbers: Numbers) -> Iterator[Option]:
        """That nodes are again in the state of which Kubernetes' taints say that they are not."""
        texts = []
        for name, node in self.world.nodes_called(numbers["names"]).items():
            kept = [taint for taint in node.spec.taints
                    if rules.state_of(taint.key) != "kubernetes" or taint.key == UNSCHEDULABLE]
            if not any(rules.state_of(taint.key) == "going" for taint in node.spec.taints):
                texts.append(setting(f"node/{name}", "taints", to=unstructure(kept)))
        yield from [once(text, kind="repair") for text in texts]
        yield several(texts)

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
