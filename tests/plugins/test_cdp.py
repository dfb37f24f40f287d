"""cdp: who has cooled down, by sentences. The cycle is at 08:00."""

import pytest
from small_cluster import NOW, group, names, node, open_session, pod, queue, task

from volcano_lab.framework.points.rules import PERMIT

KEY = "volcano.sh/cooldown-time"


def scheduled(at, status="True", kind="PodScheduled"):
    return [{"type": kind, "status": status, "lastTransitionTime": f"2027-01-15T{at}Z"}]


@pytest.mark.parametrize(
    ("sentence", "words", "spared"),
    [
        ("no cooldown time", {"conditions": scheduled("07:59:59")}, False),
        ("still cooling down", {"labels": {KEY: "10m"}, "conditions": scheduled("07:50:01")}, True),
        ("cooled down to the second", {"labels": {KEY: "10m"}, "conditions": scheduled("07:50:00")
                                       }, False),
        ("an annotation does, too",
         {"annotations": {KEY: "600s"}, "conditions": scheduled("07:55:00")}, True),
        ("the label goes before the annotation", {
            "labels": {KEY: "1m"}, "annotations": {KEY: "1h"}, "conditions": scheduled("07:55:00")
        }, False),
        ("a label that is no duration hides the annotation", {
            "labels": {KEY: "long"}, "annotations": {KEY: "1h"}, "conditions": scheduled("07:55:00")
        }, False),
        ("being ready is something else",
         {"labels": {KEY: "10m"}, "conditions": scheduled("07:55:00", kind="Ready")}, False),
        ("not scheduled, says the condition",
         {"labels": {KEY: "10m"}, "conditions": scheduled("07:55:00", "False")}, False),
        ("only running pods are spared",
         {"labels": {KEY: "10m"}, "conditions": scheduled("07:55:00"), "phase": "Pending"}, False),
        ("running, but since when is unknown", {"labels": {KEY: "10m"}}, False),
    ],
)
def test_who_is_spared(sentence, words, spared):
    ssn = open_session(queue(), node("n1"), group("a"), group("b"), pod("a-0", "a", "n1", **words),
                       pod("a-1", "a", "n1"), pod("b-0", "b"), plugins="cdp", now=NOW)
    candidates = [task(ssn, "a-0"), task(ssn, "a-1")]
    expected = ["a-1"] if spared else ["a-0", "a-1"]
    for point in (ssn.preemptable, ssn.reclaimable):
        assert names(point(task(ssn, "b-0"), candidates)) == expected, sentence
    assert ssn.plugins["cdp"].preemptable(task(ssn, "b-0"), [])[1] == PERMIT
