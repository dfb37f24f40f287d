"""Answers to the boss after lesson 03: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.scenery import cluster_of

REPAIRS = {"lab": {"capability": 8}, "search": {"weight": 4},
           "ads": {"guarantee": {}, "priority": 0}}


def _fixed(**others):
    cluster = cluster_of("03c", "all_served")
    for queue, settings in (REPAIRS | others).items():
        cluster.queue(queue, **settings)
    return cluster


answers(
    "03c.all_served",
    right=[_fixed(), _fixed(search={"weight": 100}), _fixed(lab={"capability": {}}),
           _fixed(ads={"guarantee": 20, "priority": 0}),
           _fixed(ads={"guarantee": {}}, lab={"capability": 12, "priority": 11})],
    wrong=[
        (cluster_of("03c", "all_served"), "as it was"),
        (_fixed(lab={}), "what lab may hold"),
        (_fixed(ads={"guarantee": {}}), "why is that queue first"),
        (_fixed(search={"weight": 2}), "what search deserves"),
        (_fixed(search={"weight": 9}, ads={"guarantee": 20, "priority": 0}), "deserved 7.95789"),
        (_fixed(search={}, serch={"weight": 4}), "Queue serch is new."),
        (_fixed(ads={"priority": 0}), "guarantees of others"),
        (_fixed(ads={"capability": 24, "priority": 0}), "does not lower that guarantee"),
        (_fixed(ads={"guarantee": {}, "priority": 0, "capability": 10}), "A limit is not needed"),
        (_fixed().node("n6", cpu=12), "Node n6"),
        (_fixed().job("index", min_member=5), "PodGroup index"),
        (_fixed().job("index", queue="ads"), "PodGroup index"),
    ],
)
