"""What is shown dimension by dimension adds up to what the comparison says."""

import pytest
from hypothesis import given, strategies as st

from volcano_lab.api.resource import Resource
from volcano_lab.course.lesson_02.comparisons import COMPARISONS, FITS, NOT_LOOKED_AT, compared

amount = st.sampled_from([0.0, 0.05, 1.0, 1.05, 1.2, 2.0])
resource = st.builds(Resource, amount, amount,
                     st.dictionaries(st.sampled_from(["nvidia.com/gpu", "pods"]), amount))


@pytest.mark.long
@given(resource, resource, resource)
def test_dimensions_add_up_to_the_answer(left, right, request):
    for one in COMPARISONS:
        looked = [
            cell == FITS
            for cell in one.by_dimension(left, right, request).values()
            if cell != NOT_LOOKED_AT
        ]
        answer = all(looked) if one.every else any(looked)
        assert one.compare(left, right, request) == answer, one.name


def test_every_answer_occurs():
    assert [row["answer"] for row in compared(Resource(1.05), Resource(1.0), Resource(1.0))] == [
        True, True, False, True, True
    ]
    assert [row["answer"] for row in compared(Resource(2.0), Resource(1.0), Resource(1.0))] == [
        False, False, False, False, True
    ]
