"""The audit of a session finds what it is for: one thing is done wrong, a sentence says so."""


import pytest
from object_audit import object_problems
from policy_audit import PolicyAudit
from session_audit import SessionAudit
from status_audit import written_problems

from volcano_lab.api.objects import ContainerPort, NetworkTopologySpec, PodGroupCondition
from volcano_lab.api.resource import Resource
from volcano_lab.api.status import ALLOCATED
from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.observer import joined
from volcano_lab.framework.priority_queue import PriorityQueue
from volcano_lab.framework.session import Session
from volcano_lab.framework.statement import Allocate
from volcano_lab.scheduler import Scheduler

CONF = """
actions: "enqueue, allocate"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: drf, enablePreemptable: false},
            {name: predicates}, {name: FAIR}]
"""
TREE = CONF.replace("{name: FAIR}", "{name: capacity, enableHierarchy: true}")
CLASSES = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
           "value: 9}")


def cluster():
    """Two nodes of 4 CPUs; of queue a (2 CPUs deserved) a pod runs, others wait; b's gang runs."""
    return (Cluster().add(CLASSES).node("n1", cpu=4).node("n2", cpu=4)
            .queue("a", weight=1, deserved={"cpu": 2}).queue("b", weight=3, deserved={"cpu": 6})
            .job("held", queue="a", pods=1, cpu=1, running={"n1": 1})
            .job("gang", queue="a", pods=2, cpu=1)
            .job("large", queue="a", pods=1, cpu=4)
            .job("urgent", queue="b", pods=1, cpu=1, priority_class="high")
            .job("busy", queue="b", pods=2, cpu=1, running={"n2": 2})
            .job("idle", queue="b", priority_class="high"))


class Hands:
    """A session with its audit, and what one can do wrong in it."""

    def __init__(self, conf):
        self.audit = SessionAudit()
        self.policy = PolicyAudit(self.audit.problems)
        self.ssn = Session(cluster().cache(), load_conf(conf), joined(self.audit, self.policy))
        self.jobs = {uid.removeprefix("default/"): job for uid, job in self.ssn.jobs.items()}
        self.attrs = (self.ssn.plugins.get("proportion") or self.ssn.plugins["capacity"]).queue_opts

    def task(self, name):
        job = self.jobs[name.rpartition("-")[0]]
        return next(task for task in job.tasks.values() if task.name == name)

    def allocate(self, name, node, action="allocate"):
        self.audit.action_started(self.ssn, action)
        statement = self.ssn.statement()
        statement.allocate(self.task(name), self.ssn.nodes[node])
        return statement

    def evict(self, name, action):
        self.audit.action_started(self.ssn, action)
        statement = self.ssn.statement()
        statement.evict(self.task(name), "test")
        return statement


def half_a_gang(hands):
    hands.allocate("gang-0", "n1").commit()


def an_end_forgotten(hands):
    hands.allocate("gang-0", "n1")


def a_status_after_the_commit(hands):
    hands.allocate("urgent-0", "n1").commit()
    hands.ssn.set_status(hands.task("urgent-0"), ALLOCATED)


def a_discard_that_forgets_the_node(hands):
    hands.allocate("gang-0", "n1").discard()
    hands.ssn.nodes["n1"].tasks["default/gang-0"] = hands.task("gang-0").clone()


def a_discard_that_forgets_the_queue(hands):
    statement = hands.allocate("gang-0", "n1")
    hands.ssn.handlers["on_deallocate"].clear()
    statement.discard()


def undone_out_of_turn(hands):
    statement = hands.allocate("gang-0", "n1")
    hands.audit.undid(statement, Allocate(hands.task("gang-0"), "n1"))


def committed_without_being_done(hands):
    hands.audit.committed(hands.ssn.statement(), Allocate(hands.task("gang-0"), "n1"))


def a_refusal_that_is_not_undone(hands):
    statement = hands.allocate("urgent-0", "n1")
    hands.ssn.cache.nodes.pop("n1")
    hands.ssn.fire_deallocate = lambda task: None
    statement.commit()


def a_full_node(hands):
    hands.allocate("large-0", "n1")


def a_host_port_taken(hands):
    for name in ("held-0", "urgent-0"):
        pod = hands.task(name).pod
        pod.spec.containers[0].ports = [ContainerPort(host_port=80)]
    hands.allocate("urgent-0", "n1")


def another_node_than_selected(hands):
    hands.task("urgent-0").pod.spec.node_selector = {"zone": "far"}
    hands.allocate("urgent-0", "n1")


