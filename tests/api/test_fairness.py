"""Water-filling and shares: what must hold for any claims, and small sums computed by hand."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from volcano_lab.api.fairness import (
    Claim,
    dominant_share,
    queue_share,
    real_capability,
    water_fill,
)
from volcano_lab.api.resource import EMPTY, MIN_RESOURCE, ZERO, Resource, total

DIMENSIONS = ("cpu", "memory", "a/gpu")
amounts = st.integers(0, 40).map(lambda n: n * 250.0)
resources = st.builds(lambda cpu, memory, gpu: Resource(cpu, memory, {"a/gpu": gpu}),
                      amounts, amounts, amounts)
limits = st.one_of(st.none(), resources)
small = st.builds(lambda cpu: Resource(cpu), st.integers(0, 4).map(lambda n: n * 250.0))


@st.composite
def claims(draw, guarantees=small):
    """One to five queues."""
    weights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return [Claim(f"q{number}", weight, draw(resources), draw(limits), draw(guarantees))
            for number, weight in enumerate(weights)]


def deserved(cluster, queues):
    return water_fill(cluster, queues)[-1].deserved


def at_most(left, right):
    """Up to rounding, in every dimension."""
    return all(left.get(name) <= right.get(name) + 1e-6 * (1 + abs(right.get(name)))
               for name in DIMENSIONS)


@pytest.mark.long
@given(resources, claims(guarantees=st.just(EMPTY)))
def test_no_more_is_given_than_there_is(cluster, queues):
    assert at_most(total(deserved(cluster, queues).values()), cluster)


@pytest.mark.long
@given(resources, claims())
def test_only_guarantees_exceed_the_cluster(cluster, queues):
    given_away = total(deserved(cluster, queues).values())
    assert at_most(given_away, cluster + total(claim.guarantee for claim in queues))


@pytest.mark.long
@given(resources, claims())
def test_a_queue_gets_no_more_than_it_requests_and_may_hold_unless_guaranteed(cluster, queues):
    found = deserved(cluster, queues)
    for claim in queues:
        for name in DIMENSIONS:
            most = [claim.request.get(name)]
            if claim.real_capability is not None:
                most.append(claim.real_capability.get(name))
            assert found[claim.queue].get(name) <= max(min(most), claim.guarantee.get(name))


@pytest.mark.long
@given(resources, claims())
def test_a_queue_gets_at_least_its_guarantee(cluster, queues):
    found = deserved(cluster, queues)
    assert all(claim.guarantee.less_equal(found[claim.queue], ZERO) for claim in queues)


one_dimension = st.builds(Resource, amounts)


@pytest.mark.long
@given(one_dimension, st.lists(st.tuples(st.integers(1, 9), one_dimension), min_size=1, max_size=5),
       st.integers(1, 9))
def test_more_weight_never_gives_a_queue_less(cluster, weights, more):
    queues = [Claim(f"q{n}", weight, request) for n, (weight, request) in enumerate(weights)]
    heavier = [evolve(queues[0], weight=queues[0].weight + more), *queues[1:]]
    before, after = deserved(cluster, queues)["q0"], deserved(cluster, heavier)["q0"]
    assert at_most(before, after)


@pytest.mark.long
@given(resources, claims(), st.randoms())
def test_the_order_of_claims_does_not_matter(cluster, queues, chance):
    shuffled = list(queues)
    chance.shuffle(shuffled)
    assert water_fill(cluster, queues) == water_fill(cluster, shuffled)


@pytest.mark.long
@given(resources, claims())
def test_no_unfinished_queue_could_take_the_remainder(cluster, queues):
    rounds = water_fill(cluster, queues)
    done = {step.queue for round_ in rounds for step in round_.steps if step.met}
    left = rounds[-1].remaining
    for claim in queues:
        if claim.queue not in done:
            wanted = claim.request.exceeded_part(rounds[-1].deserved[claim.queue])
            if claim.real_capability is not None:
                free = claim.real_capability.exceeded_part(rounds[-1].deserved[claim.queue])
                wanted = wanted.min_dimension_resource(free, ZERO)
            assert all(min(left.get(name), wanted.get(name)) < MIN_RESOURCE
                       for name in DIMENSIONS)


@pytest.mark.long
@given(resources, claims())
def test_each_round_starts_with_the_remainder_of_the_one_before(cluster, queues):
    rounds = water_fill(cluster, queues)
    assert [r.available for r in rounds] == [cluster, *(r.remaining for r in rounds[:-1])]
    for round_ in rounds:
        assert round_.deserved == {**round_.deserved, **{s.queue: s.after for s in round_.steps}}


@pytest.mark.long
@given(resources, claims())
def test_a_round_is_for_the_queues_that_the_rounds_before_have_left(cluster, queues):
    left = {claim.queue: claim.weight for claim in queues}
    for round_ in water_fill(cluster, queues):
        assert {step.queue for step in round_.steps} == left.keys()
        assert round_.total_weight == sum(left.values())
        left = {step.queue: left[step.queue] for step in round_.steps if not step.met}


def cpus(number):
    return Resource(number * 1000.0)


BASE = [Claim("a", 1, cpus(10)), Claim("b", 3, cpus(10))]


@pytest.mark.parametrize(
    ("sentence", "change", "expected"),
    [
        ("shares go by weight", {}, {"a": 2, "b": 6}),
        ("what one does not request goes to the other", {"b": {"request": cpus(1)}},
         {"a": 7, "b": 1}),
        ("nor what one may not hold", {"b": {"real_capability": cpus(2)}}, {"a": 6, "b": 2}),
        ("a guarantee lifts, and no queue loses the excess in that round",
         {"a": {"guarantee": cpus(4)}}, {"a": 4, "b": 6}),
        ("a guarantee lifts even a queue that requests nothing",
         {"a": {"guarantee": cpus(4), "request": EMPTY}}, {"a": 4, "b": 6}),
        ("without weight nothing is shared", {"a": {"weight": 0}}, {"a": 0, "b": 8}),
    ],
)
def test_eight_cpus_for_two_queues(sentence, change, expected):
    queues = [evolve(claim, **change.get(claim.queue, {})) for claim in BASE]
    found = {queue: r.milli_cpu / 1000 for queue, r in deserved(cpus(8), queues).items()}
    assert found == expected, sentence


def test_without_any_weight_there_is_no_round():
    assert water_fill(cpus(8), [Claim("a", 0, cpus(1))]) == []


@pytest.mark.parametrize(
    ("sentence", "allocated", "expected"),
    [
        ("the dimension in which most is held dominates", Resource(2.0, 30.0), ("memory", 0.75)),
        ("of equals the first", Resource(4.0, 20.0), ("cpu", 0.5)),
        ("nothing held, nothing dominates", EMPTY, ("", 0.0)),
        ("what the cluster has none of counts as all of it",
         Resource(0.0, 0.0, {"a/gpu": 1.0}), ("a/gpu", 1.0)),
    ],
)
def test_dominant_share(sentence, allocated, expected):
    cluster = [("cpu", 8.0), ("memory", 40.0), ("a/gpu", 0.0)]
    assert dominant_share(allocated, cluster) == expected, sentence


@pytest.mark.long
@given(resources, resources)
def test_a_queue_is_as_full_as_in_its_fullest_dimension(allocated, share):
    full = [allocated.get(name) / share.get(name) for name in DIMENSIONS
            if share.get(name) >= MIN_RESOURCE]
    assert queue_share(allocated, share) == max(full, default=0.0)


@pytest.mark.long
@given(resources, resources, resources, limits)
def test_the_real_capability_keeps_the_guarantees_of_others(cluster, own, others, capability):
    most = real_capability(cluster, own + others, own, capability)
    for name in DIMENSIONS:
        free = max(cluster.get(name) - own.get(name) - others.get(name), 0.0) + own.get(name)
        assert most.get(name) == (free if capability is None else min(free, capability.get(name)))
