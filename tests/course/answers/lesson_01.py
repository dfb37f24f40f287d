"""Answers to the checks of lesson 01: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_01 import checks

answers(
    checks.not_in_the_copy,
    right=["lost", "default/lost"],
    wrong=[
        ("wide", "is in the copy"),
        ("nobody", "name of a queue"),
        ("stray", "job made for it"),
    ],
)

answers(
    checks.writes_status,
    right=["close"],
    wrong=[("allocate", "in memory"), ("open", "copy")],
)

answers(
    checks.own_actions,
    right=["enqueue, allocate", "enqueue, allocate, backfill, reclaim"],
    wrong=[
        ("allocate", "wide"),
        ("allocate, enqueue", "train has no pod"),
        ("enqueue, allocat", "allocat"),
        ('actions: "enqueue, allocate"', "Only the names"),
    ],
)

answers(
    checks.phase_written,
    right=["Inqueue", "inqueue"],
    wrong=[
        ("Running", "not yet"),
        ("Pending", "let in"),
        ("Completed", "ended"),
        ("Unknown", "Choose"),
    ],
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
        ("stop at commit", "not let in"),
        ("stop at overused where answer", "nowhere"),
        ('stop at job_enqueueable where job == "wide"', "default/wide"),
        ('stop at job where job == "default/wide"', "no answer yet"),
    ],
)

answers(
    checks.dump_to_a_file,
    right=["SIGUSR1", "usr1"],
    wrong=[("SIGUSR2", "log"), ("SIGHUP", "configuration"), ("SIGKILL", "Choose")],
)