def a_promise_to_half_a_gang(hands):
    hands.audit.action_started(hands.ssn, "reclaim")
    statement = hands.ssn.statement()
    statement.pipeline(hands.task("gang-0"), "n1")
    statement.commit()


def a_gang_across_racks(hands):
    topology = NetworkTopologySpec(mode="hard", highest_tier_allowed=1)
    hands.jobs["busy"].pod_group.spec.network_topology = topology
    hands.audit.bound["default/busy"] = {"n2"}


def a_queue_above_its_limit(hands):
    for name, node in (("gang-0", "n1"), ("gang-1", "n1"), ("large-0", "n2")):
        hands.allocate(name, node)


def a_gang_below_its_minimum(hands):
    hands.evict("busy-0", "preempt")


def critical_pods(hands):
    hands.task("busy-0").pod.spec.priority_class_name = "system-node-critical"
    hands.ssn.points["preemptable"].tiers = [[("conformance", None)]]
    hands.evict("busy-0", "preempt")


def victims(action, task, *chosen, **more):
    def fault(hands):
        for audit in (hands.audit, hands.policy):
            audit.action_started(hands.ssn, action)
            audit.note("victims", **{"task": task, "chosen": chosen, "node": "n1"} | more)

    return fault


def a_victim_that_a_plugin_does_not_name(hands):
    def names_nobody(claimant, candidates):
        return [], 1

    def ask(claimant, candidates):
        watched(claimant, candidates)
        return candidates

    point = hands.ssn.points["preemptable"]
    watched = hands.audit.watch(point, 0, "gang", names_nobody)
    hands.audit.watch_point(point, ask)(hands.task("urgent-0"), [hands.task("busy-0")])


def named_wrongly(point, plugin, task, wrong=lambda candidates: candidates):
    def fault(hands):
        both = [hands.task("busy-0"), hands.task("busy-1")]
        asked = hands.policy.watch(hands.ssn.points[point], 0, plugin,
                                   lambda claimant, candidates: (wrong(candidates), 1))
        asked(hands.task(task), both)

    return fault


def the_important_before_the_others(hands):
    hands.jobs["busy"].priority = 5
    both = [hands.task("held-0"), hands.task("busy-0")]
    hands.jobs["busy"].queue = "a"
    hands.policy.watch_point(hands.ssn.points["preemptable"], lambda claimant, candidates: both)(
        hands.task("gang-0"), both)
    victims("preempt", "default/gang-0", "default/busy-0", candidates=["default/held-0"])(hands)


def one_that_never_preempts(hands):
    hands.task("urgent-0").pod.spec.preemption_policy = "Never"
    victims("preempt", "default/urgent-0", "default/busy-0")(hands)


def one_that_deserves_no_more(hands):
    hands.attrs["a"].deserved = Resource(1000.0)
    victims("reclaim", "default/large-0", "default/busy-0")(hands)


def the_better_victims_by_trial(hands):
    victims("preempt", "default/urgent-0", "default/busy-0", "default/busy-1", node="n1")(hands)
    victims("preempt", "default/urgent-0", "default/held-0", node="n2")(hands)
    hands.policy.note("prepared", node="n1")


def popped(kind, name, *others, action="allocate"):
    def fault(hands):
        found = hands.ssn.queues if kind == "queue" else hands.jobs
        rest = PriorityQueue(lambda left, right: True, [found[other] for other in others])
        hands.policy.action_started(hands.ssn, action)
        hands.policy.popped(kind, found[name], rest)

    return fault


def overused(then, **facts):
    """Queue a has all that it deserves, and something happens."""
    def fault(hands):
        hands.attrs["a"].deserved = Resource(1000.0)
        popped("queue", "a", action="reclaim")(hands)
        hands.policy.popped("job", hands.jobs["gang"], PriorityQueue(
            lambda left, right: True)) if then == "popped" else hands.policy.note(then, **facts)

    return fault


def not_overused(hands):
    popped("queue", "b")(hands)
    hands.policy.note("passed_over", queue="b", reason="overused")


def admitted_too_many(hands):
    hands.jobs["large"].pod_group.spec.min_resources = {"cpu": "90"}
    popped("job", "large", action="enqueue")(hands)
    hands.policy.changed("enqueued", hands.jobs["large"])


def admitted_too_few(hands):
    hands.jobs["large"].pod_group.status.phase = "Pending"
    popped("job", "large", action="enqueue")(hands)
    hands.policy.action_ended(hands.ssn, "enqueue")


