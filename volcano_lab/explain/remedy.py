"""A change that turns the answer, with what it gives the job and what it takes from others.

Volcano: none
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from attrs import Factory, define, field

from volcano_lab.api import PIPELINED, RELEASING, JobInfo, Resource, TaskInfo, taints
from volcano_lab.api.objects import Taint
from volcano_lab.changes import Change, more_nodes, words
from volcano_lab.changes.job_fields import IN_PODS
from volcano_lab.changes.kubectl import created_again, kubectl
from volcano_lab.changes.objects import Setting
from volcano_lab.explain import options, owners, promises, volumes
from volcano_lab.explain.evidence import Evidence, not_started, unplaced
from volcano_lab.explain.outcome import Outcome
from volcano_lab.explain.price import Price
from volcano_lab.explain.requests import sized_by
from volcano_lab.framework import Session
from volcano_lab.manifests.operators.spark import jvm_bytes
from volcano_lab.messages import Message, spoken
from volcano_lab.trace import grouped, short

IN_SPEC = {**{each: each for each in IN_PODS if each != "schedulingGates"},
           "requests": "containers"}
"""Fields of a job that its pods have from the templates of its owner = those there; webhooks set
gates.
"""


@define(slots=True, frozen=True, repr=False)
class Remedy:
    """A change that turns the answer, with messages of what it gives and takes (`brings`), how much
    it changes (`rank`) and takes from others (`price`).

    `fields` are those of the job's owner in which it is written: its kind, its name, the field.
    `tried` is the change, `alike` are others of its kind that do the same; what it waits for ends
    by itself, but for the objects that are `deleted`. `args` are those of `what-if` for it (none
    for a change of the `past`), with which `placed` pods of the `job` have nodes once the cluster
    is at rest.
    """

    brings: tuple[Message, ...]
    tried: Change
    rank: int
    world: options.World = field(eq=False)
    job: str = ""
    placed: int = 0
    price: Price = Factory(Price)
    alike: tuple[Change, ...] = ()
    deleted: frozenset[str] = frozenset()
    fields: tuple[tuple[str, str, str], ...] = ()
    past: bool = False
    lang: str | None = None

    def __str__(self) -> str:
        return Message("remedy", does=self.does, brings=self.brings).text(self.lang or spoken())

    __repr__ = __str__  # a notebook shows lists by it

    @property
    def does(self) -> Message:
        """What is changed, in one of the ways that do the same."""
        waits = self.rank == options.Rank.WAIT
        return words.any_of([
            self.world.described(each, {*each.removals} - self.deleted if waits else ())
            for each in (self.tried, *self.alike)])

    @property
    def change(self) -> str:
        """What is changed, in `lang` or else the current language."""
        return self.does.text(self.lang or spoken())

    @property
    def effect(self) -> str:
        """What it gives and takes, in the same language."""
        return Message("clauses", parts=self.brings).text(self.lang or spoken())

    @property
    def args(self) -> list[str]:
        return [] if self.past else self.tried.args

    @property
    def kubectl(self) -> list[str]:
        """The commands that carry it out; none where it takes more than these, or waiting."""
        return [] if self.rank == options.Rank.WAIT else kubectl(self.tried, self.world.objects)

    @property
    def again(self) -> list[str]:
        """The objects that have to be deleted and created again with it."""
        return created_again(self.tried, self.world.objects)

    def as_dict(self) -> dict[str, Any]:
        """The change as plain data, jobs by their names: pods that are evicted, gangs that break
        (pods left, of a minimum), jobs that wait instead.
        """
        return {"change": self.change, "effect": self.effect, "text": str(self),
                "args": self.args, "kubectl": self.kubectl, "again": self.again,
                "fields": [*map(" ".join, self.fields)],
                "job": self.job, "placed": self.placed,
                **self.price.as_dict(self.world.called),
                "alike": [each.args for each in self.alike]}


def gains(seen: Evidence, before: Session, after: Outcome, uid: str, name: str = "",
          gone: Collection[str] = ()) -> Iterator[Message]:
    """What a change gives a job (which may not have been there), of which pods are `gone` first."""
    assert after.rest is not None and after.last is not None
    name = (name or seen.called(uid)).rpartition("/")[2]
    was = before.jobs.get(uid)
    had = {key for key in _had(seen, was) if key not in gone}
    promised = {task.key for task in was.in_status(PIPELINED).values()} if was else set()
    rest, end = after.rest.session, after.last.jobs[uid]
    more = len(unplaced(end)) < len(unplaced(rest.jobs[uid]))  # some have places in later cycles
    for ssn, cycles in ((rest, 0), (after.last, after.since[uid][1]))[more:]:
        job = ssn.jobs[uid]
        new = [task for task in job.tasks.values() if task.node_name and task.key not in had]
        if new and (cycles or any(task.status != PIPELINED or task.key not in promised
                                  for task in new)):  # else it is as without the change
            whole = not had and all(task.node_name for task in job.tasks.values())
            yield from placed_on(before, new, name, whole, cycles)
            left = len(unplaced(job))
            yield from _left(seen, job, left) if left else ()
            return
    yield Message("gains.admitted", name=name)


def _left(seen: Evidence, job: JobInfo, left: int) -> Iterator[Message]:
    """How many pods still wait, and whether the others wait for these."""
    world = owners.world_of(seen.given, job)
    yield from (Message("gains.left", n=left), *([world[1]] if world else ()))


def placed_on(before: Session, new: list[TaskInfo], name: str, complete: bool, cycles: int
              ) -> Iterator[Message]:
    """Yield which pods have a place or a promise; `complete`: no other pod of the job has one, or
    waits.
    """
    late = Message("gains.late", cycles=cycles) if cycles else None
    by_code = grouped(("gains.pipelined" if task.status == PIPELINED else "gains.placed", task)
                      for task in sorted(new, key=lambda task: task.status == PIPELINED))
    for code, tasks in by_code.items():
        whole = complete and len(tasks) == len(new)
        one = len(tasks) == 1 and not whole
        yield Message(code if whole or one else f"{code}.pods", n=len(tasks), late=late,
                      name=tasks[0].name if one else name, nodes=_nodes(before, tasks))


def beside(seen: Evidence, job: JobInfo, changes: Sequence[Change], again: Sequence[str] = ()
           ) -> Iterator[Message]:
    """Yield what some changes that do the same take besides, from the job's owner to its pods, of
    which some that run are created `again`.
    """
    settings = [text for each in changes for text in each.settings]
    yield from chain(by_owner(seen, job, changes[0]), _by_hyper_node(seen, job, changes[0]),
                     _on_repaired(seen, settings), _on_running(job, settings, again),
                     volumes.without_volume(seen, job, settings))


def by_owner(seen: Evidence, job: JobInfo, change: Change) -> Iterator[Message]:
    """Yield the fields by which the job's owner sizes pods of a role, for requests that a change
    lowers, with the values that are enough: what its operator adds is at most what it adds now.
    """
    found: dict[str, Message] = {}
    for text in change.settings:
        target, _, value = text.partition("=")
        _, requests, name = target.rpartition(".requests.")
        for task in unplaced(job) if requests else ():
            for kind, where, given in sized_by(seen, task, name):
                less = task.init_resreq.get(name) - Resource.from_list({name: value}).get(name)
                if less <= 0:
                    continue
                after = value
                if name == "memory":
                    most = max(jvm_bytes(given) - less, 0) // 2**20
                    after = f"{most // 1024:g}g" if most >= 2048 else f"{most:g}m"
                elif not value.isdigit():
                    where = where.replace("cores", "coreRequest")
                found.setdefault(where, Message("gains.field", kind=kind, field=where,
                                                before=given, after=after))
    yield from found.values()


def written(seen: Evidence, job: JobInfo, change: Change) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a job's owner in which a change of its pods is written, as (the kind of
    the owner, its name, the field): those from which pods come that have no node, also not in an
    attempt that was rolled back; none where the owner has numbers of its own for requests.
    """
    owner = owners.owner_of(job)
    names = {job.uid, seen.called(job.uid), f"{job.namespace}/{owner.name if owner else ''}"}
    placed = {record["task"] for record in seen.in_action("allocate", "do", job=job.uid)}
    for text in change.settings:
        field = next((each for each in IN_SPEC for name in names
                      if re.match(rf"job/{re.escape(name)}\.{each}\b", text)), "")
        resource = text.partition("=")[0].rpartition(".requests.")[2]
        waits = [task for task in (unplaced(job) if field else ()) if not _tolerates(task, text)
                 and (field != "requests" or not any(sized_by(seen, task, resource)))]
        for task in [each for each in waits if each.key not in placed] or waits:
            kind, name, specs = owners.specs_in(seen, job, task)
            yield from ((kind, name, f"{each}.{IN_SPEC[field]}") for each in specs)


