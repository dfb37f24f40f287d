"""capacity: admission and limits up the tree, queue order, and who gives back; Volcano's #4118 both
ways.
"""

from __future__ import annotations

import pytest

from volcano_lab.api.resource import Resource
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.points.rules import PERMIT, REJECT
from volcano_lab.framework.session import Session
from volcano_lab.scheduler import actions, plugins

assert actions and plugins  # importing them registers the built-in ones


def conf(hierarchy: bool = True, argument: str = "", names: str = "enqueue, allocate") -> str:
    arguments = f"\n    arguments:\n      {argument}" if argument else ""
    return f"""\
actions: "{names}"
tiers:
- plugins:
  - name: gang
  - name: capacity
    enableHierarchy: {str(hierarchy).lower()}{arguments}
"""


class Notes(Observer):
    def __init__(self) -> None:
        self.rows: list[tuple[str, dict]] = []

    def note(self, kind: str, /, **facts) -> None:
        self.rows.append((kind, facts))

    def of(self, kind: str) -> list[dict]:
        return [facts for noted, facts in self.rows if noted == kind]


def open_session(cluster: Cluster, hierarchy: bool = True, argument: str = "",
                 observer: Observer | None = None) -> Session:
    return Session(cluster.cache(), load_conf(conf(hierarchy, argument)), observer)


def opts(ssn: Session) -> dict:
    return ssn.plugins["capacity"].queue_opts


def cpus(ssn: Session, what: str) -> dict[str, float]:
    return {name: getattr(attr, what).milli_cpu / 1000 for name, attr in opts(ssn).items()}


def task(ssn: Session, key: str):
    return next(
        t for job in ssn.jobs.values() for t in job.tasks.values() if t.key == f"default/{key}")


def two_leaves(capability: int = 2) -> Cluster:
    """The cluster of #4118: a parent of 2 CPU and 4 GiB over two leaves, and much more on the
    node.
    """
    limit = {"cpu": capability, "memory": f"{2 * capability}Gi"}
    return (Cluster().node("n1", cpu=16, memory="64Gi").queue("parent", capability=limit)
            .queue("leaf-0", parent="parent").queue("leaf-1", parent="parent"))


def family() -> Cluster:
    return (Cluster().node("n1", cpu=32).queue("eng").queue("dev", parent="eng").queue(
        "test", parent="eng").queue("ops").queue("night", parent="ops"))


# -- #4118: a leaf must not admit a job beyond an ancestor's limit
# -----------------------------------


def case_4118() -> Cluster:
    return (two_leaves().job("job-1", queue="leaf-0", pods=1, cpu=2, memory="4Gi")
            .job("job-2", queue="leaf-1", pods=1, cpu=2, memory="4Gi"))


@pytest.mark.parametrize("argument, admitted, placed", [
    ("", ["Inqueue", "Pending"], 1),
    ("lab.v1-11-enqueue: false", ["Inqueue", "Pending"], 1),
    ("lab.v1-11-enqueue: true", ["Inqueue", "Inqueue"], 1),
    ('lab.v1-11-enqueue: "yes"', ["Inqueue", "Pending"], 1),
])
def test_bug_4118_is_reproduced_only_with_the_argument(argument, admitted, placed):
    cycle = case_4118().run(conf(argument=argument))
    assert [job["phase"] for job in cycle.jobs()] == admitted
    assert len(cycle.committed) == placed, "allocate always looked at all ancestors"


def test_v1_11_charges_only_the_jobs_own_queue():
    today = case_4118().run(conf(names="enqueue")).session
    then = case_4118().run(conf(argument="lab.v1-11-enqueue: true", names="enqueue")).session
    assert cpus(today,
                "inqueue") == {"default": 0, "leaf-0": 2, "leaf-1": 0, "parent": 2, "root": 2}
    assert cpus(then, "inqueue") == {"default": 0, "leaf-0": 2, "leaf-1": 2, "parent": 0, "root": 0}


