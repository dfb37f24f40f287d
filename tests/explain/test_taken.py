"""Pods that actions have evicted before the cycle: by which, for which job, by which rule."""

import pytest
from small_cluster import conf, group, node, pod, queue

from volcano_lab.api.objects import ObjectMeta, PodCondition, PriorityClass
from volcano_lab.explain import Explainer

NOW = 1_800_000_000.0
PREEMPTING = "volcano: preempting to accommodate a higher priority pod"


def mark(text, kind="Ready", status="False"):
    return PodCondition(type=kind, status=status, message=text)


def evicted(*marks, actions="allocate, preempt, reclaim", theirs="b", priority=0, nominated="n1",
            ends=20.0, new=True, more=()):
    """A job `old` with 2 of 4 pods that leave, and a job `new` for which they do."""
    old = [pod(f"old-{number}", "old", "n1", requests={"cpu": "1"}, phase="Running")
           for number in range(4)]
    old[2:] = [each.changed(metadata={"deletion_timestamp": NOW + ends}, status={
        "conditions": [*marks]}) for each in old[2:]]
    newer = [PriorityClass(ObjectMeta("own"), priority), group(
        "new", theirs, priorityClassName="own"), pod(
        "new-0", "new", requests={"cpu": "2"}, priority=priority).changed(
            status={"nominated_node_name": nominated})] * new
    return Explainer([queue("a"), queue("b"), node("n1", cpu="4"), group("old", "a", minMember=2),
                      *old, *newer, *more], conf(
        "priority", "gang", "predicates", "proportion", actions=actions), NOW)


@pytest.mark.parametrize(("marks", "facts", "said"), [
    ([mark("Pod is evicted, because of reclaim"), mark(PREEMPTING, "DisruptionTarget", "True")], {},
     "reclaim has evicted default/old-2, default/old-3 (Pod is evicted, because of reclaim) for "
     "default/new, whose pods have status.nominatedNodeName n1."),
    ([mark("Pod is evicted, because of reclaim")], {"nominated": ""},
     "of reclaim); pods of default/new are pipelined to n1 now."),
    ([mark("Pod is evicted, because of shuffle")], {"nominated": ""},
     "of shuffle); no pod of another job is pipelined to n1 now."),
    ([mark(PREEMPTING, "DisruptionTarget", "True")], {}, f"Volcano has evicted default/old-2, "
     f"default/old-3 ({PREEMPTING}) for default/new"),
    ([], {}, None), ([mark("of reclaim")], {}, None)])
def test_who_has_evicted_pods_is_read_from_their_conditions(marks, facts, said):
    explain = evicted(*marks, **facts)
    evict, job, one = (explain.who_evicts("old"), explain.why("old"), explain.why("default/old-2"))
    assert ("evicted some of it before." in job.head) == (
        one.head == "Pod default/old-2 was evicted.") == bool(said)
    for text in (f"{evict.head} {evict.text}", job.text) if said else ():
        assert said in text


@pytest.mark.parametrize(("theirs", "priority", "action", "rule"), [
    ("b", 0, "reclaim", "queue a: cpu 4 allocated, 2 deserved"),
    ("a", 7, "preempt", "preempt evicts for it by priority: it has 7")])
@pytest.mark.parametrize("ends", [20.0, -9000.0])
def test_the_same_cycle_with_the_pods_shows_the_rule_and_what_keeps_them(
        theirs, priority, action, rule, ends):
    found = evicted(mark(f"Pod is evicted, because of {action}"), theirs=theirs, priority=priority,
                    ends=ends).why("old")
    assert (f"with these pods running, {action} evicts 2 pods of default/old for default/new, "
            "allowed by") in found.text and rule in found.text
    assert "2 pods of default/old wait, with 2 placed and a minimum of 2" in found.text
    assert "gang keeps its minimum of 2: 2 pods are above it." in found.text
    assert "job default/old: volcano.sh/preemptable unset -> false (old loses no pods; new waits)" \
        in map(str, found.remedies)


@pytest.mark.parametrize("facts", [{"actions": "allocate"}, {"new": False}])
def test_no_rule_is_named_where_the_same_cycle_evicts_none(facts):
    found = evicted(mark("Pod is evicted, because of reclaim"), **facts).why("old")
    assert "reclaim has evicted" in found.text and "with these pods running" not in found.text


def test_pods_that_were_created_in_their_place_are_left_out():
    later = pod("later", "old", requests={"cpu": "1"}).changed(
        metadata={"creation_timestamp": NOW})
    found = evicted(mark("Pod is evicted, because of reclaim"), more=[later]).why("old")
    assert "After" in found.text and "2 pods of default/old wait, with 2 placed" in found.text
    assert found.head.startswith("old waits for")


def test_what_would_have_kept_pods_may_be_asked_about_one_of_them_and_has_no_command():
    found = evicted(mark("Pod is evicted, because of reclaim")).why("old")
    every = [*found.find_remedies(60.0)]
    assert every and [each.args for each in every] == [[]] * len(every)
    assert [*map(str, found.find_remedies(60.0, pod="default/old-0"))] == [*map(str, every)]
