"""The lab decides as Volcano v1.14.0 did in the few cases, of thousands, that differ most: between
them, what is compared in the core comes out less, equal and greater, each condition both ways.
"""

from random import Random

import pytest
from recorded_cases import HERE, differences, rows

from volcano_lab.cli.replay import replay

FAMILIES: dict[str, list] = {}
for case, decisions in zip(rows(HERE / "chosen-cases.jsonl.gz"),
                           rows(HERE / "chosen-decisions.jsonl.gz"), strict=True):
    FAMILIES.setdefault(case["family"], []).append((case, decisions))


def in_another_order(case):
    """The case with its queues, jobs and pods listed in another order; Volcano goes by their names.

    Nodes and HyperNodes are considered in the order in which they are listed.
    """
    fixed = {"Node": [], "HyperNode": []}
    moved = []
    for each in case["objects"]:
        fixed.get(each["kind"], moved).append(each)
    Random(1).shuffle(moved)
    return case | {"objects": [*fixed["Node"], *moved, *fixed["HyperNode"]]}


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_the_objects_changes_nothing(family):
    found = [text for case, decisions in FAMILIES[family]
             for text in differences(decisions, replay(in_another_order(case), True, {}))]
    assert not found, "\n".join(found[:10])


@pytest.mark.long
@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "node by node"])
@pytest.mark.parametrize("family", FAMILIES)
def test_decides_as_recorded(family, arrays):
    found = [text for case, decisions in FAMILIES[family]
             for text in differences(decisions, replay(case, arrays, {}))]
    assert not found, "\n".join(found[:10])
