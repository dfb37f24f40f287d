"""Several cycles: what a job went through, evictions that go round in circles, stranded gangs."""

from functools import partial

import pytest

from volcano_lab.api.status import ALLOCATED_STATUSES, PIPELINED
from volcano_lab.cli.why import explain
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Explainer, Timeline
from volcano_lab.explain.timeline import Eviction, loop_cause, stranded_cause, stretches
from volcano_lab.framework.observer import Observer, joined
from volcano_lab.simulation import Faults, JobTemplate, Latencies, Life, Simulation, every, poisson

CLASSES = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
           "value: 9}")
RECLAIM = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang}, {name: capacity}, {name: predicates}]
"""
PREEMPT = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false, enableReclaimable: false}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: proportion}]
"""


class Log(Observer):
    """What each cycle committed, and the phases at its end, beside the timeline."""

    def __init__(self):
        self.commits, self.phases, self.deaths = [], [], 0

    def cycle_ended(self, ssn, times):
        self.commits.append(ssn.committed)
        self.phases.append({uid: job.pod_group.status.phase for uid, job in ssn.jobs.items()})

    def died(self):
        self.deaths += 1


def watched(objects, conf, cycles, **given):
    """A simulation's timeline."""
    timeline = Timeline()
    Simulation(objects, conf, observer=timeline, **given).run(until=cycles - 0.5)
    return timeline


def ping_pong():
    """Queue a comes first and deserves 3 CPUs, so that what is reclaimed from it goes back to it.
    """
    return (Cluster().node("n1", cpu=4).queue("a", deserved={"cpu": 3}, priority=10)
            .queue("b", deserved={"cpu": 2})
            .job("web", queue="a", pods=2, cpu=2, min_member=1, running={"n1": 2})
            .job("train", queue="b", pods=1, cpu=2))


@pytest.mark.long
def test_a_loop_of_evictions_is_named_with_who_and_by_which_rule():
    timeline = watched(ping_pong(), RECLAIM, 12)
    explanation = timeline.why("web")
    cause = next(cause for cause in explanation.causes if cause.code == "evicted_again")
    assert cause.text.startswith(
        "Evicted 4 times (web-0 in cycles 1, 7, web-1 in cycles 4, 10), each time for train, by "
        "reclaim, as gang and capacity allowed it. The freed resources went to web 3 times before "
        "train was placed")
    assert cause.numbers == {"evicted": 4, "taken": 3, "losers": ["default/train"] * 3,
                             "winners": ["default/train"], "actions": ["reclaim"]}
    assert ("Pods were evicted for it 4 times. Job web: Evicted 4 times"
            in timeline.why("train").text)
    assert "evicted_again" not in timeline.why("web", cycle=3).codes
    assert "2 times (web-0 in cycle 1, web-1 in cycle 4)" in timeline.why("web", cycle=4).text
    assert [row["cycles"] for row in timeline.why("web", cycle=6).rows] == [
        "1", "2-3", "4", "5", "6"]
    assert timeline.why("web").rows[2]["what"] == "web-1 is evicted by reclaim for train"
    assert "4 evictions" in timeline._repr_mimebundle_()["text/markdown"]
    assert "<td" in explanation._repr_mimebundle_()["text/html"]


def half_evicted(cycles):
    """Two pods, each more important than a gang of two, arrive one after the other."""
    cluster = (Cluster().add(CLASSES).node("n1", cpu=4)
               .job("gang", pods=2, cpu=2, running={"n1": 2}))
    urgent = JobTemplate("urgent", cpu=2, run_time=60, priority_class="high", at_once=True)
    return watched(cluster, PREEMPT.replace("enqueue, ", ""), cycles,
                   workload=[every(3, urgent, count=2)])


@pytest.mark.long
@pytest.mark.parametrize(("timeline", "jobs", "cycles"), [
    (lambda cycles: watched(ping_pong(), RECLAIM, cycles), ["web", "train"], (1, 4, 6)),
    (half_evicted, ["gang", "urgent-1"], (5, 7))], ids=["loop", "stranded"])
