"""rescheduling: who has to leave busy nodes, by sentences. Nodes have 10 CPUs and 10 GiB; usage is
CPU, memory in percent.
"""

import pytest
from small_cluster import NOW, conf, group, names, node, pod, queue

from volcano_lab.api.node_usage import NodeUsage
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import ConfError, load_conf
from volcano_lab.framework.session import Session
from volcano_lab.plugins.kube.qos import qos_class
from volcano_lab.scheduler import Scheduler

LIMITS = "params: {thresholds: {cpu: 30, memory: 30}, targetThresholds: {cpu: 70, memory: 70}}"
STRATEGY = f"strategies: [{{name: lowNodeUtilization, {LIMITS}}}]"
PERIOD = "metricsPeriod: 10m"


def cluster(usage, pods, cordoned=()):
    """`usage`: node -> (cpu, memory); `pods`: name -> (node, words)."""
    nodes = [node(name, cpu="10", memory="10Gi", unschedulable=name in cordoned) for name in usage]
    cache = Cache([
        queue(),
        group("a"), *nodes, *(pod(name, "a", on, **words) for name, (on, words) in pods.items())
    ])
    for name, (cpu, memory) in usage.items():
        cache.nodes[name].resource_usage = NodeUsage.of(cpu, memory)
    return cache


def victims(cache, arguments=f"{PERIOD}, interval: 0s, {STRATEGY}", now=NOW, memory=None):
    plugin = f"{{name: rescheduling, arguments: {{{arguments}}}}}"
    ssn = Session(cache, load_conf(conf(plugin)), now=now, memory=memory)
    return names(ssn.victim_tasks([t for _, t in sorted(ssn.jobs["default/a"].tasks.items())]))


BUSY = {"n1": (90, 10), "n2": (10, 10)}
THREE = {f"a-{i}": ("n1", {}) for i in range(3)}


@pytest.mark.parametrize(
    ("sentence", "usage", "cordoned", "expected"),
    [
        ("two pods of 10 % go, then the node is below its target", {"n1": (85, 10), "n2":
                                                                    (10, 10)}, (), ["a-0", "a-1"]),
        ("at the target one more goes", {"n1": (90, 10), "n2":
                                         (10, 10)}, (), ["a-0", "a-1", "a-2"]),
        ("memory counts as well", {"n1": (10, 85), "n2": (10, 10)}, (), ["a-0", "a-1"]),
        ("not above its target", {"n1": (70, 70), "n2": (10, 10)}, (), []),
        ("no node can take more", {"n1": (90, 10), "n2": (30, 10)}, (), []),
        ("who could is cordoned", {"n1": (90, 10), "n2": (10, 10)}, ("n2", ), []),
        ("no node has too much", {"n1": (40, 40), "n2": (10, 10)}, (), []),
        ("all can take more", {"n1": (20, 20), "n2": (10, 10)}, (), []),
        ("the busier of two nodes first", {"n1": (75, 10), "n2": (10, 10), "n3":
                                           (75, 60)}, (), ["c-0", "a-0"]),
    ],
)
def test_victims(sentence, usage, cordoned, expected):
    pods = {**THREE, "c-0": ("n3" if "n3" in usage else "n2", {})}
    assert victims(cluster(usage, pods, cordoned)) == expected, sentence


@pytest.mark.parametrize(("capacity", "allocatable", "leave"), [
    ("10", "10", 3), ("20", "10", 5), ("10", "5", 3), ("", "10", 1)])
def test_what_a_pod_releases_is_counted_by_the_capacity_of_its_node(capacity, allocatable, leave):
    pods = {f"a-{number}": ("n1", {}) for number in range(8)}
    cache = cluster({"n1": (90, 10), "n2": (10, 10)}, pods)
    amounts = ({"cpu": cpu, "memory": "10Gi", "pods": "110"} if cpu else {}
             for cpu in (capacity, allocatable))
    status = dict(zip(("capacity", "allocatable"), amounts, strict=True))
    cache.update(cache.nodes["n1"].node.changed(status=status))
    assert victims(cache) == [f"a-{number}" for number in range(leave)]


@pytest.mark.parametrize(
    ("sentence", "cpu", "expected"),
    [
        ("two CPUs free for pods of one: two may be evicted", "1", ["a-0", "a-1"]),
        ("for pods of 1.5 more than is free is taken, and then stops nothing", "1500m",
         ["a-0", "a-1", "b-0", "b-1"]),
    ],
)
def test_headroom_stops_the_evictions_only_at_exactly_zero(sentence, cpu, expected):
    words = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    pods = {f"{job}-{i}": (on, words) for job, on in (("a", "n1"), ("b", "n3")) for i in range(3)}
    even = STRATEGY.replace("30", "70")  # who is below the target can take more
    usage = {"n1": (99, 10), "n2": (50, 10), "n3": (98, 10)}
    assert victims(cluster(usage, pods), f"{PERIOD}, interval: 0s, {even}") == expected, sentence


