"""The series that a cycle leaves behind: names, labels and buckets as Volcano's, values as in the
session.
"""

from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from volcano_lab.cluster import Cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.observer import Observer, joined
from volcano_lab.scheduler import Scheduler
from volcano_lab.server.prometheus import Metrics, catalogue
from volcano_lab.server.series import SERIES
from volcano_lab.simulation import JobTemplate, Simulation, every

NOW = 1767225700.0


def cycle(cluster, conf=None, metrics=None):
    metrics = metrics or Metrics()
    return metrics, Scheduler(cluster.cache(), conf).run_once(metrics, now=NOW)


def two_queues():
    return (Cluster().queue("a", weight=3).queue("b", weight=1).node(
        "n1", cpu=8, memory="16Gi", gpu=4).job("fits", queue="a", pods=2, cpu=2, memory="1Gi",
                                               gpu=1).job("waits", queue="b", pods=3, cpu=2))


@pytest.mark.long
def test_a_scrape_parses_and_has_every_series():
    metrics, _ = cycle(two_queues())
    families = {family.name: family for family in text_string_to_metric_families(metrics.text())}
    rows = {row["name"]: row for row in catalogue()}
    for name, row in rows.items():
        assert name in families, name
        kinds = {"counter": "unknown"}
        assert families[name].type == kinds.get(row["kind"], row["kind"])
        for sample in families[name].samples:
            labels = set(sample.labels) - {"le"}
            assert labels == {label for label in row["labels"].split(", ") if label}
    assert {name.removesuffix("_created") for name in families} == set(rows)


@pytest.mark.parametrize(("name", "first", "count"), [
    ("e2e_scheduling_latency_milliseconds", 5.0, 16),
    ("task_scheduling_latency_milliseconds", 5.0, 16),
    ("e2e_job_scheduling_latency_milliseconds", 32.0, 11),
])
def test_buckets_are_volcano_s(name, first, count):
    metrics, _ = cycle(two_queues())
    (family, ) = (f for f in text_string_to_metric_families(metrics.text())
                  if f.name == f"volcano_{name}")
    limits = [
        float(sample.labels["le"]) for sample in family.samples if sample.name.endswith("_bucket")
    ]
    assert len(limits) == count and limits[0] == first and limits[1] == 2 * first and limits[
        -1] == float("inf")


@pytest.mark.long
def test_queues_are_as_the_session_left_them():
    metrics, ssn = cycle(two_queues())
    attributes = ssn.plugins["proportion"].queue_opts
    assert attributes["a"].allocated.milli_cpu == 4000
    for name, attr in attributes.items():
        for part in ("allocated", "request", "deserved"):
            resource = getattr(attr, part)
            assert metrics.value(f"queue_{part}_milli_cpu", queue_name=name) == resource.milli_cpu
            assert metrics.value(f"queue_{part}_memory_bytes", queue_name=name) == resource.memory
            for scalar, amount in (resource.scalars or {}).items():
                assert metrics.value(f"queue_{part}_scalar_resources", queue_name=name,
                                     resource=scalar) == amount
        assert metrics.value("queue_share", queue_name=name) == attr.share
        assert metrics.value("queue_weight", queue_name=name) == ssn.queues[name].weight
    assert metrics.value("queue_allocated_milli_cpu", queue_name="default") == 0  # it has no jobs
    assert metrics.value("queue_pod_group_pending_count", queue_name="b") == 1


@pytest.mark.parametrize(("running", "overused"), [(4, 1), (3, 0)])
def test_a_queue_with_all_it_deserves_is_overused(running, overused):
    cluster = Cluster().node("n1", cpu=4, pods=4).job("a", pods=running, cpu=1,
                                                      running={"n1": running}).job(
                                                          "b", pods=2, cpu=2)
    metrics, _ = cycle(cluster, DEFAULT_CONF.replace("enqueue, ", ""))
    assert metrics.value("queue_overused", queue_name="default") == overused


def test_capacity_shows_limits_too():
    conf = DEFAULT_CONF.replace("proportion", "capacity")
    cluster = Cluster().queue("a", capability={"cpu": 6},
                              deserved={"cpu": 2}).node("n1", cpu=8).job("j", queue="a", cpu=1)
    metrics, ssn = cycle(cluster, conf)
    attr = ssn.plugins["capacity"].queue_opts["a"]
    assert metrics.value("queue_capacity_milli_cpu",
                         queue_name="a") == attr.capability.milli_cpu == 6000
    assert metrics.value("queue_real_capacity_milli_cpu",
                         queue_name="a") == attr.real_capability.milli_cpu


