"""The calendar: microseconds are exact, nothing happens in the past or after it was taken off."""

import pytest

from volcano_lab.simulation.calendar import Calendar


@pytest.mark.long
def test_each_millisecond_is_exact():
    calendar = Calendar()
    assert [calendar.after(n / 1000, print).time for n in range(5000)] == [
        n * 1000 for n in range(5000)]


def test_what_would_be_in_the_past_happens_now():
    happened = []
    calendar = Calendar(lambda entry: happened.append((entry.kind, calendar.now)))
    calendar.run(until=3.0)
    calendar.after(-2.0, dict)
    calendar.run(until=4.0)
    assert happened == [("dict", 3.0)]


def test_what_was_taken_off_does_not_happen():
    happened = []
    calendar = Calendar(lambda entry: happened.append(entry.kind))
    off = [calendar.after(seconds, list).number for seconds in (2, 3)]
    for seconds in (1, 3):
        calendar.after(seconds, dict)
    for number in off:
        del calendar.entries[number]
    assert {entry.kind for entry in calendar.entries.values()} == {"dict"}
    calendar.run(until=4)
    assert happened == ["dict", "dict"] and calendar.done == 2


def test_what_is_cancelled_is_of_the_kinds_and_has_the_facts():
    calendar = Calendar()
    for kind in (dict, list, tuple):
        for uid in ("a", "b"):
            calendar.after(1.0, kind, uid=uid)
    calendar.cancel("dict", "list", uid="a")
    assert [(entry.kind, entry.facts["uid"]) for entry in calendar.entries.values()] == [
        ("dict", "b"), ("list", "b"), ("tuple", "a"), ("tuple", "b")]
    calendar.cancel("tuple")
    assert [entry.kind for entry in calendar.entries.values()] == ["dict", "list"]
