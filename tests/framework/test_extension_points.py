"""Extension points: how answers combine, by sentences; and the table of them against Volcano's
switches, the plugins, and who asks whom in the recorded cases."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from recorded_cases import HERE, SHARED, rows
from small_cluster import NOW, conf, group, node, open_session, pod, queue, run

from volcano_lab.cache import Cache
from volcano_lab.cli.replay import load_cache
from volcano_lab.framework.config.conf import OFF_UNLESS_SET, PluginOption, Tier, load_conf
from volcano_lab.framework.observer import Observer
from volcano_lab.framework.placement.chooser import prioritize_nodes
from volcano_lab.framework.plugin import Plugin, plugin_class
from volcano_lab.framework.points.rules import ABSTAIN, PERMIT, REJECT, NoScore
from volcano_lab.framework.points.table import BUILT_IN as POINTS, SWITCHES, extension_points
from volcano_lab.framework.registry import registered
from volcano_lab.framework.session import Session
from volcano_lab.messages import Message, log
from volcano_lab.plugins import BUILT_IN, NOT_MODELLED, answering
from volcano_lab.scheduler import Scheduler

ASKED = "a question"
ROWS = list(POINTS.values())


def ask(point, *tiers, args=(ASKED,)):
    """The combined answer. A tier is a list of answers; what is callable computes one; None
    abstains: not registered.
    """
    asked = extension_points(SimpleNamespace())[point]
    options = []
    for t, answers in enumerate(tiers):
        for a, answer in enumerate(answers):
            function = answer if callable(answer) else lambda *_, answer=answer: answer
            asked.register(f"{t}.{a}", function)
        options.append(Tier(
            [PluginOption(f"{t}.{a}") for a in range(len(answers))]))
    asked.arrange(options)
    return asked.asked()(*args)


def refuse_to_be_asked(*_):
    raise AssertionError("asked although the answer was known")


@pytest.mark.parametrize(
    ("sentence", "point", "tiers", "answer"),
    [
        ("no plugin: allocatable is yes", "allocatable", [[]], True),
        ("all agree", "allocatable", [[True, True], [True]], True),
        ("one in the last tier does not", "allocatable", [[True], [True, False]], False),
        ("after a no no other plugin is asked", "preemptive", [[False, refuse_to_be_asked]], False),
        ("ready without anybody", "job_ready", [], True),
        ("no plugin: overused is no", "overused", [[]], False),
        ("one suffices", "overused", [[False], [False, True, refuse_to_be_asked]], True),
        ("no plugin: starving is no", "job_starving", [[], []], False),
        ("all of the first tier", "job_starving", [[True, False]], False),
        ("the first tier with anybody decides alone", "job_starving", [[], [True],
                                                                       [refuse_to_be_asked]], True),
        ("all abstain: admitted", "job_enqueueable", [[ABSTAIN], [ABSTAIN]], True),
        ("a reject", "job_enqueueable", [[PERMIT, REJECT]], False),
        ("a permit, and no plugin rejects in its tier", "job_enqueueable",
         [[PERMIT, ABSTAIN], [refuse_to_be_asked]], True),
        ("a permit keeps the next tier from rejecting", "job_enqueueable", [[PERMIT], [REJECT]
                                                                            ], True),
        ("an abstention does not", "job_enqueueable", [[ABSTAIN], [REJECT]], False),
        ("pipelined by vote, too", "job_pipelined", [[PERMIT, REJECT]], False),
        ("no plugin objects", "predicate", [[lambda *_: None]], None),
        ("the first objection", "predicate", [[lambda *_: None, "first", refuse_to_be_asked]
                                              ], "first"),
        ("the first choice", "best_node", [[lambda *_: None], ["n1", refuse_to_be_asked]], "n1"),
        ("the first that has an opinion, although it has none", "target_job",
         [[lambda *_: None, refuse_to_be_asked]], None),
        ("no scores", "node_order", [[]], 0.0),
        ("scores add up", "node_order", [[1.0, 2.0], [4.0]], 7.0),
        ("scores by node add up", "batch_node_order", [[{"n1": 1.0}], [{"n1": 2.0, "n2": 4.0}]
                                                       ], {"n1": 3.0, "n2": 4.0}),
        ("each under its plugin's name", "node_map", [[1.0], [2.0]], {"0.0": 1.0, "1.0": 2.0}),
    ],
)
def test_rules(sentence, point, tiers, answer):
    assert ask(point, *tiers) == answer, sentence


def test_scores_are_0_where_one_cannot_be_given():
    def cannot_tell(*_):
        raise NoScore("no idea")

    assert ask("node_order", [5.0, cannot_tell, refuse_to_be_asked]) == 0.0


def test_the_score_of_one_node_is_rounded_down_before_the_plugin_reduces_all():
    class Mine(Plugin):
        def node_map(self, task, node):
            return {"n1": 1.9, "n2": 1.2, "n3": 0.9}[node.name]

        def node_reduce(self, task, scores):
            return scores

    with registered(plugin={"mine": Mine}):
        ssn = open_session(*map(node, ("n1", "n2", "n3")), plugins="mine")
        scores = prioritize_nodes(ssn, None, ssn.node_list)
    assert {score: [each.name for each in nodes] for score, nodes in scores.items()} == {
        1.0: ["n1", "n2"], 0.0: ["n3"]}


def test_each_plugin_reduces_its_own_scores():
    mapped = {"0.0": {"n1": 1.0, "n2": 3.0}, "1.0": {"n1": 10.0}}
    tenfold, as_it_is = (lambda _, own: {n: s * 10 for n, s in own.items()}), (lambda _, own: own)
    assert ask("node_reduce", [tenfold], [as_it_is],
               args=("task", mapped)) == {"n1": 20.0, "n2": 30.0}


@pytest.mark.parametrize(
    ("sentence", "tiers", "left_first"),
    [
        ("the first difference", [[0, -1, refuse_to_be_asked]], True),
        ("in any tier", [[0], [2]], False),
        ("a difference below one is a difference", [[0.25]], False),
        ("no difference: the older", [[0]], True),
    ],
)
def test_order(sentence, tiers, left_first):
    left, right = SimpleNamespace(creation_timestamp=1.0, uid="b"), SimpleNamespace(
        creation_timestamp=2.0, uid="a")
    assert ask("job_order", *tiers, args=(left, right)) is left_first, sentence


@pytest.mark.parametrize(
    ("point", "left", "right"),
    [
        ("job_order", {"creation_timestamp": 1.0, "uid": "b"
                       }, {"creation_timestamp": 2.0, "uid": "a"}),
        ("queue_order", {"creation_timestamp": 1.0, "uid": "a"
                         }, {"creation_timestamp": 1.0, "uid": "b"}),
        ("sub_job_order", {"match_index": 1, "uid": "b"}, {"match_index": 2, "uid": "a"}),
        ("cluster_order", {"name": "a"}, {"name": "b"}),
    ],
)
def test_order_without_plugins(point, left, right):
    left, right = SimpleNamespace(**left), SimpleNamespace(**right)
    assert (ask(point, args=(left, right)), ask(point, args=(right, left))) == (True, False)


def test_victims_of_equal_queues_are_of_the_one_that_is_served_last():
    points = extension_points(SimpleNamespace(queue_order=lambda left, right: left < right))
    assert points["victim_queue_order"].ask("a", "b", "c") is False


T = {name: SimpleNamespace(uid=name) for name in "abcd"}


def named(text, vote=PERMIT):
    return lambda claimant, candidates: ([T[name] for name in text], vote)


@pytest.mark.parametrize(
    ("sentence", "tiers", "victims"),
    [
        ("no plugin names a victim", [[]], ""),
        ("what all of a tier name", [[named("abc"), named("cb")]], "bc"),
        ("the first tier with any decides", [[named("a")], [named("b")]], "a"),
        ("who abstains does not count", [[named("", ABSTAIN), named("ab")]], "ab"),
        ("an empty list ends its tier, the next decides",
         [[named("ab"), named(""), named("ab")], [named("c")]], "c"),
        ("a reject with names is as good as a permit", [[named("ab", REJECT)]], "ab"),
        ("an empty intersection is forgotten by the next plugin",
         [[named("a"), named("b"), named("cd")]], "cd"),
        ("an empty intersection at the end: the next tier", [[named("a"), named("b")], [named("c")]
                                                             ], "c"),
    ],
)
def test_victims(sentence, tiers, victims):
    found = ask("reclaimable", *tiers, args=("claimant", list(T.values())))
    assert "".join(task.uid for task in found) == victims, sentence
    assert found == ask("preemptable", *tiers, args=("claimant", list(T.values())))


@pytest.mark.parametrize(
    ("sentence", "tiers", "victims"),
    [
        ("together, each once", [[lambda _: [T["a"], T["b"]], lambda _: [T["b"], T["c"]]]], "abc"),
        ("the first tier with any", [[lambda _: []], [lambda _: [T["a"]]], [refuse_to_be_asked]
                                     ], "a"),
    ],
)
def test_victim_tasks(sentence, tiers, victims):
    assert "".join(task.uid for task in ask("victim_tasks", *tiers)) == victims, sentence


def test_every_plugin_is_notified():
    heard = []
    ask("job_enqueued", [heard.append], [heard.append])
    assert heard == [ASKED, ASKED]


def test_without_plugins_a_hyper_node_is_all_there_is():
    assert ask("hyper_node_gradient_for_job", args=("job", "h1")) == [["h1"]]
    assert ask("hyper_node_gradient_for_sub_job", [lambda job, hyper_node: []],
               args=("job", "h1")) == []


# -- the table
# --------------------------------------------------------------------------------------------------


def test_every_row_has_a_question_a_rule_and_a_default():
    assert all(row.sentence and row.rule and row.default for row in ROWS)


def test_every_switch_but_that_of_the_hierarchy_belongs_to_a_point_and_the_other_way_round():
    used = {key for row in ROWS for key in row.switches}
    assert used == set(SWITCHES)
    assert [row.name for row in ROWS if not row.switches] == ["victim_queue_order", "job_valid"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.switches],
                         ids=lambda row: row.name)
def test_switches(row):
    """Off: no answer. Not set: on, but for the order of clusters. One of two is enough."""
    point = extension_points(None)[row.name]
    point.register("p", lambda *_: None)

    def enabled(entry):
        point.arrange(
            load_conf(f"actions: allocate\ntiers:\n- plugins:\n  - {{name: p{entry}}}").tiers)
        return bool(point.flat)

    assert enabled("") is (row.switches[0] not in OFF_UNLESS_SET)
    assert not enabled("".join(f", {key}: false" for key in row.switches))
    for key in row.switches:
        assert enabled("".join(f", {other}: {str(other == key).lower()}" for other in row.switches))


ANSWERED = {
    "binpack": "node_order",
    "capacity": (
        "queue_order victim_queue_order pre_predicate simulate_add_task simulate_remove_task "
        "simulate_allocatable allocatable preemptive job_enqueueable reclaimable"),
    "cdp": "preemptable reclaimable",
    "conformance": "preemptable reclaimable",
    "drf": "job_order queue_order preemptable reclaimable",
    "gang": (
        "job_order sub_job_order job_valid job_ready sub_job_ready job_starving job_pipelined "
        "sub_job_pipelined preemptable reclaimable"),
    "network-topology-aware": (
        "batch_node_order hyper_node_order hyper_node_gradient_for_job "
        "hyper_node_gradient_for_sub_job"),
    "nodegroup": "predicate node_order",
    "nodeorder": "node_order batch_node_order",
    "overcommit": "job_enqueueable job_enqueued",
    "pdb": "preemptable reclaimable victim_tasks",
    "predicates": (
        "pre_predicate predicate simulate_predicate simulate_add_task simulate_remove_task "
        "batch_node_order"),
    "priority": "job_order task_order sub_job_order job_starving preemptable",
    "proportion": (
        "queue_order pre_predicate simulate_add_task simulate_remove_task simulate_allocatable "
        "allocatable preemptive overused job_enqueueable reclaimable"),
    "rescheduling": "victim_tasks",
    "resource-strategy-fit": "predicate node_order",
    "resourcequota": "job_enqueueable",
    "sla": "job_order job_pipelined job_enqueueable",
    "task-topology": "task_order node_order",
    "tdm": "job_order predicate job_starving job_pipelined preemptable victim_tasks node_order",
    "usage": "predicate node_order",
}
"""Plugin -> the extension points that it has, read from its Go file."""


@pytest.mark.parametrize("name", BUILT_IN)
def test_plugins_have_the_points_that_they_have_in_volcano(name):
    assert plugin_class(name).name == name
    answered = {row.name for row in ROWS if name in answering(row.name)}
    assert answered == set(ANSWERED[name].split())


class Askers(Observer):
    """The callers: (point, action) of every call by an action."""

    def __init__(self):
        self.action, self.found = "", set()

    def action_started(self, ssn, action):
        self.action = action

    def action_ended(self, ssn, action):
        self.action = ""

    def watch_point(self, point, ask):
        def asked(*args):
            if self.action:
                self.found.add((point.name, self.action))
            return ask(*args)

        return asked


@pytest.mark.long
def test_actions_call_the_points_that_the_table_lists():
    paths = sorted(HERE.glob("*-cases.jsonl.gz")) or sorted(SHARED.glob("*-cases.jsonl.gz"))
    if not paths:
        pytest.skip("there are no recorded cases in tests/recorded, nor beside this checkout")
    found, seen = set(), {}
    refused = {row["name"] for path in paths for row in rows(
        path.with_name(path.name.replace("cases", "decisions"))) if "confError" in row}
    for case in (case for path in paths for case in rows(path) if case["name"] not in refused):
        seen[case["family"]] = seen.get(case["family"], 0) + 1
        if seen[case["family"]] <= 8:
            askers = Askers()
            Scheduler(load_cache(case), case["conf"]).run_once(askers, now=NOW)
            found |= askers.found
    assert found <= {(row.name, action) for row in ROWS for action in row.asked_by}
    rare = {point for point in POINTS if point.startswith("simulate_")} | {"victim_tasks"}
    assert {point for point, _ in found} >= {row.name for row in ROWS if row.asked_by} - rare


# -- all of Volcano's plugins
# --------------------------------------------------------------------------------------------

ALL = [
    "binpack",
    "capacity",
    "cdp",
    "conformance",
    "deviceshare",
    "drf",
    "extender",
    "gang",
    "network-topology-aware",
    "nodegroup",
    "nodeorder",
    "numa-aware",
    "overcommit",
    "pdb",
    "predicates",
    "priority",
    "proportion",
    "rescheduling",
    "resource-strategy-fit",
    "resourcequota",
    "sla",
    "task-topology",
    "tdm",
    "usage",
]
"""The names that Volcano registers in `pkg/scheduler/plugins/factory.go`."""


def test_every_plugin_of_volcano_works_or_is_reported_as_not_modelled():
    assert sorted([*BUILT_IN, *NOT_MODELLED]) == ALL


def small():
    one = node("n1", labels={"volcano.sh/nodegroup-name": "g"})
    return queue(), queue("root"), one, group("a", minMember=2), pod("a-0", "a"), pod("a-1", "a")


def test_a_configuration_that_names_every_plugin_runs():
    entries = [
        "{name: nodegroup, arguments: {strict: false}}" if name == "nodegroup" else name
        for name in ALL
    ]
    ssn = run(*small(), conf=conf(*entries,
                                  actions="enqueue, allocate, backfill, reclaim, preempt, shuffle"))
    assert sorted(ssn.plugins) == sorted(BUILT_IN)
    assert len(ssn.warnings) == len(NOT_MODELLED)


@pytest.mark.parametrize("name", ALL)
def test_each_plugin_runs_alone(name):
    ssn = run(*small(), conf=conf(name,
                                  actions="enqueue, allocate, backfill, reclaim, preempt, shuffle"))
    assert list(ssn.plugins) == ([name] if name in BUILT_IN else [])
    placed = [] if name == "nodegroup" else ["default/a-0", "default/a-1"
                                             ]  # the queue wants no group of nodes
    assert [key for _, key, _ in ssn.committed] == placed


@pytest.mark.parametrize("name", NOT_MODELLED)
def test_an_unmodelled_plugin_is_reported_in_one_sentence_once(name, caplog, monkeypatch):
    monkeypatch.setattr(log, "_written", set())
    scheduler = Scheduler(Cache(small()), conf("gang", name, "binpack"))
    with caplog.at_level(logging.WARNING):
        sessions = [scheduler.run_once(now=NOW) for _ in range(3)]
    sentence = (f'plugin "{name}" is not modelled by the lab ({Message(f"plugin.{name}")}); '
                "the rest of the configuration runs.")
    assert [[*map(str, ssn.warnings)] for ssn in sessions] == [[sentence]] * 3
    assert [record.getMessage() for record in caplog.records] == [sentence]
    assert len(sessions[0].committed) == 2


def test_an_unknown_plugin_is_reported_too():
    ssn = open_session(queue(), plugins=("gang", "gnag"))
    assert str(ssn.warnings[0]) == (
        'plugin "gnag" is not registered, and the cycle runs without it; did you mean gang?')
    assert isinstance(ssn, Session) and list(ssn.plugins) == ["gang"]
