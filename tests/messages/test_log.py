"""What is written at which level, and that nothing is where no level is set."""

import logging

import pytest

from volcano_lab.cluster import Cluster
from volcano_lab.messages import log
from volcano_lab.scheduler import Scheduler
from volcano_lab.simulation import Simulation


@pytest.fixture
def verbosity():
    """Sets a verbosity for one test."""
    yield log.verbosity
    log.verbosity(0)


def cluster():
    return Cluster().node("n1", cpu=4).job("a", pods=2, cpu=1).job(
        "b", pods=2, cpu=3, queue="nowhere")


def run():
    return Scheduler(cluster().cache()).run_once(now=1e9)


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def test_nothing_is_written_at_verbosity_0(capsys, verbosity):
    verbosity(5)
    verbosity(0)
    ssn = run()
    log.logger.error("not asked for here")
    assert lines(capsys) == [] and not ssn.observer.watching


@pytest.mark.parametrize(("number", "fact"), [
    (3, "snapshot: jobs 1, queues 2, nodes 1; objects left out 1"),
    (3, "pod default/a-0 is new"),
    (3, "bound 1 tasks, 0 failed"),
    (4, "pod default/a-0 is now Running"),
    (5, "task default/a-0 waits to be bound to node n1"),
    (5, "a worker takes 1 task to bind"),
])
def test_each_fact_has_its_level(capsys, verbosity, number, fact):
    verbosity(number)
    Simulation(cluster()).run(until=3)
    written = lines(capsys)
    assert f"V{number} {fact}" in written
    assert {line.split()[0] for line in written} <= {f"V{n}" for n in range(1, number + 1)}
    verbosity(number - 1)
    Simulation(cluster()).run(until=3)
    assert not any(line.endswith(fact) for line in lines(capsys))


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
def test_a_verbosity_that_there_is_not_is_reported_in_a_sentence(number):
    with pytest.raises(ValueError, match="allowed is a whole number from 0"):
        log.verbosity(number)


def test_errors_are_shown_unless_they_are_meant(caplog):
    log.error("wrong")
    with log.quiet():
        log.error("wrong on purpose")
    log.error("wrong again")
    assert [record.getMessage() for record in caplog.records] == ["wrong", "wrong again"]