def test_without_a_tree_capacity_shows_of_queues_without_jobs_what_is_written():
    conf = DEFAULT_CONF.replace("proportion", "capacity")
    cluster = (Cluster().queue("a",
                               capability={"cpu": 6, "memory": "4Gi"}, deserved={"cpu": 2}).queue(
                                   "b", guarantee={"cpu": 3}).queue("c").node(
                                       "n1", cpu=8, memory="8Gi").job("j", queue="c", cpu=1))
    metrics, ssn = cycle(cluster, conf)
    assert list(ssn.plugins["capacity"].queue_opts) == ["c"]
    values = {
        name: [
            metrics.value(f"queue_{part}_milli_cpu", queue_name=name)
            for part in ("allocated", "request", "deserved", "capacity", "real_capacity")
        ]
        for name in "abc"
    }
    assert values == {
        "a": [0, 0, 2000, 6000, 5000], "b": [0, 0, 0, None, 8000], "c": [1000, 1000, 0, 0, 5000]
    }


def test_gangs_that_lack_tasks_are_counted():
    cluster = Cluster().node("n1", cpu=9).node("n2", cpu=3).job("gang", pods=2, cpu=5).job(
        "one", cpu=1)
    metrics = Metrics()
    scheduler = Scheduler(cluster.cache())
    for cycles in (1, 2):
        scheduler.run_once(metrics, now=NOW)
        assert metrics.value("unschedule_job_count") == 1
        assert metrics.value("unschedule_task_count",
                             job_id="gang") == 1  # one of the two would have had a place
        assert metrics.value("job_retry_counts", job_id="gang") == cycles
        assert metrics.value("unschedule_task_count", job_id="one") == 0


def test_times_of_cycle_actions_and_plugins():
    metrics, ssn = cycle(two_queues())
    assert metrics.value("e2e_scheduling_latency_milliseconds_count") == 1
    for action in ("enqueue", "allocate", "backfill"):
        assert metrics.value("action_scheduling_latency_milliseconds_count", action=action) == 1
    for plugin in ssn.plugins:
        for when in ("OnSessionOpen", "OnSessionClose"):
            assert metrics.value("plugin_scheduling_latency_milliseconds_count", plugin=plugin,
                                 OnSession=when) == 1
    total = metrics.value("e2e_scheduling_latency_milliseconds_sum")
    assert 0 < metrics.value("action_scheduling_latency_milliseconds_sum",
                             action="allocate") < total


def test_times_of_tasks_and_jobs_are_from_their_creation():
    metrics, ssn = cycle(two_queues())
    job = ssn.jobs["default/fits"]
    waited = [(NOW - task.creation_timestamp) * 1000 for task in job.tasks.values()]
    assert metrics.value("task_scheduling_latency_milliseconds_count") == 2
    assert metrics.value("task_scheduling_latency_milliseconds_sum") == pytest.approx(sum(waited))
    labels = {"job_name": "fits", "queue": "a", "job_namespace": "default"}
    assert metrics.value("e2e_job_scheduling_start_time", **labels) == job.creation_timestamp
    assert metrics.value("e2e_job_scheduling_duration",
                         **labels) == (NOW - job.creation_timestamp) * 1000
    assert metrics.value("e2e_job_scheduling_last_time", **labels) == NOW
    latency = "e2e_job_scheduling_latency_milliseconds"
    assert metrics.value(f"{latency}_count") == 2  # one for each pod that gets a node
    assert metrics.value(f"{latency}_sum") == 2 * (NOW - job.creation_timestamp) * 1000
    assert metrics.value("e2e_job_scheduling_duration", job_name="waits", queue="b",
                         job_namespace="default") is None


def test_a_bind_that_failed_has_scheduled_nothing():
    metrics, pipeline = Metrics(), SimpleNamespace(server=SimpleNamespace(clock=lambda: NOW))
    metrics.attach(pipeline)
    task = next(iter(two_queues().cache().jobs["default/fits"].tasks.values()))
    for error, count in (("refused", 0), ("", 1), ("refused", 1)):
        pipeline.on_bind(task, error)
        assert metrics.value("task_scheduling_latency_milliseconds_count") == count


