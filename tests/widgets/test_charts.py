"""Rows and tables of a trace: they say what the session says, in every family of the recorded
cases; and how charts are stored.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode

import altair as alt
import pytest
from recorded_cases import HERE, rows

from volcano_lab.api.formatting import in_units
from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.course.lesson_00.lab import fair_share_cluster
from volcano_lab.debug.calls import Effort
from volcano_lab.debug.frames import StepView
from volcano_lab.framework.observer import joined
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.simulation.sweep import Sweep
from volcano_lab.trace import Outline, Trace, short
from volcano_lab.trace.state import queue_attributes
from volcano_lab.trace.stepper import Stepper
from volcano_lab.trace.views import jobs, nodes, queues
from volcano_lab.widgets import charts, styled, tables


@pytest.fixture(scope="module")
def cycles():
    """{case: (trace, session, what another observer saw)} of some cases of each family."""
    ran = {}
    for case in rows(HERE / "dev-cases.jsonl.gz")[::31]:
        trace, outline = Trace(), Outline()
        ran[case["name"]] = trace, Scheduler(load_cache(case), case["conf"]).run_once(
            joined(trace, outline)), outline
    return ran


def amount(resource, name="cpu"):
    return in_units(name, resource.get(name))


@pytest.mark.long
def test_an_outline_gives_the_rows_of_the_whole_trace(cycles):
    """All but the numbers of the records: whatever reads a cycle's outline reads the same facts."""
    turns = tried = 0

    def without(rows, *left_out):
        return [{word: value for word, value in row.items() if word not in left_out}
                for row in rows]

    for name, (trace, _, outline) in cycles.items():
        mine = list(queues.turns(trace))
        assert without(mine, "number") == without(queues.turns(outline), "number"), name
        for view in (queues.sums, queues.tree):
            assert list(view(trace)) == list(view(outline)), (name, view)
        assert without(queues.admissions(trace), "number") == without(
            queues.admissions(outline), "number"), name
        both = [without(jobs.statements(each), "from", "to") for each in (trace, outline)]
        assert both[0] == both[1], name
        turns, tried = turns + len(mine), tried + len(both[0])
    assert turns > 100 and tried > 100


@pytest.mark.long
def test_turns_have_the_shares_of_their_moment(cycles):
    shares = 0
    for name, (trace, ssn, _) in cycles.items():
        stepper = Stepper(trace)
        for row in queues.turns(trace):
            queue = stepper.goto(row["number"]).state["queues"].get(row["queue"])
            assert row["share"] == (queue or {"share": 0.0})["share"], name
            shares += queue_attributes(ssn) != {}
        assert [row["outcome"] == "overused" for row in queues.turns(trace)] == [
            any((record.kind == "asked" and record["point"] == "overused" and record["answer"])
                or (record.kind == "call" and record["point"] == "overused" and record["answer"])
                for record in trace.records[row["number"] : row["number"] + 4]
                if record.get("queue") == row["queue"]) for row in queues.turns(trace)], name
    assert shares > 100


def test_the_comparison_that_decides_the_order_agrees_with_the_shares():
    trace, _ = traced(fair_share_cluster().objects())
    decided = [row for row in queues.turns(trace) if row["decided_by"] == "proportion"]
    stepper = Stepper(trace)
    for row in decided:
        shares = stepper.goto(row["number"]).state["queues"]
        assert row["share"] < shares[row["next"]]["share"]
    assert decided