def test_each_checked_level_is_recorded_with_both_sides():
    notes = Notes()
    ssn = open_session(case_4118(), observer=notes)
    assert [ssn.job_enqueueable(job) for job in ssn.jobs.values()] == [True, False]
    rows = [(row["job"], row["level"], row["asked"].milli_cpu, row["limit"].milli_cpu,
             row["short_of"]) for row in notes.of("enqueue_comparison")]
    assert rows == [
        ("default/job-1", "leaf-0", 2000, 2000, []),
        ("default/job-1", "parent", 2000, 2000, []),
        ("default/job-1", "root", 2000, 16000, []),
        ("default/job-2", "leaf-1", 2000, 2000, []),
        ("default/job-2", "parent", 4000, 2000, ["cpu", "memory"]),
    ]


# -- in-queue accounting: all levels or none
# ----------------------------------------------------------


def test_when_one_level_refuses_nothing_stays_behind_on_any():
    cluster = two_leaves(capability=4).job("big", queue="leaf-0", pods=1, cpu=5, memory="1Gi")
    ssn = open_session(cluster)
    before = {name: attr.inqueue for name, attr in opts(ssn).items()}
    assert not ssn.job_enqueueable(ssn.jobs["default/big"])
    assert {name: attr.inqueue for name, attr in opts(ssn).items()} == before
    assert [event.message for event in ssn.cache.events] == [
        "queue resource quota insufficient: insufficient cpu"
    ]


def test_a_running_job_counts_on_every_level():
    ssn = open_session(family().job("a", queue="dev", pods=3, min_member=1, cpu=1,
                                    running={"n1": 2}))
    for what, held in (("allocated", 2), ("request", 3), ("elastic", 1), ("inqueue", 0)):
        assert cpus(ssn, what) == {
            "default": 0, "dev": held, "eng": held, "night": 0, "ops": 0, "root": held, "test": 0
        }


def test_a_queue_above_two_counts_what_is_in_both():
    ssn = open_session(family().job("a", queue="dev", cpu=1).job("b", queue="test", cpu=2))
    found = cpus(ssn, "request")
    assert (found["dev"], found["test"], found["eng"], found["root"]) == (1, 2, 3, 3)


def test_placing_and_taking_back_reach_every_level_but_only_the_lowest_share():
    ssn = open_session(family().queue("dev", deserved=4).queue("eng", deserved=8).job(
        "a", queue="dev", pods=1, cpu=2))
    before = {name: attr.share for name, attr in opts(ssn).items()}
    statement = ssn.statement()
    statement.allocate(task(ssn, "a-0"), ssn.nodes["n1"])
    assert [cpus(ssn, "allocated")[name] for name in ("dev", "eng", "root", "test")] == [2, 2, 2, 0]
    assert {name: attr.share for name, attr in opts(ssn).items()} == before | {"dev": 0.5}
    statement.discard()
    assert set(cpus(ssn, "allocated").values()) == {0}
    assert {name: attr.share for name, attr in opts(ssn).items()} == before


@pytest.mark.parametrize(
    "change, vote", [
        (lambda cluster: cluster, PERMIT),
        (lambda cluster: cluster.queue("dev", capability=1), REJECT),
        (lambda cluster: cluster.queue("eng", capability=1), REJECT),
        (lambda cluster: cluster.queue("test", guarantee=31), REJECT),
        (lambda cluster: cluster.queue("night", guarantee=31), PERMIT),
        (lambda cluster: cluster.queue("ops", guarantee=31), REJECT),
        (lambda cluster: cluster.job("a", queue="eng"), REJECT),
    ], ids=[
        "it fits", "not in the queue", "not above it", "a sister's guarantee",
        "a cousin's is not subtracted here", "the guarantee of the parent's sister", "no leaf"
    ])
def test_admission(change, vote):
    ssn = open_session(change(family().job("a", queue="dev", pods=1, cpu=2)))
    assert ssn.plugins["capacity"].job_enqueueable(ssn.jobs["default/a"]) == vote


