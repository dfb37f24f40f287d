"""What a job's author could have written otherwise: the gang's minimum, what pods ask for, the tier
of its topology, where its pods may go; and that another job be gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from math import ceil
from typing import Any

import attrs

from volcano_lab.api import quantity
from volcano_lab.api.objects import HyperNode, ObjectMeta, Pod, PodGroup, PriorityClass
from volcano_lab.api.objects.affinity import Toleration
from volcano_lab.api.objects.volcano import NetworkTopologySpec
from volcano_lab.api.task import PREEMPTABLE, TASK_SPEC
from volcano_lab.explain.explanation import in_quantity
from volcano_lab.explain.knob import Knob, KnobSet, Rank, Turned, evolved, step_of, steps, text_of
from volcano_lab.explain.nodes import KUBERNETES
from volcano_lab.explain.slips import selector_slips, values_by_label
from volcano_lab.manifests.pod_group_controller import SCHEDULER
from volcano_lab.messages import listed
from volcano_lab.plugins.kube.taints import tolerates

FREED: dict[str, tuple[tuple[str, Any, str], ...]] = {
    "gated": (("scheduling_gates", [], "without its scheduling gates"),),
    "node_affinity": (("node_selector", {}, "without its node selector {}"),
                      ("affinity.node_affinity", None, "without its node affinity")),
    "anti_affinity": (("affinity.pod_anti_affinity", None, "without its pod anti-affinity"),),
    "pod_affinity": (("affinity.pod_affinity", None, "without its pod affinity"),),
    "preempt_not_eligible": (("preemption_policy", "PreemptLowerPriority",
                              "preemptionPolicy Never -> PreemptLowerPriority"),)}
"""Cause -> what of a pod's spec could be otherwise: the field, its value then, how that is told."""

ENDED = 4
"""So many jobs at most are waited for."""


