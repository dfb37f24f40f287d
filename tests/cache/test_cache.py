"""What the cache makes of events, in whatever order they come, and what a snapshot leaves out."""

import itertools

import pytest

from volcano_lab.api.node import NodeError
from volcano_lab.api.objects import (
    Container,
    ExactMatch,
    HyperNode,
    HyperNodeSpec,
    MemberSelector,
    MemberSpec,
    Namespace,
    Node,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PodGroupSpec,
    PodSpec,
    PodStatus,
    PriorityClass,
    Queue,
    ResourceQuota,
    ResourceQuotaSpec,
    ResourceRequirements,
    VolcanoJob,
)
from volcano_lab.api.status import IllegalTransition
from volcano_lab.cache import Cache, CacheError
from volcano_lab.cache.dump import dump
from volcano_lab.cluster import Cluster
from volcano_lab.framework.session import BindContext


def node(name="n1", cpu="8"):
    return Node(ObjectMeta(name),
                status=NodeStatus(allocatable={"cpu": cpu, "memory": "16Gi", "pods": "110"}))


def pod(name="a-0", on="", phase="Pending", cpu="2", uid="", group="a", **meta):
    notes = {"scheduling.k8s.io/group-name": group} if group else {}
    meta = ObjectMeta(name, "default", uid=uid or name, annotations=notes, **meta)
    spec = PodSpec([Container(resources=ResourceRequirements({"cpu": cpu}))], node_name=on,
                   scheduler_name="volcano")
    return Pod(meta, spec, status=PodStatus(phase=phase))


def group(name="a", queue="team", **meta):
    return PodGroup(ObjectMeta(name, "default", uid=f"pg-{name}", **meta),
                    PodGroupSpec(min_member=1, queue=queue))


def some(resource):
    """What a resource has of anything."""
    return {name: amount for name, amount in resource if amount}


def accounts(cache):
    """All that a cycle would see, as plain data."""
    snapshot = cache.snapshot()
    nodes = {
        name: (some(n.idle), some(n.used), some(n.releasing), sorted(n.tasks))
        for name, n in snapshot.nodes.items()
    }
    jobs = {
        uid: (job.queue, job.priority, some(job.allocated), some(
            job.total_request), *sorted(map(repr, job.tasks.values())))
        for uid, job in snapshot.jobs.items()
    }
    return nodes, jobs, sorted(snapshot.queues), sorted(map(str, snapshot.left_out))


OBJECTS = (node(), Queue(ObjectMeta("team")), group(), pod("a-0", on="n1",
                                                           phase="Running"), pod("a-1"))


def test_the_order_in_which_objects_come_does_not_matter():
    expected = accounts(Cache(OBJECTS))
    assert expected[0]["n1"][1] == {"cpu": 2000, "pods": 1}
    for order in itertools.permutations(OBJECTS):
        assert accounts(Cache(order)) == expected


def test_an_object_that_comes_twice_counts_once():
    cache = Cache(OBJECTS)
    once = accounts(cache)
    for obj in OBJECTS:
        cache.add(obj)
        cache.update(obj)
    assert accounts(cache) == once


def test_what_goes_leaves_nothing():
    for order in itertools.permutations(OBJECTS):
        cache = Cache(OBJECTS)
        for obj in order:
            cache.delete(obj)
        assert accounts(cache) == ({}, {}, [], []) and not cache.jobs and not cache.pods


OTHERS = (
    Namespace(ObjectMeta("team", labels={"tier": "a"})),
    ResourceQuota(ObjectMeta("quota", "team"), ResourceQuotaSpec({"cpu": "10"})),
    PodDisruptionBudget(ObjectMeta("budget", "team")),
    PriorityClass(ObjectMeta("high"), 9, global_default=True),
    HyperNode(ObjectMeta("rack"),
              HyperNodeSpec(1, members=[MemberSpec("Node", MemberSelector(ExactMatch("n1")))])),
)


def others(cache):
    """What a cycle would see of the kinds that nothing is counted in."""
    snapshot = cache.snapshot()
    tree = snapshot.hyper_nodes
    return (snapshot.namespaces, snapshot.resource_quotas, snapshot.pod_disruption_budgets,
            cache.priority_classes, cache.default_priority, {
                name: sorted(nodes) for name, nodes in tree.real_nodes_set.items()
            }, tree.ready)


@pytest.mark.long
def test_every_other_kind_comes_in_any_order_and_twice_and_goes():
    expected = others(Cache([node(), *OTHERS]))
    assert expected[0] == {"team": {"tier": "a"}
                           } and expected[4] == 9 and expected[5] == {"rack": ["n1"]}
    assert [quota.name for quota in expected[1]["team"]
            ] == ["quota"] and [budget.name for budget in expected[2]] == ["budget"]
    for order in itertools.permutations((node(), *OTHERS)):
        cache = Cache(order)
        for obj in order:
            cache.update(obj)
        assert others(cache) == expected
        for obj in order:
            cache.delete(obj)
        assert others(cache) == others(Cache())


