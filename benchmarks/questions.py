"""What the plugins of a session answer to questions that no action may have asked in it.

Every extension point is asked about some jobs, tasks, queues and HyperNodes, each plugin alone:
an answer that no decision depends on today is seen, too. It is asked once a cycle has ended, as
some plugins keep what they have answered.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from random import Random
from types import NoneType
from typing import Any

import numpy as np

from volcano_lab.actions.preempt_topology import DryRun, Impossible
from volcano_lab.api import JobInfo, TaskInfo
from volcano_lab.api.fit_error import FitError
from volcano_lab.api.job_conditions import fit_error, task_scheduling_reason
from volcano_lab.api.resource import INFINITY, ZERO, Resource
from volcano_lab.api.status import PENDING, RUNNING
from volcano_lab.cli.replay import queues_of, shares_of
from volcano_lab.framework import ConfError, Session, load_conf
from volcano_lab.framework.points.rules import NoScore
from volcano_lab.framework.topology import CLUSTER_TOP
from volcano_lab.manifests.writer import to_dict
from volcano_lab.messages import Message

Answers = Iterator[tuple[str, str, Any]]
"""Who is asked what, about whom, and the answer."""


def plain(value: Any) -> Any:
    """Return an answer as JSON has it: numbers to twelve digits, messages as their codes and facts,
    what has a name by its name.
    """
    kind = type(value)
    if kind in (str, int, bool, NoneType):
        return value
    if kind is float:
        return f"{value:.12g}"
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if kind is list or isinstance(value, tuple):
        return [plain(each) for each in value]
    if kind is Message:
        return [value.code, plain(value.facts)]
    if kind is FitError:
        return [[status.code, status.plugin, status.reason] for status in value.statuses]
    if kind is Resource:
        return plain(dict(value))
    for name in ("key", "uid", "name"):
        if hasattr(value, name):
            return str(getattr(value, name))
    return plain(value.item()) if isinstance(value, np.generic) else str(value)


class Questions:
    """Asks a session; `turn` says which of its objects come first, so that all have their turn."""

    def __init__(self, ssn: Session, turn: int):
        self.ssn, self.turn = ssn, turn
        tasks = [task for job in ssn.jobs.values() for task in job.tasks.values()]
        self.running = [task for task in tasks if task.status == RUNNING
                        and task.node_name in ssn.nodes]
        self.waiting = [task for task in tasks if task.status == PENDING]

    def some(self, found: Iterable[Any], most: int) -> list[Any]:
        """Return a few of a list, others in each turn."""
        rest = list(found)
        start = self.turn * most % len(rest) if rest else 0
        return (rest[start:] + rest[:start])[:most]

    def ask(self, point: str, about: str, *args: Any) -> Answers:
        """Yield each plugin's answer."""
        for tier in self.ssn.points[point].tiers:
            for plugin, function in tier:
                yield f"{point} {plugin}", about, _answer(function, *args)

    def answers(self) -> dict[str, dict[str, Any]]:
        """Return all answers, by the one who is asked what."""
        found: dict[str, dict[str, Any]] = {}
        for who, about, answer in self._all():
            found.setdefault(who, {})[about] = answer
        return found

    def _all(self) -> Answers:
        yield from self.about_order()
        yield from self.about_amounts()
        for task in [*self.some(self.waiting, 2), *self.some(self.running, 1)]:
            yield from self.about_task(task)
        for job in self.some((job for job in self.ssn.jobs.values()
                              if job.contains_sub_job_policy() or job.contains_network_topology()),
                             1):
            yield from self.about_topology(job)
        for job in self.some((job for job in self.ssn.jobs.values() if job.is_pending()), 2):
            yield from self.ask("job_enqueueable", job.uid, job)
        yield from self.reserved()
        if self.waiting and self.running:
            yield from self.tried()

    def about_order(self) -> Answers:
        ssn = self.ssn
        jobs = [*ssn.jobs.values()]
        queues = [ssn.queues[name] for name in sorted({job.queue for job in jobs})]
        for queue, other in zip(queues, queues[1:] + queues[:1], strict=True):
            yield from self.ask("overused", queue.uid, queue)
            yield from self.ask("queue_order", queue.uid, queue, other)
            yield from self.ask("victim_queue_order", queue.uid, queue, other,
                                queues[self.turn % len(queues)])
        for job, other in zip(jobs, jobs[1:] + jobs[:1], strict=True):
            yield from self.ask("job_order", job.uid, job, other)
            for point in ("job_valid", "job_ready", "job_pipelined", "job_starving"):
                yield from self.ask(point, job.uid, job)
        for job in self.some(jobs, 4):
            tasks = [*job.tasks.values()]
            for task, other in pairwise(tasks):
                yield from self.ask("task_order", task.key, task, other)
            yield "texts", job.uid, [job.get_min_resources(), fit_error(job), *(
                task_scheduling_reason(job, uid) for uid in job.in_status(PENDING))]

    def about_amounts(self) -> Answers:
        """Amounts that nodes have against those that tasks request and jobs hold."""
        for node in self.some(self.ssn.node_list, 2):
            for task in self.some(self.waiting + self.running, 2):
                held, asked = self.ssn.jobs[task.job].allocated, task.init_resreq
                for have in (node.idle, node.future_idle, node.used, asked + held):
                    yield "amounts", f"{task.key} {node.name}", plain([
                        have.sub(asked), have.set_max_resource(held), have.exceeded_part(asked),
                        [each for missing in (ZERO, INFINITY) for each in (
                            have.min_dimension_resource(asked, missing),
                            asked.less_equal(have, missing), have.less_equal(asked, missing))],
                        asked.less_equal_with_resources_name(have, ZERO), asked.less_partly(have),
                        held.stays_within(have, asked), have.less_partly(held),
                        have.less_equal_partly_with_dimension_zero_filtered(held, asked),
                        have.greater_partly_with_relevant_dimensions(held, asked)])

    def about_task(self, task: TaskInfo) -> Answers:
        ssn, nodes, key = self.ssn, self.ssn.node_list, task.key
        queue = ssn.queues[ssn.jobs[task.job].queue]
        yield from self.ask("pre_predicate", key, task)
        for node in nodes:
            for point in ("predicate", "node_order", "node_map"):
                yield from self.ask(point, f"{key} on {node.name}", task, node)
        yield from self.ask("batch_node_order", key, task, nodes)
        for point in ("allocatable", "preemptive"):
            yield from self.ask(point, key, queue, task)
        for point in ("preemptable", "reclaimable"):
            yield from self.ask(point, key, task, [other for other in self.running
                                                   if other.job != task.job])
        for node in self.some(nodes, 3):
            for state in ("prepared", "bare"):
                dry = DryRun(ssn, task, queue, node)
                if state == "bare":
                    dry.state = {}
                yield f"dry run, {state}", f"{key} on {node.name}", _answer(
                    dry.select_victims, lambda at: [
                        held for held in at.tasks.values() if held.status == RUNNING
                        and held.job in ssn.jobs and held.job != task.job])

    def about_topology(self, job: JobInfo) -> Answers:
        topology = self.ssn.topology
        top = topology.hyper_nodes[CLUSTER_TOP]
        yield from self.ask("hyper_node_gradient_for_job", job.uid, job, top)
        for sub_job in self.some(job.sub_jobs.values(), 2):
            for point in ("sub_job_ready", "sub_job_pipelined"):
                yield from self.ask(point, sub_job.uid, sub_job)
            yield from self.ask("hyper_node_gradient_for_sub_job", sub_job.uid, sub_job, top)
            yield from self.ask("hyper_node_order", sub_job.uid, sub_job, dict(topology.nodes))

    def reserved(self) -> Answers:
        """What is assumed of claims of a pod that is allocated twice, and of those of others."""
        for task in self.some((task for task in self.waiting if task.pod.spec.volumes), 2):
            for node in self.ssn.node_list:
                if any(found for _, _, found in self.ask("predicate", "", task, node)):
                    continue
                for attempt in ("first", "second"):
                    statement = self.ssn.statement()
                    problem = _answer(statement.allocate, task, node)
                    yield "reserved", f"{task.key} on {node.name} {attempt}", [
                        problem, [to_dict(obj) for obj in self.ssn.snapshot.storage]]
                    statement.discard()
                break

    def tried(self) -> Answers:
        """An eviction and a promise, and what queues and jobs have then, and after a discard."""
        statement = self.ssn.statement()
        victim, claimant = self.some(self.running, 1)[0], self.some(self.waiting, 1)[0]
        statement.evict(victim, "tried")
        statement.pipeline(claimant, victim.node_name, True)
        yield "sums", "tried", self.sums(victim, claimant)
        statement.discard()
        yield "sums", "discarded", self.sums(victim, claimant)

    def sums(self, *tasks: TaskInfo) -> Any:
        jobs = [self.ssn.jobs[task.job] for task in tasks]
        return plain([queues_of(self.ssn), shares_of(self.ssn),
                      [[task.node_name, str(task.status)] for task in tasks],
                      [[job.ready_task_num(), job.waiting_task_num(), job.allocated]
                       for job in jobs]])


