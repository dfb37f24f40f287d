"""Plugins, actions and extension points of one's own: how they take part, and the sentence for each
mistake.
"""

import signal
import sys
import time

import pytest
from own_plugins import CONF, Answers, cluster, method, run

from volcano_lab import Action, Cluster, Plugin, register_action, register_plugin
from volcano_lab.api.status import RELEASING
from volcano_lab.course.lesson_12.scene import RECLAIM, conf_with, kept_and_plain, run_with
from volcano_lab.framework.points.rules import PERMIT
from volcano_lab.framework.registry import registered
from volcano_lab.messages import OneSentence, attempt, guard
from volcano_lab.messages.guard import ExtensionError
from volcano_lab.plugins.gang import Gang
from volcano_lab.scheduler import traced


def fails(*args):
    return 1 / 0


def test_a_score_decides_and_is_in_the_trace():
    class Labelled(Plugin):
        def node_order(self, task, node):
            return 10 if "rack" in node.labels else 0

    with registered(plugin={"mine": Labelled}):
        trace, ssn = traced(cluster().objects(), CONF.format(actions="enqueue, allocate"))
    assert {node for _, _, node in ssn.committed} == {"n1"}
    call = trace.of("node_order", plugin="mine")[0]
    assert call.facts == {
        "point": "node_order", "tier": 1, "plugin": "mine", "task": call["task"], "node": "n1",
        "answer": 10
    }


def test_a_text_of_a_predicate_is_the_reason_that_users_see():
    cycle = run(Answers["predicate", "the night shift is off"])
    assert cycle.committed == []
    assert "2 the night shift is off" in cycle.why("default/new")[0]


MISTAKES = [
    ("an exception", "node_order", fails,
     'plugin "mine", node_order: ZeroDivisionError: division by zero, in line'),
    ("no return", "node_order", None, "the answer is None; allowed is a number."),
    ("a truth value as a score", "node_order", True, "allowed is a number"),
    ("not a number", "node_order", float("nan"), "the answer is nan"),
    ("more than a float holds", "node_order", 10 ** 400, "allowed is a number"),
    ("an end of the process", "node_order", lambda *args: sys.exit(3), "SystemExit: 3"),
    ("less than, as a truth value", "job_order", True, "below 0 puts the left one first"),
    ("a predicate that says yes", "predicate", True, "allowed is None, or a text (or FitError)"),
    ("a predicate that says no", "pre_predicate", False, "allowed is None, or a text"),
    ("a number where yes or no is asked", "allocatable", 1, "allowed is True or False"),
    ("a word as a vote", "job_enqueueable", "permit", "PERMIT (1), ABSTAIN (0) or REJECT (-1)"),
    ("a validity without reason", "job_valid", "bad", "`reason` and `message`"),
    ("scores that are a list", "batch_node_order", [1, 2], "a dict of numbers by name"),
]


@pytest.mark.parametrize(("mistake", "point", "answer", "words"), MISTAKES,
                         ids=[row[0] for row in MISTAKES])
def test_a_wrong_answer_is_a_sentence(mistake, point, answer, words):
    two = cluster().job("newer", queue="q", pods=1, cpu=1)
    with registered(plugin={"mine": Answers[point,
                                            answer]}), pytest.raises(ExtensionError) as failed:
        two.run(CONF.format(actions="enqueue, allocate"))
    assert str(failed.value).startswith(f'plugin "mine", {point}: ') and words in str(failed.value)
    assert failed.value._render_traceback_() == [f"ExtensionError: {failed.value}"]


def test_victims_are_a_pair():
    conf = ('actions: "enqueue, reclaim"\ntiers:\n- plugins:\n'
            "  - name: mine\n  - name: gang\n  - name: proportion\n")
    full = Cluster().node("n1", cpu=2).queue("q").job("new", queue="q", cpu=1)
    full.job("old", pods=2, cpu=1, min_member=1, running={"n1": 2})
    for pair in (tuple, list):
        everybody = Answers["reclaimable", lambda task, candidates, pair=pair: pair(
            (candidates, PERMIT))]
        with registered(plugin={"mine": everybody}):
            assert [operation for operation, *_ in full.run(conf).committed] == [
                "evict", "pipeline"
            ]
    only_tasks = Answers["reclaimable", lambda task, candidates: candidates]
    with registered(plugin={"mine": only_tasks}), pytest.raises(
            ExtensionError, match="a pair: the list of tasks that may be evicted"):
        full.run(conf)