def test_what_is_said_of_a_cycle_does_not_depend_on_later_ones(timeline, jobs, cycles):
    """It is what a timeline says that ends with that cycle."""
    whole = timeline(10)
    for cycle in cycles:
        until = timeline(cycle)
        for job in jobs:
            now, then = until.why(job), whole.why(job, cycle=cycle)
            assert (now.said, now.rows) == (then.said, then.rows)
            assert [(each.code, each.text, each.numbers) for each in now.causes] == [
                (each.code, each.text, each.numbers) for each in then.causes]


def test_an_eviction_is_for_the_job_whose_attempt_was_committed():
    """gang comes first and evicts old as well; as its other pod has no node, that is undone."""
    classes = "\n---\n".join(CLASSES.replace("high", f"p{value}").replace("9", str(value))
                            for value in (5, 8, 9))
    cluster = (Cluster().add(classes).node("n1", cpu=4).node("n2", cpu=4)
               .job("old", cpu=4, running={"n1": 1})
               .job("kept", cpu=4, priority_class="p9", running={"n2": 1})
               .job("gang", pods=2, cpu=4, priority_class="p8")
               .job("new", cpu=4, priority_class="p5"))
    timeline = watched(cluster, PREEMPT.replace("enqueue, ", ""), 1)
    assert [(each.pod, each.winner) for each in timeline.evictions] == [
        ("default/old-0", "default/new")]


@pytest.mark.parametrize("sentence, gone, placed, said", [
    ("once is no loop", [(1, "a/web-0")], [], None),
    ("two pods once each are none either", [(1, "a/web-0"), (2, "a/web-1")], [], None),
    ("one pod twice is", [(1, "a/web-0"), (2, "a/web-0")], [],
     "2 times (web-0 in cycles 1, 2), each time for train"),
    ("resources that the job gets back are", [(1, "a/web-0"), (3, "a/web-1")],
     [(2, "a/web-0", "a/web", "n1")], "2 times (web-0 in cycle 1, web-1 in cycle 3)"),
    ("resources that another gets are none", [(1, "a/web-0"), (3, "a/web-1")],
     [(2, "a/x-0", "a/x", "n1")], None),
    ("nor where the one that wanted it has a place", [(1, "a/web-0"), (3, "a/web-1")],
     [(2, "a/web-0", "a/web", "n1"), (2, "a/train-0", "a/train", "n2")], None),
    ("nor what was placed after the next eviction", [(1, "a/web-0"), (3, "a/web-1")],
     [(4, "a/web-0", "a/web", "n1")], None),
    ("nor in the cycle of the eviction", [(1, "a/web-0"), (3, "a/web-1")],
     [(1, "a/web-0", "a/web", "n1")], None),
    ("nor on another node", [(1, "a/web-0"), (3, "a/web-1")],
     [(2, "a/web-0", "a/web", "n2")], None)])
def test_what_is_a_loop(sentence, gone, placed, said):
    timeline = Timeline()
    timeline.names = {uid: uid for uid in ("a/web", "a/train", "a/x")}
    timeline.evictions = [Eviction(cycle, pod, "a/web", "n1", "reclaim", "a/train",
                                   ("gang",)) for cycle, pod in gone]
    timeline.placed = placed
    cause = loop_cause(timeline, "a/web", 9)
    assert (cause and said in cause.text) == (None if said is None else True), sentence
    assert loop_cause(timeline, "a/web", gone[-1][0] - 1) is None


def test_what_is_evicted_in_turn_for_the_one_that_loses_pods_is_said():
    timeline = Timeline()
    timeline.names = {uid: uid for uid in ("a/web", "a/train", "a/x")}
    timeline.evictions = [Eviction(cycle, pod, job, "n1", "reclaim", winner) for
                          cycle, pod, job, winner in (
        (1, "a/web-0", "a/web", "a/train"), (2, "a/train-0", "a/train", "a/web"),
        (3, "a/x-0", "a/x", "a/web"), (4, "a/web-0", "a/web", "a/train"))]
    said = loop_cause(timeline, "a/web", 9).text
    assert "In turn, pods of train were evicted for it once." in said, said


