"""Answers to the checks of lesson 12: right ones, and wrong ones with words of their hints."""

from __future__ import annotations

from course.answers import answers
from volcano_lab.course.kit.checking import checks_of
from volcano_lab.course.lesson_12 import checks
from volcano_lab.course.lesson_12.own_steps import held, place, waiting
from volcano_lab.course.lesson_12.scene import conf_with
from volcano_lab.framework.action import Action
from volcano_lab.framework.plugin import Plugin
from volcano_lab.framework.points.rules import PERMIT, REJECT

TIERS, RULES = checks_of("12")["which_tiers"].options, checks_of("12")["veto_rule"].options


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


class Attract(Spread):
    def node_order(self, task, node):
        return -super().node_order(task, node)


class ByNode(Plugin):
    def node_order(self, task, node):
        return -100 * len([mate for mate in node.tasks.values() if mate.job == task.job])


class AllJobs(Spread):
    def node_order(self, task, node):
        rack = node.labels["rack"]
        return -100 * sum(
            len(other.tasks) for other in self.ssn.nodes.values() if other.labels["rack"] == rack)


class AlwaysB(Plugin):
    def node_order(self, task, node):
        return 100 * (node.labels["rack"] == "b")


class TooLight(Spread):
    def node_order(self, task, node):
        return super().node_order(task, node) / 100


class NoReturn(Plugin):
    def node_order(self, task, node):
        -100 * len(node.tasks)


class Misspelt(Plugin):
    def node_oder(self, task, node):
        return 0


class Unwritten(Plugin):
    def node_order(self, task, node): ...


class Backwards(WaitsLongest):
    def queue_order(self, left, right):
        return -super().queue_order(left, right)


class LessThan(WaitsLongest):
    def queue_order(self, left, right):
        return super().queue_order(left, right) < 0


class NotForAll(WaitsLongest):
    def queue_order(self, left, right):
        return self.since[left.name] - self.since[right.name]


class LastWish(WaitsLongest):
    def on_session_open(self, ssn):
        self.now = ssn.now
        self.since = {
            job.queue: job.creation_timestamp
            for job in ssn.jobs.values()
            if job.has_pending_tasks()
        }


class FirstWish(WaitsLongest):
    def on_session_open(self, ssn):
        self.now, self.since = ssn.now, {}
        for job in ssn.jobs.values():
            if job.has_pending_tasks():
                self.since.setdefault(job.queue, job.creation_timestamp)


class ZeroForNobody(WaitsLongest):
    def queue_order(self, left, right):
        return self.since.get(left.name, 0) - self.since.get(right.name, 0)


class AnyJob(WaitsLongest):
    def on_session_open(self, ssn):
        self.now, self.since = ssn.now, {}
        for job in ssn.jobs.values():
            self.since[job.queue] = min(self.since.get(job.queue, ssn.now), job.creation_timestamp)


class LastOfAll(Plugin):
    def on_session_open(self, ssn):
        self.since = {}
        for job in ssn.jobs.values():
            self.since[job.queue] = job.creation_timestamp

    def queue_order(self, left, right):
        return self.since[left.name] - self.since[right.name]


class ByName(Plugin):
    def queue_order(self, left, right):
        return (left.name < right.name) - (left.name > right.name)


class NobodyAtAll(Plugin):
    def predicate(self, task, node):
        return "maintenance" if node.labels.get("maintenance") else None


class AnyDay(Plugin):
    def predicate(self, task, node):
        return "maintenance" if "maintenance" in node.labels and task.pod.metadata.labels.get(
            "short") != "yes" else None


class SaysTrue(Plugin):
    def predicate(self, task, node):
        return node.labels.get("maintenance") != "tonight"


class Never(Plugin):
    def predicate(self, task, node):
        return None if node.name else "maintenance"


class Always(Plugin):
    def predicate(self, task, node):
        return "maintenance"


class Silent(Plugin):
    def predicate(self, task, node):
        if node.labels.get("maintenance") == "tonight" and task.pod.metadata.labels.get(
                "short") != "yes":
            return ""
        return None


class Label(Plugin):
    def predicate(self, task, node):
        return "maintenance" if node.labels["maintenance"] == "tonight" else None


class OnlyTasks(Plugin):
    def reclaimable(self, task, candidates):
        return [other for other in candidates if other.pod.metadata.labels.get("keep") != "yes"]


class KeepsTheWrong(Plugin):
    def reclaimable(self, task, candidates):
        return [other for other in candidates
                if other.pod.metadata.labels.get("keep") == "yes"], PERMIT


class KeepsAll(Plugin):
    def reclaimable(self, task, candidates):
        return [], PERMIT


class Rejects(Plugin):
    def reclaimable(self, task, candidates):
        return [other for other in candidates
                if other.pod.metadata.labels.get("keep") != "yes"], REJECT


class LooksAtTheClaimant(Plugin):
    def reclaimable(self, task, candidates):
        return [other for other in candidates
                if task.pod.metadata.labels.get("keep") != "yes"], PERMIT


