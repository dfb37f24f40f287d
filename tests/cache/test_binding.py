"""From a decision to a bound pod: the pipeline, its retries, evictions, and what is written to the
API server.
"""

import itertools

import attrs
import pytest

from volcano_lab.api.objects import (
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PodCondition,
    PodSchedulingGate,
    PriorityClass,
)
from volcano_lab.api.status import TRANSITIONS, IllegalTransition, TaskStatus, check_transition
from volcano_lab.cache import Cache, status_updater
from volcano_lab.cache.api_server import ApiError, ApiServer, with_condition
from volcano_lab.cache.binding import BindingPipeline
from volcano_lab.cache.informer import Informer
from volcano_lab.cache.work_queue import WorkQueue
from volcano_lab.cluster import Cluster
from volcano_lab.framework.plugin import Plugin, register_plugin
from volcano_lab.manifests.loader import from_dict
from volcano_lab.scheduler import Scheduler

CONF = """
actions: "{actions}"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: {plugin}
- plugins: [{{name: predicates}}, {{name: proportion}}, {{name: nodeorder}}]
"""


class World:
    """An API server with a cluster, and a scheduler that hears of it at once."""

    def __init__(self, cluster, plugin="conformance", batch=1, actions="enqueue, allocate"):
        self.time = 1000.0
        self.server = ApiServer(lambda: self.time)
        self.informer = Informer(Cache())
        self.cache = self.informer.cache
        self.server.watchers.append(self.informer.handle)
        self.pipeline = BindingPipeline(self.informer, self.server, batch)
        for obj in cluster.objects():
            self.server.create(obj)
        self.scheduler = Scheduler(self.cache, CONF.format(plugin=plugin, actions=actions))

    def cycle(self):
        self.time += 1
        return self.scheduler.run_once(now=self.time)

    def pod(self, name):
        return self.server.get("Pod", f"default/{name}")

    def task(self, name):
        pod = self.pod(name)
        return self.cache.task_of(pod)

    def condition(self, name, type_="PodScheduled"):
        return next(c for c in self.pod(name).status.conditions if c.type == type_)


def world(pods=2, cpu=2, nodes=1, **given):
    cluster = Cluster().job("a", pods=pods, cpu=cpu)
    for number in range(nodes):
        cluster.node(f"n{number}", cpu=8)
    return World(cluster, **given)


def uneven():
    """Two pods of 5 CPUs, and nodes with 9 and 3: enough in all, but only one of them fits
    only.
    """
    return World(Cluster().node("n0", cpu=9).node("n1", cpu=3).job("a", pods=2, cpu=5))


def refuse(times, reason="ServiceUnavailable"):
    """A bind that fails so many times, and then goes where it should."""

    def bind(server):
        left = [times]

        def request(key, uid, node):
            if left[0]:
                left[0] -= 1
                raise ApiError(reason, "the server is busy")
            return server.bind(key, uid, node)

        return request

    return bind


# -- binding -------------------------------------------------------------------------------------


def test_a_task_is_binding_until_the_server_has_bound_it():
    w = world()
    w.cycle()
    assert len(w.pipeline.channel) == 2 and str(
        w.task("a-0").status) == "Binding" and w.pod("a-0").spec.node_name == ""
    numbers = w.pipeline.collect()
    assert len(numbers) == 2 and not w.pipeline.channel and len(w.pipeline.in_flight) == 2
    w.pipeline.finish(numbers[0])
    assert w.pod("a-0").spec.node_name == "n0" and str(w.task("a-0").status) == "Bound"
    assert str(w.task("a-1").status) == "Binding"
    w.pipeline.finish(numbers[1])
    assert w.pipeline.idle
    assert w.pipeline.status.events["Pod default/a-0", "Normal", "Scheduled",
                                    "Successfully assigned default/a-0 to n0"] == 1


@pytest.mark.parametrize(("batch", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (10, [5])])
def test_a_worker_takes_a_batch(batch, sizes):
    w = world(pods=5, cpu=1, batch=batch)
    w.cycle()
    assert [len(w.pipeline.in_flight[number]) for number in w.pipeline.collect()] == sizes


