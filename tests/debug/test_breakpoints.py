"""Breakpoints and symptoms: they stop where they should, and refuse what they can't read in a
sentence.
"""

from __future__ import annotations

import pytest
from recorded_cases import HERE, rows

from volcano_lab.cli.replay import load_cache
from volcano_lab.cluster import Cluster
from volcano_lab.debug.breakpoints import Breakpoint, BreakpointError, Expression
from volcano_lab.debug.presets import SYMPTOMS, find
from volcano_lab.messages import OneSentence
from volcano_lab.scheduler import Scheduler, traced
from volcano_lab.trace import Trace
from volcano_lab.trace.stepper import Stepper


def two_queues():
    """Queue a holds all it deserves; queue b gets what is left."""
    return (Cluster().node("n1", cpu=4).queue("a").queue("b").job(
        "old", queue="a", pods=2, cpu=1, running={"n1":
                                                  2}).job("more", queue="a", pods=2, cpu=1).job(
                                                      "new", queue="b", pods=2, cpu=1))


@pytest.mark.parametrize(("text", "point", "facts"), [
    ('stop at overused where queue == "b" and not answer', "overused",
     {"queue": "b", "answer": False}),
    ('allocatable where plugin == "proportion" and task == "default/new-0"', "allocatable",
     {"task": "default/new-0"}),
    ('stop at action allocate where point == "job_ready" and answer', "job_ready", {"answer": True
                                                                                    }),
])
def test_stops_at_the_first_record_of_which_it_holds(text, point, facts):
    trace, _ = traced(two_queues().objects())
    record = Stepper(trace).find(Breakpoint(text))
    assert record["point"] == point and {name: record[name] for name in facts} == facts
    assert not any(Breakpoint(text)(earlier) for earlier in trace.records[: record.number])


def test_stops_at_operations_and_goes_backwards():
    trace, _ = traced(two_queues().objects())
    stepper = Stepper(trace)
    first = stepper.find(Breakpoint('stop at allocate where job == "default/new"'))
    last = stepper.goto(len(trace.records)).find(Breakpoint("stop at commit"), backwards=True)
    assert first.kind == "do" and last.kind == "commit" and first.number < last.number
    assert stepper.find(Breakpoint("stop at evict")) is None and stepper.at == last.number


@pytest.mark.parametrize(("text", "value"), [
    ("share > 0.5", True),
    ("missing > 1", False),
    ("1 < missing", False),
    ("share <= missing", False),
    ("'a' in missing", False),
    ("'a' not in missing", True),
    ("missing is None", True),
    ("queue in ('a', 'b')", True),
    ("queue not in ['a']", False),
    ("not answer", False),
    ("len(victims) == 2", True),
    ("limit['cpu'] - asked['cpu'] < 0", True),
    ("limit['gpu'] is None", True),
    ("0 < share < 1", True),
    ("max(1, 2) * -2 + 1", -3),
    ("'x' if answer else 'y'", "x"),
    ("answer or nothing", True),
    ("any([0, share])", True),
    ("share / 3 == 0.25", True),
])
def test_expressions_over_recorded_values(text, value):
    names = {
        "share": 0.75, "queue": "a", "answer": True, "victims": ["p", "q"], "limit": {"cpu": 1.0},
        "asked": {"cpu": 2.0}
    }
    assert Expression(text)(names) == value


@pytest.mark.parametrize("text", [
    "__import__('os').system('true')",
    "(lambda: 1)()",
    "queue.__class__",
    "[x for x in victims]",
    "open('f')",
    "f'{queue}'",
    "queue := 1",
    "len(victims, key=1)",
    "{1: 2}",
    "",
])
def test_expressions_that_could_do_more_than_look_are_refused(text):
    with pytest.raises(BreakpointError, match="the condition"):
        Expression(text)


def test_what_it_cannot_stop_at_is_said_with_what_is_allowed():
    with pytest.raises(
            BreakpointError,
            match=r'stops at "overusedd" \(did you mean overused\?\); allowed are an ext'):
        Breakpoint("stop at overusedd")
    with pytest.raises(BreakpointError, match="has no value here"):
        Expression("queue + 1")({"queue": "a"})


