"""The scheduler configuration is read, defaulted and refused as Volcano does."""

import logging

import pytest

from volcano_lab.framework.action import Action, register_action, unregister_action
from volcano_lab.framework.config.arguments import Arguments
from volcano_lab.framework.config.conf import ACTIONS, ConfError, PluginOption, load_conf
from volcano_lab.framework.config.yaml import resolve
from volcano_lab.framework.points.table import SWITCHES

TIERS = "actions: allocate\ntiers:\n- plugins:\n"


def plugin(lines: str) -> PluginOption:
    """The only plugin of a configuration whose entry has these lines."""
    return load_conf(TIERS + "  - " + "\n    ".join(lines.split("\n"))).tiers[0].plugins[0]


def test_without_text_volcanos_default_holds():
    conf = load_conf()
    assert conf.actions == ["enqueue", "allocate", "backfill"]
    assert conf.plugin_names() == [
        "priority",
        "gang",
        "conformance",
        "overcommit",
        "drf",
        "predicates",
        "proportion",
        "nodeorder",
    ]
    assert [len(tier.plugins) for tier in conf.tiers] == [3, 5]


KEYS = ["enableJobOrder", "enableHierarchy", "enableJobReady", "enableJobPipelined",
        "enableTaskOrder", "enablePreemptable", "enableReclaimable", "enablePreemptive",
        "enableQueueOrder", "EnabledClusterOrder", "enablePredicate", "enableBestNode",
        "enableNodeOrder", "enableTargetJob", "enableReservedNodes", "enableJobEnqueued",
        "enabledVictim", "enableJobStarving", "enabledOverused", "enabledAllocatable",
        "enabledHyperNodeOrder", "enabledSubJobReady", "enabledSubJobPipelined",
        "enabledSubJobOrder", "enabledHyperNodeGradient"]
"""The keys of `PluginOption` in Volcano's `conf/scheduler_conf.go`, in its order."""


def test_every_switch_of_volcano_belongs_to_an_extension_point_or_is_the_hierarchy():
    assert sorted(KEYS) == sorted({"enableHierarchy", *SWITCHES})


@pytest.mark.parametrize("key", KEYS)
def test_a_switch_is_on_unless_set_except_hierarchy_and_cluster_order(key):
    unset = key not in ("enableHierarchy", "EnabledClusterOrder")
    assert plugin("name: drf").enables(key) is unset
    assert plugin(f"name: drf\n{key}:").enables(key) is unset
    assert plugin(f"name: drf\n{key}: false").enables(key) is False
    assert plugin(f"name: drf\n{key}: true").enables(key) is True


REFUSED = [
    ("an unknown action", "actions: alocate",
     'actions names "alocate"; allowed are allocate'),
    ("actions of an earlier version", "actions: 'enqueue, elect, allocate, reserve'",
     'actions names "elect" and "reserve"; allowed are allocate'),
    ("no action", "tiers: []", "actions is missing; allowed are allocate, backfill, enqueue"),
    ("nothing at all", "", "actions is missing; allowed are "),
    ("a comma too many", "actions: 'allocate, '", 'actions names ""'),
    ("actions as a list", "actions: [allocate]", "actions (line 1) is a list; allowed is text"),
    ("tiers as a mapping", "actions: allocate\ntiers: {a: 1}",
     "tiers (line 2) is a mapping; allowed is a list"),
    ("a plugin as text", TIERS + "  - gang",
     'tiers[0].plugins[0] (line 4) is "gang"; allowed is a mapping'),
    (
        "a switch that is text",
        TIERS + "  - name: gang\n    enableJobOrder: maybe",
        'tiers[0].plugins[0].enableJobOrder (line 5) is "maybe"; allowed is true or false',
    ),
    ("a quoted switch", TIERS + "  - name: gang\n    enableJobOrder: 'true'",
     "allowed is true or false"),
    ("a number as a switch", TIERS + "  - name: gang\n    enableJobOrder: 1",
     "allowed is true or false"),
    ("arguments as a list", TIERS + "  - name: gang\n    arguments: [1]",
     "arguments (line 5) is a list"),
    ("no YAML", "actions: [", ": not valid YAML"),
    (
        "proportion beside hierarchical drf",
        TIERS + "  - name: drf\n    enableHierarchy: true\n  - name: proportion",
        "tiers[0] has proportion beside drf with enableHierarchy",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])
