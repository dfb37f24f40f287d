"""Tables, charts and reasons: that they say what the session says, and what they say where there is
nothing.
"""

import json
from base64 import b64decode
from xml.etree import ElementTree

import pandas as pd
import pytest

from volcano_lab import Cluster, sweep
from volcano_lab.api.formatting import quantity_text
from volcano_lab.changes import change
from volcano_lab.course.lesson_00.lab import fair_share_cluster
from volcano_lab.messages import OneSentence
from volcano_lab.trace import Trace
from volcano_lab.trace.views.nodes import choices
from volcano_lab.widgets import charts, tables
from volcano_lab.widgets.table import Table

GANG = "default/a-gang"
EMPTY = Cluster().node("n", cpu=1).run


def test_the_queue_table_is_what_the_plugin_holds():
    cycle = fair_share_cluster().run()
    attributes = cycle.session.plugins["proportion"].queue_opts
    table = tables.queues(cycle)
    assert list(table.columns) == [
        "weight", "guarantee", "deserved", "real capability", "allocated", "request", "inqueue",
        "elastic", "share", "overused"
    ]
    for name, row in table.iterrows():
        for column in ("deserved", "real_capability", "allocated", "request", "inqueue", "elastic"):
            assert row[column.replace("_",
                                      " ")] == getattr(attributes[name], column).milli_cpu / 1000
        assert row["share"] == attributes[name].share
        assert row["overused"] == cycle.session.overused(cycle.session.queues[name])


def test_memory_is_another_table():
    cycle = Cluster().node("n", cpu=4, memory="8Gi").job("j", pods=2, cpu=1, memory="1Gi").run()
    assert tables.queues(cycle, "memory").loc["default", "allocated"] == 2 * 2**30


def test_turns_account_for_every_placement():
    cycle = fair_share_cluster().run()
    turns = tables.turns(cycle)
    assert turns["pods"].sum() == len(cycle.committed) == 10
    assert (turns.loc[turns["outcome"] != "placed", "pods"] == 0).all()
    placed = turns[turns["outcome"] == "placed"].groupby("queue")["share"]
    assert all(shares.is_monotonic_increasing for _, shares in placed)


STATEMENTS = [
    ("enough room: committed", (4, 3), ["allocate"] * 3, "commit"),
    ("one pod short: discarded from the last to the first", (4, 4),
     ["allocate"] * 3 + ["undo allocate"] * 3, "discard"),
    ("fewer pods than the minimum: never begun", (3, 4), [], None),
    ("more than its queue may hold: not admitted", (13, 13), [], None),
]


@pytest.mark.parametrize(("sentence", "gang", "expected", "outcome"), STATEMENTS,
                         ids=[row[0] for row in STATEMENTS])
def test_a_gang_s_statement(sentence, gang, expected, outcome):
    cycle = fair_share_cluster(*gang, a={"demand": 100}).run()
    table = tables.operations(cycle, GANG)
    assert table["operation"].tolist() == expected
    assert set(table["outcome"]) == ({outcome} if outcome else set())
    if outcome == "discard":
        pods = table["pod"].tolist()
        assert pods[3:] == pods[2::-1]


REASONS = [
    ("its queue is full", (4, 3),
     "queue a refuses pod a-gang-3: cpu 32 > deserved 28"),
    ("the gang is short", (4, 4), "NotEnoughResources: 1/4 tasks in gang unschedulable"),
    ("never enough pods", (3, 4),
     "NotEnoughTasks: Not enough valid tasks for gang-scheduling, valid: 3, min: 4"),
    ("enqueue refuses", (13, 13),
     "not admitted by queue a (proportion): cpu 56 > limit 50"),
]


@pytest.mark.parametrize(("sentence", "gang", "reason"), REASONS, ids=[row[0] for row in REASONS])
def test_why_a_gang_waits(sentence, gang, reason):
    cycle = fair_share_cluster(*gang, a={"demand": 100}).run()
    assert cycle.why(GANG)[0].startswith(reason)
    assert tables.jobs(cycle).loc[GANG, "why"].startswith(reason)


@pytest.mark.parametrize(("actions", "shown"), [("backfill", 1), ("enqueue", 0)])
def test_a_job_that_no_action_admits_is_reported(actions, shown):
    large = Cluster().node("n1", cpu=4).job("train", pods=6, cpu=1)
    conf = f"actions: {actions}\ntiers: [{{plugins: [{{name: overcommit}}]}}]"
    reasons = large.run(conf).why("train")
    assert reasons.count("not admitted: the configuration has no enqueue action") == shown
    assert ("by overcommit: cpu 6 > limit 4.8" in reasons[0]) == (not shown)


def test_only_the_resource_that_is_short_is_reported():
    """The pods ask for memory, too, and of that the queue deserves enough."""
    full = Cluster().node("n1", cpu=8, memory="64Gi").queue("team", capability=4)
    full.job("train", queue="team", pods=6, min_member=1, cpu=1, memory="1Gi")
    shown = [reason for reason in full.run().why("train") if reason.startswith("queue ")]
    assert shown == ["queue team refuses pod train-4: cpu 5 > deserved 4"]


@pytest.mark.parametrize(("every_call", "objection"), [
    (False, "predicates"), (True, "predicates: node(s) were unschedulable")])