def test_shares_of_jobs():
    metrics, ssn = cycle(two_queues())
    for uid, attr in ssn.plugins["drf"].job_attrs.items():
        assert metrics.value("job_share", job_ns="default", job_id=uid.split("/")[1]) == attr.share
    assert metrics.value("job_share", job_ns="default", job_id="fits") == 0.5


def preemption(nodes=1):
    """Nodes full of small pods, and a pod of 2 CPUs that counts for more."""
    low = Cluster()
    for number in range(1, nodes + 1):
        low.node(f"n{number}", cpu=4)
    low.job("low", pods=4 * nodes, cpu=1, min_member=1,
            running={f"n{number}": 4 for number in range(1, nodes + 1)})
    low.add(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}")
    low.add("""
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: top}
spec: {minMember: 1, priorityClassName: high}
status: {phase: Inqueue}
---
apiVersion: v1
kind: Pod
metadata: {name: top-0, annotations: {scheduling.k8s.io/group-name: top}}
spec: {schedulerName: volcano, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
""")
    return low


def test_preemptions_are_counted():
    metrics, ssn = cycle(preemption(), DEFAULT_CONF.replace("backfill", "preempt"))
    assert [entry[0] for entry in ssn.committed].count("evict") == 2
    assert metrics.value("total_preemption_attempts") == 1
    promised = {"job_name": "top", "queue": "default", "job_namespace": "default"}
    assert metrics.value("e2e_job_scheduling_duration", **promised) is None, "a promise is no place"
    assert metrics.value(
        "pod_preemption_victims") == 3  # who might have gone, all but the gang's minimum


def test_what_reclaim_takes_back_is_no_preemption():
    cluster = (Cluster().node("n1", cpu=8).queue("a").queue("b")
               .job("old", queue="a", pods=8, cpu=1, min_member=1, running={"n1": 8})
               .job("new", queue="b", pods=1, cpu=1))
    metrics, ssn = cycle(cluster, DEFAULT_CONF.replace("backfill", "reclaim"))
    assert [entry[0] for entry in ssn.committed] == ["evict", "pipeline"]
    assert not metrics.value("total_preemption_attempts")


def test_the_series_of_a_job_that_a_session_leaves_out_stay_and_go_with_the_job():
    cache = Cluster().queue("q").node("n1", cpu=8).job("a", queue="q", pods=1, cpu=1).cache()
    scheduler, metrics = Scheduler(cache), Metrics()
    there = {"job_name": "a", "queue": "q", "job_namespace": "default"}
    (job,) = cache.jobs.values()
    group, pods = job.pod_group, [*cache.pods.values()]
    for gone, left in (([], True), ([cache.queues["q"].queue], True), ([group, *pods], False)):
        for obj in gone:
            cache.delete(obj)
        scheduler.run_once(metrics, now=NOW)
        found = metrics.value("e2e_job_scheduling_start_time", **there)
        assert (found is not None) is left


def test_a_device_that_is_free_again_is_0_and_a_queue_without_jobs_has_no_weight():
    cluster = Cluster().queue("q").queue("idle").node("n1", cpu=8, gpu=4)
    cache = cluster.job("a", queue="q", pods=1, cpu=1, gpu=1).cache()
    scheduler, metrics = Scheduler(cache), Metrics()
    scheduler.run_once(metrics, now=NOW)
    gpu = {"queue_name": "q", "resource": "nvidia.com/gpu"}
    assert metrics.value("queue_allocated_scalar_resources", **gpu) == 1000
    assert metrics.value("queue_weight", queue_name="idle") is None
    for obj in [*cache.pods.values(), *(job.pod_group for job in cache.jobs.values())]:
        cache.delete(obj)
    scheduler.run_once(metrics, now=NOW)
    assert metrics.value("queue_allocated_scalar_resources", **gpu) == 0


def test_with_capacity_a_queue_that_may_not_reclaim_is_overused():
    cluster = Cluster().node("n1", cpu=8)
    for name, cpu in (("a", 4), ("b", 4), ("c", 0)):
        cluster.queue(name, deserved={"cpu": cpu})
    cluster.job("old", queue="a", pods=8, cpu=1, min_member=1, running={"n1": 8})
    for name in "bc":
        cluster.job(f"new-{name}", queue=name, pods=1, cpu=1)
    metrics, _ = cycle(cluster, DEFAULT_CONF.replace("backfill", "reclaim").replace(
        "proportion", "capacity").replace("overcommit", "conformance"))
    assert [metrics.value("queue_overused", queue_name=name) for name in "bc"] == [0, 1]