def chosen(node, name="urgent-0", **changed):
    def fault(hands):
        hands.policy.action_started(hands.ssn, "allocate")
        for what, amount in changed.items():
            hands.ssn.nodes[node].allocatable = Resource(4000.0, 0.0, {what: amount})
        task = hands.task(name)
        hands.ssn.pre_predicate(task)
        hands.policy.chose(task, hands.ssn.node_list, hands.ssn.nodes[node], None)

    return fault


def not_placed(hands):
    hands.policy.action_started(hands.ssn, "allocate")
    task = hands.task("urgent-0")
    hands.ssn.pre_predicate(task)
    hands.policy.chose(task, hands.ssn.node_list, None, None)


def asked_wrongly(answer, **spec):
    def fault(hands):
        hands.ssn.predicate_for_allocate = lambda task, node: answer
        node = hands.ssn.nodes["n1"]
        node.node = node.node.changed(spec=spec)
        chosen("n1")(hands)

    return fault


def the_worse_hyper_node(hands):
    hands.policy.note("hyper_node_chosen", hyper_node="r1", scores={"r1": 1.0, "r0": 1.0})


def a_queue_before_its_turn(hands):
    hands.audit.action_started(hands.ssn, "allocate")
    rest = PriorityQueue(lambda left, right: True, [hands.ssn.queues["a"]])
    hands.audit.popped("queue", hands.ssn.queues["b"], rest)


def more(name, part, amount=1000.0):
    """A queue that counts more of something than there is."""
    def fault(hands):
        attr = hands.attrs[name]
        setattr(attr, part, getattr(attr, part) + Resource(amount))

    return fault


def drf_counts(part, value):
    def fault(hands):
        share = hands.ssn.plugins["drf"].job_attrs["default/busy"]
        if part == "allocated":
            share.allocated = value
        else:
            share._known = (share.allocated, "cpu", value)

    return fault


def the_cache_is_told_nothing(hands):
    hands.ssn.cache.add_bind_task = lambda context: None
    hands.allocate("urgent-0", "n1").commit()


FLAT = CONF.replace("FAIR", "proportion")


