"""The smallest recorded case of each trap that the families do not reach, and where Volcano stops.

An error cache shared with a nominated pod, `enablePredicate: false`, scalars of amount 0, white
space before the configuration; and the panics, of which the lab says so and goes on.
"""

import logging

import pytest
from recorded_cases import HERE, differences, rows

from volcano_lab.api.panics import Panic, panics_stop
from volcano_lab.cli.replay import replay

CASES = {case["name"]: case for case in rows(HERE / "minimal-cases.jsonl.gz")}
DECISIONS = {row["name"]: row for row in rows(HERE / "minimal-decisions.jsonl.gz")}

DIFFERS = {
    "tdm-shuffle-accounting":
        "Volcano counts a pod that is evicted twice by its own copy of the node",
    "tdm-pdb-shuffle-twice": "Volcano's shuffle evicts a pod twice that two plugins name",
    "memory-8Ei-score": "Volcano's memory overflows int64",
    "usage-weights-zero": "Volcano divides 0 by 0, and compares with what is no number",
}
"""Cases that the lab decides otherwise, with the reason."""

PANICS = {
    "task-topology-panic": "resource is not sufficient to do operation: <cpu 0.00, memory 0.00, "
                           "pods 0.00> sub <cpu 250.00, memory 0.00, pods 1.00>",
    "enqueue-elastic-panic-proportion": "resource is not sufficient to do operation: <cpu 0.00, "
                                        "memory 0.00, pods 0.00> sub "
                                        "<cpu 0.00, memory 0.00, pods 1.00>",
}
SILENT = {
    "tdm-shuffle-panic": "the lab's nodes are not asked whether they hold what is taken from them",
    "capacity-tree-broken": "the lab refuses the tree in a sentence of its own",
    "cpu-overflow-min-resources": "the lab's numbers do not overflow",
}
"""Cases in which Volcano panics and the lab has nothing to panic about, with the reason."""


@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "node by node"])
@pytest.mark.parametrize("name", [name for name, row in DECISIONS.items()
                                  if "panic" not in row and name not in DIFFERS])
def test_decides_as_recorded(name, arrays):
    found = differences(DECISIONS[name], replay(CASES[name], arrays, {}))
    assert not found, "\n".join(found)


def test_every_other_case_is_listed_with_its_reason():
    panics = {name for name, row in DECISIONS.items() if "panic" in row}
    assert panics == PANICS.keys() | SILENT.keys()
    for name in DIFFERS:
        assert differences(DECISIONS[name], replay(CASES[name], True, {})), f"{name} now agrees"


@pytest.mark.parametrize("name", PANICS)
def test_where_volcano_panics_the_lab_says_so_and_goes_on(name, caplog):
    assert PANICS[name] == DECISIONS[name]["panic"]
    with caplog.at_level(logging.ERROR, "volcano_lab"):
        replay(CASES[name], True, {})
    assert f"Volcano stops here with a panic: {PANICS[name]}" in caplog.text
    with panics_stop(), pytest.raises(Panic, match="Volcano stops here with a panic"):
        replay(CASES[name], True, {})