@pytest.mark.long
@pytest.mark.parametrize("job", ["web", "train"])
def test_what_ends_a_loop_was_run(job):
    timeline = watched(ping_pong(), RECLAIM, 12)
    remedies = list(timeline.why(job).remedies_within(600))
    assert "queue a: priority 10 -> 0" in [remedy.change for remedy in remedies]
    for remedy in remedies:
        again = watched(*remedy.world.applied(remedy.tried), 40)
        assert len(again.evictions) <= 1, remedy.change


@pytest.mark.long
def test_a_gang_that_was_half_evicted_is_stranded():
    cluster = (Cluster().add(CLASSES).node("n1", cpu=4)
               .job("gang", pods=2, cpu=2, running={"n1": 2}))
    urgent = JobTemplate("urgent", cpu=2, run_time=60, priority_class="high", at_once=True)
    timeline = watched(cluster, PREEMPT.replace("enqueue, ", ""), 12,
                       workload=[every(3, urgent, count=1)])
    cause = next(c for c in timeline.why("gang").causes if c.code == "stranded")
    assert cause.text == ("Stranded since cycle 4: 1 of its pods holds a place, its minimum is 2. "
                          "Evicted since then: gang-1, for urgent-1, by preempt, as priority "
                          "allowed it. Placed since then: urgent-1.")
    assert "stranded" not in timeline.why("gang", cycle=3).codes
    assert cause.text in timeline._repr_mimebundle_()["text/plain"]


@pytest.mark.long
def test_a_gang_of_which_the_half_was_passed_over_is_helped_by_more_nodes():
    """A job that came later passes the half of a gang that waits, for its dominant share is less.
    """
    cluster = (Cluster().node("n1", cpu=2).job("gang", pods=2, cpu=1, running={"n1": 1})
               .job("filler", pods=1, cpu=1))
    conf = "actions: allocate\ntiers: [{plugins: [{name: drf}, {name: predicates}]}]"
    explanation = watched(cluster, conf, 6).why("gang")
    assert "or lost their node. Placed since then: filler." in (
        explanation.text)
    assert "1 more node like n1" in [remedy.change
                                     for remedy in explanation.remedies_within(600)]


@pytest.mark.long
def test_a_gang_that_lost_a_node_is_stranded_without_an_eviction():
    cluster = (Cluster().node("n1", cpu=2).node("n2", cpu=2)
               .job("gang", pods=2, cpu=2, running={"n1": 1, "n2": 1}))
    timeline = Timeline()
    sim = Simulation(cluster, observer=timeline, latencies=Latencies(collect=1))
    sim.run(until=2.5)
    sim.side.node_fails("n2")
    sim.run(until=8)
    text = timeline.why("gang").text
    assert "Stranded since cycle" in text and "lost their node" in text
    assert timeline.evictions == []


@pytest.mark.parametrize(("rows", "since"), [
    ([(2, 0, 0)], 1), ([(3, 0, 0)], None), ([(0, 0, 0)], None), ([(2, 1, 0)], None),
    ([(2, 0, 1)], None), ([(1, 0, 1)], 1), ([(3, 0, 0), (2, 0, 0), (1, 0, 0)], 2),
    ([(2, 1, 0), (1, 1, 0)], 2), ([(1, 0, 0), (0, 0, 0), (1, 0, 0)], 3)])
def test_a_gang_is_stranded_since_it_last_had_its_minimum_or_nothing(rows, since):
    """Rows are (running, ended, promised) of a gang whose minimum is 3."""
    timeline = Timeline()
    timeline.rows["default/gang"] = [
        {"cycle": cycle, "bound": 0, "running": running, "ended": ended, "promised": promised,
         "least": 3} for cycle, (running, ended, promised) in enumerate(rows, 1)]
    found = stranded_cause(timeline, "default/gang", len(rows))
    assert (found and found.numbers["since"]) == since
    for other, last in (("default/gang", len(rows) + 1), ("default/none", len(rows))):
        assert stranded_cause(timeline, other, last) is None  # it is gone, or was never there