def test_the_tree_is_the_plugins_at_the_end_and_the_snapshots_at_the_start(cycles):
    deep = 0
    for name, (trace, ssn, _) in cycles.items():
        attrs = queue_attributes(ssn)
        tree = list(queues.tree(trace))
        assert {row["queue"] for row in tree} == attrs.keys(), name
        for place, row in enumerate(tree):
            attr = attrs[row["queue"]]
            for field in ("allocated", "deserved", "real_capability", "guarantee", "inqueue"):
                assert row[field] == amount(getattr(attr, field)), (name, row["queue"], field)
            above = getattr(attr, "ancestors", ())
            assert (row["parent"], row["depth"]) == (above[-1] if above else "", len(above))
            assert not above or row["parent"] in [earlier["queue"]
                                                  for earlier in tree[:place]], "below its parent"
            deep = max(deep, row["depth"])
        assert [row["allocated"] for row in queues.tree(trace, -1)] == [
            in_units("cpu", trace.start["queues"][row["queue"]]["allocated"].get("cpu", 0.0))
            for row in tree
        ]
    assert deep >= 2


def test_comparisons_add_up_and_say_why_a_job_is_refused(cycles):
    refused = 0
    for name, (trace, _, _) in cycles.items():
        for row in queues.admissions(trace):
            total = row["minimum"] + row["allocated"] + row["inqueue"] - row["elastic"]
            if trace.records[row["number"]]["min_resources"].get("cpu"):
                assert row["sum"] == pytest.approx(total), (name, row)
            answer = next(
                record
                for record in trace.iter("job_enqueueable", job=row["job"], plugin=row["plugin"])
                if record.number > row["number"])["answer"]
            if row["short_of"]:
                assert answer < 0, (name, row)
                refused += 1
    assert refused > 5


def test_the_last_frame_shows_nodes_and_gangs_as_the_session_left_them(cycles):
    for name, (trace, ssn, _) in cycles.items():
        frame = StepView(Stepper(trace).goto(len(trace.records)), "every record").frame
        for row in frame["nodes"]:
            node = ssn.nodes[row["name"]]
            assert (row["used"], row["idle"]) == (
                amount(node.used, frame["resource"]), amount(node.idle, frame["resource"])), name
        gangs = {short(uid): job for uid, job in ssn.jobs.items()}
        for row in frame["jobs"]:
            job = gangs[row["name"]]
            promised = sum(str(task.status) == "Pipelined" for task in job.tasks.values())
            assert (row["placed"], row["promised"]) == (job.ready_task_num(), promised), name


def test_choices_are_where_the_pods_went(cycles):
    chosen = refused = 0
    for name, (trace, ssn, _) in cycles.items():
        placed = {
            pod: node for operation, pod, node, *_ in ssn.committed if operation == "allocate"
        }
        wanted = [task for task in placed if trace.of("chose", task=task)][:4]
        for row in nodes.choices(trace, tasks=wanted):
            if row["verdict"] == nodes.CHOSEN and not name.startswith(
                ("subgroups", "topology")):  # where trials come after
                assert placed[row["task"]] == row["node"], name
                assert row["scores"] == trace.scores(row["task"], row["number"] + 1).get(
                    row["node"], {}), name
                chosen += 1
        for record in trace.iter("chose"):
            if record["node"] is None and record["nodes"] == len(trace.nodes) and refused < 40:
                said = [
                    row["verdict"]
                    for row in nodes.choices(trace, tasks={record["task"]})
                    if row["number"] == record.number
                ]
                assert not said or (len(said) == len(trace.nodes)
                                    and nodes.FITS not in said), (name, record)
                refused += bool(said)
    assert chosen > 50 and refused > 5


def test_node_by_node_and_all_at_once_say_the_same():
    taint = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: n3}\n"
        "spec: {taints: [{key: k, effect: NoSchedule}]}\n"
        "status: {allocatable: {cpu: '8', pods: '110'}}\n")
    objects = Cluster().node("n1", cpu=4).node("n2", cpu=1).node("n4", cpu=9).add(taint).job(
        "a", pods=2, cpu=1.5).objects()
    at_once, each = ([(row["task"], row["node"], row["verdict"].partition(":")[0],
                       row["verdict"] in ("chosen", "fits") and row["scores"])
                      for row in nodes.choices(traced(objects, every_call=every)[0])]
                     for every in (False, True))
    assert at_once == each
    assert {(node, verdict) for _, node, verdict, _ in each} == {
        ("n1", "fits"), ("n2", "does not fit"), ("n3", "predicates"), ("n4", "chosen")}


