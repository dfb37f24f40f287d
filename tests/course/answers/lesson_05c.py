"""Answers to the boss after lesson 05: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.scenery import cluster_of

REPAIRS = {"speech": {"guarantee": 4}, "research": {"capability": 14}, "prod": {"capability": 18}}


def _fixed(nightly="speech", **others):
    cluster = cluster_of("05c", "all_started").job("nightly", queue=nightly)
    for queue, settings in (REPAIRS | others).items():
        cluster.queue(queue, **settings)
    return cluster


answers(
    "05c.all_started",
    right=[_fixed(), _fixed("vision"), _fixed(speech={"guarantee": {}}),
           _fixed(prod={"capability": {}}), _fixed("night").queue("night", parent="research"),
           _fixed("default", research={})],
    wrong=[
        (cluster_of("05c", "all_started"), "as it was"),
        (_fixed("research"), "has queues below it"),
        (_fixed("speach"), "its queue speach doesn't exist"),
        (_fixed(speech={}), "What may vision hold"),
        (_fixed(research={}), "Add up"),
        (_fixed(prod={}), "elastic pods of web"),
        (_fixed().node("n5", cpu=8), "Node n5"),
        (_fixed().job("invoice", pods=4), "stay as it was"),
        (_fixed(prod={"guarantee": {}}), "elastic pods of web"),
    ],
)
