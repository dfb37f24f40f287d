"""Answers to the checks of lesson 02: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_02 import checks
from volcano_lab.course.lesson_02.checks import GPU


def _strict(request, room):
    return all(amount <= room.get(name, 0) for name, amount in request.items())


def _forgetful(request, room):
    return all(amount - room.get(name, amount) < 0.1 for name, amount in request.items())


def _careless(request, room):
    return all(amount - room[name] < 0.1 for name, amount in request.items())


def _only_of_the_node(request, room):
    return all(request[name] - amount < 0.1 for name, amount in room.items())


def _too_tolerant(request, room):
    return all(amount - room.get(name, 0) <= 0.1 for name, amount in request.items())


def _any(request, room):
    return any(amount - room.get(name, 0) < 0.1 for name, amount in request.items())


def _fits(request, room):
    return all(amount - room.get(name, 0) < 0.1 for name, amount in request.items())


answers(
    checks.half_a_gibibyte,
    right=["512Mi", "0.5Gi", "524288Ki", "536870912"],
    wrong=[
        ("512m", "a half of one byte"),
        ("512M", "512,000,000 bytes"),
        ("512 megabytes", "not a quantity"),
        ("1Gi", "too much"),
        ("500Mi", "too little"),
    ],
)

answers(
    checks.largest_request,
    right=[962, "962"],
    wrong=[(963, "no pod of b starts"), (1000, "no pod of b starts"), (900, "larger one"),
           (0, "larger one"), (961, "larger one")],
)

answers(
    checks.no_gpus,
    right=[{"cpu": 4, GPU: 0}, {"cpu": "4", GPU: "0"}],
    wrong=[
        ({"cpu": 4}, "does not mention"),
        ({"cpu": 4, "gpu": 0}, "full name"),
        ({"cpu": 0, GPU: 0}, "no limit"),
        ({GPU: 0}, "does not limit CPU"),
        ({"cpu": 2, GPU: 0}, "2 CPUs"),
        ({"cpu": 4000, GPU: 0}, "whole CPUs"),
    ],
)

answers(
    checks.fits,
    right=[_fits],
    wrong=[
        (_strict, "tolerance"),
        (_forgetful, "missing counts as zero"),
        (_careless, "idle.get"),
        (_only_of_the_node, "one of them"),
        (_any, "Every resource"),
        (_too_tolerant, "not 0.1 itself"),
        (lambda request, room: "yes", "True or False"),
        (lambda request: True, "TypeError"),
    ],
)

answers(
    "02.overused_from",
    right=[81, "81"],
    wrong=[(82, "strict"), (80, "1.081"), (81.081, "Whole"), (1000, "whole node"),
           (37, "queue a"), (500, "below 0.1")],
)

answers(
    "02.room_at_enqueue",
    right=[10, "10"],
    wrong=[(11, "1001"), (9, "999"), (0, "10 are left"), (1000, "holds 990 already"),
           (990, "may still come"), (5, "strictly")],
)