def test_every_other_kind_changes():
    cache = Cache([node(), node("n2"), *OTHERS])
    cache.update(Namespace(ObjectMeta("team", labels={"tier": "b"})))
    cache.update(ResourceQuota(ObjectMeta("quota", "team"), ResourceQuotaSpec({"cpu": "20"})))
    cache.update(PriorityClass(ObjectMeta("high"), 5, global_default=True))
    cache.update(
        HyperNode(ObjectMeta("rack"),
                  HyperNodeSpec(1, members=[MemberSpec("Node", MemberSelector(ExactMatch("n2")))])))
    namespaces, quotas, _, _, priority, racks, _ = others(cache)
    assert (namespaces, quotas["team"][0].spec.hard) == ({"team": {"tier": "b"}}, {"cpu": "20"})
    assert (priority, racks) == (5, {"rack": ["n2"]})


def test_a_kind_that_the_scheduler_does_not_watch_is_reported_in_a_sentence():
    with pytest.raises(TypeError, match="the scheduler doesn't watch objects of kind Job"):
        Cache([VolcanoJob(ObjectMeta("a"))])


def test_a_node_that_offers_less_than_its_pods_hold_is_reported(caplog):
    cache = Cache(OBJECTS)
    cache.update(node(cpu="1"))
    assert "node n1 offers less than its pods hold: cpu" in caplog.text
    assert cache.snapshot().nodes["n1"].idle.milli_cpu == -1000


def test_a_pod_that_no_watcher_has_seen_may_be_deleted():
    cache = Cache()
    for obj in (*OBJECTS, PriorityClass(ObjectMeta("high"))):
        cache.delete(obj)
    assert accounts(cache) == accounts(Cache())


@pytest.mark.parametrize(("change", "expected"), [
    ([pod("a-1", on="n1", phase="Running")], 4000),
    ([pod("a-0", on="n1", phase="Succeeded")], 0),
    ([pod("a-0", on="n1", phase="Running", cpu="3")], 3000),
    ([pod("a-0", uid="another")], 0),
    ([node(cpu="1")], 2000),
])
def test_changes_are_counted(change, expected):
    cache = Cache(OBJECTS)
    for obj in change:
        cache.update(obj)
    assert cache.snapshot().nodes["n1"].used.milli_cpu == expected
    fresh = {(obj.kind, obj.key): obj for obj in (*OBJECTS, *change)}
    assert accounts(cache) == accounts(Cache(fresh.values()))


def test_a_pod_that_is_deleted_releases_its_resources_when_it_is_gone():
    cache = Cache(OBJECTS)
    cache.update(pod("a-0", on="n1", phase="Running", deletion_timestamp=1.0))
    assert cache.snapshot().nodes["n1"].releasing.milli_cpu == 2000
    cache.delete(pod("a-0", on="n1"))
    assert cache.snapshot().nodes["n1"].idle.milli_cpu == 8000


def test_the_end_of_an_earlier_pod_of_that_name_does_not_end_the_new_one():
    cache = Cache(OBJECTS)
    cache.update(pod("a-0", uid="new", on="n1", phase="Running"))
    cache.delete(pod("a-0"))
    assert cache.snapshot().nodes["n1"].used.milli_cpu == 2000


def test_a_step_that_there_is_not_names_both_states():
    cache = Cache([*OBJECTS[:3], pod("a-0", on="n1", phase="Succeeded")])
    before = accounts(cache)
    with pytest.raises(IllegalTransition,
                       match="task default/a-0 cannot go from Succeeded to Running"):
        cache.update(pod("a-0", on="n1", phase="Running"))
    assert accounts(cache) == before


def test_what_a_session_may_not_do_names_both_states():
    cache = Cache(
        [*OBJECTS[:3],
         pod("a-0", on="n1", phase="Running"),
         pod("a-1", on="n1", phase="Failed")])
    session = cache.snapshot().jobs["default/a"].tasks
    with pytest.raises(CacheError, match="task default/a-0 cannot go from Running to Binding"):
        cache.add_bind_task(BindContext(session["a-0"]))
    session["a-1"].node_name = "n1"
    with pytest.raises(CacheError, match="task default/a-1 cannot go from Failed to Binding"):
        cache.add_bind_task(BindContext(session["a-1"]))