def test_who_objects_to_a_node_is_reported_with_the_reason_where_each_call_was_recorded(
        every_call, objection):
    nodes = Cluster().node("n1", cpu=4).node("n2", cpu=4).node("n3", cpu=1)
    objects = change(nodes.job("a", cpu=2).objects(), ["node/n1.unschedulable=true"])
    trace = Trace(every_call)
    Cluster(objects).run(trace=trace)
    found = {row["node"]: row["verdict"] for row in choices(trace)}
    assert found == {"n1": objection, "n2": "chosen", "n3": "does not fit"}


@pytest.mark.parametrize(("most", "rows"), [(None, 3), (0, 3), (2, 2)])
def test_a_table_shows_as_many_rows_as_pandas_is_set_to(most, rows):
    with pd.option_context("display.max_rows", most):
        html = Table({"a": [*range(3)]})._repr_html_()
    assert html.count("<tr") == rows + 1
    assert ("3 rows, the first 2 are shown" in html) == (most == 2)


def test_who_does_not_wait_has_no_reason():
    cycle = Cluster().node("n", cpu=4).job("j", pods=2, cpu=1).run()
    assert cycle.why("default/j") == [] and cycle.jobs()[0]["placed"] == 2
    with pytest.raises(KeyError):
        cycle.why("default/nobody")


def test_a_job_is_asked_about_by_its_name_alone_where_one_namespace_has_it():
    cluster = Cluster().node("n", cpu=1).job("j", namespace="team", pods=2, cpu=1)
    assert cluster.run().why("j") == cluster.run().why("team/j") != []
    both = cluster.job("k", namespace="other", cpu=1).add(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,"
        " metadata: {name: k, namespace: team}}").run()
    with pytest.raises(KeyError, match='"k" is the name of 2: job other/k, job team/k; allowed'):
        both.why("k")
    for hostile in (5, "", "\x1b[31m", "x" * 5000, None):
        with pytest.raises(KeyError, match=r"no job is called") as shown:
            both.why(hostile)
        assert str(shown.value).isprintable() and len(str(shown.value)) < 700


def test_an_empty_cycle_has_empty_tables():
    cycle = EMPTY()
    for table in (tables.queues, tables.turns, tables.jobs, tables.placements):
        assert len(table(cycle)) == 0 and len(table(cycle).columns) >= 0
    assert cycle.as_dict()["queues"] == [] and json.dumps(cycle.as_dict())


@pytest.mark.long
def test_charts_have_words_and_no_request():
    swept = sweep(Cluster().node("n", cpu=4).queue("q"), {"queue/q.weight": [1, 2]}, ["placed"])
    for chart, title in ((charts.transitions("Title"), "Title"),
                         (charts.plot(swept), "placed over queue/q.weight")):
        spec = chart.to_dict()
        assert spec["title"] == title and len(spec["description"]) > 12
        assert "url" not in json.dumps([spec.get("datasets"), spec.get("data")])
    assert "2 settings, from 0 to 0" in spec["description"]


@pytest.mark.long
def test_still_pictures_are_the_same_each_time():
    import altair as alt

    before = alt.renderers.active
    try:
        charts.still()
        chart = charts.transitions()
        bundles = [chart._repr_mimebundle_() for _ in range(2)]
    finally:
        alt.renderers.enable(before)
    assert bundles[0] == bundles[1] and set(bundles[0]) == {"text/html", "text/plain"}
    picture, words = bundles[0]["text/html"], bundles[0]["text/plain"]
    assert words.startswith("Pending → ") and f'<img alt="{words}"' in picture
    svg = ElementTree.fromstring(b64decode(picture.partition("base64,")[2].partition('"')[0]))
    assert svg.tag.endswith("svg") and "script" not in picture


@pytest.mark.parametrize(("name", "value", "text"), [
    ("cpu", 28, "28"),
    ("cpu", 0.25, "0.25"),
    ("cpu", 49.00000000000001, "49"),
    ("memory", 2**31, "2Gi"),
    ("memory", 0, "0"),
    ("memory", 1.5 * 2**20, "1.5Mi"),
    ("memory", 100, "100"),
    ("nvidia.com/gpu", None, "no limit"),
])
def test_amounts_as_text(name, value, text):
    assert quantity_text(name, value) == text


@pytest.mark.parametrize(("use", "sentence"), [
    (lambda cycle: tables.queues(), "queues: missing a required argument: 'cycle'; allowed are "
     "cycle, resource"),
    (lambda cycle: tables.queues(cycle, resuorce="cpu"), "queues: got an unexpected keyword "
     "argument 'resuorce' (resource?); allowed are cycle, resource"),
    (lambda cycle: tables.queues(cycle)["deservd"], "the table has no column 'deservd'; it has "
     "weight, guarantee, deserved, "),
    (lambda cycle: tables.jobs(cycle)[["phase", 5]], "the table has no column ['phase', 5]; it"),
])
def test_a_wrong_argument_is_one_sentence(use, sentence):
    cycle = Cluster().node("n", cpu=1).job("j", cpu=2).run()
    with pytest.raises(OneSentence) as shown:
        use(cycle)
    assert str(shown.value).startswith(sentence)
