"""What is written at which level, and that nothing is when nobody asked."""

import logging
import re

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF
from volcano_lab.framework.observer import joined
from volcano_lab.messages import log
from volcano_lab.scheduler import Scheduler
from volcano_lab.trace.session_log import SessionLog, watched


@pytest.fixture
def verbosity():
    """Sets a verbosity for one test."""
    yield log.verbosity
    log.verbosity(0)


def run(cluster=None):
    cluster = cluster or Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).job(
        "b", pods=2, cpu=3, queue="nowhere")
    return Scheduler(cluster.cache()).run_once(now=1e9)


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def test_nothing_is_written_at_verbosity_0(capsys, verbosity):
    verbosity(5)
    verbosity(0)
    ssn = run()
    log.logger.error("nobody asked for it here")
    assert lines(capsys) == [] and not ssn.observer.watching


@pytest.mark.parametrize("number", range(1, 6))
def test_facts_up_to_the_level_are_written_and_no_others(capsys, verbosity, number):
    verbosity(number)
    run()
    levels = {line.split()[0] for line in lines(capsys)}
    assert levels <= {f"V{n}" for n in range(1, number + 1)}
    assert (f"V{number}" in levels) == (number >= 3)


@pytest.mark.parametrize(("number", "fact"), [
    (3, "session session-1 is open: jobs 1, queues 2, nodes 1"),
    (3, "session session-1 is closed"),
    (3, "snapshot: jobs 1, queues 2, nodes 1; objects left out 1"),
    (3, "pod default/a-0 is new"),
    (3, "allocate default/a-0 on n1"),
    (3, "commit of allocate default/a-0 on n1"),
    (3, "overused(default): False"),
    (3,
     "node n1 now: idle cpu 3000.00, memory 0.00, pods 109.00, used cpu 1000.00, memory 0.00, "
     "pods 1.00, releasing cpu 0.00, memory 0.00"),
    (4, "left out: job default/b: its queue nowhere doesn't exist"),
    (4, "the cluster offers cpu 4000.00, memory 0.00, pods 110.00"),
    (4, "job default/a has priority 0 (no class)"),
    (3, "queue default is next"),
    (4, "round 1 of deserved: default cpu 2 (done); left cpu 2"),
    (5, "overcommit on a: cpu 2 ≤ limit 4.8: allowed"),
    (4,
     "queue default: deserved cpu 2000.00, memory 0.00, pods 2.00, "
     "real capability cpu 4000.00, memory 0.00, pods 110.00, allocated cpu 0.00, memory 0.00, "
     "request cpu 2000.00, memory 0.00, pods 2.00, elastic cpu 0.00, memory 0.00, "
     "inqueue cpu 0.00, memory 0.00, share 0.00"),
    (5,
     "node n1: idle cpu 4000.00, memory 0.00, pods 110.00, used cpu 0.00, memory 0.00, "
     "releasing cpu 0.00, memory 0.00, pipelined cpu 0.00, memory 0.00"),
    (5, "node n1 of 1 is the best for default/a-0"),
    (4, "job_enqueueable(default/a): True"),
    (5, "action allocate begins"),
    (5, "job_ready(default/a): True"),
])
def test_each_fact_has_its_level(capsys, verbosity, number, fact):
    verbosity(number)
    run()
    assert f"V{number} {fact}" in lines(capsys)
    verbosity(number - 1)
    run()
    assert not any(line.endswith(fact) for line in lines(capsys))


def test_a_discard_is_told(capsys, verbosity):
    verbosity(3)
    run(Cluster().node("n1", cpu=9).node("n2", cpu=3).job("a", pods=2, cpu=5))
    told = lines(capsys)
    assert "V3 discard of allocate default/a-0" in told
    assert "V3 no node for default/a-1: 0/2 nodes are unavailable: 2 Insufficient cpu." in told


@pytest.mark.parametrize(("cluster", "told"), [
    (Cluster().node("n1", cpu=4, pods=4).job("a", pods=4, cpu=1, running={"n1": 4}).job(
        "b", pods=2, cpu=2),
     r"overused\(default\): True \(deserved cpu 4000.00, .*, allocated cpu 4000.00, .*, "
     r"share 1.00\)"),
    (Cluster().node("n1", cpu=4).job("a", pods=3, cpu=1).job("b", queue="b", pods=2,
                                                             cpu=1).queue("b"),
     r"allocatable\(default, default/a-2\): False \(deserved cpu 2000.00, .*, "
     r"real capability cpu 4000.00, .*, allocated cpu 2000.00, .*, share 1.00, "
     r"the task asks for cpu 1000.00, .*\)"),
])
def test_a_queue_that_has_too_much_is_told_of_with_its_numbers(capsys, verbosity, cluster, told):
    verbosity(3)
    Scheduler(cluster.cache(), DEFAULT_CONF.replace("enqueue, ", "")).run_once(now=1e9)
    assert re.search(f"V3 {told}$", "\n".join(lines(capsys)), re.MULTILINE)


def test_a_job_that_was_not_let_in_is_passed_over(capsys, verbosity):
    verbosity(4)
    run(Cluster().node("n1", cpu=4).job("a", cpu=9))
    assert "V4 job default/a is passed over: nobody has let it in" in lines(capsys)


def test_hyper_nodes_are_told_with_their_nodes(capsys, verbosity):
    verbosity(4)
    run(Cluster().node("n1", cpu=4).node("n2", cpu=4).add("""
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "n.*"}}}]}
""").job("a", cpu=1))
    assert "V4 hyper node rack, tier 1: n1, n2" in lines(capsys)


def test_the_log_changes_no_decision(capsys, verbosity):
    expected = run().committed
    verbosity(5)
    assert run().committed == expected


def test_a_level_is_a_level_of_python_s_logging(caplog, verbosity):
    with caplog.at_level(log.level(4), logger="volcano_lab"):
        log.v(4, "a %s", "fact")
        log.v(5, "another")
    assert [(record.levelname, record.getMessage())
            for record in caplog.records] == [("V4", "a fact")]
    assert logging.DEBUG < log.level(5) < log.level(1) < logging.INFO


@pytest.mark.parametrize("number", [-1, 6])
def test_a_verbosity_that_there_is_not_is_told_in_a_sentence(number):
    with pytest.raises(ValueError, match="allowed is a whole number from 0"):
        log.verbosity(number)


def test_errors_are_shown_unless_they_are_meant(caplog):
    log.error("wrong")
    with log.quiet():
        log.error("wrong on purpose")
    log.error("wrong again")
    assert [record.getMessage() for record in caplog.records] == ["wrong", "wrong again"]


def test_the_log_stands_beside_another_observer(capsys, verbosity):
    seen = []

    class Mine(SessionLog):
        def committed(self, statement, operation):
            seen.append(operation.task.key)

    verbosity(3)
    Scheduler(Cluster().node("n1", cpu=4).job("a", cpu=1).cache()).run_once(Mine(), now=1e9)
    assert seen == ["default/a-0"] and "V3 commit of allocate default/a-0 on n1" in lines(capsys)
    verbosity(0)
    assert watched(None) is None and joined(None) is None