@pytest.mark.parametrize(("text", "said"), [
    ("allocate where nod == 3", '"nod" is no field of allocate; it has operation, task, job, node'),
    ("overused where job is None",
     '"job" is no field of overused; it has point, tier, plugin, queue'),
    ("victims where chosn",
     '"chosn" is no field of victims; it has action, task, node, candidates'),
])
def test_a_misspelt_fact_is_said_with_the_names_that_exist(text, said):
    with pytest.raises(BreakpointError, match=said):
        Breakpoint(text)


@pytest.mark.parametrize("text", ["x" * 10**6, "\x1b[31m", "anything where \x1b",
                                  "anything where " + "x" * 10**6, "[/]", "where", ""])
def test_whatever_is_no_breakpoint_is_one_short_sentence(text):
    with pytest.raises(OneSentence) as shown:
        Breakpoint(text)
    assert len(str(shown.value)) <= 500 and str(shown.value).isprintable()


def test_where_a_breakpoint_stops_nowhere_it_says_why():
    trace, _ = traced(two_queues().objects())
    assert Breakpoint("anything where nod == 3").nowhere(trace).startswith('"nod" is no field of')
    assert Breakpoint("evict").nowhere(trace) == 'this cycle records nothing at "evict".'
    assert Breakpoint("allocate where number < 0").nowhere(trace) == ""


@pytest.mark.parametrize(("text", "said"), [
    ('allocate where job == "new"', 'no job of allocate is "new"; near it is default/new.'),
    ('action allocate where queue == "bb"', 'no queue of action allocate is "bb"; near it is b.'),
    ('anything where answer and action == "alocate"',
     'no action of anything is "alocate"; near it is allocate.'),
    ('action enqueue where queue == "zoo"', 'no queue of action enqueue is "zoo"; there are a, b.'),
    ('overused where queue == "zoo" or queue == "b"', ""),
])
def test_a_name_that_no_record_has_is_said_with_those_near_it(text, said):
    trace, _ = traced(two_queues().objects())
    assert Breakpoint(text).nowhere(trace) == said


@pytest.mark.parametrize("text", [
    "'a' * 1000000000", "[[0] * 100000] * 100000", "'a' + 'a'", "2 ** 2 ** 99", "1 % 0", "~number",
    "not " * 5000 + "x", "x+" * 5000 + "x", "(" * 400 + ")" * 400, "len(" * 90 + "x" + ")" * 90,
    "-" * 499 + "1", "True()", "max()", "queue[0][0][0]", "number / 0", "9" * 499,
])
def test_no_expression_takes_memory_or_time(text):
    """Each is refused in a sentence, or has a value at once."""
    try:
        Expression(text)({"queue": "a", "number": 1})
    except BreakpointError as error:
        assert str(error).startswith("the condition") and len(str(error)) < 400


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name", "families"), [
    (0, "queue", ("fair_share", )),
    (1, "queue", ("fair_share", )),
    (2, "queue", ("fair_share", "contention")),
    (3, "job", ("fair_share", )),
    (4, "job", ("fair_share", "hierarchy")),
    (5, "", ("reclaim", )),
    (6, "queue", ("reclaim", )),
    (7, "", ("preempt", )),
    (8, "queue", ("hierarchy", "capacity_flat")),
    (9, "job", ("gang", )),
    (10, "", ("gang", )),
    (11, "job", ("fair_share", )),
])
def test_every_symptom_occurs_and_opens_the_stepper_at_the_place_that_decides(
        number, name, families):
    symptom = SYMPTOMS[number]
    assert symptom.about == name
    for case in (case for case in rows(HERE / "dev-cases.jsonl.gz") if case["family"] in families):
        trace = Trace()
        ssn = Scheduler(load_cache(case), case["conf"]).run_once(trace)
        stepper = Stepper(trace)
        for each in {"queue": ssn.queues, "job": ssn.jobs, "": [""]}[name]:
            record = find(stepper, symptom, each)
            if record is not None:
                assert stepper.record is record and symptom.breakpoint(each)(record)
                assert not name or each in str(record.facts)
                return
    pytest.fail(f"no case of {families} has the symptom {symptom.seen}")


def test_a_symptom_of_a_queue_asks_for_its_name():
    with pytest.raises(ValueError, match="is one of a queue; name it"):
        SYMPTOMS[0].breakpoint()