def test_a_session_may_do_nothing_with_a_pod_that_was_replaced():
    cache = Cache([*OBJECTS[:3], pod("a-0", on="n1", phase="Running")])
    (task,) = cache.snapshot().jobs["default/a"].tasks.values()
    cache.delete(pod("a-0", on="n1", phase="Running"))
    cache.add(pod("a-0", on="n1", phase="Running").changed(metadata={"uid": "new"}))
    with pytest.raises(CacheError, match="failed to find task in status Running by id a-0"):
        cache.evict(task, "test")


def test_a_bind_that_the_node_refuses_leaves_everything_as_it_was():
    full = [node(cpu="3"), Queue(ObjectMeta("team")), group(), pod("a-0", on="n1", phase="Running"),
            pod("a-1")]
    cache, before = Cache(full), accounts(Cache(full))
    task = next(task for task in cache.snapshot().jobs["default/a"].tasks.values()
                if task.name == "a-1")
    task.node_name = "n1"
    with pytest.raises(NodeError, match=r"node n1 resources .* are not enough to put task"):
        cache.add_bind_task(BindContext(task))
    assert accounts(cache) == before and cache.bind_contexts == []


def test_a_pod_that_is_being_bound_is_not_set_back_by_older_news():
    cache = Cache(OBJECTS)
    task = cache.snapshot().jobs["default/a"].tasks["a-1"]
    task.node_name = "n1"
    cache.add_bind_task(BindContext(task))
    before = accounts(cache)
    assert before[0]["n1"][1] == {"cpu": 4000, "pods": 2}
    cache.update(pod("a-1", labels={"new": "label"}))
    assert accounts(cache) == before
    cache.update(pod("a-1", on="n1"))
    assert str(cache.snapshot().jobs["default/a"].tasks["a-1"].status) == "Bound"


@pytest.mark.parametrize(("objects", "sentence"), [
    ([pod(on="n9", phase="Running")], "node n9: pods name it, but it has no Node object"),
    ([pod()], "job default/a: its pods name a PodGroup that doesn't exist"),
    ([group(queue="none")], "job default/a: its queue none doesn't exist"),
    ([pod(group="")],
     "pod default/a-0: it has no annotation scheduling.k8s.io/group-name that names its PodGroup"),
])
def test_a_snapshot_says_what_it_leaves_out(objects, sentence):
    snapshot = Cache(objects).snapshot()
    assert sentence in map(str, snapshot.left_out)
    assert not snapshot.jobs and not snapshot.nodes


@pytest.mark.parametrize("change", ["delete", "another group"])
def test_a_pod_is_left_out_only_as_long_as_the_reason_holds(change):
    cache = Cache([pod(group="")])
    assert len(cache.snapshot().left_out) == 1
    if change == "delete":
        cache.delete(pod(group=""))
    else:
        cache.update(pod())
    assert not any("annotation" in str(reason) for reason in cache.snapshot().left_out)


def test_a_node_that_is_gone_is_left_out_and_counts_its_pods_when_it_is_back():
    cache = Cache(OBJECTS)
    before = accounts(cache)
    cache.delete(node())
    left_out = cache.snapshot().left_out
    assert [*map(str, left_out)] == ["node n1: it was deleted, but 1 of its pods was not"]
    with pytest.raises(CacheError, match="host does not exist"):
        cache.evict(cache.snapshot().jobs["default/a"].tasks["a-0"], "test")
    cache.add(node())
    assert accounts(cache) == before


def test_a_node_that_comes_back_without_its_pods_is_empty():
    cache = Cache(OBJECTS)
    cache.delete(node())
    cache.delete(pod("a-0", on="n1"))
    cache.add(node())
    assert cache.snapshot().nodes["n1"].idle.milli_cpu == 8000


def test_the_default_priority_goes_with_its_class():
    cache = Cache([*OBJECTS, PriorityClass(ObjectMeta("all"), 7, global_default=True)])
    assert cache.snapshot().jobs["default/a"].priority == 7
    cache.update(PriorityClass(ObjectMeta("all"), 7))
    assert cache.snapshot().jobs["default/a"].priority == 0
    cache.update(PriorityClass(ObjectMeta("all"), 9, global_default=True))
    cache.delete(PriorityClass(ObjectMeta("all")))
    assert cache.snapshot().jobs["default/a"].priority == 0


CLASSES = {"a": PriorityClass(ObjectMeta("a"), 7, global_default=True),
           "a, not the default": PriorityClass(ObjectMeta("a"), 7),
           "b": PriorityClass(ObjectMeta("b"), 7),
           "c": PriorityClass(ObjectMeta("c"), 9, global_default=True),
           "none of it": PriorityClass(ObjectMeta("c"), 0)}