def test_the_least_important_pods_are_evicted_first():
    some, whole = {"requests": {"cpu": "1"}}, {"cpu": "1", "memory": "1Gi"}
    all_of_it = {"requests": whole, "limits": whole}
    pods = {
        "a-guaranteed": ("n1", {**all_of_it, "priority": 1}),
        "b-burstable": ("n1", {**some, "priority": 1}),
        "c-high": ("n1", {"requests": {}, "priority": 2}),
        "d-none": ("n1", all_of_it),
        "e-first": ("n1", {"requests": {}, "priority": 1}),
        "f-second": ("n1", {"requests": {}, "priority": 1}),
    }
    assert victims(cluster({"n1": (1000, 10), "n2": (10, 10)}, pods)) == [
        "d-none", "f-second", "e-first", "b-burstable", "a-guaranteed", "c-high"]


@pytest.mark.parametrize(
    ("sentence", "arguments", "expected"),
    [
        ("with the default period of 5m nothing is known of any node", f"interval: 0s, {STRATEGY}",
         0),
        ("thresholds of 100 make no node too busy", f"interval: 0s, {PERIOD}", 0),
        ("an unknown strategy names no pod",
         f"interval: 0s, {PERIOD}, strategies: [{{name: other, {LIMITS}}}]", 0),
        ("thresholds that are no mapping hide the targets",
         f"interval: 0s, {PERIOD}, strategies: [{{name: lowNodeUtilization, "
         "params: {thresholds: 5, targetThresholds: {cpu: 70}}}]", 0),
        ("only targets: every node below 100 % can take more, also this one",
         f"interval: 0s, {PERIOD}, strategies: "
         "[{name: lowNodeUtilization, params: {targetThresholds: {cpu: 70}}}]", 0),
        ("params that are no mapping leave nothing to go by",
         f"interval: 0s, {PERIOD}, strategies: [{{name: lowNodeUtilization, params: [5]}}]", 0),
        ("both", f"interval: 0s, {PERIOD}, {STRATEGY}", 3),
    ],
)
def test_arguments(sentence, arguments, expected):
    assert len(victims(cluster(BUSY, THREE), arguments)) == expected, sentence


@pytest.mark.parametrize("usage, arguments, expected", [
    ({"n1": (90, 10), "n2": (29, 29)}, STRATEGY, 3),
    ({"n1": (90, 10), "n2": (29, 30)}, STRATEGY, 0),
    ({"n1": (71, 10), "n2": (10, 10)}, STRATEGY, 1),
    ({"n1": (70, 71), "n2": (10, 10)}, STRATEGY, 1),
    ({"n1": (10, 10), "n2": (20, 20)}, STRATEGY, 0),
    ({"n1": (90, 10), "n2": (30, 30)}, STRATEGY, 0),
    (BUSY, f"{STRATEGY}, metricsPeriod: ''", 0), (BUSY, "strategies: []", 0),
    (BUSY, "strategies: [{name: lowNodeUtilization}]", 0),
    (BUSY, "strategies: [{name: lowNodeUtilization, params: {thresholds: {cpu: 30}, "
           "targetThresholds: {cpu: 70, memory: 5}}}]", 3),
    (BUSY, f"strategies: [{{name: lowNodeUtilization, {LIMITS}}}, {{name: other}}]", 3)])
def test_where_low_and_busy_begin(usage, arguments, expected):
    period = "" if "metricsPeriod" in arguments else f"{PERIOD}, "
    assert len(victims(cluster(usage, THREE), f"{period}interval: 0s, {arguments}")) == expected


def test_a_node_that_can_take_more_loses_none_though_it_is_above_the_target():
    pods = {**THREE, "c-0": ("n3", {})}
    low = f"{PERIOD}, interval: 0s, " + STRATEGY.replace("{cpu: 30", "{cpu: 85")
    assert victims(cluster({"n1": (90, 10), "n3": (80, 10)}, pods), low) == ["a-0", "a-1", "a-2"]
    assert victims(cluster({"n1": (80, 10), "n3": (0, 10)}, pods), low) == []


