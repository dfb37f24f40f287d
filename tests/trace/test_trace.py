"""The trace: what it records, that it changes nothing, that a plugin of one's own shows, that it
is plain data.
"""

from __future__ import annotations

import importlib.util
import json
from itertools import pairwise
from pathlib import Path

import pytest
from evictions import conf, priority, scene
from recorded_cases import HERE, SHARED, rows

from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Timeline
from volcano_lab.framework.plugin import Plugin
from volcano_lab.framework.registry import registered
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.trace import Trace, sentence
from volcano_lab.trace.reading import NODE_POINTS
from volcano_lab.trace.record import Record
from volcano_lab.trace.views.jobs import reasons
from volcano_lab.trace.views.nodes import choices

ROOT = Path(__file__).parents[2]
EVENTS = SHARED / "dev-events.jsonl.gz"


def pair():
    """Two queues, each with a job; the default queue was there first."""
    return (Cluster().node("n1", cpu=4).node("n2", cpu=8).queue("a").job(
        "one", queue="a", pods=2, cpu=1).job("two", pods=6, min_member=1, cpu=2))


def sample():
    """Cases of all families."""
    return rows(HERE / "dev-cases.jsonl.gz")[::23]


@pytest.mark.long
@pytest.mark.parametrize("every_call", [False, True], ids=["all nodes at once", "every call"])
def test_a_trace_changes_no_decision(every_call):
    for case in sample():
        plain = Scheduler(load_cache(case), case["conf"]).run_once()
        watched = Scheduler(load_cache(case), case["conf"]).run_once(Trace(every_call))
        assert watched.committed == plain.committed and watched.undone == plain.undone, case["name"]


@pytest.mark.parametrize("capability", [None, 5])
def test_what_is_asked_of_a_cycle_leaves_its_trace_as_it_is(capability):
    """Answers call plugins again, which an observer records."""
    cycle = pair().queue("a", capability=capability).job(
        "more", queue="a", pods=9, min_member=1, cpu=1).run("""\
actions: "enqueue, allocate"
tiers: [{plugins: [{name: gang}, {name: predicates}, {name: capacity}]}]
""", trace=Trace())
    before, ended = list(cycle.trace.records), cycle.as_dict()
    assert [reason for job in cycle.session.jobs for reason in cycle.why(job)]
    assert cycle.as_dict() == ended and str(cycle.log(5)) and cycle.trace.records == before


def test_a_timeline_keeps_what_a_trace_records():
    timeline, trace = Timeline(), Trace()
    cluster = pair().job("more", pods=9, min_member=1, cpu=1)
    for observer in (timeline, trace):
        Scheduler(cluster.cache()).run_once(observer)
    ((_, _, kept, _),) = timeline.kept
    assert [(each.kind, each.action) for each in kept.records] == [
        (each.kind, each.action) for each in trace.records]


@pytest.mark.long
def test_two_runs_give_equal_traces():
    for case in sample():
        one, two = Trace(), Trace()
        Scheduler(load_cache(case), case["conf"]).run_once(one)
        Scheduler(load_cache(case), case["conf"]).run_once(two)
        assert (one.records, one.start) == (two.records, two.start), case["name"]


@pytest.mark.long
def test_both_ways_show_the_same_choices_and_scores():
    """What the arrays say of all nodes at once is what each call says, wherever a node was chosen
    among several.
    """
    compared = 0
    for case in sample():
        traces = Trace(False), Trace(True)
        for trace in traces:
            Scheduler(load_cache(case), case["conf"]).run_once(trace)
        chosen = [[(r["task"], r["node"])
                   for r in trace.of("chose")
                   if r.action == "allocate"]
                  for trace in traces]
        if case["family"] in ("topology", "subgroups"):
            continue  # dry runs are fewer over arrays
        assert chosen[0] == chosen[1], case["name"]
        arrays, calls = traces
        for record in [r for r in calls.of("chose") if r["node"] is not None][:3]:
            each = calls.scores(record["task"])
            at_once = arrays.scores(record["task"])
            for node in each if len(each) > 1 else ():
                if all(node in scores for scores in (each, at_once)) and node == record["node"]:
                    assert sum(at_once[node].values()) == pytest.approx(sum(
                        each[node].values())), (case["name"], record)
                    compared += 1
    assert compared > 15


