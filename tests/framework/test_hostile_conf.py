"""Configurations that no one would write: each runs, or ends in one short sentence, and soon."""

import random
import signal
import time

import pytest
import yaml

from manifests import hostile
from volcano_lab.cache import Cache
from volcano_lab.framework.config.conf import ConfError, load_conf
from volcano_lab.framework.config.yaml import documents
from volcano_lab.framework.plugin import plugin_names
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.loader import loads
from volcano_lab.scheduler import Scheduler, run_cycle

AROUND = with_defaults(loads(hostile.AROUND))
NUMBERS = [float("inf"), float("-inf"), float("nan"), 2**62, -2**62]
VALUES = [value for value in hostile.VALUES if value != "x" * 300] + NUMBERS
ACTIONS = ("allocate", "backfill", "enqueue", "preempt", "reclaim", "shuffle")


def arguments_of(name: str) -> list[str]:
    """The arguments that a plugin or action reads, and how the examples nest them."""
    cache, asked = Cache(AROUND), set()
    conf = load_conf(f"actions: allocate\ntiers: [{{plugins: [{{name: {name}}}]}}]")
    ssn = Scheduler(cache, conf).run_once()
    for tier in ssn.conf.tiers:
        for option in tier.plugins:
            asked |= option.arguments.asked
    return sorted(asked) or ["weight"]


def nested(rng: random.Random, value: object) -> object:
    """A value within lists and mappings, or not."""
    shape = rng.random()
    if shape < 0.6:
        return value
    keys = ["cpu", "memory", "mem", "enable", "weight", "resources", "resourceWeight", "name",
            "params", "thresholds", "targetThresholds", "resourceProportion", "type",
            "nvidia.com/gpu", "a*b"]
    inner = {rng.choice(keys): nested(rng, value) for _ in range(rng.randint(1, 3))}
    return inner if shape < 0.85 else [inner]


def cases(count: int, seed: int) -> list[str]:
    """So many texts of configurations."""
    rng, found = random.Random(seed), []
    known = {name: arguments_of(name) for name in plugin_names() if name in MODELLED}
    for _ in range(count):
        plugins = [{"name": name, "arguments": {
            rng.choice([*known[name], name + ".x"]): nested(rng, rng.choice(VALUES))
            for _ in range(rng.randint(1, 3))}} for name in rng.sample(sorted(known), 2)]
        data = {"actions": ", ".join(rng.sample(ACTIONS, 3)), "tiers": [{"plugins": plugins}],
                "configurations": [{"name": rng.choice(ACTIONS), "arguments": {
                    rng.choice(ACTION_ARGUMENTS): nested(rng, rng.choice(VALUES))}}]}
        if rng.random() < 0.3:
            place = rng.choice([data, plugins[0], data["tiers"][0], data["configurations"][0]])
            place[rng.choice(sorted(place))] = rng.choice(VALUES)
        text = yaml.safe_dump(data)
        if rng.random() < 0.2:
            start = rng.randrange(len(text))
            text = text[:start] + rng.choice(" :-,{}[]&*!|>%@`'\"#?\t\n\0") + text[start + 1:]
        found.append(text)
    return found


MODELLED = {"binpack", "capacity", "cdp", "conformance", "drf", "gang", "network-topology-aware",
            "nodegroup", "nodeorder", "overcommit", "pdb", "predicates", "priority", "proportion",
            "rescheduling", "resource-strategy-fit", "resourcequota", "sla", "task-topology", "tdm",
            "usage"}
ACTION_ARGUMENTS = ["overcommit-factor", "enableTopologyAwarePreemption",
                    "predicateErrorCacheEnable", "topologyAwarePreemptWorkerNum",
                    "minCandidateNodesPercentage", "x",
                    "minCandidateNodesAbsolute", "maxCandidateNodesAbsolute"]


def use(text: str) -> None:
    run_cycle(Cache(AROUND), load_conf(text))


def tried(count: int, seed: int) -> list[str]:
    return [f"{problem}: {text[:500]}" for text in cases(count, seed)
            if (problem := hostile.failure(text, use, (ConfError,)))]


def test_the_modelled_plugins_are_all_there_are():
    assert set(plugin_names()) >= MODELLED


@pytest.mark.long
def test_bad_configurations_run_or_end_in_a_sentence():
    assert tried(150, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_thousand_bad_configurations_do(seed):
    assert tried(200, seed=100 + seed) == []


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan", "abc", "[]"])
@pytest.mark.parametrize("name", ["resourceStrategyFitWeight", "sra: {enable: true, weight",
                                  "resources: {cpu: {weight"])
def test_resource_strategy_fit_refuses_what_is_no_number(name, value):
    text = (f"actions: allocate\ntiers: [{{plugins: [{{name: resource-strategy-fit, "
            f"arguments: {{{name}: {value}{'}' * name.count('{')}}}}}]}}]")
    with pytest.raises(ConfError, match="allowed is a whole number"):
        use(text)


def test_an_empty_entry_of_a_list_says_nothing():
    conf = load_conf("actions: allocate\ntiers: [null, {plugins: [null, {name: gang}]}]\n"
                     "configurations: [null]")
    assert conf.plugin_names() == ["", "gang"]


def test_an_action_that_does_not_exist_has_no_arguments_and_is_reported():
    conf = load_conf("actions: allocate\nconfigurations: [{name: alocate, arguments: {a: 1}}]")
    assert [*map(str, conf.warnings)] == [
        'scheduler configuration: configurations names "alocate" and has no effect; known are '
        "allocate, backfill, enqueue, preempt, reclaim, shuffle."]


def test_a_long_value_is_shortened_in_warnings(caplog):
    use("actions: allocate\ntiers: [{plugins: [{name: binpack, "
        f"arguments: {{binpack.weight: {'9' * 5000}}}}}]}}]")
    (shown,) = [text for text in caplog.messages if "binpack.weight" in text]
    assert len(shown) < 300 and shown.isprintable()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_a_signal_is_handled_within_one_long_value():
    class Heard(Exception):
        pass

    def hear(*_):
        raise Heard

    text = "a: " + "x" * 20_000_000
    start = time.thread_time()
    list(documents(text))
    whole, before = time.thread_time() - start, signal.signal(signal.SIGVTALRM, hear)
    signal.setitimer(signal.ITIMER_VIRTUAL, whole / 20)
    try:
        start = time.thread_time()
        with pytest.raises(Heard):
            list(documents(text))
        assert time.thread_time() - start < whole * 2 / 3
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