# -- a tree that is none
# ------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster, sentence", [
    (family().queue("lost", parent="nowhere"),
     'queue "lost": spec.parent is "nowhere", and there is no such queue'),
    (family().job("b", queue="eng", pods=1,
                  cpu=1), 'job default/b: its queue "eng" has queues below it'),
])
def test_where_the_queues_are_no_tree_nothing_is_admitted_or_placed(cluster, sentence):
    cycle = cluster.job("a", queue="dev", pods=1, cpu=1).run(conf())
    ssn = cycle.session
    assert sentence in str(ssn.warnings[0]) and len(ssn.warnings) == 1
    assert {job["phase"] for job in cycle.jobs()} == {"Pending"} and cycle.committed == []
    assert not ssn.allocatable(ssn.queues["dev"], task(ssn, "a-0"))
    assert not ssn.preemptive(ssn.queues["dev"], task(ssn, "a-0"))
    assert ssn.plugins["capacity"].reclaimable(task(ssn, "a-0"), [task(ssn, "a-0")]) == ([], REJECT)
    assert ssn.points["queue_order"].functions == ssn.points["victim_queue_order"].functions == {}
    assert ssn.total_guarantee == ssn.total_deserved == Resource()


def test_without_the_hierarchy_parents_mean_nothing():
    cluster = (Cluster().node("n1", cpu=8).queue("eng", parent="nowhere", capability=1).queue(
        "dev", parent="eng").job("a", queue="dev", pods=1, cpu=2).job("b", queue="eng", pods=1,
                                                                      cpu=1))
    cycle = cluster.run(conf(hierarchy=False))
    assert len(cycle.committed) == 2 and cycle.session.warnings == []
    assert sorted(opts(cycle.session)) == ["dev", "eng"], "flat, only queues with jobs are known"


# -- flat
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "queue, deserved, limit", [
        ({"deserved": 4}, 4, 14),
        ({"deserved": 4, "capability": 3}, 3, 3),
        ({"deserved": 4, "guarantee": 6, "capability": 8}, 6, 8),
        ({"deserved": 40}, 14, 14),
        ({"capability": {"memory": "1Gi"}}, 0, 14),
        ({"capability": 0}, 0, 14),
        ({"guarantee": 3}, 3, 14),
    ], ids=[
        "as written", "not above the capability", "not below the guarantee",
        "not above the cluster", "a capability without CPU is no limit",
        "nor is a capability of 0 CPU", "others' guarantees are out of reach"
    ])
def test_flat_deserved_and_real_capability(queue, deserved, limit):
    cluster = Cluster().node("n1", cpu=16).queue("other", guarantee=2).queue("q", **queue)
    ssn = open_session(cluster.job("a", queue="q", pods=1, cpu=1), hierarchy=False)
    assert (cpus(ssn, "deserved")["q"], cpus(ssn, "real_capability")["q"]) == (deserved, limit)


# -- order
# ------------------------------------------------------------------------------------------------


def running(cluster: Cluster, **held: int) -> Cluster:
    for queue, count in held.items():
        cluster.job(f"in-{queue}", queue=queue, pods=count, min_member=0, cpu=1,
                    running={"n1": count})
    return cluster


def first_of(ssn: Session, left: str, right: str) -> str:
    order = ssn.plugins["capacity"].queue_order(ssn.queues[left], ssn.queues[right])
    assert order == -ssn.plugins["capacity"].queue_order(ssn.queues[right], ssn.queues[left])
    return left if order < 0 else right if order > 0 else ""


@pytest.mark.parametrize(
    "dev, night, first", [
        ({"deserved": 4}, {"deserved": 4}, ""),
        ({"deserved": 4}, {"deserved": 4, "priority": 1}, "night"),
        ({"deserved": 4}, {}, "dev"),
        ({}, {}, ""),
    ], ids=[
        "equal", "priority", "what deserves something goes before what deserves nothing",
        "both deserve nothing"
    ])