APART = """
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{app: a}}
spec:
  schedulerName: volcano
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {{matchLabels: {{app: a}}}}
  containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]
"""


def test_who_has_been_placed_shows_in_what_is_said_of_the_next_pod():
    """Such pods are asked about one by one, and of each only what is new is noted."""
    nodes = Cluster()
    for name in ("n1", "n2", "n3"):
        nodes.node(name, cpu=4, labels={"kubernetes.io/hostname": name})
    cluster = nodes.add("---".join(APART.format(name=name) for name in ("a", "b", "c")))
    for every_call in (False, True):
        trace, _ = traced(cluster.objects(), every_call=every_call)
        free = {pod: {row["node"] for row in choices(trace, tasks={f"default/{pod}"})
                      if row["verdict"] in ("chosen", "fits")} for pod in "abc"}
        assert free == {"a": {"n1", "n2", "n3"}, "b": {"n2", "n3"}, "c": {"n3"}}


LEAVES = """
apiVersion: v1
kind: Pod
metadata: {{name: old-{node}, deletionTimestamp: "2024-01-01T00:00:00Z"}}
spec:
  schedulerName: volcano
  nodeName: {node}
  containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]
status: {{phase: Running}}
"""


def test_a_pod_that_fits_only_later_has_scores_of_the_nodes_where_it_will():
    cluster = Cluster().node("n1", cpu=4).node("n2", cpu=8).add("---".join([
        APART.format(name="a"), LEAVES.format(node="n1", cpu=4), LEAVES.format(node="n2", cpu=8)]))
    at_once, each = (traced(cluster.objects(), every_call=every_call)[0].scores("default/a")
                     for every_call in (False, True))
    assert at_once == each and at_once.keys() == {"n1", "n2"}
    assert all(scores["nodeorder"] > 0 for scores in at_once.values())


def searched(trace, number):
    """What was answered between the choice before a record and the choice that it is."""
    chosen = [-1, *(each.number for each in trace.iter("chose") if each.number < number)]
    own = [each["alike"] for each in trace.iter("node_values") if chosen[-1] < each.number < number]
    found = {}
    for record in trace.iter("node_values"):
        if own and record["alike"] == own[-1] and record.number < number:
            for column, values in record["columns"].items():
                for row, value in zip(record["rows"], values, strict=True):
                    found.setdefault(trace.nodes[row], {})[column] = value
    for record in trace.records[chosen[-1] + 1:number]:
        if record.kind == "call" and record.values[0] in NODE_POINTS:
            at_once = record["point"] == "batch_node_order"
            for node, answer in (record["answer"] if at_once else
                                 {record["node"]: record["answer"]}).items():
                found.setdefault(node, {})[f"{record['point']} {record['plugin']}"] = answer
    return found


@pytest.mark.parametrize("gang", [1, 2, 4])
@pytest.mark.parametrize("names", ["ab", "ba"])
@pytest.mark.parametrize("every_call", [False, True])
def test_a_search_has_the_answers_of_its_own_pod(gang, names, every_call):
    """And none where nothing was answered, nor those of the last choice but one."""
    cluster = Cluster().node("n1", cpu=2).node("n2", cpu=3)
    for name in names:
        cluster.job(name, pods=4, min_member=gang, cpu=1).job(f"{name}-2", pods=2, cpu="100m")
    trace, _ = traced(cluster.objects(), every_call=every_call)
    records, other = [*trace.records], trace.records[0]
    choices = list(trace.iter("chose"))
    tasks = {record["task"] for record in choices}
    assert other.kind not in ("node_values", "chose", "call") and len(tasks) > 4
    for record in choices:
        found, columns = trace.searches(tasks, record.number + 1)[record["task"]]
        assert found is record and columns == searched(trace, record.number)
        assert every_call or columns  # of nodes that it does not fit no plugin is asked alone
    for before, record in pairwise(choices):
        trace.records[before.number] = other
        _, columns = trace.searches({record["task"]}, record.number + 1)[record["task"]]
        assert every_call or columns == searched(trace, record.number)
        trace.records[:] = [other if before.number < each.number < record.number and
                            each.kind in ("node_values", "call") else each for each in records]
        found, columns = trace.searches(tasks, record.number + 1)[record["task"]]
        assert found is record and columns == searched(trace, record.number) == {}
        trace.records[:] = records


