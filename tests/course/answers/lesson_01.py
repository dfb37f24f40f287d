"""Answers to the checks of lesson 01: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_01 import checks

answers(
    checks.not_in_the_copy,
    right=["lost"],
    wrong=[("wide", "refused it"), ("queue nobody", "name of a queue"),
          ("stray", "job made for it"),
           ("train", "got its nodes"), ("helper", "got a node")],
)

answers(
    checks.writes_status,
    right=["close"],
    wrong=[("allocate", "in memory"), ("open", "makes the copy"), ("enqueue", "in the copy"),
           ("backfill", "not the last phase"), ("each action", "once, after all")],
)

answers(
    checks.missing_queue,
    right=["nobody"],
    wrong=[("somebody", "section 1"), ("team", "there already"), ("lost", "the job"),
           ("default", "section 1"), ("Nobody", "section 1")],
)

answers(
    checks.own_actions,
    right=["enqueue, allocate", "enqueue, allocate, backfill, reclaim"],
    wrong=[
        ("allocate", "wide"),
        ("allocate, enqueue", "train has no pod"),
        ("enqueue, allocat", "allocat"),
        ('actions: "enqueue, allocate"', "Only the names"),
        ("enqueue, backfill", "train has no pod"),
    ],
)

answers(
    checks.phase_written,
    right=["Inqueue", "inqueue"],
    wrong=[("Running", "not yet"), ("Pending", "admitted before"), ("Completed", "ended"),
           ("Unknown", "unschedulable"), ("Binding", "state of a pod")],
)

answers(
    checks.stop_at_the_refusal,
    right=[
        "stop at job_enqueueable where answer < 0",
        'stop at job_enqueueable where job == "default/wide"',
        "enqueue_comparison where len(short_of) > 0",
    ],
    wrong=[
        ("stop at job_enqueueable", "where"),
        ("stop at tea time", "allowed are"),
        ("stop at commit", "not refused there"),
        ("stop at overused where answer", "nowhere"),
        ('stop at job_enqueueable where job == "wide"', "default/wide"),
        ('stop at job where job == "default/wide"', "no answer yet"),
    ],
)
