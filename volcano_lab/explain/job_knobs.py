"""What a job's author could have written otherwise: the gang's minimum, what pods ask for, the tier
of its topology.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import attrs

from volcano_lab.api import quantity
from volcano_lab.api.objects import Pod, PodGroup
from volcano_lab.api.task import GROUP_NAME_ANNOTATION
from volcano_lab.explain.knob import (
    STEPS,
    Knob,
    KnobSet,
    Objects,
    evolved,
    scaled,
    step_of,
    text_of,
)
from volcano_lab.framework.config.conf import SchedulerConfiguration


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

        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            fewer = least - step
            spec = attrs.evolve(group.spec, min_member=fewer, min_resources=scaled(
                group.spec.min_resources, fewer, least))
            return str(fewer), self._replaced(place, attrs.evolve(group, spec=spec)), self.conf

        yield Knob(f"job {job}", "min_member", str(least), least - 1, turn)

    def request(self, job: str, resource: str) -> Iterator[Knob]:
        """What each waiting pod of the job asks for, and with it the minimum's resources."""
        group = self.groups.get(job)
        pods = [(place, obj)
                for place, obj in enumerate(self.objects)
                if isinstance(obj, Pod) and _waits_in(obj, job)]
        asked = [
            quantity.parse(c.resources.requests[resource])
            for _, pod in pods
            for c in pod.spec.containers
            if resource in c.resources.requests
        ]
        if group is None or not asked:
            return
        most = max(asked)
        step = min(step_of(resource), most / 10) if resource in STEPS else 1

        def turn(i: int) -> tuple[str, Objects, SchedulerConfiguration]:
            objects, less = list(self.objects), i * step
            for place, pod in pods:
                containers = [_asking(c, resource, less) for c in pod.spec.containers]
                objects[place] = evolved(pod, "spec.containers", containers)
            spec = self.objects[group].spec
            objects[group] = evolved(self.objects[group], "spec.min_resources",
                                     _lowered(spec, resource, less, most))
            return text_of(resource, max(most - less, 0)), objects, self.conf

        yield Knob(f"job {job}", f"request of {resource} a pod", text_of(resource, most),
                   int(most // step), turn)

    def requests(self, job: str) -> Iterator[Knob]:
        """All that each waiting pod of the job asks for, a tenth less a step, and with it the
        minimum's resources.
        """
        group = self.groups.get(job)
        pods = [(place, obj)
                for place, obj in enumerate(self.objects)
                if isinstance(obj, Pod) and _waits_in(obj, job)]
        if group is None or not pods:
            return

        def turn(i: int) -> tuple[str, Objects, SchedulerConfiguration]:
            objects = list(self.objects)
            for place, pod in pods:
                less = [
                    scaled(container.resources.requests, 10 - i, 10)
                    for container in pod.spec.containers
                ]
                objects[place] = evolved(pod, "spec.containers", [
                    evolved(container, "resources.requests", requests)
                    for container, requests in zip(pod.spec.containers, less, strict=True)])
            least = scaled(objects[group].spec.min_resources, 10 - i, 10)
            objects[group] = evolved(objects[group], "spec.min_resources", least)
            return f"{100 - 10 * i} %", objects, self.conf

        yield Knob(f"job {job}", "requests a pod", "100 %", 9, turn)

    def tier(self, job: str) -> Iterator[Knob]:
        """The highest tier that the job's topology allows, or its sub-groups' (all of them
        together).
        """
        place = self.groups.get(job)
        if place is None:
            return
        spec = self.objects[place].spec
        own = spec.network_topology.highest_tier_allowed if spec.network_topology else None
        if own is not None:
            yield self._knob(f"job {job}", place, "spec.network_topology.highest_tier_allowed", own,
                             8, lambda step: own + step)
        for number, policy in enumerate(spec.sub_group_policy):
            tier = policy.network_topology.highest_tier_allowed if policy.network_topology else None
            if tier is not None:
                yield self._policy_tier(job, place, number, tier)

    def _policy_tier(self, job: str, place: int, number: int, tier: int) -> Knob:
        def turn(step: int) -> tuple[str, Objects, SchedulerConfiguration]:
            policies = deepcopy(self.objects[place].spec.sub_group_policy)
            policies[number].network_topology.highest_tier_allowed = tier + step
            group = evolved(self.objects[place], "spec.sub_group_policy", policies)
            return str(tier + step), self._replaced(place, group), self.conf

        policy = self.objects[place].spec.sub_group_policy[number]
        return Knob(f"job {job}", f"highest_tier_allowed of {policy.name}", str(tier), 8, turn)


def _waits_in(pod: Pod, job: str) -> bool:
    group = pod.metadata.annotations.get(GROUP_NAME_ANNOTATION, "")
    return not pod.spec.node_name and f"{pod.namespace}/{group}" == job


def _asking(container: Any, resource: str, less: Any) -> Any:
    requests = container.resources.requests
    if resource not in requests:
        return container
    number = max(quantity.parse(requests[resource]) - less, 0)
    return evolved(container, "resources.requests",
                   requests | {resource: text_of(resource, number, requests[resource])})


def _lowered(spec: Any, resource: str, less: Any, most: Any) -> dict[str, str] | None:
    if not spec.min_resources or resource not in spec.min_resources:
        return spec.min_resources
    text = spec.min_resources[resource]
    return spec.min_resources | {
        resource: text_of(resource,
                          quantity.parse(text) * max(most - less, 0) / most, text)
    }
