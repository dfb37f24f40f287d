"""Answers to the boss after lesson 06: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.scenery import cluster_of


def standstill():
    return cluster_of("06c", "all_at_work")


def _fixed(*left_out: str):
    cluster = standstill()
    if "report" not in left_out:
        cluster.queue("reserve", guarantee=8)
    if "train" not in left_out:
        cluster.job("train", min_member=3)
    if "infer" not in left_out:
        cluster.queue("serving", capability={"cpu": 4})
    if "backup" not in left_out:
        cluster.queue("backups")
    return cluster


answers(
    "06c.all_at_work",
    right=[_fixed(), _fixed("report").queue("reserve", guarantee={}),
           _fixed("backup").job("backup", queue="research")],
    wrong=[
        (standstill(), "as it was"),
        (_fixed("backup"), "Look at backup"),
        (_fixed("infer"), "Look at infer"),
        (_fixed("report"), "Look at report"),
        (_fixed("train"), "node by node"),
        (_fixed("report").job("report", queue="reserve"), "compare what it requests"),
        (_fixed("train").queue("reserve", guarantee=25), "compare what it requests"),
        (_fixed().queue("reserve", guarantee=28).job("report", queue="reserve"),
         "deserves too little"),
        (_fixed().job("report", min_member=1), "report could start with 1 of its 9 pods"),
        (_fixed().job("train", min_member=2), "train could start with 2 of its 4 pods"),
        (_fixed().node("n4", cpu=16), "Node n4"),
        (_fixed().job("report", pods=3), "stay as it was"),
        (standstill().job("train", cpu=4), "Pod train-0"),
        (_fixed().job("train", min_member=2).queue("research", capability=12), "Look at train"),
    ],
)
