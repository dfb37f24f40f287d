"""The lab decides as Volcano v1.14.0 did: every recorded case, node by node and over arrays."""

from __future__ import annotations

import gc
from collections import defaultdict

import pytest
from recorded_cases import HERE, SHARED, differences, rows

from volcano_lab.cli.replay import replay

TABLES = SHARED / "table-cases.jsonl.gz"


@pytest.fixture(
    scope="module", params=[
        pytest.param((True, 10), id="arrays, a sample"),
        pytest.param((True, 75), id="arrays", marks=pytest.mark.long),
        pytest.param((False, 75), id="node by node", marks=pytest.mark.slow)
    ])
def found(request):
    """How many cases a family has, {family: [what differs, for each case]}; in the order in
    which one process of Volcano decided them, in which the families take turns.
    """
    arrays, count = request.param
    cases = rows(HERE / "dev-cases.jsonl.gz")
    cases = cases[:count * len({case["family"] for case in cases})]
    gc.freeze()  # a thousand clusters need not be walked by the collector again and again
    families, actions = defaultdict(list), {}
    for case, decisions in zip(cases, rows(HERE / "dev-decisions.jsonl.gz"), strict=False):
        families[case["family"]].append(differences(decisions, replay(case, arrays, actions)))
    return count, families


@pytest.mark.parametrize("family", [
    "affinity",
    "best_effort",
    "capacity_flat",
    "contention",
    "edge",
    "enqueue_flat",
    "fair_share",
    "gang",
    "hdrf",
    "hierarchy",
    "placement",
    "preempt",
    "reclaim",
    "service",
    "subgroups",
    "topology",
])
def test_decides_as_recorded(found, family):
    count, families = found
    assert len(families[family]) == count
    texts = [text for differences_of_case in families[family] for text in differences_of_case]
    assert not texts, "\n".join(texts[:10])


@pytest.mark.long
@pytest.mark.skipif(not TABLES.exists(),
                    reason=f"the table cases are not beside this checkout ({TABLES.name})")
def test_decides_the_table_cases_as_recorded():
    cases = rows(TABLES)
    recorded = rows(TABLES.with_name("table-decisions.jsonl.gz"))
    actions = {}
    pairs = zip(cases, recorded, strict=True)
    found = [
        text for case, decisions in pairs
        for text in differences(decisions, replay(case, actions=actions))
    ]
    assert not found, "\n".join(found[:10])