def test_a_refused_task_waits_again_and_its_pod_says_why():
    w = world()
    w.cycle()
    w.pipeline.bind = refuse(1)(w.server)
    for number in w.pipeline.collect():
        w.pipeline.finish(number)
    assert str(
        w.task("a-0").status) == "Binding" and "default/a/pod-default-a-0" in w.pipeline.errors
    assert w.condition("a-0").reason == "SchedulerError"
    assert w.condition("a-0").message == "failed to bind to node n0: the server is busy"
    w.pipeline.retry()
    assert str(w.task("a-0").status) == "Pending" and w.cache.nodes["n0"].used.milli_cpu == 2000
    w.cycle()
    w.pipeline.drain()
    assert w.pod("a-0").spec.node_name == "n0" and w.condition("a-0").status == "True"


def test_a_bind_that_took_effect_without_an_answer_is_found_out():
    w = world(pods=1)
    w.cycle()

    def lost_answer(key, uid, node):
        w.server.bind(key, uid, node)
        raise ApiError("Timeout", "no answer")

    w.pipeline.bind = lost_answer
    w.pipeline.drain()
    assert str(w.task("a-0").status) == "Bound" and w.pipeline.idle
    assert w.cycle().committed == []


def test_a_pod_that_is_gone_when_it_is_bound_is_forgotten():
    w = world(pods=1)
    w.cycle()
    w.server.watchers.clear()  # the scheduler doesn't hear of it
    w.server.delete("Pod", "default/a-0")
    w.pipeline.drain()
    assert not w.cache.jobs["default/a"].tasks and w.cache.nodes["n0"].used.milli_cpu == 0


def test_retries_wait_longer_each_time_while_the_server_does_not_answer():
    w = world(pods=1)
    w.cycle()
    w.pipeline.bind = refuse(1)(w.server)
    w.pipeline.read = lambda kind, key: (_ for _ in
                                         ()).throw(ApiError("ServiceUnavailable", "busy"))
    w.pipeline.drain()
    waits = []
    for _ in range(5):
        due = w.pipeline.next_due()
        waits.append(round(due - w.time, 3))
        w.time = due
        w.pipeline.retry()
    assert waits == [0.005, 0.01, 0.02, 0.04, 0.08]
    w.pipeline.read = w.server.get
    w.time = w.pipeline.next_due()
    w.pipeline.retry()
    assert str(w.task("a-0").status) == "Pending" and w.pipeline.idle
    assert w.pipeline.errors.failures == {}  # the next failure begins with the shortest delay


def test_a_pod_that_cannot_be_read_keeps_no_other_from_being_compared():
    w = world()
    w.cycle()
    w.pipeline.bind = refuse(2)(w.server)

    def read(kind, key):
        if key == "default/a-0":
            raise ApiError("ServiceUnavailable", "busy")
        return w.server.get(kind, key)

    w.pipeline.read = read
    w.pipeline.drain()
    assert [str(w.task(name).status) for name in ("a-0", "a-1")] == ["Binding", "Pending"]


def test_the_next_retry_is_the_earlier_of_tasks_and_jobs():
    pipeline = world().pipeline
    for one, other in itertools.permutations((pipeline.errors, pipeline.deleted_jobs)):
        one.due, other.due = {"early": 1.0}, {"late": 2.0}
        assert pipeline.next_due() == 1.0


def test_the_bucket_of_retries_runs_dry():
    queue = WorkQueue()
    delays = [queue.retry(f"key-{number}", 0.0) for number in range(1003)]
    assert delays[999] == 0.005 and delays[1000:] == [0.01, 0.02, 0.03]


def test_the_bucket_of_retries_fills_by_the_time_since_the_last_one():
    queue = WorkQueue()
    for number in range(1000):
        queue.retry(f"key-{number}", 0.0)
    assert [queue.retry(f"late-{number}", 0.02) for number in range(4)] == [
        0.005, 0.005, 0.01, 0.02]


def test_a_key_that_waits_is_not_processed_twice():
    queue = WorkQueue()
    for moment in (0.0, 1.0, 2.0):
        queue.add("a", moment)
    assert (queue.get(5.0), queue.get(5.0)) == ("a", None)
    assert [queue.retry("b", 5.0) for _ in range(20)][-1] == 1000.0


# -- what plugins do before ------------------------------------------------------------------------