def test_the_comparison_that_put_a_queue_first():
    trace, _ = traced(pair().objects())
    turns = [tuple(record[name] for name in ("queue", "next", "decided_by"))
             for record in trace.of("queue") if record.action == "allocate"]
    assert turns[0] == ("default", "a", [
        "", 0
    ]), "both shares are 0: the default, which is the older queue, decides"
    plugin, order = turns[1][2]
    assert turns[1][:2] == (
        "a",
        "default") and plugin == "proportion" and order < 0, "queue a has the smaller share now"


def test_how_answers_combined():
    trace, _ = traced(pair().objects())
    for record in trace.of("asked", point="job_enqueueable"):
        calls = trace.calls_of(record)
        assert [call["plugin"] for call in calls] == ["overcommit", "proportion"]
        assert [call["answer"] for call in calls] == [1, 1] and record["answer"] is True


def test_an_admission_shows_both_sides_as_numbers():
    trace, _ = traced(pair().job("three", pods=3, cpu=4).objects())
    record = trace.of("enqueue_comparison", job="default/three", plugin="proportion")[0]
    assert record["min_resources"]["cpu"] == 12000 and record["inqueue"]["cpu"] == 2000
    assert record["asked"]["cpu"] == 14000 and record["limit"]["cpu"] == 12000 and record[
        "short_of"] == ["cpu"]


def test_a_comparison_names_what_is_short_and_where_all_of_it_is_free():
    cluster = Cluster().node("n1", cpu=4, memory="64Gi")
    cluster.job("fits", cpu=1, memory="1Gi").job("large", cpu=8, memory="1Gi")
    shown = [sentence(record) for record in traced(cluster.objects())[0].of("enqueue_comparison")
            if record["plugin"] == "overcommit"]
    assert shown == [
        "overcommit on fits: cpu 1 and memory 1Gi ≤ limit cpu 4.8 and memory 76.8Gi: allowed",
        "overcommit on large: cpu 9 (8 requested) > limit 4.8: refused"]


def test_rounds_are_those_of_the_session():
    trace, ssn = traced(pair().objects())
    rounds = [record["round"] for record in trace.of("deserved_round")]
    assert len(rounds) == len(ssn.plugins["proportion"].rounds)
    assert rounds[-1]["deserved"]["a"]["cpu"] == ssn.plugins["proportion"].queue_opts[
        "a"].deserved.milli_cpu


class Favourite(Plugin):
    """Ten lines of a learner: one node is liked, and one word is said."""

    name = "favourite"

    def on_session_open(self, ssn):
        self.ssn = ssn

    def node_order(self, task, node):
        return 1000.0 if node.name == "n1" else 0.0

    def job_enqueueable(self, job):
        if self.ssn.observer is not None:
            self.ssn.observer.note("word", job=job.uid, said="yes")
        return 1


def test_an_operation_changes_the_sums_of_each_queue_above():
    cluster = (Cluster().node("n1", cpu=4).queue("eng").queue("dev", parent="eng")
               .job("train", queue="dev", pods=2, cpu=1))
    conf = ('actions: "enqueue, allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}, '
            "{name: capacity, enableHierarchy: true}]}]")
    trace, _ = traced(cluster.objects(), conf)
    for placed, record in enumerate(trace.of("do"), 1):
        after = {name: now[0].get("cpu") for what, name, _, now in trace.log[record.number]
                 if what == "queues"}
        assert after == dict.fromkeys(("dev", "eng", "root"), 1000.0 * placed)
    assert placed == 2


def test_a_plugin_of_ones_own_appears_by_itself():
    conf = ('actions: "enqueue, allocate"\ntiers:\n- plugins: [{name: gang}, {name: favourite}]\n'
            "- plugins: [{name: predicates}, {name: proportion}]\n")
    with registered(plugin={"favourite": Favourite}):
        trace, ssn = traced(pair().objects(), conf)
    assert trace.scores("default/one-0") == {"n1": {"favourite": 1000.0, "predicates": 0.0},
                                             "n2": {"favourite": 0.0, "predicates": 0.0}}
    assert trace.of("word")[0].facts == {"job": "default/two", "said": "yes"}
    assert trace.of("job_enqueueable", plugin="favourite") and ssn.committed[0][2] == "n1"