class Everything(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            for job in waiting(ssn, queue):
                place(ssn, job)


class OneOnly(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            for job in waiting(ssn, queue):
                place(ssn, job)
                return


class NoLook(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            place(ssn, waiting(ssn, queue)[0])


class AlsoRich(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            if waiting(ssn, queue):
                place(ssn, waiting(ssn, queue)[0])


class NoHands(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            waiting(ssn, queue)


class LastJob(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            jobs = waiting(ssn, queue)
            if jobs and not held(ssn, queue):
                place(ssn, jobs[-1])


class TheNextThatFits(Action):
    def execute(self, ssn):
        for queue in ssn.queues.values():
            if not held(ssn, queue):
                any(place(ssn, job) for job in waiting(ssn, queue))


class UnwrittenAction(Action):
    def execute(self, ssn): ...


class Triage(Action):
    def execute(self, ssn):
        for queue in sorted(ssn.queues.values(), key=ssn.need, reverse=True):
            jobs = waiting(ssn, queue)
            if jobs and not held(ssn, queue):
                place(ssn, jobs[0])


class AlsoRichByNeed(Action):
    def execute(self, ssn):
        for queue in sorted(ssn.queues.values(), key=ssn.need, reverse=True):
            for job in waiting(ssn, queue)[:1]:
                place(ssn, job)


class TheNextThatFitsByNeed(Action):
    def execute(self, ssn):
        for queue in sorted(ssn.queues.values(), key=ssn.need, reverse=True):
            if not held(ssn, queue):
                any(place(ssn, job) for job in waiting(ssn, queue))


class LeastFirst(Action):
    def execute(self, ssn):
        for queue in sorted(ssn.queues.values(), key=ssn.need):
            jobs = waiting(ssn, queue)
            if jobs and not held(ssn, queue):
                place(ssn, jobs[0])


class AsksAnother(Action):
    def execute(self, ssn):
        sorted(ssn.queues.values(), key=ssn.needs)


def _confs() -> list[tuple[str, str]]:
    first = conf_with("waits-longest", tier=1)
    return [(conf_with("waits-longest", tier=2), "proportion is asked first"),
            (conf_with(), "does not name"),
            (first.replace("longest", "longst"), "perhaps waits-longest"),
            (first.replace("waits-longest", "waits_longest"), "perhaps waits-longest"),
            (conf_with("mine", tier=1), "no plugin is registered"),
            (first.replace("name: waits-longest",
                           "name: waits-longest\n    enableQueueOrder: false"), "switched off"),
            (first.replace("  - name: proportion\n", ""), "proportion"),
            ("actions: alocate", "alocate"), ("tiers: [", "YAML")]


answers(
    checks.spread,
    right=[Spread],
    wrong=[
        (Attract, "still"),
        (ByNode, "the whole rack"),
        (AllJobs, "another job"),
        (AlwaysB, "rack b now"),
        (TooLight, "is it enough"),
        (NoReturn, "the answer is None; allowed is a number"),
        (Misspelt, "perhaps node_order"),
        (Spread(), "a subclass"),
    ],
)

answers(
    checks.weight,
    right=[15, "15"],
    wrong=[(1, "stays"), (20, "smaller"), (10, "stays in rack a"), (3, "Choose"), (5, "lead")],
)

answers(
    checks.waits_longest,
    right=[WaitsLongest],
    wrong=[
        (Backwards, "what must be subtracted"),
        (LessThan, "below 0 puts the left one first"),
        (NotForAll, "KeyError"),
        (LastWish, "the smallest"),
        (FirstWish, "the smallest"),
        (ZeroForNobody, "ssn.now"),
        (AnyJob, "has_pending_tasks"),
        (LastOfAll, "has_pending_tasks"),
        (ByName, "newcomer got"),
    ],
)

answers(
    checks.in_its_place,
    right=[
        conf_with("waits-longest", tier=1),
        conf_with().replace("  - name: proportion",
                            "  - name: waits-longest\n  - name: proportion"),
    ],
    wrong=_confs(),
)

answers(
    checks.maintenance,
    right=[Maintenance],
    wrong=[
        (NobodyAtAll, "short pods may run"),
        (SaysTrue, "allowed is None, or a text"),
        (Never, "isn't short went"),
        (Always, "return None"),
        (Silent, "reason is missing"),
        (Label, "KeyError"),
        (AnyDay, "not tonight"),
    ],
)

answers(
    checks.protect,
    right=[Protect],
    wrong=[
        (OnlyTasks, "a pair"),
        (KeepsTheWrong, "may be evicted"),
        (KeepsAll, "No pod is evicted"),
        (LooksAtTheClaimant, "not of the task"),
        (Rejects, "return PERMIT"),
    ],
)

answers(
    "12.which_tiers",
    right=[TIERS[2]],
    wrong=[
        (TIERS[0], "the next tier"),
        (TIERS[1], "gang"),
        ("nowhere", "Choose"),
        ("1", "Choose"),
        ("in every action", "Choose"),
    ],
)

answers(
    checks.first_aid,
    right=[FirstAid],
    wrong=[
        (Everything, "one job of each queue"),
        (OneOnly, "next queue"),
        (NoLook, "IndexError"),
        (AlsoRich, "holds a pod already"),
        (NoHands, "placed nothing"),
        (LastJob, "second job"),
        (TheNextThatFits, "only the first job"),
    ],
)

answers(
    "12.veto_rule",
    right=[RULES[0]],
    wrong=[
        (RULES[1], "one yes"),
        (RULES[2], "outweighed"),
        (RULES[3], "two"),
        ("none", "Choose"),
        ("a vote", "Choose"),
    ],
)

answers(
    checks.triage,
    right=[Triage],
    wrong=[
        (LeastFirst, "reverse=True"),
        (FirstAid, "by need"),
        (NoHands, "wanted is the first job"),
        (AlsoRichByNeed, "holds a pod already"),
        (TheNextThatFitsByNeed, "first job only"),
        (AsksAnother, "no attribute 'needs'"),
    ],
)