class Reserving(Plugin):
    """Reserves something for each pod before it is bound."""

    name = "reserving"
    calls: list = []  # noqa: RUF012
    fails: set = set()  # noqa: RUF012

    def setup_bind_context_extension(self, state, context):
        context.extensions[self.name] = f"volume for {context.task.name}"

    def pre_bind(self, context):
        if context.task.name in self.fails:
            raise RuntimeError("no volume")
        self.calls.append(("reserve", context.extensions[self.name]))

    def pre_bind_roll_back(self, context):
        self.calls.append(("release", context.extensions[self.name]))


register_plugin("reserving", Reserving)


@pytest.fixture
def reserving():
    Reserving.calls.clear()
    Reserving.fails.clear()
    return Reserving


def test_plugins_prepare_a_bind_with_what_they_had_noted(reserving):
    w = world(plugin="reserving")
    w.cycle()
    w.pipeline.drain()
    assert reserving.calls == [("reserve", "volume for a-0"), ("reserve", "volume for a-1")]


def test_a_refused_bind_is_rolled_back(reserving):
    w = world(pods=1, plugin="reserving")
    w.cycle()
    w.pipeline.bind = refuse(1)(w.server)
    w.pipeline.drain()
    assert reserving.calls == [("reserve", "volume for a-0"), ("release", "volume for a-0")]


def test_a_plugin_that_cannot_prepare_keeps_its_pod_from_being_bound(reserving, caplog):
    reserving.fails.add("a-0")
    w = world(plugin="reserving")
    w.cycle()
    w.pipeline.drain()
    assert w.pod("a-0").spec.node_name == "" and w.pod("a-1").spec.node_name == "n0"
    assert "execute preBind for pod default/a-0 failed: no volume" in w.condition("a-0").message
    assert 'plugin "reserving", pre_bind: RuntimeError: no volume, in line' in caplog.text
    assert str(w.task("a-0").status) == "Pending"


@pytest.mark.parametrize(("fails", "done"), [
    ("", "a b c"), ("a", ""), ("b", "a -a"), ("c", "a b -b -a"), ("bind", "a b c -c -b -a")])
def test_what_was_prepared_is_rolled_back_the_last_first(fails, done):
    calls = []

    class Binder:
        def __init__(self, name):
            self.name = name

        def pre_bind(self, context):
            if self.name == fails:
                raise RuntimeError("no volume")
            calls.append(self.name)

        def pre_bind_roll_back(self, context):
            calls.append(f"-{self.name}")

    w = world(pods=1)
    w.cycle()
    for name in "cab":
        w.cache.register_binder(name, Binder(name))
    if fails == "bind":
        w.pipeline.bind = refuse(1)(w.server)
    w.pipeline.drain()
    assert " ".join(calls) == done and bool(w.pod("a-0").spec.node_name) is not bool(fails)


# -- evicting ------------------------------------------------------------------------------------


def test_an_evicted_pod_says_so_and_is_deleted():
    cluster = Cluster().node("n0", cpu=4).job("low", pods=2, cpu=2, min_member=1, running={"n0": 2},
                                              priority=1)
    w = World(cluster)
    w.cache.evict(w.task("low-0"), "reclaim")
    assert str(
        w.task("low-0").status) == "Releasing" and w.cache.nodes["n0"].releasing.milli_cpu == 2000
    w.pipeline.process_evictions()
    pod = w.pod("low-0")
    assert pod.metadata.deletion_timestamp == 1000.0
    assert w.condition("low-0", "Ready").message == "Pod is evicted, because of reclaim"
    assert w.condition("low-0", "DisruptionTarget").reason == "PreemptionByScheduler"
    w.server.remove("Pod", "default/low-0")
    assert w.cache.nodes["n0"].idle.milli_cpu == 2000


def test_pods_are_deleted_in_the_order_in_which_they_were_evicted():
    w = World(Cluster().node("n0", cpu=6).job("low", pods=3, cpu=2, running={"n0": 3}))
    deleted = []
    w.server.watchers.append(lambda event: deleted.append(event.object.name)
                             if event.object.metadata.deletion_timestamp else None)
    for name in ("low-1", "low-0", "low-2"):
        w.cache.evict(w.task(name), "reclaim")
    w.pipeline.process_evictions()
    assert deleted == ["low-1", "low-0", "low-2"]


