"""Lesson 16: what the hints say of the cluster after the clean-up is so."""

from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.lesson_16.checks import CONF, after_the_cleanup


def test_train_runs_when_eval_asks_for_gpus_but_in_the_same_queue():
    cluster = after_the_cleanup().queue("prod", capability=24)
    cluster.job("train", network_topology={"mode": "hard", "highestTierAllowed": 2})
    cycle = cluster.run(CONF.replace("backfill", "backfill, reclaim"))
    train, eval_ = cycle.session.jobs["default/train"], cycle.session.jobs["default/eval"]
    assert all(task.node_name for task in train.tasks.values())
    assert train.queue == eval_.queue == "speech"
    hint = checks_of("16")["who_pays"]("two of train").text
    assert "train is in queue speech, like eval" in hint