def test_statements_end_as_the_session_says(cycles):
    ended = set()
    for name, (trace, ssn, _) in cycles.items():
        done = list(jobs.statements(trace))
        ended |= {row["outcome"] for row in done}
        without = sum(
            record.kind == "commit" and record["statement"] is None for record in trace.operations)
        with_ = sum(record.kind == "commit" and record["statement"] is not None
                    for record in trace.operations)
        assert with_ + without == len(ssn.committed), name
        assert all(row["from"] <= row["to"] for row in done)
        assert {row["statement"] for row in done if row["outcome"] == "commit"} == {
            record["statement"] for record in trace.iter("commit")}, name
    assert {"commit", "discard"} <= ended


@pytest.mark.parametrize("every_call", [False, True])
def test_what_calls_took_is_a_part_of_the_schedulers_times(every_call):
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=4).job("a", pods=3, cpu=1).job(
        "b", pods=3, cpu=1)
    effort, scheduler = Effort(), Scheduler(cluster.cache())
    effort.watches_calls = every_call
    scheduler.run_once(effort)
    assert effort.times == scheduler.times
    for phase in ("enqueue", "allocate"):
        taken = sum(seconds for key, seconds in effort.seconds.items() if key[0] == phase)
        assert 0 < taken < scheduler.times[phase], phase
    asked = {point for _, point, _ in effort.calls}
    assert ("node_order" in asked) == every_call and "overused" in asked


# -- tables and charts
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["levels", "turns"])
def test_an_empty_cycle_has_a_table(name):
    table = getattr(tables, name)(traced(Cluster().objects())[0])
    assert len(table.reset_index().columns) > 0
    assert len(table) == 0


@pytest.fixture
def picture():
    """`picture(chart)`: the SVG of the picture that a notebook stores."""
    def svg(chart):
        found = re.search(r'base64,([^"]+)"', chart._repr_mimebundle_()["text/html"])
        return b64decode(found[1]).decode()

    before = alt.renderers.active
    yield svg
    alt.renderers.enable(before)


@pytest.mark.long
def test_a_stored_chart_is_dark_on_a_dark_page_and_cells_keep_their_ink(picture):
    charts.still()
    svg = picture(charts.transitions("From each state"))
    assert '@media (prefers-color-scheme: dark){[fill="#fff"]{fill:' in svg
    assert re.search(r"<rect [^>]*>", svg)[0].endswith('fill="#fff"/>'), "the ground"
    ink = {word: re.search(rf"<text ([^>]*)>{word}</text>", svg)[1]
           for word in ("1, 2", "freed", "Bound")}
    assert 'fill="white"' in ink["1, 2"] and 'fill="black"' in ink["freed"]
    assert 'fill="#000"' in ink["Bound"]


@pytest.mark.long
def test_a_page_that_draws_charts_itself_gets_their_data(picture, monkeypatch):
    monkeypatch.setattr(styled, "find_spec", lambda name: None)
    charts.still()
    shown = charts.transitions("From each state")._repr_mimebundle_()
    shown = shown[0] if isinstance(shown, tuple) else shown
    assert set(shown) == {"application/vnd.vegalite.v5+json", "text/plain"}
    assert shown["application/vnd.vegalite.v5+json"]["description"] == shown["text/plain"] != ""


@pytest.mark.parametrize("values", [(5, 1, 9), (9, 5, 1), (1, 9, 5)])
def test_the_words_of_a_sweep_name_the_least_and_the_most_in_any_order(values):
    sweep = Sweep(["n"], ["placed"], [{"n": n, "placed": value}
                                      for n, value in enumerate(values)])
    assert "3 settings, from 1 to 9." in json.dumps(charts.plot(sweep).to_dict())
