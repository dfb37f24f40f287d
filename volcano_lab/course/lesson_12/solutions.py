"""Lesson 12: solutions that later cells and checks build on, so that they do not depend on what a
reader wrote before.
"""

from __future__ import annotations

from volcano_lab.course.lesson_12.own_steps import held, place, waiting
from volcano_lab.framework.action import Action
from volcano_lab.framework.plugin import Plugin
from volcano_lab.framework.points.rules import PERMIT


class Spread(Plugin):
    def on_session_open(self, ssn):
        self.ssn = ssn

    def node_order(self, task, node):
        rack = node.labels.get("rack")
        there = 0
        for mate in self.ssn.jobs[task.job].tasks.values():
            if mate.node_name and self.ssn.nodes[mate.node_name].labels.get("rack") == rack:
                there += 1
        return -100 * there


class WaitsLongest(Plugin):
    def on_session_open(self, ssn):
        self.since = {}
        for job in ssn.jobs.values():
            if job.has_pending_tasks():
                known = self.since.get(job.queue, ssn.now)
                self.since[job.queue] = min(known, job.creation_timestamp)
        self.now = ssn.now

    def queue_order(self, left, right):
        return self.since.get(left.name, self.now) - self.since.get(right.name, self.now)


class Maintenance(Plugin):
    def predicate(self, task, node):
        if node.labels.get("maintenance") == "tonight" and task.pod.metadata.labels.get(
                "short") != "yes":
            return "maintenance tonight, short pods only"
        return None


class Protect(Plugin):
    def reclaimable(self, task, candidates):
        return [other for other in candidates
                if other.pod.metadata.labels.get("keep") != "yes"], PERMIT


class FirstAid(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            jobs = waiting(ssn, queue)
            if jobs and not held(ssn, queue):
                place(ssn, jobs[0])