@pytest.mark.long
def test_a_gang_of_which_some_have_ended_is_not_stranded():
    cluster = Cluster().node("n1", cpu=4)
    work = [every(1, JobTemplate("gang", pods=2, cpu=1, run_time=5), count=1)]
    timeline = Timeline()
    sim = Simulation(cluster, observer=timeline, workload=work)
    sim.run(until=3.5)
    pod = sim.server.get("Pod", "default/gang-1-0")
    sim.side.pod_finishes(pod.key, pod.metadata.uid)
    sim.run(until=5)
    assert timeline.rows["default/gang-1"][-1]["ended"] == 1
    assert "stranded" not in timeline.why("gang-1").codes


def random_run(seed, faults=None, until=60):
    cluster = Cluster().add(CLASSES).queue("prod", weight=3).queue("batch", weight=1)
    for number in range(3):
        cluster.node(f"n{number}", cpu=4)
    cluster.job("there", queue="batch", pods=3, min_member=1, cpu=2, running={"n0": 2, "n1": 1})
    kinds = (JobTemplate("train", "prod", pods=3, cpu=2, run_time=("uniform", 5, 20)),
             JobTemplate("scan", "batch", pods=4, min_member=2, cpu=1, run_time=30),
             JobTemplate("urgent", "batch", cpu=2, run_time=5, priority_class="high"))
    timeline, log = Timeline(), Log()
    sim = Simulation(cluster, PREEMPT, seed=seed, workload=[poisson(0.3, *kinds)],
                     observer=joined(timeline, log), faults=faults,
                     node_failures=(("exponential", 40), ("uniform", 5, 15)))
    sim.run(until=until)
    return sim, timeline, log


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_timeline_has_what_the_sessions_committed(seed):
    _, timeline, log = random_run(seed, Faults.all(0.05) if seed % 2 else None)
    assert timeline.cycles == len(log.commits)
    evicted = [(cycle, pod, node) for cycle, entries in enumerate(log.commits, 1)
               for word, pod, node in entries if word == "evict"]
    assert [(e.cycle, e.pod, e.node) for e in timeline.evictions] == evicted and evicted
    placed = [(cycle, pod, node) for cycle, entries in enumerate(log.commits, 1)
              for word, pod, node in entries if word == "allocate"]
    assert [(cycle, pod, node) for cycle, pod, _, node in timeline.placed] == placed
    for cycle, phases in enumerate(log.phases, 1):
        assert {uid: row["phase"] for uid, rows in timeline.rows.items() for row in rows
                if row["cycle"] == cycle} == phases
    for uid, rows in timeline.rows.items():
        there = [row["cycle"] for row in rows]
        spans = [[int(end) for end in row["cycles"].split("-")]
                 for row in timeline.why(timeline.names[uid]).rows]
        assert [c for span in spans for c in range(span[0], span[-1] + 1)] == there
        count = sum(e.job == uid for e in timeline.evictions)
        for cause in timeline.why(timeline.names[uid]).causes:
            if cause.code == "evicted_again":
                assert f"Evicted {count} times" in cause.text
    for uid, job in timeline.kept[-1][-1].jobs.items():
        held = sum(map(len, map(job.in_status, ALLOCATED_STATUSES)))
        there = job.ready_task_num() + len(job.in_status(PIPELINED))
        assert ("stranded" in timeline.why(uid).codes) == (held > 0 and there < job.min_available)