def test_refused_with_one_sentence(text, sentence):
    with pytest.raises(ConfError) as refused:
        load_conf(text)
    assert len(refused.value.problems) == 1
    assert sentence in str(refused.value) and str(
        refused.value).startswith("scheduler configuration: ")


def test_all_misfits_are_reported_at_once():
    with pytest.raises(ConfError) as refused:
        load_conf(TIERS + "  - name: gang\n    enableJobOrder: 3\n    enableJobReady: x")
    assert len(refused.value.problems) == 2


ACCEPTED = [
    (
        "hierarchical drf in another tier",
        TIERS + "  - {name: drf, enableHierarchy: true}\n- plugins:\n  - name: proportion",
    ),
    (
        "another plugin's hierarchy beside proportion",
        TIERS + "  - {name: capacity, enableHierarchy: true}\n  - name: proportion",
    ),
    ("an unknown plugin", TIERS + "  - name: no-such-plugin"),
    ("spaces around actions", "actions: ' enqueue ,allocate'"),
    ("an action twice", "actions: allocate, allocate"),
    ("every action", f"actions: {','.join(ACTIONS)}"),
    ("an anchor merged in",
     TIERS + "  - &a {name: gang, enableJobOrder: off}\n  - {<<: *a, name: drf}"),
]


@pytest.mark.parametrize("text", [case[1] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_accepted_without_warning(text):
    assert load_conf(text).warnings == []


def test_a_merged_anchor_gives_its_values_and_yields_to_own_ones():
    gang, drf = load_conf(ACCEPTED[-1][1]).tiers[0].plugins
    assert (gang.name, drf.name, drf.enables("enableJobOrder")) == ("gang", "drf", False)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (TIERS + "  - name: gang\n    enabledQueueOrder: false", "did you mean enableQueueOrder?"),
        (TIERS + "  - name: gang\n    ennableJobOrder: false", "did you mean enableJobOrder?"),
        (TIERS + "  - name: overcommit\n    overcommit-factor: 2",
         "arguments of a plugin are read below its field arguments"),
        ("actions: allocate\nacttions: x", "line 2: acttions is not known"),
        ("actions: allocate\nfoo: {bar: 1}",
         "known here are actions, tiers, configurations, metrics"),
        ("actions: allocate\n---\nactions: nothing", "only its first document is read"),
        ("actions: allocate\n---\n: [", None),
        ("actions: enqueue\nactions: allocate",
         "line 2: actions is given twice; the last one counts"),
    ],
)
def test_a_key_without_effect_is_named(text, warning):
    found = [*map(str, load_conf(text).warnings)]
    assert load_conf(text).actions == ["allocate"] or "tiers" in text
    assert len(found) == (warning is not None) and all(warning in text for text in found)


@pytest.mark.parametrize(("text", "value"), [("null", True), ("~", True), ("Null", False),
                                             ("NULL", False)])
def test_null_is_not_set_only_in_two_spellings(text, value):
    assert plugin(f"name: gang\nenableJobOrder: {text}").enables("enableJobOrder") is value


def test_a_misspelt_switch_leaves_the_real_one_at_its_default():
    assert plugin("name: gang\nenabledQueueOrder: false").enables("enableQueueOrder")


def test_action_arguments_are_those_of_the_first_entry_of_that_name():
    conf = load_conf(
        "actions: preempt\nconfigurations:\n"
        "- name: preempt\n  arguments: {enableTopologyAwarePreemption: true}\n"
        "- name: preempt\n  arguments: {enableTopologyAwarePreemption: false}")
    assert conf.action_arguments("preempt").get_bool("enableTopologyAwarePreemption", False) is True
    assert conf.action_arguments("allocate") == {}