@pytest.mark.parametrize(("action", "deleted"), [("reclaim", False), ("preempt", True)])
def test_a_pod_whose_status_has_the_eviction_with_that_reason_is_not_evicted_again(action, deleted):
    w = World(Cluster().node("n0", cpu=4).job("low", pods=1, cpu=2, running={"n0": 1}))
    w.server.update(w.pod("low-0").changed(status={"conditions": [PodCondition(
        "Ready", "False", "Evict", f"Pod is evicted, because of {action}")]}))
    w.cache.evict(w.task("low-0"), "reclaim")
    w.pipeline.process_evictions()
    assert (w.pod("low-0").metadata.deletion_timestamp is not None) is deleted


def test_an_eviction_that_the_server_refuses_is_undone():
    w = World(Cluster().node("n0", cpu=4).job("low", pods=1, cpu=2, running={"n0": 1}))
    task = w.task("low-0")
    w.cache.evict(task, "reclaim")
    w.server.watchers.clear()
    w.server.update(w.pod("low-0"))  # another version than the scheduler knows
    w.pipeline.drain()
    assert str(w.task("low-0").status) == "Running" and w.cache.nodes["n0"].releasing.milli_cpu == 0


def test_a_job_of_which_nothing_is_left_goes():
    w = world()
    w.server.delete("PodGroup", "default/a")
    w.pipeline.retry()
    assert "default/a" in w.cache.jobs  # its pods are still there
    for name in ("a-0", "a-1"):
        w.server.delete("Pod", f"default/{name}")
    due = w.pipeline.next_due()
    assert due is not None and due <= w.time + 1
    w.time += 1
    w.pipeline.retry()
    assert w.cache.jobs == {} and w.pipeline.idle and not w.pipeline.deleted_jobs.failures


def test_a_job_that_is_there_again_is_not_tried_as_an_empty_one_any_more():
    w = world()
    group = w.server.get("PodGroup", "default/a")
    w.server.delete("PodGroup", "default/a")
    w.pipeline.retry()
    assert [*w.pipeline.deleted_jobs.failures.values()] == [1]
    w.server.create(group)
    w.time += 1
    w.pipeline.retry()
    assert "default/a" in w.cache.jobs and w.pipeline.idle
    assert not w.pipeline.deleted_jobs.failures


# -- states --------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", list(TaskStatus))
@pytest.mark.parametrize("new", list(TaskStatus))
def test_each_step_is_legal_or_an_error_that_names_both_states(old, new):
    if old == new or new in TRANSITIONS[old]:
        check_transition(old, new)
    else:
        with pytest.raises(IllegalTransition, match=f"from {old} to {new}"):
            check_transition(old, new)


def test_the_way_of_every_pod_is_legal():
    for old, new in itertools.pairwise(
        ("Pending", "Allocated", "Binding", "Bound", "Running", "Succeeded")):
        check_transition(TaskStatus[old.upper()], TaskStatus[new.upper()])


# -- what is written -----------------------------------------------------------------------------


def test_pods_that_wait_say_why():
    w = uneven()
    w.cycle()
    assert w.condition("a-0").reason == "Schedulable"
    assert w.condition(
        "a-0"
    ).message == "Pod default/a-0 can possibly be assigned to n0, once minAvailable is satisfied"
    assert w.condition(
        "a-1").reason == "Unschedulable" and "0/2 nodes are unavailable" in w.condition(
            "a-1").message
    group = w.server.get("PodGroup", "default/a")
    assert group.status.phase == "Inqueue" and group.status.conditions[-1].type == "Unschedulable"
    assert group.status.conditions[-1].transition_id == "session-1"


@pytest.mark.parametrize(("status", "reason", "since"), [
    ("False", "Unschedulable", 5.0), ("False", "SchedulerError", 5.0), ("True", "", 9.0)])
def test_a_condition_keeps_its_time_until_its_status_changes(status, reason, since):
    kind = "PodScheduled"
    first = with_condition(Pod(), PodCondition(kind, "False", "Unschedulable"), 5.0)
    (found,) = with_condition(first, PodCondition(kind, status, reason), 9.0).status.conditions
    assert (found.status, found.reason, found.last_transition_time) == (status, reason, since)


def test_what_would_say_the_same_again_is_not_written():
    w = uneven()
    for _ in range(3):
        w.cycle()
    version = w.server.version
    w.cycle()
    assert w.server.version == version
    events = {
        key: count for key, count in w.pipeline.status.events.items() if key[2] == "Unschedulable"
    }
    assert list(events.values()) == [4]  # the event is counted every time