@pytest.mark.long
def test_a_scheduler_that_died_leaves_nothing_in_the_timeline():
    sim, timeline, log = random_run(3, Faults({"cycle_crash": 0.3}))
    assert sim.crashes == log.deaths > 3 and timeline.cycles == sim.cycles
    assert [e.pod for e in timeline.evictions] == [
        pod for entries in log.commits for word, pod, _ in entries if word == "evict"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_the_objects_of_a_cycle_are_decided_as_the_cycle_was(seed):
    _, timeline, log = random_run(seed, until=30)
    for number, objects, _, ssn in timeline.kept:
        session = Explainer(objects, ssn.conf, ssn.now).session
        assert session.committed == log.commits[number - 1]


@pytest.mark.long
def test_a_cycle_that_was_not_kept_and_a_job_that_is_gone():
    timeline = Timeline(keep=2)
    work = [every(1, JobTemplate("short", cpu=1, run_time=2, at_once=True), count=1)]
    Simulation(Cluster().node("n1", cpu=4), workload=work, latencies=Latencies(remove=1),
               observer=timeline).run(until=9.5)
    with pytest.raises(LookupError, match="cycle 3 is not there; allowed is one of those kept: 9 "
                                          "to 10"):
        timeline.why("short-1", cycle=3)
    assert timeline.why("short-1").head == (
        "Job default/short-1 existed from cycle 2 to cycle 6; in cycle 10 it does not.")
    assert timeline.why("default").about == "queue default" and not timeline.why("default").rows
    with pytest.raises(LookupError, match='no job, pod or queue is called "other"'):
        timeline.why("other")
    with pytest.raises(LookupError, match="kept: none"):
        Timeline().why("a")


def test_a_fault_of_an_explanation_is_not_taken_for_a_job_that_is_gone(monkeypatch):
    def fails(seen, job):
        raise KeyError("a fault")

    timeline = Cluster().node("n1", cpu=1).job("a", cpu=2).timeline(1)
    monkeypatch.setattr("volcano_lab.explain.explainer.job_causes", fails)
    for ask in (timeline.why, partial(explain, timeline.why)):
        with pytest.raises(KeyError, match="a fault"):
            ask("default/a")


@pytest.mark.long
def test_a_job_is_not_known_in_a_cycle_before_its_first():
    timeline = Timeline()
    work = [every(5, JobTemplate("late", cpu=1), count=1)]
    Simulation(Cluster().node("n1", cpu=4), workload=work, observer=timeline).run(until=9.5)
    assert timeline.why("late-1", cycle=6).about == "job default/late-1"
    with pytest.raises(LookupError, match='no job, pod or queue is called "late-1"'):
        timeline.why("late-1", cycle=2)


@pytest.mark.long
def test_causes_of_one_job_alone():
    cluster = Cluster().node("n1", cpu=1).job("a", cpu=2).job("b", pods=1, cpu=2)
    for about, known in (("", {"a", "b"}), ("b", {"b"}), ("default/b-0", {"b"}), ("/ ", set())):
        timeline = Timeline(about=about)
        Simulation(cluster, observer=timeline).run(until=0.5)
        assert {uid[8:] for uid, rows in timeline.rows.items() if rows[0]["why"]} == known
        assert timeline.why("a").codes


def test_a_life_is_watched_too():
    cluster = Cluster().node("n1", cpu=4).job("a", pods=2, cpu=2).job("b", pods=2, cpu=2)
    life, timeline = Life(cluster.objects(), "actions: allocate"), Timeline()
    for _ in range(3):
        life.decide(observer=timeline)
    assert [row["cycles"] for row in timeline.why("a-0").rows] == ["1-3"]
    assert timeline.why("b").rows[0]["pending"] == 2


def test_a_stretch_says_why_the_job_waits_at_its_end():
    timeline = watched(Cluster().node("n1", cpu=4).job("a", cpu=8), "actions: allocate", 3)
    row = timeline.rows["default/a"][0]
    rows = [row | {"cycle": cycle, "why": why} for cycle, why in enumerate(("cpu 2", "cpu 3."), 1)]
    assert [(each["cycles"], each["what"]) for each in stretches(rows)] == [("1-2", "cpu 3")]


OWNED = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, uid: d}
spec: {replicas: 1, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, uid: r, ownerReferences: [
  {apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {replicas: 1, template: {spec: {schedulerName: volcano, containers: [{name: c}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-x, creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "7",
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}
spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
status: {phase: Pending}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: "2026-01-02T00:00:00Z",
  resourceVersion: "8"}, status: {allocatable: {cpu: 4, pods: 9}}}
"""


def test_a_simulated_cycle_knows_the_names_of_owners_and_shows_nothing_of_the_cluster():
    """As plain `why` does; an age in the export says nothing of a cycle that is simulated."""
    cluster = Cluster().add(OWNED)
    assert "waits in the cluster" in cluster.why("web").head
    found = cluster.timeline(1, "web").why("web")
    assert found.rows and "waits in the cluster" not in found.head
