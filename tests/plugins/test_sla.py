"""sla: deadlines by sentences. A job was created on 2027-01-15 at 07:00, 07:30, ...; the cycle is
at 08:00.
"""

import pytest
from small_cluster import NOW, conf, group, node, open_session, pod, queue, run

from volcano_lab.framework.points.rules import ABSTAIN, PERMIT

KEY = "sla-waiting-time"


def session(*groups, argument=""):
    given = f"{{name: sla, arguments: {{{KEY}: {argument}}}}}" if argument else "sla"
    return open_session(queue(), *groups, plugins=given)


def waiting(name, created, text=None, key=KEY):
    return group(name, created=created and f"2027-01-15T{created}Z",
                 annotations={key: text} if text else {})


@pytest.mark.parametrize(
    ("sentence", "created", "annotation", "argument", "vote"),
    [
        ("no time is set", "07:00:00", None, "", ABSTAIN),
        ("its own time is over to the second", "07:00:00", "1h", "", PERMIT),
        ("its own time has a second left", "07:00:01", "1h", "", ABSTAIN),
        ("the plugin's time is over", "07:00:00", None, "59m", PERMIT),
        ("its own time goes before the plugin's", "07:00:00", "2h", "1m", ABSTAIN),
        ("a time of its own that is no duration leaves the plugin's", "07:00:00", "soon", "1m",
         PERMIT),
        ("a negative time is none", "07:00:00", None, "-1h", ABSTAIN),
        ("a number without a unit is none", "07:00:00", None, "60", ABSTAIN),
        ("more than 292 years is none", "07:00:00", None, "10000000h", ABSTAIN),
        ("who was never created has waited for ever", None, "876000h", "", PERMIT),
    ],
)
def test_vote(sentence, created, annotation, argument, vote):
    ssn = session(waiting("a", created, annotation), argument=argument)
    plugin, job = ssn.plugins["sla"], ssn.jobs["default/a"]
    assert (plugin.job_enqueueable(job), plugin.job_pipelined(job)) == (vote, vote), sentence


@pytest.mark.parametrize(
    ("sentence", "left", "right", "first"),
    [
        ("the earlier deadline", ("07:30:00", "10m"), ("07:00:00", "1h"), "a"),
        ("not the older job", ("07:00:00", "3h"), ("07:30:00", "1h"), "b"),
        ("a deadline before none", ("07:30:00", "100h"), ("07:00:00", None), "a"),
        ("neither: the older", ("07:30:00", None), ("07:00:00", None), "b"),
        ("the same deadline: the older", ("07:30:00", "30m"), ("07:00:00", "1h"), "b"),
    ],
)
def test_order(sentence, left, right, first):
    ssn = session(waiting("a", *left), waiting("b", *right))
    a, b = ssn.jobs["default/a"], ssn.jobs["default/b"]
    assert ssn.job_order(a, b) is (first == "a"), sentence
    assert ssn.job_order(b, a) is (first == "b"), sentence
    mine, theirs = map(ssn.plugins["sla"].job_order_key, (a, b))
    assert ssn.plugins["sla"].job_order(a, b) == (mine > theirs) - (mine < theirs)


def test_a_job_past_its_deadline_is_admitted_although_the_cluster_is_full():
    objects = [queue(), node("n1", cpu="1"), pod("r", "r", "n1"), group("r", phase="Running")]
    late = group("late", phase="Pending", created="2027-01-15T07:00:00Z", minResources={"cpu": "2"},
                 annotations={KEY: "1h"})
    tiers = 'actions: "enqueue"\ntiers:\n- plugins: [{name: sla}]\n- plugins: [{name: overcommit}]'
    same_tier = conf("sla", "overcommit", actions="enqueue")
    for text, now, phase in ((tiers, NOW, "Inqueue"), (tiers, NOW - 1, "Pending"), (same_tier, NOW,
                                                                                    "Pending")):
        ssn = run(*objects, late, pod("late-0", "late", requests={"cpu": "2"}), conf=text, now=now)
        assert ssn.jobs["default/late"].pod_group.status.phase == phase