@pytest.mark.parametrize("deleted", CLASSES)
def test_the_default_priority_is_that_of_the_default_class_reported_last(deleted):
    """It is so until that class, or another default one, is deleted or is no default any more."""
    for shown in itertools.product(CLASSES, repeat=3):
        cache, default, known = Cache(), 0, {}
        for one in shown:
            if known.get(CLASSES[one].name):
                default = 0
            known[CLASSES[one].name] = CLASSES[one].global_default
            default = CLASSES[one].value if CLASSES[one].global_default else default
            cache.add(CLASSES[one])
            assert cache.default_priority == default, shown
        cache.delete(CLASSES[deleted])
        assert cache.default_priority == (0 if known.get(CLASSES[deleted].name) else default), shown


def test_a_job_is_in_every_snapshot_whatever_its_priority():
    high = ("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
            "value: 9000}")
    cache = Cluster().add(high).node("n1", cpu=4).job("a", cpu=1, priority_class="high").cache()
    for _ in range(3):
        snapshot = cache.snapshot()
        assert {uid: job.priority for uid, job in snapshot.jobs.items()} == {"default/a": 9000}
        assert snapshot.left_out == []


def test_a_podgroup_without_a_queue_is_in_the_default_one():
    group = PodGroup(ObjectMeta("a", namespace="team"), PodGroupSpec(queue=""))
    assert Cache([group]).jobs["team/a"].queue == "default"


def test_a_snapshot_is_a_copy():
    cache = Cache(OBJECTS)
    before = dump(cache)
    snapshot = cache.snapshot()
    task = snapshot.jobs["default/a"].tasks["a-1"]
    task.node_name = "n1"
    snapshot.nodes["n1"].add_task(task)
    snapshot.jobs["default/a"].pod_group.status.phase = "Running"
    del snapshot.queues["team"]
    assert dump(cache) == before


def test_the_same_version_of_a_queue_or_podgroup_is_heard_once():
    cache = Cache(OBJECTS)
    cache.update(Queue(ObjectMeta("team", resource_version="5")))
    known = cache.queues["team"]
    cache.update(Queue(ObjectMeta("team", resource_version="5", labels={"a": "b"})))
    assert cache.queues["team"] is known
    cache.update(Queue(ObjectMeta("team", resource_version="6")))
    assert cache.queues["team"] is not known


OFFERS = {"labels": {"volcano.sh/revocable-zone": "z"}, "annotations": {
    "volcano.sh/oversubscription-cpu": "500"}}
VERSIONS = [node(), node(cpu="4"), Node(ObjectMeta("n1", **OFFERS), status=NodeStatus(
    allocatable={"cpu": "8", "nvidia.com/gpu": "2"})), Node(ObjectMeta("n1", annotations={
        "volcano-lab/cpu-usage": "80", "volcano-lab/memory-usage": "20"})), Node(ObjectMeta(
            "n1", annotations={"volcano-lab/cpu-usage": "10"}))]


@pytest.mark.parametrize(("old", "new"), [*itertools.permutations(VERSIONS, 2)])
def test_an_updated_node_is_as_a_new_one_but_for_its_usage(old, new):
    """What is measured stays where an update says nothing of it."""
    updated, fresh = Cache([old, pod(on="n1", phase="Running")]), Cache([new, pod(
        on="n1", phase="Running")])
    updated.add(new)
    one, other = updated.nodes["n1"], fresh.nodes["n1"]
    for name in ("node", "labels", "revocable_zone", "allocatable", "ready"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("idle", "used", "releasing", "pipelined", "future_idle"):
        assert some(getattr(one, name)) == some(getattr(other, name)), name
    measured = other if new in VERSIONS[-2:] else Cache([old]).nodes["n1"]
    assert one.resource_usage == measured.resource_usage


def rack(tier=1, tier_name="", *nodes, kind="Node"):
    return HyperNode(ObjectMeta("rack"), HyperNodeSpec(tier, tier_name=tier_name, members=[
        MemberSpec(kind, MemberSelector(ExactMatch(name))) for name in nodes or ("n1", "n2")]))


RACKS = [rack(), rack(2), rack(1, "leaf"), rack(1, "", "n2"), rack(3, "top", "n1"),
         rack(2, "spine", "row", kind="HyperNode")]


@pytest.mark.parametrize(("old", "new"), [*itertools.permutations(RACKS, 2)])
def test_an_updated_hyper_node_is_as_a_new_one(old, new):
    def tree(*racks):
        cache = Cache([node("n1"), node("n2")])
        for each in racks:
            cache.add(each)
        view = cache.snapshot().hyper_nodes
        return (view.hyper_nodes["rack"], view.real_nodes_set.get("rack", set()),
                {tier: names & {"rack"} for tier, names in view.set_by_tier.items()
                 if "rack" in names}, view.ready)

    assert tree(old, new) == tree(new)
