"""usage: busy nodes, by sentences. Usage is in percent of CPU and memory; the cycle is at 08:00."""

import math

import pytest
from small_cluster import NOW, conf, group, node, open_session, pod, queue, run, task

from volcano_lab.api.node_usage import NodeUsage
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.framework.placement.arrays import node_arrays
from volcano_lab.framework.session import Session

CPU = "the CPU load of the node exceeds the upper limit."
MEMORY = "the memory load of the node exceeds the upper limit."


def session(usage=None, arguments=""):
    cache = Cache([queue(), node("n1"), group("a"), pod("a-0", "a")])
    if usage is not None:
        cache.nodes["n1"].resource_usage = NodeUsage.of(*usage)
    return Session(cache, load_conf(conf(f"{{name: usage, arguments: {{{arguments}}}}}")), now=NOW)


def answers(ssn):
    """(reason, score) of the only node."""
    asked, n1 = task(ssn, "a-0"), ssn.nodes["n1"]
    error = ssn.predicate_for_allocate(asked, n1)
    return error and error.reasons[0], ssn.node_order(asked, n1)


@pytest.mark.parametrize(
    ("sentence", "usage", "arguments", "reason", "score"),
    [
        ("no usage is measured", None, "", None, 0.0),
        ("half busy", (50, 50), "", None, 250.0),
        ("idle", (0, 0), "", None, 500.0),
        ("busy by the hair that is allowed", (80, 80), "", None, 100.0),
        ("too busy", (80.5, 0), "", CPU, 297.5 + 1.25),
        ("too much memory in use", (0, 81), "", MEMORY, 297.5),
        ("both: the CPU is named", (90, 90), "", CPU, 50.0),
        ("measured five minutes ago", (90, 0, NOW - 300), "", CPU, 275.0),
        ("measured longer ago: nothing is known", (90, 0, NOW - 301), "", None, 0.0),
        ("a limit of its own", (50, 0), "thresholds: {cpu: 40}", CPU, 375.0),
        ("its own limit of memory", (50, 50), "thresholds: {mem: 40}", MEMORY, 250.0),
        ("the limit of memory is called mem", (0, 50), "thresholds: {memory: 40}", None, 375.0),
        ("a limit that is no whole number is 0", (1, 0), "thresholds: {cpu: 40.5}", CPU, 497.5),
        ("limits that are no mapping are 80", (81, 0), "thresholds: 10", CPU, 297.5),
        ("weights", (100, 0),
         "usage.weight: 1, cpu.weight: 3, memory.weight: 1, thresholds: {cpu: 100}", None, 25.0),
        ("no weight at all", (0, 0), "cpu.weight: 0, memory.weight: 0", None, 0.0),
    ],
)
def test_one_node(sentence, usage, arguments, reason, score):
    ssn = session(usage, arguments)
    found = answers(ssn)
    assert found == (reason, pytest.approx(score)), sentence
    arrays, asked = node_arrays(ssn), task(ssn, "a-0")
    at_once = arrays.predicates[0](asked).tolist(), arrays.orders[0](asked).tolist()
    assert at_once == ([reason is None], [found[1]])


@pytest.mark.parametrize("usage", [NodeUsage(NOW, {"10m": 10.0}),
                                   NodeUsage(NOW, {}, {"10m": 10.0})])
def test_a_node_of_which_half_is_measured_has_no_score(usage):
    ssn = session()
    ssn.nodes["n1"].resource_usage = usage
    assert answers(ssn) == (None, 0.0)


@pytest.mark.parametrize(("thresholds", "warnings"), [
    ("{cpu: 0, mem: 100}", []),
    ("{cpu: 101}", ["thresholds.cpu is 101, allowed is a whole number from 0 to 100; Volcano"]),
    ("{mem: -1}", ["thresholds.mem is -1, allowed is a whole number from 0 to 100; Volcano"]),
    ("{mem: 1.5}", ["thresholds.mem is 1.5, allowed is a whole number from 0 to 100; 0 is used"]),
    ("{cpu: true}", ["thresholds.cpu is True, allowed is a whole number from 0 to 100; 0 is used"]),
    ("{memory: 40}", ["thresholds.memory is 40, allowed is cpu and mem; it has no effect (the "
                      "default is 80%)"]),
    ("10", ["thresholds is 10, allowed is a mapping with cpu and mem; 80% is used for both"])])
def test_limits_that_make_no_sense_are_warned_about(thresholds, warnings):
    plugin = session(arguments=f"thresholds: {thresholds}").plugins["usage"]
    found = [*map(str, plugin.arguments.warnings)]
    assert len(found) == len(warnings)
    assert all(words in sentence for words, sentence in zip(warnings, found, strict=True))


def test_annotations_set_usage_too():
    busy = node("n1", annotations={"volcano-lab/cpu-usage": "85"})
    ssn = open_session(queue(), busy, group("a"), pod("a-0", "a"), plugins="usage")
    assert ssn.nodes["n1"].resource_usage.metrics_time == math.inf
    assert answers(ssn) == (CPU, pytest.approx(287.5))


def test_pods_are_placed_on_the_less_busy_node_and_never_on_busy_ones_by_default():
    nodes = [
        node(f"n{i}", annotations={"volcano-lab/cpu-usage": cpu})
        for i, cpu in enumerate(("95", "90", "30", "60"))
    ]
    objects = queue(), *nodes, group("a"), pod("a-0", "a")
    assert run(*objects, conf=conf("usage")).committed == [["allocate", "default/a-0", "n2"]]
    busy = run(queue(), *nodes[:2], group("a"), pod("a-0", "a"), conf=conf("usage"))
    assert str(busy.jobs["default/a"].nodes_fit_errors["uid-a-0"]
               ) == f"0/2 nodes are unavailable: 2 {CPU}."
    lenient = run(queue(), *nodes[:2], group("a"), pod("a-0", "a"),
                  conf=conf("{name: usage, enablePredicate: false}"))
    assert lenient.committed == [["allocate", "default/a-0", "n1"]]