def _tolerates(task: TaskInfo, text: str) -> bool:
    """Return whether a pod has the tolerations that a setting adds."""
    setting = Setting.read(text)
    return setting.adds and setting.target.endswith(".tolerations") and all(taints.tolerated(Taint(
        each.get("key", ""), each.get("value", ""), each.get("effect", "")),
        task.pod.spec.tolerations) for each in setting.value)


def _by_hyper_node(seen: Evidence, job: JobInfo, change: Change) -> Iterator[Message]:
    """Yield the HyperNodes that have to list nodes which are added for a job with a topology, and
    those whose patterns have to match their names.
    """
    nodes = [text.removeprefix("node/").partition(".more=")[0] for text in change.settings
             if ".more=" in text and job.contains_network_topology()]
    found = grouped((more_nodes.membership(obj, name, seen.ssn.nodes), obj.name)
                    for obj in seen.objects for name in nodes)
    yield from [Message(f"gains.{way}", names=names) for way, names in found.items() if way]


def _on_running(job: JobInfo, settings: Iterable[str], again: Sequence[str]) -> Iterator[Message]:
    """Yield the pods of a job that exclude others until they are created `again` with a change, how
    many that run end with it, and how many keep their requests.
    """
    pods = [task.key for task in job.tasks.values() if task.pod.spec.node_name]
    if again:
        yield Message("gains.restarts", n=len(again))
    elif pods and any("podAntiAffinity" in text for text in settings):
        yield Message("gains.again", n=len(pods), pods=pods)
    elif pods and any(".requests" in each for each in settings) and not owners.runs_on(job):
        yield Message("gains.keep", n=len(pods))