@pytest.mark.parametrize("given, doubt", [
    ("5", "strategies is 5, allowed is a list; lowNodeUtilization is used"),
    ("[5]", "strategies[0] is 5, allowed is a mapping with the name lowNodeUtilization and a "
            "mapping params; it has no effect"), ("[]", ""),
    ("thresholds: 5", "thresholds is 5, allowed is a mapping with cpu and memory; 100 percent of "
                      "each is used"),
    ("thresholds: {cpu: 0, memory: 100, pod: 5}", ""),
    ("thresholds: {cpu: 101}", "thresholds.cpu is 101, allowed is 0 to 100 of cpu and memory; "
                               "Volcano computes with it as it is"),
    ("targetThresholds: {memory: -1}", "targetThresholds.memory is -1, allowed is 0 to 100 of cpu "
                                       "and memory; Volcano computes with it as it is"),
    ("thresholds: {pod: 101}", "thresholds.pod is 101, allowed is 0 to 100 of cpu and memory; it "
                               "has no effect"),
    ("thresholds: {gpu: 5}", "thresholds.gpu is 5, allowed is 0 to 100 of cpu and memory; it has "
                             "no effect")])
def test_arguments_without_the_effect_that_they_seem_to_have(given, doubt):
    if given[0] == "t":
        given = f"[{{name: lowNodeUtilization, params: {{{given}}}}}]"
        doubt = doubt and f"lowNodeUtilization's {doubt}"
    plugin = f"{{name: rescheduling, arguments: {{strategies: {given}}}}}"
    ssn = Session(cluster(BUSY, THREE), load_conf(conf(plugin)), now=NOW)
    assert [*map(str, ssn.warnings)] == [f'plugin "rescheduling": argument {doubt}'] * bool(doubt)


@pytest.mark.parametrize(("capacity", "allocatable", "leave"), [
    ("10", "10", 2), ("10", "", 2), ("10", "2", 4), ("20", "10", 2), ("5", "10", 2), ("", "10", 2)])
def test_what_other_nodes_can_take_is_counted_by_allocatable_or_else_capacity(
        capacity, allocatable, leave):
    """Below its target n2 has 20 % left: two CPUs of 10, and exactly 0 after two pods; of two CPUs
    less than a pod requests, so that it is never exactly 0.
    """
    pods = {f"a-{number}": ("n1", {}) for number in range(4)}
    cache = cluster({"n1": (100, 10), "n2": (50, 10)}, pods)
    amounts = ({"cpu": cpu, "memory": "10Gi", "pods": "110"} if cpu else {}
             for cpu in (capacity, allocatable))
    status = dict(zip(("capacity", "allocatable"), amounts, strict=True))
    cache.update(cache.nodes["n2"].node.changed(status=status))
    found = victims(cache, f"{PERIOD}, interval: 0s, " + STRATEGY.replace("30", "60"))
    assert len(found) == leave


def test_it_runs_once_an_interval_and_first_when_one_has_passed():
    memory, ran = {}, []
    for later in (0, 299, 300, 301, 600, 601):
        ran.append(bool(victims(cluster(BUSY, THREE), f"{PERIOD}, {STRATEGY}", NOW + later,
                                memory)))
    assert ran == [False, False, True, False, False, True]


def test_thresholds_that_are_no_whole_numbers_are_refused_with_a_sentence():
    with pytest.raises(ConfError) as error:
        victims(cluster(BUSY, THREE),
                "strategies: [{name: lowNodeUtilization, params: {thresholds: {cpu: 20.5}}}]")
    assert str(
        error.value) == ("scheduler configuration: plugin rescheduling: thresholds.cpu is 20.5; "
                         "allowed is a whole number of percent.")


def test_shuffle_evicts_them():
    text = conf(f"{{name: rescheduling, arguments: {{{PERIOD}, interval: 0s, {STRATEGY}}}}}",
                actions="shuffle")
    ssn = Scheduler(cluster(BUSY, THREE), text).run_once(now=NOW)
    assert [operation[:2] for operation in ssn.committed] == [["evict", f"default/a-{i}"]
                                                              for i in range(3)]


@pytest.mark.parametrize(
    ("sentence", "requests", "limits", "expected"),
    [
        ("nothing at all", {}, {}, "BestEffort"),
        ("nothing but zeros", {"cpu": "0"}, {}, "BestEffort"),
        ("only other resources", {"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1"}, "BestEffort"),
        ("limits of one resource", {"cpu": "1"}, {"cpu": "1"}, "Burstable"),
        ("limits above requests", {"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"
                                                                  }, "Burstable"),
        ("limits as requests", {"cpu": "1", "memory": "1Gi"}, {"cpu": "1000m", "memory": "1024Mi"
                                                               }, "Guaranteed"),
    ],
)
def test_quality_of_service(sentence, requests, limits, expected):
    assert qos_class(pod("p", requests=requests, limits=limits)) == expected, sentence