def test_an_update_of_an_older_version_is_refused_and_comes_again():
    w = uneven()
    late = []
    w.server.watchers[0] = late.append  # from now on the scheduler hears nothing
    w.server.update(w.server.get("PodGroup", "default/a"))
    w.cycle()
    assert w.server.get("PodGroup", "default/a").status.phase == "Pending"
    w.server.watchers[0] = w.informer.handle
    for event in late:
        w.informer.handle(event)
    w.cycle()
    assert w.server.get("PodGroup", "default/a").status.phase == "Inqueue"


def test_a_node_that_is_being_freed_is_nominated_and_stays_so():
    cluster = Cluster().node("n0", cpu=4).job("low", pods=2, cpu=2, min_member=1, running={"n0": 2},
                                              priority=1)
    cluster.job("high", pods=1, cpu=2).add(PriorityClass(ObjectMeta("top"), 9))
    w = World(cluster, actions="enqueue, allocate, preempt")
    group = w.server.get("PodGroup", "default/high")
    w.server.update(attrs.evolve(group, spec=attrs.evolve(group.spec, priority_class_name="top")))
    w.cycle()
    w.pipeline.drain()
    assert [pod.name
            for pod in w.server.list("Pod")
            if pod.metadata.deletion_timestamp] == ["low-0"]
    assert w.pod("high-0").status.nominated_node_name == "n0"
    w.cycle()
    assert w.pod("high-0").status.nominated_node_name == "n0"
    for nominated, expected in (("n1", "n1"), ("", "n1")):
        w.pipeline.status.task_unschedulable(w.task("high-0"), "Schedulable", "moved", nominated)
        assert w.pod("high-0").status.nominated_node_name == expected


def test_the_condition_of_a_pod_behind_a_gate_is_left_to_the_api_server():
    w = world(pods=1)
    w.server.update(w.pod("a-0").changed(
        spec={"scheduling_gates": [PodSchedulingGate("g")]},
        status={"conditions": [PodCondition("PodScheduled", "False", "SchedulingGated")]}))
    w.cycle()
    assert w.condition("a-0").reason == "SchedulingGated"


def test_queues_say_what_they_have():
    w = world()
    w.cycle()
    w.pipeline.drain()
    w.cycle()
    queue = w.server.get("Queue", "default")
    assert queue.status.allocated["cpu"] == "4" and w.cache.queues["default"].queue is queue


# -- the API server ------------------------------------------------------------------------------


def test_the_server_binds_a_pod_once():
    w = world(pods=1)
    uid = w.pod("a-0").metadata.uid
    with pytest.raises(ApiError, match="has uid"):
        w.server.bind("default/a-0", "another", "n1")
    w.server.bind("default/a-0", uid, "n0")
    with pytest.raises(ApiError, match="is already assigned"):
        w.server.bind("default/a-0", uid, "n1")
    w.server.delete("Pod", "default/a-0")
    with pytest.raises(ApiError, match="is being deleted"):
        w.server.bind("default/a-0", uid, "n1")
    w.server.remove("Pod", "default/a-0")
    with pytest.raises(ApiError, match="Pod default/a-0 not found"):
        w.server.bind("default/a-0", uid, "n1")


def placed(phase="", node="", **metadata):
    return from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "p", "namespace": "default", **metadata}, "spec": {"nodeName": node, "containers": [
            {"name": "c"}]}, "status": {"phase": phase}})


@pytest.mark.parametrize(("phase", "node", "stays"), [
    ("Running", "n1", True), ("Pending", "n1", True), ("Succeeded", "n1", False),
    ("Failed", "n1", False), ("Pending", "", False)])
def test_a_pod_on_a_node_is_only_marked_when_it_is_deleted(phase, node, stays):
    times = iter((10.5, 20.0, 30.0))
    server = ApiServer(lambda: next(times))
    server.create(placed(phase, node))
    server.delete("Pod", "default/p")
    found = server.find("Pod", "default/p")
    assert (found is not None) is stays
    if stays:
        version = server.version
        assert server.delete("Pod", "default/p").metadata.deletion_timestamp == 20.0
        assert server.version == version, "it is marked once"
        server.remove("Pod", "default/p")
    assert not server.list("Pod")


