"""Extension points of one's own: their rules, their names, and how they are forgotten."""

import statistics

import pytest
from own_plugins import CONF, Answers, cluster, method, run

from volcano_lab import Action, Plugin, register_action, register_extension_point, register_plugin
from volcano_lab.framework.plugin import plugin_class, unregister_plugin
from volcano_lab.framework.points.rules import AllTrue, ExtensionPoint, FirstDifference, Sum
from volcano_lab.framework.points.table import BUILT_IN, extension_points
from volcano_lab.framework.registry import NotRegistered, registered
from volcano_lab.messages.guard import ExtensionError
from volcano_lab.plugins.gang import Gang
from volcano_lab.scheduler import traced


class Asks(Action):
    """Asks a question of one's own about each queue, and keeps the answers."""

    def execute(self, ssn):
        Asks.answers = {name: ssn.fee(queue) for name, queue in ssn.queues.items()}


def answers_of(rule, *plugins, conf=None, **how):
    """The answer of `fee` for queue q, where plugins answer constants, each in its own tier."""
    names = [f"p{number}" for number in range(len(plugins))]
    tiers = "".join(f"- plugins:\n  - name: {name}\n" for name in names)
    with registered(
            plugin={
                name: Answers["fee", answer] for name, answer in zip(names, plugins, strict=True)
            }, action={"asks": Asks}):
        register_extension_point("fee", rule, arguments=["queue"], **how)
        trace, ssn = traced(cluster().objects(), f'actions: "asks"\ntiers:\n{tiers}')
    assert ssn.points["fee"].rule == rule.rule
    return Asks.answers["q"], trace


def test_a_question_of_ones_own_combines_as_its_rule_says_and_is_in_the_trace():
    assert answers_of(Sum, 2, 5)[0] == 7
    answer, trace = answers_of(AllTrue, True, False)
    assert answer is False
    assert [(call["queue"], call["plugin"], call["tier"], call["answer"])
            for call in trace.of("fee", queue="q")
            if call.kind == "call"] == [("q", "p0", 0, True), ("q", "p1", 1, False)]


def test_a_rule_of_ones_own():
    class Median(ExtensionPoint):
        rule = "the middle one"

        def ask(self, *args):
            return statistics.median(function(*args) for function in self.flat)

    assert answers_of(Median, 1, 9, 3)[0] == 3


def test_a_question_of_ones_own_wants_its_parameters_and_its_answer():
    with pytest.raises(ExtensionError,
                       match='plugin "p0", fee: the answer is None; allowed is a number'):
        answers_of(Sum, None)
    with registered(point={"fee": Sum}):
        register_extension_point("fee", Sum, arguments=["queue"])
        with pytest.raises(ExtensionError, match=r"allowed are \(self, queue\)"):
            run(method("fee", "queue", "job"))


def test_it_is_forgotten_afterwards():
    with registered(point={"fee": Sum}):
        assert "fee" in extension_points(None)
    assert list(extension_points(None)) == list(BUILT_IN)


@pytest.mark.parametrize(("name", "rule", "words"), [
    ("node_order", Sum, 'the extension point "node_order" is one of Volcano'),
    ("may start", Sum, "a name as a method has it"),
    ("fee", "sum", "allowed is a class such as AllTrue"),
    ("fee", Sum("x"), "allowed is a class"),
])
def test_an_invalid_extension_point_is_refused(name, rule, words):
    with pytest.raises(ValueError, match=words):
        register_extension_point(name, rule)


def test_a_switch_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="names switch enableFee"):
        register_extension_point("fee", Sum, "enableFee")


def test_an_extension_point_may_not_hide_a_sessions_attribute():
    with registered(point={"jobs": Sum}), pytest.raises(ExtensionError,
                                                        match='the session has a "jobs" already'):
        cluster().run()


def test_an_order_of_ones_own_needs_no_default():
    with registered(point={"fee": FirstDifference}):
        assert cluster().run().session.fee("left", "right") is True


# -- names -----------------------------------------------------------------------------------------


class Mine(Plugin):
    def job_order(self, left, right):
        return 0


def test_a_name_of_volcanos_is_only_replaced_on_request():
    with pytest.raises(NotRegistered, match='the plugin "gang" is one of Volcano'):
        register_plugin("gang", Mine)
    with pytest.raises(NotRegistered, match='the action "allocate" is one of Volcano'):
        register_action("allocate", type("Mine", (Action,), {"execute": lambda self, ssn: None}))
    register_plugin("gang", Mine, replace=True)
    assert plugin_class("gang") is Mine
    unregister_plugin("gang")
    assert plugin_class("gang") is Gang


def test_user_defined_objects_may_be_registered_again_and_removed():
    register_plugin("mine", Mine)
    register_plugin("mine", Gang)
    assert plugin_class("mine") is Gang
    unregister_plugin("mine")
    with pytest.raises(NotRegistered, match='no plugin of your own is called "mine"'):
        unregister_plugin("mine")


def test_registrations_within_are_removed_also_after_an_exception():
    with pytest.raises(RuntimeError), registered(plugin={"gang": Mine}, replace=True):
        register_extension_point("fee", Sum)
        raise RuntimeError
    assert plugin_class("gang") is Gang and "fee" not in extension_points(None)


def test_a_point_that_is_nearly_one_is_named():
    class Misspells(Action):
        def execute(self, ssn):
            return ssn.fees("q")

    with registered(action={"mine": Misspells}, point={"fee": Sum}), pytest.raises(
            ExtensionError, match=r"no attribute 'fees'; did you mean fee\?"):
        cluster().run('actions: "mine"')
    with registered(plugin={"mine": method("fees", "queue")}, point={"fee": Sum}), pytest.raises(
            ExtensionError, match=r"has a method fees; .* perhaps fee "):
        cluster().run(CONF.format(actions="enqueue"))