NAMES = [
    ("misspelt", method("node_oder", "task",
                        "node"), "has a method node_oder", "perhaps node_order"),
    ("as Go writes it", method("AddJobOrderFn", "left",
                               "right"), "has a method AddJobOrderFn", "perhaps job_order"),
    ("a misspelt hook", method("on_session_opened",
                               "ssn"), "has a method on_session_opened", "perhaps on_session_open"),
    ("too few parameters", method("node_order",
                                  "task"), "its parameters are (self, task)", "(self, task, node)"),
    ("too many parameters", method("overused", "ssn",
                                   "queue"), "(self, ssn, queue)", "allowed are (self, queue)"),
    ("nothing that is asked", method(
        "score", "task"), "answers nothing: its methods are score", "node_order"),
    ("nothing at all", type("Mine", (Plugin, ), {}), "it has no methods of its own", "node_order"),
]


@pytest.mark.parametrize(("mistake", "plugin", "found", "allowed"), NAMES,
                         ids=[row[0] for row in NAMES])
def test_a_method_that_cannot_be_meant_is_refused(mistake, plugin, found, allowed):
    with pytest.raises(ExtensionError) as failed:
        run(plugin)
    assert found in str(failed.value) and allowed in str(failed.value)


def test_helpers_and_companions_are_left_alone():
    class Helped(Plugin):
        def compute(self):
            return 0

        def node_order(self, task, node):
            return self.compute()

        def job_order(self, left, right):
            return 0

        def job_order_key(self, job):
            return 0

        def sub_job_order_key(self, sub_job):  # nearer to sub_job_order than a slip may be
            return 0

    assert len(run(Helped).committed) == 2


def test_a_plugin_that_only_listens_is_a_plugin():
    class Counts(Plugin):
        seen = 0

        def on_allocate(self, event):
            Counts.seen += 1

    run(Counts)
    assert Counts.seen == 2


@pytest.mark.parametrize("hook", ["on_session_open", "on_session_close", "on_allocate"])
def test_a_hook_that_fails_is_named(hook):
    with pytest.raises(ExtensionError, match=f'plugin "mine", {hook}: ZeroDivisionError'):
        run(type("Mine", (Plugin,), {hook: fails, "predicate": lambda self, task, node: None}))


def test_a_constructor_that_takes_no_arguments():
    class Mine(Plugin):
        def __init__(self):
            pass

    with pytest.raises(ExtensionError, match=r'plugin "mine": TypeError: .*__init__'):
        run(Mine)


def test_a_plugin_of_the_lab_made_ones_own_is_guarded_too():
    with pytest.raises(ExtensionError, match="job_ready: the answer is None"):
        run(type("Mine", (Gang,), {"job_ready": lambda self, job: None}))


@pytest.mark.parametrize(("builder", "words"), [(Plugin(), "an object of Plugin"),
                                                (int, "class int"),
                                                (len, "an object of builtin_function_or_method")])
def test_what_is_no_class_of_plugins_is_not_registered(builder, words):
    with pytest.raises(TypeError, match=words):
        register_plugin("mine", builder)


def test_name_and_class_the_other_way_round():
    with pytest.raises(TypeError, match="its name first"):
        register_plugin(Plugin, "mine")
    with pytest.raises(TypeError, match="its name first"):
        register_action(Action, "mine")


def test_names_of_pods_are_no_victims():
    class Names(Plugin):
        def reclaimable(self, task, candidates):
            return [other.name for other in candidates], PERMIT

    with pytest.raises(
            ExtensionError,
            match=r"reclaimable: the answer is .*; allowed is a pair: the list of tasks"):
        run_with(Names, kept_and_plain(), conf_with("mine", tier=1, actions=RECLAIM))


@pytest.mark.parametrize("mistake", [
    lambda: register_plugin("mine", Plugin()), lambda: register_action("mine", Plugin),
    lambda: Cluster().run("actions: alocate"),
    lambda: Cluster().job("web", pods=1, running={"n": 2}).run()
])
def test_a_notebook_shows_a_mistake_in_one_line(mistake):
    with pytest.raises(OneSentence) as found:
        mistake()
    assert found.value._render_traceback_() == [f"{type(found.value).__name__}: {found.value}"]
    assert "\n" not in str(found.value)


# -- actions --------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_action_of_ones_own_runs_where_the_configuration_has_it():
    class LetIn(Action):
        def execute(self, ssn):
            for job in ssn.jobs.values():
                job.pod_group.status.phase = "Inqueue"

    late = run(Answers["overused", False], "allocate, let-in", action={"let-in": LetIn})
    early = run(Answers["overused", False], "let-in, allocate, enqueue", action={"let-in": LetIn})
    assert (len(late.committed), len(
        early.committed)) == (2, 2), "without enqueue, allocate admits by itself"