def test_metrics_are_text():
    assert load_conf(
        "actions: allocate\nmetrics: {type: prometheus, interval: 30, tls: yes}").metrics == {
            "type": "prometheus",
            "interval": "30",
            "tls": "yes",
        }


def test_arguments_keep_their_nested_shape():
    option = plugin(
        "name: resource-strategy-fit\narguments:\n  resources:\n"
        "    cpu: {type: MostAllocated, weight: 2}"
    )
    assert option.arguments["resources"] == {"cpu": {"type": "MostAllocated", "weight": 2}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True),
        ("Yes", True),
        ("on", True),
        ("n", False),
        ("OFF", False),
        ("yEs", "yEs"),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0x1F", 31),
        ("010", 8),
        ("0o17", 15),
        ("0b101", 5),
        ("1_000", 1000),
        ("09", 9.0),
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("3m", "3m"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("99999999999999999999", 1e20),
        ("18446744073709551615", 2**64 - 1),
        ("_1", "_1"),
    ],
)
def test_plain_scalars_have_the_values_of_yaml_v2(text, value):
    found = resolve(text)
    assert found == value and type(found) is type(value)


READINGS = [
    ("get_int", 7, 7),
    ("get_int", 0, 0),
    ("get_int", 7.0, None),
    ("get_int", "7", None),
    ("get_int", True, None),
    ("get_float", 1.5, 1.5),
    ("get_float", 2, 2.0),
    ("get_float", "2", None),
    ("get_float", True, None),
    ("get_bool", False, False),
    ("get_bool", 0, None),
    ("get_bool", "true", None),
    ("get_string", "", ""),
    ("get_string", "x", "x"),
    ("get_string", 1, None),
    ("get_string", None, None),
]


@pytest.mark.parametrize(("getter", "value", "expected"), READINGS)
def test_an_argument_of_the_wrong_type_keeps_the_default_with_a_warning(
        getter, value, expected, caplog):
    default = {"get_int": 42, "get_float": 4.2, "get_bool": True, "get_string": "default"}[getter]
    with caplog.at_level(logging.WARNING):
        found = getattr(Arguments({"key": value}), getter)("key", default)
    assert found == (default if expected is None else expected)
    assert bool(caplog.records) == (expected is None)
    assert getattr(Arguments(), getter)("key", default) == default


@pytest.mark.parametrize(("value", "found", "doubts"), [
    (1.0, 1.0, 0), (1, 1.0, 0), (0.5, 2.0, 1), (3.5, 3.5, 0), (float("inf"), float("inf"), 1),
    (float("-inf"), 2.0, 1)])
def test_a_number_may_be_the_least_that_is_allowed(value, found, doubts):
    arguments = Arguments({"key": value})
    assert arguments.get_float("key", 2.0, least=1.0) == found
    assert len(arguments.warnings) == doubts


@pytest.mark.parametrize(("value", "below_zero", "found", "doubts"), [
    (0, None, 0, 0), (0, 1, 0, 0), (-1, None, -1, 1), (-1, 1, 1, 1), (-1, -1, -1, 1)])
def test_a_weight_may_be_zero(value, below_zero, found, doubts):
    arguments = Arguments({"key": value})
    assert arguments.get_weight("key", 5, below_zero) == found
    assert len(arguments.warnings) == doubts


def test_a_user_defined_action_is_allowed_while_it_is_registered():
    class Nap(Action):
        name = "nap"

        def execute(self, ssn):
            """Do nothing."""

    register_action("nap", Nap)
    try:
        assert load_conf("actions: nap, allocate").actions == ["nap", "allocate"]
    finally:
        unregister_action("nap")
    with pytest.raises(ConfError, match=f'actions names "nap"; allowed are {", ".join(ACTIONS)}'):
        load_conf("actions: nap, allocate")
