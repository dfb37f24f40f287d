"""proportion: queues share the cluster by weight; what follows from their shares."""

from __future__ import annotations

import pytest
from small_cluster import group, names, node, open_session, pod, queue, task

from volcano_lab.framework.points.rules import PERMIT, REJECT


def session(a=None, b=None, running=(2, 0), waiting=(9, 9), least=None, **minimum):
    """10 CPU; queues a (weight 1) and b (weight 3), each with a job of pods of 1 CPU that run and
    wait as said; `least` CPUs are the minimum of a's. A job "new" of queue a wants to be admitted.
    """
    objects = [node("n1", "10", "100Gi"), queue("a", **{"weight": 1, **(a or {})}),
               queue("b", **{"weight": 3, **(b or {})})]
    for name, up, down in zip("ab", running, waiting, strict=True):
        kept = {} if least is None else {"minResources": {"cpu": str(least)}}
        objects.append(group(name, name, "Running" if up else "Inqueue", minMember=0, **kept))
        objects += [pod(f"{name}-{n}", name, "n1" if n < up else "", requests={"cpu": "1"})
                    for n in range(up + down)]
    objects.append(group("new", "a", "Pending", **minimum))
    return open_session(*objects, plugins="proportion")


def attr(ssn, queue):
    return ssn.plugins["proportion"].queue_opts[queue]


def cpus(resource):
    return resource.milli_cpu / 1000


@pytest.mark.parametrize(
    ("sentence", "change", "deserved"),
    [
        ("by weight", {}, (2.5, 7.5)),
        ("no more than runs and waits; the other gets the rest", {"waiting": (9, 2)}, (8, 2)),
        ("nor than its capability", {"b": {"capability": {"cpu": "3"}}}, (7, 3)),
        ("at least the guarantee", {"a": {"guarantee": {"resource": {"cpu": "4"}}}}, (4, 6)),
        ("a queue without jobs takes part in nothing", {"running": (2, 0), "waiting": (9, 0)},
         (10, 0)),
    ],
)
def test_deserved(sentence, change, deserved):
    ssn = session(**change)
    assert tuple(cpus(attr(ssn, q).deserved) for q in "ab") == deserved, sentence


@pytest.mark.parametrize(
    ("sentence", "change", "capability"),
    [
        ("the cluster, where nothing is said", {}, 10),
        ("less what is kept for others", {"b": {"guarantee": {"resource": {"cpu": "4"}}}}, 6),
        ("its own guarantee is no loss", {"a": {"guarantee": {"resource": {"cpu": "4"}}}}, 10),
        ("its capability", {"a": {"capability": {"cpu": "5"}}}, 5),
    ],
)
def test_real_capability(sentence, change, capability):
    assert cpus(attr(session(**change), "a").real_capability) == capability, sentence


@pytest.mark.parametrize(
    ("sentence", "running", "change", "overused", "one_more"),
    [
        ("below what it deserves it takes one more", (1, 0), {}, False, True),
        ("one more would be too many", (2, 0), {}, False, False),
        ("above it in every resource", (4, 0), {"waiting": (0, 9)}, True, False),
        ("above it in CPU alone: it deserves the pods that wait", (4, 0), {}, False, False),
        ("a closed queue takes none", (1, 0), {"a": {"state": "Closed"}}, False, False),
    ],
)
def test_overused_and_allocatable(sentence, running, change, overused, one_more):
    ssn = session(running=running, **change)
    mine, waits = ssn.queues["a"], task(ssn, "b-0")
    assert ssn.overused(mine) is overused, sentence
    assert (ssn.allocatable(mine, waits), ssn.preemptive(mine, waits)) == (one_more, one_more)


def test_the_emptier_queue_first_unless_priority_says_otherwise():
    left, right = (session(running=(2, 2)).queues[q] for q in "ab")
    assert not session(running=(2, 2)).queue_order(left, right), "2 of 2.5 is fuller than 2 of 7.5"
    ssn = session(running=(2, 2), a={"priority": 1})
    assert ssn.queue_order(ssn.queues["a"], ssn.queues["b"])


@pytest.mark.parametrize(
    ("sentence", "change", "minimum", "vote"),
    [
        ("it fits the real capability beside what runs", {"least": 2}, 8, PERMIT),
        ("it does not", {"least": 2}, 9, REJECT),
        ("what runs above its job's minimum counts as free", {"least": 1}, 9, PERMIT),
        ("without a minimum nothing is asked", {"least": 2, "running": (9, 0)}, None, PERMIT),
        ("its queue is closed", {"a": {"state": "Closed"}}, 1, REJECT),
    ],
)
def test_admission(sentence, change, minimum, vote):
    asked = {} if minimum is None else {"minResources": {"cpu": str(minimum)}}
    ssn = session(**change, **asked)
    found = ssn.plugins["proportion"].job_enqueueable(ssn.jobs["default/new"])
    assert found == vote, sentence


def test_an_admitted_job_has_reserved_its_minimum():
    ssn = session(running=(0, 0), minResources={"cpu": "8"})
    plugin, job = ssn.plugins["proportion"], ssn.jobs["default/new"]
    assert (plugin.job_enqueueable(job), cpus(attr(ssn, "a").inqueue)) == (PERMIT, 8)
    assert plugin.job_enqueueable(job) == REJECT
    assert ssn.cache.events[-1].message == "queue resource quota insufficient: insufficient cpu"


@pytest.mark.parametrize(
    ("sentence", "running", "victims"),
    [
        ("until the queue holds no more than it deserves", (4, 0), ["a-0", "a-1"]),
        ("none of a queue that does not", (2, 0), []),
    ],
)
def test_reclaimable(sentence, running, victims):
    ssn = session(running=running)
    theirs = [task(ssn, f"a-{n}") for n in range(running[0])]
    found = ssn.plugins["proportion"].reclaimable(task(ssn, "b-0"), theirs)
    assert (names(found[0]), found[1]) == (victims, PERMIT), sentence


def test_the_sums_follow_what_is_placed_and_evicted():
    ssn = session()
    statement = ssn.statement()
    statement.allocate(task(ssn, "b-0"), ssn.nodes["n1"])
    statement.evict(task(ssn, "a-0"), "for a test")
    assert [cpus(attr(ssn, q).allocated) for q in "ab"] == [1, 1]
    assert attr(ssn, "a").share == 1 / 2.5
    statement.discard()
    assert [cpus(attr(ssn, q).allocated) for q in "ab"] == [2, 0]


def test_a_trial_counts_on_a_copy():
    ssn = session()
    plugin, one, mine = ssn.plugins["proportion"], task(ssn, "a-9"), ssn.queues["a"]
    assert not plugin.simulate_allocatable({}, mine, one), "nothing was looked up for the task"
    type(plugin).pre_predicate(plugin, one)  # the session calls it only where preempt is configured
    state = ssn.cycle_state(one.uid)
    assert not plugin.simulate_allocatable(state, mine, one)
    plugin.simulate_remove_task(state, one, task(ssn, "a-0"), ssn.nodes["n1"])
    assert plugin.simulate_allocatable(state, mine, one) and not plugin.allocatable(mine, one)
    plugin.simulate_add_task(state, one, task(ssn, "a-0"), ssn.nodes["n1"])
    assert not plugin.simulate_allocatable(state, mine, one)