def test_an_action_that_fails_is_named():
    broken = type("Broken", (Action,), {"execute": lambda self, ssn: ssn.jobs["nobody"]})
    with pytest.raises(ExtensionError, match="""action "broken": KeyError: 'nobody'"""):
        run(Answers["overused", False], "enqueue, broken", action={"broken": broken})


@pytest.mark.parametrize(("builder", "words"), [
    (Action, "no method execute"), (Plugin, "subclass of Action"), (Action(), "subclass of")])
def test_what_is_no_action_is_not_registered(builder, words):
    with pytest.raises(TypeError, match=words):
        register_action("mine", builder)


# -- what user code must not do --------------------------------------------------------------------


@pytest.mark.parametrize("meddle", [
    lambda self, ssn: setattr(ssn, "nodes", None), lambda self, ssn: ssn.jobs.clear(),
    lambda self, ssn: ssn.queues.update(more=None)], ids=["nodes", "jobs", "queues"])
def test_a_hook_that_changes_what_the_session_has_is_named(meddle):
    with pytest.raises(ExtensionError,
                       match=r'"mine", on_session_open: it has changed which (nodes|jobs|queues) '):
        run(type("Mine", (Plugin,), {"on_session_open": meddle,
                                     "predicate": lambda self, task, node: None}))


def meddling(what):
    """A plugin whose score is right, and which does something besides."""
    def node_order(self, task, node):
        what(self, task, node)
        return 1.0
    return type("Mine", (Plugin,), {"name": "mine", "node_order": node_order})


@pytest.mark.parametrize("what", [
    lambda self, task, node: setattr(task, "status", RELEASING),
    lambda self, task, node: setattr(task, "resreq", task.resreq + task.resreq),
    lambda self, task, node: setattr(task, "node_name", node.name),
    lambda self, task, node: node.tasks.clear() or node.add_task(task),
    lambda self, task, node: node.table.idle.fill(0),
], ids=["status", "request", "node", "pods", "accounts"])
def test_an_answer_that_changes_what_it_was_asked_about_is_named(what):
    with pytest.raises(ExtensionError,
                       match=r'plugin "mine", node_order: it has changed what it was'):
        run(meddling(what))


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"),
                    reason="there are no signals to interrupt with")
@pytest.mark.parametrize("hook", ["node_order", "on_session_open", "on_allocate"])
def test_what_never_returns_is_interrupted_and_named(monkeypatch, hook):
    for module in (attempt, guard):
        monkeypatch.setattr(module, "MOST_SECONDS", 0.3)

    def endless(self, *given):
        while True:
            try:
                time.sleep(5)
            except Exception:
                continue

    tracer = sys.gettrace()
    sys.settrace(None)  # a debugger may take as long as it likes
    try:
        with pytest.raises(ExtensionError,
                           match=rf'plugin "mine", {hook}: it has not returned after'):
            run(type("Mine", (Plugin,), {"name": "mine", hook: endless}))
    finally:
        sys.settrace(tracer)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


class Unspeakable:
    def __repr__(self):
        raise ValueError("no words")


class Silent(Exception):
    def __str__(self):
        raise ValueError("no words")


def test_a_bind_extension_that_fails_is_named():
    def extend(self, state, context):
        raise KeyError("claims")
    with pytest.raises(ExtensionError,
                       match=r'"mine", setup_bind_context_extension: KeyError: .claims.'):
        run(type("Mine", (Plugin,), {"name": "mine", "setup_bind_context_extension": extend}))


def test_what_cannot_even_be_printed_is_named():
    with pytest.raises(ExtensionError,
                       match=r"the answer is an object of Unspeakable; allowed is a number"):
        run(type("Mine", (Plugin,), {"name": "mine", "node_order": lambda *given: Unspeakable()}))

    def fails(*given):
        raise Silent
    with pytest.raises(ExtensionError, match='plugin "mine", node_order: Silent'):
        run(type("Mine", (Plugin,), {"name": "mine", "node_order": fails}))


def test_a_long_or_coloured_mistake_is_one_short_line():
    def fails(*given):
        raise ValueError("\x1b[31m" + "x" * 10**6)
    with pytest.raises(ExtensionError) as refused:
        run(type("Mine", (Plugin,), {"name": "mine", "node_order": fails}))
    assert len(str(refused.value)) < 500 and str(refused.value).isprintable()
