"""Each plan has its parts in both languages, and the keys of its exit ticket are decided so."""

import nbformat
import pytest

import workshop
from volcano_lab import Cluster

PLANS = [*workshop.SECTIONS]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_has_as_many_answers_as_questions(name, language):
    _, parts = workshop.plan(name, language)
    questions, answers = (parts[part].count("\n1. ") + sum(
        f"\n{number}. " in parts[part] for number in range(2, 9)) for part in ("ticket", "key"))
    assert questions == answers >= 3 and parts["goals"].count("\n- ") >= 4


@pytest.mark.parametrize("name", PLANS)
def test_the_chinese_plan_is_chinese(name):
    title, parts = workshop.plan(name, "zh")
    assert all(any(sign >= "\u4e00" for sign in text) for text in (title, *parts.values()))


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", PLANS)
def test_the_deck_begins_with_a_picture_and_takes_the_sections_of_the_plan(name, language):
    for number, wanted in workshop.SECTIONS[name].items():
        notebook = nbformat.read(workshop.notebook_of(number, language), 4)
        kept = workshop.cut(notebook, wanted)
        heads = [cell.source.partition("\n")[0] for cell in kept.cells
                 if cell.cell_type == "markdown" and cell.source.startswith("## ")]
        assert len(kept.cells) > 2 and len(heads) <= len(wanted) and heads
    first = nbformat.read(workshop.notebook_of(next(iter(workshop.SECTIONS[name])), language), 4)
    assert workshop.scene(first).startswith("<img")


def deserved(cluster):
    return {row["queue"]: row["deserved"].get("cpu") for row in cluster.run().queues()}


def test_the_shares_of_the_tickets():
    hour = Cluster().node("n1", cpu=40).queue("a", weight=1).queue("b", weight=3)
    hour.job("x", queue="a", pods=40, cpu=1).job("y", queue="b", pods=20, cpu=1)
    found = deserved(hour)
    assert (found["a"], found["b"]) == (20, 20) and "Both deserve 20" in key("60-minutes")
    day = Cluster().node("n1", cpu=30)
    for queue, pods in (("a", 4), ("b", 30), ("c", 30)):
        day.queue(queue, weight=1).job(queue, queue=queue, pods=pods, cpu=1, min_member=1)
    found = deserved(day)
    assert [found[queue] for queue in "abc"] == [4, 13, 13] and "4, 13 and 13" in key("a-day")


def test_a_gang_below_its_minimum_starts_no_pod():
    cluster = Cluster().node("n1", cpu=3).job("gang", pods=5, cpu=1, min_member=4)
    assert cluster.run().jobs()[0]["placed"] == 0 and "3. None" in key("60-minutes")


@pytest.mark.parametrize(("asked", "admitted"), [(14, True), (15, False)])
def test_the_limit_of_overcommit_on_the_ticket(asked, admitted):
    plugins = [{"name": "gang"}, {"name": "overcommit"}]
    conf = {"actions": "enqueue", "tiers": [{"plugins": plugins}]}
    cluster = Cluster(conf=conf).node("n1", cpu=20).job("old", pods=10, cpu=1, running={"n1": 10})
    cluster.job("new", pods=asked, cpu=1)
    [phase] = [row["phase"] for row in cluster.run().jobs() if row["job"].endswith("new")]
    assert (phase == "Inqueue") == admitted and "= 14" in key("half-a-day")


@pytest.mark.parametrize(("pods", "placed"), [(10, 10), (11, 0)])
def test_a_queue_may_hold_what_the_guarantees_of_others_leave(pods, placed):
    cluster = Cluster().node("n1", cpu=20).queue("a", capability=12).queue("b", guarantee=10)
    cluster.job("x", queue="a", pods=pods, cpu=1)
    assert cluster.run().jobs()[0]["placed"] == placed and "1. 10:" in key("half-a-day")


def key(name):
    return workshop.plan(name, "en")[1]["key"]