@pytest.mark.parametrize(("conf", "fault", "sentence"), [
    (FLAT, half_a_gang, "job default/gang is bound with 1 of 2 tasks"),
    (FLAT, an_end_forgotten, "allocate default/gang-0 n1 is neither undone nor committed"),
    (FLAT, a_status_after_the_commit, "is Allocated on n1, and should be Binding on n1"),
    (FLAT, a_discard_that_forgets_the_node, "task default/gang-0 is still on node n1"),
    (FLAT, a_discard_that_forgets_the_queue, "queue a counts"),
    (FLAT, undone_out_of_turn, "allocate default/gang-0 n1 was undone out of turn"),
    (FLAT, committed_without_being_done, "was committed without having been done"),
    (FLAT, a_refusal_that_is_not_undone, "queue b counts"),
    (FLAT, a_full_node, "leaves node n1 with less than nothing of cpu"),
    (FLAT, a_host_port_taken, "its host port is taken there"),
    (FLAT, another_node_than_selected, "nodeSelector or node affinity names other nodes"),
    (FLAT, a_promise_to_half_a_gang,
     "pipeline default/gang-0 n1 is committed, and its gang does not"),
    (FLAT, a_gang_across_racks, "job default/busy is bound to n2, across its network topology"),
    (FLAT, a_queue_above_its_limit, "queue a now holds more than its deserved"),
    (TREE, a_full_node, "leaves node n1 with less than nothing of cpu"),
    (FLAT, a_gang_below_its_minimum, "job default/busy falls below its minimum of 2"),
    (FLAT, critical_pods, "task default/busy-0 is evicted, which the cluster needs"),
    (FLAT, victims("preempt", "default/gang-0", "default/busy-0"), "may not take its place"),
    (FLAT, victims("preempt", "default/gang-0", "default/held-0"), "may not take its place"),
    (FLAT, victims("preempt", "default/idle-0", "default/busy-0"), "may not take its place"),
    (FLAT, victims("reclaim", "default/gang-0", "default/held-0"), "may not take its place"),
    (FLAT, victims("reclaim", "default/gang-0", "default/busy-0", "default/busy-1", candidates=[],
                   node="n2"), "default/gang-0, which fitted on n2 already"),
    (FLAT, victims("preempt", "default/gang-0", "default/held-0", candidates=[], node="n1"),
     "default/held-0 is evicted for default/gang-0, which fitted on n1 already"),
    (FLAT, a_victim_that_a_plugin_does_not_name,
     "default/busy-0 is a victim for default/urgent-0, and plugin gang does not name it"),
    *((conf, named_wrongly(point, plugin, task, *wrong), f"plugin {plugin} names [")
      for conf, point, plugin, task, *wrong in (
          (FLAT, "preemptable", "gang", "urgent-0"), (FLAT, "reclaimable", "gang", "large-0"),
          (FLAT, "preemptable", "priority", "large-0"),
          (FLAT, "preemptable", "conformance", "urgent-0", lambda candidates: []),
          (FLAT, "preemptable", "drf", "large-0"),
          (FLAT, "preemptable", "pdb", "urgent-0"),
          (FLAT, "reclaimable", "proportion", "large-0"),
          (TREE, "reclaimable", "capacity", "large-0"))),
    (FLAT, the_important_before_the_others,
     "default/busy-0 is evicted for default/gang-0 before tasks of default/held"),
    (FLAT, one_that_never_preempts, "default/urgent-0 has victims, and its preemption policy"),
    (FLAT, one_that_deserves_no_more,
     "default/large-0 reclaims beyond what queue a deserves"),
    (FLAT, the_better_victims_by_trial, "node n1, where n2 has the less important victims"),
    (FLAT, popped("job", "gang", "urgent"), "takes job default/gang before default/urgent"),
    (FLAT, popped("job", "large", "gang"), "takes job default/large before default/gang"),
    (FLAT, overused("popped"), "takes a job of queue a, which has all that it deserves"),
    (FLAT, overused("claimant"), "queue a reclaims and has all it deserves"),
    (FLAT, not_overused, "queue b is passed over and not overused"),
    (FLAT, admitted_too_many, "job default/large is admitted"),
    (FLAT, admitted_too_few, "job default/large is not admitted"),
    (FLAT, chosen("n1", pods=1.0), "is placed on n1, which is full of pods"),
    (FLAT, chosen("n1", "large-0"), "is placed on n1, and others fit before it"),
    (FLAT, chosen("n1", "gang-1"), "default/gang-1 is placed before default/gang-0"),
    (FLAT, not_placed, "default/urgent-0 fits on n1, and is not placed"),
    (FLAT, asked_wrongly(None, unschedulable=True), "is allowed on n1: the node's taint"),
    (FLAT, asked_wrongly("busy"), "is not allowed on n2: no rule refuses it"),
    (FLAT.replace("{name: predicates}", "{name: predicates}, {name: nodeorder}"), chosen("n2"),
     "is placed on n2, the scores are"),
    (FLAT, the_worse_hyper_node, "HyperNode r1 is chosen before r0"),
    (FLAT, a_queue_before_its_turn, "takes queue b before a, whose turn it is"),
    (FLAT, more("a", "allocated"), "queue a counts"),
    (FLAT, more("a", "request"), "queue a counts request"),
    (FLAT, more("a", "inqueue"), "queue a counts inqueue"),
    (TREE, more("root", "allocated"), "queue root counts"),
    (TREE, more("root", "request"), "queue root counts request"),
    (FLAT, drf_counts("allocated", Resource(1.0)), "drf counts"),
    (FLAT, drf_counts("share", 0.9), "drf gives job default/busy a share of 0.9, its tasks one of"),
    (FLAT, the_cache_is_told_nothing, "the cache has task default/urgent-0 as Pending"),
])
def test_an_audit_finds_what_was_done_wrong_in_a_session(conf, fault, sentence):
    hands = Hands(conf)
    assert hands.audit.problems == []
    fault(hands)
    hands.ssn.close()
    assert sentence in "; ".join(hands.audit.problems)


@pytest.mark.parametrize(("part", "amount", "sentence"), [
    ("elastic", 1000.0, "queue a counts elastic"),
    ("deserved", 90000.0, "more than the cluster's"),
    ("deserved", 3000.0, "queue a deserves"),
    ("deserved", -1000.0, "queue a lacks cpu"),
])
def test_an_audit_finds_what_a_queue_opens_with(monkeypatch, part, amount, sentence):
    hands = Hands(FLAT)
    more("a", part, amount)(hands)
    assert sentence in "; ".join(hands.audit.queues.opening_problems())