@pytest.mark.long
def test_a_trace_is_plain_data():
    for case in sample()[::4]:
        trace = Trace(every_call=True)
        Scheduler(load_cache(case), case["conf"]).run_once(trace)
        records = [record.as_dict() for record in trace.records]
        assert json.loads(json.dumps(records)) == records


def test_a_fact_that_a_record_has_not_is_refused():
    with pytest.raises(KeyError, match="queue"):
        Record(0, "", "job", ("job",), ("a",))["queue"]


@pytest.fixture
def bench(monkeypatch):
    """Load a file of benchmarks/ by its name; the files find each other, as when they are run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")

    def load(name):
        path = ROOT / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.slow
@pytest.mark.skipif(not EVENTS.exists(),
                    reason=f"the recorded events are not beside this checkout ({EVENTS.name})")
def test_answers_agree_with_the_recorded_events(bench):
    assert bench("trace").compare("dev", None, True, 5) == 1


@pytest.mark.slow
def test_without_an_observer_the_hooks_are_less_than_two_percent_of_the_lines_that_run(bench):
    """Lines, not seconds: they are the same on every machine; benchmarks/trace_off.py has the
    seconds.
    """
    (with_hooks, placed), (without, also_placed) = bench("trace_off").lines_of(30, 400).values()
    assert placed == also_placed == 400
    assert without < with_hooks < 1.02 * without


def test_a_call_s_facts_are_named_also_where_a_state_is_left_out():
    cluster = Cluster().node("n1", cpu=4).job("low", pods=4, cpu=1, min_member=1,
                                              running={"n1": 4}).job("high", cpu=1)
    aware = conf(second="predicates nodeorder", actions="enqueue, preempt") + (
        "configurations:\n"
        "- {name: preempt, arguments: {enableTopologyAwarePreemption: true}}\n")
    trace, _ = traced(scene(cluster, priority("high", 1000), priority("low", 10)), aware, True)
    call = trace.of("call", point="simulate_remove_task")[0]
    assert (call["task"], call["node"]) == ("default/high-0", "n1")
    assert call["removed"].startswith("default/low-")


CLOSED = ("{apiVersion: v1, kind: Node, metadata: {name: closed}, spec: {unschedulable: true}, "
          "status: {allocatable: {cpu: 4, pods: 9}}}\n---\n")


@pytest.mark.parametrize("every_call", [False, True])
@pytest.mark.parametrize("plugins", ["predicates", "gang"])
@pytest.mark.parametrize(("cpu", "verdicts"), [
    (2, "chosen, fits, fits later, does not fit"),
    (6, "chosen, does not fit, does not fit, does not fit"),
    (9, "does not fit, does not fit, does not fit, does not fit")])
def test_each_node_of_a_search_has_its_verdict(every_call, plugins, cpu, verdicts):
    """Also where each node is asked by itself, and where no plugin is asked."""
    cluster = Cluster().node("most", cpu=8).node("less", cpu=4).node("later", cpu=4).node(
        "small", cpu=1).job("a", cpu=cpu).add(LEAVES.format(node="later", cpu=4))
    known = dict(zip(("most", "less", "later", "small"), verdicts.split(", "), strict=True))
    if plugins == "predicates":
        cluster.add(CLOSED)
        known["closed"] = "predicates" if cpu == 2 or not every_call else "does not fit"
    trace, _ = traced(cluster.objects(), conf(plugins, actions="allocate"), every_call=every_call)
    assert {row["node"]: row["verdict"].partition(":")[0] for row in choices(
        trace, "default/a")} == known


@pytest.mark.parametrize(("plugin", "limit"), [("capacity", "limit"), ("proportion", "deserved")])
@pytest.mark.parametrize("most", [3, 4, 5])
def test_a_full_queue_refuses_the_first_pod_that_waits(plugin, limit, most):
    cycle = Cluster().node("n1", cpu=8).queue("q", capability={"cpu": most}).job(
        "train", queue="q", pods=7, min_member=1, cpu=1).run(
            conf=conf("gang", f"predicates {plugin}", actions="enqueue, allocate"))
    assert reasons(cycle.session, cycle.trace, cycle.session.jobs["default/train"]) == [
        f"queue q refuses pod train-{most}: cpu {most + 1} > {limit} {most}"]
