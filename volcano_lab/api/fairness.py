"""Deserved shares: the fairness arithmetic, as pure functions that need no scheduler.

Volcano: pkg/scheduler/plugins/proportion/proportion.go, pkg/scheduler/plugins/drf/drf.go
"""

from collections.abc import Iterable, Mapping, Sequence

from attrs import define

from volcano_lab.api.resource import EMPTY, INFINITY, ZERO, Resource, max_of, share_of


@define(slots=True, frozen=True)
class Claim:
    """A queue's input to the sharing: its weight, its request, and its bounds.

    `real_capability` is its limit (None: no limit), `guarantee` the amount reserved for it.
    """

    queue: str
    weight: int
    request: Resource
    real_capability: Resource | None = None
    guarantee: Resource = EMPTY


@define(slots=True, frozen=True)
class Step:
    """One queue in one round: its deserved amount before and after the round's share, after each
    bound, and whether it is done.

    `met` is "" while the queue takes part, "request" once its request is met, "capability" once it
    is at its limit.
    """

    queue: str
    before: Resource
    offered: Resource
    capped: Resource
    after: Resource
    met: str


@define(slots=True, frozen=True)
class Round:
    """One round of filling: the weights of the queues left, each queue's step, and the remainder
    for the next round.
    """

    total_weight: int
    available: Resource
    steps: tuple[Step, ...]
    deserved: Mapping[str, Resource]
    remaining: Resource


def water_fill(total: Resource, claims: Iterable[Claim]) -> list[Round]:
    """Divide `total` among queues by weight, in rounds, until nothing remains or no queue can take
    more.

    In each round a queue that is not done is offered its part of the remainder, by weight; its
    deserved amount is capped by its real capability and its request, and raised to its guarantee.
    The remainder is divided again. The last round's `deserved` is the result. Queues are processed
    in ascending order of name.

    >>> cpus = lambda n: Resource(n * 1000.0)
    >>> rounds = water_fill(cpus(100), [
    ...     Claim("a", 2, cpus(80), real_capability=cpus(50), guarantee=cpus(10)),
    ...     Claim("b", 3, cpus(60)),
    ...     Claim("c", 5, cpus(30), guarantee=cpus(20))])
    >>> [{queue: r.milli_cpu / 1000 for queue, r in round.deserved.items()} for round in rounds]
    [{'a': 20.0, 'b': 30.0, 'c': 30.0}, {'a': 28.0, 'b': 42.0, 'c': 30.0}]
    """
    claims = sorted(claims, key=lambda claim: claim.queue)
    deserved = {claim.queue: EMPTY for claim in claims}
    unmet = list(claims)
    remaining = total
    rounds: list[Round] = []
    while total_weight := sum(claim.weight for claim in unmet):
        steps = [_step(claim, deserved[claim.queue], remaining * (claim.weight / total_weight))
                 for claim in unmet]
        increased = decreased = EMPTY
        for step in steps:
            more = step.after.exceeded_part(step.before)
            less = step.before.exceeded_part(step.after)
            increased, decreased = increased + more, decreased + less
            deserved[step.queue] = step.after
        left = (remaining + decreased).exceeded_part(increased)
        rounds.append(Round(total_weight, remaining, tuple(steps), dict(deserved), left))
        done = {step.queue for step in steps if step.met}
        unmet = [claim for claim in unmet if claim.queue not in done]
        if left.is_empty() or left == remaining:
            break
        remaining = left
    return rounds


def _step(claim: Claim, before: Resource, part: Resource) -> Step:
    offered = before + part
    capped = offered
    if claim.real_capability is not None:
        capped = capped.min_dimension_resource(claim.real_capability, INFINITY)
    after = max_of(capped.min_dimension_resource(claim.request, ZERO), claim.guarantee)
    met = "capability" if after == before else ""
    met = "request" if claim.request.less_equal(after, ZERO) else met
    return Step(claim.queue, before, offered, capped, after, met)


def real_capability(total: Resource, total_guarantee: Resource, guarantee: Resource,
                    capability: Resource | None) -> Resource:
    """Return a queue's limit: the cluster less the guarantees of *others*, and its own capability
    if it has one.

    >>> real_capability(Resource(100.0), Resource(30.0), Resource(10.0), Resource(50.0)).milli_cpu
    50.0
    >>> real_capability(Resource(100.0), Resource(30.0), Resource(10.0), None).milli_cpu
    80.0
    """
    limit = total.exceeded_part(total_guarantee) + guarantee
    return limit if capability is None else limit.min_dimension_resource(capability, INFINITY)


def queue_share(allocated: Resource, deserved: Resource) -> float:
    """Return a queue's share: allocated over deserved, in the dimension with the largest ratio.

    Only deserved dimensions count: without any the share is 0 (capacity then sets 1, see
    `QueueAttr.keep_share`).

    >>> queue_share(Resource(7.0, 1.0), Resource(28.0, 2.0)), queue_share(Resource(7.0), EMPTY)
    (0.5, 0.0)
    """
    return dominant_share(allocated, [(name, deserved.get(name))
                                      for name in deserved.resource_names()])[1]


def dominant_share(allocated: Resource, total: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Return (dominant resource, its share): the resource with the job's largest fraction of the
    cluster.

    `total` is (name, amount) of the cluster's dimensions; the result is ("", 0.0) for a job without
    allocated resources.

    >>> dominant_share(Resource(2.0, 1.0), [("cpu", 8.0), ("memory", 2.0)])
    ('memory', 0.5)
    """
    dominant, highest = "", 0.0
    for name, amount in total:
        part = allocated.get(name)
        share = part / amount if amount else share_of(part, amount)
        if share > highest:
            dominant, highest = name, share
    return dominant, highest
