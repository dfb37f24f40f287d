"""Answers to the checks of lesson 01: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_01 import checks
from volcano_lab.course.lesson_01.lab import conf_with, small_cluster
from volcano_lab.framework.config.conf import DEFAULT_CONF

answers(
    "01.writes_status",
    right=["close"],
    wrong=[("allocate", "in memory"), ("open", "makes the copy"), ("enqueue", "in the copy"),
           ("backfill", "not the last phase"), ("each action", "once, after all")],
)

answers(
    "01.most_for_wide",
    right=[5.6, 5.6000000001],
    wrong=[(9.6, "all jobs together"), (12, "above the limit"), (8, "train counts, too"),
           (4, "does it leave"), (5, "Subtract")],
)

answers(
    checks.missing_queue,
    right=[small_cluster().queue("nobody")],
    wrong=[(small_cluster().queue("somebody"), "section 1"),
           (small_cluster().queue("team", weight=2), "No queue is new"),
           (small_cluster().queue("team"), "No queue is new"),
           (small_cluster().job("lost", queue="team"), "another queue"),
           (small_cluster().queue("nobody").remove("wide"), "taken away"),
           ("nobody", "cluster.copy()")],
)

answers(
    checks.own_actions,
    right=[conf_with("enqueue, allocate"), conf_with("enqueue, allocate, backfill, reclaim")],
    wrong=[
        (conf_with("allocate"), "wide"),
        (conf_with("allocate, enqueue"), "train has no pod"),
        (conf_with("enqueue, allocat"), "allocat"),
        ("enqueue, allocate", "the tiers"),
        (conf_with("enqueue, backfill"), "train has no pod"),
        (DEFAULT_CONF, "unchanged"),
    ],
)

answers(
    "01.phase_written",
    right=["Inqueue", "inqueue"],
    wrong=[("Running", "not yet"), ("Pending", "admitted before"), ("Completed", "ended"),
           ("Unknown", "unschedulable"), ("Binding", "state of a pod")],
)

answers(
    "01.not_in_the_copy",
    right=["its queue does not exist"],
    wrong=[("it asks for more than the cluster has", "an event of its PodGroup"),
           ("no node has enough idle", "allocate has tried it"),
           ("another queue is served first", "it is in the copy"),
           ("its priority is too low", "decides the order"),
           ("a plugin's name is misspelt", "still answer"), ("wide", "Choose one")],
)

answers(
    checks.stop_at_the_refusal,
    right=[
        "stop at job_enqueueable where answer < 0",
        'stop at job_enqueueable where job == "default/wide"',
        "enqueue_comparison where len(short_of) > 0",
    ],
    wrong=[
        ("stop at job_enqueueable", "below 0"),
        ("stop at enqueue where job", "did you mean action enqueue?"),
        ('stop at action enqueue where job == "wide"', "near it is default/wide"),
        ("stop at job_enqueueable where answer == 0", "are numbers"),
        ("stop at tea time", "allowed are"),
        ("stop at commit", "not refused there"),
        ("stop at overused where answer", "nowhere"),
        ('stop at job_enqueueable where job == "wide"', "near it is default/wide"),
        ('stop at job where job == "default/wide"', "no answer yet"),
    ],
)