def test_flat_queue_order(dev, night, first):
    cluster = Cluster().node("n1", cpu=32).queue("dev", **dev).queue("night", **night)
    ssn = open_session(running(cluster, dev=1, night=1), hierarchy=False)
    assert first_of(ssn, "dev", "night") == first


def test_at_an_equal_share_of_one_a_queue_with_deserved_is_first():
    cluster = Cluster().node("n1", cpu=32).queue("dev", deserved=2).queue("night")
    ssn = open_session(running(cluster, dev=2, night=1), hierarchy=False)
    assert (opts(ssn)["dev"].share, opts(ssn)["night"].share) == (1, 1)
    assert first_of(ssn, "dev", "night") == "dev"
    ssn = open_session(running(cluster, dev=3, night=1), hierarchy=False)
    assert first_of(ssn, "dev", "night") == "night", "above its share it comes last"


def test_leaves_are_compared_where_their_lines_part():
    cluster = (family().queue("eng", deserved=8).queue("ops", deserved=8).queue("dev", deserved=1)
               .queue("test", deserved=4).queue("night", deserved=2))
    ssn = open_session(running(cluster, dev=1, test=1, night=1))
    assert [opts(ssn)[name].share
            for name in ("dev", "test", "night", "eng", "ops")] == [1, 0.25, 0.5, 0.25, 0.125]
    assert first_of(ssn, "dev", "test") == "test"
    assert first_of(ssn, "test",
                    "night") == "night", "ops holds less of what it deserves than eng does"


def test_a_leaf_is_ordered_before_a_queue_with_children():
    ssn = open_session(running(family(), dev=1))
    assert first_of(ssn, "dev", "ops") == "dev"
    assert first_of(ssn, "eng", "night") == "night"


def test_the_closest_relative_of_the_preemptor_gives_first():
    ssn = open_session(running(family(), dev=1, test=1, night=1))
    order = lambda left, right: ssn.plugins["capacity"].victim_queue_order(  # noqa: E731
        ssn.queues[left], ssn.queues[right], ssn.queues["dev"])
    assert order("test", "night") < 0 < order("night", "test")
    assert order("night", "ops") == 0


# -- limits and taking back
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, answer", [
        (lambda cluster: cluster, True),
        (lambda cluster: cluster.queue("dev", capability=1), False),
        (lambda cluster: cluster.queue("eng", capability=2), False),
        (lambda cluster: cluster.queue("eng", capability={"memory": "1Ki"}), True),
    ], ids=[
        "it fits", "not in the queue", "not above it",
        "what the task doesn't ask for doesn't count"
    ])
def test_allocatable_looks_at_every_level(change, answer):
    cluster = running(change(family()), test=1).job("a", queue="dev", pods=1, cpu=2)
    notes = Notes()
    ssn = open_session(cluster, observer=notes)
    assert ssn.allocatable(ssn.queues["dev"], task(ssn, "a-0")) is answer
    levels = notes.of("allocatable_level")
    assert [bool(row["short_of"]) for row in levels] == [False] * (len(levels) - 1) + [not answer]


def test_preemptive_needs_one_dimension_below_deserved():
    cluster = (family().queue("dev", deserved={"cpu": 2, "memory": "4Gi"}).job(
        "held", queue="dev", pods=1, cpu=2, memory="1Gi",
        running={"n1": 1}).job("both", queue="dev", pods=1, cpu=1, memory="1Gi").job(
            "cpu", queue="dev", pods=1, cpu=1).job("gpu", queue="dev", pods=1, cpu=1, gpu=1))
    ssn = open_session(cluster)
    answers = {
        name: ssn.preemptive(ssn.queues["dev"], task(ssn, f"{name}-0"))
        for name in ("both", "cpu", "gpu")
    }
    assert answers == {"both": True, "cpu": False, "gpu": False}


