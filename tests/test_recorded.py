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
        pytest.param(True, id="arrays", marks=pytest.mark.long),
        pytest.param(False, id="node by node", marks=pytest.mark.slow)
    ])
def found(request):
    """{family: [what differs, for each case]}, in the order in which one process of Volcano
    decided them, in which the families take turns.
    """
    cases = rows(HERE / "dev-cases.jsonl.gz")
    gc.freeze()  # a thousand clusters need not be walked by the collector again and again
    families, actions = defaultdict(list), {}
    for case, decisions in zip(cases, rows(HERE / "dev-decisions.jsonl.gz"), strict=True):
        families[case["family"]].append(differences(
            decisions, replay(case, request.param, actions)))
    return families


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
    assert len(found[family]) == 75
    texts = [text for differences_of_case in found[family] for text in differences_of_case]
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