def test_what_exists_is_not_created_again_and_each_object_has_its_own_uid():
    server = ApiServer()
    first = server.create(placed())
    with pytest.raises(ApiError, match="already exists"):
        server.create(placed())
    server.remove("Pod", "default/p")
    second = server.create(placed())
    assert "" not in {first.metadata.uid, second.metadata.uid}
    assert first.metadata.uid != second.metadata.uid
    server.remove("Pod", "default/p")
    assert server.create(placed(uid="own")).metadata.uid == "own"


def test_a_pod_with_a_scheduling_gate_is_not_bound():
    server = ApiServer()
    gated = server.create(placed().changed(spec={"scheduling_gates": [PodSchedulingGate("g")]}))
    with pytest.raises(ApiError, match="schedulingGates"):
        server.bind("default/p", gated.metadata.uid, "n1")


def test_old_news_is_dropped_and_news_twice_is_harmless():
    w = world(pods=1)
    heard = []
    w.server.watchers.append(heard.append)
    for _ in range(2):
        w.server.update(w.pod("a-0"))
    old, new = heard
    assert not w.informer.handle(old)
    assert w.informer.handle(new) and w.informer.handle(new)
    assert len(w.cache.jobs["default/a"].tasks) == 1
    w.server.delete("Pod", "default/a-0")
    assert not w.informer.handle(new) and not w.cache.jobs["default/a"].tasks


def test_of_too_many_events_those_that_happened_last_longest_ago_go(monkeypatch):
    monkeypatch.setattr(status_updater, "MOST_EVENTS", 2)
    status = world().pipeline.status
    for name in ("a", "b", "a", "c"):
        status.record(f"Pod default/{name}", "Normal", "Scheduled", "assigned")
    assert [about for about, *_ in status.last_seen] == ["Pod default/a", "Pod default/c"]
    assert [*status.events.values()] == [2, 1]


def test_an_event_is_kept_for_an_hour():
    w = world()
    status = w.pipeline.status
    status.record("Pod default/a", "Normal", "Scheduled", "assigned")
    for later, kept in ((3599, ["a", "b"]), (1, ["b", "c"])):
        w.time += later
        status.record(f"Pod default/{kept[-1]}", "Normal", "Scheduled", "assigned")
        assert [about[-1] for about, *_ in status.events] == kept


def test_nothing_is_kept_of_what_is_long_gone(monkeypatch):
    monkeypatch.setattr(status_updater, "MOST_EVENTS", 3)
    w = world()
    for number in range(5):
        w.pipeline.status.record(f"Pod default/p{number}", "Normal", "Scheduled", "assigned")
        w.cycle()
    status = w.pipeline.status
    assert status.events.keys() == status.last_seen.keys() and len(status.events) == 3
    w.cache.snapshot()
    assert not w.cache.table.changes


def test_a_task_whose_job_is_gone_is_not_compared_any_more():
    world = World(Cluster().node("n1", cpu=4).job("a", cpu=1))
    world.pipeline.resync_task(world.task("a-0"))
    world.pipeline.read = lambda kind, key: refuse(1)(world.server)(key, "", "")
    world.pipeline.retry()
    assert [*world.pipeline.errors.failures.values()] == [1]
    world.cache.jobs.clear()
    world.time += 60
    world.pipeline.retry()
    assert world.pipeline.next_due() is None and not world.pipeline.errors.failures


@pytest.mark.parametrize(("given", "made"), [(None, 1000.0), (7.0, 7.0)])
def test_the_server_sets_the_time_of_creation_where_none_is_given(given, made):
    created = ApiServer(lambda: 1000.0).create(
        PriorityClass(ObjectMeta(name="p", creation_timestamp=given)))
    assert created.metadata.creation_timestamp == made


@pytest.mark.parametrize(("volume", "notes", "bound"), [
    ("v", ["pv.kubernetes.io/bind-completed"], True),
    ("", ["pv.kubernetes.io/bind-completed"], False),
    ("v", [], False),
])
def test_a_claim_is_bound_once_it_has_a_volume_and_kubernetes_says_so(volume, notes, bound):
    claim = PersistentVolumeClaim(ObjectMeta("c", annotations=dict.fromkeys(notes, "yes")))
    assert claim.changed(spec={"volume_name": volume}).is_bound is bound