@pytest.mark.parametrize(
    "queue, reclaimer, victims", [
        ({"deserved": 2}, {"cpu": 1}, ["in-dev-0", "in-dev-1"]),
        ({"deserved": 4}, {"cpu": 1}, []),
        ({"deserved": 1, "guarantee": 3}, {"cpu": 1}, ["in-dev-0"]),
        ({}, {"cpu": 1}, ["in-dev-0", "in-dev-1", "in-dev-2", "in-dev-3"]),
        ({"guarantee": 1}, {"cpu": 1}, ["in-dev-0", "in-dev-1", "in-dev-2"]),
        ({"deserved": 2}, {"memory": "1Gi"}, []),
        ({"deserved": {"memory": "9Gi"}}, {"cpu": 1
                                           }, ["in-dev-0", "in-dev-1", "in-dev-2", "in-dev-3"]),
    ], ids=[
        "down to what it deserves", "it holds what it deserves", "not below its guarantee",
        "it deserves nothing", "it deserves nothing but its guarantee",
        "nothing the reclaimer asks for", "nothing in common with what it deserves"
    ])
def test_reclaimable(queue, reclaimer, victims):
    cluster = running(family().queue("dev", **queue), dev=4).job("new", queue="night", pods=1,
                                                                 **reclaimer)
    notes = Notes()
    ssn = open_session(cluster, observer=notes)
    candidates = [task(ssn, f"in-dev-{number}") for number in range(4)]
    named, vote = ssn.plugins["capacity"].reclaimable(task(ssn, "new-0"), candidates)
    assert ([t.name for t in named], vote) == (victims, PERMIT)
    assert [
        row["task"].removeprefix("default/")
        for row in notes.of("reclaimee")
        if row["verdict"] == "victim"
    ] == victims


# -- trying out
# -------------------------------------------------------------------------------------------


def test_a_simulation_changes_its_copy_and_nothing_else():
    cluster = running(family().queue("eng", capability=4), dev=2, test=2).job(
        "new", queue="dev", pods=1, cpu=2)
    ssn = open_session(cluster)
    new, held = task(ssn, "new-0"), [task(ssn, "in-test-0"), task(ssn, "in-test-1")]
    before = cpus(ssn, "allocated")
    assert not ssn.simulate_allocatable({}, ssn.queues["dev"], new), "nothing was remembered before"
    ssn.pre_predicate(new)
    state, node = ssn.cycle_state(new.uid), ssn.nodes["n1"]
    answers = [ssn.simulate_allocatable(state, ssn.queues["dev"], new)]
    for victim in held:
        assert ssn.simulate_remove_task(state, new, victim, node) is None
        answers.append(ssn.simulate_allocatable(state, ssn.queues["dev"], new))
    ssn.simulate_add_task(state, new, held[0], node)
    answers.append(ssn.simulate_allocatable(state, ssn.queues["dev"], new))
    assert answers == [False, False, True, False]
    assert cpus(ssn, "allocated") == before
    assert not ssn.simulate_allocatable(state, ssn.queues["eng"], new), "jobs run only in leaves"


def test_the_session_gets_the_roots_deserved_and_guarantee():
    ssn = open_session(family().queue("eng", guarantee=3).queue("ops", guarantee=4))
    assert ssn.total_guarantee == Resource(7000.0)
    assert ssn.total_deserved == ssn.total_resource


def test_admission_after_evictions_counts_evicted_elastic_resources():
    """Volcano stops with a panic here, by default."""
    cluster = (Cluster().node("n1", cpu=4).queue("a", deserved=1).queue("b", deserved=3)
               .job("old", queue="a", pods=4, min_member=1, cpu=1, running={"n1": 4})
               .job("more", queue="a", pods=1, cpu=1))
    ssn = open_session(cluster, hierarchy=False)
    for number in (0, 1, 2):
        ssn.statement().evict(task(ssn, f"old-{number}"), "test")
    assert (cpus(ssn, "allocated")["a"], cpus(ssn, "elastic")["a"]) == (1, 3)
    assert ssn.job_enqueueable(ssn.jobs["default/more"])