class Answers(Observer):
    """The last answer of a plugin about each queue at one extension point."""

    def __init__(self, asked):
        self.asked, self.last, self.others = asked, {}, 0

    def watch(self, point, tier, plugin, function):
        def observed(queue, *others):
            answer = function(queue, *others)
            if (point.name, plugin) == self.asked:
                self.last[queue.name] = answer
            else:
                self.others += 1
            return answer

        return observed if point.name in ("overused", "preemptive") else function


@pytest.mark.parametrize("asked", [("overused", "proportion"), ("preemptive", "capacity")])
def test_overused_is_the_last_answer_of_the_one_point_that_has_it(asked):
    """In Volcano proportion writes it in `overused` alone, capacity in `preemptive`, negated."""
    cluster = Cluster().node("n1", cpu=8)
    for name, cpu in (("a", 1), ("b", 4), ("c", 3)):
        cluster.queue(name, weight=cpu, deserved={"cpu": cpu})
    cluster.job("old", queue="a", pods=8, cpu=1, min_member=1, running={"n1": 8})
    for name, pods in (("b", 1), ("c", 3)):  # c is not overused, but its last pod is too much
        cluster.job(f"new-{name}", queue=name, pods=pods, cpu=2)
    conf = DEFAULT_CONF.replace("backfill", "reclaim").replace("proportion", asked[1]).replace(
        "overcommit", "conformance").replace("enqueue, ", "")
    metrics, answers = Metrics(), Answers(asked)
    Scheduler(cluster.cache(), conf).run_once(joined(metrics, answers), now=NOW)
    assert answers.last and (answers.others > 0) == (asked[1] == "proportion")
    for name in "abc":
        value = metrics.value("queue_overused", queue_name=name)
        known = answers.last.get(name)
        assert value == (None if known is None else known != (asked[0] == "preemptive"))


def test_a_preemption_for_which_several_nodes_are_looked_at_counts_once():
    conf = DEFAULT_CONF.replace("backfill", "preempt")
    conf += "configurations:\n- name: preempt\n  arguments: {enableTopologyAwarePreemption: true}\n"
    metrics, ssn = cycle(preemption(nodes=3), conf)
    assert [entry[0] for entry in ssn.committed] == ["evict", "evict", "pipeline"]
    assert metrics.value("total_preemption_attempts") == 1


@pytest.mark.parametrize("conf", [None, "actions: enqueue\ntiers: [{plugins: [{name: gang}]}]"])
def test_a_queue_that_is_gone_is_no_longer_reported_whatever_plugins_there_are(conf):
    cluster, metrics = Cluster().queue("q").node("n1", cpu=4), Metrics()
    scheduler = Scheduler(cluster.cache(), conf)
    scheduler.run_once(metrics, now=NOW)
    assert metrics.value("queue_pod_group_pending_count", queue_name="q") == 0
    scheduler.cache.delete(next(obj for obj in cluster.objects() if obj.name == "q"))
    scheduler.run_once(metrics, now=NOW)
    assert 'queue_name="q"' not in metrics.text()


def test_what_is_gone_is_no_longer_reported():
    cluster, metrics = Cluster().queue("q").node("n1", cpu=4).job("j", queue="q", cpu=1), Metrics()
    scheduler = Scheduler(cluster.cache())
    scheduler.run_once(metrics, now=NOW)
    assert metrics.value("queue_weight", queue_name="q") == 1 and 'job_name="j"' in metrics.text()
    for obj in reversed(cluster.objects()):
        if obj.name in ("q", "j", "j-0"):
            scheduler.cache.delete(obj)
    scheduler.run_once(metrics, now=NOW)
    assert 'queue_name="q"' not in metrics.text() and '"j"' not in metrics.text()


def test_a_queue_that_is_created_again_has_no_device_of_the_one_before():
    cluster = Cluster().queue("q").node("n1", cpu=4, gpu=1).job("j", queue="q", cpu=1, gpu=1)
    metrics, cache = Metrics(), cluster.cache()
    scheduler, (queue, job) = Scheduler(cache), (cache.queues["q"].queue, cache.jobs["default/j"])
    devices = {"queue_name": "q", "resource": "nvidia.com/gpu"}
    for change, held in ((cache.delete, 1000), (cache.add, None), (cache.add, None)):
        scheduler.run_once(metrics, now=NOW)
        assert metrics.value("queue_allocated_scalar_resources", **devices) == held
        for obj in (queue, *(pod for pod in cache.pods.values()), job.pod_group):
            if change == cache.delete or obj is queue:
                change(obj)


