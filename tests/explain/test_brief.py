"""What of an answer is shown at first: each fact once, and the cheapest change of each kind."""

from pathlib import Path

import pytest

from volcano_lab.changes import Change
from volcano_lab.cluster import Cluster
from volcano_lab.explain import Remedy, brief
from volcano_lab.explain.explanation import Cause, Explanation
from volcano_lab.explain.options import Rank
from volcano_lab.messages import Message
from volcano_lab.messages.message import TEXTS

ROOT = Path(__file__).parents[2]
HOLDERS = [Message("holder", job="default/old", amount={"cpu": 4000.0}, about=None, init=None)]
ENDS = Message("until.ends", what=Message("until.job"), n=1, jobs=["default/old"], others=None)
ADMITTED = Message("pods_later", pods=2)


def test_what_is_left_out_at_first_has_a_text():
    named = {*brief.DETAILS["unless"], *brief.DETAILS["beside"], *brief.DETAILS["first"]}
    assert named <= TEXTS.keys()
    assert not [code for code in TEXTS
                if code.endswith(".brief") and code.removesuffix(".brief") not in TEXTS]


PARAGRAPHS = [
    ([Cause("overused", "A sum."), Cause("held_by", Message(
        "held_by.resources", resources=["cpu"], holders=HOLDERS))],
     ["A sum. Held by default/old 4."]),
    ([Cause("overused", "A sum."), Cause("pods_later", ADMITTED)], ["A sum."]),
    ([Cause("cluster_too_small", "A sum."), Cause("pods_later", ADMITTED)],
     ["A sum.", str(ADMITTED)]),
    ([Cause("promise_lost", "It goes on."), Cause("cluster_loops", [
        Message("cluster_loops", n=1, cycles=12), "By reclaim."])], ["It goes on."]),
    ([Cause("cluster_loops", [Message("cluster_loops", n=1, cycles=12), "By reclaim."])],
     [f"{Message('cluster_loops', n=1, cycles=12)} By reclaim."]),
]


@pytest.mark.parametrize(("causes", "expected"), PARAGRAPHS)
def test_paragraphs_without_details(causes, expected):
    found = Explanation("job default/train", "It waits.", causes)
    assert brief.paragraphs(found, wide=False) == expected
    assert brief.paragraphs(found, wide=True) == [cause.text for cause in causes]


def test_until_when_a_job_waits_stands_above_the_changes():
    found = Explanation("job default/train", [Message("job.waits", job="train", status=[]), ENDS])
    assert brief.head(found, wide=True, looks=False).endswith(str(ENDS))
    assert str(ENDS) not in brief.head(found, wide=True, looks=True)
    assert brief.changes_head(found, wide=False) == (
        "It waits for the end of default/old, which would be enough now. "
        "What would change it (each was run):")


def remedy(rank, *brings, settings=("queue/a.weight=2",)):
    return Remedy(tuple(map(Message, brings)), Change(settings), rank, None)


SOME = ("gains.loop_ends", "gains.left")
CHOSEN = [
    ([remedy(Rank.QUEUE), remedy(Rank.QUEUE), remedy(Rank.JOB), remedy(Rank.NODES),
      remedy(Rank.LESS)], [0, 2, 3]),
    ([remedy(Rank.QUEUE), remedy(Rank.QUEUE)], [0, 1]),  # none is left out alone
    ([remedy(Rank.QUEUE), remedy(Rank.JOB, *SOME), remedy(Rank.LESS, *SOME)], [0]),
    ([remedy(Rank.JOB, *SOME), remedy(Rank.QUEUE)], [0, 1]),
    ([remedy(Rank.QUEUE), remedy(Rank.WAIT, settings=()), remedy(Rank.JOB)], [0, 2]),
    ([remedy(Rank.WAIT), remedy(Rank.QUEUE)], [0, 1]),  # the end of a job and a setting
]


@pytest.mark.parametrize(("remedies", "expected"), CHOSEN)
def test_the_changes_that_are_shown_at_first(remedies, expected):
    left = []
    shown = [*brief.chosen(Explanation("job default/train", [ENDS]), remedies, left)]
    assert [*map(id, shown)] == [id(remedies[number]) for number in expected]
    kept = {*map(id, shown)}
    assert [*map(id, left)] == [id(each) for each in remedies
                                if id(each) not in kept and (
                                    each.rank != Rank.WAIT or each.tried.settings)]


def test_a_change_in_few_words():
    cluster = Cluster.read(ROOT / "docs/pending/queue-full.yaml")
    found = {each.tried.settings: each for each in cluster.why("train").remedies}
    queue, moved = found["queue/research.weight=2",], found["job/default/train.queue=default",]
    assert brief.texts(queue, False) == ("queue research: weight 1 -> 2", "placed on n2 and 3 more")
    assert brief.texts(moved, False) == (
        "job default/train: in queue default or prod (create it again)",
        "placed on n1 and 3 more; sweep waits")
    assert brief.texts(moved, True) == (moved.change, moved.effect)