class JobKnobs(KnobSet):
    """The knobs of jobs."""

    def min_member(self, job: str) -> Iterator[Knob]:
        """The gang's minimum, and what follows from it: the part that its resources are of the
        minimum.
        """
        place = self.groups.get(job)
        if place is None or self.objects[place].spec.min_member <= 1:
            return
        group: PodGroup = self.objects[place]
        least = group.spec.min_member

        def turn(step: int) -> Turned:
            fewer = least - step
            spec = attrs.evolve(group.spec, min_member=fewer, min_resources=_scaled(
                group.spec.min_resources, fewer, least))
            return str(fewer), self._replaced({place: attrs.evolve(group, spec=spec)}), self.conf

        yield Knob(f"job {self.called(job)}", "min_member", str(least), least - 1, turn, Rank.JOB)

    def min_resources(self, job: str, resource: str, most: float) -> Iterator[Knob]:
        """What the PodGroup reserves beyond what its pods ask for, down to an amount."""
        place = self.groups.get(job)
        least = dict(self.objects[place].spec.min_resources or {}) if place is not None else {}
        if resource in least:
            text = text_of(resource, in_quantity(resource, max(most, 0.0)), least[resource])
            yield self._once(f"job {self.called(job)}", place, "spec.min_resources", least | {
                resource: text}, text=lambda a: f"{resource} {a[resource]}", rank=Rank.JOB)

    def roles(self, job: str, short: dict[str, tuple[int, int]]) -> Iterator[Knob]:
        """The minimum of each role that has fewer pods, lowered to what there is."""
        place = self.groups.get(job)
        for role, (there, least) in short.items() if place is not None else ():
            minima = self.objects[place].spec.min_task_member | {role: there}
            yield self._once(f"job {self.called(job)}", place, "spec.min_task_member", minima,
                             f"job {self.called(job)}: minimum of role {role} {least} -> "
                             f"{there or 'none'}", rank=Rank.JOB)

    def request(self, job: str, resource: str, target: float = 0.0) -> Iterator[Knob]:
        """What the waiting pods of the job ask for at most, and with it the minimum's resources;
        never nothing, and whole pieces of what cannot be divided. It takes about `target` (internal
        units) to fit.
        """
        place, pods = self.groups.get(job), self.waiting(job)
        texts = [c.resources.requests[resource] for pod in pods.values()
                 for c in [*pod.spec.containers, *pod.spec.init_containers]
                 if resource in c.resources.requests]
        asked = [quantity.parse(text) for text in texts]
        if place is None or not asked:
            return
        most, group = max(asked), self.objects[place]
        step = step_of(resource, most)
        whole = ceil(most / step)  # after the first step it is a multiple

        def turn(i: int) -> Turned:
            limit, least = (whole - i) * step, group.spec.min_resources or {}
            changed = {at: pod.changed(spec={
                field: [_asking(c, resource, limit) for c in getattr(pod.spec, field)]
                for field in ("containers", "init_containers")}) for at, pod in pods.items()}
            if resource in least:
                part = sum(min(amount, limit) for amount in asked) / sum(asked)
                text = text_of(resource, quantity.parse(least[resource]) * part, least[resource])
                changed[place] = evolved(group, "spec.min_resources", least | {resource: text})
            return text_of(resource, limit), self._replaced(changed), self.conf

        first = min(steps(resource, most, max(target, 0.0), step), max(whole - 1, 1))
        yield Knob(f"job {self.called(job)}", f"request of {resource} a pod",
                   texts[asked.index(most)], whole - 1, turn,
                   Rank.JOB if 3 * first <= whole else Rank.REQUEST, first)

    def renamed(self, job: str, resource: str, meant: str) -> Iterator[Knob]:
        """That the job's pods ask for a resource by the name that nodes announce."""
        place = self.groups.get(job)

        def named(amounts: dict[str, str] | None) -> dict[str, str] | None:
            return amounts and {meant if name == resource else name: text
                                for name, text in amounts.items()}

        def turn(_: int) -> Turned:
            changed = {at: evolved(pod, "spec.containers", [evolved(
                c, "resources.requests", named(c.resources.requests)) for c in pod.spec.containers])
                for at, pod in self.waiting(job).items()}
            group = self.objects[place]
            changed[place] = evolved(group, "spec.min_resources", named(group.spec.min_resources))
            return meant, self._replaced(changed), self.conf

        if place is not None:
            yield Knob(f"job {self.called(job)}", "name of a resource", resource, 1, turn, Rank.JOB,
                       said=lambda _: f"job {self.called(job)}: {meant} instead of {resource}")

    def freed(self, job: str, code: str) -> Iterator[Knob]:
        """That the job's pods do not ask for what this cause is about, or as nodes have it."""
        labels = values_by_label(self.nodes_called(self.nodes_there).values())
        slips = {key: near for pod in self.waiting(job).values() if code == "node_affinity"
                 for key, near in selector_slips(pod, labels).items()}
        if slips:
            yield self._pods(job, "nodeSelector", "", lambda spec: evolved(
                spec, "node_selector", dict(slips.get(key, (key, value)) for key, value
                                            in spec.node_selector.items())),
                f"job {self.called(job)}: node selector " + ", ".join(
                    f"{'='.join(near)} instead of {key}" for key, near in slips.items()))
            return
        for path, value, words in FREED.get(code, ()):
            def own(spec: Any, path: str = path) -> Any:
                return reduce(lambda obj, name: getattr(obj, name, None), path.split("."), spec)

            asked = [own(pod.spec) for pod in self.waiting(job).values()]
            for old in {repr(each): each for each in asked if each and each != value}.values():
                yield self._pods(job, path, str(old), lambda spec, path=path, value=value: evolved(
                    spec, path, value), f"job {self.called(job)}: {words.format(_selector(old))}",
                    lambda pod, old=old, own=own: own(pod.spec) == old)

    def tier(self, job: str) -> Iterator[Knob]:
        """The highest tier that the job's topology allows, or its sub-groups'; and that it be a
        wish.
        """
        place = self.groups.get(job)
        spec = self.objects[place].spec if place is not None else None
        topologies = [] if spec is None else [
            ("", "spec", spec), *((f" of {policy.name}", f"spec.sub_group_policy.{number}", policy)
                                  for number, policy in enumerate(spec.sub_group_policy))]
        for where, path, holder in topologies:
            topology, path = holder.network_topology, f"{path}.network_topology"
            own = topology.highest_tier_allowed if topology is not None else None
            if own is not None:
                yield self._knob(f"job {self.called(job)}", place, f"{path}.highest_tier_allowed",
                                 own, 8, lambda step, own=own: own + step, rank=Rank.JOB,
                                 field=f"highest_tier_allowed{where}")
            if topology is not None and topology.mode == "hard":
                yield self._once(f"job {self.called(job)}", place, f"{path}.mode", "soft",
                                 rank=Rank.JOB, field=f"network topology{where}")

    def anywhere(self, job: str) -> Iterator[Knob]:
        """A topology that must hold and that the whole cluster fulfils."""
        place = self.groups.get(job)
        top = max((obj.spec.tier for obj in self.objects if isinstance(obj, HyperNode)), default=0)
        if place is not None:
            yield self._once(f"job {self.called(job)}", place, "spec.network_topology",
                             NetworkTopologySpec("hard", top + 1), f"job {self.called(job)}: "
                             f"networkTopology hard, highestTierAllowed {top + 1}", rank=Rank.JOB)

    def tolerations(self, job: str, nodes: Sequence[str]) -> Iterator[Knob]:
        """That the job's pods tolerate all taints of a node; a knob for each set of taints, but for
        those that say that a node does not work.
        """
        seen = set()
        for node in self.nodes_called(nodes).values():
            taints = [t for t in node.spec.taints if t.effect != "PreferNoSchedule" and not all(any(
                tolerates(own, t) for own in pod.spec.tolerations)
                for pod in self.waiting(job).values())]
            text = ", ".join(f"{t.key}:{t.effect}" for t in taints)
            if text and text not in seen and not KUBERNETES.search(text):
                seen.add(text)
                more = [Toleration(t.key, "Exists", effect=t.effect) for t in taints]
                yield self._pods(job, "tolerations", text, lambda spec, more=more: evolved(
                    spec, "tolerations", [*spec.tolerations, *more]),
                    f"job {self.called(job)}: with a toleration of {text}")

    def ours(self, job: str) -> Iterator[Knob]:
        """That Volcano schedule the job's pods."""
        yield self._pods(job, "schedulerName", "", lambda spec: evolved(
            spec, "scheduler_name", SCHEDULER),
            f"job {self.called(job)}: schedulerName {SCHEDULER} for its pods")

    def spread(self, job: str) -> Iterator[Knob]:
        """That the job's pods would like to be spread, and need not be."""
        yield self._pods(job, "topologySpreadConstraints", "DoNotSchedule", lambda spec: evolved(
            spec, "topology_spread_constraints", [
                attrs.evolve(each, when_unsatisfiable="ScheduleAnyway")
                for each in spec.topology_spread_constraints]),
            f"job {self.called(job)}: whenUnsatisfiable ScheduleAnyway in its topology spread")

    def _pods(self, job: str, field: str, before: str, change: Any, said: str,
              of: Callable[[Pod], bool] = lambda pod: True) -> Knob:
        """A change of the spec of each waiting pod, or some of them."""
        def turn(_: int) -> Turned:
            changed = {place: evolved(pod, "spec", change(pod.spec))
                       for place, pod in self.waiting(job).items() if of(pod)}
            return "changed", self._replaced(changed), self.conf

        return Knob(f"job {self.called(job)}", field, before, 1, turn, Rank.JOB, 1, lambda _: said)

    def foremost(self, job: str) -> Iterator[Knob]:
        """That the pods of one role find their places before the others of the job."""
        roles = {pod.metadata.annotations.get(TASK_SPEC, "") for pod in self.waiting(job).values()}
        for role in sorted(roles) if len(roles) > 1 else ():
            yield self._pods(job, "priorityClassName", "", lambda spec: evolved(
                spec, "priority", (spec.priority or 0) + 1), f"job {self.called(job)}: a higher "
                f"priorityClassName for the pods of {role}",
                lambda pod, role=role: pod.metadata.annotations.get(TASK_SPEC) == role)

    def priority(self, job: str, above: int, rank: int = Rank.JOB) -> Iterator[Knob]:
        """That the job have a PriorityClass above a number."""
        place, name = self.groups.get(job), f"above-{above}"

        def turn(_: int) -> Turned:
            spec = attrs.evolve(self.objects[place].spec, priority_class_name=name)
            changed = {at: evolved(pod, "spec.priority", above + 1)
                       for at, pod in self.waiting(job).items()}
            objects = self._replaced(changed | {place: evolved(self.objects[place], "spec", spec)})
            return str(above + 1), [PriorityClass(ObjectMeta(name), above + 1), *objects], self.conf

        if place is not None:
            yield Knob(f"job {self.called(job)}", "PriorityClass", "as it is", 1, turn, rank,
                       said=lambda _: f"job {self.called(job)}: a PriorityClass above {above}")

    def in_queue(self, job: str, queues: Sequence[str]) -> Iterator[Knob]:
        """That the job be in another queue."""
        place = self.groups.get(job)
        for queue in queues if place is not None else ():
            yield self._once(f"job {self.called(job)}", place, "spec.queue", queue,
                             f"job {self.called(job)}: in queue {queue}", rank=Rank.JOB)

    def preemptable(self, job: str, rank: int = Rank.OTHERS) -> Iterator[Knob]:
        """That a job's pods may be evicted."""
        pods = {at: self.objects[at] for at in self.pods.get(job, ())}
        changed = {at: pod.changed(metadata={"annotations": pod.metadata.annotations | {
            PREEMPTABLE: "true"}}) for at, pod in pods.items()}
        yield Knob(f"job {self.called(job)}", PREEMPTABLE, "false", 1, lambda _: (
            "true", self._replaced(changed), self.conf), rank)

    def gone(self, jobs: Sequence[str], rank: int = Rank.OTHERS,
             fine: bool = False) -> Iterator[Knob]:
        """That jobs be gone, with their pods, the largest first: that they end (`fine`: nothing but
        that is missing), or are deleted.
        """
        there = [job for job in jobs if job in self.groups]

        def turn(count: int) -> Turned:
            gone = {place for job in there[:count]
                    for place in (self.groups[job], *self.pods.get(job, ()))}
            return str(count), [obj for at, obj in enumerate(self.objects)
                                if at not in gone], self.conf

        def said(count: str) -> str:
            names = listed(map(self.called, there[:int(count or 1)]), 3)
            if rank == Rank.WAIT:
                return (f"nothing is wrong: wait for the end of {names}" if fine
                        else f"wait for the end of {names}")
            if any(map(self.pods.get, there)):
                return f"delete {names}"
            return (f"delete {names}, a PodGroup without pods" if len(there) == 1
                    else f"delete {count} of the {len(there)} PodGroups without pods ({names})")

        if there:
            steps = min(len(there), ENDED if rank == Rank.WAIT else len(there))
            yield Knob("jobs", "deleted", "0", steps, turn, rank, said=said)


def _selector(labels: Any) -> str:
    return ", ".join(f"{k}={v}" for k, v in labels.items()) if isinstance(labels, dict) else ""


def _asking(container: Any, resource: str, limit: Any) -> Any:
    """The container with a request of no more than the limit."""
    requests = container.resources.requests
    if resource not in requests or quantity.parse(requests[resource]) <= limit:
        return container
    return evolved(container, "resources.requests",
                   requests | {resource: text_of(resource, limit, requests[resource])})


def _scaled(amounts: dict[str, str] | None, part: int, whole: int) -> dict[str, str] | None:
    return amounts and {name: text_of(name, quantity.parse(text) * part / whole, text) for name,
                        text in amounts.items()}
