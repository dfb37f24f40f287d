"""Answers to the checks of lesson 13: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.lesson_13 import checks

RECLAIM = "conf/actions=enqueue, allocate, reclaim, backfill"
GHOST, UNCORDON = "remove podgroup/spark-00", "node/m03.unschedulable=false"

answers(
    "13.typing_error",
    right=["1"],
    wrong=[("5", "another name"), ("0", "has the plugin's default"),
           ("none: binpack is off", "in the list"),
           ("the one before: the configuration is refused", "no error"), ("2", "Choose one of")],
)

answers(
    "13.fewest_ghosts",
    right=[1, "1"],
    wrong=[(0, "how much does one"), (2, "the fewest"), (3, "the fewest"), (9, "the fewest"),
           (10, "nine of them"), (-1, "nine of them")],
)

answers(
    "13.about_m01",
    right=["m01 does not have the label"],
    wrong=[("m01 is cordoned", "m03, m06 and m09"), ("m01 is full", "name a resource"),
           ("the queue of the pod", "on every node"), ("7", "Choose one of"),
           ("no", "Choose one of")],
)

answers(
    checks.all_three,
    right=[[GHOST, RECLAIM, UNCORDON], (UNCORDON, GHOST, RECLAIM),
           ["remove podgroup/spark-08", RECLAIM, "node/m09.unschedulable=false"]],
    wrong=[([GHOST], "Which action"), ([GHOST, RECLAIM], "match its selector"),
           ([GHOST, "conf/actions=reclaim", UNCORDON], "No action of the configuration admits"),
           ([GHOST, RECLAIM, "node/c01.labels[disk]=ssd"], "3 of 4 nodes with disk=ssd"),
           ([RECLAIM, UNCORDON], "without a pod"),
           (["remove job/nlp/pretrain", GHOST, UNCORDON], "has to keep"),
           (["remove job/web/shop"], "has lost pods"),
           ([GHOST, RECLAIM, UNCORDON, "queue/ci.weight=9"], "one for each job"),
           (["job/ci/nightly-4412.minAvailable=17", RECLAIM, UNCORDON], "only its team"),
           ([GHOST, RECLAIM, "job/reindex.nodeSelector="], '"job/reindex.nodeSelector=" changes'),
           (["queue/nobody.weight=9"], "there is no queue"), ("all", "a list of changes"),
           ([GHOST, 5], '"5" sets nothing'), (["node/m03.unschedulabel=false"], "unschedulable?")],
)
