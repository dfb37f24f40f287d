"""The lab decides as Volcano v1.14.0 did: every recorded case, node by node and over arrays."""

from __future__ import annotations

import gc
from collections import defaultdict

import pytest
from recorded_cases import HERE, SHARED, differences, rows

from volcano_lab.replay import replay

TABLES = SHARED / "table-cases.jsonl.gz"


@pytest.fixture(scope="module")
def recorded():
    """{family: [(case, its recorded decisions)]}"""
    families = defaultdict(list)
    for case, decisions in zip(rows(HERE / "dev-cases.jsonl.gz"), rows(HERE / "dev-decisions.jsonl.gz"), strict=True):
        families[case["family"]].append((case, decisions))
    gc.freeze()  # a thousand clusters need not be walked by the collector again and again
    return families


@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "node by node"])
@pytest.mark.parametrize("family", [
    "affinity", "best_effort", "capacity_flat", "contention", "edge", "enqueue_flat", "fair_share", "gang", "hdrf",
    "hierarchy", "placement", "preempt", "reclaim", "service", "subgroups", "topology",
])  # fmt: skip
def test_decides_as_recorded(recorded, family, arrays):
    assert len(recorded[family]) == 75
    found = [text for case, decisions in recorded[family] for text in differences(decisions, replay(case, arrays))]
    assert not found, "\n".join(found[:10])


@pytest.mark.skipif(not TABLES.exists(), reason=f"the table cases are not beside this checkout ({TABLES.name})")
def test_decides_the_table_cases_as_recorded():
    cases = rows(TABLES)
    recorded = rows(TABLES.with_name("table-decisions.jsonl.gz"))
    found = [text for case, decisions in zip(cases, recorded, strict=True) for text in differences(decisions, replay(case))]
    assert not found, "\n".join(found[:10])
