"""Unused and senseless arguments of plugins are reported."""

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.arguments import NOT_MODELLED
from volcano_lab.framework.config.conf import ConfError, load_conf

KNOWN = {  # what Volcano v1.14.0 reads
    "binpack": {"binpack.weight": 1, "binpack.cpu": 1, "binpack.memory": 1,
                "binpack.resources": "nvidia.com/gpu", "binpack.resources.nvidia.com/gpu": 2},
    "capacity": {},
    "network-topology-aware": {"weight": 1, "hypernode.binpack.cpu": 1,
                               "hypernode.binpack.memory": 1,
                               "hypernode.binpack.resources": "a.b/c",
                               "hypernode.binpack.resources.a.b/c": 1,
                               "hypernode.binpack.normal-pod.enable": True,
                               "hypernode.binpack.normal-pod.fading": 0.8},
    "nodegroup": {"strict": True},
    "nodeorder": {f"{name}.weight": 1 for name in (
        "leastrequested", "mostrequested", "nodeaffinity", "podaffinity", "balancedresource",
        "tainttoleration", "imagelocality", "podtopologyspread")},
    "overcommit": {"overcommit-factor": 1.2},
    "predicates": {f"predicate.{name}Enable": True for name in (
        "NodeAffinity", "NodePorts", "TaintToleration", "PodAffinity", "NodeVolumeLimits",
        "VolumeZone", "PodTopologySpread", "Cache", "VolumeBinding",
        "DynamicResourceAllocation")} |
                  {"volumebinding.weight": 1, "dynamicresources.filterTimeoutSeconds": 1},
    "rescheduling": {"interval": "5m", "metricsPeriod": "5m", "strategies": []},
    "resource-strategy-fit": {"resourceStrategyFitWeight": 10, "resources": {}, "sra": {},
                              "proportional": {}},
    "sla": {"sla-waiting-time": "1h"},
    "task-topology": {"task-topology.weight": 10},
    "tdm": {"tdm.revocable-zone.rz1": "10:00-21:00", "tdm.evict.period": "1m"},
    "usage": {"usage.weight": 5, "cpu.weight": 1, "memory.weight": 1, "thresholds": {"cpu": 80}},
}


def warnings(plugin: str, arguments: dict) -> list[str]:
    conf = load_conf(f"actions: allocate\ntiers: [{{plugins: [{{name: {plugin}}}]}}]")
    conf.tiers[0].plugins[0].arguments.update(arguments)
    shown = [*map(str, Cluster().node("n1", cpu=4).run(conf).session.warnings)]
    return [text for text in shown if "argument" in text]


@pytest.mark.parametrize("plugin", KNOWN)
def test_what_volcano_reads_is_known(plugin):
    assert warnings(plugin, KNOWN[plugin]) == []


@pytest.mark.parametrize(("plugin", "argument", "meant"), [
    ("binpack", "binpack.weigth", "binpack.weight"),
    ("nodeorder", "leastrequested.weigh", "leastrequested.weight"),
    ("overcommit", "overcommit-faktor", "overcommit-factor"),
    ("predicates", "predicate.GPUSharingEnable", "predicate."),
    ("tdm", "tdm.revokable-zone.rz1", None),
    ("gang", "anything", None),
])
def test_an_argument_that_nothing_reads_is_named(plugin, argument, meant):
    (found,) = warnings(plugin, {argument: 1})
    assert found.startswith(
        f'plugin "{plugin}": argument {argument} is not known and has no effect')
    assert meant is None or f"did you mean {meant}" in found


def test_ones_own_plugin_may_read_its_arguments_when_it_likes():
    from volcano_lab.framework.plugin import Plugin
    from volcano_lab.framework.registry import registered

    class Late(Plugin):
        name = "late"

        def job_order(self, left, right):
            return self.arguments.get_int("whenever", 0)

    with registered(plugin={"late": Late}):
        assert warnings("late", {"whenever": 1}) == []



ABSURD = [-1, float("nan"), float("-inf"), "no such thing", [5], {"a": 1}, True]
FITS = {"binpack.resources": str, "hypernode.binpack.resources": str, "strict": bool,
        "metricsPeriod": str, "hypernode.binpack.normal-pod.enable": bool}
"""What takes any value of a type."""


@pytest.mark.parametrize(("plugin", "argument"), [
    (plugin, argument) for plugin, known in KNOWN.items() for argument in known
    if argument not in NOT_MODELLED])
def test_no_absurd_value_is_taken_without_a_word(plugin, argument):
    for value in ABSURD:
        if isinstance(value, FITS.get(argument, ())) or argument.startswith("predicate."):
            value = 5
        try:
            shown = warnings(plugin, KNOWN[plugin] | {argument: value})
        except ConfError as refused:
            shown = refused.problems
        assert any(argument in sentence and "; " in sentence for sentence in shown), value


@pytest.mark.parametrize(("argument", "value", "sentence"), [
    ("enableTopologyAwarePreemption", 1, "is 1, allowed is true or false; False is used"),
    ("minCandidateNodesPercentage", -5, "is -5, allowed is 0 or more; Volcano computes with it as "
                                        "it is"),
    ("minCandidatNodesAbsolute", 1, "is not known and has no effect; did you mean "
                                    "minCandidateNodesAbsolute?"),
])
def test_the_arguments_of_actions_too(argument, value, sentence):
    conf = load_conf(f"actions: preempt\nconfigurations: [{{name: preempt, "
                     f"arguments: {{{argument}: {value}}}}}]")
    for _ in range(2):  # another cycle adds no warning
        shown = [*map(str, Cluster().node("n1", cpu=4).run(conf).session.warnings)]
        assert shown == [f'action "preempt": argument {argument} {sentence}']


@pytest.mark.parametrize("hours", [5, "noon"])
def test_invalid_hours_of_a_zone_are_warned_about_once(hours):
    (found,) = warnings("tdm", {"tdm.revocable-zone.rz1": hours})
    assert f"tdm.revocable-zone.rz1 is {hours!r}".replace("'", '"') in found.replace("'", '"')


@pytest.mark.parametrize(("arguments", "said"), [
    ({"sra": {"enable": True, "weight": -1}}, "argument sra.weight is -1, allowed is 0 or more; 0"),
    ({"sra": {"enable": True, "weight": 0}}, ""), ({"sra": {"weight": -1}}, ""),
    ({"sra": {"enable": True, "resources": "cpu", "resourceWeight": {"cpu": -1}}},
     "argument sra.resourceWeight.cpu is -1, allowed is 0 or more; 1"),
    ({"sra": {"enable": True, "resources": "cpu", "resourceWeight": {"cpu": 0}}}, ""),
    ({"resources": {"c*u": {"weight": 1}}}, "argument resources is c*u"),
    ({"resources": {"cpu": {"type": "Most"}}}, "argument resources.cpu.type is Most"),
    ({"resourceStrategyFitWeight": -1}, "argument resourceStrategyFitWeight is -1")])
def test_numbers_that_are_too_low_are_warned_about_with_what_is_used(arguments, said):
    found = warnings("resource-strategy-fit", arguments)
    assert len(found) == bool(said) and said in "".join(found).replace("'", "")
