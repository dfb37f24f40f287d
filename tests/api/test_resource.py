"""Amounts: what sums, differences and comparisons do with dimensions that only one side has, and
right at the tolerance.
"""

import pytest

from volcano_lab.api.resource import INFINITY, MIN_RESOURCE, ZERO, Resource, max_of, total


def gpus(*amounts: float) -> Resource:
    """So much of a/x, of a/y and so on, and no CPU."""
    return Resource(scalars=dict(zip(("a/x", "a/y", "a/z"), amounts, strict=False)))


ONE, X, Y = Resource(1.0, 2.0), Resource(scalars={"a/x": 3.0}), Resource(scalars={"a/y": 2.0})


@pytest.mark.parametrize(("sentence", "found", "expected"), [
    ("a scalar of one side is part of the sum", X + Y, gpus(3.0, 2.0)),
    ("a scalar of both is added up", gpus(3.0) + gpus(2.0, 1.0), gpus(5.0, 1.0)),
    ("a scalar that is only taken is owed", X - Y, gpus(3.0, -2.0)),
    ("without any scalars none is taken", ONE - Y, ONE),
    ("the sum of nothing", total([]), Resource()),
    ("a multiple is one of all dimensions", (ONE + X) * 2.0, Resource(2.0, 4.0, {"a/x": 6.0})),
    ("the larger of both, whichever side has it", max_of(gpus(1.0, 5.0), gpus(2.0, 4.0)),
     gpus(2.0, 5.0)),
    ("the larger of a scalar that one side has", max_of(X, Y), gpus(3.0, 2.0)),
    ("what is owed is no maximum", max_of(gpus(-1.0), gpus(-2.0, 1.0)), Resource(
        scalars={"a/y": 1.0})),
    ("raised to the other's, whichever is larger", gpus(1.0, 5.0).set_max_resource(gpus(2.0, 4.0)),
     gpus(2.0, 5.0)),
    ("the smaller, and nothing where the other has none", gpus(3.0, 4.0).min_dimension_resource(
        gpus(1.0), ZERO), gpus(1.0, 0.0)),
    ("the smaller, and all where the other has no limit", gpus(3.0, 4.0).min_dimension_resource(
        gpus(1.0), INFINITY), gpus(1.0, 4.0)),
    ("storage in thousandths of bytes as other scalars, pods as they are", Resource.from_list(
        {"ephemeral-storage": "2k", "a/x": "2", "pods": "2"}), Resource(
        scalars={"ephemeral-storage": 2e6, "a/x": 2e3, "pods": 2.0})),
    ("what is beyond", Resource(5.0, 1.0, {"a/x": 3.0}).exceeded_part(Resource(2.0, 3.0)),
     Resource(3.0, 0.0, {"a/x": 3.0})),
])
def test_arithmetic(sentence, found, expected):
    assert found == expected, sentence


@pytest.mark.parametrize("dimension", ["cpu", "memory", "a/x"])
@pytest.mark.parametrize(("more", "fits"), [
    (0.0, True), (MIN_RESOURCE * 0.9, True), (MIN_RESOURCE, False), (MIN_RESOURCE * 1.5, False)])
def test_the_tolerance_is_the_same_in_each_dimension(dimension, more, fits):
    def of(amount: float) -> Resource:
        return Resource(amount if dimension == "cpu" else 0.0,
                        amount if dimension == "memory" else 0.0,
                        {"a/x": amount if dimension == "a/x" else 0.0})

    asked, limit = of(more), of(0.0)
    assert asked.less_equal(limit, ZERO) == fits
    names = [] if fits else [dimension]
    assert asked.less_equal_with_resources_name(limit, ZERO) == (fits, names)
    may, among = asked.less_equal_partly_with_dimension_zero_filtered(limit, asked)
    assert not may and not among  # nothing on both sides is left out, and more is too much