def _on_repaired(seen: Evidence, settings: Iterable[str]) -> Iterator[Message]:
    """Yield the pods that do not run on nodes which settings repair, and why."""
    repaired = {text.removeprefix("node/").partition(field)[0] for text in settings
                for field in (".taints=", ".allocatable") if field in text}
    for name in filter(seen.ssn.nodes.__contains__, sorted(repaired)):
        tasks = [task for task in seen.ssn.nodes[name].tasks.values()
                 if task.status == RELEASING or not_started([task.pod])]
        if tasks:
            leaving = ["Terminating"] * any(task.status == RELEASING for task in tasks)
            yield Message("gains.not_running", node=name, pods=[task.key for task in tasks],
                          why=[*not_started(task.pod for task in tasks), *leaving])


def spared(seen: Evidence, before: Outcome, after: Outcome, uid: str) -> Iterator[Message]:
    """How many pods fewer a job loses with a change."""
    n = after.evicted[uid]
    yield Message("gains.loses" if n else "gains.loses_none", n=n, before=before.evicted[uid],
                  name=short(seen.called(uid)))


def _had(seen: Evidence, job: JobInfo | None) -> set[str]:
    """The pods of a job that have places without the change; a promise that is not kept is none."""
    if job is None:
        return set()
    lost = promises.promise_fails(seen, job)
    return {task.key for task in job.tasks.values()
            if task.node_name and not (lost and task.status == PIPELINED)}


def _nodes(before: Session, tasks: Iterable[TaskInfo]) -> list[str | Message]:
    nodes = dict.fromkeys(task.node_name for task in tasks)
    there = [name for name in nodes if name in before.nodes]
    added = len(nodes) - len(there)
    return [*there, *[Message("gains.new_nodes", n=added)] * bool(added)]