@pytest.mark.parametrize("name", ["a", "root"])
def test_an_audit_finds_a_queue_that_may_hold_too_much(name):
    hands = Hands(TREE)
    more(name, "real_capability", 90000.0)(hands)
    assert f"queue {name} may hold" in "; ".join(hands.audit.queues.opening_problems())


MISSING = PodGroupCondition("Unschedulable", "True", message="3/2 tasks in gang unschedulable")


@pytest.mark.parametrize(("job", "written", "sentence"), [
    ("busy", {"running": 1}, "the status of job default/busy does not count its (2, 0, 0) tasks"),
    ("busy", {"phase": "Completed"}, "default/busy is Completed, and 2 of its tasks are not"),
    ("gang", {"phase": "Running"}, "job default/gang is Running with 0 tasks"),
    ("gang", {"conditions": [MISSING, MISSING]}, "job default/gang has conditions"),
    ("gang", {"conditions": [MISSING]}, "lacks 3 tasks for its minimum of 2")])
def test_an_audit_finds_a_wrong_status_of_a_pod_group(job, written, sentence):
    hands = Hands(FLAT)
    hands.ssn.close()
    assert [*written_problems(hands.ssn)] == []
    hands.jobs[job].pod_group.status = hands.jobs[job].pod_group.status.evolve(**written)
    assert sentence in "; ".join(written_problems(hands.ssn))


@pytest.mark.parametrize(("conf", "queue"), [(FLAT, "a"), (FLAT, "root"), (TREE, "root")])
def test_an_audit_finds_a_wrong_status_of_a_queue(conf, queue):
    hands = Hands(conf)
    hands.jobs["held"].allocated = Resource(3000.0)
    hands.ssn.close()
    assert f"the status of queue {queue} has cpu" in "; ".join(written_problems(hands.ssn))


@pytest.mark.parametrize("phase", ["pending", "running"])
def test_an_audit_finds_pod_groups_that_a_queue_does_not_count(phase):
    hands = Hands(FLAT)
    hands.ssn.close()
    queue = hands.ssn.queues["a"]
    queue.queue = queue.queue.changed(status={phase: 9})
    assert "the status of queue a does not count" in "; ".join(written_problems(hands.ssn))


@pytest.mark.parametrize(("of", "field", "value", "sentence"), [
    ("job", "priority", 7, "job default/urgent has priority 7, and should have 9"),
    ("job", "min_available", 2, "job default/urgent has min_available 2, and should have 1"),
    ("job", "_ready", 1, "job default/urgent: ready is 1, and should be 0"),
    ("task", "priority", 7, "task default/urgent-0 has priority 7, and should have 9"),
    ("task", "resreq", Resource(2000.0), "task default/urgent-0 requests 2000.0 of cpu"),
    ("node", "allocatable", Resource(2000.0), "node n1 offers 2000.0 of cpu, and should"),
    ("queue", "weight", 4, "queue b has weight 4, and should have 3")])
def test_an_audit_finds_what_is_not_as_the_objects_say(of, field, value, sentence):
    hands = Hands(FLAT)
    assert [*object_problems(hands.ssn)] == []
    setattr({"job": hands.jobs["urgent"], "task": hands.task("urgent-0"),
             "node": hands.ssn.nodes["n1"], "queue": hands.ssn.queues["b"]}[of], field, value)
    assert sentence in "; ".join(object_problems(hands.ssn))


@pytest.mark.parametrize("action", ["preempt", "reclaim"])
@pytest.mark.parametrize("conf", [FLAT, TREE])
def test_an_audit_finds_nothing_where_nothing_is_wrong(conf, action):
    audit = SessionAudit()
    audits = joined(audit, PolicyAudit(audit.problems))
    more = conf.replace("enqueue, allocate", f"enqueue, allocate, {action}, backfill")
    scheduler = Scheduler(cluster().cache(), more)
    for _ in range(2):
        scheduler.run_once(audits)
    assert audit.problems == []


def test_undone_and_committed_operations_leave_no_problem():
    hands = Hands(FLAT)
    hands.allocate("gang-0", "n1").discard()
    hands.allocate("urgent-0", "n1").commit()
    hands.ssn.close()
    assert hands.audit.problems == []


def test_a_pod_goes_to_the_node_it_is_nominated_for_across_its_topology_too():
    hands = Hands(FLAT)
    a_gang_across_racks(hands)
    hands.task("busy-0").pod.status.nominated_node_name = "n2"
    hands.ssn.close()
    assert hands.audit.problems == []