def read(text: str, random: Random) -> Answers:
    """What is read of a configuration and of texts like it, most of them with a mistake."""
    lines = text.splitlines()
    for number in range(8):
        place, other = random.randrange(len(lines)), random.choice(lines)
        changed = [*lines[:place], random.choice([
            "", lines[place] + ":", " " + lines[place], lines[place].replace(":", ": -", 1), other,
            lines[place].replace("name", random.choice(["name", "nane", "arguments"])),
            lines[place].replace("enable", "enabled"), lines[place].replace(": ", ": !!str ", 1),
            lines[place] + " # more", lines[place].replace("true", "Null")]), *lines[place + 1:]]
        try:
            conf = load_conf("\n".join(changed))
            found = [conf.plain(), conf.warnings]
        except ConfError as error:
            found = _codes(error.found)
        yield "read", str(number), plain(found)


def _codes(found: Iterable[Message]) -> list[Any]:
    """Return messages without their words, of which some are those of a YAML reader."""
    return [[each.code, each.facts.get("line"), _codes(
        fact for fact in each.facts.values() if isinstance(fact, Message))] for each in found]


def _answer(function: Any, *args: Any) -> Any:
    try:
        return plain([each(*args) for each in function] if isinstance(function, list)
                     else function(*args))
    except (NoScore, Impossible) as error:
        return [type(error).__name__, *map(str, error.args)]
