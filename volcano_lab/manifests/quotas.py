"""What the API server refuses of the pods that controllers create: by a LimitRange of their
namespace, or by a ResourceQuota.

Left out: of the scopes of quotas those of pods with a deadline, or with an affinity across
namespaces.

Volcano: none
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from volcano_lab.api import objects as api, quantity
from volcano_lab.api.pod_sum import Amounts, add, exceeded, parsed
from volcano_lab.manifests.job_controller import JOB_NAME, amounts_text, usage
from volcano_lab.messages import Message

GROUPS = "podgroups.scheduling.volcano.sh"
Limits = api.ResourceQuota | api.LimitRange
Counted = dict[str, Amounts]
"""What each quota counts, by its key, of pods that controllers have created."""


class Quotas:
    """The quotas and LimitRanges of all namespaces; `complete` gives pods the API server's
    defaults.
    """

    def __init__(self, limits: Sequence[Limits], complete: Callable[[api.Pod], api.Pod]) -> None:
        self.limits, self._complete = limits, complete

    def admitted(self, pods: Sequence[api.Pod], counted: Counted) -> list[api.Pod]:
        """Return the pods that are let through, beside what is `counted` of others, which receives
        theirs; those that share their spec are alike.
        """
        kept: list[api.Pod] = []
        for _, same in groupby(pods, lambda pod: id(pod.spec)):
            alike = [*same]
            pod = self._complete(alike[0])
            size, quotas = usage(pod.spec, {}), self._counting(pod)
            most = min([0 if self._outside(pod) else len(alike), *(
                _left(quota, pod, size, counted.get(quota.key, {})) for quota in quotas)])
            kept += alike[:most]
            for quota in quotas:
                add(counted.setdefault(quota.key, {}), size, most)
        return kept

    def refusal(self, missing: Sequence[api.Pod], counted: Counted) -> Message | None:
        """Return what refuses the first of some pods, and how much a quota takes for all."""
        whole, styles = [*map(self._complete, missing)], dict[str, str]()
        specs = {id(pod.spec): pod.spec for pod in whole}
        sizes = {key: usage(spec, styles) for key, spec in specs.items()}
        own = JOB_NAME in whole[0].metadata.annotations
        facts: dict[str, Any] = {"tries": Message("not_created.tries") if own else None}
        if outside := self._outside(whole[0]):
            return Message(outside.code, **outside.facts, **facts)
        for quota in self._counting(whole[0]):
            before, size = counted.get(quota.key, {}), sizes[id(whole[0].spec)]
            facts["quota"], hard = quota.key, quota.status.hard
            if unnamed := _unnamed(whole[0].spec, hard):
                return Message("not_created.unnamed", resources=unnamed, **facts)
            if over := exceeded(quota, size, before):
                used = dict.fromkeys(over, quantity.parse("0")) | parsed(quota.status.used)
                add(used, before)
                wanted = {name: used[name] + sum(sizes[id(pod.spec)].get(name, 0) for pod in whole)
                          for name in over}
                short = {name: wanted[name] - quantity.parse(hard[name]) for name in over}
                sums = [amounts_text(each, styles)[over[0]] for each in (used, size)]
                return Message(
                    "not_created.quota", resources=over, wanted=amounts_text(wanted, styles),
                    used=amounts_text({name: used[name] for name in over}, styles),
                    short=[*map(" ".join, amounts_text(short, styles).items())],
                    enough=[*map(" ".join, amounts_text(wanted, styles).items())], sums=[Message(
                        "not_created.quota.sum", used=sums[0], asked=sums[1], hard=hard[over[0]])],
                    **facts)
        return None

    def full_of(self, kind: str, namespace: str) -> Message | None:
        """Return the quota that takes no more objects of a kind."""
        name = f"count/{kind}"
        return next((Message("not_created.objects", quota=each.key, kind=kind, hard=hard, used=used)
                     for each in self.limits if isinstance(each, api.ResourceQuota)
                     and each.namespace == namespace and each.status.hard.get(name)
                     for hard, used in [(each.status.hard[name], each.status.used.get(name, "0"))]
                     if quantity.parse(used) >= quantity.parse(hard)), None)

    def _counting(self, pod: api.Pod) -> list[api.ResourceQuota]:
        """Return the quotas that count a pod."""
        return [each for each in self.limits if isinstance(each, api.ResourceQuota)
                and each.namespace == pod.namespace and in_scope(pod.spec, each)]

    def _outside(self, pod: api.Pod) -> Message | None:
        """Return the bound of a LimitRange that a pod, or a container of it, is beyond."""
        return next((said for found in self.limits if isinstance(found, api.LimitRange)
                     and found.namespace == pod.namespace for item in found.spec.limits
                     for limits, requests in _parts(pod.spec, item.type)
                     for said in _beyond(found.key, item, limits, requests)), None)


def _parts(spec: api.PodSpec, kind: str) -> list[tuple[Amounts, Amounts]]:
    """Return the limits and requests of each container, or of a pod as a whole."""
    if kind == "Pod":
        whole = usage(spec, {})
        limits, requests = ({key.removeprefix(part): amount for key, amount in whole.items()
                             if key.startswith(part)} for part in ("limits.", "requests."))
        return [(limits, requests)]
    return [(parsed(each.resources.limits), parsed(each.resources.requests))
            for each in (*spec.containers, *spec.init_containers) if kind == "Container"]


def _beyond(key: str, item: api.LimitRangeItem, limits: Amounts, requests: Amounts
            ) -> Iterator[Message]:
    """Yield the bounds of a LimitRange that limits and requests are beyond; what is not set, too.
    The limit that it gives is a bound of requests.
    """
    who = Message(f"limit_range.{item.type.lower()}")
    for name, bound in (item.max | item.default).items() if item.type == "Container" else ():
        given = quantity.parse(bound)
        if limits.get(name) == given < requests.get(name, 0):
            yield Message("not_created.above", range=key, name=name, bound=bound, who=who,
                          asked=quantity.to_text(requests[name], quantity.style_of(bound)))
    ratios = {name: limits[name] / requests[name] for name in limits if requests.get(name)}
    for code, bounds, named, sign in (("max", item.max, limits, 1), ("min", item.min, requests, -1),
                                      ("ratio", item.max_limit_request_ratio, ratios, 1)):
        for name, bound in bounds.items():
            if name not in named or sign * (named[name] - quantity.parse(bound)) > 0:
                asked = quantity.to_text(named[name], quantity.style_of(bound)) if (
                    name in named) else Message("none")
                yield Message(f"not_created.{code}", range=key, name=name, bound=bound, asked=asked,
                              who=who)


def released(quota: api.ResourceQuota, gone: Iterable[api.KubernetesObject]) -> api.ResourceQuota:
    """Return a quota that no longer counts some pods and PodGroups; pods that have ended count as
    objects only.

    >>> quota = api.ResourceQuota(api.ObjectMeta("q", "a"), status=api.ResourceQuotaStatus(
    ...     {"pods": "4", "count/pods": "4"}, {"pods": "1", "count/pods": "2"}))
    >>> ended = api.Pod(api.ObjectMeta("p", "a"), status=api.PodStatus("Succeeded"))
    >>> released(quota, [ended]).status.used
    {'pods': '1', 'count/pods': '1'}
    """
    used = parsed(quota.status.used)
    for pod in gone:
        if (pod.namespace or "default") != (quota.namespace or "default"):
            continue
        if isinstance(pod, api.PodGroup):
            add(used, {f"count/{GROUPS}": Fraction(1)}, -1)
        elif isinstance(pod, api.Pod) and in_scope(pod.spec, quota):
            size = usage(pod.spec, {})
            over = pod.status.phase in ("Succeeded", "Failed")
            add(used, {"count/pods": size["count/pods"]} if over else size, -1)
    left = {name: max(used[name], Fraction(0)) for name in quota.status.used}
    styles = {name: quantity.style_of(text) for name, text in quota.status.used.items()}
    return quota.changed(status={"used": amounts_text(left, styles)})


def in_scope(spec: api.PodSpec, quota: api.ResourceQuota) -> bool:
    """Return whether a quota counts such a pod, by its scopes."""
    named, terms = spec.priority_class_name, quota.spec.scope_selector.get("matchExpressions")
    asks = any(each.resources.requests or each.resources.limits
               for each in (*spec.containers, *spec.init_containers))
    holds = {"BestEffort": not asks, "NotBestEffort": asks, "NotTerminating": True,
             "PriorityClass": bool(named)}
    return all(map(holds.get, quota.spec.scopes)) and all(
        (named in each["values"]) is (each.get("operator") == "In") if each.get("values") else
        holds.get(each.get("scopeName")) is not (each.get("operator") == "DoesNotExist")
        for each in terms or ())


def _left(quota: api.ResourceQuota, pod: api.Pod, size: Amounts, counted: Amounts) -> int:
    """Return how many more pods of a size a quota takes: none where it counts what a container does
    not name.
    """
    hard, used = parsed(quota.status.hard), parsed(quota.status.used)
    add(used, counted)
    left = [(most - used.get(name, 0)) // size[name] for name, most in hard.items()
            if size.get(name)]
    return 0 if _unnamed(pod.spec, hard) else max(min(left, default=2**31), 0)


def _unnamed(spec: api.PodSpec, hard: Mapping[str, Any]) -> list[str]:
    """Return the requests and limits that a quota counts and some container does not name."""
    return [f"{part}.{name}" for part in ("requests", "limits") for name in ("cpu", "memory")
            if (f"{part}.{name}" in hard or (part == "requests" and name in hard))
            and not all(name in getattr(each.resources, part) for each in spec.containers)]