def test_a_resource_that_a_queue_has_no_more_becomes_zero():
    cluster, metrics = Cluster().node("n1", cpu=4, gpu=2).job("j", cpu=1, gpu=1,
                                                              running={"n1": 1}), Metrics()
    scheduler = Scheduler(cluster.cache())
    scheduler.run_once(metrics, now=NOW)
    labels = {"queue_name": "default", "resource": "nvidia.com/gpu"}
    assert metrics.value("queue_allocated_scalar_resources", **labels) == 1000
    for pod in (obj for obj in cluster.objects() if obj.kind == "Pod"):
        scheduler.cache.delete(pod)
    scheduler.run_once(metrics, now=NOW)
    assert metrics.value("queue_allocated_scalar_resources", **labels) == 0


def measured():
    """A simulation of four jobs, one after the other, and what measures it."""
    metrics = Metrics()
    jobs = every(5, JobTemplate("a", cpu=1, run_time=3), count=4)
    sim = Simulation(Cluster().node("n1", cpu=4), workload=[jobs], observer=metrics)
    metrics.attach(sim.pipeline)
    return sim, metrics


@pytest.mark.long
def test_metrics_of_a_simulated_run():
    sim, metrics = measured()
    sim.run(until=40)
    assert metrics.value("e2e_scheduling_latency_milliseconds_count") == 40
    assert metrics.value("task_scheduling_latency_milliseconds_count"
                         ) == 8  # four pods, each when sent and when bound
    assert metrics.value("queue_allocated_milli_cpu", queue_name="default") == 0


@pytest.mark.long
def test_a_scheduler_that_restarts_is_still_measured():
    sim, metrics = measured()
    sim.run(until=7)
    sim.restart()
    sim.run(until=40)
    assert metrics.value("task_scheduling_latency_milliseconds_count") == 8


def test_nothing_is_measured_without_metrics():
    ssn = Scheduler(two_queues().cache()).run_once(now=NOW)
    assert not ssn.observer.watching


def test_metrics_change_no_decision():
    with_metrics, without = cycle(two_queues())[1], Scheduler(
        two_queues().cache()).run_once(now=NOW)
    assert with_metrics.committed == without.committed
    assert with_metrics.use_arrays == without.use_arrays


def test_the_documentation_lists_every_series():
    overused = next(row for row in catalogue() if row["name"] == "volcano_queue_overused")
    assert (overused["kind"], overused["labels"]) == ("gauge", "queue_name")
    for row in catalogue():
        assert row["meaning"] and row["source"]


@pytest.mark.parametrize(("written", "name"), [
    ("e2e_scheduling_duration_seconds", "e2e_scheduling_latency_milliseconds"),
    ("action_duration_seconds", "action_scheduling_latency_milliseconds"),
    ("plugin_scheduling_duration_seconds", "plugin_scheduling_latency_milliseconds"),
    ("task_schedule_duration_seconds", "task_scheduling_latency_milliseconds"),
    ("queue_allocated_memory)", "queue_allocated_memory_bytes"),
    ("queue_request_memory)", "queue_request_memory_bytes"),
    ("queue_deserved_memory)", "queue_deserved_memory_bytes"),
])
def test_a_name_that_documents_use_leads_to_the_series(written, name):
    (row,) = (row for row in catalogue() if written in row["meaning"])
    assert row["name"] == f"volcano_{name}"


def test_a_queue_s_amounts_are_reported_with_their_units():
    shown = {row.name: row.meaning for row in SERIES}
    assert shown["queue_allocated_milli_cpu"] == "what a queue has: CPU, in thousandths"


def test_effort_counts_every_record_that_is_noted():
    effort = Effort()
    for _ in range(3):
        effort.note("victims", node="n1")
    effort.note("claimant")
    assert effort.notes == {"victims": 3, "claimant": 1}


def test_a_pod_that_is_placed_before_its_creation_time_has_not_waited():
    metrics, cluster = Metrics(), Cluster().node("n1", cpu=4).job("a", cpu=2)
    Scheduler(cluster.cache()).run_once(metrics, now=0.0)
    assert metrics.value("task_scheduling_latency_milliseconds_count") == 1
    assert metrics.value("task_scheduling_latency_milliseconds_sum") == 0
